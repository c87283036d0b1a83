"""The reference of commands: what `--help` of each says.

`python docs/commands.py` writes `docs/reference/commands.md`; `--check` exits 1 if it differs.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import TYPE_CHECKING

import typer
from outputs import DOCS, run

from aiplan.cli.main import app_of, main

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = DOCS / "reference" / "commands.md"
WIDTH = 100
HEAD = """# Commands

What `--help` of each command says. An option has one meaning everywhere; results go to standard output, all else to
standard error.

| exit code | |
|---|---|
| 0 | done, and the answer is yes |
| 1 | answered, and the answer is no: does not fit, a rule is broken, nothing meets the limits |
| 2 | not answered: something is wrong with the input or the command line |
| 70 | a bug in aiplan |
| 130, 141 | interrupted; the reader of a pipe has gone |

Variables of the environment: `AIPLAN_FORMAT`, `AIPLAN_CATALOG`, `AIPLAN_VERBOSE`, `AIPLAN_NO_COLOR`, `NO_COLOR`,
`COLUMNS`.
"""


def commands() -> Iterator[tuple[str, ...]]:
    """Yield the words of every command, those of groups too."""
    top = typer.main.get_command(app_of([]))
    for name, command in getattr(top, "commands", {}).items():
        yield (name,)
        for below in getattr(command, "commands", {}):
            yield (name, below)


def help_of(words: tuple[str, ...]) -> str:
    """Return what `--help` of a command prints, without the spaces at ends of lines."""
    os.environ["COLUMNS"] = os.environ["TERMINAL_WIDTH"] = str(WIDTH)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        main([*words, "--help"])
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def text() -> str:
    """Return the page."""
    parts = [HEAD]
    for words in commands():
        name = " ".join(words)
        parts.append(f"{'##' if len(words) == 1 else '###'} aiplan {name}\n\n```text\n{help_of(words)}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.exit(run(__doc__ or "", {PAGE: text()}))
