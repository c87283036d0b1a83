"""What every report names as its writers is there, and only what a format needs is loaded for it."""

import inspect
import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest

import aiplan.report
from aiplan.report.formats import Report

REPORTS = {
    f"{package.name}.{name}": report
    for package in pkgutil.iter_modules(aiplan.report.__path__)
    if package.ispkg
    for name, report in vars(import_module(f"aiplan.report.{package.name}")).items()
    if isinstance(report, Report)
}
PACKAGES = [package.name for package in pkgutil.iter_modules(aiplan.report.__path__) if package.ispkg]


TEXTS = {"exports", "manifests", "overview"}
"""Packages that write files for other programs, or a page: in most formats the text is the file itself."""


def test_every_package_is_a_report():
    assert {name.partition(".")[0] for name in REPORTS} == set(PACKAGES) - TEXTS


@pytest.mark.parametrize("name", REPORTS)
def test_writers_are_there(name):
    report = REPORTS[name]
    for writer, inputs in ((report.table, 2), (report.markdown, 1), (report.json, 1), (report.plain, 2)):
        if writer is not None:
            module, _, function = writer.partition(".")
            found = getattr(import_module(f"{report.package}.{module}"), function)
            assert len(inspect.signature(found).parameters) == inputs, writer
    records = import_module(f"{report.package}.{report.records}")
    if hasattr(records, "header"):
        assert len(inspect.signature(records.header).parameters) == 1
    else:
        assert all(isinstance(heading, str) for heading in records.HEADER)
    assert len(inspect.signature(records.rows).parameters) == 1


TABLE = {"rich", "aiplan.report.grid", "aiplan.report.estimate.table"}
DOCUMENT = {"json", "aiplan.report.documents", "aiplan.report.estimate.document"}
RECORDS = {"aiplan.report.records"}


@pytest.mark.parametrize(
    ("form", "needed", "others"),
    [
        ("table", TABLE, DOCUMENT | RECORDS),
        ("json", DOCUMENT, TABLE | RECORDS),
        ("csv", RECORDS, TABLE),
        ("plain", RECORDS, TABLE),
        ("markdown", RECORDS, TABLE | DOCUMENT),
    ],
)
def test_a_format_loads_what_it_needs(form, needed, others):
    code = (
        "import sys\n"
        "from aiplan.cli.main import main\n"
        f"code = main(['estimate', 'gpt3-175b-a100', '--format', '{form}'])\n"
        "print(*sys.modules, file=sys.stderr)\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.splitlines()[-1].split())
    assert needed <= loaded
    assert not others & loaded
