"""A file as an importer gets it: its text, what it is written in, and the tree of values if it has one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from aiplan.adapters.imports.json_tree import NotJsonError, read_json
from aiplan.adapters.imports.toml_tree import read_toml
from aiplan.adapters.imports.xml_tree import read_xml
from aiplan.declare import Mapping, Mark, Scalar
from aiplan.declare.anchors import read_anchored
from aiplan.declare.lines import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from aiplan.adapters.imports.xml_tree import Element
    from aiplan.declare import Diagnostics, Node

MOST_BYTES = 2 * 1024 * 1024
SHELL, TEXT, XML, JSON, YAML, TOML = "shell", "text", "xml", "json", "yaml", "toml"
_MATRIX = re.compile(
    r"^[^\w\n]{0,80}(?:\x1b\[[0-9;]*m)?[ \t]{0,80}GPU0\s{1,80}(?:GPU1|NIC0|CPU Affinity)", re.MULTILINE
)
_FLAG = re.compile(r"(?:^|[\s\"'(])--[a-z][a-z0-9-]+")
_TOML_TABLE = re.compile(r"^[ \t]*\[{1,2}[A-Za-z0-9_.\"-]+\]{1,2}\s*(?:#.*)?$", re.MULTILINE)
_YAML_KEY = re.compile(r"^[- \t]{0,200}[\"']?[A-Za-z_-][\w.\"'-]*:(?:\s|$)", re.MULTILINE)
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class Document(NamedTuple):
    """A file, read: `root` for JSON, YAML and TOML, `element` for XML; lines for all."""

    name: str
    form: str
    text: str
    root: Node | None = None
    element: Element | None = None

    @property
    def start(self) -> Mark:
        """The place of the file as a whole."""
        return Mark(self.name, 1, 1, 2)

    @property
    def lines(self) -> list[str]:
        """The lines of the text."""
        return split_lines(self.text)

    @property
    def names(self) -> set[str]:
        """The keys of the outermost mapping."""
        return {key.text for key, _ in self.root.items} if isinstance(self.root, Mapping) else set()

    def at(self, path: str) -> Node | None:
        """Return the node at a dotted path; None if there is none."""
        return at(self.root, path)

    def text_at(self, path: str) -> str:
        """Return the text of the value at a dotted path; empty if there is none."""
        node = self.at(path)
        return node.text if isinstance(node, Scalar) else ""


def at(node: Node | None, path: str) -> Node | None:
    """Return the node at a dotted path below another."""
    for name in path.split("."):
        if not isinstance(node, Mapping):
            return None
        node = next((child for key, child in node.items if key.text == name), None)
    return node


def scalars(node: Node, path: str = "") -> Iterator[tuple[str, Node, Mark]]:
    """Yield the path, the node and the place of the key of every value that is no mapping."""
    if not isinstance(node, Mapping):
        return
    for key, child in node.items:
        below = f"{path}.{key.text}" if path else key.text
        if isinstance(child, Mapping) and child.items:
            yield from scalars(child, below)
        else:
            yield below, child, key.mark


def read_bytes(path: Path, name: str, diagnostics: Diagnostics) -> bytes:
    """Read a file of limited size."""
    try:
        if path.is_dir():
            path = path / "config.json"
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        diagnostics.error("AIP113", f"cannot read '{name}': {reason.lower()}", hint="give the path of a file")
        raise diagnostics.failure() from None


def read_document(text: str, name: str, diagnostics: Diagnostics) -> Document:
    """Read a text in whatever it is written in: JSON, YAML, TOML, XML, lines of a shell, or the text of a matrix."""
    form = _form(text, name)
    if form == XML:
        return Document(name, form, text, element=read_xml(text, name, diagnostics))
    if form == TOML:
        return Document(name, form, text, read_toml(text, name, diagnostics))
    if form == JSON:
        try:
            return Document(name, form, text, read_json(text, name, diagnostics))
        except NotJsonError as problem:
            if name.endswith(".json"):
                diagnostics.error("AIP101", f"not valid JSON: {problem.problem}", problem.mark)
                raise diagnostics.failure() from None
            form = YAML
    if form == YAML:
        return Document(name, form, text, read_anchored(text, name, diagnostics))
    return Document(name, form, text)


def decoded(data: bytes, name: str, diagnostics: Diagnostics) -> str:
    """Return the text of a file of limited size, without escapes of a terminal."""
    if len(data) > MOST_BYTES:
        diagnostics.error(
            "AIP113", f"'{name}' is larger than {MOST_BYTES // 2**20} MiB", hint="a file of settings is far smaller"
        )
        raise diagnostics.failure()
    try:
        text = data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as problem:
        diagnostics.error("AIP113", f"'{name}' is not UTF-8 text (byte {problem.start + 1})")
        raise diagnostics.failure() from None
    if not text.strip():
        diagnostics.error("AIP114", f"'{name}' holds no values")
        raise diagnostics.failure()
    if "\x00" in text:
        diagnostics.error("AIP113", f"'{name}' is not text")
        raise diagnostics.failure()
    text = _ESCAPES.sub("", text)
    diagnostics.sources[name] = text
    return text


def _form(text: str, name: str) -> str:
    """Return what a text is written in, by what stands in it."""
    head = text.lstrip()
    if _MATRIX.search(text):
        return TEXT
    if head.startswith("<"):
        return XML
    if head.startswith("{") or name.endswith(".json"):
        return JSON
    flags, keys = len(_FLAG.findall(text)), len(_YAML_KEY.findall(text))
    if head.startswith("#!") or name.endswith((".sh", ".args", ".sbatch", ".slurm")) or flags > keys:
        return SHELL
    if name.endswith(".toml") or (_TOML_TABLE.search(text) and not keys):
        return TOML
    return YAML
