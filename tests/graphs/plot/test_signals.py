"""Figures of signals: heat, equivariance, eigenmaps, pooling."""

import functools
import io
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas
from pictured import opened

from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.figures.heat import heat_of
from cheblienet_graphs.plot import eigenmaps, equivariance, pooling
from cheblienet_graphs.plot import heat as heat_figure
from cheblienet_graphs.plot.catalogue import FIGURES
from cheblienet_graphs.plot.figure import Asked
from cheblienet_graphs.plot.panels import shown_orientations
from cheblienet_graphs.plot.style import INK, style

LARGEST_SVG = 300_000
NAMES = ("heat", "equivariance", "eigenmaps", "pooling")


@functools.cache
def drawn(figure: object, name: str, **asked: int) -> tuple[Canvas, str, str]:
    """The canvas, its caption and its SVG; drawn once for all tests that look at it."""
    with style():
        canvas = Canvas(figsize=figure.size)
        caption = figure.draw(opened(name), Asked(**asked), canvas)
        out = io.StringIO()
        canvas.savefig(out, format="svg")
    return canvas, caption, out.getvalue()


def pictures(canvas: Canvas) -> int:
    return sum(len(axes.images) for axes in canvas.findobj(lambda o: hasattr(o, "images")))


def titles(canvas: Canvas) -> list[str]:
    found = canvas.findobj(lambda o: hasattr(o, "get_title"))
    return [axes.get_title() for axes in found if axes.get_title()]


def slow(*names: str) -> list[object]:
    return [pytest.param(name, marks=pytest.mark.slow) for name in names]


OTHERS = slow(
    "odd",
    "random",
    "own",
    "sphere",
    "rotations",
    "region",
    "space",
    "group",
    "tiny",
    "ball",
    "scan",
)


@pytest.mark.parametrize("name", ["plane", "masked", "axes", *OTHERS])
def test_heat_is_drawn_of_every_graph(name: str) -> None:
    canvas, caption, svg = drawn(heat_figure.FIGURE, name)
    assert caption.startswith("Heat that started at vertex")
    assert len(svg) < LARGEST_SVG
    orientations = opened(name).spec.orientations
    over_axes = {"axes": 3 + 6 + 6 + 3, "ball": 3 + 6 + 6 + 2, "scan": 3 + 6 + 6 + 5}
    expected = {"plane": 1, "sphere": 1, "space": 3, "odd": 3, **over_axes}
    expected.setdefault(name, 3 + 2 * orientations)
    assert pictures(canvas) == expected[name]


@pytest.mark.parametrize("name", ["plane", *slow("masked", "random", "grid", "rotations", "cube")])
def test_turning_is_drawn_of_every_graph(name: str) -> None:
    canvas, caption, svg = drawn(equivariance.FIGURE, name)
    assert "Chebyshev layer with random weights (seed 0)" in caption
    assert len(svg) < LARGEST_SVG
    assert pictures(canvas) == 2 * (1 + opened(name).spec.orientations)


@pytest.mark.parametrize("name", ["axes", *slow("ball", "scan")])
def test_axes_are_named_with_their_vectors(name: str) -> None:
    first = {"axes": "(.58, .58, .58)", "ball": "(1, 0, 0)", "scan": "(0, .53, .85)"}[name]
    canvas, caption, _ = drawn(heat_figure.FIGURE, name)
    said = [text for text in titles(canvas) if text.startswith("axis 0\n")]
    assert said == [f"axis 0\n{first}"]
    assert "orientation" not in caption
    assert "pixel" not in caption
    assert "Axes n = (x, y, z) are numbered from 0" in caption


def test_a_tiny_graph_shows_its_symmetries_alone() -> None:
    canvas, caption, _ = drawn(equivariance.FIGURE, "tiny")
    assert pictures(canvas) == 0
    assert "too small to turn" in caption
    [axes] = canvas.axes
    assert "rotation 90°" in [label.get_text() for label in axes.get_yticklabels()]


@pytest.mark.parametrize(
    "name", ["masked", "sphere", "axes", *slow("plane", "random", "region", "space")]
)
def test_eigenmaps_are_drawn_of_every_graph(name: str) -> None:
    canvas, caption, svg = drawn(eigenmaps.FIGURE, name)
    assert caption.startswith("The 8 smoothest eigenfunctions of level 0")
    assert len(svg) < LARGEST_SVG
    assert pictures(canvas) == (8 if opened(name).spec.orientations == 1 else 1)


def test_multiplicities_are_written_and_those_cut_are_bounds() -> None:
    canvas, caption, _ = drawn(eigenmaps.FIGURE, "sphere")
    written = titles(canvas)
    assert written[0] == "0"
    assert [text.split(" ")[1] for text in written[1:]] == ["(3x)"] * 3 + ["(≥4x)"] * 4
    assert "equal eigenvalues" in caption


@pytest.mark.parametrize(
    "name", ["group", "axes", *slow("masked", "sphere", "rotations", "space", "grid")]
)
def test_pooling_is_drawn_of_every_pyramid(name: str) -> None:
    canvas, caption, svg = drawn(pooling.FIGURE, name)
    levels = min(pooling.SHOWN, opened(name).spec.levels)
    assert pictures(canvas) == 2 * levels - 1
    assert f"level {levels - 1}" in titles(canvas)
    assert "become the coarse one in the middle" in caption
    assert len(svg) < LARGEST_SVG


def test_pictures_of_heat_have_one_scale_and_their_data() -> None:
    data = heat_of(opened("masked"))
    with style():
        canvas = Canvas()
        heat_figure.draw_heat(canvas, data)
    images = [image for axes in canvas.axes for image in axes.images]
    assert len({image.norm for image in images}) == 1
    assert images[0].norm.vmax == pytest.approx(
        max(graph.density.sum(axis=0).max() for graph in data.graphs)
    )
    started = images[-4 + data.graphs[-1].orientation].get_array()
    assert np.nanmax(started) == pytest.approx(data.graphs[-1].density.max())


def test_ink_is_the_only_colour_of_words() -> None:
    canvas, _, svg = drawn(eigenmaps.FIGURE, "sphere")
    colours = {text.get_color() for text in canvas.findobj(lambda o: hasattr(o, "get_fontsize"))}
    assert colours == {INK}
    assert "#ffffff" not in svg


def test_a_graph_that_has_nothing_to_show_says_so() -> None:
    with pytest.raises(NotDrawnError, match="no level coarser"):
        drawn(pooling.FIGURE, "odd")


def test_figures_are_in_the_catalogue_and_none_needs_pyplot() -> None:
    names = [figure.name for figure in FIGURES]
    assert [name for name in names if name in NAMES] == list(NAMES)
    files = [*Path(heat_figure.__file__).parent.glob("*.py")]
    assert len(files) > len(NAMES)
    assert not [file for file in files if "import pyplot" in file.read_text()]


def test_many_orientations_are_thinned_out() -> None:
    assert shown_orientations(6).tolist() == [0, 1, 2, 3, 4, 5]
    assert shown_orientations(16).tolist() == [0, 3, 6, 9, 12, 15]
    assert shown_orientations(16, through=8).tolist() == [2, 5, 8, 11, 14]
