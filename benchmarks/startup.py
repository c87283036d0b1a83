"""How long a command takes as a whole process, as a ratio to importing the libraries it cannot do without.

    python benchmarks/startup.py [RUNS]

Each pair is timed in turn (A B A B ...), so that a machine whose speed drifts does not favour one side. Run it with the
interpreter of an environment in which aiplan is installed; byte code should exist for both sides.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

PYTHON = sys.executable
AIPLAN = str(Path(PYTHON).with_name("aiplan"))

PAIRS = (
    (
        "estimate (table) / import numpy, yaml, typer",
        [AIPLAN, "estimate", "gpt3-175b-a100"],
        [PYTHON, "-c", "import numpy, yaml, typer"],
        2.0,
    ),
    ("--help / import typer", [AIPLAN, "--help"], [PYTHON, "-c", "import typer"], 1.5),
)


def seconds(command: list[str], environment: dict[str, str]) -> float:
    """Return the wall time of one run."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    return time.perf_counter() - start


def main() -> None:
    """Time every pair and print minimum, median and maximum of the ratios."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    for name, ours, yardstick, target in PAIRS:
        for command in (ours, yardstick):
            seconds(command, environment)  # warm-up: byte code, disk cache
        times = [(seconds(ours, environment), seconds(yardstick, environment)) for _ in range(runs)]
        ratios = [a / b for a, b in times]
        print(f"{name}: ratio {median(ratios):.2f} (min {min(ratios):.2f}, max {max(ratios):.2f}, n {runs})")
        middle, yardstick_middle = median(a for a, _ in times), median(b for _, b in times)
        print(f"  target at most {target:.1f}; medians {middle:.3f} s against {yardstick_middle:.3f} s")


if __name__ == "__main__":
    main()
