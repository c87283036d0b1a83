"""Running commands in this process, with what they print, bounded in time and memory."""

from __future__ import annotations

import io
import resource
import signal
import sys
import time
import warnings
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, NamedTuple

from aiplan.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE = 20.0
"""Seconds that a command may take."""
ROOM = 3 * 2**30
"""Bytes of addresses that the process may use in all."""


class TookTooLongError(BaseException):
    """A command was stopped; no `except Exception` on the way holds it up."""


class Done(NamedTuple):
    """What a command did; `fault` says what is wrong with that, if anything is."""

    code: int
    out: str
    err: str
    seconds: float
    grown: int
    fault: str


def bound_memory() -> None:
    """Let the process run out of memory before the machine does."""
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))


def run(*arguments: str) -> Done:
    """Run a command; a warning of Python is an error."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    before, start, fault = _peak(), time.perf_counter(), ""
    code = -1
    try:
        with _within(PATIENCE), redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("error")
            code = main(list(arguments))
    except TookTooLongError:
        fault = f"no answer within {PATIENCE:.0f} s"
    except BaseException as problem:  # noqa: BLE001  whatever gets out is what is looked for
        fault = f"{type(problem).__name__} got out: {problem}"
    seconds = time.perf_counter() - start
    texts = [stream.buffer.getvalue().decode("utf-8", "replace") for stream in (out, err)]  # type: ignore[attr-defined]
    if not fault:
        fault = fault_of(code, *texts)
    return Done(code, *texts, seconds, _peak() - before, fault)


def fault_of(code: int, out: str, err: str) -> str:
    """Return what is wrong with how a command ended; empty if nothing is."""
    if code not in {0, 1, 2}:
        return f"exit code {code}: {err.strip().splitlines()[0] if err.strip() else 'nothing said'}"
    if "Traceback" in err or "Traceback" in out:
        return "a traceback"
    return "refused without a word" if code == 2 and "error[" not in err and "Error:" not in err else ""


def _peak() -> int:
    """Return the most memory that the process ever held, in bytes."""
    found = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found if sys.platform == "darwin" else found * 1024


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TookTooLongError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
