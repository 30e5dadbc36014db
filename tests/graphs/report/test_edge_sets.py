"""Reports on graphs of other programs: what is made wrong is found, and nothing else is said."""

from pathlib import Path
from typing import Any

import pytest
import torch
from coupled_graphs import coupled
from refusing import refused

from cheblienet_graphs.archives.edge_files import read_edges, saved_by_others
from cheblienet_graphs.errors import InputError
from cheblienet_graphs.report.edge_sets import EdgeSetReport, inspect_saved


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A graph as neural-lam has it, of two levels."""
    pyramid, encoder, decoder = coupled("sphere")
    return pyramid.save_neural_lam(tmp_path / "mine", encoder, decoder)


def changed(folder: Path, name: str, change: Any) -> EdgeSetReport:
    """What is said of a set of edges after a change to its list of levels, or to its tensor."""
    file = folder / f"{name}_edge_index.pt"
    saved = torch.load(file, weights_only=True)
    several = isinstance(saved, list)
    edges = change(saved[0] if several else saved)
    torch.save([edges, *saved[1:]] if several else edges, file)
    return next(one for one in inspect_saved(folder).sets if one.name in {name, f"{name} 0"})


def test_a_sound_graph_has_what_its_tensors_have(folder: Path) -> None:
    report = inspect_saved(folder)
    pyramid, _, _ = coupled("sphere")
    by_name = {one.name: one for one in report.sets}
    assert [*by_name] == ["g2m", "m2g", "m2m 0", "m2m 1", "mesh_up 0", "mesh_down 0"]
    for number, graph in enumerate(pyramid.levels):
        one = by_name[f"m2m {number}"]
        assert (one.sources, one.targets) == (graph.num_vertices,) * 2
        assert one.edges == 2 * len(graph.edges.first)
        assert (one.components, one.one_way, one.double, one.loops) == (1, 0, 0, 0)
    grid = by_name["g2m"]
    assert (grid.sources, grid.targets) == (544, pyramid.levels[0].num_vertices)
    unread = int(
        (torch.bincount(read_edges_of(folder, "g2m")[0], minlength=grid.sources) == 0).sum()
    )
    assert grid.isolated_sources == unread > 0
    assert report.components == 1
    text = str(report)
    assert f"g2m: {unread} sources without an edge" in text
    assert "m2m" not in text.split("\n\n")[-1]


def read_edges_of(folder: Path, name: str) -> torch.Tensor:
    """The edges of a file."""
    edges: torch.Tensor = torch.load(folder / f"{name}_edge_index.pt", weights_only=True)
    return edges


def test_faults_are_counted(folder: Path) -> None:
    one = changed(folder, "m2m", lambda edges: torch.cat([edges, edges[:, :3]], dim=1))
    assert (one.double, one.one_way) == (3, 0)
    one = changed(folder, "m2m", lambda edges: edges[:, 1:-3])
    assert (one.double, one.one_way) == (0, 1)
    one = changed(folder, "m2m", lambda edges: torch.cat([edges, edges[:1].expand(2, -1)], dim=1))
    assert one.loops == edges_of(folder) // 2
    receivers = read_edges_of(folder, "m2g")[1]
    one = changed(folder, "m2g", lambda edges: edges[:, (edges[1] != 5) & (edges[1] != 9)])
    assert (one.isolated_targets, one.incoming.min) == (2, 0)
    assert one.edges == len(receivers) - int(((receivers == 5) | (receivers == 9)).sum())
    assert "m2g: 2 targets that no edge leads to" in str(inspect_saved(folder))


def edges_of(folder: Path) -> int:
    """The number of edges of the finest mesh."""
    return next(one.edges for one in inspect_saved(folder).sets if one.name == "m2m 0")


def test_numbers_that_go_on_from_set_to_set_are_brought_to_zero(folder: Path) -> None:
    """As older versions of neural-lam save them: grid nodes after those of the mesh."""
    before = inspect_saved(folder)
    for name, row in (("g2m", 0), ("m2g", 1)):
        edges = read_edges_of(folder, name)
        edges[row] += 1000
        torch.save(edges, folder / f"{name}_edge_index.pt")
    assert inspect_saved(folder).sets[1] == before.sets[1]


@pytest.mark.parametrize(
    ("file", "contents", "said"),
    [
        ("m2m_edge_index", [torch.tensor([[0, 900], [1, 2]])] * 2, "name nodes 0 to 900 of mesh 0"),
        ("m2m_edge_index", [torch.zeros(3, 2)] * 2, "of shape"),
        ("m2m_edge_index", {"a": Path()}, "holds more than tensors"),
    ],
)
def test_files_of_another_form_are_refused(
    folder: Path, file: str, contents: Any, said: str
) -> None:
    torch.save(contents, folder / f"{file}.pt")
    refused(said, inspect_saved, folder, error=InputError)


def test_files_that_are_none_are_refused(folder: Path) -> None:
    (folder / "mesh_features.pt").write_bytes(b"no file of torch")
    refused("mesh_features.pt", inspect_saved, folder, error=InputError)
    (folder / "mesh_features.pt").unlink()
    refused("mesh_features", inspect_saved, folder, error=InputError)
    assert not saved_by_others(folder / "none.pt")
    assert not saved_by_others(folder.parent)


def test_anemoi_s_file_is_read_without_running_it(folder: Path) -> None:
    pytest.importorskip("torch_geometric")
    pyramid, encoder, decoder = coupled("sphere")
    file = folder.parent / "graph.pt"
    torch.save(pyramid.to_hetero(encoder, decoder), file)
    known = {(one.sources, one.targets, one.edges): one for one in inspect_saved(folder).sets}
    for one in inspect_saved(file).sets:
        same = known[one.sources, one.targets, one.edges]
        assert (one.incoming, one.components) == (same.incoming, same.components)
        assert one.lengths is not None
        assert vars(one.lengths) == pytest.approx(vars(same.lengths), rel=1e-6)
    assert {one.name for one in read_edges(file)} >= {"data -> hidden_1", "hidden_1 -> data"}


def test_files_of_other_things_are_refused(tmp_path: Path) -> None:
    """Of a model's weights, and of graphs that lack nodes."""
    torch.save({"weight": torch.zeros(3)}, tmp_path / "model.pt")
    refused(
        "not as neural-lam or anemoi-graphs saves",
        inspect_saved,
        tmp_path / "model.pt",
        error=InputError,
    )
    torch.save(torch.zeros(3), tmp_path / "tensor.pt")
    refused(
        "not as neural-lam or anemoi-graphs saves",
        inspect_saved,
        tmp_path / "tensor.pt",
        error=InputError,
    )
    pyramid, encoder, decoder = coupled("sphere")
    folder = pyramid.save_neural_lam(tmp_path / "mine", encoder, decoder)
    torch.save(torch.zeros(2, 0, dtype=torch.int64), folder / "g2m_edge_index.pt")
    refused("not as neural-lam or anemoi-graphs saves", inspect_saved, folder, error=InputError)
