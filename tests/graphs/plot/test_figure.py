"""All graphs by all figures: what is drawn can be written, and put on a page."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from unittest.mock import Mock

import pytest
from marks import slow_but
from pictured import opened
from refusing import refused

from cheblienet_graphs.errors import NotDrawnError, SpecError, StoreError
from cheblienet_graphs.plot import FIGURES, Asked, Figure, figure_named, svg_of, write_figure
from cheblienet_graphs.plot.figure import INK, check_file


@pytest.mark.parametrize("ending", [".png", ".svg", ".pdf"])
def test_files_have_the_same_bytes_each_time(tmp_path: Path, ending: str) -> None:
    graph, figure = opened("tiny"), figure_named("sparsity")
    first, second = tmp_path / f"a{ending}", tmp_path / f"b{ending.upper()}"
    second.write_bytes(b"earlier")
    notes = tmp_path / "a.txt"
    notes.write_text("nobody's caption")
    caption = write_figure(figure, graph, Asked(), first)
    assert write_figure(figure, graph, Asked(), second) == caption
    assert first.read_bytes() == second.read_bytes()
    starts = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    assert first.read_bytes().startswith(starts[ending])
    texts = [each.with_name(f"{each.name}.txt") for each in (first, second)]
    assert [text.read_text() for text in texts] == [f"{caption}\n"] * 2
    assert sorted(tmp_path.iterdir()) == sorted([first, second, notes, *texts])
    assert notes.read_text() == "nobody's caption"


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = Mock(side_effect=OSError(28, "No space left on device"))
    graph = opened("tiny")
    monkeypatch.setattr("cheblienet_graphs.store.durable.os.fsync", full)
    with pytest.raises(StoreError, match=r"No space left on device\. Nothing was drawn; free some"):
        write_figure(figure_named("sparsity"), graph, Asked(), tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []


def test_drawing_leaves_matplotlib_as_it_was() -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    svg_of(FIGURES[0], opened("tiny"), Asked())
    assert dict(mpl.rcParams) == before


DRAWN = {
    "neighborhood": ["torus", "scan", "dust", "rotations"],
    "spectrum": ["kernel torus", "group"],
    "heat": ["group", "sphere", "scan"],
    "equivariance": ["tiny"],
    "eigenmaps": ["sphere"],
    "sparsity": ["tiny"],
}
QUICK = [(name, graph) for name, graphs in DRAWN.items() for graph in graphs]
HEAVY = [("equivariance", "axes"), ("heat", "ball"), ("heat", "own")]
"""Figures of graphs that take seconds."""


@pytest.mark.parametrize("drawn", slow_but(QUICK[::2], QUICK + HEAVY), ids=" ".join)
def test_a_page_can_hold_it(drawn: tuple[str, str]) -> None:
    name, graph = drawn
    svg, caption = svg_of(figure_named(name), opened(graph), Asked())
    root = ET.fromstring(svg)
    assert {"width", "height"}.isdisjoint(root.attrib)
    ids = [node.attrib["id"] for node in root.iter() if "id" in node.attrib]
    assert len(ids) == len(set(ids))
    assert all(known.startswith(f"{name}-0-") for known in ids)
    assert set(re.findall(r'(?:href="|url\()#([^")]+)', svg)) == set(ids)
    assert INK not in svg
    assert not re.search("<style|<metadata", svg), "it would hold for the page around it"
    assert len(svg) < 300_000
    assert caption.endswith(".")


def test_eigenvalues_that_are_all_zero_are_not_drawn() -> None:
    with pytest.raises(NotDrawnError, match=r"27 components on level 0, so its 25 smallest eigen"):
        svg_of(figure_named("spectrum"), opened("dust"), Asked())


@pytest.mark.parametrize("figure", FIGURES)
def test_what_a_graph_does_not_have_is_refused(figure: Figure) -> None:
    wrong = {"level": Asked(level=4), "vertex": Asked(vertex=320), "seed": Asked(seed=-1)}
    for field, asked in wrong.items():
        with pytest.raises(SpecError, match=rf"^{field} must be an integer in \[0, "):
            svg_of(figure, opened("plane"), asked)
    with pytest.raises(SpecError, match="output must be below a home folder that exists"):
        write_figure(figure, opened("plane"), Asked(), "~nosuchuser/x.png")
    refused("output must be a file", check_file, Path(opened("plane").version), error=SpecError)
    refused("there is no folder", check_file, Path("nowhere/a.png"), error=StoreError)
    complaint = "figure must be one of neighborhood, spectrum, .*'heart'"
    refused(complaint, figure_named, "heart", error=SpecError)
