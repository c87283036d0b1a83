"""Generated references are current, and complete: every command, every closed form, every kind of document."""

import re
from functools import cache
from pathlib import Path

import pytest
import typer

from aiplan.cli.main import COMMANDS, app_of
from tests.core.test_core_docstrings import FUNCTIONS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SPAN = re.compile(r"`(aiplan [^`]*)`")
USUAL = {"calibrate": "log"}
"""The command of a group that is meant where none is named."""
CHOICE = re.compile(r"(?<=\w)\|(?=\w)")
"""Between words of which one is to be taken; no pipe."""


def test_forms_are_current(script):
    for page, text in script("forms").texts().items():
        assert page.read_text(encoding="utf-8") == text, f"{page.name}: run python docs/forms.py"


def test_every_closed_form_stands_on_one_page(script):
    forms = script("forms")
    asked = [name for page in sorted(forms.PAGES.glob("*.md")) for name in forms.asked(page)]
    assert sorted(asked) == sorted(forms.modules())
    shown = {f"{name}.{form.__name__}" for name in asked for form in forms.forms(name)}
    assert set(FUNCTIONS) <= shown


def test_a_concept_has_question_formula_number_bounds_and_limits(script):
    headings = ["Formula", "A worked number", "Bounds", "Limits"]
    for page in script("forms").PAGES.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        own = [title for title in re.findall(r"^## (.*)$", text, re.MULTILINE) if title != "Closed forms"]
        assert own == headings, page.name
        assert re.search(r"^\*[^*]+\?\*$", text, re.MULTILINE), page.name
        assert "```" in text.partition("## A worked number")[2].partition("## Bounds")[0], page.name


def test_commands_are_current(script):
    commands = script("commands")
    assert commands.PAGE.read_text(encoding="utf-8") == commands.text(), "run python docs/commands.py"
    assert {words[0] for words in commands.commands()} == set(COMMANDS)


def test_kinds_of_documents_are_current(script):
    page = script("json_page")
    text = page.PAGE.read_text(encoding="utf-8")
    assert script("outputs").with_blocks(page.PAGE, {"kinds": page.kinds()}) == text, "run python docs/json_page.py"


@cache
def command_line():
    return typer.main.get_command(app_of([]))


def look_up(line, words):
    """Find a command, and each of its options; what stands for values does not matter."""
    command, rest = command_line(), words
    while hasattr(command, "commands") and rest and not rest[0].startswith("-"):
        name = rest[0] if rest[0] in command.commands else USUAL.get(command.name)
        assert name in command.commands, line
        command, rest = command.commands[name], rest[1:]
    known = {option for parameter in command.params for option in parameter.opts} | {"--help", "-h"}
    assert {word.partition("=")[0] for word in rest if word.startswith("-") and len(word) > 1} <= known, line


def shell_words(script, line):
    """The words of the commands of a line that are ours."""
    stages = script("playground").stages(line)
    return [command[1:] for command, *_ in stages if command[:1] == ["aiplan"]]


def test_examples_of_help_can_be_read(script):
    commands, found = script("commands"), 0
    for words in commands.commands():
        for line in re.findall(r"^ {4}(.*\baiplan .*)$", commands.help_of(words), re.MULTILINE):
            for command in shell_words(script, re.split(r" {3,}", line)[0]):
                look_up(line, command)
                found += 1
    assert found > 70


@pytest.mark.parametrize("page", [ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))], ids=lambda page: page.name)
def test_commands_within_sentences_can_be_read(script, page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for line in SPAN.findall(text.replace("\n", " ")):
        for command in shell_words(script, CHOICE.sub("/", line)):
            look_up(line, command)
