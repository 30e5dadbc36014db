"""What differs between two graphs as text for a terminal."""

from collections.abc import Iterator, Sequence

from cheblienet_graphs.report.difference import Difference, LevelDifference
from cheblienet_graphs.report.shared_edges import SharedEdges
from cheblienet_graphs.spec import words

WIDEST = 40
"""Characters of a field's value at most."""


def difference_text(found: Difference) -> str:
    """A line where both are identical; else tables of fields, edges, weights and eigenvalues.

    Args:
        found: the differences.
    """
    a, b = found.names
    if found.identical:
        return f"{a} and {b} are identical: the same specification, the same digests of all files"
    blocks = [[f"a: {a}", f"b: {b}"], _specification(found)]
    if found.generators[0] != found.generators[1]:
        blocks.append([f"built by {found.generators[0]} and {found.generators[1]}"])
    blocks += [["all files have the same digests"]] if found.same_files else [_edges(found)]
    blocks += _spectra(found)
    return "\n\n".join("\n".join(block) for block in blocks)


def _specification(found: Difference) -> list[str]:
    if not found.specification:
        return ["the specifications are equal"]
    rows = [["specification", "a", "b"]]
    rows += [
        [field, *(_cut(words.shown(value)) for value in values)]
        for field, values in found.specification.items()
    ]
    return _aligned(rows, "<<<")


def _cut(text: str) -> str:
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 3]}..."


def _edges(found: Difference) -> list[str]:
    """A row for each level that both have: vertices, edges, what is shared, and by how much."""
    head = [
        ["", "vertices", "", "edges", "", "edges in both", "weights, relative", "", "", "areas"],
        ["level", "a", "b", "a", "b", "of either", "median", "largest", "b / a", "largest"],
    ]
    lines = _aligned([*head, *map(_row, found.levels)], ">" * len(head[0]))
    for why, levels in _reasons(found.levels).items():
        several = "s" if len(levels) > 1 else ""
        lines.append(
            f"  edges, weights and areas of level{several} {', '.join(map(str, levels))} are not "
            f"compared: {why}"
        )
    common = len(found.levels)
    for name, count in zip("ab", found.num_levels, strict=True):
        if count > common:
            alone = ", ".join(map(str, range(common, count)))
            lines.append(f"  {name} alone has level{'s' if count > common + 1 else ''} {alone}")
    return lines


def _row(level: LevelDifference) -> list[str]:
    counts = [f"{count:,}" for count in (*level.vertices, *level.edges)]
    return [f"{level.level}", *counts, *_shared(level.shared), _relative(level.areas)]


def _shared(shared: SharedEdges | None) -> Iterator[str]:
    if shared is None:
        yield from ["-"] * 4
        return
    yield words.percent(shared.share)
    yield _relative(shared.median)
    yield _relative(shared.largest)
    yield "-" if shared.ratio is None else f"{shared.ratio:.4g}"


def _relative(difference: float | None) -> str:
    """A share in percent, rounding errors as powers of ten."""
    if difference is None:
        return "-"
    return f"{difference:.1g}" if 0 < difference < 1e-4 else words.percent(difference)


def _reasons(levels: Sequence[LevelDifference]) -> dict[str, list[int]]:
    reasons: dict[str, list[int]] = {}
    for level in levels:
        if level.not_compared is not None:
            reasons.setdefault(level.not_compared, []).append(level.level)
    return reasons


def _spectra(found: Difference) -> Iterator[list[str]]:
    """The first eigenvalues of each level side by side."""
    for level in found.levels:
        pairs = [*zip(*level.eigenvalues, strict=False)]
        if not pairs:
            continue
        whose = "" if level.of_operator else " of Delta"
        rows = [[f"level {level.level}: eigenvalues{whose}", "a", "b", "b / a - 1"]]
        floor = max(map(max, pairs)) * 1e-4
        for first, second in pairs:
            pair = [0.0 if abs(value) < floor else value for value in (first, second)]
            change = f"{pair[1] / pair[0] - 1:+.2%}".replace("%", " %") if all(pair) else ""
            rows.append(["", *(f"{value:.6g}" for value in pair), change])
        yield _aligned(rows, "<>>>")


def _aligned(rows: Sequence[Sequence[str]], sides: str) -> list[str]:
    """Rows in columns, each to the left or to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)
        ).rstrip()
        for row in rows
    ]
