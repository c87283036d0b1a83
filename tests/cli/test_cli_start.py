"""What a command loads when it starts, beyond the heavy packages: its own file, and what its scenario uses."""

import pkgutil
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import aiplan.cli
from aiplan.cli.main import COMMANDS, FILES

UNUSED = {
    # what only a type checker needs, and packages for other formats
    "numpy.typing",
    "pandas",
    "json",
    "aiplan.report.records",
    # other views of the catalog and of the declarations
    "aiplan.catalog.lint",
    "aiplan.catalog.query",
    "aiplan.declare.docs",
    "aiplan.declare.schema",
    # variables of an environment that the scenario does not set
    "aiplan.catalog.nccl",
    "aiplan.scenario.variables",
    # fabrics of another kind
    "aiplan.core.dragonfly",
    "aiplan.core.torus",
    "aiplan.core.topologies.groups",
    "aiplan.core.topologies.meshes",
}


def test_estimate_loads_only_what_it_uses():
    code = (
        "import sys\n"
        "from aiplan.cli.main import main\n"
        "code = main(['estimate', 'gpt3-175b-a100'])\n"
        "print(*sys.modules, file=sys.stderr)\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.splitlines()[-1].split())
    assert {"numpy", "aiplan.cli.estimate", "aiplan.core.topologies.trees"} <= loaded
    assert not loaded & UNUSED
    assert not loaded & {f"aiplan.cli.{FILES.get(name, name)}" for name in COMMANDS if name != "estimate"}


def test_every_file_of_a_command_is_listed():
    files = [file.name for file in pkgutil.iter_modules(aiplan.cli.__path__)]
    listed = [name for name in files if name != "main" and hasattr(import_module(f"aiplan.cli.{name}"), "HELP")]
    assert sorted(FILES.get(name, name) for name in COMMANDS) == sorted(listed)


def test_every_module_held_to_be_unused_is_there():
    for name in UNUSED:
        assert find_spec(name) is not None


def test_every_command_has_a_help_of_its_own_and_a_line_in_the_common_one(run):
    among_all = run("--help").out
    for name in COMMANDS:
        alone = run(name, "--help")
        assert alone.code == 0
        assert alone.out.startswith(f"Usage: aiplan {name} ")
        assert f"  {name} " in among_all
