"""Who evaluates the chunks of a search: this process, several on this machine, or a Dask cluster.

All give the same parts, in some order; merging does not depend on it. A chunk whose worker dies is evaluated again, and
each chunk counts once.
"""

from __future__ import annotations

import pickle
from functools import lru_cache, partial
from typing import TYPE_CHECKING, TypeAlias

from aiplan.planning.chunks import Chunk, Part, Question, chunks, evaluated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from aiplan.planning.space import Space

Engine: TypeAlias = "Callable[[Sequence[Space], Question], Iterator[Part]]"
RETRIES = 5
"""Times that work is given out again after workers have died."""
BATCH = 4
"""Chunks in one task of a cluster."""

_shared: tuple[Sequence[Space], Question] | None = None
"""What the chunks of this worker process belong to."""


def engine(workers: int = 1, dask: str | None = None) -> Engine:
    """Return who evaluates chunks: so many processes of this machine, or a Dask cluster if there is an address."""
    if dask is not None:
        return partial(on_dask, dask)
    return serial if workers == 1 else partial(processes, workers)


def serial(found: Sequence[Space], question: Question) -> Iterator[Part]:
    """Evaluate chunks one after the other."""
    for chunk in chunks(found, question):
        yield evaluated(found, chunk, question)


def processes(count: int, found: Sequence[Space], question: Question) -> Iterator[Part]:
    """Evaluate chunks in so many processes of this machine."""
    from concurrent.futures import ProcessPoolExecutor, as_completed  # noqa: PLC0415 - only for several workers
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415
    from multiprocessing import get_context  # noqa: PLC0415

    left = set(chunks(found, question))
    for attempt in range(RETRIES + 1):
        try:
            with ProcessPoolExecutor(count, get_context("spawn"), _share, (found, question)) as pool:
                waiting = {pool.submit(_evaluated, chunk): chunk for chunk in sorted(left)}
                try:
                    for done in as_completed(waiting):
                        part = done.result()
                        left.discard(waiting[done])
                        yield part
                finally:
                    pool.shutdown(wait=False, cancel_futures=True)
        except BrokenProcessPool:
            if attempt == RETRIES:
                raise
        if not left:
            return


def on_dask(address: str, found: Sequence[Space], question: Question) -> Iterator[Part]:
    """Evaluate chunks on a Dask cluster, which gives out again what a lost worker had."""
    from distributed import Client, as_completed  # noqa: PLC0415 - an optional extra

    everything = list(chunks(found, question))
    batches = [everything[start : start + BATCH] for start in range(0, len(everything), BATCH)]
    with Client(address, set_as_default=False) as client:  # type: ignore[no-untyped-call]
        shared = client.scatter(pickle.dumps((tuple(found), question)), broadcast=True)
        waiting = client.map(_batch, batches, shared=shared, pure=False, retries=RETRIES)
        for _, part in as_completed(waiting, loop=client.loop, with_results=True):  # type: ignore[no-untyped-call]
            yield part


def _share(found: Sequence[Space], question: Question) -> None:
    import signal  # noqa: PLC0415 - in a worker only

    global _shared  # noqa: PLW0603 - once, when a worker process starts
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the process that asked
    _shared = (found, question)


def _evaluated(chunk: Chunk) -> Part:
    if _shared is None:
        raise RuntimeError("no search has been given to this worker")
    return evaluated(_shared[0], chunk, _shared[1])


@lru_cache(maxsize=2)
def _opened(shared: bytes) -> tuple[Sequence[Space], Question]:
    """Return what a search is about, opened once in a worker."""
    opened: tuple[Sequence[Space], Question] = pickle.loads(shared)  # noqa: S301 - from the process that asked
    return opened


def _batch(batch: Sequence[Chunk], shared: bytes) -> Part:
    found, question = _opened(shared)
    total = Part()
    for chunk in batch:
        total = total.merge(evaluated(found, chunk, question), question)
    return total
