"""Parts of pixels: exact for polygons, close for level sets, those of arrays as they are."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from examined import allocated_by
from failures import refusal_by
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.path import Path as MplPath
from matplotlib.transforms import Bbox
from refusing import refused
from scipy.spatial import Delaunay

from cheblienet_graphs import GraphSpec, Polygons, SpecError, read_mask
from cheblienet_graphs.errors import InputError
from cheblienet_graphs.inputs import polygons
from cheblienet_graphs.inputs.polygons import UNIT, coverage, half_pixels

CORNERS = st.lists(
    st.tuples(st.floats(-3, 9), st.floats(-3, 9)), min_size=3, max_size=3, unique=True
)


@given(CORNERS)
def test_parts_of_triangles_are_those_of_many_points(corners: list) -> None:
    corners = np.array(corners)
    (a, b), (c, d) = corners[1] - corners[0], corners[2] - corners[0]
    if abs(a * d - b * c) < 1e-3:
        return
    y, x = (np.indices((6 * 40, 6 * 40)) + 0.5) / 40
    inside = Delaunay(corners).find_simplex(np.stack([x, y], axis=-1)) == 0
    counted = inside.reshape(6, 40, 6, 40).mean(axis=(1, 3))
    for ring in (corners, corners[::-1], np.vstack([corners, corners[:1]])):
        assert coverage(Polygons.of(ring), (6, 6)) == pytest.approx(counted, abs=0.04)


def test_areas_are_exact() -> None:
    """Also with holes, several polygons, and corners at corners of pixels."""
    square, hole = [[1, 1], [7, 1], [7, 6], [1, 6]], [[2.5, 2], [4, 2], [4, 3.25], [2.5, 3.25]]
    assert coverage(Polygons.of(square, hole), (8, 8)).sum() == pytest.approx(30 - 1.875, abs=1e-12)
    refused("neither overlap", coverage, Polygons([[square], [hole]]), (8, 8), error=SpecError)
    two = Polygons([[square], [[[7, 6], [8, 6], [8, 8]]]])
    assert coverage(two, (8, 8)).sum() == pytest.approx(31, abs=1e-12)
    outside = Polygons.of([[-9, -9], [20, -9], [20, 20], [-9, 20]])
    assert (coverage(outside, (3, 5)) == 1).all()
    halves = half_pixels(Polygons.of(hole), (8, 8))
    assert halves[4, 5] == 1
    assert halves[6, 5] == 0.5
    assert halves.shape == (16, 16)


def star(corners: int, center: tuple[float, float], radius: float, seed: int = 0) -> np.ndarray:
    """A ring of random distances from a center, not convex."""
    angles = np.linspace(0, 2 * np.pi, corners, endpoint=False)
    radii = radius * np.random.default_rng(seed).uniform(0.6, 1, corners)
    return center + radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def clipped_areas(ring: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """The area of a ring in each pixel, as matplotlib clips it."""
    path, areas = MplPath(np.vstack([ring, ring[:1]]), closed=True), np.zeros(shape)
    for row, column in np.ndindex(shape):
        box = Bbox([[column, row], [column + 1, row + 1]])
        for part in path.clip_to_bbox(box).to_polygons():
            (x, y), (last_x, last_y) = part.T, np.roll(part, 1, axis=0).T
            areas[row, column] += abs((last_x * y - x * last_y).sum()) / 2
    return areas


@pytest.mark.parametrize("center", [(5.3, 6.1), (-4.0, 3.0), (9.0, 14.0), (5, 5), (40.0, 5.0)])
def test_parts_are_exact_inside_and_across_the_sides_of_the_lattice(center: tuple) -> None:
    """Of a ring with a hole, in either direction, of more pieces than are added at once, too."""
    outer, hole = star(800, center, 6, 1), star(300, center, 3, 2)
    exact = clipped_areas(outer, (11, 9)) - clipped_areas(hole, (11, 9))
    for rings in ((outer, hole), (outer[::-1], hole), (outer, hole[::-1])):
        assert coverage(Polygons.of(*rings), (11, 9)) == pytest.approx(exact, abs=1e-9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(polygons, "AT_ONCE", 100)
        assert coverage(Polygons.of(outer, hole), (11, 9)) == pytest.approx(exact, abs=1e-9)


def test_corners_are_taken_together() -> None:
    """No line of Python runs once a corner, in the lattice or outside."""

    def calls(corners: int, center: tuple[int, int]) -> int:
        ring, seen = Polygons.of(star(corners, center, 4)), []
        sys.setprofile(lambda frame, event, argument: seen.append(event))
        try:
            coverage(ring, (9, 9))
        finally:
            sys.setprofile(None)
        return len(seen)

    for center in ((4, 4), (-60, 4), (60, 60)):
        assert calls(3000, center) < calls(30, center) + 30


def test_neighbors_that_overlap_are_named_by_their_place() -> None:
    """By slivers, too, of which the part is as good as 1."""
    left, right = [[0, 0], [4.001, 0], [4.001, 6], [0, 6]], [[4, 0], [8, 0], [8, 6], [4, 6]]
    far = [[20, 20], [21, 20], [21, 21]]
    several = Polygons([[far], [left], [right]])
    message = (
        r"neither overlap nor cross themselves\. Got 1\.00[0-9]+ times the area about "
        r"x = 4\.[0-9]+, y = [0-9.]+\. Polygons 1, 2 overlap there, counted from 0; unite them"
    )
    refused(message, coverage, several, (6, 8), error=SpecError)
    refused(message, half_pixels, several, (6, 8), error=SpecError)
    bow = Polygons.of([[0, 0], [6, 6], [6, 0], [0, 4]])
    refused("Polygon 0 crosses itself there", coverage, bow, (6, 6), error=SpecError)


def test_level_sets_have_the_area_of_what_they_enclose() -> None:
    """In the plane and in space; where a function has steps, too."""
    disc = half_pixels(lambda x, y: np.hypot(x - 10.3, y - 9.1) ** 2 - 49, (20, 21))
    assert disc.sum() / 4 == pytest.approx(49 * np.pi, rel=1e-4)
    assert disc.shape == (40, 42)
    half = half_pixels(lambda x, y, z: x - 2.25 + 0 * y * z, (3, 4, 5))
    assert (half[..., :4] == 1).all()
    assert (half[..., 4] == 0.5).all()
    assert not half[..., 5:].any()
    steps = half_pixels(lambda x, y: np.where((x < 2) & (y < 1), -1.0, 1.0), (4, 4))
    assert steps.sum() / 4 == pytest.approx(2, abs=0.2)
    assert (steps / UNIT % 1 == 0).all()


@pytest.mark.parametrize("shape", [(9, 14), (1, 24, 20), (3, 4, 5)])
def test_level_sets_are_evaluated_in_blocks(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of rows, and of parts of rows where one has too many cells."""
    sizes = []

    def ball(*places: np.ndarray) -> np.ndarray:
        sizes.append(places[0].size)
        return np.sqrt(sum((place - 4.3) ** 2 for place in places)) - 3.9

    whole = half_pixels(ball, shape)
    monkeypatch.setattr(polygons, "AT_ONCE", 2**12)
    sizes.clear()
    assert np.array_equal(half_pixels(ball, shape), whole)
    assert len(sizes) > 1
    assert max(sizes) < 3 * 2**12  # with a cell more on each side


def test_sides_far_beyond_the_lattice_take_little_memory() -> None:
    far = Polygons.of([[0, 0], [5e8, 1e9], [0, 5e8]])
    covered = coverage(far, (4, 6))
    assert allocated_by(lambda: coverage(far, (4, 6))) < 10**6
    assert covered[:, 0] == pytest.approx([0.25, 0.75, 1, 1])
    assert covered.sum(axis=1) == pytest.approx([0.25, 0.75, 1.25, 1.75])


@pytest.mark.parametrize("far", [1.5e9, 1e17, 1e19, 1e300, np.inf, np.nan])
def test_corners_too_far_away_are_refused(tmp_path: Path, far: float) -> None:
    """Sides between such are not known well enough: around the whole lattice there was nothing."""
    message = r"corners are in \[-1e\+09, 1e\+09\] pixels\. Got "
    around = [[-far, -far], [far, -far], [0, far]]
    refused(message, Polygons.of, around, error=SpecError)
    document = {"type": "Polygon", "coordinates": [around]}
    (tmp_path / "m.json").write_text(json.dumps(document))
    refused(message, read_mask, tmp_path / "m.json", error=InputError)


def test_corners_as_far_as_they_may_be() -> None:
    most = polygons.LARGEST_CORNER
    around = Polygons.of([[-most, -most], [most, -most], [0, most]])
    assert (half_pixels(around, (7, 5)) == 1).all()


def of_tensor(x: np.ndarray, y: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(x + y - 3)


RETURNED = {
    "detach": lambda x, y: of_tensor(x, y).requires_grad_(),
    "meta device": lambda x, y: of_tensor(x, y).to("meta"),
    "to_dense": lambda x, y: of_tensor(x, y).to_sparse(),
    "BFloat16": lambda x, y: of_tensor(x, y).bfloat16(),
    "inhomogeneous": lambda x, y: [[1], [x, y]],
    "masked values": lambda x, y: np.ma.masked_greater(x + y, 2),
}


@pytest.mark.parametrize("said", RETURNED)
def test_functions_that_return_no_array_are_refused(said: str) -> None:
    for edge in ("pixels", "cut"):
        fields = {"mask": RETURNED[said], "mask_edge": edge, "weights": "selling", "levels": 1}
        refused(f"^mask must be .*{said}", GraphSpec, "r2", 4, **fields, error=SpecError)


def test_what_fails_when_it_is_called_is_refused() -> None:
    """A network is a function, too, but none of coordinates."""
    for mask, found in (
        (torch.nn.Linear(2, 1), r"Got Linear\. It raised TypeError: .*2 pos"),
        (torch.nn.Bilinear(1, 1, 1), r"Got Bilinear\. It raised TypeError: .*must be Tensor"),
        (lambda x: x, r"Got function\. It raised TypeError: .*1 pos"),
        (lambda x, y: x + y.shape[2], r"It raised IndexError: tuple index out of range\."),
    ):
        message = f"^mask must be a function of arrays x, y in pixels.*{found}"
        refused(message, GraphSpec, "r2", 4, mask=mask, error=SpecError)
    refused("Got ReLU", GraphSpec, "s2", subdivisions=1, mask=torch.nn.ReLU(), error=SpecError)


def test_what_a_function_refuses_itself_and_memory_are_no_faults_of_its_form() -> None:
    def refusing(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        del x, y
        raise error

    for error in (InputError("f.npy does not exist."), MemoryError()):
        with pytest.raises(type(error)) as raised:
            GraphSpec("r2", 4, mask=refusing)
        assert raised.value is error


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (np.array([[np.nan, 0.5], [0, 1.5]]), r"outside \[0, 1\], or NaN"),
        (np.zeros((2, 2)), "a fifth of some pixel of every level is inside. Got less on all "),
        (np.ones((4, 5)), r"of shape \(2, 2\)"),
        (lambda x, y: np.zeros(3), "finite numbers of their shape. Got float64 of shape"),
        (lambda x, y: x / 0 * y, "finite numbers of their shape. Got some that are NaN or inf"),
        (lambda x, y: np.sqrt(x) - y, "up to 0.1 beyond the lattice.*Got some that are NaN"),
    ],
)
def test_bad_domains_are_refused_in_one_line(mask: object, message: str) -> None:
    fields = {"mask": mask, "mask_edge": "cut", "weights": "selling", "levels": 1}
    refused(message, GraphSpec, "r2", 2, **fields, error=SpecError)


def test_polygons_without_cut_pixels_take_those_of_which_more_than_half_is_inside() -> None:
    spec = GraphSpec("r2", 8, mask=Polygons.of([[0, 0], [4.6, 0], [4.6, 8], [0, 8]]), levels=1)
    assert spec.base_points(0) == 40
    assert "mask_edge" not in spec.to_dict()


def test_files_hold_parts(tmp_path: Path) -> None:
    from PIL import Image

    gray = np.array([[0, 51], [255, 128]], np.uint8)
    Image.fromarray(gray).save(tmp_path / "m.png")
    assert read_mask(tmp_path / "m.png", "cut") == pytest.approx(gray / 255)
    assert read_mask(tmp_path / "m.png").dtype == bool
    for values in (np.array([[0, 1]], np.uint8), np.array([[True, False]]), np.array([[0.25, 1]])):
        np.save(tmp_path / "m.npy", values)
        assert read_mask(tmp_path / "m.npy", "cut").tolist() == values.tolist()
    refused("other than 0 and 1", read_mask, tmp_path / "m.npy", error=InputError)
    refused("edge must be one of", read_mask, tmp_path / "m.npy", "soft", error=SpecError)


RING = [[1, 1], [5, 1], [5, 4], [1, 1]]
TRIANGLE = [[2, 4], [5, 4], [5, 6]]


def test_geojson_holds_polygons(tmp_path: Path) -> None:
    features = [
        {"type": "Feature", "geometry": {"type": kind, "coordinates": coordinates}}
        for kind, coordinates in (("Polygon", [RING]), ("MultiPolygon", [[TRIANGLE]]))
    ]
    document = {"type": "FeatureCollection", "features": features}
    (tmp_path / "m.geojson").write_text(json.dumps(document))
    polygons = read_mask(tmp_path / "m.geojson", "cut")
    assert coverage(polygons, (6, 6)).sum() == pytest.approx(6 + 3)


def test_geojson_as_other_tools_write_it(tmp_path: Path) -> None:
    """Heights, geometries that are null, collections, and what is empty."""
    high = [[*corner, 7.5] for corner in RING]
    mixed = [*high[:2], *RING[2:]]
    members = [
        {"type": "Polygon", "coordinates": [mixed]},
        {"type": "MultiPolygon", "coordinates": [[], [[]], [TRIANGLE]]},
        {"type": "Polygon", "coordinates": []},
        {"type": "GeometryCollection", "geometries": []},
    ]
    collection = {"type": "GeometryCollection", "geometries": members}
    features = [
        {"type": "Feature", "geometry": None},
        {"type": "Feature", "geometry": collection},
        {"type": "FeatureCollection", "features": []},
    ]
    document = {"type": "FeatureCollection", "features": features}
    for written in (document, collection):
        (tmp_path / "m.json").write_text(json.dumps(written))
        polygons = read_mask(tmp_path / "m.json", "cut")
        assert coverage(polygons, (6, 6)).sum() == pytest.approx(6 + 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "can't be read as a GeoJSON file"),
        ('{"type": "Point", "coordinates": [1, 2]}', "must hold Polygons or MultiPolygons"),
        ('{"type": "MultiPolygon", "coordinates": []}', "at least one ring"),
        ('{"type": "Polygon", "coordinates": [[[1, 2]]]}', "3 corners"),
        ('{"type": "Polygon", "coordinates": [[1, 2, 3]]}', "3 corners"),
        ('{"type": "Polygon", "coordinates": [1, 2]}', "3 corners"),
        ('{"type": "FeatureCollection", "features": []}', "at least one ring"),
        ('{"type": "Feature", "geometry": null}', "at least one ring"),
        ('{"type": "GeometryCollection", "geometries": [{"type": "Point"}]}', "Got 'Point'"),
        ('{"type": "Polygon", "coordinates": [[["a", 2]]]}', "numbers"),
        ("[" * 10**5, "can't be read as a GeoJSON file"),
        ('{"type": "Feature", "geometry": ' * 10**5, "can't be read as a GeoJSON file"),
        ('{"type": "Polygon", "coordinates": [[[0, 0], [1e999, 0], [0, 1]]]}', "Got (inf, 0)"),
    ],
)
def test_bad_geojson_is_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "m.json").write_text(text)
    assert message in refusal_by(read_mask, tmp_path / "m.json")
