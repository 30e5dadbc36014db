"""What a page of HTML is made of, by the standard library's parser."""

import itertools
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"br", "col", "hr", "img", "input", "link", "meta"}
LINKS = ("href", "xlink:href", "src", "srcset", "data", "action", "poster")


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    parent: "Element | None"
    text: str = ""
    children: list["Element"] = field(default_factory=list)

    def inside(self, tag: str) -> list["Element"]:
        """All elements of a kind within this one, in order."""
        return [e for e in every(self) if e.tag == tag]

    @property
    def words(self) -> str:
        """All text within, in order of the elements; spaces count once."""
        return " ".join(self.text.split())


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {}, None)
        self.open = self.root

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"{tag} has an attribute twice: {names}"
        element = Element(tag, {name: value or "" for name, value in attrs}, self.open)
        self.open.children.append(element)
        if tag not in VOID:
            self.open = element

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag == self.open.tag, f"</{tag}> ends <{self.open.tag}>"
        assert self.open.parent is not None
        self.open = self.open.parent

    def handle_data(self, data: str) -> None:
        element: Element | None = self.open
        while element is not None:
            element.text += data
            element = element.parent


def parsed(document: str) -> Element:
    """The html element of a page whose tags are balanced."""
    assert document.startswith("<!DOCTYPE html>\n")
    parser = _Parser()
    parser.feed(document)
    parser.close()
    assert parser.open is parser.root, f"<{parser.open.tag}> has no end"
    [html] = parser.root.children
    return html


def every(element: Element) -> list[Element]:
    """An element and all within."""
    return [element, *(e for child in element.children for e in every(child))]


def named(html: Element, name: str) -> Element:
    """The element with that id."""
    [element] = [e for e in every(html) if e.attributes.get("id") == name]
    return element


def check_page(document: str) -> Element:
    """Check what every page must be: whole, alone, without scripts, and made for all readers."""
    html = parsed(document)
    elements = every(html)
    assert html.attributes["lang"] == "en"
    [title] = [e for e in html.inside("head")[0].children if e.tag == "title"]
    assert title.words
    assert [e for e in html.inside("meta") if e.attributes.get("name") == "viewport"]
    assert not {"script", "iframe", "object", "embed", "link", "base"} & {e.tag for e in elements}
    names = [e.attributes["id"] for e in elements if "id" in e.attributes]
    assert len(names) == len(set(names))
    for element in elements:
        _check_alone(element, set(names))
    levels = [int(e.tag[1]) for e in elements if re.fullmatch("h[1-6]", e.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(low <= high + 1 for high, low in itertools.pairwise(levels))
    for cell in html.inside("th"):
        assert cell.attributes["scope"] in {"col", "row", "rowgroup"}
    for table in html.inside("table"):
        assert table.inside("caption")[0].words
    for figure in html.inside("figure"):
        assert figure.inside("figcaption")[0].words
        [svg] = figure.inside("svg")
        assert svg.attributes["role"] == "img"
    return html


def _check_alone(element: Element, names: set[str]) -> None:
    """Nothing is run, nothing is fetched, and what is referred to is on the page."""
    for name, value in element.attributes.items():
        assert not name.startswith("on"), f"{element.tag} has {name}"
        if name in LINKS:
            assert value.startswith(("#", "data:image/png;base64,")), f"{name}={value[:60]}"
        if name == "href" and element.tag == "a":
            assert value[1:] in names
        if name in {"aria-labelledby", "aria-describedby"}:
            assert set(value.split()) <= names
        for inner in re.findall(r"url\(([^)]*)\)", value):
            assert inner.strip("'\"")[1:] in names, f"{name}={value[:60]}"
    if element.tag == "style":
        assert "@import" not in element.text
        assert "url(" not in element.text
