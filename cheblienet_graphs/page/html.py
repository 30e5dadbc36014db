"""Elements and tables of HTML. What is no `Markup` is text, escaped wherever it is put."""

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

VOID = frozenset({"br", "col", "meta"})
"""Elements without an end tag."""
_CODE = re.compile(r"`([^`]*)`")
_OPTION = re.compile(r"(?<!\S)(-{2}[a-z][a-z-]*)")
_SIGN = re.compile(r"(?<![\w)^-])-(?=[\w(])")
_POWER = re.compile(r"\^(-?\d+(?:/\d+)?)")

Row = tuple[str, Sequence[str]]
"""The title of a row, and its cells."""


class Markup(str):
    """Text that is HTML already; what str's own methods return is plain text again."""

    __slots__ = ()


def element(name: str, *content: str, **attributes: str) -> Markup:
    """An element with its content.

    Args:
        name: of the element.
        content: what is inside, in order; text is escaped.
        attributes: by name; `aria_label` is aria-label, `class_` is class.
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(value)}"'
        for key, value in attributes.items()
    )
    end = "" if name in VOID else f"{joined(content)}</{name}>"
    return Markup(f"<{name}{given}>{end}")


def joined(parts: Iterable[str]) -> Markup:
    """Parts one after the other; those that are text are escaped."""
    return Markup("".join(p if isinstance(p, Markup) else html.escape(p) for p in parts))


def prose(sentence: str) -> Markup:
    """A sentence of the library: what stands in backticks is code, and 2 is raised in eps^2."""
    parts = _CODE.split(sentence)
    return joined(
        element("code", part) if place % 2 else powers(part) for place, part in enumerate(parts)
    )


def powers(text: str) -> Markup:
    """Plain text, in which what follows ^ is raised, and signs are no hyphens."""
    *pairs, last = _pairs(_SIGN.sub("\N{MINUS SIGN}", text))
    return joined([*(part for pair in pairs for part in pair), *last])


def _pairs(text: str) -> Iterable[tuple[str, ...]]:
    """Text and the power after it, in turn; the last text has none."""
    parts = _POWER.split(text)
    for before, power in zip(parts[::2], parts[1::2], strict=False):
        yield before, element("sup", power.replace("-", "\N{MINUS SIGN}"))
    yield (parts[-1],)


def section(name: str, title: str, *content: str) -> Markup:
    """A section with its heading.

    Args:
        name: by which links find it.
        title: its heading.
        content: what is inside.
    """
    heading = element("h2", title, id=f"{name}-title")
    return element("section", heading, *content, id=name, aria_labelledby=f"{name}-title")


def listing(lines: str) -> Markup:
    """What is typed, as it is; no line is broken within an option's name."""
    parts = _OPTION.split(lines)
    return element(
        "pre",
        *(
            element("span", part, class_="whole") if place % 2 else part
            for place, part in enumerate(parts)
        ),
    )


@dataclass(frozen=True)
class Group:
    """Rows that belong together.

    Args:
        rows: of the group.
        title: stands above them; None where there is one group alone.
    """

    rows: Sequence[Row]
    title: str | None = None


def table(
    name: str, caption: str, columns: Sequence[str], groups: Sequence[Group], *, kind: str = ""
) -> Markup:
    """A table in its box.

    Args:
        name: unique on the page.
        caption: what the table tells.
        columns: titles, that of the rows' own titles first.
        groups: of rows.
        kind: class of the table, which the style sheet knows.
    """
    titled = element("caption", element("span", caption), id=f"{name}-caption")
    head = element("tr", *(element("th", title, scope="col") for title in columns))
    bodies = [_body(group, len(columns)) for group in groups]
    inner = element("table", titled, element("thead", head), *bodies, class_=kind)
    # A box that scrolls has to be reached by the keyboard, and then says what it is.
    return element(
        "div",
        inner,
        class_="scroll",
        role="region",
        tabindex="0",
        aria_labelledby=f"{name}-caption",
    )


def _body(group: Group, columns: int) -> Markup:
    title = []
    if group.title is not None:
        heading = element("th", group.title, scope="rowgroup", colspan=str(columns))
        title = [element("tr", heading)]
    return element("tbody", *title, joined(map(_row, group.rows)))


def _row(row: Row) -> Markup:
    title, cells = row
    return element("tr", element("th", title, scope="row"), *(element("td", c) for c in cells))
