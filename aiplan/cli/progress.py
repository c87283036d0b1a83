"""How far long work has come, for a person who waits: on standard error, and only after a second."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from types import TracebackType

PATIENCE = 1.0
"""Seconds before anything is shown."""


class Progress:
    """A bar that appears on a terminal when work takes longer than a second, and leaves nothing behind."""

    def __init__(self, what: str, total: int | None, *, quiet: bool) -> None:
        self._what, self._total = what, total
        self._shown = not quiet and sys.stderr.isatty()
        self._begin = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        return self

    def upto(self, count: int) -> None:
        """Show that so many are done."""
        if self._bar is None and self._shown and time.monotonic() - self._begin > PATIENCE:
            self._start()
        if self._bar is not None:
            self._bar.update(self._task, completed=count)

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(self._what, total=self._total)
        self._bar.start()

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
