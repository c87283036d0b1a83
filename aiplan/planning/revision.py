"""A scenario as it was in a revision of its git repository, read without network."""

from __future__ import annotations

import os
import posixpath
import subprocess
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from aiplan.declare import Diagnostics, InputError, read
from aiplan.planning.variants import Source
from aiplan.scenario.files import Place, find_scenario, scalar_at

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE = 60.0
"""Seconds that git has to find a file."""
NO_NETWORK = {"GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}


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
    folder = path.parent if path.parent.is_dir() else Path()
    inside = posixpath.normpath(_git(folder, "rev-parse", "--show-prefix").decode().strip() + path.name)
    content = _blob(folder, revision, inside)
    with TemporaryDirectory() as top:
        place = Place(f"{revision}:{inside}", Path(top) / inside)
        model = _model(content, inside)
        if model is not None:
            target = Path(top) / model
            target.parent.mkdir(parents=True, exist_ok=True)
            place.path.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(_blob(folder, revision, model))
        yield Source(place.name, content, place)


def _model(content: bytes, inside: str) -> str | None:
    """Return the path in the repository of the model file that a scenario names, if it names one."""
    try:
        name = scalar_at(read(content, inside, Diagnostics()), "model")
    except InputError:
        return None  # reading the scenario will say what is wrong
    if name is None or not ("/" in name or name.endswith((".yaml", ".yml", ".json"))):
        return None
    found = posixpath.normpath(posixpath.join(posixpath.dirname(inside), name))
    return None if found.startswith(("..", "/")) else found


def _blob(folder: Path, revision: str, inside: str) -> bytes:
    if revision.startswith("-") or not revision:
        raise _failure(f"'{revision}' is no revision", "give a commit, branch or tag, e.g. origin/main")
    return _git(folder, "cat-file", "blob", f"{revision}:{inside}")


def _git(folder: Path, *arguments: str) -> bytes:
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program; a revision cannot be an option
            ["git", *arguments],  # noqa: S607 - the user's own git
            cwd=folder,
            env=os.environ | NO_NETWORK,
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
