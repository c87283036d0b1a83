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


def test_accelerators_fitted_together_have_the_same_figures():
    catalog, diagnostics = Catalog(), Diagnostics()
    fitted = {
        ident: catalog.find("accelerators", ident, diagnostics).entry.fitted for ident in catalog.ids("accelerators")
    }
    pairs = [(ident, one.shared_with) for ident, one in fitted.items() if one is not None and one.shared_with]
    assert pairs
    for ident, other in pairs:
        for name in ("matmul_fraction", "matmul_fraction_by_type", "attention_fraction", "memory_fraction"):
            assert getattr(fitted[ident], name) == getattr(fitted[other], name), f"{ident}: {name}"
