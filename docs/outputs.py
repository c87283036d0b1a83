"""Writing generated files, or checking that they are what would be written."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

DOCS = Path(__file__).resolve().parent


def run(description: str, files: Mapping[Path, str], arguments: Sequence[str] | None = None) -> int:
    """Write files, or with `--check` compare them.

    Returns
    -------
    int
        Exit code: 1 if `--check` finds a file that differs, else 0.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file differs")
    check = parser.parse_args(arguments).check
    stale = [path for path, text in files.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(f"{path.name} is not up to date" if check else f"wrote {path.name}", file=sys.stderr)
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files[path], encoding="utf-8")
    return int(check and bool(stale))


def with_blocks(path: Path, blocks: Mapping[str, str]) -> str:
    """Return the text of a page with its generated blocks replaced.

    A block stands between `<!-- generated: name -->` and `<!-- end -->`.
    """
    text = path.read_text(encoding="utf-8")
    for name, block in blocks.items():
        marked = re.compile(rf"(<!-- generated: {re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not marked.search(text):
            raise ValueError(f"{path.name} has no block '{name}'")
        text = marked.sub(lambda match, block=block: f"{match[1]}\n{block}\n\n{match[2]}", text)
    return text


def table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |" for line in lines)
