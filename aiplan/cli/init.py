"""`aiplan init`: a scenario to begin with."""

from typing import TYPE_CHECKING, Annotated

import typer

from aiplan.cli.options import CatalogOption, QuietOption

if TYPE_CHECKING:
    from pathlib import Path

    from aiplan.cli.session import Session

SHORT = "Write a commented scenario to begin with."
HELP = """Write a scenario that estimates: a model on some nodes, and the fastest plan that fits.

Comments say what each field takes and means, and which fields to add. Without FILE it is printed. A file that is there
is not written over, unless --force says so. The first line tells editors where the JSON Schema lies; with --schema that
is written too, so that they complete and check while you type.

\b
Examples:
  aiplan init my.yaml
  aiplan init my.yaml --model llama-3-70b --node dgx-h100 --nodes 64 --tokens 15T
  aiplan init clusters/my.yaml --schema clusters/scenario.schema.json
"""


def init(
    file: Annotated[
        str, typer.Argument(metavar="[FILE]", help="Where to write; - is standard output.", show_default=False)
    ] = "-",
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME", help="Model of the library, or a file. [default: llama-3-8b]"),
    ] = None,
    node: Annotated[
        str | None, typer.Option("--node", metavar="ID", help="Node of the catalog. [default: dgx-h100]")
    ] = None,
    nodes: Annotated[int | None, typer.Option("--nodes", min=1, metavar="N", help="How many. [default: 4]")] = None,
    tokens: Annotated[
        str | None, typer.Option("--tokens", metavar="COUNT", help="Tokens to train on. [default: 100B]")
    ] = None,
    sequence: Annotated[
        int | None, typer.Option("--sequence", min=1, metavar="N", help="Sequence length. [default: 8192]")
    ] = None,
    batch: Annotated[
        int | None, typer.Option("--batch", min=1, metavar="N", help="Sequences per step; what is usual if not given.")
    ] = None,
    schema: Annotated[
        str | None, typer.Option("--schema", metavar="FILE", help="Write the JSON Schema too, and point editors there.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Write over files that are there.")] = False,
    catalog: CatalogOption = None,
    quiet: QuietOption = False,
) -> None:
    """Run the command."""
    from pathlib import Path

    from aiplan.cli.session import STANDARD, Session
    from aiplan.planning.starter import Wanted, starter
    from aiplan.report.starter import SCHEMA, starter_file
    from aiplan.scenario.files import Place

    session = Session(overlays=tuple(catalog or ()), quiet=quiet)
    shown = "my.yaml" if file == STANDARD else file
    written = [Path(name) for name in (file, schema) if name not in {None, STANDARD}]
    if not force:
        _refuse(written)
    wanted = Wanted(model, node, nodes, tokens, sequence, batch)
    found = starter(wanted, Place(shown, Path(shown)), session.catalog())
    seen = SCHEMA if schema is None else _from(Path(shown).parent, Path(schema))
    text = starter_file(found, shown, seen)
    session._replace(output=file).emit(lambda _: text)
    if schema is not None:
        _write_schema(session, schema)
    elif file != STANDARD:
        beside = Path(shown).with_name(SCHEMA).as_posix()
        session.say(f"for completion in editors: aiplan schema scenario -o {beside}")


def _refuse(paths: "list[Path]") -> None:
    """Refuse to write over files."""
    from aiplan.declare import Diagnostics
    from aiplan.scenario.files import exists

    found = Diagnostics()
    for path in paths:
        if exists(path):
            found.error(
                "AIP113", f"'{path}' is there already", hint="choose another name, or write over it with --force"
            )
    found.raise_if_errors()


def _from(folder: "Path", target: "Path") -> str:
    """Return the way from a folder to a file, as a file in the folder would have it."""
    import os
    from pathlib import Path

    return Path(os.path.relpath(target, folder)).as_posix()


def _write_schema(session: "Session", path: str) -> None:
    from aiplan.report.documents import dumps
    from aiplan.report.schemas import schema_of

    session._replace(output=path).emit(lambda _: dumps(schema_of("scenario")))
