"""A table of whole trainings, one row a training, to scenarios.

The columns are those of `COLUMNS`. A table says how many tokens on how many accelerators took how long, and little
else: what is assumed for the rest is kept with the row, and so is why a row cannot be used. Layouts are not in it.
"""

from __future__ import annotations

import csv
import math
import re
from typing import TYPE_CHECKING, Any

from aiplan.adapters.model_names import known_model, library_model
from aiplan.adapters.nodes import tree
from aiplan.adapters.run_words import accelerator_of
from aiplan.adapters.runs_csv import Run
from aiplan.declare import Diagnostics, Mapping, Mark, Scalar
from aiplan.declare.patch import set_node
from aiplan.scenario.files import find_in_library, read_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aiplan.declare import Node

_COLUMNS = """
id kind model n_params_b tokens_b accelerator n_gpus wall_hours gpu_hours global_batch source_title source_url quality
notes
"""
COLUMNS = frozenset(_COLUMNS.split())
"""Columns of such a table; others are not used."""
NEEDS = {"model", "accelerator"}

BATCH_TOKENS = 4 * 2**20
LONGEST_SEQUENCE = 8192
LONGEST_RUN = 90.0 * 24
"""Hours: what a training takes at most where only accelerator-hours are known."""
ALIGNED = 128
"""Rows that the embedding table is padded to a multiple of."""
NODE = 8
MOST = 1e12
"""No number in a row is larger."""
SUBMISSION = "MLPerf"
HOURS = ("wall_hours", "gpu_hours")


def is_trainings_table(text: str) -> bool:
    """Whether text starts with the heading of a table of whole trainings."""
    first = text.lstrip("\ufeff").partition("\n")[0].rstrip("\r")
    heading = {name.strip() for name in first.split(",")}
    return heading >= NEEDS and "tokens_b" in heading and bool(heading & set(HOURS))


def unused_training_columns(text: str) -> list[str]:
    """Return the columns of a table of whole trainings that mean nothing here."""
    first = text.lstrip("\ufeff").partition("\n")[0].rstrip("\r")
    return [name for name in first.split(",") if name not in COLUMNS]


def read_trainings(lines: Iterable[str], name: str) -> Iterator[Run]:
    """Yield the rows of a table of whole trainings; one that states too little has problems and no scenario.

    Parameters
    ----------
    lines : iterable of str
        The table, heading first.
    name : str
        What the table is called in messages.

    Raises
    ------
    InputError
        It is not CSV.
    """
    reader = csv.DictReader(lines)
    try:
        for row in reader:
            yield _run(row, Mark(name, reader.line_num, 1, 2))
    except csv.Error as problem:
        diagnostics = Diagnostics()
        diagnostics.error("AIP113", f"'{name}' cannot be read as a table: {problem}", hint="save the table as CSV")
        raise diagnostics.failure() from None


def is_submission(run: Run) -> bool:
    """Whether a row is a result of MLPerf, whose layout and precision are those of the submission."""
    return run.cell("kind").startswith(SUBMISSION)


def address_of(run: Run) -> tuple[str, int]:
    """Return what tells a submission from others: its address, and how many accelerators it used."""
    return run.cell("source_url"), int(_number(run.cell("n_gpus")) or 0)


def measured_of(run: Run) -> dict[str, str]:
    """Return what a row measured, by dotted path, in the words of a scenario."""
    named = (("measured.time_to_train", "wall_hours"), ("measured.accelerator_time", "gpu_hours"))
    hours = {path: _number(run.cell(column)) for path, column in named}
    tokens = _number(run.cell("tokens_b"))
    found = {path: f"{number!r} h" for path, number in hours.items() if number}
    return found | ({"workload.tokens": f"{tokens * 1e9!r}"} if tokens else {})


def _run(row: dict[str, str], mark: Mark) -> Run:
    ident = (row.get("id") or "").strip() or f"row {mark.line}"
    plain = Run(ident, row, None)
    problems = tuple(_problems(plain))
    model = library_model(plain.cell("model"))
    if problems or model is None:
        return Run(
            ident, row, None, problems=problems or (f"no model of the library is called '{plain.cell('model')}'",)
        )
    values, assumed = _scenario(plain, model)
    return Run(ident, row, _padded(tree(values, mark, {}), model, assumed), tuple(assumed))


def _padded(root: Node, model: str, assumed: list[str]) -> Node:
    """Return a scenario with the vocabulary of its model padded, as software does to keep matrices aligned."""
    place, found = find_in_library("models", model), known_model(model)
    if place is None or found is None or found.vocab % ALIGNED == 0 or not isinstance(root, Mapping):
        return root
    shape, rows = read_place(place, Diagnostics()), ALIGNED * math.ceil(found.vocab / ALIGNED)
    if not isinstance(shape, Mapping):
        return root
    assumed.append(f"vocabulary padded to a multiple of {ALIGNED}")
    vocab = Scalar(rows, str(rows), quoted=False, mark=shape.mark)
    shape = set_node(shape, "vocab", vocab, shape.mark, Diagnostics())
    return set_node(root, "model", shape, root.mark, Diagnostics())


def _problems(run: Run) -> Iterator[str]:
    """Yield why a row cannot be used whatever its model is: the first reason is enough."""
    kind = run.cell("kind")
    if "LoRA" in kind:
        yield "adapters are trained, not the model"
    elif "estimate" in kind:
        yield "an estimate, not a measurement"
    elif not any(_number(run.cell(name)) for name in HOURS):
        yield "neither wall time nor accelerator-hours are published"
    elif not _number(run.cell("tokens_b")):
        yield "tokens are not published"
    elif is_submission(run):
        yield "layout and precision are those of a submission that the library does not have"


def _scenario(run: Run, model: str) -> tuple[dict[str, Any], list[str]]:
    assumed = ["precision bf16", "software megatron-core", "failures and checkpoints with all defaults"]
    gpus = _gpus(run, assumed)
    sequence = _sequence(run, model, assumed)
    fabric = "ib-hdr" if "A100" in run.cell("accelerator") else "ib-ndr"
    assumed.append(f"network {fabric} x {NODE}")
    values: dict[str, Any] = {
        "name": run.ident,
        "model": model,
        "workload": {"sequence_length": sequence, "global_batch": _batch(run, gpus, sequence, assumed)},
        "cluster": {
            "accelerator": accelerator_of(run.cell("accelerator")),
            "accelerators_per_node": NODE,
            "nodes": max(1, math.ceil(gpus / NODE)),
            "accelerators": gpus,
            "network": {"fabric": fabric, "ports": NODE},
        },
        "reliability": {},
        "measured": {"source": run.cell("source_url") or "not stated"},
    }
    for path, text in measured_of(run).items():
        part, _, key = path.partition(".")
        values[part][key] = text
    return values, assumed


def _gpus(run: Run, assumed: list[str]) -> int:
    """Return the accelerators of a row; if they are not stated, the power of two that takes 90 days at most."""
    stated = _number(run.cell("n_gpus"))
    if stated:
        return int(stated)
    hours = _number(run.cell("gpu_hours")) or 0.0
    doublings = math.ceil(math.log2(max(1.0, hours / LONGEST_RUN / NODE)))
    assumed.append(f"accelerators, so that it takes {LONGEST_RUN / 24:.0f} days at most")
    return NODE << doublings


def _sequence(run: Run, model: str, assumed: list[str]) -> int:
    noted = re.search(r"\bseq (\d{2,7})\b", run.cell("notes"))
    if noted:
        return int(noted[1])
    found = known_model(model)
    context = (found.context_length if found else None) or LONGEST_SEQUENCE
    assumed.append(f"sequence length: the model's, {LONGEST_SEQUENCE} at most")
    return min(context, LONGEST_SEQUENCE)


def _batch(run: Run, gpus: int, sequence: int, assumed: list[str]) -> int:
    """Return the batch of a row; if it is not stated, 4 Mi tokens, rounded up to whole sequences per accelerator."""
    stated = _number(run.cell("global_batch"))
    if stated:
        return int(stated)
    assumed.append("batch of 4 Mi tokens")
    return gpus * math.ceil(BATCH_TOKENS / sequence / gpus)


def _number(cell: str) -> float | None:
    """Return a positive number; None for an empty cell and for anything else."""
    try:
        number = float(cell)
    except ValueError:
        return None
    return number if 0 < number <= MOST else None
