"""Given points: what is read of arrays, and what is refused."""

import numpy as np
import pytest

from cheblienet_graphs import CheblienetError, SpecError
from cheblienet_graphs.samplings.given import Given, GivenPoints
from cheblienet_graphs.samplings.given_tables import PointArrays
from cheblienet_graphs.samplings.points import Random


def points_of(coordinates: object, *, flat: bool = False, **given: object) -> GivenPoints:
    fields = {"domain": None, "units": None, "periodic": False} | given
    return GivenPoints.read(coordinates, **fields, flat=flat)


def test_poles_and_quarter_turns_are_exact() -> None:
    given = [[90, 17], [-90, 300], [0, 0], [0, 90], [0, 180], [0, 270], [45, 45], [-30, -60]]
    read = points_of(np.array(given)).known.points
    axes = [[0, 0, 1], [0, 0, -1], [1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]]
    assert (read[:6] == axes).all()
    assert not np.signbit(read[:6][read[:6] == 0]).any()
    assert np.abs(read[6:] ** 2 - [[1 / 4, 1 / 4, 1 / 2], [3 / 16, 9 / 16, 1 / 4]]).max() < 3e-16


def test_digests_tell_points_apart_and_nothing_else() -> None:
    given = np.array([[10.0, 20], [-30, 190], [90, 5], [0, -180]])
    same = [
        given.tolist(),
        [given],
        (np.array([[10.0, 380 - 360], [-30, -170], [90, -77], [-0.0, 180]]),),
        np.asfortranarray(given),
        given.astype(np.float32),
        given.astype(int),
        np.ma.MaskedArray(given),
    ]
    first = points_of(given)
    assert all(points_of(other) == first for other in same)
    moved, others = given - 1e-13, given[::-1]
    different = [moved, others, np.column_stack([given, np.ones(4)]), [given, given[:2]]]
    assert len({first.sha256, *(points_of(other).sha256 for other in different)}) == 5
    plane = points_of([[0, 0], [4, 2]], flat=True)
    assert plane == points_of([[10, 10], [12, 11]], flat=True)
    assert plane != points_of([[0, 0], [4, 2]], flat=True, domain=(0, 0, 4, 3))


def test_areas_are_divided_by_their_mean() -> None:
    table = np.column_stack([FINE, [1e-300, 2e-300, 6e-300]])
    read = points_of(table)
    assert (read.areas, points_of(table[:, :2]).areas) == ("given", "voronoi")
    assert np.allclose(read.known.areas, [1 / 3, 2 / 3, 2], rtol=1e-14)
    scaled = table * [1, 1, 1024.0]
    assert points_of(scaled) == read


def test_lengths_are_divided_by_the_width() -> None:
    given = np.array([[3.0, 5], [7, 5], [4, 6.5], [5, 7]])
    read = points_of(given, flat=True)
    assert read.extent == (1.0, 0.5)
    assert (read.known.points == [[0, 0], [1, 0], [0.25, 0.375], [0.5, 0.5]]).all()
    wide = points_of(given, flat=True, domain="-1, 3, 9, 8")
    assert wide.extent == (1.0, 0.5)
    assert np.allclose(wide.known.points[0], [0.4, 0.2], rtol=1e-15)
    assert points_of([[0, 1], [2, 1]], flat=True, domain=(0, 0, 2, 4)).extent == (1.0, 2.0)
    levels = points_of([given, given[:2]], flat=True)
    assert (levels.points, levels.extent) == ((4, 2), (1.0, 0.5))
    assert (levels.coarser.known.points == [[0, 0], [1, 0]]).all()
    assert levels.coarser.coarser is None


def test_opposite_edges_of_a_torus_are_one() -> None:
    read = points_of([[0, 0.5], [1, 0.2]], flat=True, domain=(0, 0, 1, 1), periodic=True)
    assert (read.known.points == [[0, 0.5], [0, 0.2]]).all()
    with pytest.raises(SpecError, match=r"points 0 and 1 both at x 0, y 0\.5"):
        points_of([[0, 0.5], [1, 0.5]], flat=True, domain=(0, 0, 1, 1), periodic=True)


FINE = [[10.0, 20.0], [30.0, 40.0], [-60.0, 300.0]]


WIDE = np.column_stack([[5, 6, 7], [-3, 4, 80]])
FLAT = {"flat": True}


@pytest.mark.parametrize(
    ("coordinates", "more", "accepted", "got"),
    [
        (np.zeros((5, 4)), {}, "of shape (N, 2): latitude, longitude in deg", "shape (5, 4)"),
        ([[1, 2], [3]], {}, "of shape (N, 2)", "Got [[1, 2], [3]]. "),
        (np.array(FINE)[:1], {}, "at least 2 points", "1 point."),
        (WIDE, FLAT | {"domain": (0, 0, 1)}, "domain must be four numbers X0", "(0, 0, 1)"),
        (np.ma.masked_equal(FINE, 30), {}, "finite", "nan at point 1"),
        ([FINE, FINE], {}, "fewer on each level", "3 points of level 1. Give the finest level "),
        ([FINE, np.ones((2, 3))], {}, "with areas on all levels or on none", "of level 1"),
        (np.array(FINE)[:, ::-1], {}, "latitude, in", "300 at point 2. The second column fits"),
        ([[10, 361], [30, 40]], {}, "longitudes in [-360, 360]", "longitude 361 at point 0"),
        (np.radians(FINE), {}, "in degrees", "Got latitudes up to 1.047 and longitudes up to 5"),
        ([[90, 20], [3, 4], [90, 50]], {}, "different points", "points 0 and 2 both at latitude"),
        ([FINE, [[9, 9], [9, 9 + 1e-9]]], {}, "different points", "points 0 and 1 of level 1 "),
        (np.column_stack([FINE, [1, 0, 2]]), {}, "with positive areas", "area 0 at point 1"),
        (np.column_stack([FINE, [1, 1, 1e-13]]), {}, "1e-12 of their mean", "area 1e-13 at poi"),
        (WIDE, FLAT | {"domain": (0, 0, 6, 90)}, "within the domain [0, 6]", "(5, -3) at point"),
        ([[0, 3], [4, 3]], FLAT, "domain must be given where", "a bounding box of 4 x 0"),
        ([[0, 0], [1e-9, 1]], FLAT, "domain must be of a height in [1e-06", "1e-09 x 1"),
    ],
)
def test_one_line_says_what_is_wrong(
    coordinates: object, more: dict[str, object], accepted: str, got: str
) -> None:
    with pytest.raises(SpecError, match=r"^(coordinates|domain|units) must be ") as caught:
        points_of(coordinates, **more)
    message = str(caught.value)
    assert (accepted in message, got in message, "\n" in message) == (True, True, False)


def test_small_angles_are_confirmed_as_degrees() -> None:
    assert points_of(np.radians(FINE), units="degrees").points == (3,)


def test_of_many_equal_points_two_are_named_quickly() -> None:
    """Which a tree alone would not."""
    with pytest.raises(SpecError, match="points 0 and 1 both at latitude 5, longitude 6"):
        points_of(np.tile([5.0, 6.0], (200_000, 1)))


def test_next_to_a_pole_the_longitude_is_zero() -> None:
    arrays = {0: PointArrays(np.array([[0, 1e-17, 1.0], [0, 1e-17, -1.0]]), None)}
    assert (Given(size=GivenPoints((2,), "voronoi", "", arrays=arrays)).angles[1] == 0).all()


def test_points_too_close_for_cells_are_to_be_left_out() -> None:
    points = Random(size=2_000, seed=1).base_points
    beside = points[3] + 1e-12 * np.cross(points[3], [0, 0, 1])
    close = {0: PointArrays(np.vstack([points, beside / np.linalg.norm(beside)]), None)}
    with pytest.raises(CheblienetError, match="of `coordinates`, or give an area for each point"):
        _ = Given(size=GivenPoints((2_001,), "voronoi", "", arrays=close)).base_areas
