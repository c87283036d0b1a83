"""The codes of every diagnostic, one row each: they are an interface and are never reused.

AIP1xx is about the file and its values, AIP2xx about the catalog, AIP3xx about plan and workload, AIP4xx about what
`aiplan check` holds an estimate to.
"""

from __future__ import annotations

from typing import NamedTuple


class Code(NamedTuple):
    """One kind of bad input: its code, the short name of the bad thing, and one sentence on why it is bad."""

    code: str
    name: str
    explanation: str


_ROWS = (
    # The file and its values
    Code(
        "AIP101",
        "yaml-syntax",
        "The text is not valid YAML from the marked place on, so nothing can be read.",
    ),
    Code("AIP102", "wrong-unit", "The value has no unit, an unknown unit, or a unit of another dimension."),
    Code(
        "AIP103",
        "wrong-type",
        "The value has another form than the field takes, for example text for a number.",
    ),
    Code("AIP104", "unknown-key", "The key is not known here, and a key that is ignored would mislead."),
    Code("AIP105", "duplicate-key", "The same key is given twice, so one of the two values would be lost."),
    Code("AIP106", "missing-key", "A key without a default is not given."),
    Code("AIP107", "out-of-bounds", "The value lies outside the range in which the field has a meaning."),
    Code("AIP108", "unknown-choice", "The value is not one of the names the field takes."),
    Code(
        "AIP109",
        "ambiguous-value",
        "Some YAML readers take this text for a truth value or a number, others do not.",
    ),
    Code("AIP110", "merge-conflict", "The file holds the markers of an unfinished merge."),
    Code("AIP111", "tab-indentation", "The line is indented with a tab, which YAML does not allow."),
    Code(
        "AIP112",
        "yaml-indirection",
        "Anchors, aliases, merge keys, tags and several documents are not accepted.",
    ),
    Code("AIP113", "unreadable-file", "The file cannot be opened, or it is not UTF-8 text."),
    Code("AIP114", "empty-file", "The file holds no values."),
    Code(
        "AIP115",
        "bad-option-path",
        "The path or the values of --set or --vary cannot be applied to the file.",
    ),
    Code(
        "AIP116",
        "schema-version",
        "The file is written for a version of the format that this program does not read.",
    ),
    # AIP117 was a key without a model; every key has one now.
    Code("AIP118", "no-measurements", "The log holds no table of measurements, so there is nothing to fit."),
    Code("AIP119", "nothing-checked", "A path that was given to a check holds nothing that can be checked."),
    # The catalog
    Code("AIP201", "unknown-catalog-id", "No catalog entry has this name."),
    Code("AIP202", "inconsistent-entry", "The values of a catalog entry contradict each other."),
    Code(
        "AIP203",
        "unsupported-by-device",
        "The device has no figure for what is asked, for example no peak for a dtype.",
    ),
    Code("AIP204", "implausible-peak", "A dense peak looks like a sparse one, or like that of another data type."),
    Code("AIP205", "dangling-reference", "The entry names another entry that the catalog does not have."),
    Code(
        "AIP206",
        "missing-source",
        "The entry has no source, a source without address, or is called verified on the word of a home page.",
    ),
    Code(
        "AIP207",
        "implausible-bandwidth",
        "A bandwidth or a count of links is out of line with lanes, links or ports: often both directions added up.",
    ),
    Code(
        "AIP208",
        "unmarked-doubt",
        "A field is called unverified that is not there, or a price nobody read or dated is not called unverified.",
    ),
    Code("AIP209", "label-mismatch", "The number on the label and the one to compute with are too far apart."),
    Code("AIP210", "bad-condition", "A condition names no field or result, or asks what that cannot answer."),
    Code("AIP211", "stray-file", "The file lies where the catalog does not look, so it would be ignored."),
    # The plan and the workload
    Code("AIP301", "world-size", "The product of the parallel sizes is not the number of accelerators."),
    Code("AIP302", "attention-heads", "The attention heads do not divide evenly."),
    Code("AIP303", "key-value-heads", "The key-value heads do not divide evenly."),
    Code("AIP304", "feed-forward-width", "The feed-forward width does not divide evenly."),
    Code("AIP305", "pipeline-stages", "The layers do not divide evenly over the pipeline stages."),
    Code("AIP306", "batch-size", "The global batch is not a whole number of micro-batches per replica."),
    Code("AIP307", "interleave", "The interleaved schedule does not fit the layers, stages or micro-batches."),
    Code(
        "AIP308",
        "expert-count",
        "The experts do not divide evenly, or expert parallelism is set without experts.",
    ),
    Code("AIP309", "sequence-split", "The sequence does not divide evenly over the accelerators that share it."),
    Code("AIP310", "model-shape", "The shape of the model contradicts itself."),
    Code("AIP311", "no-plan-fits", "No legal plan of the model fits into the memory, or meets the conditions."),
    Code("AIP312", "no-size-possible", "None of the numbers of accelerators asked for is possible."),
    Code("AIP313", "shard-group", "The ranks that share a copy of the states do not divide evenly, or share nothing."),
    Code("AIP314", "offload", "What the plan puts on the host is not sharded, so every rank would keep all of it."),
    Code("AIP315", "less-than-a-step", "The tokens are fewer than one step takes: a unit may be missing."),
    # Communication
    Code("AIP320", "sharded-gradients", "The communication needs whole gradients, and the plan shards them."),
    Code("AIP321", "accuracy-not-modelled", "The choice changes how the model learns, and only its time is modelled."),
    Code("AIP322", "no-effect", "The field has no effect on this plan."),
    Code("AIP323", "no-such-overlap", "The plan leaves nothing that communication in these pieces could run beside."),
    # The environment of the job
    Code("AIP330", "unknown-variable", "No environment variable has this name, or it is no longer read."),
    Code("AIP331", "bad-variable-value", "The environment variable does not take this value, so it would be ignored."),
    Code("AIP332", "variable-against-hardware", "The environment variable contradicts the hardware or another one."),
    Code("AIP333", "forbidden-algorithm", "The environment forbids the algorithm that the estimate assumes."),
    # Files of other programs
    Code("AIP340", "no-such-model", "The file describes a network or a machine that aiplan has no model of."),
    Code("AIP341", "unknown-kind", "The file is of no kind that aiplan imports."),
    Code("AIP342", "files-disagree", "Two files, or two keys of one, contradict each other."),
    Code("AIP343", "not-used", "The file says something that aiplan does not use, and --strict was asked for."),
    Code("AIP344", "read-with-care", "What was read from the file needs a second look."),
    Code("AIP345", "left-open", "The file leaves open what an estimate needs."),
    Code("AIP346", "cannot-be-said", "The other program has no word for a part of the scenario."),
    # Pools, queues, jobs and manifests
    Code(
        "AIP360", "unknown-reference", "The job names a queue, a priority class or a pool that the file does not have."
    ),
    Code("AIP361", "quota", "The quota contradicts itself, or the key belongs to another kind of queue."),
    Code("AIP362", "job-shape", "Pods, sizes, names or times of jobs contradict each other."),
    Code("AIP363", "unschedulable", "No node could ever take the pod, however empty the cluster is."),
    Code("AIP364", "trace-row", "The table of a trace lacks a column, or a value in it cannot be read."),
    Code(
        "AIP365", "manifest-field", "The manifest has a field that its kind does not have, or lacks one that it needs."
    ),
    Code("AIP366", "manifest-rule", "The manifest has the right fields, and Kubernetes would refuse or misread it."),
    Code("AIP367", "manifest-not-looked-at", "The manifest is of a kind whose fields are not known here."),
    # The run as a whole
    Code("AIP380", "dense-update", "Every byte of the state changes, so saving only what changed saves nothing."),
    Code("AIP381", "beyond-published", "The size lies beyond what was published, where rates grow in another way."),
    Code("AIP382", "impossible-interval", "Checkpoints this far apart, or this close, cannot be made in this run."),
    # What a check holds an estimate to
    Code("AIP401", "broken-rule", "The estimate does not meet a condition of the scenario or of the policy."),
    Code("AIP402", "unknown-result", "A rule asks for a result that is unknown for lack of an input."),
    Code("AIP403", "unknown-rule", "The policy names a rule that it does not have, or two rules by one name."),
    Code("AIP404", "does-not-fit", "The plan needs more memory than an accelerator has."),
    Code("AIP410", "tensor-across-nodes", "Tensor parallel ranks lie in several scale-up networks."),
    Code("AIP411", "few-micro-batches", "There are fewer micro-batches than pipeline stages."),
    Code("AIP412", "large-bubble", "The pipeline bubble takes a large share of the step."),
    Code("AIP413", "oversubscribed-ring", "A ring that the step waits for crosses a narrow tier of the fabric."),
    Code("AIP414", "unverified-entry", "The estimate rests on a catalog entry whose numbers nobody read in a source."),
    Code("AIP416", "assumed-efficiency", "A large share of the step rests on efficiencies that nobody gave."),
    Code("AIP417", "memory-near-limit", "The plan fits by less than predictions of memory are off by."),
    Code("AIP418", "behind-the-best", "Another plan is faster by more than the order of two predictions is off by."),
    Code("AIP419", "costly-interval", "Checkpoints so far from the best interval apart make the run longer."),
)

CODES: dict[str, Code] = {row.code: row for row in _ROWS}
