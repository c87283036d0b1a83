"""What the pages ask aiplan for: catalog entries, estimates of scenarios, and their text."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics
from aiplan.planning import estimate as planning
from aiplan.scenario.load import load

if TYPE_CHECKING:
    from aiplan.planning.estimate import Estimate

CATALOG = Catalog()


@cache
def entry(kind: str, ident: str) -> Any:
    """Return an entry of the catalog."""
    diagnostics = Diagnostics()
    found = CATALOG.find(kind, ident, diagnostics)
    diagnostics.raise_if_errors()
    return found.entry if found else None


def entries(kind: str) -> list[Any]:
    """Return all entries of a kind."""
    return [entry(kind, ident) for ident in CATALOG.ids(kind)]


@cache
def estimated(name: str, *settings: str) -> Estimate:
    """Return the estimate of a scenario of the library, changed as with `--set`."""
    diagnostics = Diagnostics()
    changes = [(path, value, "--set") for path, _, value in (setting.partition("=") for setting in settings)]
    scenario = load(name, CATALOG, diagnostics, changes)
    diagnostics.raise_if_errors()
    if scenario is None:
        raise diagnostics.failure()
    return planning.estimate([scenario])[0]
