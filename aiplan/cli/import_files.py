"""`aiplan import`: files of other programs to a scenario."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from aiplan.cli.options import Format, with_session

if TYPE_CHECKING:
    from aiplan.cli.session import Session
    from aiplan.planning.imports import Imported

SHORT = "Read configs and arguments of other programs."
HELP = """Read files of other programs: a model's config, a training's arguments, the description of a node.

What kind a file is shows in what it holds. Several files make one scenario; where they contradict each other, that is
an error with both places. Shown is what was taken, what was defaulted and why, what is open, and what is not used.

'aiplan estimate FILE' takes the same files, and so does 'model:' in a scenario.

With -o NAME.yaml the scenario is written; any other name takes what is shown, in --format.

\b
Examples:
  aiplan import config.json
  aiplan import config.json ds_config.json accelerate.yaml -o scenario.yaml
  aiplan import train.sh --kind megatron-args --format json
  nvidia-smi topo -m | aiplan import -
"""
SCENARIO_SUFFIXES = (".yaml", ".yml")


class KindName(StrEnum):
    """Kinds of files; a test holds them against the importers."""

    HF_CONFIG = "hf-config"
    MEGATRON_ARGS = "megatron-args"
    MEGATRON_YAML = "megatron-yaml"
    NEMO_YAML = "nemo-yaml"
    DEEPSPEED_JSON = "deepspeed-json"
    ACCELERATE_YAML = "accelerate-yaml"
    TORCHTITAN_TOML = "torchtitan-toml"
    NANOTRON_YAML = "nanotron-yaml"
    GPTNEOX_YML = "gptneox-yml"
    LLMFOUNDRY_YAML = "llmfoundry-yaml"
    MAXTEXT_YML = "maxtext-yml"
    NVIDIA_SMI_TOPO = "nvidia-smi-topo"
    NCCL_TOPO_XML = "nccl-topo-xml"


@with_session
def import_files(
    session: "Session",
    file: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Files; - for standard input.", show_default=False)
    ],
    kind: Annotated[
        KindName | None,
        typer.Option("--kind", help="Kind of the files, instead of finding it out.", show_default=False),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="A key that may matter and is not used is an error.")
    ] = False,
) -> None:
    """Run the command."""
    if file.count("-") > 1:
        raise typer.BadParameter("standard input can be read once only")
    from aiplan.cli.session import source_of
    from aiplan.declare import Diagnostics
    from aiplan.planning.imports import import_files as read_all
    from aiplan.planning.imports import tell
    from aiplan.planning.variants import STDIN, Loaded
    from aiplan.report.imports import render

    sources = [source_of(name) for name in file]
    diagnostics = Diagnostics()
    named = [(STDIN if source.piped is not None else source.text, source.piped) for source in sources]
    answer = read_all(named, diagnostics, kind, strict=strict)
    tell(answer, diagnostics)
    session.warn(Loaded(None, diagnostics))
    shown = session
    if session.output is not None and session.output.endswith(SCENARIO_SUFFIXES):
        _write_scenario(session, answer)
        shown = session._replace(output=None)
    shown.emit(lambda look: render(answer, session.form, look))


def _write_scenario(session: "Session", answer: "Imported") -> None:
    """Write the scenario, with what is usual for what no file gives."""
    from aiplan.planning.imported import usual_for
    from aiplan.report.imports.scenario_file import scenario_file

    text = scenario_file(answer, usual_for(answer))
    session._replace(form=Format.TABLE).emit(lambda _: text)
