"""The table over levels."""

from collections.abc import Sequence

from cheblienet_graphs.page.tables import Group, table
from cheblienet_graphs.page.tags import Markup, element, joined, powers
from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.report.rows import rows_of
from cheblienet_graphs.spec import GraphSpec, fibres


def levels_table(spec: GraphSpec, levels: Sequence[LevelReport]) -> Markup:
    """The levels side by side, and what the table's words mean.

    Args:
        spec: of the build.
        levels: their reports.
    """
    columns = ["", *(f"level {level.level}" for level in levels)]
    rows = [[powers(title), *cells] for title, cells in rows_of(spec, levels)]
    reading = [element("li", powers(line)) for line in _reading(spec)]
    made = table("levels-table", "The graphs of the pyramid", columns, [Group(rows)], kind="levels")
    return joined([made, element("ul", *reading, class_="faint")])


def _reading(spec: GraphSpec) -> list[str]:
    """An explanation of the table's words."""
    lines = ["Level 0 is the finest.", "Sparsity is the share of zeros."]
    if spec.geometry.oriented:
        lines += [
            f"The in-plane fraction is the share of edges within one {fibres.word(spec)}.",
            (
                f"Realised eps^2: least .. largest over the {fibres.words(spec)}; smaller is more "
                "anisotropic."
            ),
            "xi is the length that one radian of rotation counts for.",
        ]
    if spec.bandwidth is not None:
        lines.append(
            "Weights are a function of d^2 / (4 t), d the distance: sqrt t is the kernel's width."
        )
    return lines
