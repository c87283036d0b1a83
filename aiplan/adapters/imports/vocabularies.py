"""Sizes of vocabularies by the names of their tokenizers, where a file names a tokenizer and no size."""

from __future__ import annotations

import re

# Rows of the embedding tables of the published models of these names.
SIZES: tuple[tuple[str, int], ...] = (
    (r"llama[-_ ]?3|llama3|llama-4-tokenizer-3", 128256),
    (r"llama[-_ ]?4", 202048),
    (r"llama[-_ ]?2|llama2|mixtral|mistral-7b-v0\.1|tinyllama", 32000),
    (r"256k", 256000),
    (r"qwen3|qwen2\.5", 151936),
    (r"deepseek-v3|deepseek_v3|deepseek-r1", 129280),
    (r"deepseek-v2", 102400),
    (r"gpt-neox-20b", 50432),
)
SOURCES = "https://huggingface.co"


def vocabulary_of(name: str) -> int | None:
    """Return the tokens of a tokenizer by a part of its name; None if the name is not known."""
    return next((size for pattern, size in SIZES if re.search(pattern, name.lower())), None)
