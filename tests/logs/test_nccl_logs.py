"""Logs with one oddity each are read to the figures they print, or refused."""

import pytest

SIZES = [1024, 65536, 1048576, 67108864, 1073741824]
SAME_AS_PLAIN = ["mpi-tags", "srun-labels", "kubectl-labels", "two-labels", "coloured"]
REFUSED = {"no-table": "More processors requested than permitted", "nothing": "came to its first row"}
OPERATIONS = {
    "all-to-all-blank": ("all_to_all", 8),
    "broadcast": ("broadcast", None),
    "byte-steps": ("all_reduce", 24),
    "called-wrong": ("all_gather", 16),
    "clock-column": ("all_reduce", 8),
    "commented-row": ("all_reduce", 4),
    "crashed": ("all_reduce", 8),
    "cut-row": ("all_reduce", 8),
    "devices-cut": ("all_reduce", 64),
    "figures-disagree": ("all_reduce", 8),
    "gibibytes": ("all_reduce", 8),
    "glued-columns": ("all_reduce", 8),
    "in-place-missing": ("all_reduce", 8),
    "markdown-fence": ("all_reduce", 8),
    "markdown-table": ("all_reduce", 8),
    "milliseconds": ("all_reduce", 8),
    "named-32r": ("all_reduce", 16),
    "log-times": ("all_reduce", 8),
    "no-heading": ("all_reduce", 8),
    "not-checked": ("all_reduce", 8),
    "old-reduce-scatter": ("reduce_scatter", 12),
    "one-half-units-glued": ("all_reduce", 8),
    "one-rank": ("all_to_all", 1),
    "rccl": ("all_reduce", 16),
    "remarks-between": ("all_reduce", 16),
    "send-receive": ("send_recv", None),
    "spread-columns": ("all_reduce", 8),
    "tag-inside-row": ("all_reduce", 16),
    "wrong-results": ("all_reduce", 8),
    "zero-bytes": ("all_reduce", 8),
}
SEVERAL = {
    "all-reductions": [("all_reduce", 8)] * 5,
    "all-types": [("all_reduce", 8)] * 3,
    "first-column": [("all_reduce", 16), ("all_reduce", 32)],
    "first-column-bare": [("all_reduce", ranks) for ranks in (8, 16, 24, 32)],
    "reduce-every-root": [("reduce", None)] * 2,
    "several-programs": [("all_reduce", 8), ("all_gather", 8)],
    "two-sweeps": [("all_reduce", 8)] * 2,
}
REMARKS = {
    "called-wrong": "called all-reduce",
    "cut-row": "line 8 begins like a row",
    "devices-cut": "lists 4 ranks, but busbw over algbw gives 64",
    "figures-disagree": "size over time is 0.68 times algbw",
    "gibibytes": "GiB/s",
    "named-32r": "says 32 ranks, the figures 16",
    "old-reduce-scatter": "(12 - 1) / 12",
    "one-rank": "no operation is named",
    "send-receive": "could be all-reduce",
    "wrong-results": "1 results are marked wrong",
}


def told(tables):
    """Everything that was read, as text."""
    lines = []
    for table in tables:
        what = (table.operation, f"{table.ranks} ranks", f"{table.nodes} nodes", table.dtype, table.reduction)
        lines += [", ".join(map(str, (*what, f"root {table.root}"))), *(f"  {text}" for text in table.remarks)]
        for row in table.rows:
            halves = ["-" if half is None else " ".join(f"{value}" for value in half) for half in row.halves]
            lines.append(f"  {row.line}: {row.size} {row.elements} | {' | '.join(halves)}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", [*SAME_AS_PLAIN, *OPERATIONS, *SEVERAL])
def test_golden(name, read, golden):
    tables, problems = read(name)
    assert problems == []
    assert told(tables) == golden(name=name)


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation_and_ranks(name, read):
    (table,), _ = read(name)
    assert (table.operation, table.ranks) == OPERATIONS[name]


@pytest.mark.parametrize("name", SEVERAL)
def test_several_tables(name, read):
    tables, _ = read(name)
    assert [(table.operation, table.ranks) for table in tables] == SEVERAL[name]


@pytest.mark.parametrize("name", SAME_AS_PLAIN)
def test_labels_of_launchers_change_nothing(name, read):
    plain, labelled = read("plain")[0][0], read(name)[0][0]
    assert labelled._replace(file="") == plain._replace(file="")


@pytest.mark.parametrize("name", [*OPERATIONS, *SAME_AS_PLAIN])
def test_remarks_on_what_is_odd_only(name, read):
    (table,), _ = read(name)
    text = " / ".join(table.remarks)
    assert (REMARKS[name] in text) if name in REMARKS else text == ""


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, read):
    tables, (problem,) = read(name)
    assert tables == []
    assert problem.code == "AIP118"
    assert "algbw" in problem.expected
    assert REFUSED[name] in problem.hint


def test_figures_are_those_printed(read):
    (table,), _ = read("plain")
    assert [row.size for row in table.rows] == SIZES
    assert (table.ranks, table.nodes, table.line) == (8, 1, 16)
    out, into = table.rows[-1].halves
    assert out == (5985.2 / 1e6, 179.40e9, 313.95e9, 0.0)
    assert table.rows[-1].best == into
    assert into.time < out.time


def test_first_version_printed_milliseconds(read):
    (table,), _ = read("milliseconds")
    assert table.rows[-1].halves[0].time == 5.985 / 1e3


def test_empty_messages_are_kept(read):
    (table,), _ = read("zero-bytes")
    assert [row.size for row in table.rows] == [0, 0, *SIZES[:4]]


def test_one_half_alone(read):
    (table,), _ = read("in-place-missing")
    assert [row.halves[1] for row in table.rows] == [None] * 5
    assert [row.best for row in table.rows] == [row.halves[0] for row in table.rows]


def test_other_columns_of_a_half_are_told_apart(read):
    (table,), _ = read("spread-columns")
    assert table.rows[0].halves[0][:3] == (25.83 / 1e6, 40.60e9, 71.04e9)
