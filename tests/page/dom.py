"""Reading a page as a browser would, and what a reader of any kind may expect of it."""

import re
from functools import cache
from itertools import pairwise

from tinyhtml5.parser import HTMLParser

SVG = "{http://www.w3.org/2000/svg}"
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


def parsed(text):
    """Return the tree of a page, which must have no error of syntax."""
    parser = HTMLParser(namespace_html_elements=False)
    root = parser.parse(text)
    assert parser.errors == []
    return root


def words(node):
    """Return the text below an element, spaces as a browser shows them."""
    return " ".join("".join(node.itertext()).split())


def problems(root):
    """Return what is wrong with a page for those who read it without eyes, without a mouse, or without a network."""
    return [
        *_identities(root),
        *_outline(root),
        *_landmarks(root),
        *_pictures(root),
        *_tables(root),
        *_lists(root),
        *_resources(root),
    ]


def _identities(root):
    """Ids are there once, and what names one finds it."""
    ids = [node.get("id") for node in root.iter() if node.get("id")]
    yield from (f"id {name} twice" for name in {name for name in ids if ids.count(name) > 1})
    for node in root.iter():
        for name in (node.get("aria-labelledby") or "").split():
            if name not in ids:
                yield f"{node.tag} is labelled by {name}, which is not there"
        target = node.get("href")
        if target and target[1:] not in ids:
            yield f"no target of {target}"


def _outline(root):
    """One heading of the first level, and no level left out on the way down."""
    levels = [HEADINGS.index(node.tag) + 1 for node in root.iter() if node.tag in HEADINGS]
    if levels.count(1) != 1 or levels[0] != 1:
        yield f"headings begin with {levels[:3]}"
    yield from (f"h{low} after h{high}" for high, low in pairwise(levels) if low > high + 1)
    yield from (f"empty {node.tag}" for node in root.iter() if node.tag in HEADINGS and not words(node))


def _landmarks(root):
    if not root.get("lang"):
        yield "no language"
    for name in ("title", "header", "main", "footer"):
        if len(list(root.iter(name))) != 1:
            yield f"not one {name}"
    yield from ("a nav without a name" for node in root.iter("nav") if not node.get("aria-label"))
    metas = {node.get("name"): node.get("content") for node in root.iter("meta")}
    if "width=device-width" not in metas.get("viewport", ""):
        yield "no viewport"


def _pictures(root):
    """A picture says what it shows, or is hidden from those who cannot see it."""
    for node in root.iter(f"{SVG}svg"):
        if node.get("aria-hidden") == "true":
            continue
        texts = {child.tag: words(child) for child in list(node)[:2]}
        if node.get("role") != "img" or not all(texts.get(f"{SVG}{name}") for name in ("title", "desc")):
            yield f"a picture without a text: {texts}"
        width, height = map(float, node.get("viewBox").split()[2:])
        for text in node.iter(f"{SVG}text"):
            if not (0 <= float(text.get("x")) <= width and 0 <= float(text.get("y")) <= height):
                yield f"outside of the picture: {words(text)}"


def _tables(root):
    for node in root.iter("table"):
        caption = node.find("caption")
        if caption is None or not words(caption):
            yield "a table without a caption"
        width = {len(row) for row in node.iter("tr")}
        if len(width) != 1:
            yield f"rows of {width} cells in {words(caption)}"
        for cell in node.iter("th"):
            if cell.get("scope") not in {"col", "row"} or not words(cell):
                yield f"a heading without scope or text in {words(caption)}"
        for row in node.findall("tbody/tr"):
            if row[0].tag != "th":
                yield f"a row without a heading in {words(caption)}"
    for node in root.iter("div"):
        if node.get("class") == "wide" and not (node.get("tabindex") == "0" and node.get("aria-label")):
            yield "what scrolls cannot be reached"


def _lists(root):
    for node in root.iter("dl"):
        for group in node:
            tags = [child.tag for child in group]
            if group.tag != "div" or tags[0] != "dt" or set(tags[1:]) != {"dd"}:
                yield f"a list of facts with {tags}"
    yield from ("an empty list" for node in root.iter() if node.tag in {"ul", "ol", "dl"} and not len(node))


def _resources(root):
    """Nothing is loaded, nothing is run."""
    for node in root.iter():
        if node.tag in {"script", "link", "iframe", "object", "embed", "img", "base", "form"}:
            yield f"a {node.tag}"
        for name, value in node.attrib.items():
            if name.startswith("on") or name in {"src", "srcset", "style", "action"}:
                yield f"{node.tag} has {name}"
            if name.endswith("href") and not value.startswith("#"):
                yield f"leads to {value}"
    styles = "".join(words(node) for node in root.iter("style"))
    yield from (f"style has {found}" for found in re.findall(r"@import|url\(|expression", styles))


@cache
def _channels(colour):
    values = [int(colour[at : at + 2], 16) / 255.0 for at in (1, 3, 5)]
    return [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in values]


def contrast(one, other):
    """Return the contrast of two colours as WCAG 2 defines it."""
    first, second = sorted(
        (sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), _channels(colour), strict=True)))
        for colour in (one, other)
    )
    return (second + 0.05) / (first + 0.05)


def over(colour, ground, opacity):
    """Return the colour that is seen where one lies over another."""
    pairs = ((int(one[at : at + 2], 16) for one in (colour, ground)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(opacity * above + (1 - opacity) * below):02x}" for above, below in pairs)
