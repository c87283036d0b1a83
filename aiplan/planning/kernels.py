"""The kernels that a time was made of, from the calls that timed them, with how often each counts.

A term of the step is a sum of multiples of kernel times. The recorded calls are followed down from the term through
what is linear, so that times, operations and bytes of the kernels add up to what the term stands for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aiplan.core import compose
from aiplan.core.compute import matmul_flops, matmul_traffic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from aiplan.core.formula import Call, Recording

MATMUL, ATTENTION, MEMORY = "compute.matmul_time", "compute.attention_time", "compute.memory_bound_time"
FORMS = (MATMUL, ATTENTION, MEMORY)
"""Closed forms that time kernels."""
SAME = 1e-9
"""Relative difference up to which two times are the same."""


class Kernel(NamedTuple):
    """A kernel as it was timed: what it does once, how often it counts in a step, and the roofs it has.

    `flops` is 0 where arithmetic is taken as free, and `peak` and `sustained` are None then. `launch` is the part of
    the time in which it is started. `moves` says that memory limits it, not arithmetic.
    """

    form: str
    times: float
    time: float
    flops: float
    nbytes: float
    peak: float | None
    sustained: float | None
    bandwidth: float
    launch: float
    moves: bool


class _Counted(NamedTuple):
    """A call that timed a kernel, how often it counts, and the pipeline stage whose value is meant if they differ."""

    call: Call
    weight: Any
    stage: Any = None


_Found = dict[int, _Counted]


def kernels(term: Any, calls: Recording, forms: Iterable[str] = FORMS) -> Iterator[Kernel]:
    """Yield the kernels that a term of the step of one plan was made of, those that run at all.

    Parameters
    ----------
    term : array
        The term as the engine returned it.
    calls : Recording
        What was called to make it.
    forms : iterable of str
        Names of the closed forms whose kernels are wanted.
    """
    for one in _counted(term, calls).values():
        times = _number(one.weight, one.stage)
        if one.call.name in forms and times > 0 and _number(one.call.result, one.stage) > 0:
            yield _kernel(one, times)


def _counted(value: Any, calls: Recording) -> _Found:
    call = calls.producer(value)
    if call is None:
        return {}
    if call.name in FORMS:
        return {id(call.result): _Counted(call, 1.0)}
    below = _BELOW.get(call.name)
    return below(call, calls) if below else {}


def _together(parts: Iterable[_Found]) -> _Found:
    found: _Found = {}
    for part in parts:
        for key, one in part.items():
            found[key] = one._replace(weight=found[key].weight + one.weight) if key in found else one
    return found


def _times(found: _Found, times: Any) -> _Found:
    return {key: one._replace(weight=one.weight * times) for key, one in found.items()}


def _summed(call: Call, calls: Recording) -> _Found:
    return _together(_counted(part, calls) for part in call.positional)


def _repeated(call: Call, calls: Recording) -> _Found:
    return _times(_counted(call.arguments["each"], calls), call.arguments["times"])


def _at_stage(call: Call, calls: Recording) -> _Found:
    stage = call.arguments["stage"]
    found = _counted(call.arguments["values"], calls)
    return {key: _Counted(one.call, _number(one.weight, stage), stage) for key, one in found.items()}


def _chosen(call: Call, calls: Recording) -> _Found:
    condition = np.asarray(call.arguments["condition"]) > 0
    then, otherwise = (_counted(call.arguments[name], calls) for name in ("then", "otherwise"))
    return _together((_times(then, condition * 1.0), _times(otherwise, ~condition * 1.0)))


_BELOW: dict[str, Callable[[Call, Recording], _Found]] = {
    "compose.summed": _summed,
    "compose.repeated": _repeated,
    "compose.at_stage": _at_stage,
    "compose.chosen": _chosen,
}
"""What is linear in the times that go in, and how to follow each."""


def _number(value: Any, stage: Any) -> float:
    """Return the one number of a value: at the stage that is meant, where stages differ."""
    array = np.asarray(value, dtype=float)
    return float(np.ravel(array if array.size == 1 else compose.at_stage(array, stage))[0])


def _kernel(one: _Counted, times: float) -> Kernel:
    """Read what a kernel does off the call that timed it."""
    given = {name: _number(value, one.stage) for name, value in one.call.arguments.items()}
    time, bandwidth = _number(one.call.result, one.stage), given["bandwidth"]
    launch = given["launch"] * given.get("kernels", 1.0)
    if one.call.name == MATMUL:
        sizes, groups = (given["rows"], given["columns"], given["inner"]), given.get("groups", 1.0)
        flops = float(matmul_flops(*sizes, groups))
        nbytes = float(matmul_traffic(*sizes, given["element_bytes"], groups))
    else:
        flops, nbytes = given.get("flops", 0.0), given["nbytes"]
    peak = given.get("peak")
    return Kernel(
        form=one.call.name,
        times=times,
        time=time,
        flops=flops,
        nbytes=nbytes,
        peak=peak,
        sustained=None if peak is None else peak * given["fraction"],
        bandwidth=bandwidth,
        launch=launch,
        moves=nbytes / bandwidth + launch >= time * (1.0 - SAME),
    )
