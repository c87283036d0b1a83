"""Scenarios held to their expectations, to a policy, and to what usually goes wrong: one batch, one verdict a rule.

Manifests of Kubernetes among the files are held to their kinds and to pools, jobs files to their own: see
`manifest_check` and `jobs_check`.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from aiplan.declare import CODES, Diagnostics, InputError, Mark
from aiplan.planning.discover import repository, targets
from aiplan.planning.estimate import estimate
from aiplan.planning.lints import behind_the_best, smells
from aiplan.planning.names import unit
from aiplan.planning.objectives import STEPS_ALONE
from aiplan.planning.saved import is_saved, read_if_there, read_saved
from aiplan.planning.variants import STDIN, Loaded, load_source, load_written
from aiplan.scenario.conditions import CHOICES, SHARE, Condition, read_condition
from aiplan.scenario.files import exists, find_scenario, locate
from aiplan.scenario.policy import CODE_OF, NO_POLICY
from aiplan.units import quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from aiplan.catalog.load import Catalog
    from aiplan.planning.discover import Skipped
    from aiplan.planning.estimate import Estimate
    from aiplan.planning.lints import Smell
    from aiplan.planning.scheduling.workload import Workload
    from aiplan.planning.variants import Setting, Source
    from aiplan.scenario.load import Scenario
    from aiplan.scenario.policy import Policy

STATES = ("ok", "exempt", "note", "warning", "error")
"""How a rule came out, the worst last."""
BROKEN_RULE, UNKNOWN_RESULT, DOES_NOT_FIT = "AIP401", "AIP402", "does-not-fit"
MOST_NAMED, MOST_LOOKED_AT = 3, 50
"""Files that are named, and looked at, where a path has nothing that can be checked."""
UNKNOWN_INPUT, SAVED_SUFFIX = "an input is unknown", ".json"
DIMENSION_UNITS = {
    "money": "USD",
    "time": "s",
    "energy": "J",
    "carbon": "kg",
    "power": "W",
    "data": "B",
    "count": "1",
    SHARE: "%",
}


class Verdict(NamedTuple):
    """How one rule came out for one file.

    `found` and `bound` are what the rule compares, in `unit`; `margin` is how much room there is, as a share of the
    bound, and negative where the rule is broken. `broken` says that the file could not be read.
    """

    rule: str
    state: str
    code: str
    text: str
    hint: str = ""
    why: str = ""
    found: float | None = None
    bound: float | None = None
    unit: str = "1"
    margin: float | None = None
    mark: Mark | None = None
    broken: bool = False


class Subject(NamedTuple):
    """What rules are asked of: terms by name, why one is unknown, what is expected, where a result can be mended."""

    of: Callable[[str], float]
    missing: Callable[[Condition], str]
    expected: Sequence[tuple[Condition, Mark | None]]
    place: Callable[[Condition], Mark | None]


@dataclass(frozen=True, slots=True)
class Checked:
    """A file with all verdicts, the worst last, and its estimate if it is a scenario that could be read."""

    path: str
    name: str
    loaded: Loaded
    verdicts: tuple[Verdict, ...]
    estimate: Estimate | None

    @property
    def state(self) -> str:
        """The worst of the verdicts."""
        return STATES[max((STATES.index(one.state) for one in self.verdicts), default=0)]

    @property
    def broken(self) -> bool:
        """Whether the file could not be read."""
        return any(one.broken for one in self.verdicts)


@dataclass(frozen=True, slots=True)
class Check:
    """All files of a check, the worst last, and what was left out; `root` is that of the repository, if any."""

    files: tuple[Checked, ...]
    skipped: tuple[Skipped, ...]
    policy: Policy
    paths: tuple[str, ...]
    settings: tuple[str, ...] = ()
    pools: str = ""
    holds_manifests: bool = False
    root: Path | None = None

    def rooted(self, path: str) -> str:
        """Return a path as the repository has it, wherever in it the check runs; others as they are."""
        full = Path(os.path.abspath(path))  # noqa: PTH100  links are kept: the repository has them, not what they name
        if self.root is None or not exists(full) or not full.is_relative_to(self.root):
            return path
        return full.relative_to(self.root).as_posix()

    @property
    def verdicts(self) -> list[tuple[Checked, Verdict]]:
        """Every verdict with its file."""
        return [(file, one) for file in self.files for one in file.verdicts]

    def count(self, state: str) -> int:
        """Return how many verdicts are of a kind."""
        return sum(one.state == state for _, one in self.verdicts)

    @property
    def code(self) -> int:
        """Exit code: 2 if a file could not be read, 1 if a rule is broken at the level of an error, else 0."""
        if any(file.broken for file in self.files):
            return 2
        return int(any(file.state == "error" for file in self.files))


def check(
    paths: Sequence[Source],
    catalog: Catalog,
    policy: Policy = NO_POLICY,
    settings: Sequence[Setting] = (),
    convention: str = "megatron",
    *,
    searched: bool = False,
    pools: Workload | None = None,
    done: Callable[[int], None] = lambda _: None,
) -> Check:
    """Check scenarios, all estimated as one batch, and manifests; one that cannot be read does not hide the others.

    Parameters
    ----------
    paths : sequence of Source
        Files, names of the library, patterns and folders.
    catalog : Catalog
        Where ids are looked up.
    policy : Policy
        Rules beside those of the scenarios.
    settings : sequence of tuple
        Changes made to all of them.
    convention : str
        How operations are counted.
    searched : bool
        Whether to search for better plans too.
    pools : Workload or None
        What the pods of manifests must fit.
    done : callable
        Takes how many files are done, again and again.
    """
    asked = targets(paths)
    saved = {source.text: found for source in asked.sources if (found := _saved(source, policy)) is not None}
    sources = [source for source in asked.sources if source.text not in saved]
    loaded = [load_source(source, catalog, settings) for source in sources]
    legal = [one.scenario for one in loaded if one.scenario is not None]
    answers = iter(estimate(legal, convention) if legal else ())
    files = [_missing(text) for text in asked.missing]
    files += [_idle(text, names) for text, names in asked.idle]
    files += saved.values()
    if asked.manifests:
        from aiplan.planning.manifest_check import check_manifests  # noqa: PLC0415  few checks have any

        files += check_manifests(asked.manifests, pools, policy)
    if asked.jobs:
        from aiplan.planning.jobs_check import check_jobs  # noqa: PLC0415  as above

        files += [check_jobs(source, catalog, policy) for source in asked.jobs]
    for at, (source, one) in enumerate(zip(sources, loaded, strict=True), start=1 + len(saved)):
        name = path_of(source)
        if one.scenario is None:
            files.append(broken(name, one))
        else:
            answer = next(answers)
            unsized = load_written(source, catalog, settings, searched=True).scenario if searched else None
            verdicts = in_order(_verdicts(name, answer, one, policy, catalog, unsized))
            files.append(Checked(name, one.scenario.name, one, verdicts, answer))
        done(at)
    files.sort(key=lambda file: (file.broken, STATES.index(file.state)))
    texts = tuple(f"{path}={value}" for path, value, _ in settings)
    where = pools.plan.place.name if pools else ""
    return Check(
        files=tuple(files),
        skipped=asked.skipped,
        policy=policy,
        paths=tuple(path_of(source) for source in paths),
        settings=texts,
        pools=where,
        holds_manifests=bool(asked.manifests),
        root=repository(),
    )


def _saved(source: Source, policy: Policy) -> Checked | None:
    """Return a saved result with its verdicts; None if the file is something else."""
    if source.piped is None and not source.text.endswith(SAVED_SUFFIX):
        return None
    content = source.piped if source.piped is not None else read_if_there(Path(source.text))
    if content is None or not is_saved(content):
        return None
    from aiplan.planning.check_saved import expected, terms_of  # noqa: PLC0415  only for saved results

    path, found = path_of(source), Diagnostics()
    try:
        document = read_saved(content, path, found)
        if document is None:
            return broken(path, Loaded(None, found))
        here = Mark(path, 1, 1, 2)
        subject = Subject(terms_of(document), lambda _: UNKNOWN_INPUT, tuple(expected(document)), lambda _: here)
    except InputError as failure:
        return broken(path, Loaded(None, Diagnostics(failure.diagnostics, failure.sources)))
    verdicts = in_order(_rules(path, subject, policy))
    return Checked(path, document["inputs"]["scenario"], Loaded(None, found), verdicts, None)


def path_of(source: Source) -> str:
    """Return the path of a file as reports and patterns have it."""
    named = source.text if source.together else find_scenario(source.text).name
    return STDIN if source.piped is not None else named.replace("\\", "/")


def judge(condition: Condition, one: Estimate) -> tuple[float, bool]:
    """Return what a condition asks of an estimate, and whether it holds; an unknown result is NaN and does not."""
    return _judged(condition, partial(_answer, one))


def _judged(condition: Condition, of: Callable[[str], float]) -> tuple[float, bool]:
    found = float(condition.left(of))
    return found, not math.isnan(found) and bool(condition.holds(of))


def _answer(one: Estimate, term: str) -> float:
    if term == "utilisation":
        return one.mfu
    if term in STEPS_ALONE or term == "run.goodput":
        return one.of_run(term)
    if term == "plan.recompute":
        return float(CHOICES["recompute"].index(one.scenario.file.plan.recompute))
    return one.given(term) if term.startswith(("plan.", "cluster.")) else one[term]


def margin(condition: Condition, found: float) -> float | None:
    """Return how much room is left, as a share of the bound; None where that has no meaning."""
    if condition.sign in {"=", "!="} or condition.number == 0 or not math.isfinite(found):
        return None
    room = found / condition.number - 1.0
    return room if condition.sign in {">=", ">"} else -room


def _verdicts(
    path: str, one: Estimate, loaded: Loaded, policy: Policy, catalog: Catalog, unsized: Scenario | None
) -> Iterator[Verdict]:
    """Yield the verdict of every rule that holds for a file, and of everything that looks wrong."""
    subject = Subject(
        partial(_answer, one), partial(_missing_input, one), one.scenario.expect, partial(_place, one.scenario)
    )
    yield from _rules(path, subject, policy)
    limits = policy.file.limits
    slower = behind_the_best(one, unsized, limits) if unsized else ()
    rules = [rule for rule in policy.asked(path) if policy.exempts(path, rule.name) is None]
    held = [*(condition for condition, _ in one.scenario.expect), *(rule.expectation.condition for rule in rules)]
    found = [*smells(one, limits, catalog, held), *slower]
    for smell in found:
        level = policy.level(smell.lint)
        if level != "off":
            yield exempt(path, policy, _smelt(smell, one.scenario, level))
    yield from told(path, loaded.diagnostics, policy)


def _rules(path: str, subject: Subject, policy: Policy) -> Iterator[Verdict]:
    """Yield the verdict of what is expected, of every rule that holds for a file, and of whether it fits."""
    asked: set[str] = set()
    for condition, mark in subject.expected:
        asked.add(condition.name)
        yield _ruled(condition.name, condition, subject, "error", mark, "")
    for rule in policy.asked(path):
        condition, place = rule.expectation
        asked.add(condition.name)
        mark = subject.place(condition) or place
        yield exempt(path, policy, _ruled(rule.name, condition, subject, rule.level, mark, rule.why))
    if "fits" not in asked:
        yield from _fits(path, policy, subject)


def _ruled(name: str, condition: Condition, subject: Subject, level: str, mark: Mark | None, why: str) -> Verdict:
    found, holds = _judged(condition, subject.of)
    unknown = math.isnan(found)
    return Verdict(
        rule=name,
        state="ok" if holds else level,
        code=UNKNOWN_RESULT if unknown else BROKEN_RULE,
        text=condition.text,
        hint=subject.missing(condition) if unknown else "",
        why=why,
        found=None if unknown else found,
        bound=condition.number,
        unit=DIMENSION_UNITS.get(condition.dimension, unit(condition.term)),
        margin=margin(condition, found),
        mark=mark,
    )


def _fits(path: str, policy: Policy, subject: Subject) -> Iterator[Verdict]:
    """Yield whether the plan fits, which is asked even if nobody does."""
    level = policy.level(DOES_NOT_FIT)
    condition = read_condition("fits")
    mark = subject.place(condition)
    if level == "off" or mark is None:
        return
    needed, there = (quantity(subject.of(name), "B") for name in ("memory.needed", "memory.capacity"))
    hint = f"the plan needs {needed} per accelerator, and there is {there}; see 'aiplan estimate' for ways out"
    verdict = _ruled(DOES_NOT_FIT, condition, subject, level, mark, "")
    if verdict.state == "ok":
        yield verdict._replace(rule=condition.name)
    else:
        yield exempt(path, policy, verdict._replace(code=CODE_OF[DOES_NOT_FIT], hint=hint))


def _missing_input(one: Estimate, condition: Condition) -> str:
    return next((item.hint for item in one.unknowns() if condition.term in item.results), UNKNOWN_INPUT)


def _place(scenario: Scenario, condition: Condition) -> Mark | None:
    """Return the place in a scenario that answers for a result, so that an annotation stands where it can be mended."""
    if scenario.tree is None:
        return None
    return locate(scenario.tree, condition.term if condition.on_plan else "plan")


def _smelt(smell: Smell, scenario: Scenario, level: str) -> Verdict:
    mark = None if scenario.tree is None else locate(scenario.tree, smell.path)
    code = CODE_OF[smell.lint]
    shares = isinstance(smell.bound, float) and smell.bound <= 1
    return Verdict(
        smell.lint,
        level,
        code,
        smell.problem,
        smell.hint,
        found=smell.found,
        bound=smell.bound,
        unit="%" if shares else "1",
        mark=mark,
    )


def told(path: str, diagnostics: Diagnostics, policy: Policy) -> Iterator[Verdict]:
    """Yield what was said while a file was read, at the levels of a policy."""
    for item in diagnostics.items:
        name = CODES[item.code].name
        level = policy.level(name)
        if level != "off":
            verdict = Verdict(name, level, item.code, item.problem, item.hint or "", mark=item.mark)
            yield exempt(path, policy, verdict)


def exempt(path: str, policy: Policy, verdict: Verdict) -> Verdict:
    """Return a verdict as it counts: a broken rule from which the file is exempt does not."""
    why = policy.exempts(path, verdict.rule)
    return verdict if why is None or verdict.state == "ok" else verdict._replace(state="exempt", why=why)


def broken(path: str, loaded: Loaded) -> Checked:
    """Return a file that cannot be used, with what is wrong with it."""
    verdicts = (
        Verdict(
            CODES[item.code].name,
            item.level,
            item.code,
            item.problem,
            item.hint or item.expected or "",
            mark=item.mark,
            broken=item.level == "error",
        )
        for item in loaded.diagnostics.items
    )
    return Checked(path, path, loaded, in_order(verdicts), None)


def _missing(text: str) -> Checked:
    found = Diagnostics()
    found.error(
        "AIP113", f"no file matches '{text}'", hint="give a file, a folder, a pattern or a scenario of the library"
    )
    return broken(text, Loaded(None, found))


def _idle(text: str, names: Sequence[str]) -> Checked:
    """Return a path of which nothing can be checked, which must not pass for one that is in order."""
    from aiplan.planning.imports import title_of  # noqa: PLC0415  only here, and it knows every kind of file

    known = {name: title for name in names[:MOST_LOOKED_AT] if (title := title_of(name)) is not None}
    shown = list(known or names)[:MOST_NAMED]
    more = f" and {len(names) - len(shown):,} more" if len(names) > len(shown) else ""
    passed = ", ".join(f"{name} ({known[name]})" if name in known else name for name in shown)
    found = Diagnostics()
    found.error(
        "AIP119",
        f"nothing in '{text}' can be checked: no scenario, saved result, manifest or jobs file, only {passed}{more}",
        hint=f"'aiplan import {' '.join(shown)} -o scenario.yaml' makes a scenario"
        if known
        else "give the folder of the scenarios; 'aiplan init' writes one",
    )
    return broken(text, Loaded(None, found))


def in_order(verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """Return verdicts, the worst last."""
    return tuple(sorted(verdicts, key=lambda one: STATES.index(one.state)))
