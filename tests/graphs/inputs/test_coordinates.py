"""Latitudes and longitudes of grids: where they have holes, and how they are known."""

import numpy as np
import pytest
from refusing import refused

from cheblienet_graphs import SpecError
from cheblienet_graphs.inputs.coordinates import eastwards, hole_between_columns, hole_between_rows
from cheblienet_graphs.inputs.masks import LatLonMask

TELESCOPED = np.concatenate([np.geomspace(1, 20, 20), np.geomspace(20, 1, 20)])
TELESCOPED = np.cumsum(TELESCOPED * (360 / TELESCOPED.sum())) - 170
AROUND = {
    "0 to 360": np.arange(0.0, 360, 10),
    "-180 to 180": np.arange(-175.0, 180, 10),
    "float32": np.arange(0, 360, 0.7, dtype="f4")[:-1].astype(float) * (360 / 359.8),
    "two": np.array([0.0, 180]),
    "finer toward a place": TELESCOPED,
    "of two steps": np.concatenate([np.arange(0.0, 100), np.arange(100.0, 360, 20)]),
    "of no rule": np.array([0.0, 100, 130, 250]),
}
REGIONS = {
    "Greenwich": ([0.0, 10, 20, 350], 3),
    "date line": ([-180.0, -170, 160, 170], 2),
    "two": ([7.0, 7.01], 0),
    "all but a column": (np.arange(0.0, 350, 10), 0),
    "finer toward a side": (np.cumsum(np.geomspace(1, 20, 15)), 0),
    "of no rule": ([3.0, 5, 9, 11, 14, 19, 21], 0),
}


@pytest.mark.parametrize("longitudes", AROUND.values(), ids=AROUND)
def test_grids_that_go_once_around(longitudes: np.ndarray) -> None:
    order, around = eastwards(longitudes)
    assert around
    assert order.tolist() == [*range(len(longitudes))]
    mask = LatLonMask(np.ones((2, len(longitudes)), bool), [-45.0, 45.0], longitudes)
    assert mask.at(np.zeros(720), np.arange(-180, 180, 0.5)).all()


@pytest.mark.parametrize(("longitudes", "western"), REGIONS.values(), ids=REGIONS)
def test_regions_wherever_the_seam_cuts_them(longitudes: list[float], western: int) -> None:
    longitudes = np.array(longitudes)
    order, around = eastwards(longitudes)
    assert not around
    assert order[0] == western
    ends = longitudes[order][[0, -1]] % 360
    width = (ends[1] - ends[0]) % 360
    mask = LatLonMask(np.ones((2, len(longitudes)), bool), [-45.0, 45.0], longitudes)
    places = np.arange(-180, 180, 0.25)
    beyond = (places - ends[0]) % 360 > width
    inside = mask.at(np.zeros(len(places)), places)
    assert inside[~beyond].all()
    # Half a step on each side.
    steps = np.diff(longitudes[order])[[0, -1]] % 360
    assert inside[beyond].sum() == pytest.approx(steps.sum() / 2 / 0.25, abs=3)


def test_holes_within_grids_are_named() -> None:
    tropics, parts = np.array([-60.0, -50, -40, 40, 50, 60]), np.array([0.0, 10, 20, 180, 190, 200])
    assert hole_between_rows(tropics) == "none between -40 and 40"
    assert hole_between_rows(np.arange(-90.0, 91, 10)) is None
    assert hole_between_columns(parts) == "none between 20 and 180 and between 200 and 360"
    everywhere = np.ones((6, 6), bool)
    for rows in (tropics, tropics[::-1], np.random.default_rng(0).permutation(tropics)):
        message = "on latitudes without a hole. Got none between -40 and 40. Give each part"
        refused(message, LatLonMask, everywhere, rows, np.arange(0, 360, 60.0), error=SpecError)
    message = "on longitudes without several holes. Got none between"
    refused(message, LatLonMask, everywhere, np.arange(6.0), parts, error=SpecError)
