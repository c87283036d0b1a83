"""`aiplan schema`: JSON Schemas of what goes in and of what comes out."""

from enum import StrEnum
from typing import Annotated

import typer

from aiplan.cli.options import OutputOption, QuietOption

SHORT = "JSON Schemas of files and results."
HELP = """Print the JSON Schema of a kind of file, for editors, or of the JSON results; without KIND, list the kinds.

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
    RUNS = "runs"
    RESULT = "result"


ABOUT = {
    Kind.SCENARIO: "what is trained, on what, in which layout (scenarios/*.yaml)",
    Kind.POLICY: "rules that 'aiplan check' holds scenarios to",
    Kind.JOBS: "pools, queues and jobs of 'aiplan schedule' (scenarios/jobs)",
    Kind.MODEL: "shape of a network (scenarios/models)",
    Kind.SOFTWARE: "preset of kernels, overlap and optimizer (scenarios/software)",
    Kind.ACCELERATOR: "entry of the hardware catalog",
    Kind.NODE: "entry of the hardware catalog",
    Kind.LINK: "entry of the hardware catalog",
    Kind.NETWORK: "entry of the hardware catalog",
    Kind.SWITCH: "entry of the hardware catalog",
    Kind.STORAGE: "entry of the hardware catalog",
    Kind.REGION: "entry of the hardware catalog",
    Kind.RUNS: "measured runs, for 'aiplan accuracy' and 'aiplan calibrate' (scenarios/published)",
    Kind.RESULT: "what every command writes with --format json",
}


def schema(
    kind: Annotated[
        Kind | None,
        typer.Argument(metavar="[KIND]", help=f"{', '.join(Kind)}.", show_default=False),
    ] = None,
    output: OutputOption = None,
    quiet: QuietOption = False,
) -> None:
    """Run the command."""
    from aiplan.cli.session import Session
    from aiplan.report.documents import dumps
    from aiplan.report.schemas import schema_of

    session = Session(output=output, quiet=quiet)
    if kind is None:
        session.emit(lambda _: "".join(f"{one:<12} {about}\n" for one, about in ABOUT.items()))
    else:
        session.emit(lambda _: dumps(schema_of(kind)))
