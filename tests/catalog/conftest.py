import pytest
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from aiplan.catalog.load import Catalog
from aiplan.catalog.records import KINDS
from aiplan.cli.main import main
from aiplan.declare import Diagnostics


class TextFile(SingleFileSnapshotExtension):
    _write_mode = WriteMode.TEXT
    file_extension = "txt"


@pytest.fixture
def golden(snapshot):
    """Text that is compared with a file of its own."""
    return snapshot.use_extension(TextFile)


@pytest.fixture(scope="session")
def shelf():
    """Look-up of any entry of the catalog as it comes with the program."""
    catalog = Catalog()

    def find(name):
        kind, _, ident = name.partition("/")
        diagnostics = Diagnostics()
        found = catalog.find(kind, ident, diagnostics)
        diagnostics.raise_if_errors()
        return found.entry

    return find


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run a command line in an empty folder; returns exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    for name in ("AIPLAN_CATALOG", "AIPLAN_FORMAT", "AIPLAN_VERBOSE", "AIPLAN_NO_COLOR", "COLUMNS", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments):
        code = main(arguments)
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def transcript(run):
    """Run a command line; returns all that a person would see, as one text."""

    def call(*arguments):
        code, out, err = run(*arguments)
        shown = " ".join(f'"{word}"' if " " in word else word for word in arguments)
        return f"$ aiplan {shown}\nexit {code}\n--- stdout\n{out}--- stderr\n{err}"

    return call


@pytest.fixture(scope="session")
def everything():
    """Every entry of the catalog as it comes with the program, read once."""
    catalog = Catalog()
    for kind in KINDS:
        for ident in catalog.ids(kind):
            catalog.find(kind, ident, Diagnostics())
    return catalog


@pytest.fixture
def overlay(tmp_path, everything):
    """Write files of an overlay folder `mine`, by `kind/id`; returns the catalog with it on top.

    Entries that the overlay leaves alone are not read again.
    """

    def make(files):
        for name, text in files.items():
            path = tmp_path / "mine" / f"{name}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        known = {key: found for key, found in everything._found.items() if "/".join(key) not in files}
        catalog = Catalog([tmp_path / "mine"])
        catalog._found.update(known)
        return catalog

    return make
