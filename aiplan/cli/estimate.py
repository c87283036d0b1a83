"""`aiplan estimate`: one scenario, one answer."""

from typing import TYPE_CHECKING, Annotated

import typer

from aiplan.cli.options import (
    Convention,
    ConventionOption,
    Format,
    OptionalScenario,
    SetOption,
    VaryOption,
    with_session,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiplan.cli.session import Session

SHORT = "Time, memory, cost and bottleneck of one scenario."
HELP = """Answer for one scenario: time to train, step time, memory, utilisation, cost, energy, and what limits it.

Exit code 1 if the plan does not fit into memory.

\b
Examples:
  aiplan estimate gpt3-175b-a100
  aiplan estimate my.yaml --set plan.tensor=4 --format json -o my.json
  aiplan estimate my.yaml --explain step.tensor
  aiplan estimate config.json ds_config.json --set cluster.node=dgx-h100 --set cluster.nodes=2
  aiplan estimate --model llama-3-70b --gpu h100-sxm --gpus 1024 --tokens 15T --save my.yaml
"""


@with_session
def estimate(
    session: "Session",
    scenario: OptionalScenario = None,
    explain: Annotated[
        str | None,
        typer.Option("--explain", metavar="TERM", help="Show also how a term came about."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME", help="Model of the library."),
    ] = None,
    gpu: Annotated[str | None, typer.Option("--gpu", metavar="ID", help="Accelerator or node of the catalog.")] = None,
    gpus: Annotated[int | None, typer.Option("--gpus", min=1, metavar="N", help="How many accelerators.")] = None,
    tokens: Annotated[
        str | None, typer.Option("--tokens", metavar="COUNT", help="Tokens to train on, e.g. 15T.")
    ] = None,
    sequence: Annotated[int | None, typer.Option("--sequence", min=1, metavar="N", help="Sequence length.")] = None,
    batch: Annotated[int | None, typer.Option("--batch", min=1, metavar="N", help="Sequences per step.")] = None,
    save: Annotated[
        str | None,
        typer.Option(
            "--save", metavar="FILE", help="Write the scenario with the plan that was found, and what was assumed."
        ),
    ] = None,
    settings: SetOption = None,
    vary: VaryOption = None,
    convention: ConventionOption = Convention.MEGATRON,
) -> None:
    """Run the command."""
    if vary:
        raise typer.BadParameter("one scenario, one answer; use 'aiplan compare' for several", param_hint="--vary")
    if explain and session.form in {Format.PLAIN, Format.CSV}:
        raise typer.BadParameter(f"not with --format {session.form}; use 'aiplan explain'", param_hint="--explain")
    words = {"--model": model, "--gpu": gpu, "--gpus": gpus}
    _check_words(scenario, words, {"--tokens": tokens, "--sequence": sequence, "--batch": batch, "--save": save})
    from aiplan.cli.session import source_of
    from aiplan.planning.estimate import estimate as estimate_all
    from aiplan.planning.variants import Source, assignments
    from aiplan.report.estimate import Answer, render

    changes, layers = assignments(settings or ()), session.catalog()
    text = None
    if scenario:
        source = source_of(*scenario)
    else:
        from aiplan.planning.oneline import PLACE, Words, scenario_text

        text = scenario_text(Words(str(model), str(gpu), int(gpus or 0), tokens, sequence, batch), layers)
        source = Source("", text.yaml.encode(), PLACE)
    loaded = session.load(source, layers, changes)
    if text is not None:
        session.say("".join(f"assumed: {line}\n" for line in text.assumed).rstrip())
    explained = None
    if explain:
        from aiplan.planning.explain import explain_known

        explained = explain_known(loaded, explain)
    answer = estimate_all([loaded], convention)[0]
    ways = []
    if not answer.fits:
        from aiplan.planning.ways_out import ways_out

        ways = ways_out(source, layers, changes, answer)
    session.doubt(answer)
    if text is not None and save is not None:
        from aiplan.planning.oneline import with_plan_line
        from aiplan.report.search.wording import as_file

        session.save(with_plan_line(text, as_file(loaded.file.plan)), save)
    session.emit(lambda look: render(Answer(answer, ways, explained), session.form, look))
    raise typer.Exit(session.verdict(answer))


def _check_words(scenario: list[str] | None, words: "Mapping[str, object]", more: "Mapping[str, object]") -> None:
    """Refuse a scenario together with a question in words, and half a question."""
    given = [name for name, value in {**words, **more}.items() if value is not None]
    if scenario and given:
        raise typer.BadParameter("a scenario says that itself; use --set to change it", param_hint=given[0])
    missing = [name for name, value in words.items() if value is None]
    if not scenario and missing:
        hint = missing[0] if given else "SCENARIO"
        raise typer.BadParameter(f"give a SCENARIO, or {', '.join(words)}", param_hint=hint)
