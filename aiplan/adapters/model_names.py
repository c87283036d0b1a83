"""Models of the library by the names that tables give them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aiplan.declare import Diagnostics
from aiplan.scenario.files import find_in_library, library_ids
from aiplan.scenario.lookup import load_model

if TYPE_CHECKING:
    from aiplan.scenario.model import Model

ALIASES = {
    "gpt2124m": "gpt2-small",
    "gpt2350m": "gpt2-medium",
    "gpt2774m": "gpt2-large",
    "gpt21558m": "gpt2-xl",
    "gpt5b": "gpt3-5b",
    "gpt1t": "megatron-1t",
    "llama133b": "llama-33b",
    "llama165b": "llama-65b",
    "llama3.370b": "llama-3.1-70b",
    "llama27breplica": "llama-2-7b",
    "mpt1.3b": "mpt-1b-benchmark",
    "pythia1.0b": "pythia-1b",
}
"""Names that a table may use, without case and punctuation, for models that the library calls otherwise."""


def library_model(name: str) -> str | None:
    """Return the id of the library's model of a name: what is in brackets, case and punctuation do not count."""
    plain = _plain(re.sub(r"\(.*?\)", "", name))
    if plain in ALIASES:
        return ALIASES[plain]
    return next((ident for ident in library_ids("models") if _plain(ident) == plain), None)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9.]", "", name.lower())


def known_model(ident: str) -> Model | None:
    """Return a model of the library; None if there is none of that id."""
    place = find_in_library("models", ident)
    found = load_model(place, Diagnostics()) if place else None
    return found[0] if found else None
