"""Figure: the smoothest eigenfunctions, the eigenvectors of the least eigenvalues."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.limits import EIGENPAIRS, integer
from cheblienet_graphs.measure.opened_graph import OpenedGraph
from cheblienet_graphs.measure.spectra import computed_eigenpairs, stored_eigenpairs
from cheblienet_graphs.plot import pictures
from cheblienet_graphs.plot.figure import Asked, Canvas, Figure, sentences
from cheblienet_graphs.plot.places import Places, places_of
from cheblienet_graphs.plot.spectrum import connected, soon_computed, too_large, unit_of
from cheblienet_graphs.sparse import inverse_root
from cheblienet_graphs.spec.fibers import counting_sentence, sample_nouns, title
from cheblienet_graphs.spectrum.numeric import multiplicities, with_fixed_signs
from cheblienet_graphs.typing import Floats, Indices

COUNT = 8
ORIENTATIONS = 4
COLUMNS = 4
"""Number of columns of eigenfunctions without orientations."""
FINE = 64
"""Most pixels of an eigenfunction along a side."""
ZERO = 1e-5
"""Eigenvalues below this share of the largest shown are written as 0."""


@dataclass(frozen=True, eq=False)
class Eigenmaps:
    """Eigenfunctions.

    Args:
        level: of the pyramid; a coarser one than asked for where that is too large.
        places: its points.
        values: (M,) eigenvalues, ascending, of the operator or, where its scale is not known, of
            Delta.
        operator: whether they are the operator's.
        copies: (M,) for each the number of computed eigenvalues that equal it, with itself.
        cut: whether the last one may have more copies, which were not computed.
        functions: (M, n_o, points) N^-1/2 v, largest size 1; the first vertex where half of that is
            reached is positive.
    """

    level: int
    places: Places
    values: Floats
    operator: bool
    copies: tuple[int, ...]
    cut: bool
    functions: Floats


def eigenmaps_of(graph: OpenedGraph, *, level: int = 0, count: int = COUNT) -> Eigenmaps:
    """The smoothest eigenfunctions of a level, or of the first coarser one that is small enough.

    Args:
        graph: published.
        level: of its pyramid.
        count: M, in [1, 1000]; fewer where there are fewer vertices.

    Raises:
        SpecError: the level or the count is out of range.
        NotDrawnError: no level is small enough; they are only the indicators of components; or they
            did not converge.
    """
    level = integer("level", level, 0, graph.spec.levels - 1)
    count = integer("count", count, *EIGENPAIRS)
    levels = range(level, graph.spec.levels)
    level = next((k for k in levels if soon_computed(graph, k, count)), level)
    if not soon_computed(graph, level, count):
        raise too_large(graph, level, count)
    arrays, places = graph.level(level), places_of(graph, level)
    facts = arrays.of_level
    scale, count = facts.eigenvalue_scale, min(count, facts.vertices)
    connected(graph, level, count)
    pairs = stored_eigenpairs(arrays, count) or computed_eigenpairs(arrays, count)
    if not pairs.converged:
        raise NotDrawnError(f"The eigenvectors of {graph.name} did not converge.")
    copies = [n for n in multiplicities(pairs.values, facts.lambda_max) for _ in range(n)]
    functions = _functions(pairs.vectors, arrays.mass.astype(np.float64))
    return Eigenmaps(
        level,
        places,
        pairs.values * (scale or 1.0),
        scale is not None,
        tuple(copies),
        count < facts.vertices,
        functions.reshape(count, places.points.orientations, -1),
    )


def _functions(vectors: Floats, mass: Floats) -> Floats:
    """(M, V) N^-1/2 v for each vector v, of largest size 1 and a sign that does not vary."""
    functions: Floats = with_fixed_signs(inverse_root(mass)[:, None] * vectors).T
    size = abs(functions).max(axis=1, keepdims=True)
    return functions / np.where(size > 0, size, 1.0)


def draw_eigenmaps(canvas: Canvas, data: Eigenmaps) -> None:
    """Draw eigenfunctions on an empty figure, a column for each, a row for each orientation.

    Without orientations each has a place of its own, one after the other.

    Args:
        canvas: the figure.
        data: the eigenfunctions.
    """
    of_axes = data.places.of_axes
    rows = _rows(data)
    shown = _shown(data) if len(data.places.samples) > 1 else ()
    labels = [title(data.places.samples, int(k)) for k in shown]
    bar = "eigenfunction / its largest size"
    below: dict[str, Any] = {"location": "bottom", "fraction": 0.03, "aspect": 50}
    pictures.draw_panels(canvas, rows, labels, bar, signed=True, small=of_axes, **below)


def _shown(data: Eigenmaps) -> Indices:
    return pictures.shown_orientations(data.places.points.orientations, most=ORIENTATIONS)


def _rows(data: Eigenmaps) -> list[list[pictures.Panel]]:
    """Pictures of eigenfunctions, a row for each orientation shown; else some in each row."""
    [view, *_] = pictures.whole(data.places, FINE)
    first, *others = data.functions[:, _shown(data)].swapaxes(0, 1)
    rows = [pictures.row_of(view, first, titles_of(data))]
    rows += [pictures.row_of(view, signals) for signals in others]
    if len(data.places.samples) > 1:
        return rows
    return [rows[0][start : start + COLUMNS] for start in range(0, len(rows[0]), COLUMNS)]


def titles_of(data: Eigenmaps) -> list[str]:
    """Eigenvalues with their multiplicities: '39.5 (4x)', '≥' where the last may have more."""
    last = len(data.values) - data.copies[-1]
    titles = []
    for number, (value, copies) in enumerate(zip(data.values, data.copies, strict=True)):
        more = "≥" if data.cut and number >= last else ""
        several = f" ({more}{copies}x)" if copies > 1 else ""
        titles.append(("0" if value < ZERO * data.values[-1] else f"{value:.3g}") + several)
    return titles


def _draw(graph: OpenedGraph, asked: Asked, canvas: Canvas) -> str:
    data, spec = eigenmaps_of(graph, level=asked.level), graph.spec
    rows = _rows(data)
    side = FIGURE.size[0] / len(rows[0]) * rows[0][0].view.ratio
    titled = 0.3 if spec.orientations == 1 else 0.0
    canvas.set_size_inches(FIGURE.size[0], min(12.0, 1.2 + len(rows) * (side + titled)))
    draw_eigenmaps(canvas, data)
    seen = "" if data.places.flat else ", on Mollweide's map with longitude 0 in the middle"
    return sentences(
        f"The {len(data.values)} smoothest eigenfunctions of level {data.level}, N^-1/2 v{seen}; "
        f"eigenvalues are {unit_of(graph, scaled=data.operator)}.",
        data.level != asked.level and f"Level {asked.level} is too large to compute them.",
        max(data.copies) > 1 and "Of equal eigenvalues (2x) one basis of many is shown.",
        spec.orientations > 1
        and f"Rows are {len(rows)} of {spec.orientations} {sample_nouns(spec)}. "
        f"{counting_sentence(spec)}",
    )


FIGURE = Figure("eigenmaps", "The smoothest eigenfunctions", (8.0, 4.5), _draw)
