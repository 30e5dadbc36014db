"""KeOps finds the edges that the pruned search finds, in parts of any size."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from all_pairs import DEVICES, SOME, cloud_of, edges, name, nearest

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.neighbours.choice import Choice
from cheblienet_graphs.neighbours.keops import KeopsSearch
from cheblienet_graphs.neighbours.pruned import PrunedSearch

LARGEST = [
    ({"manifold": "so3", "subdivisions": 3, "orientations": 3}, 16),
    ({"manifold": "so3", "nside": 8, "orientations": 3}, 16),
    ({"manifold": "so3", "bandlimit": 12, "orientations": 3}, 16),
    ({"manifold": "so3", "points": 600, "orientations": 3}, 16),
    ({"manifold": "s2", "subdivisions": 4}, 8),
    ({"manifold": "s2", "nside": 16}, 8),
    ({"manifold": "s2", "bandlimit": 31}, 8),
    ({"manifold": "s2", "sampling": "random", "points": 4000}, 8),
    ({"manifold": "se2", "size": 25}, 16),
    ({"manifold": "se2", "points": 650}, 16),
    ({"manifold": "r2", "size": 63, "boundary": "periodic"}, 8),
    ({"manifold": "r2", "points": 4000}, 8),
]
"""Every sampling, with about 2,000 vertices on SO(3) and nearly 4,000 elsewhere."""


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("fields", "count"),
    [*SOME, *(pytest.param(*case, marks=pytest.mark.slow) for case in LARGEST)],
    ids=name,
)
def test_keops_equals_pruned(fields: dict, count: int, device: str) -> None:
    spec = GraphSpec(**fields, neighbors=count)
    assert edges(spec, Choice("keops", device)) == edges(spec)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("limit", [100, 252, 10**6])
def test_keops_in_parts(limit: int, device: str) -> None:
    found = cloud_of(GraphSpec("so3", subdivisions=1))
    radii, vertices = nearest(KeopsSearch(found, device, index_limit=limit), 42, 16)
    expected_radii, expected = nearest(PrunedSearch(found, "cpu"), 42, 16)
    assert np.allclose(radii, expected_radii, rtol=1e-12)
    assert (vertices == expected).all()


def test_keops_and_pruned_on_fewer_vertices_than_neighbours() -> None:
    for count in (9, 10, 30):
        spec = GraphSpec("s2", sampling="random", points=10, neighbors=count)
        assert edges(spec, Choice("keops", "cpu")) == edges(spec)
        assert len(edges(spec)) == 10 * 9


@pytest.mark.slow
def test_all_that_is_compiled_is_compiled_under_the_lock(tmp_path: Path) -> None:
    """Another process would find half a file. With one row, KeOps' formula is another one."""
    program = """if True:
        import sys
        from contextlib import contextmanager
        from pathlib import Path

        from all_pairs import cloud_of

        from cheblienet_graphs import GraphSpec
        from cheblienet_graphs.neighbours import keops

        compiled, lock = [], keops._compiling

        def modules():
            return set(Path(sys.argv[1]).rglob("pykeops_cpp*.so"))

        @contextmanager
        def watched():
            before = modules()
            with lock():
                yield
            compiled.append(modules() - before)

        keops._compiling = watched
        search = keops.KeopsSearch(cloud_of(GraphSpec("s2", subdivisions=1)), "cpu")
        search._smallest(0, 41, 3)
        search._smallest(41, 42, 3)
        assert [len(found) for found in compiled] == [1, 1], compiled
        assert set().union(*compiled) == modules()
    """
    environment = {
        **os.environ,
        "KEOPS_CACHE_FOLDER": str(tmp_path),
        "PYTHONPATH": str(Path(__file__).parents[2] / "helpers"),
    }
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True, env=environment)
