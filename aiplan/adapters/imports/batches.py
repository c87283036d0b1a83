"""Batches as frameworks state them: per device, per replica, with accumulation; and what follows from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiplan.adapters.imports.ledger import Got, Ledger

ACCUMULATION = "_accumulation"
"""Micro-batches of a replica in a step: not a field of a scenario, but the batch follows from it."""
STEPS = "_steps"
"""Steps of a training: tokens follow from them once the batch is known."""
PER_NODE = "_accelerators_per_node"
COPIES = "_copies"
"""Copies of the sharded states (HSDP): the ranks that share one follow from the accelerators."""
IN_NODE = "_shards_in_node"
"""Whether the ranks of a node share a copy of the states."""
SHARDS = "plan.shards"
BATCH, MICRO, DATA = "workload.global_batch", "plan.micro_batch", "plan.data"


def batch(ledger: Ledger, micro: Got | None, accumulation: Got | None, total: Got | None) -> None:
    """Take a micro-batch, how often it is added up, and the whole batch; any of them may be unknown."""
    ledger.put(MICRO, micro)
    ledger.put(BATCH, total)
    if micro is None or accumulation is None:
        return
    if total is None:
        ledger.put(ACCUMULATION, accumulation)
        return
    each = micro.value * accumulation.value
    if total.value % each:
        ledger.diagnostics.error(
            "AIP306",
            f"the batch {total.value} is not a multiple of {micro.value} x {accumulation.value} = {each}",
            total.mark,
            expected=f"{micro.key} and {accumulation.key} stand in line {micro.mark.line} and {accumulation.mark.line}",
        )
        return
    ledger.put(DATA, total, total.value // each, "batch / (micro-batch x accumulation)")


def copies(ledger: Ledger, got: Got | None, number: int | None = None) -> None:
    """Take how many copies of the sharded states there are; the ranks that share one may have to wait for a size."""
    count = got.value if got is not None and number is None else number
    if got is None or count is None or count < 2:
        return
    ledger.put(COPIES, got, count)
    ledger.ask(SHARDS, got, f"{got.key}: {count} copies of the states; how many ranks share one follows from a size")


def in_node(ledger: Ledger, got: Got) -> None:
    """Take that the ranks of a node share a copy of the states."""
    ledger.put(IN_NODE, got, True)
    ledger.ask(SHARDS, got, f"{got.key}: states are sharded within a node; its size is not given")


def automatic(ledger: Ledger, path: str, key: str) -> Got | None:
    """Return a count; note that it is open where the file says that the program finds it out itself."""
    got = ledger.got(key)
    if got is not None and got.text.lower() == "auto":
        ledger.ask(path, got, f"{got.key} is 'auto'")
        return None
    return ledger.as_count(got)
