"""`aiplan explain`: why a number is what it is."""

from typing import Annotated

import typer

from aiplan.cli.options import (
    CatalogOption,
    Format,
    FormatOption,
    NoColorOption,
    OutputOption,
    QuietOption,
    ScenarioArgument,
    SetOption,
    VerboseOption,
    WidthOption,
)

SHORT = "How a number came about, down to its sources."
HELP = """Explain a number: the formula that made it, what went in, where that comes from, and the source.

Without a term: all terms with their values.

\b
Examples:
  aiplan explain gpt3-175b-a100
  aiplan explain gpt3-175b-a100 step.bubble
  aiplan explain gpt3-175b-a100 run.time_to_train --depth 3
"""


def explain(
    scenario: ScenarioArgument,
    term: Annotated[
        str | None,
        typer.Argument(metavar="[TERM]", help="Dotted name, e.g. step.tensor."),
    ] = None,
    depth: Annotated[
        int, typer.Option("--depth", metavar="N", min=1, max=20, help="Closed forms to descend into.")
    ] = 1,
    settings: SetOption = None,
    form: FormatOption = Format.TABLE,
    output: OutputOption = None,
    catalog: CatalogOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    no_color: NoColorOption = False,
    width: WidthOption = None,
) -> None:
    """Run the command."""
    from aiplan.cli.session import Session, source_of
    from aiplan.planning import explain as planning
    from aiplan.planning.variants import assignments
    from aiplan.report.explain import Explained, Terms, render

    session = Session(
        form=form,
        output=output,
        overlays=tuple(catalog or ()),
        quiet=quiet,
        verbose=verbose,
        no_color=no_color,
        width=width,
    )
    loaded = session.load(source_of(scenario), session.catalog(), assignments(settings or ()))
    answer = (
        Terms(loaded, planning.explain_all(loaded))
        if term is None
        else Explained(loaded, planning.explain_known(loaded, term, depth))
    )
    session.emit(lambda look: render(answer, form, look))
