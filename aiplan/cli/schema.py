"""`aiplan schema`: JSON Schemas of what goes in and of what comes out."""

from enum import StrEnum
from typing import Annotated

import typer

from aiplan.cli.options import OutputOption, QuietOption

SHORT = "JSON Schemas of files and results."
HELP = """Print the JSON Schema of a kind of file, for editors, or of the JSON results.

\b
Examples:
  aiplan schema scenario > scenario.schema.json
  aiplan schema result -o result.schema.json
"""


class Kind(StrEnum):
    """What has a schema."""

    SCENARIO = "scenario"
    POLICY = "policy"
    JOBS = "jobs"
    MODEL = "model"
    SOFTWARE = "software"
    ACCELERATOR = "accelerator"
    NODE = "node"
    LINK = "link"
    NETWORK = "network"
    SWITCH = "switch"
    STORAGE = "storage"
    REGION = "region"
    RESULT = "result"


def schema(
    kind: Annotated[
        Kind,
        typer.Argument(
            metavar="KIND",
            help="scenario, policy, jobs, model, software, accelerator, node, link, network, switch, storage, region; "
            "result.",
            show_default=False,
        ),
    ],
    output: OutputOption = None,
    quiet: QuietOption = False,
) -> None:
    """Run the command."""
    from aiplan.cli.session import Session
    from aiplan.report.documents import dumps
    from aiplan.report.schemas import schema_of

    Session(output=output, quiet=quiet).emit(lambda _: dumps(schema_of(kind)))
