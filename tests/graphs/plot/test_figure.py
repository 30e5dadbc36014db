"""All graphs by all figures: what is drawn can be written, and put on a page."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from pictured import opened

from cheblienet_graphs.errors import NotDrawnError, SpecError, StoreError
from cheblienet_graphs.plot import FIGURES, Asked, figure_named, svg_of, write_figure
from cheblienet_graphs.plot.figure import INK

LARGEST = 300_000
NOTHING = {"spectrum": "64 components", "subgraphs": "No edge of its orientation"}
"""Figures of which columns of vertices have nothing, and why."""
DRAWN = {
    "neighborhood": ["plane", "six", "volume", "region", "columns", "dust"],
    "spectrum": ["kernel torus", "dust", "columns"],
    "heat": ["masked"],
    "equivariance": ["plane"],
    "eigenmaps": ["masked"],
    "subgraphs": ["rotations", "volume", "columns"],
    "sparsity": ["six", "tiny"],
}


@pytest.mark.parametrize(
    ("name", "graph"), [(name, graph) for name, graphs in DRAWN.items() for graph in graphs]
)
def test_a_page_can_hold_it(name: str, graph: str) -> None:
    if graph == "columns" and name in NOTHING:
        with pytest.raises(NotDrawnError, match=NOTHING[name]):
            svg_of(figure_named(name), opened(graph), Asked())
        return
    svg, caption = svg_of(figure_named(name), opened(graph), Asked())
    root = ET.fromstring(svg)
    assert root.tag.endswith("svg")
    assert {"width", "height"}.isdisjoint(root.attrib)
    assert re.fullmatch(r"0 0 [\d.]+ [\d.]+", root.attrib["viewBox"])
    ids = [node.attrib["id"] for node in root.iter() if "id" in node.attrib]
    assert len(ids) == len(set(ids))
    assert all(known.startswith(f"{name}-0-") for known in ids)
    meant = re.findall(r'(?:href="|url\()#([^")]+)', svg)
    assert meant
    assert set(meant) <= set(ids)
    assert INK not in svg
    assert "currentColor" in svg
    for ground in ("white", "black", "#ffffff", "#000000"):
        assert ground not in svg, "a color that one ground swallows"
    assert "<style" not in svg, "it would hold for the page around it"
    assert "<metadata" not in svg
    assert len(svg) < LARGEST
    assert caption.endswith(".")
    assert "--" not in caption


@pytest.mark.parametrize("ending", [".png", ".svg", ".pdf"])
def test_files_have_the_same_bytes_each_time(tmp_path: Path, ending: str) -> None:
    graph, figure = opened("six"), figure_named("sparsity")
    first, second = tmp_path / f"a{ending}", tmp_path / f"b{ending.upper()}"
    second.write_bytes(b"earlier")
    caption = write_figure(figure, graph, Asked(), first)
    assert write_figure(figure, graph, Asked(), second) == caption
    assert first.read_bytes() == second.read_bytes()
    starts = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    assert first.read_bytes().startswith(starts[ending])
    assert sorted(path.name for path in tmp_path.iterdir()) == [first.name, second.name]


def test_paper_is_white_and_svg_has_no_ground(tmp_path: Path) -> None:
    from PIL import Image

    graph, figure = opened("six"), figure_named("sparsity")
    write_figure(figure, graph, Asked(), tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as image:
        assert image.convert("RGBA").getpixel((0, 0)) == (255, 255, 255, 255)
        assert image.width == round(figure.size[0] * 200)
    write_figure(figure, graph, Asked(), tmp_path / "a.svg")
    assert "#ffffff" not in (tmp_path / "a.svg").read_text()


def test_a_figure_that_is_not_drawn_leaves_the_file(tmp_path: Path) -> None:
    file = tmp_path / "a.svg"
    file.write_bytes(b"earlier")
    with pytest.raises(NotDrawnError):
        write_figure(figure_named("subgraphs"), opened("columns"), Asked(), file)
    assert file.read_bytes() == b"earlier"
    assert list(tmp_path.iterdir()) == [file]


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("cheblienet_graphs.store.durable.os.write", full)
    with pytest.raises(StoreError, match=r"No space left on device\. Nothing was drawn; free some"):
        write_figure(figure_named("sparsity"), opened("tiny"), Asked(), tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        (Asked(level=4), "level"),
        (Asked(vertex=320), "vertex"),
        (Asked(vertex=-1), "vertex"),
        (Asked(seed=-1), "seed"),
        (Asked(seed=2**32), "seed"),
    ],
)
def test_what_a_graph_does_not_have_is_refused(asked: Asked, field: str) -> None:
    with pytest.raises(SpecError, match=rf"^{field} must be an integer in \[0, "):
        svg_of(FIGURES[0], opened("plane"), asked)


def test_names_are_known() -> None:
    assert [figure.name for figure in FIGURES][:2] == ["neighborhood", "spectrum"]
    with pytest.raises(SpecError, match=r"figure must be one of neighborhood, spectrum, .*'heart'"):
        figure_named("heart")


def test_drawing_leaves_matplotlib_as_it_was() -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    svg_of(FIGURES[0], opened("tiny"), Asked())
    assert dict(mpl.rcParams) == before
