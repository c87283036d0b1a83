"""What an importer is: the name of its kind of file, how it knows one, and how it reads one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiplan.adapters.imports.document import Document
    from aiplan.adapters.imports.ledger import Ledger

Harmless = tuple[tuple[str, str], ...]
"""Patterns of keys without effect on time and memory, each with the reason."""


class Kind(NamedTuple):
    """A kind of file.

    Parameters
    ----------
    name : str
        Its name, as `--kind` takes it.
    title : str
        What it is, for people.
    holds : str
        What of a scenario such files give.
    detect : callable
        Whether a document is of this kind, by what stands in it.
    read : callable
        Takes what the document gives into a ledger.
    harmless : tuple
        Keys that are read over.
    """

    name: str
    title: str
    holds: str
    detect: Callable[[Document], bool]
    read: Callable[[Ledger], None]
    harmless: Harmless = ()
