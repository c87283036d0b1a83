"""How a record's fields are declared once: dimension, default, bounds, doc; positions and errors.

Read in this order: `source` (text to nodes with positions), `fields` (declaring), `build` (nodes to records),
`patch` (changes from the command line), `diagnostics` and `codes` (findings). `schema` and `docs` are other
views of the same declarations, for who asks for them: import those from there.
"""

from aiplan.declare.build import Origin, OriginKind, Origins, build
from aiplan.declare.codes import CODES, Code
from aiplan.declare.diagnostics import Diagnostic, Diagnostics, InputError, Mark, render
from aiplan.declare.fields import (
    REQUIRED,
    Declared,
    choice,
    declared,
    either,
    flag,
    integer,
    listing,
    mapping,
    number,
    quantity,
    quantity_range,
    record,
    records,
    text,
)
from aiplan.declare.patch import parse_assignment, parse_counts, parse_variation, set_value
from aiplan.declare.source import Mapping, Node, Scalar, Sequence, is_file, read, read_file, read_start

__all__ = [
    "CODES",
    "REQUIRED",
    "Code",
    "Declared",
    "Diagnostic",
    "Diagnostics",
    "InputError",
    "Mapping",
    "Mark",
    "Node",
    "Origin",
    "OriginKind",
    "Origins",
    "Scalar",
    "Sequence",
    "build",
    "choice",
    "declared",
    "either",
    "flag",
    "integer",
    "is_file",
    "listing",
    "mapping",
    "number",
    "parse_assignment",
    "parse_counts",
    "parse_variation",
    "quantity",
    "quantity_range",
    "read",
    "read_file",
    "read_start",
    "record",
    "records",
    "render",
    "set_value",
    "text",
]
