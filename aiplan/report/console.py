"""Where text goes and how it may look: the one place that knows terminals, colours, widths and closed pipes."""

from __future__ import annotations

import os
import shutil
import sys
from io import StringIO
from typing import TYPE_CHECKING, NamedTuple, TextIO

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rich.console import Console, RenderableType

NATURAL_WIDTH = 10_000
NARROWEST = 40
WIDTH_IN_A_PIPE = 80


class PipeClosed(Exception):  # noqa: N818  no error of ours or of the user's: the reader has seen enough
    """The reader of our output has gone."""


class Look(NamedTuple):
    """How text may look on a stream.

    `width` is None where nothing limits it. `escapes` allows bold and dim, `colour` colours too, `blocks` characters
    beyond ASCII in decoration.
    """

    width: int | None = None
    escapes: bool = False
    colour: bool = False
    blocks: bool = False

    @property
    def narrow(self) -> bool:
        """Whether there is no room for a third column of text."""
        return self.width is not None and self.width < 64


def look_of(
    stream: TextIO, *, no_color: bool = False, width: int | None = None, environ: Mapping[str, str] = os.environ
) -> Look:
    """Return how text may look on a stream.

    Parameters
    ----------
    stream : TextIO
        Where text goes.
    no_color : bool
        Whether the user asked for no escapes at all.
    width : int, optional
        What the user asked for; otherwise `COLUMNS`, otherwise the terminal, otherwise as wide as the text is.
    environ : mapping
        Environment: `NO_COLOR`, `FORCE_COLOR`, `TERM`, `COLUMNS`.
    """
    terminal = stream.isatty() or bool(environ.get("FORCE_COLOR"))
    escapes = terminal and not no_color and environ.get("TERM") not in {"dumb", "unknown"}
    if width is None and environ.get("COLUMNS", "").isdecimal():
        width = int(environ["COLUMNS"]) or None
    if width is None and terminal:
        width = shutil.get_terminal_size((WIDTH_IN_A_PIPE, 24)).columns
    return Look(
        width=None if width is None else max(width, NARROWEST),
        escapes=escapes,
        colour=escapes and not environ.get("NO_COLOR"),
        blocks=terminal and (stream.encoding or "").lower().replace("-", "").startswith("utf"),
    )


def columns_of(stream: TextIO) -> int | None:
    """Return the columns of a terminal; None for a file or a pipe, where a line may be as long as it is."""
    try:
        found = os.get_terminal_size(stream.fileno()).columns if stream.isatty() else 0
        return max(found, NARROWEST) if found else None
    except (OSError, ValueError):
        return None


def draw(look: Look, *parts: RenderableType) -> str:
    """Return parts as text, one below the other, without spaces at the ends of lines."""
    canvas = StringIO()
    console = console_of(look, canvas)
    for part in parts:
        console.print(part)
    return "".join(f"{line.rstrip()}\n" for line in canvas.getvalue().splitlines())


def console_of(look: Look, file: TextIO) -> Console:
    """Return a console that takes text literally: no markup, no emoji, no highlighting."""
    from rich.console import Console

    return Console(
        file=file,
        width=look.width or NATURAL_WIDTH,
        force_terminal=look.escapes,
        color_system="standard" if look.escapes else None,
        no_color=not look.colour,
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=False,
        legacy_windows=False,
    )


def write(text: str, stream: TextIO | None = None) -> None:
    """Write text at once to standard output or another stream.

    Raises
    ------
    PipeClosed
        The reader has gone.
    """
    stream = stream or sys.stdout
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        quiet_exit(stream)
        raise PipeClosed from None


def quiet_exit(stream: TextIO) -> None:
    """Point a stream whose reader has gone at nothing, so that the end of the program does not complain."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, stream.fileno())
    os.close(nothing)


def write_file(text: str, path: Path) -> None:
    """Write a result to a file."""
    path.write_text(text, encoding="utf-8", newline="\n")
