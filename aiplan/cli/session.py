"""What the shared options mean: where to read, how to write, what to say."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from aiplan.declare import Diagnostics, render
from aiplan.report.console import columns_of, look_of, write, write_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aiplan.catalog.load import Catalog
    from aiplan.declare import InputError
    from aiplan.planning.estimate import Estimate
    from aiplan.planning.variants import Loaded, Setting, Source
    from aiplan.report.console import Look
    from aiplan.report.graph import Graph
    from aiplan.report.picture import Picture
    from aiplan.scenario.load import Scenario
    from aiplan.scenario.runs import MeasuredRun

STANDARD = "-"
JOIN = "+"
"""What joins the names of files that make one scenario together."""
PROJECT_CATALOG = Path("hardware_catalog")


class Session(NamedTuple):
    """One run of a command."""

    form: str = "table"
    output: str | None = None
    overlays: tuple[Path, ...] = ()
    quiet: bool = False
    verbose: bool = False
    no_color: bool = False
    width: int | None = None

    def catalog(self) -> Catalog:
        """Return the catalog with the overlays on top: ./hardware_catalog, AIPLAN_CATALOG, --catalog."""
        from aiplan.catalog.folders import data_folder
        from aiplan.catalog.load import Catalog

        named = [Path(text) for text in os.environ.get("AIPLAN_CATALOG", "").split(os.pathsep) if text]
        diagnostics = Diagnostics()
        for folder in (*named, *self.overlays):
            if not folder.is_dir():
                diagnostics.error("AIP113", f"no catalog folder '{folder}'", hint="give an existing folder")
        diagnostics.raise_if_errors()
        project = PROJECT_CATALOG
        own = [project] if project.is_dir() and project.resolve() != data_folder(project.name).resolve() else []
        layers = [*own, *named, *self.overlays]
        self.remark(*(f"catalog folder {folder}" for folder in layers))
        return Catalog(layers)

    def load(self, source: Source, catalog: Catalog, settings: tuple[Setting, ...] = ()) -> Scenario:
        """Load a scenario, or raise everything that is wrong with it."""
        from aiplan.planning.variants import load_source

        loaded = load_source(source, catalog, settings)
        if loaded.scenario is None:
            raise loaded.diagnostics.failure()
        self.warn(loaded)
        self.remark(*(f"read {name}" for name in loaded.diagnostics.sources if not name.startswith("--")))
        return loaded.scenario

    def unsized(self, source: Source, catalog: Catalog, settings: tuple[Setting, ...] = ()) -> Scenario:
        """Load a scenario whose sizes are to be searched, or raise everything that is wrong with the rest."""
        from aiplan.planning.variants import load_written

        loaded = load_written(source, catalog, settings, searched=True)
        if loaded.scenario is None:
            raise loaded.diagnostics.failure()
        self.warn(loaded)
        return loaded.scenario

    def own(self, source: Source, catalog: Catalog, settings: tuple[Setting, ...], convention: str) -> Estimate | None:
        """Return the estimate of the plan that a scenario has; None if that is to be searched, or is not legal."""
        from aiplan.planning.estimate import estimate
        from aiplan.planning.variants import load_written

        loaded = load_written(source, catalog, settings)
        if loaded.scenario is None:
            self.say(f"the plan of the scenario is not legal: {loaded.diagnostics.items[0].problem}")
            return None
        return None if loaded.scenario.searched else estimate([loaded.scenario], convention)[0]

    def runs(self, paths: Sequence[str], catalog: Catalog, settings: Sequence[Setting] = ()) -> list[MeasuredRun]:
        """Read measured runs, or raise everything that is wrong with their files; without a path the published ones."""
        from aiplan.planning.run_files import measured_runs
        from aiplan.planning.variants import Loaded

        diagnostics = Diagnostics()
        found = measured_runs([source_of(text) for text in paths], catalog, diagnostics, settings)
        diagnostics.raise_if_errors()
        self.warn(Loaded(None, diagnostics))
        return found

    def warn(self, loaded: Loaded) -> None:
        """Show the warnings about a scenario."""
        found = loaded.diagnostics
        if found.items and not self.quiet:
            write(render(found.items, found.sources, columns_of(sys.stderr)) + "\n", sys.stderr)

    def fault(self, loaded: Loaded) -> None:
        """Show all that is wrong with something that could not be read, though others can."""
        found = loaded.diagnostics
        write(render(found.items, found.sources, columns_of(sys.stderr)) + "\n\n", sys.stderr)

    def say(self, text: str) -> None:
        """Tell a person something that is not the result."""
        if not self.quiet:
            write(f"{text}\n", sys.stderr)

    def remark(self, *texts: str) -> None:
        """Tell what only a curious person wants to know."""
        if self.verbose:
            write("".join(f"{text}\n" for text in texts), sys.stderr)

    def doubt(self, answer: Estimate) -> None:
        """Warn of results that are unknown, and tell what would make them known."""
        found = Diagnostics()
        for unknown in answer.unknowns():
            found.warning(unknown.code, unknown.problem, hint=unknown.hint)
        if found.items and not self.quiet:
            write(render(found.items, {}, columns_of(sys.stderr)) + "\n", sys.stderr)

    def verdict(self, answer: Estimate) -> int:
        """Say so if a plan does not fit, and return the exit code for it."""
        if answer.fits:
            return 0
        from aiplan.report.estimate.headline import shortfall

        self.say(f"does not fit: {shortfall(answer)}")
        return 1

    def emit(self, rendered: Callable[[Look], str]) -> None:
        """Write a result to where it was asked for."""
        if self.output is None or self.output == STANDARD:
            write(rendered(look_of(sys.stdout, no_color=self.no_color, width=self.width)))
            return
        from aiplan.report.console import Look

        self.save(rendered(Look(width=self.width)), self.output)

    def picture(self, path: str, drawn: Callable[[], Picture]) -> None:
        """Write a picture to where it was asked for."""
        from aiplan.report.picture import svg

        self._replace(output=path).emit(lambda _: svg(drawn()))

    def curves(self, path: str | None, graph: Callable[[], Graph]) -> None:
        """Write curves as a picture, if a file was asked for."""
        if path is not None:
            from aiplan.report.line_chart import line_chart

            self.picture(path, lambda: line_chart(graph()))

    def save(self, text: str, path: str) -> None:
        """Write a text to a file that was asked for."""
        try:
            write_file(text, Path(path))
        except OSError as problem:
            diagnostics = Diagnostics()
            reason = problem.strerror or "it cannot be written"
            diagnostics.error("AIP113", f"cannot write '{path}': {reason}", hint="choose another place")
            raise diagnostics.failure() from None
        self.say(f"wrote {path}")


def source_of(*texts: str) -> Source:
    """Return where a scenario is read from; `-` is standard input, several files, or `a+b`, make one scenario."""
    from aiplan.declare.source import MAX_BYTES
    from aiplan.planning.variants import Source

    names = texts if len(texts) > 1 else _joined(texts[0])
    files = tuple((name, sys.stdin.buffer.read(MAX_BYTES + 1) if name == STANDARD else None) for name in names)
    return Source(JOIN.join(names), together=files) if len(files) > 1 else Source(*files[0])


def _joined(text: str) -> tuple[str, ...]:
    """Return the files that a text names together: `a+b`, if no file has this name and one has that of a part."""
    parts = tuple(text.split(JOIN))
    if len(parts) < 2 or not all(parts) or Path(text).exists():
        return (text,)
    return parts if any(Path(part).exists() for part in parts) else (text,)


def log_texts(names: Sequence[str], diagnostics: Diagnostics) -> list[tuple[str, bytes]]:
    """Return logs by name with what they hold; note those that cannot be read."""
    from aiplan.planning.variants import STDIN

    found: list[tuple[str, bytes]] = []
    for name in names:
        try:
            piped = name == STANDARD
            found.append((STDIN, sys.stdin.buffer.read()) if piped else (name, Path(name).read_bytes()))
        except OSError as problem:
            reason = problem.strerror or "it cannot be read"
            hint = "give a log of nccl-tests or rccl-tests, or the command 'runs' for training runs"
            diagnostics.error("AIP113", f"cannot read '{name}': {reason}", hint=hint)
    return found


def nothing_counts(hint: str) -> InputError:
    """Return the error that there is no run to answer from."""
    diagnostics = Diagnostics()
    diagnostics.error(
        "AIP113", "no run that counts: a step time or tokens per second, a grade and a full layout", hint=hint
    )
    return diagnostics.failure()


def amount(option: str, text: str, dimension: str, diagnostics: Diagnostics) -> float:
    """Read a quantity from an option; note what is wrong with it."""
    from aiplan.declare import Mark
    from aiplan.units import UnitError, parse

    try:
        number = parse(text, dimension)
        if number > 0:
            return number
        problem, hint = f"'{text}' is not above 0", None
    except UnitError as fault:
        problem, hint = fault.problem, fault.hint
    source = f"{option} {text}"
    diagnostics.sources[source] = source
    diagnostics.error("AIP102", problem, Mark(source, 1, len(option) + 2, len(source) + 1), hint=hint)
    return float("nan")
