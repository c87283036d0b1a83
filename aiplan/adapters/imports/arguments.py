"""Arguments by name, whatever they were written in: flags of a command line, or keys of YAML that mean the same."""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING

from aiplan.adapters.imports.ledger import UNKNOWN, Got, Skipped
from aiplan.declare.source import resolve

if TYPE_CHECKING:
    from aiplan.adapters.imports.kind import Harmless
    from aiplan.adapters.imports.ledger import Ledger
    from aiplan.adapters.imports.shell_words import Word
    from aiplan.declare import Mark

LOST = "the variable is given no value in this file; --set gives one"


class Arguments:
    """Arguments by their plain name (`num-layers`), and which of them were asked for."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.values: dict[str, Got] = {}
        self.used: set[str] = set()

    def add(self, name: str, got: Got) -> None:
        """Add an argument; one that is given again replaces the first."""
        before = self.values.get(name)
        if before is not None and before.text != got.text:
            self.ledger.skip(before.key, before.mark, "given again further down", matters=False)
        self.values[name] = got

    def got(self, *names: str) -> Got | None:
        """Return the first of some arguments that is given."""
        self.used.update(names)
        found = (self.values[name] for name in names if name in self.values)
        return next((got for got in found if got.value is not None), None)

    def on(self, *names: str) -> Got | None:
        """Return the first of some switches that is given and not turned off."""
        self.used.update(names)
        found = (self.values[name] for name in names if name in self.values)
        return next((got for got in found if got.value not in {None, False} and got.text.lower() != "false"), None)

    def count(self, *names: str, minimum: int = 1, path: str = "") -> Got | None:
        """Return the first of some arguments as a whole number."""
        got = self.got(*names)
        if got is not None and "$" in got.text:
            self.ledger.wrong(got, f"'{got.text[:60]}' is not known", LOST)
            return None
        return self.ledger.as_count(got, minimum, path)

    def word(self, *names: str) -> Got | None:
        """Return the first of some arguments as text in lower case."""
        got = self.got(*names)
        return got and got._replace(text=got.text.strip().strip("\"'").lower())

    def put(self, path: str, *names: str, minimum: int = 1) -> int | None:
        """Take a count for a field."""
        got = self.count(*names, minimum=minimum, path=path)
        self.ledger.put(path, got)
        return got.value if got else None

    def need(self, path: str, *names: str) -> int | None:
        """Take a count for a field; that it is missing is an error."""
        given = self.got(*names) is not None
        value = self.put(path, *names)
        if not given:
            self.ledger.diagnostics.error("AIP106", f"missing argument '--{names[0]}'", self.ledger.document.start)
        return value

    def switch(self, path: str, name: str) -> None:
        """Take a switch for a field: off where it is not given."""
        got = self.on(name)
        if not self.ledger.put(path, got, True):
            self.ledger.default(path, False, f"no --{name}")

    def finish(self, harmless: Harmless) -> None:
        """Note every argument that nobody asked for, and those behind a condition."""
        self._doubt(harmless)
        for name, got in self.values.items():
            if name in self.used:
                continue
            why = next((why for pattern, why in harmless if fnmatch.fnmatchcase(name, pattern)), None)
            if why is None and (got.value in {None, False} or got.text == "0"):
                why = "off"
            self.ledger.skipped.append(Skipped(got.key, got.mark, why or UNKNOWN, matters=why is None))

    def _doubt(self, harmless: Harmless) -> None:
        """Warn of arguments behind a condition; of those without effect anyway, say so."""
        skipped, found = self.ledger.skipped, []
        for index, one in enumerate(skipped):
            name = plain(one.key)
            why = next((why for pattern, why in harmless if fnmatch.fnmatchcase(name, pattern)), None)
            if not one.matters or "condition" not in one.why:
                continue
            if why is not None or name in self.values:
                skipped[index] = one._replace(why=why or "given outside of conditions as well", matters=False)
            else:
                found.append(one)
        if found:
            names = ", ".join(dict.fromkeys(one.key for one in found))
            text = f"behind a condition, so not taken: {names}"
            self.ledger.warn(text, found[0].mark, "write them outside, or set what they say")


def from_words(arguments: Arguments, words: list[Word]) -> None:
    """Take the flags of a command line: `--name value`, `--name=value`, `--name`."""
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if not word.text.startswith("--") or len(word.text) < 3:
            continue
        name, equals, value = word.text[2:].partition("=")
        values, mark = ([value] if equals else []), word.mark
        while not equals and index < len(words) and _is_value(words[index].text, first=not values):
            values.append(words[index].text)
            mark = _joined(word.mark, words[index].mark)
            index += 1
        text = " ".join(values)
        typed = resolve(text) if values else True
        if word.conditional:
            why = "stands behind a condition, which is not checked"
            arguments.ledger.skip(f"--{name}", mark, why, matters=plain(name) not in arguments.values)
            continue
        arguments.add(plain(name), Got(typed, f"--{name}", mark, text if values else "true"))


def plain(name: str) -> str:
    """Return the name of an argument without dashes in front, and with dashes inside."""
    return name.lstrip("-").replace("_", "-")


def _is_value(text: str, *, first: bool) -> bool:
    """Whether a word belongs to the argument before it: one word of any kind, then numbers."""
    if text[:1] in {"", "-"}:
        return len(text) > 1 and (text[1].isdigit() or text[1] == ".")
    return first or text.replace("_", "").replace(".", "").isdigit()


def _joined(first: Mark, last: Mark) -> Mark:
    return first._replace(end_column=last.end_column) if first.line == last.line else first
