"""The matrix that `nvidia-smi topo -m` prints: links and distances between accelerators and ports of a node."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from aiplan.adapters.imports import machine
from aiplan.adapters.imports.document import TEXT
from aiplan.adapters.imports.kind import Kind
from aiplan.declare import Mark

if TYPE_CHECKING:
    from aiplan.adapters.imports.document import Document
    from aiplan.adapters.imports.ledger import Ledger

MOST_DEVICES = 128
_NAME = re.compile(r"(?:GPU|NIC|mlx)\w*")
_PATH = re.compile(r"X|NV\d{1,3}|PIX|PXB|PHB|NODE|SYS|PSB")
_PEER = re.compile(r"GNS|CNS|TNS|NS|OK|DR|U")
_LEGEND = re.compile(r"\s*(NIC\d+):\s*(\S+)")


class Matrix(NamedTuple):
    """Names of the devices, the path between each two, and what stands behind them in each row."""

    names: list[str]
    rows: dict[str, list[str]]
    behind: dict[str, list[str]]
    mark: Mark


def detect(document: Document) -> bool:
    """Whether a document is such a matrix."""
    return document.form == TEXT and "GPU0" in document.text


def read(ledger: Ledger) -> None:
    """Take accelerators, links and ports."""
    matrix = _matrix(ledger)
    if matrix is None:
        return
    gpus = [name for name in matrix.names if name.startswith("GPU")]
    ports = [name for name in matrix.names if name not in gpus]
    column = {name: index for index, name in enumerate(matrix.names)}
    pairs, linked, links = dict.fromkeys(machine.DISTANCES, 0), [], []
    for first, gpu in enumerate(gpus):
        for second in range(first + 1, len(gpus)):
            path = matrix.rows[gpu][column[gpus[second]]]
            kind = "NV" if path.startswith("NV") else "PXB" if path == "PSB" else path
            pairs[kind] += 1
            if kind == "NV":
                linked.append((first, second))
                links.append(int(path[2:]))
    sizes = {len(group) for group in machine.groups(len(gpus), linked)}
    names = dict(_LEGEND.findall(ledger.document.text))
    found = [_port(matrix, names.get(name, name), name, gpus, column) for name in ports]
    beside = [
        (first, second)
        for first, name in enumerate(ports)
        for second in range(first + 1, len(ports))
        if name in matrix.rows and matrix.rows[name][column[ports[second]]] == "PIX"
    ]
    numa = tuple(_numa(matrix, gpu) for gpu in gpus)
    whole = machine.Machine(
        accelerators=len(gpus),
        links=(min(links, default=0), max(links, default=0)),
        domain=max(sizes, default=1),
        domain_known=True,
        pairs={kind: count for kind, count in pairs.items() if count},
        ports=machine.fabric_ports(found, beside),
        numa=numa,
    )
    machine.put(ledger, whole, matrix.mark)


def _matrix(ledger: Ledger) -> Matrix | None:
    """Read the header and the rows below it."""
    document = ledger.document
    for number, line in enumerate(document.lines, 1):
        names = [cell for cell in line.split() if re.fullmatch(_NAME, cell)]
        if "GPU0" not in names or line.split()[:1] != names[:1] or len(names) > MOST_DEVICES:
            continue
        if len(line.split()) > 1 and line.split()[1] in {"X", "0"}:
            continue
        names = [name for name in names if name.startswith(("GPU", "NIC", "mlx"))]
        names = names[: next((i for i, name in enumerate(names) if name == "GPU" and i), len(names))]
        mark = Mark(document.name, number, 1, len(line) + 1)
        return _rows(ledger, names, number, mark)
    ledger.refuse("no header such as 'GPU0 GPU1 ...' was found: this is no matrix of 'nvidia-smi topo -m'")
    return None


def _rows(ledger: Ledger, names: list[str], header: int, mark: Mark) -> Matrix | None:
    rows: dict[str, list[str]] = {}
    behind: dict[str, list[str]] = {}
    for number, line in enumerate(ledger.document.lines[header:], header + 1):
        cells = line.split()
        if not cells or cells[0] not in names or cells[0] in rows:
            continue
        paths = cells[1 : len(names) + 1]
        place = Mark(ledger.document.name, number, 1, len(line) + 1)
        if any(_PEER.fullmatch(cell) for cell in paths):
            ledger.refuse(
                "this is a matrix of peer access ('nvidia-smi topo -p2p'), which tells nothing about links",
                place,
                "give the output of 'nvidia-smi topo -m'",
            )
            return None
        wrong = next((cell for cell in paths if not _PATH.fullmatch(cell)), None)
        if wrong is not None or len(paths) < len(names):
            what = f"'{wrong[:20]}' is no kind of path" if wrong else f"{len(paths)} of {len(names)} columns"
            ledger.diagnostics.error(
                "AIP103", f"row {cells[0]}: {what}", place, hint="kinds: X, NV#, PIX, PXB, PHB, NODE, SYS"
            )
            return None
        rows[cells[0]], behind[cells[0]] = paths, cells[len(names) + 1 :]
    lacking = [name for name in names if name.startswith("GPU") and name not in rows]
    if lacking:
        ledger.refuse(f"the matrix is not whole: rows of {', '.join(lacking[:4])} are missing", mark, "give all rows")
        return None
    for first, row in rows.items():
        for second, path in zip(names, row, strict=True):
            other = rows[second][names.index(first)] if second in rows else path
            if other != path:
                ledger.diagnostics.error("AIP342", f"{first} to {second} is {path}, and back it is {other}", mark)
                return None
    return Matrix(names, rows, behind, mark)


def _port(matrix: Matrix, shown: str, name: str, gpus: list[str], column: dict[str, int]) -> machine.Port:
    paths = [matrix.rows[gpu][column[name]] for gpu in gpus]
    order = [path if path in machine.DISTANCES else "PXB" for path in paths]
    best = min(order, key=machine.DISTANCES.index)
    nearest = tuple(index for index, path in enumerate(order) if path == best)
    return machine.Port(shown, best, nearest, None, None, for_traffic=True)


def _numa(matrix: Matrix, gpu: str) -> int | None:
    """Return the NUMA node of an accelerator: the number behind its list of cores."""
    numbers = [cell for cell in matrix.behind[gpu][1:2] if cell.isdigit() and len(cell) < 5]
    return int(numbers[0]) if numbers else None


KIND = Kind("nvidia-smi-topo", "matrix of nvidia-smi topo -m", "node", detect, read)
