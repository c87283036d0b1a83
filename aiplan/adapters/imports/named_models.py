"""Models of the library by the names that other programs have for them."""

from __future__ import annotations

import re

from aiplan.scenario.files import library_ids

FLAVORS = {
    ("llama3", "8b"): "llama-3.1-8b",
    ("llama3", "70b"): "llama-3.1-70b",
    ("llama3", "405b"): "llama-3.1-405b",
    ("llama4", "17bx16e"): "llama-4-scout",
    ("llama4", "17bx128e"): "llama-4-maverick",
    ("deepseek_v3", "16b"): "deepseek-v2-lite",
    ("deepseek_v3", "236b"): "deepseek-v2",
    ("deepseek_v3", "671b"): "deepseek-v3",
    ("gpt_oss", "20b"): "gpt-oss-20b",
    ("gpt_oss", "120b"): "gpt-oss-120b",
}
"""Name and flavor in torchtitan (https://github.com/pytorch/torchtitan), and the model of the library."""
_ENDINGS = r"-(?:hf|instruct|chat|base|it|pt|bf16|fp8|text|\d{4})$"


def flavor(name: str, size: str) -> str | None:
    """Return the model of the library that a name and flavor of torchtitan mean."""
    known = FLAVORS.get((name.lower(), size.lower()))
    if known is not None:
        return known
    plain = f"{name}-{size}".lower().replace("_", "-")
    return plain if plain in library_ids("models") else None


def published(name: str) -> str | None:
    """Return the model of the library that has a name of the hub, such as `meta-llama/Meta-Llama-3.1-8B`."""
    plain = name.lower().rpartition("/")[2].removeprefix("meta-").replace("_", "-")
    known = set(library_ids("models"))
    for _ in range(4):
        shorter = re.sub(r"-v0\.1$", "", plain)
        for option in (plain, shorter, plain.replace("llama3", "llama-3").replace("llama2", "llama-2")):
            if option in known:
                return option
        plain = re.sub(_ENDINGS, "", plain)
    return None
