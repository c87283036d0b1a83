"""How a page looks: on a telephone and on a desk, on white and on dark, and on paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.picture import DARK, LIGHT, SERIES, SERIES_DARK, colours

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PAGE_LIGHT = LIGHT | {"accent": "#0b5cad", "good": "#0b6b3a", "bad": "#b3261e", "line": "#c9d0d9"}
PAGE_DARK = DARK | {"accent": "#7ab8f5", "good": "#5fd39a", "bad": "#ff8a80", "line": "#434c58"}
"""Colours of a page by what they are for."""
RULES = """
* { box-sizing: border-box }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100% }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 72rem;
 margin: 0 auto; padding: 0 1rem 2rem; overflow-wrap: break-word }
a { color: var(--accent) }
.skip { position: absolute; left: -100vw }
.skip:focus { position: static }
header { padding: 1.5rem 0 0.5rem }
h1, h2, h3, h4 { line-height: 1.25; text-wrap: balance }
h1 { font-size: 1.7rem; margin: 0 }
h2 { font-size: 1.35rem; margin: 2.5rem 0 0.75rem; border-bottom: 1px solid var(--line); padding-bottom: 0.3rem }
h3 { font-size: 1.1rem; margin: 1.75rem 0 0.5rem }
p { margin: 0.5rem 0; max-width: 48rem }
.soft { color: var(--soft) }
.good { color: var(--good) }
.bad { color: var(--bad) }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: 0.25rem 1.1rem; margin: 0.5rem 0 0; padding: 0.6rem 0;
 border-top: 1px solid var(--line); border-bottom: 1px solid var(--line) }
nav li { min-width: 0; overflow-wrap: anywhere }
.beside { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 25rem), 1fr)); gap: 0.5rem 2.5rem;
 align-items: start }
.beside > div { min-width: 0 }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 10rem), 1fr)); gap: 0.75rem;
 margin: 1rem 0 }
.tiles div { background: var(--band); border-radius: 6px; padding: 0.6rem 0.8rem }
.tiles dt { color: var(--soft); font-size: 0.85rem }
.tiles dd { margin: 0 }
.tiles strong { display: block; font-size: 1.25rem; line-height: 1.3 }
.tiles span { display: block; color: var(--soft); font-size: 0.8rem; line-height: 1.35 }
.tiles .good strong, .facts .good { color: var(--good) }
.tiles .bad strong, .facts .bad { color: var(--bad) }
.facts { margin: 0.75rem 0 }
.facts div { display: grid; grid-template-columns: 8.5rem 1fr; gap: 0 0.75rem; padding: 0.2rem 0;
 border-bottom: 1px solid var(--grid) }
.facts dt { color: var(--soft) }
.facts dd { margin: 0; min-width: 0; overflow-wrap: anywhere }
.facts span { color: var(--soft) }
figure { margin: 0.75rem 0; break-inside: avoid }
figcaption, caption { text-align: left; font-weight: 600; padding: 0.25rem 0 }
figure > svg { display: block; width: 100%; height: auto; max-width: 44rem; overflow: visible }
.key { list-style: none; display: flex; flex-wrap: wrap; gap: 0.1rem 1.1rem; margin: 0.4rem 0 0; padding: 0;
 font-size: 0.85rem }
.key svg { width: 26px; height: 12px; margin-right: 0.4rem; vertical-align: -1px }
.wide { overflow-x: auto; margin: 0.75rem 0 }
table { border-collapse: collapse; margin: 0.75rem 0; font-size: 0.9rem; width: 100% }
.wide table { margin: 0 }
caption { font-size: 1rem }
caption span { display: inline-block; max-width: calc(100vw - 2rem) }
th, td { padding: 0.25rem 0.5rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--grid) }
th:first-child, td:first-child { padding-left: 0 }
th:last-child, td:last-child { padding-right: 0 }
thead th, thead td { color: var(--soft); font-weight: 600; vertical-align: bottom; border-color: var(--line) }
tbody th { font-weight: 400 }
td, thead th { text-align: right; font-variant-numeric: tabular-nums }
td { white-space: nowrap }
thead th, td.t { white-space: normal }
table .t { text-align: left }
td.t:last-child { overflow-wrap: anywhere }
.wide td.t:last-child { min-width: 9rem }
tbody .d0 { font-weight: 600 }
tbody .d1 { padding-left: 1rem }
tbody .d2 { padding-left: 2rem }
tbody .d3 { padding-left: 3rem }
.sample { display: inline-block; width: 0.75rem; height: 0.75rem; margin-right: 0.45rem; border: 1px solid;
 background: linear-gradient(currentColor, currentColor); opacity: 0.75; vertical-align: -1px;
 print-color-adjust: exact; -webkit-print-color-adjust: exact }
.forms { columns: 26rem; column-gap: 2.5rem; font-size: 0.9rem }
.forms div { break-inside: avoid; padding: 0.35rem 0; border-bottom: 1px solid var(--grid) }
.forms dt { color: var(--soft); overflow-wrap: anywhere }
.forms dd { margin: 0.2rem 0 0; overflow-wrap: anywhere }
.forms b { font-weight: 600; display: block }
code { font: 0.95em ui-monospace, monospace }
summary { cursor: pointer; color: var(--accent); padding: 0.25rem 0 }
summary:focus-visible, .wide:focus-visible, a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
.named { list-style: none; margin: 0.75rem 0; padding: 0 }
footer { margin-top: 3rem; padding-top: 0.75rem; border-top: 1px solid var(--line); color: var(--soft) }
"""
NARROW = """
 table { font-size: 0.8rem }
 th, td { padding: 0.25rem 0.3rem }
 tbody .d1 { padding-left: 0.5rem }
 tbody .d2 { padding-left: 1rem }
 tbody .d3 { padding-left: 1.5rem }
 .facts div { grid-template-columns: 6.5rem 1fr }
"""
"""On a telephone more columns of a table are seen."""
PAPER = """
 body { font-size: 10.5pt; max-width: none; padding: 0 }
 nav, .skip { display: none }
 .wide { overflow: visible }
 h2, h3, h4, figcaption, caption, thead { break-after: avoid }
 tr, .tiles div, .facts div, .beside table { break-inside: avoid }
 .beside { grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); gap: 0.5rem 1.5rem }
 .facts div { grid-template-columns: 6rem 1fr }
 .forms { columns: 15rem; font-size: 8pt }
 h2 { margin-top: 1.5rem }
 .tiles div { border: 1px solid var(--line) }
 table { font-size: 9pt }
"""


def style() -> str:
    """Return the style sheet."""
    dark = _variables(PAGE_DARK, SERIES_DARK)
    return (
        f"{_variables(PAGE_LIGHT, SERIES)}{RULES.lstrip()}@media (max-width: 30rem) {{{NARROW}}}\n"
        f"@media screen and (prefers-color-scheme: dark) {{\n{dark}}}\n@media print {{{PAPER}}}\n"
    )


def _variables(names: Mapping[str, str], palette: Sequence[str]) -> str:
    pairs = "; ".join(f"--{name}: {colour}" for name, colour in names.items())
    return f":root {{ {pairs} }}\n{colours(palette)}"
