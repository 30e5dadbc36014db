"""What a report says of a graph with a mask."""

import re
from pathlib import Path

import numpy as np
import pytest

from cheblienet_graphs import GraphSpec, build, inspect


@pytest.fixture
def pixel() -> np.ndarray:
    mask = np.zeros((8, 8), dtype=bool)
    mask[3, 4] = True
    return mask


def test_an_unknown_scale_is_no_number(tmp_path: Path, pixel: np.ndarray) -> None:
    """No point has all its neighbors, so nothing says what the eigenvalues estimate."""
    build(GraphSpec("se2", mask=pixel, levels=1), tmp_path / "g.zarr")
    report = inspect(tmp_path / "g.zarr")
    assert report.levels[0].eigenvalue_scale is None
    text = report.full_text()
    assert "nan" not in text
    values = re.findall(r"^ +[0-9]+ x +\S+ +(\S+)$", text, re.MULTILINE)
    assert set(values) == {"-"}


def test_an_in_plane_fraction_of_the_whole_sampling(tmp_path: Path, pixel: np.ndarray) -> None:
    pixel[3, 5] = True
    build(GraphSpec("se2", mask=pixel, levels=1, xi="auto"), tmp_path / "g.zarr")
    said = " ".join(str(inspect(tmp_path / "g.zarr")).split())
    assert ", asked for 0.4: xi is solved for on the whole sampling" in said


def test_all_but_one_point_are_not_all(tmp_path: Path, pixel: np.ndarray) -> None:
    for mask, share in ((~np.kron(pixel, np.eye(4) == 1), "99.6 %"), (pixel | True, "100 %")):
        build(GraphSpec("r2", mask=mask, levels=1), tmp_path / "g.zarr", name="g")
        text = inspect(tmp_path / "g.zarr", "g").full_text()
        assert re.search(rf"inside the mask +{share}$", text, re.MULTILINE)
        assert f"points inside, {share};" in text
