"""The whole catalog after unit resolution: an edit to one number shows all that it changes."""

from aiplan.catalog.leaves import leaves
from aiplan.catalog.load import Catalog
from aiplan.catalog.records import KINDS
from aiplan.declare import Diagnostics
from aiplan.report.catalog import unit_of


def test_resolved_catalog(golden):
    catalog, diagnostics = Catalog(), Diagnostics()
    lines = []
    for kind in KINDS:
        for ident in catalog.ids(kind):
            for path, spec, value in leaves(catalog.find(kind, ident, diagnostics).entry):
                lines.append(f"{kind}/{ident} {path} = {value!r} {unit_of(spec)}".rstrip())
    assert diagnostics.items == []
    assert "\n".join(lines) + "\n" == golden
