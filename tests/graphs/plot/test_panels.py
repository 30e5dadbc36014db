"""Pictures of signals: heat, equivariance, eigenmaps."""

import functools
import io

import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas
from pictured import opened

from cheblienet_graphs.plot import eigenmaps, equivariance
from cheblienet_graphs.plot import heat_panels as heat_figure
from cheblienet_graphs.plot.figure import Asked, style
from cheblienet_graphs.plot.heat import heat_of
from cheblienet_graphs.plot.panels import shown_orientations

LARGEST_SVG = 300_000


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


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plane", 1),
        ("masked", 1 + 4),
        ("axes", 3 + 3 + 3),
        *(
            pytest.param(name, expected, marks=pytest.mark.slow)
            for name, expected in {
                "odd": 2,
                "random": 1 + 3,
                "own": 1 + 3,
                "sphere": 1,
                "rotations": 1 + 4,
                "region": 1 + 3,
                "space": 3,
                "tiny": 1 + 2,
                "ball": 3 + 3 + 2,
                "scan": 3 + 3 + 5,
            }.items()
        ),
    ],
)
def test_heat_is_drawn_of_every_graph(name: str, expected: int) -> None:
    canvas, caption, svg = drawn(heat_figure.FIGURE, name)
    assert caption.startswith("Heat that started at vertex")
    assert len(svg) < LARGEST_SVG
    assert pictures(canvas) == expected


@pytest.mark.parametrize(
    ("names", "expected", "words"),
    [
        (
            ("torus base", "torus isotropic", "torus"),
            1 + 5 + 5,
            "it spreads evenly at every orientation, as eps = 1; on se2-20x20x4@v001 it runs along",
        ),
        (("torus base", "flat torus"), 2, "as many of the graph's own spacings"),
        (("space", "axes"), 3 + 3 + 3 + 3, "Left three slices"),
    ],
)
def test_graphs_are_drawn_beside_each_other(
    names: tuple[str, ...], expected: int, words: str
) -> None:
    first, *beside = map(opened, names)
    canvas, caption = heat_figure.FIGURE.drawn(first, Asked(beside=tuple(beside)))
    assert pictures(canvas) == expected
    assert words in caption
    rows = {axes.get_ylabel().split("\n")[0].split("@")[0] for axes in canvas.axes}
    assert {graph.version.parent.name for graph in (first, *beside)} <= rows


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


def test_pictures_of_heat_have_one_scale_and_their_data() -> None:
    data = heat_of(opened("torus base"), opened("torus"))
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


def test_many_orientations_are_thinned_out() -> None:
    assert shown_orientations(6).tolist() == [0, 1, 2, 3, 4, 5]
    assert shown_orientations(16).tolist() == [0, 3, 6, 9, 12, 15]
    assert shown_orientations(16, through=8).tolist() == [2, 5, 8, 11, 14]
