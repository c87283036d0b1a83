"""What tells one verdict from another in programs that keep them from run to run, though lines move."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.check import Check, Checked, Verdict


def told(answer: Check) -> Iterator[tuple[Checked, Verdict, str]]:
    """Yield every verdict that is not in order, with its file and what it is known by."""
    seen: Counter[str] = Counter()
    for file, one in answer.verdicts:
        if one.state != "ok":
            identity = f"{one.code}\0{one.rule}\0{answer.rooted(file.path)}"
            seen[identity] += 1
            yield file, one, _digest(f"{identity}\0{seen[identity]}")


def _digest(identity: str) -> str:
    return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:32]
