"""Closed forms that can say what they computed.

A closed form is a pure function marked with `closed_form`. Its docstring is its metadata: sentence, formula, units,
limits and source. Outside a `recording` the mark costs one look at a global; inside, every call is kept with its
arguments and its result, so that an explanation shows the very calls that produced a number.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Call(NamedTuple):
    """One call of a closed form: the function, its arguments in order and by name, and what it returned."""

    function: Callable[..., Any]
    positional: tuple[Any, ...]
    arguments: dict[str, Any]
    result: Any

    @property
    def name(self) -> str:
        """Module and function, such as `compute.matmul_time`."""
        return f"{self.function.__module__.rpartition('.')[2]}.{self.function.__name__}"


class Recording:
    """The calls made while recording, found by the identity of what they returned."""

    def __init__(self) -> None:
        self._calls: dict[int, Call] = {}

    def add(self, call: Call) -> None:
        """Keep a call; the first one that returned an object is the one that made it."""
        self._calls.setdefault(id(call.result), call)

    @property
    def functions(self) -> list[Callable[..., Any]]:
        """The closed forms that were called, each once, in the order of their first calls."""
        return list(dict.fromkeys(call.function for call in self._calls.values()))

    def producer(self, value: object) -> Call | None:
        """Return the call that produced this very object, if a closed form did."""
        return self._calls.get(id(value))


_active: Recording | None = None


def closed_form(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Mark a pure function as a closed form whose calls can be recorded."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]

    @wraps(function)
    def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        result = function(*args, **kwargs)
        if _active is not None:
            arguments = dict(zip(names, args, strict=False)) | kwargs
            _active.add(Call(function, args, arguments, result))
        return result

    return call


@contextmanager
def recording() -> Iterator[Recording]:
    """Record every call of a closed form made inside the block."""
    global _active  # noqa: PLW0603  one recording at a time, and searches must not pay for a context variable
    before, _active = _active, Recording()
    try:
        yield _active
    finally:
        _active = before
