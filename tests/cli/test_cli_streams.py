"""Streams, exit codes, environment: what other programs and shells see."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aiplan.cli import main as cli
from aiplan.cli.complete import scenarios

AIPLAN = [sys.executable, "-m", "aiplan"]
HEAVY = ("numpy", "pandas", "rich", "yaml")
HELPS = ([], ["estimate"], ["compare"], ["explain"], ["schema"], ["catalog"])


@pytest.fixture
def environment(folder):
    clean = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "PYTHONWARNINGS"}}
    root = str(Path(cli.__file__).resolve().parents[2])
    return clean | {"PYTHONPATH": root}


def child(arguments, environment, **options):
    return subprocess.run(
        [*AIPLAN, *arguments], env=environment, capture_output=True, check=False, timeout=60, **options
    )


def modules(arguments, environment):
    code = (
        "import sys\n"
        "from aiplan.cli.main import main\n"
        "try:\n    code = main(sys.argv[1:])\n"
        "except SystemExit as leaving:\n    code = leaving.code\n"
        "print('\\n' + ' '.join(sorted({name.partition('.')[0] for name in sys.modules})), file=sys.stderr)\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return set(done.stderr.splitlines()[-1].split()), done


@pytest.mark.parametrize("command", HELPS, ids=lambda command: command[0] if command else "top")
def test_help_loads_nothing_heavy(command, environment):
    loaded, done = modules([*command, "--help"], environment)
    assert done.returncode == 0
    assert "Usage: aiplan" in done.stdout
    assert loaded.isdisjoint(HEAVY)


def test_version_loads_nothing_heavy(environment):
    loaded, done = modules(["--version"], environment)
    assert done.stdout.startswith("aiplan ")
    assert loaded.isdisjoint(HEAVY)


def test_completion_loads_nothing_heavy(environment):
    asked = {"_AIPLAN_COMPLETE": "complete_bash", "COMP_WORDS": "aiplan estimate sm", "COMP_CWORD": "2"}
    loaded, done = modules([], environment | asked)
    assert "small.yaml" in done.stdout
    assert loaded.isdisjoint(HEAVY)


def test_completion_knows_library_folders_and_files(folder):
    (folder / "zz_folder").mkdir()
    assert "gpt3-175b-a100" in scenarios("gpt3")
    assert scenarios("zz_") == ["zz_folder/"]
    assert scenarios("small") == ["small.yaml"]
    assert scenarios("nowhere/x") == []


@pytest.mark.parametrize("form", ["table", "json"])
def test_estimate_does_not_load_pandas(form, environment):
    loaded, done = modules(["estimate", "small.yaml", "--format", form], environment)
    assert done.returncode == 0
    assert "pandas" not in loaded
    assert ("rich" in loaded) == (form == "table")


def test_a_reader_that_leaves_early(environment):
    for arguments in ("estimate small.yaml --format json", "explain small.yaml --format plain", "--help"):
        line = f"set -o pipefail; {sys.executable} -m aiplan {arguments} | (exec 0<&-; sleep 0.1)"
        done = subprocess.run(["bash", "-c", line], env=environment, capture_output=True, check=False, timeout=60)
        assert done.returncode in {0, 141}
        assert done.stderr == b""


def test_a_closed_pipe_is_141_and_silent(environment):
    for arguments in (["estimate", "small.yaml"], ["--help"], ["--version"]):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            [*AIPLAN, *arguments], env=environment, stdout=writing, stderr=subprocess.PIPE, check=False, timeout=60
        )
        os.close(writing)
        assert (done.returncode, done.stderr) == (141, b"")


def test_locale_c(environment):
    done = child(["estimate", "unknowns.yaml"], environment | {"LC_ALL": "C"})
    assert done.returncode == 0
    assert done.stdout.isascii()


def test_ascii_output_of_other_letters(folder, environment):
    text = (folder / "small.yaml").read_text().replace("Llama 3 8B on", "Zürich 東京 on")
    (folder / "letters.yaml").write_text(text)
    done = child(["estimate", "letters.yaml"], environment | {"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert done.stdout.startswith(rb"Z\xfcrich \u6771\u4eac on 16 GPUs")


def test_interrupted_is_130(environment):
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [*AIPLAN, "estimate", "-"], env=environment, stdin=reading, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    os.close(reading)
    os.close(writing)
    assert (process.returncode, out) == (130, b"")
    assert b"Traceback" not in err


def test_a_bug_is_70_without_traceback(run, monkeypatch):
    def broken(*arguments, **named):
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(cli, "app_of", broken)
    done = run("estimate", "small.yaml")
    assert (done.code, done.out) == (70, "")
    assert done.err.startswith("internal error: ZeroDivisionError: by nothing\n\nhint: ")
    assert "Traceback" not in done.err
    assert "Traceback" in run("estimate", "small.yaml", "--verbose").err
    monkeypatch.setenv("AIPLAN_VERBOSE", "1")
    assert "Traceback" in run("estimate", "small.yaml").err


def test_standard_input_is_a_scenario(run, folder):
    text = (folder / "small.yaml").read_bytes()
    piped = run("estimate", "-", "--format", "plain", stdin=text)
    named = run("estimate", "small.yaml", "--format", "plain")
    assert piped.code == named.code == 0
    assert piped.out.replace("<stdin>", "small.yaml") == named.out


def test_errors_of_standard_input_have_a_place(run):
    done = run("estimate", "-", stdin=b"schema_version: 1\nmodle: x\n")
    assert (done.code, done.out) == (2, "")
    assert "<stdin>:2:1" in done.err


def test_output_goes_to_the_file_only(run, folder):
    done = run("estimate", "small.yaml", "--format", "json", "-o", "my result.json")
    assert (done.code, done.out, done.err) == (0, "", "wrote my result.json\n")
    assert (folder / "my result.json").read_text() == run("estimate", "small.yaml", "--format", "json").out
    assert run("estimate", "small.yaml", "-q", "-o", "other.txt").err == ""
    assert run("estimate", "small.yaml", "--format", "plain", "-o", "-").out.startswith("name\tvalue\tunit\n")


def test_nothing_is_written_on_errors(run, folder):
    assert run("estimate", "broken.yaml", "-o", "result.txt").code == 2
    assert run("estimate", "small.yaml", "--explain", "no.term", "-o", "result.txt").code == 2
    assert not (folder / "result.txt").exists()
    refused = run("estimate", "small.yaml", "-o", "nowhere/result.txt")
    assert (refused.code, refused.out) == (2, "")
    assert "cannot write 'nowhere/result.txt'" in refused.err


def test_a_path_with_spaces(run, folder):
    (folder / "my plans").mkdir()
    (folder / "small.yaml").rename(folder / "my plans" / "first one.yaml")
    done = run("estimate", "my plans/first one.yaml")
    assert done.code == 0
    assert done.out.splitlines()[0] == "Llama 3 8B on 16 GPUs  my plans/first one.yaml"


def test_environment_twins(run, monkeypatch):
    monkeypatch.setenv("AIPLAN_FORMAT", "plain")
    assert run("estimate", "small.yaml").out.startswith("name\tvalue")
    assert run("estimate", "small.yaml", "--format", "csv").out.startswith("name,value")
    monkeypatch.delenv("AIPLAN_FORMAT")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in run("estimate", "small.yaml").out
    monkeypatch.setenv("AIPLAN_NO_COLOR", "1")
    assert "\x1b[" not in run("estimate", "small.yaml").out


def test_overlays_from_folder_environment_and_option(run, folder, monkeypatch):
    for place, price in (("mine", "5"), ("ours", "6")):
        (folder / place / "accelerators").mkdir(parents=True)
        (folder / place / "accelerators" / "test-gpu.yaml").write_text(
            f"prices: [{{provider: ours, per_hour: {price} USD/h}}]\n"
        )

    def price(*arguments):
        done = run("estimate", "small.yaml", "--format", "plain", *arguments)
        assert done.code == 0, done.err
        return next(line.split("\t")[1] for line in done.out.splitlines() if line.startswith("price_usd_per_gpu_hour"))

    assert float(price()) == pytest.approx(3.0)  # the median of ./hardware_catalog
    monkeypatch.setenv("AIPLAN_CATALOG", os.pathsep.join(["ours", "mine"]))
    assert float(price()) == pytest.approx(5.0)
    assert float(price("--catalog", "ours")) == pytest.approx(6.0)


def test_quiet_keeps_errors_and_drops_the_rest(run):
    assert run("estimate", "stuck.yaml", "--quiet").err == ""
    assert run("estimate", "unknowns.yaml").err.startswith("warning[AIP106]")
    assert run("estimate", "unknowns.yaml", "--quiet").err == ""
    assert "3 errors" in run("estimate", "broken.yaml", "--quiet").err
