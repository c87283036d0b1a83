"""What a check of two hundred scenarios takes beyond start-up, thirty of them broken in thirty ways.

    python benchmarks/check_folder.py [RUNS]

Whole processes are timed in turn (A B C A B C ...): the check in several formats, `--version`, which is start-up, and a
yardstick, which is reading a file of this size two hundred times by PyYAML alone. The target is two seconds beyond
start-up, in time of the processor: that of a clock grows with what else the machine does. That the formats are valid
is a test: `test_two_hundred_files_of_which_thirty_are_broken` in `tests/guard`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from fuzzing.folder import write_folder

ROOT = Path(__file__).resolve().parent.parent
GOOD = ROOT / "tests" / "guard" / "files" / "clusters" / "good.yaml"
COMMAND = [sys.executable, "-m", "aiplan"]
FORMS = ("table", "json", "github", "junit", "sarif", "markdown")
TARGET = 2.0
ANSWER = 2
YARDSTICK = """
import sys, yaml
for index in range(200):
    yaml.load(open(sys.argv[1], "rb").read(), yaml.CSafeLoader)
"""


def run(command: list[str], folder: Path, code: int) -> bytes:
    """Run a command, and return what it writes; its exit code must be the right one."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    if done.returncode != code:
        raise RuntimeError(done.stderr.decode())
    return done.stdout


def seconds(command: list[str], folder: Path) -> float:
    """Return the time of the processor that one run takes."""
    start = os.times()
    run(command, folder, ANSWER if "check" in command else 0)
    end = os.times()
    return end.children_user + end.children_system - start.children_user - start.children_system


def told(folder: Path) -> str:
    """Return how many files were checked, and how many of them are those that were broken."""
    files = json.loads(run([*COMMAND, "check", "many", "--format", "json"], folder, ANSWER))["result"]["files"]
    return f"{len(files)} files, {sum(one['state'] == 'broken' for one in files)} cannot be read, exit code {ANSWER}"


def main() -> None:
    """Print medians, and what each check takes beyond start-up."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top)
        write_folder(GOOD, folder / "many")
        timed = {form: [*COMMAND, "check", "many", "--format", form] for form in FORMS}
        timed |= {"--version": [*COMMAND, "--version"], "yardstick": [sys.executable, "-c", YARDSTICK, str(GOOD)]}
        print(told(folder))
        times: dict[str, list[float]] = {name: [] for name in timed}
        for _ in range(runs):
            for name, command in timed.items():
                times[name].append(seconds(command, folder))
    middle = {name: median(found) for name, found in times.items()}
    print(f"start-up {middle['--version']:.2f} s, yardstick {middle['yardstick']:.2f} s (n {runs})")
    for form in FORMS:
        beyond = middle[form] - middle["--version"]
        ratio = middle[form] / middle["yardstick"]
        print(f"{form:<9} {beyond:.2f} s beyond start-up (target {TARGET:.0f}), {ratio:.1f} times the yardstick")


if __name__ == "__main__":
    main()
