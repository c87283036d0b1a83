"""Which files a check is about: files, names of the library, patterns, and folders with all below them."""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from aiplan.declare import is_file
from aiplan.planning.variants import Source
from aiplan.scenario.files import find_scenario

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


class Skipped(NamedTuple):
    """A file of a folder that is none of our business, and why."""

    name: str
    why: str


class Targets(NamedTuple):
    """The scenarios to check, the files left out, and what was asked for and is not there."""

    sources: tuple[Source, ...]
    skipped: tuple[Skipped, ...]
    missing: tuple[str, ...]


def targets(paths: Iterable[Source]) -> Targets:
    """Return the scenarios that paths mean, each once and in the order asked for.

    Parameters
    ----------
    paths : iterable of Source
        Files, names of the library, patterns such as `clusters/**/*.yaml`, folders, or what came through a pipe. A
        file that is named is a scenario; of a folder or a pattern, files without workload and cluster are left out.
    """
    sources: dict[str, Source] = {}
    skipped: dict[str, Skipped] = {}
    missing = []
    for one in paths:
        if one.piped is not None or is_file(find_scenario(one.text).path):
            sources.setdefault(one.text, one)
            continue
        found = list(_below(one.text))
        missing += [] if found else [one.text]
        for name in found:
            if _is_scenario(Path(name)):
                sources.setdefault(name, Source(name))
            elif name not in sources and (not name.endswith(SAVED_SUFFIX) or re.search(_WILD, one.text)):
                skipped[name] = Skipped(name, NO_RESULT if name.endswith(SAVED_SUFFIX) else NO_SCENARIO)
    return Targets(tuple(sources.values()), tuple(skipped.values()), tuple(missing))


def _below(text: str) -> Iterator[str]:
    path = Path(text)
    if path.is_dir():
        found = (Path(folder) / name for folder, _, names in os.walk(path) for name in names)
        yield from sorted(
            one.as_posix() for one in found if one.suffix in {*SUFFIXES, SAVED_SUFFIX} and not _hidden(one, path)
        )
    elif re.search(_WILD, text):
        for name in sorted(glob.glob(text, recursive=True)):  # noqa: PTH207 - keeps a path as it was typed
            if Path(name).is_dir():
                yield from _below(name)
            else:
                yield Path(name).as_posix()


def _hidden(path: Path, below: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(below).parts)


def _is_scenario(path: Path) -> bool:
    """Whether a file looks like a scenario or a saved result, well-formed or not."""
    try:
        with path.open("rb") as stream:
            head = stream.read(HEAD)
    except OSError:
        return True  # reading it will say what is wrong
    if path.suffix == SAVED_SUFFIX:
        return re.search(_SAVED, head, re.MULTILINE) is not None
    return re.search(_SCENARIO, head, re.MULTILINE) is not None or re.match(_FLOW, head, re.DOTALL) is not None
