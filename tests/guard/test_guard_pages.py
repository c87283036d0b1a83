"""Every code has a page, its example yields the code, and what to write instead does not."""

import re

import pytest

from aiplan.declare import CODES
from aiplan.report.code.pages import pages

TAKEN_BY = re.compile(r"\bAIP\d{3}\b")


def told(run, folder, sample):
    """Run the command of a sample with its files, and return the codes that it tells."""
    for name, text in sample.written().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    program, *arguments = sample.command.split()
    assert program == "aiplan"
    done = run(*arguments)
    return done.code, set(TAKEN_BY.findall(done.out + done.err))


def test_one_page_a_code():
    assert list(pages()) == list(CODES)


@pytest.mark.parametrize("code", CODES)
def test_example(code, run, folder):
    left, found = told(run, folder, pages()[code].example)
    assert code in found
    assert left in {0, 1, 2}


@pytest.mark.parametrize("code", [code for code, page in pages().items() if page.instead is not None])
def test_instead(code, run, folder):
    left, found = told(run, folder, pages()[code].instead)
    assert code not in found
    assert left == 0


def test_only_what_cannot_be_mended_has_no_instead():
    assert [code for code, page in pages().items() if page.instead is None] == ["AIP118"]
