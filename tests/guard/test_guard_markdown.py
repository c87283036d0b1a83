"""Comments for pull requests, read as GitHub reads Markdown: whole tables, nothing shown that was written otherwise."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from aiplan.planning.changes import Change, Changes
from aiplan.planning.diff import Difference, Input, Number
from aiplan.report.changes import markdown as of_many
from aiplan.report.check import markdown as of_check
from aiplan.report.diff import markdown as of_one
from tests.guard.test_guard_changes import SINCE, repository
from tests.guard.test_guard_formats import ALL, answered, verdict

__all__ = ["repository"]
READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
OURS = re.compile(r"<!-- aiplan:[^<>]* -->|</?details>|<summary>(?P<title>[^<>]*)</summary>|<br>")


def paragraphs(page):
    """Return the texts outside of tables as they are shown."""
    tokens = READER.parse(page)
    return [_shown(tokens[at + 1]) for at, token in enumerate(tokens) if token.type == "paragraph_open"]


def read(page):
    """Return the cells of all tables as they are shown; fail on a table cut short and on HTML that is not ours."""
    tokens = READER.parse(page)
    tables, open_details = [], 0
    for at, token in enumerate(tokens):
        if token.type == "html_block":
            left = OURS.sub("", token.content).strip()
            assert left == ""
            open_details += token.content.count("<details>") - token.content.count("</details>")
            assert open_details >= 0
        elif token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            tables[-1].append([])
        elif token.type in {"th_open", "td_open"}:
            tables[-1][-1].append(_shown(tokens[at + 1]))
        elif token.type == "inline":
            _shown(token)
            assert token.level > 1 or not token.content.startswith("|"), token.content  # a row that is no row
    assert open_details == 0
    for table in tables:
        assert len(table) > 1
        assert len({len(row) for row in table}) == 1
    return tables


def _shown(token):
    parts = []
    for child in token.children:
        if child.type == "html_inline":
            assert OURS.fullmatch(child.content), child.content
            parts.append("\n")
        else:
            assert child.type in {"text", "code_inline", "softbreak", "strong_open", "strong_close"}, child.type
            parts.append(child.content)
    return "".join(parts)


@pytest.mark.parametrize(
    "command",
    [
        (*ALL, "--format", "markdown"),
        ("diff", "clusters/good.yaml", "grown.yaml", "--format", "markdown"),
        ("diff", "clusters/good.yaml", "clusters/late.yaml", "--format", "markdown"),
        ("check", "nowhere", "clusters", "--format", "markdown"),
    ],
)
def test_comments_are_whole(command, run):
    assert read(run(*command).out)


def test_a_comment_on_many_is_whole(repository, run):
    rows = read(run(*SINCE, "--format", "markdown").out)[0]
    signs = {row[1]: row[0] for row in rows[1:]}
    assert signs["clusters/good.yaml"] == "~"
    assert signs["clusters/research/odd.yaml"] == "-"
    assert next(row[3] for row in rows if row[1] == "clusters/good.yaml").count("\n") == 1


texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12) | st.sampled_from(
    [
        "a_b_c",
        "*a*",
        "`x`",
        "a|b",
        "<b>x</b>",
        "[a](b)",
        "<!-- x -->",
        "~~a~~",
        "&amp;",
        "\\|",
        "# a",
        "https://x.org/a_b",
    ]
)


@given(texts, texts)
def test_every_text_is_shown_as_it_is(name, text):
    plain = name.isprintable() and text.isprintable() and name.strip() == name and text.strip() == text
    field = Input("plan.tensor", text, text + "x", name, name)
    number = Number("step_time_s", 1.0, 2.0, 1.0)
    found = Difference((text, text), (name, name), (field,), (), (number,), (), 0, 0.0)
    one = read(of_one.page(found))
    many = read(of_many.page(Changes((Change(name, "changed", (number,), found),), (name,), "HEAD", 0.0)))
    check = read(of_check.page(answered(verdict(text=text, place=None), path=name)))
    assert len(one) == 2
    assert len(many) == 3
    if plain:
        assert one[0][1][2] == text
        assert paragraphs(of_one.page(found))[1] == f"{text} ({name}) -> {text} ({name})"
        assert paragraphs(of_many.page(Changes((), (name, text), "HEAD", 0.0)))[1] == f"{name}, {text} since HEAD"
        assert many[0][1][1] == name
        assert check[0][1][2:4] == [text, name]


@given(texts)
def test_the_title_of_what_is_folded_is_shown_as_it_is(name):
    found = Difference((name, name), (name, name), (), (), (Number("mfu", 0.4, 0.5, 0.25),), (), 0, 0.0)
    page = of_many.page(Changes((Change(name, "changed", (), found),), (name,), "HEAD", 0.0))
    [title] = OURS.search(page[page.index("<summary>") :])["title"].splitlines()
    if name.isprintable():
        assert title.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").startswith(f"{name}: ")
