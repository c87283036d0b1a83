"""Random tables, printed in random dialects, are read back to the last digit; and no text makes the reader fail."""

import hypothesis.strategies as st
from hypothesis import given, settings

from aiplan.adapters.nccl_log import read_log
from aiplan.declare import Diagnostics

OPERATIONS = {
    "all_reduce": ("sum", -1, 2.0, False),
    "all_gather": ("none", -1, 1.0, True),
    "reduce_scatter": ("sum", -1, 1.0, True),
    "alltoall": ("none", -1, 1.0, True),
    "broadcast": ("none", 0, None, False),
    "reduce": ("sum", 0, None, False),
    "sendrecv": ("sum", -1, None, False),
}
"""Name of the program: reduction, root, times the data goes round, whether the size is that of all ranks."""
NAMES = {"alltoall": "all_to_all", "sendrecv": "send_recv"}
WIDTH = {"float": 4, "half": 2, "double": 8, "uint8": 1, "bfloat16": 2}
LABELS = ("", "[1,0]<stdout>:", "[1,0]<stdout>: ", " 0: ", "[0] ", "host-7: ", "[pod/bench-0/main] ")
NOISE = (
    "host-1:10:22 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/direct pointer",
    "host-2:10:22 [1] NCCL WARN Call to connect returned Connection refused, retrying",
    "[host-1:00077] PMIX ERROR: ERROR in file gds_ds12_lock_pthread.c at line 168",
    "Warning: Permanently added 'host-2,10.0.0.2' (ECDSA) to the list of known hosts.",
    "...",
    "```",
    "#",
    "",
)
HEADINGS = {
    "new": "#       size         count      type   redop    root     time   algbw   busbw {0}     time   algbw   busbw {0}",
    "old": "#       size         count    type   redop     time   algbw   busbw {0}     time   algbw   busbw {0}",
}
UNITS = "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)"


def printed(microseconds):
    """A time as the program prints it."""
    digits = 2 if microseconds < 100 else 1 if microseconds < 10000 else 0
    return f"{microseconds:.{digits}f}"


@st.composite
def tables(draw):
    """A table: what it is of, and its rows of size, count and figures as printed."""
    program = draw(st.sampled_from(sorted(OPERATIONS)))
    reduction, root, passes, shared = OPERATIONS[program]
    ranks = draw(st.integers(2, 300))
    dtype = draw(st.sampled_from(sorted(WIDTH)))
    counts = draw(st.lists(st.integers(1, 2**24), min_size=1, max_size=12, unique=True).map(sorted))
    rows = []
    for count in counts:
        size = count * WIDTH[dtype] * (ranks if shared else 1)
        halves = []
        for _ in range(2):
            # Never more than the fastest link, so that the figures stay in their columns.
            time = printed(draw(st.floats(5.0, 1e7)) + size / 400e3)
            algbw = size / float(time) / 1e3
            halves.append(
                (time, f"{algbw:.2f}", f"{algbw * (1.0 if passes is None else passes * (ranks - 1) / ranks):.2f}")
            )
        rows.append((size, count, halves))
    return {"program": program, "ranks": ranks, "dtype": dtype, "reduction": reduction, "root": root, "rows": rows}


@st.composite
def dialects(draw):
    """How a table is printed."""
    return {
        "label": draw(st.sampled_from(LABELS)),
        "style": draw(st.sampled_from(sorted(HEADINGS))),
        "heading": draw(st.booleans()),
        "hash": draw(st.booleans()),
        "wrong": draw(st.sampled_from(("0", "N/A", "0e+00", "1e-07"))),
        "noise": draw(st.lists(st.sampled_from(NOISE), max_size=3)),
        "device_list": draw(st.booleans()),
        "middle_tag": draw(st.booleans()),
    }


def log_of(table, dialect):
    """The log of a table in a dialect."""
    lines = [f"# Collective test starting: {table['program']}_perf", *dialect["noise"]]
    if dialect["device_list"]:
        lines += [
            f"#  Rank {rank:2d} Group  0 Pid {rank + 100} on host-{rank // 8} device {rank % 8} [0000:07:00] Any"
            for rank in range(table["ranks"])
        ]
    if dialect["heading"]:
        heading = HEADINGS[dialect["style"]].format("#wrong" if dialect["style"] == "new" else " error")
        lines += [text if dialect["hash"] else text[1:] for text in (heading, UNITS)]
    for index, (size, count, halves) in enumerate(table["rows"]):
        cells = [f"{size:12d} {count:13d} {table['dtype']:>9} {table['reduction']:>7}"]
        if dialect["style"] == "new" or table["root"] >= 0:
            cells.append(f"{table['root']:>7}" + ("[0]" if dialect["middle_tag"] else ""))
        cells += [f"{time:>8} {algbw:>7} {busbw:>7} {dialect['wrong']:>6}" for time, algbw, busbw in halves]
        lines.append(" ".join(cells))
        lines += dialect["noise"][index : index + 1]
    lines += ["# Out of bounds values : 0 OK", "# Avg bus bandwidth    : 17.3"]
    return "".join(f"{dialect['label']}{line}\n" for line in lines)


@settings(max_examples=150, deadline=None)
@given(tables(), dialects())
def test_comes_back_as_it_was(table, dialect):
    diagnostics = Diagnostics()
    (found,) = read_log(log_of(table, dialect), "log.txt", diagnostics)
    assert not diagnostics.items
    assert found.operation == NAMES.get(table["program"], table["program"])
    assert (found.dtype, found.reduction) == (table["dtype"], table["reduction"])
    for row, (size, count, halves) in zip(found.rows, table["rows"], strict=True):
        assert (row.size, row.elements) == (size, count)
        for half, texts in zip(row.halves, halves, strict=True):
            time, algbw, busbw = map(float, texts)
            assert half[:3] == (time / 1e6, algbw * 1e9, busbw * 1e9)


@settings(max_examples=100, deadline=None)
@given(tables(), dialects())
def test_ranks_are_right_or_said_to_be_unsure(table, dialect):
    (found,) = read_log(log_of(table, dialect), "log.txt", Diagnostics())
    if dialect["device_list"] or OPERATIONS[table["program"]][3]:
        assert found.ranks == table["ranks"]
    elif found.ranks not in (None, table["ranks"]):
        assert any("taken for" in text for text in found.remarks)


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.sampled_from("0123456789.-#[]<>:|/ \n\tNAeE+floatsumsizetimealgbwbusbw(us)"), max_size=400))
def test_no_text_is_too_odd(text):
    diagnostics = Diagnostics()
    tables = read_log(text, "log.txt", diagnostics)
    assert bool(tables) != diagnostics.has_errors


@settings(max_examples=100, deadline=None)
@given(tables(), dialects(), st.integers(0, 10_000))
def test_a_log_cut_anywhere_loses_nothing_before(table, dialect, length):
    text = log_of(table, dialect)
    whole = read_log(text, "log.txt", Diagnostics())[0].rows
    cut = text[: length % len(text)].rpartition("\n")[0]
    part = [row for found in read_log(cut, "log.txt", Diagnostics()) for row in found.rows]
    assert part == list(whole[: len(part)])
    assert len(part) >= sum(row.line <= cut.count("\n") + 1 for row in whole) if cut else not part
