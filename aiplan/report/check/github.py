"""A check as workflow commands of GitHub Actions, which become annotations beside the lines of a pull request.

A step shows ten annotations of a level and silently drops the rest, so the tenth says how many more there are, and
these follow as plain lines of the log. Paths are those of the repository, whichever of its folders the step runs in.
https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.check import wording
from aiplan.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.check import Check, Checked, Verdict

MOST = 10
COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def text(answer: Check) -> str:
    """Return a check as workflow commands."""
    return "".join(f"{line}\n" for line in _lines(answer))


def _lines(answer: Check) -> Iterator[str]:
    more: list[tuple[Checked, Verdict]] = []
    for state, command in COMMANDS.items():
        found = [(file, one) for file, one in answer.verdicts if one.state == state]
        found.sort(key=lambda pair: not pair[1].broken)  # what cannot be read is told first
        shown = found if len(found) <= MOST else found[: MOST - 1]
        rest = found[len(shown) :]
        yield from (_annotation(answer, command, file, one) for file, one in shown)
        if rest:
            files = sorted({file.path for file, _ in rest})
            said = f"{len(rest):,} more of this level in {', '.join(files)}: they are in the log of this step"
            yield _command(command, {"title": f"aiplan: {len(rest):,} more"}, said)
        more += rest
    for file, one in more:
        where = wording.place(one.mark, file.path)
        yield f"{one.state}[{one.code}] {clean(where)}: {clean(one.rule)}: {clean(wording.message(one))}"
    yield f"{wording.verdict(answer)}: {wording.counts(answer)}"


def _annotation(answer: Check, command: str, file: Checked, one: Verdict) -> str:
    mark = one.mark
    title = f"{one.code} {one.rule}"
    if mark is None or mark.is_option:
        place: dict[str, object] = {"file": answer.rooted(file.path)}
    else:
        place = {"file": answer.rooted(mark.file), "line": mark.line, "col": mark.column, "endColumn": mark.end_column}
    return _command(command, place | {"title": title}, wording.message(one))


def _command(command: str, properties: dict[str, object], message: str) -> str:
    told = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{command} {told}::{_data(message)}"


def _data(value: str) -> str:
    """Return text as the runner reads it back; what could steer a terminal is no part of a message."""
    lines = value.replace("\r\n", "\n").split("\n")
    return "\n".join(map(clean, lines)).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")
