"""Which files a check is about: files, names of the library, patterns, and folders with all below them."""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from aiplan.declare import is_file
from aiplan.planning.variants import Source
from aiplan.scenario.files import exists, find_scenario

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SUFFIXES = (".yaml", ".yml")
SAVED_SUFFIX = ".json"
"""Of saved results; other files of a folder that end so are nobody's business."""
NO_SCENARIO, NO_RESULT = "it has neither workload nor cluster", "it is no saved estimate"
HEAD = 1_000_000
"""Bytes of a file that are looked at to see what it is."""
_WILD = r"[*?\[]"
_SCENARIO = rb"""^(?:\xef\xbb\xbf)?["']?(?:workload|cluster)["']?\s*:"""
_SAVED = rb"""^\s*"schema":\s*"aiplan\.estimate/"""
_FLOW = rb"""\A(?:\xef\xbb\xbf)?\s*\{.*["']?(?:workload|cluster)["']?\s*:"""
_JOBS = (rb"""^(?:\xef\xbb\xbf)?["']?(?:pools|trace)["']?\s*:""",)
_MANIFEST = (rb"""^(?:\xef\xbb\xbf)?["']?apiVersion["']?\s*:""", rb"""^["']?kind["']?\s*:""")


class Skipped(NamedTuple):
    """A file of a folder that is none of our business, and why."""

    name: str
    why: str


class Targets(NamedTuple):
    """The scenarios, manifests and jobs files to check, the files left out, and what was asked for and is not there.

    `idle` are paths all of whose files were left out, with these files.
    """

    sources: tuple[Source, ...]
    manifests: tuple[Source, ...]
    jobs: tuple[Source, ...]
    skipped: tuple[Skipped, ...]
    missing: tuple[str, ...]
    idle: tuple[tuple[str, tuple[str, ...]], ...]


def targets(paths: Iterable[Source]) -> Targets:
    """Return the scenarios, manifests and jobs files that paths mean, each once and in the order asked for.

    Parameters
    ----------
    paths : iterable of Source
        Files, names of the library, patterns such as `clusters/**/*.yaml`, folders, or what came through a pipe. A
        file that is named is a scenario unless it has apiVersion and kind, or pools or a trace; of a folder or a
        pattern, files that are none of these are left out.
    """
    sources: dict[str, Source] = {}
    manifests: dict[str, Source] = {}
    jobs: dict[str, Source] = {}
    skipped: dict[str, Skipped] = {}
    missing: list[str] = []
    idle: list[tuple[str, tuple[str, ...]]] = []
    for one in paths:
        if one.together:
            sources.setdefault(one.text, one)
            continue
        if one.piped is not None or is_file(find_scenario(one.text).path):
            kind = manifests if _holds(one, _MANIFEST) else jobs if _holds(one, _JOBS) else sources
            kind.setdefault(one.text, one)
            continue
        found = list(below(one.text))
        missing += [] if found else [one.text]
        for name in found:
            if scenario_at(Path(name)):
                sources.setdefault(name, Source(name))
            elif _holds(Source(name), _MANIFEST):
                manifests.setdefault(name, Source(name))
            elif _holds(Source(name), _JOBS):
                jobs.setdefault(name, Source(name))
            elif name not in sources and (not name.endswith(SAVED_SUFFIX) or re.search(_WILD, one.text)):
                skipped[name] = Skipped(name, NO_RESULT if name.endswith(SAVED_SUFFIX) else NO_SCENARIO)
        if found and not any(name in kind for kind in (sources, manifests, jobs) for name in found):
            idle.append((one.text, tuple(found)))
    return Targets(
        sources=tuple(sources.values()),
        manifests=tuple(manifests.values()),
        jobs=tuple(jobs.values()),
        skipped=tuple(skipped.values()),
        missing=tuple(missing),
        idle=tuple(idle),
    )


def repository() -> Path | None:
    """Return the root of the repository of git that the program runs in; None outside of one."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if exists(folder / ".git")), None)


def below(text: str) -> Iterator[str]:
    """Yield the files that a folder or a pattern means, hidden ones left out."""
    path = Path(text)
    if path.is_dir():
        found = (Path(folder) / name for folder, _, names in os.walk(path) for name in names)
        yield from sorted(
            one.as_posix() for one in found if one.suffix in {*SUFFIXES, SAVED_SUFFIX} and not is_hidden(one, path)
        )
    elif re.search(_WILD, text):
        for name in sorted(glob.glob(text, recursive=True)):  # noqa: PTH207 - keeps a path as it was typed
            if Path(name).is_dir():
                yield from below(name)
            else:
                yield Path(name).as_posix()


def is_hidden(path: Path, folder: Path) -> bool:
    """Whether a file, or a folder that it lies in below another one, is hidden."""
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def is_scenario(name: str, head: bytes) -> bool:
    """Whether a file looks like a scenario or a saved result, well-formed or not, by its name and how it begins."""
    if name.endswith(SAVED_SUFFIX):
        return re.search(_SAVED, head, re.MULTILINE) is not None
    return re.search(_SCENARIO, head, re.MULTILINE) is not None or re.match(_FLOW, head, re.DOTALL) is not None


def scenario_at(path: Path) -> bool:
    """Whether a file looks like a scenario or a saved result; also where reading it will say what is wrong."""
    head = _head(path)
    return head is None or is_scenario(path.name, head)


def _holds(source: Source, patterns: tuple[bytes, ...]) -> bool:
    """Whether a file looks like one of a kind, well-formed or not: it has all of some keys at its outermost level."""
    head = _head(find_scenario(source.text).path) if source.piped is None else source.piped[:HEAD]
    return head is not None and all(re.search(pattern, head, re.MULTILINE) for pattern in patterns)


def _head(path: Path) -> bytes | None:
    try:
        with path.open("rb") as stream:
            return stream.read(HEAD)
    except OSError:
        return None
