"""Which scenarios of folders belong together: those of a revision and those of today, or those of two folders."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from aiplan.declare import Diagnostics, is_file
from aiplan.planning.discover import below, scenario_at
from aiplan.planning.revision import WILD, laid_out, model_of, past
from aiplan.planning.saved import read_if_there
from aiplan.planning.variants import FOLDER_FILE, Source
from aiplan.scenario.files import exists, find_scenario

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from aiplan.planning.revision import Kept, Past


class Pair(NamedTuple):
    """A scenario before and after: where each is read from, None where there is none, and whether both are the same."""

    name: str
    old: Source | None
    new: Source | None
    same: bool = False


def are_several(paths: Sequence[str]) -> bool:
    """Whether paths mean more than one scenario: several files, a folder, a pattern, or a folder that is gone."""
    return len(paths) > 1 or any(not is_file(find_scenario(text).path) and _is_folder(text) for text in paths)


def are_folders(old: str, new: str) -> bool:
    """Whether two paths are folders of scenarios, not of one model each."""
    return all(Path(text).is_dir() and not (Path(text) / FOLDER_FILE).exists() for text in (old, new))


def _is_folder(text: str) -> bool:
    return bool(WILD.search(text)) or Path(text).is_dir() or not (exists(Path(text)) or Path(text).suffix)


@contextmanager
def since(paths: Iterable[str], revision: str) -> Iterator[tuple[Pair, ...]]:
    """Give each scenario of today with what it was in a revision, together with the model files that it named.

    Parameters
    ----------
    paths : iterable of str
        Files, folders and patterns; they need not exist any more.
    revision : str
        A commit, branch or tag.

    Raises
    ------
    InputError
        No repository, no such revision, or a path that means no scenario, neither today nor then.
    """
    found: dict[str, Pair] = {}
    with TemporaryDirectory() as top:
        for text in paths:
            before = past(_anchor(text), revision)
            old = {one.name: one for one in before.kept(text)}
            names = dict.fromkeys([*old, *_today(text)])
            if not names:
                _nothing(f"'{text}' means no scenario, neither today nor in {revision}")
            for name in names:
                found[name] = _pair(name, old.get(name), before, Path(top))
        yield tuple(found[name] for name in sorted(found))


def between(old: str, new: str) -> tuple[Pair, ...]:
    """Return each scenario of two folders with that of the same name in the other.

    Raises
    ------
    InputError
        Neither folder has a scenario.
    """
    before, after = (
        {Path(name).relative_to(top).as_posix(): Source(name) for name in _today(top)} for top in (old, new)
    )
    if not (before or after):
        _nothing(f"neither '{old}' nor '{new}' holds a scenario")
    return tuple(
        Pair(name, before.get(name), after.get(name), _alike(before.get(name), after.get(name)))
        for name in sorted({*before, *after})
    )


def _anchor(text: str) -> Path:
    """Return the folder to ask git from."""
    path = find_scenario(text).path
    return path if path.is_dir() else path.parent


def _today(text: str) -> list[str]:
    """Return the scenarios that a path means today; links are left out, for git has where they lead and not what."""
    path = find_scenario(text).path
    names = [Path(text).as_posix()] if is_file(path) else [one for one in below(text) if scenario_at(Path(one))]
    return [name for name in names if not Path(name).is_symlink()]


def _pair(name: str, kept: Kept | None, before: Past, top: Path) -> Pair:
    path = find_scenario(name).path
    today = read_if_there(path)
    new = Source(name) if is_file(path) else None
    if kept is None:
        return Pair(name, None, new)
    model = model_of(kept.content, kept.inside)
    content = None if model is None else before.blob_if_there(model)
    models = {model: content} if model is not None and content is not None else {}
    same = new is not None and today == kept.content and content == _model_today(model, kept, path)
    return Pair(name, laid_out(top, kept, before.revision, models), new, same)


def _model_today(model: str | None, kept: Kept, path: Path) -> bytes | None:
    """Return what the model file holds today that a scenario names, by the way from the one to the other."""
    if model is None:
        return None
    up = len(Path(kept.inside).parts) - 1
    root = path.resolve().parents[up]
    return read_if_there(root / model)


def _alike(old: Source | None, new: Source | None) -> bool:
    """Whether two files hold the same, and name no other file that may not."""
    if old is None or new is None:
        return False
    first, second = (read_if_there(Path(one.text)) for one in (old, new))
    return first is not None and first == second and model_of(first, new.text) is None


def _nothing(problem: str) -> None:
    diagnostics = Diagnostics()
    diagnostics.error(
        "AIP113",
        problem,
        hint="give a scenario, a folder of scenarios or a pattern; 'aiplan check' tells what is skipped",
    )
    raise diagnostics.failure()
