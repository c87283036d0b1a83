"""Two estimates and what lies between them: changed inputs first, then changed results, and the terms behind these.

Both are documents as `aiplan estimate --format json` writes them, so what was saved and what is computed now are alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from aiplan.engine.inputs import SCALAR_GROUPS
from aiplan.planning.saved import VALUE_KEYS, results

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aiplan.planning.causes import Alone

    Document = Mapping[str, Any]

NOT_COMPARED = ("energy_kwh", "tflops_per_gpu", "interval_evidence", "memory_interval_evidence")
"""Results that only repeat another one, or say what it rests on."""
NO_CAUSE = ("schema_version", "name", "notes", "expect", "measured")
"""Fields that no result rests on: what a file is called, what is asked of it, and what was measured."""
ORDER = (
    "fits",
    "wallclock_s",
    "time_to_train_s",
    "step_time_s",
    "tokens_per_s",
    "tokens_per_s_per_gpu",
    "mfu",
    "hfu",
    "memory_bytes_per_gpu",
    "memory_capacity_bytes",
    "cost_usd",
    "energy_j",
    "carbon_kg",
)
"""Results in the order that people read them; others follow."""
FIGURES = (("fits",), ("wallclock_s", "time_to_train_s"), ("step_time_s",), ("memory_bytes_per_gpu",), ("cost_usd",))
"""The results that say most; of alternatives the first that a result has."""
Scalar = str | float | bool | None


class Input(NamedTuple):
    """A field of a scenario that is not the same: its texts, None where it is not given, and where each stands."""

    name: str
    old: str | None
    new: str | None
    old_where: str
    new_where: str

    @property
    def sign(self) -> str:
        """Whether it was added, removed or changed."""
        return "+" if self.old is None else "-" if self.new is None else "~"


class Number(NamedTuple):
    """A number that is not the same: a resolved input, or a result.

    `relative` is the change over the old number; None where that has no meaning.
    """

    name: str
    old: Scalar
    new: Scalar
    relative: float | None


class Term(NamedTuple):
    """A term of a tree that is not the same: which tree, its change, and that change over the old root."""

    tree: str
    name: str
    label: str
    old: float
    new: float
    change: float
    share: float


@dataclass(frozen=True, slots=True)
class Difference:
    """What lies between two estimates.

    `fields` may be causes of a change; `remarks` are fields that no result rests on. `follows` are resolved numbers
    that changed with the fields, and `alone` says what each cause does without the others, where that is known.
    """

    names: tuple[str, str]
    sources: tuple[str, str]
    fields: tuple[Input, ...]
    follows: tuple[Number, ...]
    results: tuple[Number, ...]
    terms: tuple[Term, ...]
    hidden: int
    threshold: float
    remarks: tuple[Input, ...] = ()
    alone: tuple[Alone, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether any result changed by more than the threshold."""
        return bool(self.results)

    def result(self, name: str) -> Number | None:
        """Return a result that changed."""
        return next((one for one in self.results if one.name == name), None)


def diff(old: Document, new: Document, threshold: float = 0.0) -> Difference:
    """Compare two estimates.

    Parameters
    ----------
    old, new : mapping
        Documents `aiplan.estimate/1`.
    threshold : float
        Relative change up to which a result or a term counts as the same.
    """
    fields = tuple(_fields(old["inputs"].get("fields"), new["inputs"].get("fields")))
    causes = tuple(one for one in fields if not _is_remark(one.name))
    before, after = results(old), results(new)
    changed = list(_results(before, after))
    kept = tuple(one for one in changed if one.relative is None or abs(one.relative) > threshold)
    terms = [one for tree in VALUE_KEYS for one in _terms(before, after, tree)]
    return Difference(
        names=(old["inputs"]["scenario"], new["inputs"]["scenario"]),
        sources=(old["inputs"]["source"], new["inputs"]["source"]),
        fields=causes,
        remarks=tuple(one for one in fields if _is_remark(one.name)),
        follows=tuple(_follows(old["inputs"], new["inputs"], fields)),
        results=kept,
        terms=tuple(one for one in terms if abs(one.share) > threshold),
        hidden=len(changed) - len(kept),
        threshold=threshold,
    )


def figures(old: Document | None, new: Document | None) -> Iterator[Number]:
    """Yield the results that say most of one or two estimates, whether they changed or not."""
    before, after = ({} if one is None else results(one) for one in (old, new))
    for names in FIGURES:
        name = next((name for name in names if name in before or name in after), "")
        if name:
            pair = before.get(name), after.get(name)
            yield Number(name, *pair, _relative(*pair))


def _fields(old: Document | None, new: Document | None) -> Iterator[Input]:
    """Yield the fields that differ, in the order of the scenario; none where a result does not have them."""
    if old is None or new is None:
        return
    for name in dict.fromkeys([*old, *new]):
        before, after = old.get(name), new.get(name)
        texts = [None if one is None else str(one["text"]) for one in (before, after)]
        if texts[0] != texts[1]:
            places = ["" if one is None else str(one["where"]) for one in (before, after)]
            yield Input(name, texts[0], texts[1], places[0], places[1])


def _is_remark(name: str) -> bool:
    return name.partition(".")[0].partition("[")[0] in NO_CAUSE


def _follows(old: Document, new: Document, fields: tuple[Input, ...]) -> Iterator[Number]:
    """Yield the numbers that differ, but those which a changed field states itself.

    Every version of aiplan resolves all inputs that it has: one that a result lacks is of another version, no change.
    """
    stated = {(one.new_where, one.new) for one in fields} | {(one.old_where, one.old) for one in fields}
    before, after = old.get("values", {}), new.get("values", {})
    for name in dict.fromkeys([*before, *after]):
        pair = [before.get(name), after.get(name)]
        if None in pair and name.partition(".")[0] in SCALAR_GROUPS:
            continue
        values = [None if one is None else one["value"] for one in pair]
        told = any(one is not None and (one["where"], one["detail"]) in stated for one in pair)
        if values[0] != values[1] and not told:
            yield Number(name, values[0], values[1], _relative(values[0], values[1]))


def _results(old: Document, new: Document) -> Iterator[Number]:
    names = [name for name in dict.fromkeys([*ORDER, *old, *new]) if name not in NOT_COMPARED]
    for name in names:
        before, after = old.get(name), new.get(name)
        scalar = all(one is None or isinstance(one, str | int | float) for one in (before, after))
        if scalar and before != after:
            yield Number(name, before, after, _relative(before, after))


def _terms(old: Document, new: Document, tree: str) -> list[Term]:
    """Return the terms at the ends of a tree that changed, the largest change first."""
    if tree not in old or tree not in new:
        return []
    key = VALUE_KEYS[tree]
    before, after = (dict(_ends(one[tree], key)) for one in (old, new))
    root = old[tree][key]
    found = []
    for name in dict.fromkeys([*before, *after]):
        label = (after.get(name) or before[name])[0]
        values = [one[name][1] if name in one else 0.0 for one in (before, after)]
        change = values[1] - values[0]
        if change and root:
            found.append(Term(tree, name, label, values[0], values[1], change, change / root))
    return sorted(found, key=lambda one: -abs(one.change))


def _ends(node: Document, key: str) -> Iterator[tuple[str, tuple[str, float]]]:
    """Yield the terms without terms below, by name, with label and value; an unknown one counts as nothing."""
    if not node["children"]:
        yield node["name"], (node["label"], node[key] or 0.0)
    for child in node["children"]:
        yield from _ends(child, key)


def _relative(old: Scalar, new: Scalar) -> float | None:
    pair = (old, new)
    if not all(isinstance(one, int | float) and not isinstance(one, bool) and math.isfinite(one) for one in pair):
        return None
    return float(new) / float(old) - 1.0 if old else None  # type: ignore[arg-type]
