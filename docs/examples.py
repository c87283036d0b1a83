"""Every command and every line of Python that the pages show: run, and what they print compared or written anew.

`python docs/examples.py` writes it into the pages; `--check` exits 1 if one differs. Both take names of pages.

A page is run from top to bottom in a copy of `docs/files` (see `playground.py`). In `console` blocks a command stands
behind `$` and what it prints below, with `…` for lines left out; it has to succeed, unless `echo $?` behind it tells
another exit code. In `sh` blocks and in the steps of workflows commands stand alone; each has to give an answer, yes
or no. Blocks of `pycon` are sessions of Python. Comments before a block say what else it is (see `fences.py`).
"""

from __future__ import annotations

import argparse
import doctest
import io
import re
import sys
from contextlib import redirect_stdout
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from elision import NotFoundError, refreshed, shows
from fences import Fence, fences
from outputs import DOCS
from playground import Playground, UnknownCommandError, playground

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

ROOT = DOCS.parent
RUN = ("console", "sh", "bash", "shell", "python", "pycon")
ELSEWHERE = {"docs/diagnostics.md": "tests/guard/test_guard_pages.py"}
"""Pages whose blocks are run by a test of their own."""
TRANSLATED = {"README.zh-CN.md": "README.md"}
"""Pages that show the blocks of another one; only the words behind `#` are theirs."""
ANSWERED = (0, 1)
_STEP = re.compile(r"\s*- (?:run: )?(aiplan .*)|\s*run: (aiplan .*)")
_PROMPT = "$ "
MENDED = ": run python docs/examples.py"
"""What faults say that writing the page mends."""


class Fault(NamedTuple):
    """What is wrong on a page: the line, what was run, and what is the matter."""

    page: str
    line: int
    command: str
    problem: str


class Checked(NamedTuple):
    """A page that was run: its text as it should be, what was run, what was not, and what is wrong."""

    text: str
    commands: list[str]
    skipped: list[tuple[str, str]]
    faults: list[Fault]


def pages() -> list[Path]:
    """Return every page for readers."""
    return [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]


def name_of(page: Path) -> str:
    """Return the name of a page as it is told."""
    return page.relative_to(ROOT).as_posix() if page.is_relative_to(ROOT) else page.name


def check(page: Path) -> Checked:
    """Run a page, or hold a translated one to the page it was translated from."""
    text = page.read_text(encoding="utf-8")
    if original := TRANSLATED.get(name_of(page)):
        return _translated(name_of(page), text, (ROOT / original).read_text(encoding="utf-8"))
    with playground() as ground:
        if "--against-git" in text:
            ground.commit()
        return _Run(name_of(page), text, ground).whole()


def _translated(page: str, text: str, original: str) -> Checked:
    """Return a page with the lines of the original in its blocks, and its own words behind `#` where it has them."""
    lines, skipped, faults = text.splitlines(), [], []
    for own, other in reversed(list(zip_longest(fences(text), fences(original)))):
        if own is None or other is None or own._replace(lines=(), start=0) != other._replace(lines=(), start=0):
            faults.append(Fault(page, own.start if own else len(lines), "", "not the blocks of the original"))
            continue
        known = {} if own.mark == "output" else {_code(line): line for line in own.lines}
        right = [known.get(_code(line), line) for line in other.lines]
        if own.mark == "command":
            skipped.append((page, f"{own.mark}: {own.said}"))
        changed = [line for line in right if line not in own.lines] or [line for line in own.lines if line not in right]
        if right != list(own.lines):
            first = changed[0] if changed else own.lines[0]
            faults.append(Fault(page, own.start, first, f"not what the original has{MENDED}, then translate"))
        lines[own.start : own.end] = right
    return Checked("".join(f"{line}\n" for line in lines), [], skipped, faults)


def _code(line: str) -> str:
    return line.partition(" #")[0].rstrip()


class _Run:
    """One page on its way from top to bottom."""

    def __init__(self, page: str, text: str, ground: Playground) -> None:
        self.page, self.text, self.ground = page, text, ground
        self.names: dict[str, object] = {}
        self.lines = text.splitlines()
        self.commands: list[str] = []
        self.skipped: list[tuple[str, str]] = []
        self.faults: list[Fault] = []

    def whole(self) -> Checked:
        """Run all blocks; those below are moved by what grows above, so text is replaced from the end."""
        replaced = [(block, self.block(block)) for block in fences(self.text)]
        for block, lines in reversed(replaced):
            self.lines[block.start : block.end] = lines
        return Checked("".join(f"{line}\n" for line in self.lines), self.commands, self.skipped, self.faults)

    def block(self, block: Fence) -> Sequence[str]:
        """Run a block and return its lines as they should be."""
        if block.mark:
            return self.marked(block)
        if block.language == "console":
            return list(self.session(block))
        if block.language == "pycon":
            return self.python(block)
        if block.language in ("sh", "yaml"):
            for line, command in _alone(block):
                self.compared(line, command, None)
        elif block.language in RUN:
            self.faults.append(Fault(self.page, block.start, block.language, "write `console`, `sh` or `pycon`"))
        elif any(line.startswith(("aiplan ", f"{_PROMPT}aiplan ")) for line in block.lines):
            self.faults.append(Fault(self.page, block.start, block.lines[0], "a command in a block that is not run"))
        return block.lines

    def marked(self, block: Fence) -> Sequence[str]:
        """Do what the comment before a block says."""
        if block.mark == "output":
            return self.compared(block.start, block.said, block.lines)
        if block.mark == "file":
            self.ground.write(block.said, block.text)
        elif block.mark in ("not run", "command"):
            self.skipped.append((self.page, f"{block.mark}: {block.said}"))
        return block.lines

    def session(self, block: Fence) -> Iterator[str]:
        """Yield the lines of a block of commands with what they print."""
        told = list(_session(block))
        for (line, command, shown), after in zip(told, [*told[1:], None], strict=True):
            yield from f"{_PROMPT}{command}".split("\n")
            answered = range(256) if after and after[1] == "echo $?" else (0,)
            yield from self.compared(line, command, shown, answered=answered)

    def compared(
        self, line: int, command: str, shown: Sequence[str] | None, *, answered: Iterable[int] = ANSWERED
    ) -> Sequence[str]:
        """Run a command and return what should be shown of what it prints; None if nothing is shown."""
        self.commands.append(command)
        try:
            code, printed = self.ground.run(command)
        except (UnknownCommandError, OSError) as problem:
            return self.fault(line, command, str(problem), shown or ())
        if code not in answered:
            return self.fault(line, command, f"exit code {code}: {' / '.join(printed[:3])}", shown or ())
        return () if shown is None else self.told(line, command, shown, printed)

    def told(self, line: int, command: str, shown: Sequence[str], printed: list[str]) -> Sequence[str]:
        """Note what differs from what was printed, and return what should stand there."""
        if shows(shown, printed):
            return shown
        try:
            right = refreshed(shown, printed)
        except NotFoundError as problem:
            return self.fault(line, command, str(problem), shown)
        return self.fault(line, command, f"prints something else{MENDED}", right)

    def python(self, block: Fence) -> list[str]:
        """Run a session of Python and return its lines as they should be."""
        lines: list[str] = []
        checker = doctest.OutputChecker()
        flags = doctest.ELLIPSIS
        for example in doctest.DocTestParser().get_examples(block.text):
            self.commands.append(example.source.strip())
            first, *others = example.source.splitlines()
            lines += [f">>> {first}", *(f"... {line}".rstrip() for line in others)]
            printed = self.evaluated(example)
            if checker.check_output(example.want, printed, flags):
                lines += example.want.splitlines()
            else:
                start = block.start + example.lineno
                lines += self.told(start, first, example.want.splitlines(), printed.splitlines())
        return lines

    def evaluated(self, example: doctest.Example) -> str:
        """Run one statement of Python and return what it prints, an error as a session shows it in short."""
        with redirect_stdout(io.StringIO()) as out:
            try:
                exec(compile(example.source, self.page, "single"), self.names)  # noqa: S102  pages of our own
            except Exception as problem:  # noqa: BLE001  whatever the page shows
                name = f"{type(problem).__module__}.{type(problem).__name__}"
                print(f"Traceback (most recent call last):\n    ...\n{name}: {problem}")
        return out.getvalue()

    def fault(self, line: int, command: str, problem: str, shown: Sequence[str]) -> Sequence[str]:
        """Note what is wrong, and return the lines to keep."""
        self.faults.append(Fault(self.page, line + 1, command, problem))
        return shown


def _session(block: Fence) -> Iterator[tuple[int, str, list[str]]]:
    """Yield the commands of a block, each with the index of its line and what is shown below it."""
    lines = list(block.lines)
    at = 0
    while at < len(lines):
        start = at
        if not lines[at].startswith(_PROMPT):
            raise ValueError(f"line {block.start + at + 1} stands before any command")
        while lines[at].endswith("\\"):
            at += 1
        command = "\n".join(lines[start : at + 1]).removeprefix(_PROMPT)
        below = at = at + 1
        while at < len(lines) and not lines[at].startswith(_PROMPT):
            at += 1
        yield block.start + start, command, lines[below:at]


def _alone(block: Fence) -> Iterator[tuple[int, str]]:
    """Yield commands that stand without what they print: lines of a shell, steps of a workflow."""
    for index, line in enumerate(block.lines):
        if block.language == "sh":
            if line.strip():
                yield block.start + index, line
        elif found := _STEP.fullmatch(line):
            yield block.start + index, found[1] or found[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check pages; return 1 if something is wrong that was not mended."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a page differs")
    parser.add_argument("page", nargs="*", type=Path, help="pages; all of them if none is named")
    asked = parser.parse_args(arguments)
    wrong = 0
    for page in [page.resolve() for page in asked.page] or pages():
        if name_of(page) in ELSEWHERE:
            continue
        found = check(page)
        stale = found.text != page.read_text(encoding="utf-8")
        if stale and not asked.check:
            page.write_text(found.text, encoding="utf-8", newline="\n")
            print(f"wrote {name_of(page)}", file=sys.stderr)
        for fault in found.faults:
            mended = not asked.check and MENDED in fault.problem
            wrong += not mended
            if not mended:
                print(f"{fault.page}:{fault.line}: {fault.command}\n  {fault.problem}", file=sys.stderr)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
