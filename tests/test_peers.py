"""Side by side: tables have their form, and who computes something else is refused."""

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
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
