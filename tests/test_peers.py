"""Side by side: tables have their form, and who computes something else is refused."""

import itertools
import re

import pytest
from benchmark_scripts import loaded
from torch import Tensor, nn

peers, turns, peers_layers = loaded("peers", "turns", "peers_layers")
TIME = r"[\d,.]+(e-\d+)? m?s \([\d,.e-]+ to [\d,.e-]+\)"


def tables(text: str) -> list[list[list[str]]]:
    """Rows of cells of each Markdown table, without its head; a table is lines in succession."""
    parts = re.findall(r"(?:^\|.*\|$\n)+", text, re.MULTILINE)
    rows = [[line.strip("|").split("|") for line in part.splitlines()[2:]] for part in parts]
    return [[[cell.strip() for cell in row] for row in table] for table in rows]


@pytest.mark.slow
def test_all_parts(capsys: pytest.CaptureFixture[str]) -> None:
    """No layer of others is refused, and ours are equivariant."""
    peers.main(["--quick", "--rounds", "1"])
    text = capsys.readouterr().out
    printed = tables(text)
    assert len(printed) == 4
    for row in itertools.chain(*printed):
        assert re.search(TIME, " ".join(row)) or row[3] == "scikit-learn, ball tree", row
    changes = {row[0]: float(row[2]) for row in printed[-1]}
    assert changes.pop("plain 3 x 3") > 0.1
    assert max(changes.values()) < 1e-5


def test_other_weights_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One weight of one contender is another: it has no time, all others have."""
    right = peers_layers.with_weights

    def wrong(layer: nn.Module, weight: Tensor) -> nn.Module:
        if type(layer).__name__ == "CsrConv":
            weight = weight.clone()
            weight[0, 0, 0] += 0.1
        return right(layer, weight)

    monkeypatch.setattr(peers_layers, "with_weights", wrong)
    peers_layers.chebyshev_layers(1, "cpu", quick=True)
    (rows,) = tables(capsys.readouterr().out)
    cells = {row[2]: row[3:] for row in rows}
    assert re.fullmatch(r"refused: outputs differ by \d\.\de-0\d", cells.pop("CSR, addmm")[0])
    assert len(cells) >= 3
    assert all(re.fullmatch(TIME, time) for time, _ in cells.values())


def test_turns() -> None:
    """Contenders alternate; medians, quartiles and ratios are those of what was measured."""
    calls: list[str] = []
    clock = iter([0.0, 1.0, 10.0, 14.0, 20.0, 21.0, 30.0, 32.0, 40.0, 41.0, 50.0, 53.0])
    works = {"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}
    took = turns.in_turns(works, 3, clock=lambda: next(clock))
    assert calls == ["a", "b"] * 3
    assert took == {"a": [1, 1, 1], "b": [4, 2, 3]}
    assert turns.middle_and_spread(took["b"]) == "3 s (2.5 to 3.5)"
    assert turns.middle_and_spread([0.0123] * 2) == "12.3 ms (12.3 to 12.3)"
    assert turns.ratio_and_spread(took["b"], took["a"]) == "3 (2.5 to 3.5)"
    assert turns.ratio_and_spread(took["a"], took["a"]) == "1"
