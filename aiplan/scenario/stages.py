"""Which pipeline stages differ, and what each holds."""

from __future__ import annotations


def stage_table(
    pipeline: int, dense_layers: int, moe_layers: int, split: tuple[int, ...], *, dense_first: bool
) -> dict[str, list[float]]:
    """List the stages of a pipeline that differ, with how many copies of each there are.

    Parameters
    ----------
    pipeline : int
        Stages.
    dense_layers, moe_layers : int
        Layers without and with experts, next-token modules included.
    split : tuple of int
        Layers of each stage, `pipeline` numbers that add up to all layers.
    dense_first : bool
        Whether the layers without experts come first; otherwise they are spread evenly.

    Notes
    -----
    Stages with the same layers between the first and the last are one row: the earliest of them, which holds the
    most micro-batches.
    """
    rows: list[tuple[int, float, float]] = []
    left = float(dense_layers)
    for layers in split:
        share = min(left, float(layers)) if dense_first else layers * dense_layers / (dense_layers + moe_layers)
        left -= share if dense_first else 0.0
        rows.append((layers, share, layers - share))
    table: dict[str, list[float]] = {
        name: [] for name in ("index", "dense_layers", "moe_layers", "has_embedding", "has_head", "copies")
    }
    seen: dict[tuple[int, float, float], int] = {}
    for index, row in enumerate(rows):
        first, last = index == 0, index == pipeline - 1
        if not (first or last) and row in seen:
            table["copies"][seen[row]] += 1.0
            continue
        if not (first or last):
            seen[row] = len(table["index"])
        for name, value in zip(table, (float(index), row[1], row[2], float(first), float(last), 1.0), strict=True):
            table[name].append(value)
    return table
