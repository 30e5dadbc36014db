"""The examples of the page for those who come from DeepSphere: both run, with one result."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch

PAGE = (Path(__file__).parents[1] / "docs/how-to/from-deepsphere.md").read_text()
PYGSP, THEIRS, OURS, PARTIAL = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


pytestmark = pytest.mark.usefixtures("here")


def names_after(*examples: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for example in examples:
        exec(compile(example, "from-deepsphere.md", "exec"), names)
    return names


def test_both_networks_agree_on_one_graph() -> None:
    names = names_after(THEIRS, OURS)
    ours = names["network"]
    assert names["scores"].shape == (8, 10)
    fine, coarse = names["open_or_build"](names["spec"], "graphs.zarr").levels
    theirs = names["TheirNetwork"]([fine.laplacian, coarse.laplacian])
    for mine, yours in ((0, theirs.first), (3, theirs.second)):
        yours.weight = ours.layers[mine].weight
    theirs.classify = ours.layers[6]
    x = torch.randn(3, 768, generator=torch.Generator().manual_seed(0))
    expected = ours(x[:, None])
    assert expected.abs().max() > 1e-3
    torch.testing.assert_close(theirs(x[..., None]), expected, rtol=1e-4, atol=1e-5)


def test_a_partial_sky() -> None:
    names = names_after(OURS, PARTIAL)
    assert names["scores"].shape == (8, 10)
    inside = int(names["away_from_the_plane"].sum())
    assert 0 < inside < 768
    assert names["open_or_build"](names["spec"], "graphs.zarr").levels[0].num_vertices == inside
