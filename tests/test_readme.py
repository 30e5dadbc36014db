"""The README's examples run, on graphs small enough for a test."""

import re
from pathlib import Path

import pytest

from cheblienet_graphs import GraphSpec, build

README = (Path(__file__).parents[1] / "README.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_examples_run_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    build(GraphSpec("se2", 16), "graphs.zarr")
    assert len(EXAMPLES) == 3
    names: dict[str, object] = {}
    for example in EXAMPLES:
        small = example.replace("96x96x6", "16x16x6").replace("96, 96", "16, 16")
        small = small.replace("96x64", "24x16")
        exec(compile(small, "README.md", "exec"), names)
    assert names["log_probabilities"].shape == (8, 10)
    x = names["lift"](names["torch"].zeros(2, 3, 16, 24))
    y = names["project"](names["unpool"](names["pool"](names["conv"](x))))
    assert y.shape == (2, 16, 16 * 24)
