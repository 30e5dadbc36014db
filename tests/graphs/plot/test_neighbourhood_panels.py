"""The neighbourhood's axes: to scale, the right way up, labelled."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cheblienet_graphs.plot import Asked, figure_named, open_graph
from cheblienet_graphs.plot.neighbourhood import neighbourhood_of
from cheblienet_graphs.plot.neighbourhood_panels import draw_neighbourhood, draw_rotation


def panels(figured: Path, name: str) -> list[Axes]:
    drawn, _ = figure_named("neighbourhood").drawn(open_graph(figured, name), Asked())
    return [ax for ax in drawn.axes if ax.axison]


@pytest.mark.parametrize(
    ("name", "titles", "x", "y"),
    [
        ("plane", [""], "x (pixels)", "y (pixels)"),
        ("own", [""], "x (mean spacings)", "y (mean spacings)"),
        ("sphere", [""], "east (degrees of arc)", "north (degrees of arc)"),
        ("volume", ["xy plane", "xz plane", "yz plane"], "x (voxels)", "y (voxels)"),
        (
            "axes",
            ["from one side", "from the other", "along the axis", "along and tilt", "tilts"],
            "along (voxels)",
            "across 1 (voxels)",
        ),
        (
            "two",
            ["orientation −90°", "orientation 0°", "0°, with rotation"],
            "x (pixels)",
            "y (pixels)",
        ),
    ],
)
def test_panels_are_to_scale_and_labelled(
    figured: Path, name: str, titles: list[str], x: str, y: str
) -> None:
    axes = panels(figured, name)
    assert [ax.get_title() for ax in axes] == titles
    assert (axes[0].get_xlabel(), axes[0].get_ylabel()) == (x, y)
    for ax in axes:
        assert ax.get_aspect() == 1
        assert sum(ax.get_xlim()) == pytest.approx(sum(ax.get_ylim())) == pytest.approx(0)
    down = axes[0].get_ylim()[0] > axes[0].get_ylim()[1]
    assert down == (name not in {"sphere", "axes"})


def test_edges_end_at_the_neighbours(figured: Path) -> None:
    data = neighbourhood_of(open_graph(figured, "gaussian"))
    ax = Figure().subplots()
    view = data.views[2]
    draw_neighbourhood(data, view, ax)
    across, within = ax.collections[:2]
    for lines, chosen in ((across, view.rotating), (within, ~view.rotating)):
        ends = np.array([path.vertices[1] for path in lines.get_paths()])
        np.testing.assert_allclose(ends, view.places[chosen])
        widths = np.array(lines.get_linewidths())
        heavier = np.diff(view.weights[chosen][np.argsort(widths)])
        assert (heavier >= -1e-6).all()


def test_rotation_is_labelled_in_degrees(figured: Path) -> None:
    data = neighbourhood_of(open_graph(figured, "gaussian"))
    ax = Figure().subplots()
    draw_rotation(data, data.views[data.middle], ax)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert {"−30°", "0°", "30°"} <= set(labels)
    [up] = [at for at, label in zip(ax.get_yticks(), labels, strict=True) if label == "30°"]
    assert up == pytest.approx(np.pi / 6 * data.xi)


def test_captions_say_what_was_found(figured: Path) -> None:
    def caption(name: str, vertex: int | None = None) -> str:
        graph = open_graph(figured, name)
        return figure_named("neighbourhood").drawn(graph, Asked(vertex=vertex))[1]

    assert "realise eps^2 = 0.1, asked for 0.1" in caption("selling")
    assert "6 of 8 orientations" in caption("selling")
    assert "realise eps^2 = 0.019 .. 0.0583, asked for 0.1" in caption("gaussian")
    assert "act alike in all directions, as asked for" in caption("volume")
    assert "no eps^2 is realised" in caption("columns")
    assert "at axis 6, n = (−0.35, 0.87, 0.35), of 12; directions" in caption("axes")
    assert "mean voxel sides" in neighbourhood_of(open_graph(figured, "unequal")).unit
    entries = np.diff(open_graph(figured, "dust").level(0).laplacian.indptr)
    assert "it has no neighbours" in caption("dust", int(entries.argmin()))
