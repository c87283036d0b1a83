"""Links between the pages lead to files and headings that there are, and every page can be reached."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\(([^()\s]*)\)")
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


def text(page):
    """The words of a page without its blocks of code."""
    return FENCED.sub("", page.read_text(encoding="utf-8"))


def anchors(page):
    """Headings as GitHub makes anchors of them."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", text(page), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        count = sum(one == anchor or re.fullmatch(f"{re.escape(anchor)}-\\d+", one) is not None for one in found)
        found.add(f"{anchor}-{count}" if count else anchor)
    return found


def links(page):
    """Pairs of the file or folder that a link leads to, and the anchor in it."""
    for target in LINK.findall(text(page)):
        if "://" not in target and not target.startswith("mailto:"):
            path, _, anchor = target.partition("#")
            yield target, (page.parent / path).resolve() if path else page, anchor


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    wrong = [
        target
        for target, file, anchor in links(page)
        if not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors(file))
    ]
    assert wrong == []


def test_every_page_can_be_reached_from_the_readme():
    found, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        found.add(page)
        for _, file, _ in links(page):
            inside = sorted(file.glob("*.md")) if file.is_dir() else [file]
            waiting += [one for one in inside if one.suffix == ".md" and one not in found and one.exists()]
    assert set(PAGES) - found == {ROOT / "CHANGELOG.md"}
