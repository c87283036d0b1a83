"""Generated blocks of the pages: field tables, units, error example, predicted against published.

`python docs/tables.py` writes them into the pages named in `PAGES`; `--check` exits 1 if one differs.
"""

from __future__ import annotations

import csv
import re
import sys
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from lookups import CATALOG, estimated
from outputs import DOCS, run, table, with_blocks

from aiplan import units
from aiplan.catalog import nccl
from aiplan.core.compression import METHODS
from aiplan.declare import Diagnostics, parse_variation, read, render
from aiplan.declare.docs import rows
from aiplan.planning import estimate as planning
from aiplan.planning.accuracy import Accuracy, compare_runs
from aiplan.planning.calibration import Calibration, calibrate, counted
from aiplan.planning.run_files import library_trainings, measured_runs
from aiplan.planning.trainings import compare_trainings, step_by_step
from aiplan.planning.variants import Source
from aiplan.report.accuracy import Answer
from aiplan.report.accuracy import render as render_accuracy
from aiplan.report.calibration import render as render_calibration
from aiplan.report.console import Look
from aiplan.scenario import power, resolve
from aiplan.scenario.files import UNSEEN, Place, library_ids
from aiplan.scenario.load import resolve_tree
from aiplan.scenario.records import ScenarioFile
from aiplan.units import DIMENSIONS, quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aiplan.scenario.load import Scenario

NOBODY = "docs/accuracy.md#runs-that-nobody-had-looked-at"
PUBLISHED_A100 = DOCS.parent / "tests" / "data" / "published_a100.csv"
UNVERIFIED = "unverified"

VARIATIONS = (
    "cluster.nodes=64,128",
    "cluster.nodes=64..1024:x2",
    "workload.global_batch=1024..4096:+1024",
    "cluster.price=2..4 USD/h:+1",
    "plan={tensor: 8, pipeline: 8},{tensor: 4, pipeline: 16}",
)

BROKEN = """\
schema_version: 1
model: gpt3-175b
workload: {tokens: 300e9, sequence_length: 2048, global_batch: 1500, precision: bf16}
cluster: {node: dgx-a100-80gb, nodes: 128, price: 2.5}
plan: {tensor: 8, pipeline: 7, microbatch: 1}
"""

ILLEGAL = """\
schema_version: 1
model: gpt3-175b
workload: {tokens: 300e9, sequence_length: 2048, global_batch: 1500, precision: bf16}
cluster: {node: dgx-a100-80gb, nodes: 128}
plan: {tensor: 8, pipeline: 7}
"""

PUBLISHED_RUN = """\
name: {name}
model:
  layers: {layers}
  hidden: {hidden}
  heads: {heads}
  ffn: {ffn}
  gated: false
  vocab: 51200
  positions: 2048
  tied: true
  norm: layernorm
  bias: {{qkv: true, attention_output: true, mlp: true}}
workload: {{sequence_length: 2048, global_batch: {global_batch}, precision: fp16}}
cluster: {{node: dgx-a100-80gb, nodes: {nodes}, network: {{fabric: ib-hdr}}}}
plan: {{tensor: {tensor}, pipeline: {pipeline}, interleave: {interleave}, micro_batch: {micro_batch},
  recompute: {recompute}, sequence_parallel: {sequence_parallel}}}
software: {software}
"""


def resolved(text: str, name: str) -> tuple[Scenario | None, Diagnostics]:
    """Resolve the text of a scenario."""
    diagnostics = Diagnostics()
    tree = read(text.encode(), name, diagnostics)
    return resolve_tree(tree, Place(name, Path(name)), CATALOG, diagnostics), diagnostics


def field_table(prefix: str) -> str:
    """Return the fields below one key of a scenario, or those of the file itself."""
    found = [row for row in rows(ScenarioFile) if _belongs(row.path, prefix)]
    heading = ("field", "takes", "default", "meaning")
    cells = ((f"`{r.path}`", r.kind, "**required**" if r.default is None else f"`{r.default}`", r.doc) for r in found)
    return table(heading, cells)


def _belongs(path: str, prefix: str) -> bool:
    return path.startswith(f"{prefix}.") if prefix else "." not in path


def unit_table() -> str:
    """Return every dimension with an example and what it means."""
    heading = ("dimension", "write", "is read as")
    return table(heading, ((name, f"`{d.example}`", _in_si(d.example, name)) for name, d in DIMENSIONS.items()))


def _in_si(text: str, dimension: str) -> str:
    unit = DIMENSIONS[dimension].unit
    return f"{units.parse(text, dimension):.6g}" + ("" if DIMENSIONS[dimension].bare else f" {unit}")


def variation_table() -> str:
    """Return examples of `--vary` and the values they mean."""
    expanded = ((option, parse_variation(option)[1]) for option in VARIATIONS)
    return table(("`--vary`", "means"), ((f"`{option}`", ", ".join(f"`{v}`" for v in vs)) for option, vs in expanded))


def error_example(text: str) -> str:
    """Return what is said about a scenario with mistakes."""
    _, diagnostics = resolved(text, "example.yaml")
    return f"```text\n{render(diagnostics.items, diagnostics.sources)}\n```"


def a100_table() -> str:
    """Return predicted and published step times of the A100 runs that the constants rest on, or are tested by."""
    with PUBLISHED_A100.open(encoding="utf-8") as file:
        published = list(csv.DictReader(file))
    scenarios = [_published_scenario(row) for row in published]
    predicted = [estimate["step"] for estimate in planning.estimate(scenarios)]
    errors = [p / float(row["step_time_s"]) - 1.0 for p, row in zip(predicted, published, strict=True)]
    heading = ("run", "accelerators", "use", "published [s]", "predicted [s]", "error")
    cells = (
        (row["name"], row["gpus"], _use(row), row["step_time_s"], f"{time:.4g}", f"{error:+.1%}")
        for row, time, error in zip(published, predicted, errors, strict=True)
    )
    summary = ((use, [e for e, row in zip(errors, published, strict=True) if _use(row) == use]) for use in USES)
    return f"{table(heading, cells)}\n\n{_summary(summary)}"


RUNS = measured_runs([], CATALOG, Diagnostics())
"""All published runs, read once: that takes longer than to predict them."""
GRADES, WORST = "AB", 10
"""What `aiplan accuracy` and `aiplan calibrate runs` take if nothing is said."""
USES = ("fitted", "held out", "held out, unverified")
FITTED_RUNS = {
    (one.model.layers, one.model.hidden, one.accelerators, one.file.plan.recompute)
    for one, *_ in counted(RUNS)
    if one.file.software.startswith("megatron-lm")
}
"""Runs of Megatron-LM that the constants were fitted on: layers, width, accelerators, recomputation."""


def _use(row: dict[str, str]) -> str:
    if (int(row["layers"]), int(row["hidden"]), int(row["gpus"]), row["recompute"]) in FITTED_RUNS:
        return USES[0]
    return USES[2] if row["step_time_evidence"] == UNVERIFIED else USES[1]


def _published_scenario(row: dict[str, str]) -> Scenario:
    text = PUBLISHED_RUN.format(**row, ffn=4 * int(row["hidden"]), nodes=int(row["gpus"]) // 8)
    scenario, diagnostics = resolved(text, row["name"])
    if scenario is None:
        raise diagnostics.failure()
    return scenario


def _summary(groups: Iterable[tuple[str, list[float]]]) -> str:
    heading = ("use", "runs", "mean error", "mean absolute error", "worst")
    cells = (
        (use, str(len(es)), f"{fmean(es):+.1%}", f"{fmean(map(abs, es)):.1%}", f"{max(es, key=abs):+.1%}")
        for use, es in groups
        if es
    )
    return table(heading, cells)


def default_table() -> str:
    """Return the constants that stand in where nothing was fitted."""
    training = f"{resolve.TRAINING_OVER_BEST_MATMUL:g} of the best matrix product measured on it, over its peak"
    network = (
        f"{resolve.NETWORK_FRACTION:g} of its rate, {units.quantity(resolve.RDMA_LATENCY, 's')} a step with RDMA, "
        f"{units.quantity(resolve.TCP_LATENCY, 's')} without"
    )
    cells = (
        ("`matmul_fraction`", training, "the median ratio of the accelerators with fitted runs"),
        ("`matmul_fraction`, no matrix product measured", f"{resolve.MATMUL_FRACTION:g}", "a guess: called assumed"),
        ("`attention_fraction`", f"{resolve.ATTENTION_FRACTION:g}", "usual for fused attention"),
        ("`memory_fraction`", f"{resolve.MEMORY_FRACTION:g}", "as on the A100"),
        (
            "link between accelerators",
            f"{resolve.LINK_FRACTION:g} of its rate, {units.quantity(resolve.LINK_LATENCY, 's')} a step",
            "where the catalog has no achieved figure",
        ),
        ("network", network, "where the catalog has no achieved figure"),
        (
            "power of a node",
            f"{power.NODE_OVER_DEVICES:g} x device power, PUE {power.PUE:g}",
            "where neither node nor region says",
        ),
    )
    return table(("constant", "stands in", "why"), cells)


BLOCKS = {"Order of plans": "order", "Scaling": "scaling", "Whole trainings": "trainings"}
"""Titles in the answer of `aiplan accuracy`, and the blocks of the page that they go to."""
AFTER_BLOCKS = "<details><summary>Left out</summary>"


@cache
def compared() -> Accuracy:
    """Return all published runs and trainings with their predictions."""
    trainings = compare_trainings(library_trainings(CATALOG, Diagnostics()), CATALOG, GRADES)
    return Accuracy(compare_runs(step_by_step(RUNS), GRADES), (), (), GRADES, trainings)


@cache
def fitted() -> Calibration:
    """Return the constants fitted on all published runs, and on those of other sources."""
    return calibrate(counted(RUNS, GRADES), (), GRADES)


def trust_table(heading: Sequence[str], names: Sequence[str]) -> str:
    """Return the errors in short: step times, those with constants of other sources, those never fitted, memory."""
    unseen = Accuracy(compare_runs(measured_runs([Source(UNSEEN)], CATALOG, Diagnostics()), GRADES), (), (), GRADES)
    groups = (
        compared().overall(),
        fitted().errors(fitted().ratio_without),
        unseen.overall(),
        compared().memory(),
    )
    cells = [
        (name, f"{group.count:,}", quantity(group.median, "%"), quantity(group.p90, "%"))
        for name, group in zip(names, groups, strict=True)
        if group is not None
    ]
    return table(heading, cells)


def published_blocks() -> dict[str, str]:
    """Return what `aiplan accuracy` says of all published runs and trainings, as Markdown, in parts."""
    said = render_accuracy(Answer(compared(), WORST), "markdown", Look())
    title = re.compile(rf"^\*\*({'|'.join(BLOCKS)})\*\*$", re.MULTILINE)
    main, *parts = title.split(said)
    parts[-1], mark, rest = parts[-1].partition(AFTER_BLOCKS)
    blocks = {BLOCKS[name]: text.strip() for name, text in zip(parts[::2], parts[1::2], strict=True)}
    return {"published": f"{main}{mark}{rest}".strip(), **blocks}


def calibration() -> str:
    """Return what `aiplan calibrate runs` says, the long tables folded."""
    said = render_calibration(fitted(), "markdown", Look())
    head, errors, constants, sources = said.strip().split("\n\n")
    folded = (("Constants", constants), ("Median error by source", sources))
    parts = (f"<details><summary>{title}</summary>\n\n{body}\n\n</details>" for title, body in folded)
    return "\n\n".join([head, errors, *parts])


def starter_table() -> str:
    """Return predicted and published step times of the scenarios that come with a measured block."""
    heading = ("scenario", "accelerators", "runs fitted", "published [s]", "predicted [s]", "error", "source")
    cells = []
    for name in library_ids(""):
        answer = estimated(name)
        measured = answer.scenario.file.measured
        if measured is not None and measured.step_time is not None:
            cells.append(
                (
                    f"`{name}`",
                    f"{answer.scenario.accelerators:,}",
                    answer.scenario.accelerator.fitted.fitted_on if answer.scenario.accelerator.fitted else "none",
                    f"{measured.step_time:.4g}",
                    f"{answer['step']:.4g}",
                    f"{answer['step'] / measured.step_time - 1.0:+.1%}",
                    measured.source,
                )
            )
    return table(heading, cells)


def method_table() -> str:
    """Return every method of gradient compression."""
    heading = ("`communication.compression`", "what is sent", "collective", "bytes a value", "passes", "kept", "holds")
    cells = (
        (
            f"`{method.form}`",
            f"[{method.label}]({method.source})",
            method.collective,
            "as the gradient" if method.value_bytes is None else f"{method.value_bytes:.4g}",
            f"{method.passes:g}",
            "error feedback" if method.feedback else "-",
            method.validity,
        )
        for method in METHODS.values()
    )
    return table(heading, cells)


def variable_table() -> str:
    """Return every environment variable that is known."""
    heading = ("variable", "does", "if not set", "since", "needs")
    cells = (
        (
            f"`{name}`",
            f"{known.what}; no longer read, use `{known.replaced_by}`" if known.replaced_by else known.what,
            known.default or "-",
            f"{known.since or '-'}{', unverified' if known.since_unverified else ''}",
            known.needs or "-",
        )
        for name, known in nccl.variables().items()
    )
    return table(heading, cells)


PAGES = {
    "communication.md": {"methods": method_table(), "variables": variable_table()},
    "scenario.md": {
        "top": field_table(""),
        **{
            f"fields {key}": field_table(key)
            for key in (
                "workload",
                "cluster",
                "plan",
                "communication",
                "storage",
                "checkpoint",
                "reliability",
                "measured",
                "model",
            )
        },
        "units": unit_table(),
        "vary": variation_table(),
        "faulty file": f"```yaml\n{BROKEN}```",
        "faulty file answer": error_example(BROKEN),
        "illegal plan": f"```yaml\n{ILLEGAL}```",
        "illegal plan answer": error_example(ILLEGAL),
    },
    "accuracy.md": {
        "calibration": calibration(),
        "a100": a100_table(),
        "defaults": default_table(),
        "starters": starter_table(),
        **published_blocks(),
    },
    "../README.md": {
        "trust": trust_table(
            ("predicted against published", "runs", "median error", "nine in ten within"),
            (
                "step time",
                "step time, constants fitted without the source of each run",
                f"step time of [software and machines nobody had looked at]({NOBODY})",
                "memory per accelerator",
            ),
        )
    },
    "../README.zh-CN.md": {
        "trust": trust_table(
            ("预测与公开数据的对比", "运行数", "误差中位数", "九成以内"),
            (
                "单步时间",
                "单步时间 (拟合常数时不用该运行所属来源的数据)",
                f"单步时间 ([从未参与拟合的软件和机器]({NOBODY}))",
                "每张加速器的显存",
            ),
        )
    },
}

if __name__ == "__main__":
    pages = {DOCS / name: with_blocks(DOCS / name, blocks) for name, blocks in PAGES.items()}
    sys.exit(run(__doc__ or "", pages))
