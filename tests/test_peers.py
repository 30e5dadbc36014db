"""Side by side: tables have their form, and who computes something else is refused."""

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

FOLDER = Path(__file__).parents[1] / "benchmarks"
FOLDERS = [str(FOLDER), str(FOLDER / "accuracy")]
TIME = r"[\d,.]+(e-\d+)? m?s \([\d,.e-]+ to [\d,.e-]+\)"
RATIO = r"(1|[\d,.e-]+ \([\d,.e-]+ to [\d,.e-]+\))"


def loaded(name: str) -> ModuleType:
    """A script of the benchmarks, which imports those beside it by their names."""
    sys.path[:0] = FOLDERS
    try:
        return importlib.import_module(name)
    finally:
        sys.path[:] = [folder for folder in sys.path if folder not in FOLDERS]


peers, turns = loaded("peers"), loaded("turns")
peers_neighbours, peers_layers = loaded("peers_neighbours"), loaded("peers_layers")
peers_sphere, peers_steerable = loaded("peers_sphere"), loaded("peers_steerable")


def tables(text: str) -> list[list[list[str]]]:
    """Rows of cells of each Markdown table, the heads first; a table is lines in succession."""
    found = re.findall(r"(?:^\|.*\|$\n)+", text, re.MULTILINE)
    return [
        [[cell.strip() for cell in line[1:-1].split("|")] for line in table.splitlines()]
        for table in found
    ]


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    peers.main([*arguments, "--quick", "--rounds", "1"])
    return capsys.readouterr().out


def check_form(text: str, ours: int) -> list[list[str]]:
    """The rows of the only table: as wide as its head, a time and a ratio or a refusal in each."""
    ((head, line, *rows),) = tables(text)
    assert set(line) == {"---"}
    assert head[-2:] == ["forward + backward (quartiles)", "/ ours"]
    for row in rows:
        assert len(row) == len(head)
        assert re.fullmatch(TIME, row[-2]), row
        assert re.fullmatch(RATIO, row[-1]), row
    assert sum(row[-1] == "1" for row in rows) == ours
    return rows


@pytest.mark.slow
def test_neighbours(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "--parts", "neighbours")
    assert re.match(r".+, \d+ threads; Python 3.+ torch .+\. Rounds: 1\.\n\n", text)
    ((head, _, *rows),) = tables(text)
    assert head[3:] == ["found by", "median (quartiles)", "/ ours", "time grows as"]
    refused = [row for row in rows if row[4].startswith("refused")]
    assert {row[3] for row in refused} <= {peers_neighbours.BALL_TREE}
    timed = [row for row in rows if row not in refused]
    assert all(re.fullmatch(TIME, row[4]) and re.fullmatch(RATIO, row[5]) for row in timed)
    assert {row[3] for row in timed} >= {
        *("ours, stencils", "ours, pruned search"),
        *(peers_neighbours.KEOPS, peers_neighbours.ALL_PAIRS, peers_neighbours.BRUTE_FORCE),
    }
    assert sum(row[5] == "1" for row in rows) == 4
    assert all(bool(re.fullmatch(r"V\^-?\d+\.\d", row[6])) for row in rows if "8 x 8" in row[0])


@pytest.mark.slow
def test_layers(capsys: pytest.CaptureFixture[str]) -> None:
    rows = check_form(printed(capsys, "--parts", "layers"), ours=1)
    assert [row[2] for row in rows[:4]] == [
        *("ours", "ours, basis saved", "CSR, addmm", "COO recursion")
    ]


@pytest.mark.slow
def test_networks_on_healpix(capsys: pytest.CaptureFixture[str]) -> None:
    rows = check_form(printed(capsys, "--parts", "sphere"), ours=1)
    counts = {row[0]: int(row[1].replace(",", "")) for row in rows}
    assert {"its form, our layers", "our UNet", "plain U-Net, a rectangle"} <= counts.keys()
    assert max(counts.values()) < 2 * min(counts.values())


@pytest.mark.slow
def test_layers_under_quarter_turns(capsys: pytest.CaptureFixture[str]) -> None:
    rows = check_form(printed(capsys, "--parts", "steerable"), ours=1)
    changes = {row[0]: float(row[2]) for row in rows}
    assert changes.pop("plain 3 x 3") > 0.1
    assert max(changes.values()) < 1e-5


def test_other_weights_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One weight of one contender is another: it has no time, all others have."""
    right = peers_layers.with_weights

    def wrong(layer: nn.Module, weight: Tensor) -> nn.Module:
        if type(layer).__name__ == "CsrConv":
            weight = weight.clone()
            weight[0, 0, 0] += 0.1
        return right(layer, weight)

    monkeypatch.setattr(peers_layers, "with_weights", wrong)
    peers_layers.chebyshev_layers(tmp_path / "g.zarr", 1, "cpu", quick=True)
    ((_, _, *rows),) = tables(capsys.readouterr().out)
    cells = {row[2]: row[3:] for row in rows}
    assert re.fullmatch(r"refused: outputs differ by \d\.\de-0\d", cells.pop("CSR, addmm")[0])
    assert len(cells) >= 3
    assert all(re.fullmatch(TIME, time) for time, _ in cells.values())


def test_other_gradients_are_refused() -> None:
    y = torch.ones(2, 3, 4)
    assert peers_layers.difference((y, y), (y, y)) == ""
    assert peers_layers.difference((y, 1.01 * y), (y, y)) == "gradients differ by 1.0e-02"
    assert peers_layers.difference((y * torch.nan, y), (y, y)) == "outputs differ by nan"


def test_other_networks_are_refused() -> None:
    """Outputs count one by one; of gradients a few entries may be others, not all."""
    y = torch.ones(1, 3, 100)
    few, all_of_them = y.clone(), 1.03 * y
    few[0, 0, 0] = 1.2
    assert peers_sphere.difference((y, few), (y, y)) == ""
    assert peers_sphere.difference((few, y), (y, y)) == "outputs differ by 2.0e-01"
    assert peers_sphere.difference((y, all_of_them), (y, y)) == "gradients differ by 3.0e-02"
    assert peers_sphere.difference((y, y * torch.nan), (y, y)) == "gradients differ by nan"


def test_layers_that_do_not_turn_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ours, made to depend on the place: both are refused, the plain one promises nothing."""

    class Placed(peers_layers.ChebConv):  # type: ignore[misc]
        def forward(self, x: Tensor) -> Tensor:
            y: Tensor = super().forward(x) * torch.arange(x.shape[2])
            return y

    monkeypatch.setattr(peers_steerable, "ChebConv", Placed)
    peers_steerable.steerable_layers(tmp_path / "g.zarr", 1, "cpu", quick=True)
    ((_, _, *rows),) = tables(capsys.readouterr().out)
    cells = {row[0]: row[3] for row in rows if row[0] in {"ours, plane", "ours, SE(2)"}}
    assert set(cells.values()) == {"refused"}
    assert len(cells) == 2
    assert re.fullmatch(TIME, rows[-1][3])


def test_other_edges_are_refused() -> None:
    sampled, *_ = peers_neighbours.sampled_sizes("cpu", quick=True)
    right = sampled.found_by(sampled.choice)
    squared, others = peers_neighbours.by_torch(sampled)
    assert peers_neighbours.difference(sampled.by_the_rule((squared, others)), right) == ""
    row = right.keys[0] // sampled.spec.num_vertices
    squared[row, 0] = np.inf  # the nearest neighbour of one vertex is overlooked
    found = sampled.by_the_rule((squared, others))
    reason = peers_neighbours.difference(found, right)
    assert reason == f"1 of {len(right.keys) // 2:,} edges are others"
    longer = peers_neighbours.Edges(right.keys, right.squared * (1 + 1e-6))
    assert "lengths differ by 1.0e-06" in peers_neighbours.difference(longer, right)
    results = {"ours": right, "one less": found, "the same": right}
    assert turns.refusals(results, peers_neighbours.difference) == {"one less": reason}


def test_distances_in_plain_python_are_those_of_the_package() -> None:
    for sampled in peers_neighbours.sampled_sizes("cpu", quick=True)[::2]:
        maker = {"se2": "se2_distance", "so3": "so3_distance"}[sampled.spec.manifold]
        distance = getattr(peers_neighbours, maker)(sampled.cloud.metric)
        points = np.stack([element.ravel() for element in sampled.cloud.elements], axis=1)
        squared, others = peers_neighbours.by_torch(sampled)
        for vertex in range(0, len(points), 7):
            found = [distance(points[vertex], points[other]) ** 2 for other in others[vertex]]
            assert np.allclose(found, squared[vertex], rtol=1e-9)


def test_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Contenders alternate; medians, quartiles and ratios are those of what was measured."""
    calls: list[str] = []
    clock = iter([0.0, 1.0, 10.0, 14.0, 20.0, 21.0, 30.0, 32.0, 40.0, 41.0, 50.0, 53.0])
    monkeypatch.setattr(turns, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    took = turns.in_turns({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, 3)
    assert calls == ["a", "b"] * 3
    assert took == {"a": [1, 1, 1], "b": [4, 2, 3]}
    assert turns.middle_and_spread(took["b"]) == "3 s (2.5 to 3.5)"
    assert turns.middle_and_spread([0.0123] * 2) == "12.3 ms (12.3 to 12.3)"
    assert turns.ratio_and_spread(took["b"], took["a"]) == "3 (2.5 to 3.5)"
    assert turns.ratio_and_spread(took["a"], took["a"]) == "1"


def test_what_is_not_installed_is_left_out_with_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert turns.installed("numpy", "pip install numpy")
    assert capsys.readouterr().out == ""
    assert not turns.installed("no_such_package", "pip install it")
    line = "no_such_package is not installed and is left out: `pip install it`.\n\n"
    assert capsys.readouterr().out == line


def test_what_does_not_work_is_left_out_with_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "for_another_numpy.py").write_text("import no_such_part")
    monkeypatch.syspath_prepend(tmp_path)
    assert not turns.installed("for_another_numpy", "pip install it")
    assert capsys.readouterr().out == (
        "for_another_numpy does not work here (No module named 'no_such_part') and is left out: "
        "`pip install it`.\n\n"
    )
