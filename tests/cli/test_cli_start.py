"""What a command loads when it starts, beyond the heavy packages: what only a type checker needs."""

import subprocess
import sys


def test_estimate_loads_nothing_that_only_a_type_checker_needs():
    code = (
        "import sys\n"
        "from aiplan.cli.main import main\n"
        "code = main(['estimate', 'gpt3-175b-a100'])\n"
        "print(*sys.modules, file=sys.stderr)\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.splitlines()[-1].split())
    assert "numpy" in loaded
    assert loaded.isdisjoint({"numpy.typing", "pandas", "json", "aiplan.catalog.lint", "aiplan.catalog.query"})
