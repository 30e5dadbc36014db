"""What of a graph deserves a remark: said once for all levels of which it holds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cheblienet_graphs.report import LevelReport
from cheblienet_graphs.spec import GraphSpec

SPARSE_ENOUGH = 0.985
"""The paper's rule of thumb for the share of zeros."""
FAR_FROM_TARGET = 0.02
"""A miss of the in-plane fraction that deserves a remark."""


@dataclass(frozen=True)
class Remark:
    """What holds of a level.

    Args:
        level: its number.
        sentence: with {} where its number goes, if it has one.
        number: differs from level to level.
    """

    level: int
    sentence: str
    number: str = ""


def remarks(spec: GraphSpec, levels: Sequence[LevelReport]) -> list[str]:
    """A line for each remark, with the levels of which it holds.

    Args:
        spec: of the build.
        levels: those of the report.
    """
    by_sentence: dict[str, list[Remark]] = {}
    for level in levels:
        for remark in _remarks(spec, level):
            by_sentence.setdefault(remark.sentence, []).append(remark)
    every = [level.level for level in levels]
    return [_line(alike, every) for alike in by_sentence.values()]


def verdicts(levels: Sequence[LevelReport]) -> list[str]:
    """A line for each verdict; without levels where all share it."""
    by_words: dict[str, list[int]] = {}
    for level in levels:
        by_words.setdefault(level.verdict, []).append(level.level)
    if len(by_words) == 1:
        return [*by_words]
    return [f"{_levels(numbers)}: {words}" for words, numbers in by_words.items()]


def _line(alike: Sequence[Remark], every: Sequence[int]) -> str:
    numbers = [remark.number for remark in alike]
    said = numbers[0] if len(set(numbers)) == 1 else _listed(numbers)
    levels = [remark.level for remark in alike]
    title = "all levels" if len(every) > 1 and levels == [*every] else _levels(levels)
    return f"{title}: {alike[0].sentence.format(said)}"


def _levels(numbers: Sequence[int]) -> str:
    """'level 2', or 'levels 0, 1 and 3'."""
    return f"level{'s' if len(numbers) > 1 else ''} {_listed(map(str, numbers))}"


def _listed(words: Iterable[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def _remarks(spec: GraphSpec, level: LevelReport) -> list[Remark]:
    found = []

    def remark(sentence: str, number: str = "") -> None:
        found.append(Remark(level.level, sentence, number))

    target = spec.in_plane_fraction
    if target is not None and abs(level.in_plane_fraction - target) > FAR_FROM_TARGET:
        remark(
            f"in-plane fraction {{}}, asked for {target:g}: the closest that any xi tried gives "
            "with these points and neighbours",
            f"{level.in_plane_fraction:.3f}",
        )
    if level.degree["max"] > spec.neighbors:
        remark(
            f"up to {{}} neighbours, more than K = {spec.neighbors}: those added so that the "
            "weights can match the metric",
            f"{level.degree['max']:.0f}",
        )
    if level.dropped_edges:
        remark("{} edges left out, as their matched weight is 0", f"{level.dropped_edges:,}")
    if level.sparsity < SPARSE_ENOUGH:
        percent = f"{level.sparsity:.2%}".replace("%", " %")
        remark("{} zeros, below the paper's rule of thumb", percent)
    if level.isolated:
        remark("{} vertices have no neighbours", f"{level.isolated:,}")
    if level.components > 1:
        remedy = "more neighbours may link them"
        if spec.geometry.oriented:
            remedy = "a smaller alpha links orientations, a larger one links points"
        remark(
            f"falls into {{}} components, between which no signal passes; {remedy}",
            f"{level.components:,}",
        )
    if not level.eigenvalues_converged:
        remark("the eigenvalues are approximate, the solver gave up")
    if level.multiplicities_may_be_larger:
        remark(
            "eigenvalues from Lanczos recursions, one for each sector of the half turns and "
            "reflections: those that are multiple for other reasons may have more copies"
        )
    return found
