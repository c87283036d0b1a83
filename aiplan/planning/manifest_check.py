"""Manifests of Kubernetes among the files of a check: fields, rules, names that lead nowhere, and whether pods fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.adapters.kubernetes_check import read_manifests
from aiplan.declare import Diagnostics
from aiplan.planning.check import Checked, Verdict, broken, exempt, in_order, path_of, told
from aiplan.planning.scheduling.holding import hold
from aiplan.planning.variants import Loaded
from aiplan.scenario.files import find_scenario
from aiplan.scenario.policy import CODE_OF

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from aiplan.adapters.kubernetes_check import Found
    from aiplan.planning.scheduling.holding import Held
    from aiplan.planning.scheduling.workload import Workload
    from aiplan.planning.variants import Source
    from aiplan.scenario.policy import Policy

UNSCHEDULABLE = "unschedulable"


def check_manifests(sources: Sequence[Source], pools: Workload | None, policy: Policy) -> Iterator[Checked]:
    """Yield what is wrong with files of manifests, which may name what others of them define.

    Parameters
    ----------
    sources : sequence of Source
        Files, or what came through a pipe.
    pools : Workload or None
        What the pods must fit, empty; not asked if there is none.
    policy : Policy
        Levels and exemptions.
    """
    names = [path_of(source) for source in sources]
    findings = {name: Diagnostics() for name in names}
    found: list[Found] = []
    for source, name in zip(sources, names, strict=True):
        content = find_scenario(source.text).path.read_bytes() if source.piped is None else source.piped
        found += read_manifests(content, name, findings[name])
    across = Diagnostics()
    held = list(zip(found, hold(found, pools, across), strict=True))
    for item in across.items:
        findings[item.mark.file if item.mark else names[0]].items.append(item)
    for name in names:
        mine = [(one, row) for one, row in held if one.node.mark.file == name]
        yield _checked(name, mine, findings[name], policy, asked=pools is not None)


def _checked(
    name: str, held: Iterable[tuple[Found, Held]], diagnostics: Diagnostics, policy: Policy, *, asked: bool
) -> Checked:
    loaded = Loaded(None, diagnostics)
    if diagnostics.has_errors:
        return broken(name, loaded)
    verdicts = (_verdict(name, one, row, policy, asked=asked) for one, row in held)
    known = [verdict for verdict in verdicts if verdict is not None]
    return Checked(name, name, loaded, in_order([*known, *told(name, diagnostics, policy)]), None)


def _verdict(name: str, one: Found, row: Held, policy: Policy, *, asked: bool) -> Verdict | None:
    what = f"{row.kind} {row.name}"
    if row.pods:
        what += f", {row.pods:,} pod{'' if row.pods == 1 else 's'}"
    if row.gpus:
        what += f" with {row.gpus:,g} GPU{'' if row.gpus == 1 else 's'}"
    code, mark = CODE_OF[UNSCHEDULABLE], one.node.mark
    if not row.reason:
        fits = asked and row.pods
        return Verdict("schedulable" if fits else "valid", "ok", code, what + (": fits" if fits else ""), mark=mark)
    level = policy.level(UNSCHEDULABLE)
    if level == "off":
        return None
    text = f"{what}: {row.reason}"
    return exempt(name, policy, Verdict(UNSCHEDULABLE, level, code, text, mark=mark))
