"""Spheres to resample to and from, built once."""

import pytest

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import Pyramid
from cheblienet_models import open_store as open_graphs

SPECS = {
    "fine": GraphSpec("s2", subdivisions=5, levels=1),
    "icosahedral": GraphSpec("s2", subdivisions=4, levels=2),
    "healpix": GraphSpec("s2", nside=16, levels=1),
    "equiangular": GraphSpec("s2", bandlimit=24, levels=1),
    "random": GraphSpec("s2", points=2000),
    "so3": GraphSpec("so3", subdivisions=2, orientations=3, levels=1),
    "few": GraphSpec("s2", points=3),
    "plane": GraphSpec("se2", 8, orientations=2, levels=1),
}


@pytest.fixture(scope="session")
def spheres(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pyramid]:
    path = tmp_path_factory.mktemp("resampling") / "graphs.zarr"
    for name, spec in SPECS.items():
        build(spec, path, name=name)
    store = open_graphs(path)
    return {name: store[name] for name in SPECS}
