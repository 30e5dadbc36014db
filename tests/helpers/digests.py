"""Digests of the arrays of many builds: `python tests/helpers/digests.py FILE.json` writes them.

The published bytes follow from the specification, the machine and the versions of the libraries.
Run it before and after a change that must not touch them; the test beside it compares with those
that are kept in tests/data.
"""

import hashlib
import json
import platform
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from cheblienet_graphs import GraphSpec, MapSpec, build, build_map


def disc(height: int, width: int) -> np.ndarray:
    """A disc's coverage, about, of the pixels of a lattice; its middle is no place of it.

    In steps of 1/256, so that rounding, of another processor, does not change it.
    """
    y, x = np.ogrid[:height, :width]
    distance: np.ndarray = np.hypot(y - 0.46 * height, x - 0.53 * width)
    return np.round(256 * (0.5 + 0.4 * min(height, width) - distance).clip(0, 1)) / 256


CUT: dict[str, Any] = {"weights": "selling", "mask_edge": "cut", "levels": 1}
SPECS = {
    "r2-kernel": GraphSpec("r2", "24x16"),
    "r2-periodic-matched": GraphSpec("r2", 16, boundary="periodic", weights="matched"),
    "r2-selling": GraphSpec("r2", "20x12", weights="selling"),
    "r2-random": GraphSpec("r2", points=300, seed=3),
    "r2-random-periodic": GraphSpec("r2", points=200, seed=1, boundary="periodic"),
    "r2-pruned": GraphSpec("r2", "12x10", boundary="periodic", neighbors=12),
    "se2-paper": GraphSpec("se2", 32, orientations=6),
    "se2-readme": GraphSpec("se2", 48, orientations=6, eps=0.1),
    "se2-laplace": GraphSpec("se2", "20x14", orientations=5, kernel="laplace", bandwidth=0.5),
    "se2-cauchy": GraphSpec("se2", 16, orientations=4, kernel="cauchy", laplacian="combinatorial"),
    "se2-rectangular": GraphSpec("se2", 16, orientations=4, kernel="rectangular", lambda_max=2),
    "se2-matched": GraphSpec(
        "se2", 24, orientations=8, weights="matched", boundary_correction=False
    ),
    "se2-matched-corrected": GraphSpec("se2", 24, orientations=8, weights="matched"),
    "se2-matched-periodic": GraphSpec(
        "se2", 24, orientations=6, weights="matched", boundary="periodic", neighbors=32
    ),
    "se2-selling": GraphSpec(
        "se2", 32, orientations=6, weights="selling", boundary_correction=False
    ),
    "se2-selling-corrected": GraphSpec(
        "se2", "24x40", orientations=6, eps=0.1, weights="selling", eigenpairs=5
    ),
    "r3-matched-corrected": GraphSpec("r3", "8x6x10", weights="matched"),
    "se2-selling-periodic": GraphSpec(
        "se2", "24x32", orientations=4, weights="selling", boundary="periodic"
    ),
    "se2-eigenpairs": GraphSpec(
        "se2", 16, orientations=4, boundary="periodic", weights="selling", eigenpairs=10, levels=2
    ),
    "se2-auto": GraphSpec("se2", 16, orientations=6, xi="auto"),
    "se2-pruned": GraphSpec("se2", 16, orientations=6),
    "se2-random": GraphSpec("se2", points=150, orientations=4),
    "r2-cut": GraphSpec("r2", "15x14", mask=disc(14, 15), **CUT),
    "se2-cut": GraphSpec("se2", 14, orientations=4, eps=0.3, mask=disc(14, 14), **CUT),
    "se2-cut-arrows": GraphSpec(
        "se2", 14, orientations=4, period="2pi", mask=disc(14, 14), **CUT | {"weights": "matched"}
    ),
    "se2-cut-periodic": GraphSpec(
        "se2", 14, orientations=3, boundary="periodic", mask=1 - disc(14, 14), **CUT
    ),
    "r3-cut": GraphSpec("r3", "8x7x6", mask=np.tile(disc(7, 8), (6, 1, 1)), **CUT),
    "r3s2-selling": GraphSpec("r3s2", "5x4x4", axes=6, weights="selling", levels=1),
    "s2-icosahedral": GraphSpec("s2", subdivisions=3, neighbors=8),
    "s2-matched": GraphSpec("s2", subdivisions=3, weights="matched", neighbors=24),
    "s2-healpix": GraphSpec("s2", nside=8),
    "s2-equiangular": GraphSpec("s2", bandlimit=8, neighbors=16),
    "s2-random": GraphSpec("s2", points=300, seed=2),
    "s2-region": GraphSpec(
        "s2", subdivisions=4, region=(-20, 20, 50, 70), mask_edge="cut", weights="voronoi", levels=1
    ),
    "s2-voronoi": GraphSpec("s2", points=200, seed=4, weights="voronoi"),
    "r2-voronoi": GraphSpec("r2", points=200, seed=4, weights="voronoi"),
    "so3-icosahedral": GraphSpec("so3", subdivisions=2, orientations=6),
    "so3-auto": GraphSpec("so3", subdivisions=2, orientations=6, in_plane_fraction=0.4),
    "so3-healpix-matched": GraphSpec(
        "so3", nside=4, orientations=6, weights="matched", neighbors=24
    ),
    "so3-equiangular": GraphSpec("so3", bandlimit=6, orientations=4, neighbors=24),
    "so3-random": GraphSpec("so3", points=100, orientations=4),
}
MAPS = {
    "map-encoder": MapSpec(
        GraphSpec("s2", gaussian="O16"), GraphSpec("s2", subdivisions=3), neighbors=3
    ),
    "map-decoder": MapSpec(
        GraphSpec("s2", subdivisions=3),
        GraphSpec("s2", gaussian="O16"),
        radius=0.25,
        weights="gaussian",
    ),
    "map-scales": MapSpec(*[GraphSpec("s2", subdivisions=3)] * 2, scales=4, weights="uniform"),
    "map-periodic": MapSpec(
        GraphSpec("se2", 12, orientations=4, boundary="periodic"),
        GraphSpec("se2", 8, orientations=6, boundary="periodic"),
        neighbors=9,
    ),
}


def made_with() -> dict[str, str]:
    """The versions and the processor that bytes depend on."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    libraries = {name: version(name) for name in ("numpy", "scipy", "torch")}
    processor = models[0] if models else platform.processor()
    # One name stands for several generations, for which numpy has other loops.
    wide = any("avx512f" in line.split() for line in lines if line.startswith("flags"))
    return libraries | {"processor": processor + ", AVX-512" * wide}


def arrays(name: str, folder: Path, **how: Any) -> tuple[str, dict[str, dict[str, Any]]]:
    """The spec's digest, and what each array file of a build comes to."""
    if name in MAPS:
        made = build_map(MAPS[name], folder / "g.zarr", name=name, force=True)
        return MAPS[name].sha256, dict(_arrays(folder / "g.zarr" / name / made.version))
    spec = SPECS[name]
    if name.endswith("-pruned"):
        how |= {"engine": "pruned", "device": "cpu"}
    built = build(spec, folder / "g.zarr", name="g", force=True, **how)
    return spec.sha256, dict(_arrays(folder / "g.zarr" / "g" / built.version))


def _arrays(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for file in sorted(path.rglob("zarr.json")):
        document = json.loads(file.read_bytes())
        if document["node_type"] != "array" or not all(document["shape"]):
            continue
        chunk = file.parent.joinpath("c", *["0"] * len(document["shape"]))
        contents = chunk.read_bytes()
        entry: dict[str, Any] = {"sha256": hashlib.sha256(contents).hexdigest()}
        if document["data_type"].startswith("float"):
            entry["sums"] = _sums(np.frombuffer(contents, document["data_type"]))
        yield str(file.parent.relative_to(path)), entry


def _sums(values: np.ndarray) -> list[float]:
    """The sum of the absolute values, and sums with weights that tell values and places apart."""
    index = np.arange(len(values))
    wide = values.astype(np.float64)
    signs = [np.cos(index), np.sin(0.7 * index)]
    return [float(abs(wide).sum()), *(float(wide @ sign) for sign in signs)]


def main() -> None:
    """Build everything, in blocks too, and write what comes out."""
    record: dict[str, Any] = {"made_with": made_with(), "graphs": {}}
    for name in (*SPECS, *MAPS):
        for how in ({}, {"block_rows": 97}, {"block_rows": 200, "workers": 2}):
            with tempfile.TemporaryDirectory() as folder:
                sha256, files = arrays(name, Path(folder), **how)
            known = record["graphs"].setdefault(name, {"spec_sha256": sha256, "files": files})
            assert known == {"spec_sha256": sha256, "files": files}, (name, how)
    Path(sys.argv[1]).write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
