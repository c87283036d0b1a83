"""Scenarios as they were in a revision of their git repository, read without network."""

from __future__ import annotations

import os
import posixpath
import re
import subprocess
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from aiplan.declare import Diagnostics, InputError, read
from aiplan.declare.source import MAX_BYTES
from aiplan.planning.discover import HEAD, SAVED_SUFFIX, SUFFIXES, is_hidden, is_scenario
from aiplan.planning.variants import Source
from aiplan.scenario.files import Place, find_scenario, scalar_at
from aiplan.scenario.policy import matches

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PATIENCE = 60.0
"""Seconds that git has to find a file."""
NO_NETWORK = {"GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
FETCHED = "the revision must be fetched; in CI fetch more than one commit"
PARTED = "..."
WILD = re.compile(r"[*?\[]")
_FILES = ("100644", "100755")


class Kept(NamedTuple):
    """A scenario as a revision has it: the name it has today, where git has it, and what it holds."""

    name: str
    inside: str
    content: bytes


class Past(NamedTuple):
    """A revision of the repository that a folder lies in, as asked for and as git has it, and where the folder lies."""

    folder: Path
    revision: str
    commit: str
    prefix: str

    def inside(self, path: Path) -> str:
        """Return where in the repository a path lies."""
        return posixpath.normpath(posixpath.join(self.prefix, Path(os.path.relpath(path, self.folder)).as_posix()))

    def kept(self, text: str) -> list[Kept]:
        """Return the scenarios and saved results of a file, a folder or a pattern, as the revision has them."""
        top = _fixed(text)
        start = self.inside(top)
        found = []
        for inside, identity, size in self._files(start):
            name = top.as_posix() if inside == start else (top / posixpath.relpath(inside, start)).as_posix()
            if inside == start or _meant(name, text, top):
                found.append((name, inside, identity, size))
        return [one for part in _portions(found) for one in self._read(part) if one.inside == start or _is_ours(one)]

    def _files(self, start: str) -> Iterator[tuple[str, str, int]]:
        """Yield path, identity and bytes of each file at a path or below it, unless it is too large for a scenario."""
        where = [] if start == "." else [start]
        listed = _git(self.folder, "ls-tree", "-r", "-z", "-l", "--full-tree", f"{self.commit}^{{tree}}", "--", *where)
        for line in listed.decode(errors="surrogateescape").split("\0"):
            facts, _, path = line.partition("\t")
            mode, _, identity, size = facts.split() if path else ("", "", "", "")
            if mode in _FILES and path.endswith((*SUFFIXES, SAVED_SUFFIX)) and int(size) <= MAX_BYTES:
                yield path, identity, int(size)

    def _read(self, found: Sequence[tuple[str, str, str, int]]) -> Iterator[Kept]:
        """Yield files with what they hold, all read by one git."""
        asked = "".join(f"{identity}\n" for _, _, identity, _ in found).encode()
        told, at = _git(self.folder, "cat-file", "--batch", given=asked), 0
        for name, inside, _, size in found:
            start = told.index(b"\n", at) + 1
            yield Kept(name, inside, told[start : start + size])
            at = start + size + 1

    def blob(self, inside: str) -> bytes:
        """Return what a file of the revision holds."""
        return _git(self.folder, "cat-file", "blob", f"{self.commit}:{inside}")

    def blob_if_there(self, inside: str) -> bytes | None:
        """Return what a file of the revision holds; None if it has no such file."""
        try:
            return self.blob(inside)
        except InputError:
            return None


def past(folder: Path, revision: str) -> Past:
    """Return a revision of the repository that a folder lies in.

    Raises
    ------
    InputError
        The folder lies in no repository, or that has no such revision.
    """
    if not revision or any(part.startswith("-") for part in revision.split(PARTED)):
        raise _failure(f"'{revision}' is no revision", "give a commit, branch or tag, e.g. origin/main")
    while not folder.is_dir():
        folder = folder.parent
    prefix = _git(folder, "rev-parse", "--show-prefix").decode(errors="surrogateescape").strip("\n")
    return Past(folder, revision, _commit(folder, revision), prefix)


def _commit(folder: Path, revision: str) -> str:
    """Return what git knows a revision by; that of `A...B` is where both parted, and B is HEAD if not given."""
    base, dots, tip = revision.partition(PARTED)
    for one in [base, tip or "HEAD"] if dots else [revision]:
        try:
            _git(folder, "rev-parse", "--verify", "--quiet", f"{one}^{{tree}}")
        except InputError:
            raise _failure(f"the repository has no revision '{one}'", FETCHED) from None
    if not dots:
        return revision
    try:
        return _git(folder, "merge-base", base, tip or "HEAD").decode().strip()
    except InputError:
        raise _failure(f"'{base}' and '{tip or 'HEAD'}' have no commit in common here", FETCHED) from None


@contextmanager
def at_revision(text: str, revision: str) -> Iterator[Source]:
    """Give a scenario as a revision has it, together with the model file that it names.

    Parameters
    ----------
    text : str
        Path of the scenario; it need not exist any more.
    revision : str
        A commit, branch or tag.

    Raises
    ------
    InputError
        There is no such revision, or no such file in it.
    """
    path = find_scenario(text).path
    before = past(path.parent, revision)
    inside = before.inside(path)
    content = before.blob(inside)
    model = model_of(content, inside)
    models = {} if model is None else {model: before.blob(model)}
    with TemporaryDirectory() as top:
        yield laid_out(Path(top), Kept(text, inside, content), revision, models)


def laid_out(top: Path, one: Kept, revision: str, models: dict[str, bytes]) -> Source:
    """Return a scenario of a revision as a source, with models that it may name laid out in a folder as it has them."""
    place = Place(f"{revision}:{one.inside}", top / one.inside)
    for name, content in models.items():
        target = top / name
        target.parent.mkdir(parents=True, exist_ok=True)
        place.path.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return Source(place.name, one.content, place)


def model_of(content: bytes, inside: str) -> str | None:
    """Return the path in the repository of the model file that a scenario names, if it names one."""
    try:
        name = scalar_at(read(content, inside, Diagnostics()), "model")
    except InputError:
        return None  # reading the scenario will say what is wrong
    if name is None or not ("/" in name or name.endswith((".yaml", ".yml", ".json"))):
        return None
    found = posixpath.normpath(posixpath.join(posixpath.dirname(inside), name))
    return None if found.startswith(("..", "/")) else found


def _is_ours(one: Kept) -> bool:
    return is_scenario(one.name, one.content[:HEAD])


def _portions(found: Sequence[tuple[str, str, str, int]]) -> Iterator[list[tuple[str, str, str, int]]]:
    """Yield files a few at a time: most of a folder may be no scenarios, and need not be held together."""
    part: list[tuple[str, str, str, int]] = []
    held = 0
    for one in found:
        if part and held + one[-1] > MAX_BYTES:
            yield part
            part, held = [], 0
        part.append(one)
        held += one[-1]
    if part:
        yield part


def _fixed(text: str) -> Path:
    """Return the part of a pattern that is no pattern."""
    path = Path(text)
    parts = [part for part in path.parts if WILD.search(part)]
    return path if not parts else Path(*path.parts[: path.parts.index(parts[0])])


def _meant(name: str, text: str, top: Path) -> bool:
    """Whether a file below a folder is meant: by the folder, or by a pattern in it; hidden ones never are."""
    if is_hidden(Path(name), top):
        return False
    return top == Path(text) or matches(name, [Path(text).as_posix(), f"{Path(text).as_posix()}/**"])


def _git(folder: Path, *arguments: str, given: bytes = b"") -> bytes:
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program; a revision cannot be an option
            ["git", *arguments],  # noqa: S607 - the user's own git
            cwd=folder,
            env=os.environ | NO_NETWORK,
            input=given,
            capture_output=True,
            check=True,
            timeout=PATIENCE,
        )
    except FileNotFoundError:
        raise _failure(
            "git is not installed", "save the old result with --format json, and compare with that"
        ) from None
    except subprocess.TimeoutExpired:
        raise _failure("git did not answer", "save the old result with --format json") from None
    except subprocess.CalledProcessError as problem:
        said = problem.stderr.decode(errors="replace").strip().splitlines()
        what = said[-1].removeprefix("fatal: ") if said else "git failed"
        hint = "the revision must be fetched, and the file be in it; in CI fetch more than one commit"
        raise _failure(f"git: {what}", hint) from None
    return done.stdout


def _failure(problem: str, hint: str) -> InputError:
    diagnostics = Diagnostics()
    diagnostics.error("AIP113", problem, hint=hint)
    return diagnostics.failure()
