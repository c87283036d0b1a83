"""A folder to run the commands of a page in: a copy of `docs/files`, with the few words of a shell that pages use.

`aiplan` runs in this process. Beside it there are `cat`, `ls`, `mkdir -p`, `git` and `echo $?`, pipes, `<`, `>`, and
lines that go on after a backslash. Anything else is refused, so that no page shows a command that nobody ran.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from outputs import DOCS

from aiplan.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FILES = DOCS / "files"
WIDTH = 100
SETTINGS = ("AIPLAN_CATALOG", "AIPLAN_FORMAT", "AIPLAN_NO_COLOR", "AIPLAN_VERBOSE", "FORCE_COLOR", "NO_COLOR", "TERM")
"""Variables of the environment that would change what is printed."""
GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


class UnknownCommandError(ValueError):
    """A page shows a command that is not run here."""


class Ran(NamedTuple):
    """What a line did: its exit code and all it printed, as a terminal shows it."""

    code: int
    lines: list[str]


@contextlib.contextmanager
def playground() -> Iterator[Playground]:
    """Work in a fresh copy of the files, without settings of this machine."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, _environment({"COLUMNS": str(WIDTH), **GIT}, SETTINGS):
        shutil.copytree(FILES, folder, dirs_exist_ok=True)
        os.chdir(folder)
        try:
            yield Playground()
        finally:
            os.chdir(before)


@contextlib.contextmanager
def _environment(given: Mapping[str, str], without: tuple[str, ...]) -> Iterator[None]:
    kept = dict(os.environ)
    os.environ.update(given)
    for name in without:
        os.environ.pop(name, None)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(kept)


class Playground:
    """Runs lines one after the other in the current folder."""

    def __init__(self) -> None:
        self.code = 0

    @staticmethod
    def write(name: str, text: str) -> None:
        """Write a file of the page."""
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    @staticmethod
    def commit() -> None:
        """Put all files under git, as `origin/main` has them."""
        for words in ("init -q -b main", "add .", "commit -q -m start", "update-ref refs/remotes/origin/main HEAD"):
            subprocess.run(["git", *words.split()], check=True, capture_output=True)

    def run(self, line: str) -> Ran:
        """Run one line: a command, or several joined by pipes.

        Raises
        ------
        UnknownCommandError
            If the line holds a word of a shell, or a program, that pages cannot use.
        """
        printed, piped = "", b""
        found = stages(line)
        for number, (command, read, written) in enumerate(found):
            stdin = Path(read).read_bytes() if read else piped
            out, err = self._one(command, stdin, joined=number == len(found) - 1 and not written)
            if written:
                Path(written).write_text(out, encoding="utf-8")
                out = ""
            piped, printed = out.encode(), printed + err
        return Ran(self.code, (printed + piped.decode()).splitlines())

    def _one(self, command: list[str], stdin: bytes, *, joined: bool) -> tuple[str, str]:
        """Run a command; return what it wrote, errors apart unless both go to the terminal."""
        program, *arguments = command
        out = io.StringIO()
        err = out if joined else io.StringIO()
        if program == "aiplan":
            with _streams(stdin, out, err):
                self.code = main(arguments)
        elif program == "git":
            done = subprocess.run(command, input=stdin, capture_output=True, check=False)
            self.code = done.returncode
            out.write(done.stdout.decode() + done.stderr.decode())
        elif command == ["echo", "$?"]:
            out.write(f"{self.code}\n")
            self.code = 0
        elif program == "cat":
            out.write("".join(Path(name).read_text(encoding="utf-8") for name in arguments) or stdin.decode())
            self.code = 0
        elif command[:2] == ["mkdir", "-p"]:
            Path(*arguments[1:]).mkdir(parents=True, exist_ok=True)
            self.code = 0
        elif program == "ls":
            out.write("".join(f"{path.name}\n" for path in sorted(Path(*arguments).iterdir())))
            self.code = 0
        else:
            raise UnknownCommandError(f"'{program}' is not run here; mark the block `not run` and say why")
        return out.getvalue(), "" if joined else err.getvalue()


def stages(line: str) -> list[tuple[list[str], str, str]]:
    """Return the commands between the pipes of a line, each with the file it reads and the file it writes."""
    words = shlex.shlex(line.replace("\\\n", " "), posix=True, punctuation_chars="|<>&;")
    words.whitespace_split = True
    found: list[tuple[list[str], str, str]] = [([], "", "")]
    rest = iter(words)
    for word in rest:
        command, read, written = found[-1]
        if word == "|":
            found.append(([], "", ""))
        elif word == "<":
            found[-1] = (command, next(rest), written)
        elif word == ">":
            found[-1] = (command, read, next(rest))
        elif set(word) <= set("|<>&;"):
            raise UnknownCommandError(f"'{word}' is not understood here")
        else:
            command.append(word)
    return found


@contextlib.contextmanager
def _streams(stdin: bytes, out: io.StringIO, err: io.StringIO) -> Iterator[None]:
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin))
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            yield
    finally:
        sys.stdin = before
