"""Files of other programs, given as values: what importers make of them."""

import json

import pytest

from aiplan.declare import Diagnostics, InputError
from aiplan.planning.imports import import_files


class Read:
    """What came of a file: what was imported, or the findings about it."""

    def __init__(self, imported, items):
        self.imported, self.items = imported, items

    @property
    def shape(self):
        model = self.imported.model
        return model.layers, model.hidden, model.heads, model.kv_heads or model.heads

    @property
    def problems(self):
        return [item.problem for item in self.items]

    @property
    def codes(self):
        return [item.code for item in self.items]

    def fact(self, path):
        found = self.imported.facts.get(path)
        return None if found is None else found.value

    def plan(self):
        facts = self.imported.facts
        return {path.removeprefix("plan."): fact.value for path, fact in facts.items() if path.startswith("plan.")}


def read_files(*files, kind=None, strict=False):
    """Import (name, content) pairs; content that is no text is written as JSON."""
    diagnostics = Diagnostics()
    named = [(name, (held if isinstance(held, str) else json.dumps(held, indent=1)).encode()) for name, held in files]
    try:
        return Read(import_files(named, diagnostics, kind, strict=strict), diagnostics.items)
    except InputError as failure:
        return Read(None, failure.diagnostics)


@pytest.fixture(scope="session")
def read():
    return read_files


@pytest.fixture(scope="session")
def hub():
    """Import a config of the hub given as a dictionary."""
    return lambda name="config.json", **config: read_files((name, config))
