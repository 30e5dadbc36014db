"""Specifications of given points: what is kept of arrays, and where they do not belong."""

import copy
import json
import pickle

import numpy as np
import pytest

from cheblienet_graphs import GraphSpec, SpecError, plan
from cheblienet_graphs.spec import words

PLANE = np.random.default_rng(1).random((90, 2)) * [4, 2]
SPHERE = np.random.default_rng(2).uniform([-90, -180], [90, 180], (120, 2))
WITH_AREAS = np.column_stack([SPHERE, np.arange(1.0, 121)])

SPECS = [
    {"manifold": "r2", "coordinates": PLANE},
    {"manifold": "se2", "coordinates": PLANE, "domain": (0, 0, 4, 2), "boundary": "periodic"},
    {"manifold": "s2", "coordinates": WITH_AREAS, "weights": "matched", "neighbors": 24},
    {"manifold": "so3", "coordinates": [SPHERE, SPHERE[:30], SPHERE[:9]], "orientations": 4},
]


@pytest.mark.parametrize("fields", SPECS)
def test_what_is_read_back_is_the_same(fields: dict[str, object]) -> None:
    spec = GraphSpec(**fields)
    schema = "1.6" if spec.manifold == "s2" else "1.1"
    assert (spec.sampling, spec.schema) == ("unstructured", schema)
    read = GraphSpec.from_dict(json.loads(json.dumps(spec.to_dict())))
    assert read == spec
    assert hash(read) == hash(spec)
    assert read.sha256 == spec.sha256
    assert read.to_dict() == spec.to_dict()
    assert plan(read) == plan(spec)
    assert words.sentences(read) == words.sentences(spec)
    spec.full_sampling(spec.levels - 1)
    with pytest.raises(SpecError, match="given as arrays: this specification was read back") as no:
        read.full_sampling(0)
    assert spec.to_dict()["coordinates"]["sha256"][:12] in str(no.value)


def test_names_spacings_and_levels() -> None:
    _, torus, sphere, levels = (GraphSpec(**fields) for fields in SPECS)
    assert levels.default_name.startswith("so3-unstructured-120x4-")
    assert torus.squared_spacing(0) == 0.5 / 90
    assert sphere.squared_spacing(0) == pytest.approx(4 * np.pi / 120)
    assert [levels.grid(level) for level in range(levels.levels)] == [(4, 120), (4, 30), (4, 9)]
    assert GraphSpec("s2", coordinates=SPHERE, levels="1").levels == 1
    same = {"coordinates": SPHERE.tolist(), "sampling": "unstructured"}
    assert GraphSpec("s2", **same) == GraphSpec("s2", coordinates=SPHERE) != sphere
    assert GraphSpec("s2", coordinates=[SPHERE, SPHERE[:9]], levels=2).levels == 2


def test_copies_keep_the_arrays_which_are_no_longer_the_callers() -> None:
    given = SPHERE.copy()
    spec = GraphSpec("s2", coordinates=[given, SPHERE[:30]])
    before = [spec.full_sampling(level).base_points.copy() for level in (0, 1)]
    given[:] = 0
    for same in (spec, copy.deepcopy(spec), pickle.loads(pickle.dumps(spec))):
        assert same == spec
        for level in (0, 1):
            assert (same.full_sampling(level).base_points == before[level]).all()
