"""Tables that scroll within a box of their own where the window is too narrow."""

from collections.abc import Sequence
from dataclasses import dataclass

from cheblienet_graphs.page.tags import Markup, element, joined

Row = Sequence[str]
"""The title of a row, and its cells."""


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
    told = element("caption", element("span", caption), id=f"{name}-caption")
    head = element("tr", *(element("th", title, scope="col") for title in columns))
    bodies = [_body(group, len(columns)) for group in groups]
    inner = element("table", told, element("thead", head), *bodies, class_=kind)
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
    title, *cells = row
    return element(
        "tr", element("th", title, scope="row"), *(element("td", cell) for cell in cells)
    )
