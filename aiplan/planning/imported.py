"""An estimate straight from other people's files: what they leave open is taken as usual, and said."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from aiplan.adapters.imports.batches import BATCH, DATA, MICRO, SHARDS
from aiplan.adapters.imports.ledger import Fact
from aiplan.adapters.imports.merge import follow
from aiplan.adapters.imports.scenario_tree import tree_of
from aiplan.declare import Diagnostics, Mark
from aiplan.planning.search import question_of, search
from aiplan.planning.usual import usual_batch
from aiplan.scenario.load import resolve_tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aiplan.catalog.load import Catalog
    from aiplan.planning.imports import Imported
    from aiplan.planning.search import Answer
    from aiplan.planning.variants import Setting
    from aiplan.scenario.files import Place
    from aiplan.scenario.load import Scenario
    from aiplan.scenario.model import Model

LONGEST_SEQUENCE = 8192
SIZES = ("tensor", "pipeline", "context", "expert", "data", "interleave", "stage_layers")
SEARCHED = (
    "tensor",
    "context",
    "pipeline",
    "interleave",
    "expert",
    "expert_tensor",
    "micro_batch",
    "zero",
    "recompute",
    "sequence_parallel",
    "count_embedding_as_layer",
)
"""Fields of a plan that are taken from the search."""
SEQUENCE = "workload.sequence_length"


class Draft(NamedTuple):
    """Facts of a scenario, and the reasons for those that nobody gave."""

    facts: dict[str, Fact]
    assumed: dict[str, str]

    def assume(self, path: str, value: int | str, why: str, place: Mark) -> None:
        """Take a value that nobody gave."""
        self.facts[path] = Fact(path, value, "", place, why, taken=False)
        self.assumed[path] = why


def usual_workload(
    facts: Mapping[str, Fact], model: Model | None, given: set[str], accelerators: int
) -> list[tuple[str, int, str]]:
    """Return what is usual for sequence and batch where nobody says: path, value and reason.

    Parameters
    ----------
    facts : mapping of str to Fact
        What the files give.
    model : Model or None
        The network.
    given : set of str
        Fields that are given elsewhere.
    accelerators : int
        Accelerators; the batch is a multiple of them, so that every layout of them divides it.
    """
    found: list[tuple[str, int, str]] = []
    longest = model.context_length if model is not None else None
    sequence = facts[SEQUENCE].value if SEQUENCE in facts else None
    if sequence is None and SEQUENCE not in given:
        sequence = min(longest or LONGEST_SEQUENCE, LONGEST_SEQUENCE)
        found.append((SEQUENCE, sequence, f"not given: what the model was made for, {LONGEST_SEQUENCE:,} at most"))
    if BATCH not in facts and BATCH not in given:
        length = sequence if isinstance(sequence, int) else LONGEST_SEQUENCE
        found.append(
            (BATCH, usual_batch(length, accelerators), "not given: 4 Mi tokens, in multiples of the accelerators")
        )
    return found


def usual_for(imported: Imported) -> list[tuple[str, int, str]]:
    """Return what is usual for sequence and batch, for a scenario file of a model without them."""
    if imported.model is None:
        return []
    world = imported.facts.get("cluster.accelerators")
    count = world.value if world is not None and isinstance(world.value, int) else 1
    return usual_workload(imported.facts, imported.model, set(), count)


def scenario_of(
    imported: Imported, place: Place, catalog: Catalog, diagnostics: Diagnostics, settings: Sequence[Setting]
) -> Scenario | None:
    """Return the scenario that files give, with what is usual for what they leave open.

    Without a word about the layout in files or settings, it is the fastest that fits.

    Parameters
    ----------
    imported : Imported
        What the files give.
    place : Place
        What the files are called together.
    catalog : Catalog
        Where ids are looked up.
    diagnostics : Diagnostics
        Takes everything that is wrong, and what to know.
    settings : sequence of tuple
        Changes from the command line.
    """
    start = imported.ledgers[0].document.start
    given = {path for path, _, _ in settings}
    own_size = {"cluster.nodes", "cluster.accelerators"}
    if given & own_size and imported.facts.keys() & own_size:  # another size: what the file says of its own goes
        given |= own_size | {DATA}
    replicas = imported.facts.get(DATA)
    if given & {BATCH, MICRO} and replicas is not None and replicas.why:  # they followed from what is set otherwise
        given |= {DATA}
    facts = {path: fact for path, fact in imported.facts.items() if not any(_hides(path, other) for other in given)}
    given = {path for path, _, _ in settings}
    if imported.model is not None:
        facts.setdefault("name", Fact("name", imported.model.name, "", start))
    draft = Draft(facts, {})
    world = _accelerators(draft, settings, catalog, start, diagnostics)
    if imported.model is None and not any(path == "model" or path.startswith("model.") for path in given):
        diagnostics.error("AIP345", "the file says nothing of a whole model", start, hint=_missing_model(imported))
    if diagnostics.has_errors or world is None:
        return None
    follow(draft.facts | _counts(settings, start), diagnostics)
    _sized(draft, settings, start, world, diagnostics)
    for path, value, why in usual_workload(draft.facts, imported.model, given, world):
        draft.assume(path, value, why, start)
    planned = any(path.startswith("plan.") for path in given) or _has_plan(draft.facts)
    draft = Draft({path: fact for path, fact in draft.facts.items() if not path.startswith("_")}, draft.assumed)
    if planned:
        return _resolved(draft, place, catalog, diagnostics, settings, start)
    return _laid_out(draft, place, catalog, diagnostics, settings, start)


def _hides(path: str, setting: str) -> bool:
    """Whether a setting takes the place of a fact: the same field, or one above or below where there is no record."""
    return path == setting or path.startswith(f"{setting}.") or setting.startswith(f"{path}.")


def _missing_model(imported: Imported) -> str:
    asked = next((entry.why for entry in imported.open if entry.path.startswith("model")), None)
    return asked or "name a config.json as well, with 'aiplan import', or --set model=NAME of the library"


def _has_plan(facts: Mapping[str, Fact]) -> bool:
    """Whether a file says anything about the layout."""
    return any(path.startswith("plan.") and fact.taken for path, fact in facts.items())


def _counts(settings: Sequence[Setting], start: Mark) -> dict[str, Fact]:
    """Return whole numbers that settings give, as facts."""
    return {
        path: Fact(path, int(value), path, start._replace(file=f"{option} {path}={value}"))
        for path, value, option in settings
        if value.isdigit() and len(value) < 16
    }


def _accelerators(
    draft: Draft, settings: Sequence[Setting], catalog: Catalog, start: Mark, diagnostics: Diagnostics
) -> int | None:
    """Return the accelerators of the job; note what is missing to know them."""
    values = {path: str(fact.value) for path, fact in draft.facts.items()} | {
        path: value for path, value, _ in settings
    }
    node, device = values.get("cluster.node"), values.get("cluster.accelerator")
    nodes, world = values.get("cluster.nodes", ""), values.get("cluster.accelerators", "")
    if node is None and device is None:
        diagnostics.error(
            "AIP345",
            "the file does not say what it runs on",
            start,
            expected="cluster.node or cluster.accelerator, and cluster.nodes",
            hint="add e.g. --set cluster.node=dgx-h100 --set cluster.nodes=16",
        )
        return None
    if not nodes.isdigit() and not world.isdigit():
        diagnostics.error(
            "AIP345", "nothing says how many nodes there are", start, hint="add e.g. --set cluster.nodes=16"
        )
        return None
    each = values.get("cluster.accelerators_per_node", "8")
    size = int(each) if each.isdigit() else 8
    if node is not None:
        found = catalog.node(node, diagnostics, start)
        if found is None:
            return None
        size = found[0].accelerators
    if "cluster.nodes" in draft.facts and not draft.facts["cluster.nodes"].taken and world.isdigit():
        draft.assume("cluster.nodes", -(-int(world) // size), f"{world} accelerators, {size} a node", start)
        nodes = str(draft.facts["cluster.nodes"].value)
    return int(world) if world.isdigit() else int(nodes) * size


def _sized(draft: Draft, settings: Sequence[Setting], start: Mark, world: int, diagnostics: Diagnostics) -> None:
    """Add what follows once the number of replicas is known: the batch, tokens, the ranks that share states."""
    known = draft.facts | _counts(settings, start)
    known.setdefault("cluster.accelerators", Fact("cluster.accelerators", world, "", start))
    found = Diagnostics()
    follow(known, found)
    diagnostics.items += [item for item in found.items if item.code == "AIP313"]
    for path in (BATCH, "workload.tokens", SHARDS):
        if path in known and path not in draft.facts and not any(path == setting for setting, _, _ in settings):
            draft.facts[path] = known[path]


def _resolved(
    draft: Draft, place: Place, catalog: Catalog, diagnostics: Diagnostics, settings: Sequence[Setting], start: Mark
) -> Scenario | None:
    from aiplan.planning.imports import read_model  # noqa: PLC0415  only a setting names another model file

    tree = tree_of(draft.facts.values(), start)
    return resolve_tree(tree, place, catalog, diagnostics, settings, read_model, draft.assumed)


def _laid_out(
    draft: Draft, place: Place, catalog: Catalog, diagnostics: Diagnostics, settings: Sequence[Setting], start: Mark
) -> Scenario | None:
    """Return the scenario with the fastest plan that fits, if one does."""
    base = _resolved(draft, place, catalog, diagnostics, settings, start)
    if base is None:
        return None
    found, why = search([base], question_of(base, "time", shown=1)), "not given: the fastest of {:,} plans"
    if not found.best:
        found, why = _leanest(base), "not given: the leanest of {:,} plans, none of which fits"
    if not found.best:
        return base
    why, best = why.format(found.plans), found.best[0].plan
    for name, value in vars(best).items():
        if name in SEARCHED and value is not None:
            draft.assume(f"plan.{name}", value, why, start)
    return _resolved(draft, place, catalog, Diagnostics(), settings, start)


def _leanest(base: Scenario) -> Answer:
    """Return the plan that needs the least memory, where none has enough."""
    capacity = base.values["cluster.memory_capacity"]._replace(number=math.inf)
    roomy = base._replace(values=base.values | {"cluster.memory_capacity": capacity})
    return search([roomy], question_of(roomy, "memory", shown=1))
