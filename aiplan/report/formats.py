"""The formats of a report: which function writes each, and only what the one asked for needs is loaded."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from aiplan.report.console import Look

Answer = TypeVar("Answer")


class Report(NamedTuple, Generic[Answer]):
    """The writers of a report, by format: each a function of a module in the report's package.

    `table` is text for people: the function takes an answer and how text may look. `markdown` and `json` take an
    answer. `records` is a module whose `rows` takes an answer and yields the cells below its `HEADER`, or what its
    `header` returns; CSV and
    tab-separated lines are made of them. `plain` is for a report whose plain text is another, written like a table.
    """

    package: str
    table: str = "table.table"
    markdown: str = "markdown.page"
    json: str = "document.document"
    records: str = "document"
    plain: str | None = None

    def __call__(self, answer: Answer, form: str, look: Look) -> str:
        """Return an answer in one of the formats `table`, `plain`, `json`, `csv` and `markdown`."""
        if form == "table":
            return self._write(self.table, answer, look)
        if form == "markdown":
            return self._write(self.markdown, answer)
        if form == "json":
            return self._write(self.json, answer)
        if form == "plain" and self.plain is not None:
            return self._write(self.plain, answer, look)
        from aiplan.report.records import comma_separated, tabs

        module = self._module(self.records)
        header = module.header(answer) if hasattr(module, "header") else module.HEADER
        return (tabs if form == "plain" else comma_separated)(header, module.rows(answer))

    def _write(self, writer: str, *inputs: Any) -> str:
        module, _, function = writer.partition(".")
        text: str = getattr(self._module(module), function)(*inputs)
        return text

    def _module(self, name: str) -> Any:
        return import_module(f"{self.package}.{name}")
