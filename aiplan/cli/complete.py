"""Shell completion from the names of files: nothing is read."""

from __future__ import annotations

from pathlib import Path

YAML = (".yaml", ".yml")


def scenarios(incomplete: str) -> list[str]:
    """Complete a scenario: names of the library, folders and YAML files."""
    return _named("", incomplete, YAML)


def jobs_files(incomplete: str) -> list[str]:
    """Complete a jobs file: names of the library, folders and YAML files."""
    return _named("jobs", incomplete, YAML)


def run_files(incomplete: str) -> list[str]:
    """Complete a file of runs: names of published ones, folders, YAML files and tables."""
    return _named("published", incomplete, (*YAML, ".csv"))


def _named(kind: str, incomplete: str, suffixes: tuple[str, ...]) -> list[str]:
    from aiplan.scenario.files import library_ids

    folder = Path(incomplete).parent if not incomplete.endswith("/") else Path(incomplete)
    names = [] if "/" in incomplete else library_ids(kind)
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.is_dir() and not path.name.startswith("."):
            names.append(f"{path}/")
        elif path.suffix in suffixes:
            names.append(str(path))
    return [name for name in names if name.startswith(incomplete.removeprefix("./"))]
