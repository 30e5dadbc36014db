"""Elements and tables of HTML. What is no `Markup` is text, escaped wherever it is put."""

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cheblienet_graphs.report.rows import Row

POWER = "-/0123456789"
"""Letters of what is raised."""


class Markup(str):
    """Text that is HTML already; what str's own methods return is plain text again."""

    __slots__ = ()


def element(name: str, *content: str, **attributes: str) -> Markup:
    """An element with its content; "meta" is the only one without an end tag.

    Args:
        name: of the element.
        content: what is inside, in order; text is escaped.
        attributes: by name; `aria_label` is aria-label, `class_` is class.
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(value)}"'
        for key, value in attributes.items()
    )
    end = "" if name == "meta" else f"{joined(content)}</{name}>"
    return Markup(f"<{name}{given}>{end}")


def joined(parts: Iterable[str]) -> Markup:
    """Parts one after the other; text is escaped."""
    return Markup("".join(p if isinstance(p, Markup) else html.escape(p) for p in parts))


def prose(sentence: str) -> Markup:
    """A sentence of the library: what stands in backticks is code, and 2 is raised in eps^2."""
    parts = enumerate(sentence.split("`"))
    return joined(element("code", part) if n % 2 else joined(_raised(part)) for n, part in parts)


def _raised(text: str) -> Iterator[str]:
    """Text in which the power after each ^ is raised."""
    before, *others = text.split("^")
    yield before
    for part in others:
        after = part.lstrip(POWER)
        power = part.removesuffix(after) if after else part
        yield element("sup", power.replace("-", "\N{MINUS SIGN}"))
        yield after


def section(name: str, title: str, *content: str) -> Markup:
    """A section with its heading.

    Args:
        name: by which links find it.
        title: its heading.
        content: what is inside.
    """
    heading = element("h2", title, id=f"{name}-title")
    return element("section", heading, *content, id=name, aria_labelledby=f"{name}-title")


def scrolling(content: Markup, label: str) -> Markup:
    """A box that scrolls: it has to be reached by the keyboard, and then says what it is.

    Args:
        content: what is inside.
        label: id of the element that says it.
    """
    return element(
        "div", content, class_="scroll", role="region", tabindex="0", aria_labelledby=label
    )


def listing(lines: str) -> Markup:
    """A command line as it is typed; no line is broken within an option's name."""
    words = [
        element("span", word, class_="whole") if word.startswith("--") else joined([word])
        for word in lines.split(" ")
    ]
    return element("pre", Markup(" ".join(words)))


def table(
    name: str,
    caption: str,
    columns: Sequence[str],
    groups: Mapping[str, Sequence[Row]],
    *,
    kind: str = "",
) -> Markup:
    """A table in its box.

    Args:
        name: unique on the page.
        caption: of the table.
        columns: titles, that of the rows' own titles first.
        groups: rows that belong together, by the title above them; "" is none.
        kind: class of the table, which the style sheet knows.
    """
    titled = element("caption", element("span", caption), id=f"{name}-caption")
    head = element("tr", *(element("th", prose(title), scope="col") for title in columns))
    bodies = [
        element("tbody", _above(title, len(columns)), *map(_row, rows))
        for title, rows in groups.items()
    ]
    inner = element("table", titled, element("thead", head), *bodies, class_=kind)
    return scrolling(inner, f"{name}-caption")


def _above(title: str, columns: int) -> Markup:
    heading = element("th", title, scope="rowgroup", colspan=str(columns))
    return element("tr", heading) if title else Markup()


def _row(row: Row) -> Markup:
    head = element("th", prose(row.title), scope="row")
    return element("tr", head, *(element("td", cell) for cell in row.cells))
