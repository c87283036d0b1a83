"""All importers. To add a kind of file, write its module and put its `KIND` here."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from aiplan.adapters.imports import (
    accelerate,
    deepspeed,
    gptneox,
    hf_config,
    llmfoundry,
    maxtext,
    megatron_args,
    nanotron,
    nccl_topology,
    nemo,
    nvidia_smi_topology,
    torchtitan,
)
from aiplan.adapters.imports.document import decoded, read_document
from aiplan.adapters.imports.ledger import Ledger
from aiplan.declare import Mark

if TYPE_CHECKING:
    from aiplan.adapters.imports.document import Document
    from aiplan.adapters.imports.kind import Kind
    from aiplan.declare import Diagnostics

KINDS: tuple[Kind, ...] = (
    megatron_args.ARGS,
    nemo.KIND,
    nanotron.KIND,
    llmfoundry.KIND,
    accelerate.KIND,
    gptneox.KIND,
    maxtext.KIND,
    deepspeed.KIND,
    megatron_args.YAML_KIND,
    torchtitan.KIND,
    nvidia_smi_topology.KIND,
    nccl_topology.KIND,
    hf_config.KIND,
)
"""In the order in which a document is tried: the first that knows it reads it."""

OTHERS: tuple[tuple[str, str, str], ...] = (
    (
        r"^apiVersion:\s",
        "a Kubernetes manifest, which is not imported",
        "it says nothing about model or layout; 'aiplan export k8s' writes one",
    ),
    (
        r"^(?:schema_version|workload|cluster|layers):\s",
        "a file of aiplan's own form, which needs no import",
        "'aiplan estimate' reads a scenario, and 'model:' in one a model",
    ),
    (
        r"\"peft_type\"",
        "an adapter for fine-tuning, which has no model here",
        "give the config.json of the whole model",
    ),
    (r"^verification_index:", "a card of results, which is not imported", "give the settings of the run"),
    (r"^rows:", "a table of several runs, which is not imported", "'aiplan accuracy' reads tables of runs"),
    (
        r"NCCL INFO|^.*#\s*(?:Collective test|nThread|.*\bbusbw\b)",
        "a log of measurements, which is not imported",
        "'aiplan calibrate' reads logs of nccl-tests",
    ),
    (
        r"ROCm System Management Interface",
        "a matrix of rocm-smi, which is not read",
        "NCCL topology XML and 'nvidia-smi topo -m' are",
    ),
)
"""Files that people try: how their text is known, what they are, and what to do instead."""


def names() -> list[str]:
    """Return the names of all kinds."""
    return [kind.name for kind in KINDS]


def named(name: str, diagnostics: Diagnostics) -> Kind:
    """Return a kind by name."""
    found = next((kind for kind in KINDS if kind.name == name), None)
    if found is not None:
        return found
    close = difflib.get_close_matches(name, names(), n=1)
    hint = f"did you mean '{close[0]}'?" if close else f"kinds: {', '.join(names())}"
    diagnostics.error("AIP108", f"'{name}' is no kind of file that is imported", hint=hint)
    raise diagnostics.failure()


def open_document(data: bytes, name: str, diagnostics: Diagnostics) -> Document:
    """Read a file; refuse at once what is known to be something else."""
    text = decoded(data, name, diagnostics)
    for pattern, what, instead in OTHERS:
        found = re.search(pattern, text, re.MULTILINE)
        if found is not None:
            line = text.count("\n", 0, found.start()) + 1
            diagnostics.error("AIP341", f"'{name}' is {what}", Mark(name, line, 1, 2), hint=instead)
            raise diagnostics.failure()
    return read_document(text, name, diagnostics)


def detected(document: Document) -> Kind | None:
    """Return the kind that a document is of; None if no importer knows it."""
    return next((kind for kind in KINDS if kind.detect(document)), None)


def kind_of(document: Document, diagnostics: Diagnostics) -> Kind:
    """Return the kind that a document is of, or refuse it."""
    found = detected(document)
    if found is not None:
        return found
    diagnostics.error(
        "AIP341",
        f"'{document.name}' is of no kind that is known",
        document.start,
        hint=f"kinds: {', '.join(names())}; --kind says which it is",
    )
    raise diagnostics.failure()


def read(document: Document, kind: Kind, diagnostics: Diagnostics) -> Ledger:
    """Read a document as a kind, to the account of what was taken."""
    ledger = Ledger(document, diagnostics)
    kind.read(ledger)
    ledger.finish(kind.harmless)
    return ledger
