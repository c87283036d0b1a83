"""`aiplan catalog`: what the hardware catalog holds, and whether it is sound."""

from typing import TYPE_CHECKING, Annotated

import typer

from aiplan.cli.options import (
    with_session,
)

if TYPE_CHECKING:
    from aiplan.cli.session import Session

HELP = "List, show and check the hardware catalog, and list the library."
LIST_HELP = """List the entries of a kind, or of all kinds.

\b
A condition names a field and, if need be, what it must be:
  memory.capacity >= 80 GB     with a unit of that field: = != < <= > >=
  vendor = NVIDIA              text, in any case; ~ for 'contains'
  compute.fp8                  given at all

What an entry does not state fits no condition. Several conditions must all fit.

\b
Examples:
  aiplan catalog list accelerators
  aiplan catalog list accelerators --where "memory.capacity >= 80 GB" --where compute.fp8
  aiplan catalog list nodes --where "provider = AWS" --format csv
"""
SHOW_HELP = """Show an entry in full: its values, what follows from them, sources, and what is unverified.

\b
Examples:
  aiplan catalog show h100-sxm
  aiplan catalog show regions/fr --format json
"""
LINT_HELP = """Check every entry, those of your own catalog folders included.

Exits with 1 if anything is found.

\b
Examples:
  aiplan catalog lint
  aiplan catalog lint --catalog my_catalog --format csv
"""
LIBRARY_HELP = """List what comes with aiplan and can be named: scenarios, models, software presets, jobs.

\b
Examples:
  aiplan catalog library
  aiplan catalog library models
  aiplan catalog library models --format csv
"""
FOUND = 1

app = typer.Typer(name="catalog", help=HELP, rich_markup_mode=None, no_args_is_help=False)


def complete_kind(incomplete: str) -> list[str]:
    """Complete a kind of entry from the names of folders."""
    from aiplan.catalog.folders import data_folder

    names = sorted(path.name for path in data_folder("hardware_catalog").iterdir() if path.is_dir())
    return [name for name in names if name.startswith(incomplete)]


def complete_entry(incomplete: str) -> list[str]:
    """Complete an id, or a kind and an id, from the names of files."""
    from aiplan.catalog.folders import data_folder

    files = sorted(data_folder("hardware_catalog").glob("*/*.yaml"))
    names = [f"{path.parent.name}/{path.stem}" if "/" in incomplete else path.stem for path in files]
    return [name for name in names if name.startswith(incomplete)]


@app.command("list", help=LIST_HELP)
@with_session
def list_entries(
    session: "Session",
    kind: Annotated[
        str | None, typer.Argument(metavar="[KIND]", help="Kind of entry.", autocompletion=complete_kind)
    ] = None,
    where: Annotated[
        list[str] | None, typer.Option("--where", metavar="CONDITION", help="Only entries that fit. Repeatable.")
    ] = None,
) -> None:
    """List entries."""
    from aiplan.catalog.query import select
    from aiplan.declare import Diagnostics
    from aiplan.report.catalog_list import render_list

    diagnostics = Diagnostics()
    shelf = session.catalog()
    selection = select(shelf, kind, where or (), diagnostics)
    diagnostics.raise_if_errors()
    session.emit(lambda look: render_list(selection, shelf, session.form, look))


@app.command("show", help=SHOW_HELP)
@with_session
def show(
    session: "Session",
    entry: Annotated[
        str, typer.Argument(metavar="ID", help="Id, or KIND/ID.", autocompletion=complete_entry, show_default=False)
    ],
) -> None:
    """Show one entry."""
    from aiplan.declare import Diagnostics
    from aiplan.report.catalog_entry import render_entry, shown

    diagnostics = Diagnostics()
    shelf = session.catalog()
    name = shelf.resolve(entry, diagnostics)
    found = None if name is None else shelf.find(*name, diagnostics)
    if name is None or found is None:
        raise diagnostics.failure()
    one = shown(*name, found, shelf, diagnostics)
    diagnostics.raise_if_errors()
    session.emit(lambda look: render_entry(one, session.form, look))


def complete_library(incomplete: str) -> list[str]:
    """Complete a kind of the library."""
    return [name for name in ("scenarios", "models", "software", "jobs") if name.startswith(incomplete)]


@app.command("library", help=LIBRARY_HELP)
@with_session
def list_library(
    session: "Session",
    kind: Annotated[
        str | None, typer.Argument(metavar="[KIND]", help="Kind of entry.", autocompletion=complete_library)
    ] = None,
) -> None:
    """List what can be named."""
    from aiplan.planning.library import library
    from aiplan.report.library import render

    found = library(kind)
    session.emit(lambda look: render(found, session.form, look))


@app.command("lint", help=LINT_HELP)
@with_session
def lint(
    session: "Session",
) -> None:
    """Check the catalog."""
    from aiplan.catalog.lint import lint as check
    from aiplan.declare import Diagnostics
    from aiplan.report.catalog_lint import render_lint

    diagnostics = Diagnostics()
    shelf = session.catalog()
    count = check(shelf, diagnostics)
    overlays = [name for name, _ in shelf.folders()[1:]]
    session.emit(lambda _: render_lint(count, overlays, diagnostics, session.form))
    if diagnostics.items:
        raise typer.Exit(FOUND)
