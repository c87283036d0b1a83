"""What a page says, apart from how it is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.code.pages import COMMAND

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.report.code.pages import Page, Sample


def title(page: Page) -> str:
    """Return the heading of a page."""
    return f"{page.code.code} {page.code.name}"


def blocks(page: Page) -> Iterator[tuple[str, str]]:
    """Yield headings and texts: what it is, and why it matters."""
    yield "What it is", page.code.explanation
    yield "Why it matters", page.why


def samples(page: Page) -> Iterator[tuple[str, Sample]]:
    """Yield headings and samples: what yields the code, and what to write instead."""
    yield "Example", page.example
    if page.instead is not None:
        yield "Write instead", page.instead


def lines(sample: Sample) -> list[str]:
    """Return a sample as lines: what is written, and the command that tells, unless that is the usual one."""
    written = sample.text.rstrip("\n").expandtabs(4).split("\n") if sample.text else []
    head = [f"# {sample.file}"] if sample.file else []
    told = written and sample.command == COMMAND
    return head + written + ([] if told else [f"$ {sample.command}"])
