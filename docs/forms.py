"""The closed forms of the concept pages, read from their docstrings, so that nothing is written twice.

`python docs/forms.py` writes them between the marks of `docs/concepts/*.md`; `--check` exits 1 if one differs. A page
asks for those of a module of `aiplan/core` by `<!-- generated: forms MODULE -->`.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import sys
from typing import TYPE_CHECKING

from outputs import DOCS, run, with_blocks

import aiplan.core
from aiplan.planning.explain import read_form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PAGES = DOCS / "concepts"
_MARK = re.compile(r"<!-- generated: forms (\w+) -->")
_REFERENCE = re.compile(r"\s*\.\. \[\d+\] ")
_ADDRESS = re.compile(r"https?://\S+")
_SPECIAL = re.compile(r"([*<>|]|(?<!\w)_|_(?!\w)|\](?=\())")
NAMES = ("ZeRO",)
"""Words that begin with a capital wherever they stand."""


def modules() -> list[str]:
    """Return the modules of `aiplan/core` that hold closed forms."""
    names = {found.name for found in pkgutil.iter_modules(aiplan.core.__path__)} - {"formula"}
    return sorted(name for name in names if any(forms(name)))


def forms(module: str) -> Iterator[Callable[..., object]]:
    """Yield the closed forms of a module in the order of its text."""
    imported = importlib.import_module(f"aiplan.core.{module}")
    for function in vars(imported).values():
        if hasattr(function, "__wrapped__") and function.__module__ == imported.__name__:
            yield function


def asked(page: Path) -> list[str]:
    """Return the modules whose forms a page asks for."""
    return _MARK.findall(page.read_text(encoding="utf-8"))


def block(module: str) -> str:
    """Return all forms of a module."""
    imported = importlib.import_module(f"aiplan.core.{module}")
    about = "\n\n".join(inspect.cleandoc(imported.__doc__ or "").split("\n\n"))
    head = f"### `{module}`\n\n{_plain(about)} ([code](../../aiplan/core/{module}.py))"
    return "\n\n".join([head, *(_form(function) for function in forms(module))])


def _form(function: Callable[..., object]) -> str:
    form = read_form(function)
    given = (f"`{name}`{_unit(unit)}: {_plain(_inner(text))}" for name, (text, unit) in form.parameters.items())
    parts = (
        f"#### `{function.__name__}`",
        _plain(form.sentence),
        f"    {form.formula}",
        f"Result{_unit(form.unit) or ': a number'}. {'; '.join(given)}.",
        f"**Limits.** {_plain(form.notes)}",
        f"**Source.** {_linked(form.source)}",
    )
    return "\n\n".join(parts)


def _inner(text: str) -> str:
    """Return a text as it stands within a sentence: names of people and symbols keep their capitals."""
    return text[:1].lower() + text[1:] if text[1:2].islower() and text.split(maxsplit=1)[0] not in NAMES else text


def _unit(unit: str) -> str:
    return "" if unit in ("", "-") else f" [{unit}]"


def _linked(references: str) -> str:
    """Return where a form is from: one source, or several one after the other, with their addresses as links."""
    return "; ".join(_source(one) for one in _REFERENCE.split(references))


def _source(text: str) -> str:
    address = _ADDRESS.search(text)
    if not address:
        return _plain(text)
    before = _plain(text[: address.start()].rstrip())
    return f"{before} <{address[0]}>{_plain(text[address.end() :])}"


def _plain(text: str) -> str:
    """Return text that Markdown shows as it is, but for code in backticks and addresses."""
    parts = re.split(r"(`[^`]*`|https?://\S+)", text)
    return "".join(part if index % 2 else _SPECIAL.sub(r"\\\1", part) for index, part in enumerate(parts))


def texts() -> dict[Path, str]:
    """Return every concept page as it should be."""
    found = {page: asked(page) for page in sorted(PAGES.glob("*.md"))}
    return {
        page: with_blocks(page, {f"forms {name}": block(name) for name in names})
        for page, names in found.items()
        if names
    }


if __name__ == "__main__":
    sys.exit(run(__doc__ or "", texts()))
