"""Are the spherical harmonics those of dipy? All bases, both forms, on random directions.

    python benchmarks/harmonics.py [--golden tests/data/harmonics.json]

dipy is needed: pip install dipy. With --golden its values on a few directions are written, too, for
the tests, which do without dipy.
"""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from dipy.reconst.shm import real_sh_descoteaux, real_sh_tournier
from numpy.typing import NDArray
from scripts import parser_of, print_head, print_row

from cheblienet_models import harmonics_matrix
from cheblienet_models.harmonics import BASES, Basis

FUNCTIONS: dict[str, Any] = {"descoteaux07": real_sh_descoteaux, "tournier07": real_sh_tournier}
GOLDEN_DEGREE = 6


def directions(count: int) -> NDArray[np.float64]:
    """(count, 3) unit vectors, uniform; the first three are poles and a place on the equator."""
    vectors = np.random.default_rng(0).standard_normal((count, 3))
    vectors[:3] = (0, 0, 1), (0, 0, -1), (-1, 0, 0)
    unit: NDArray[np.float64] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def of_dipy(vectors: NDArray[np.float64], degree: int, basis: Basis) -> NDArray[np.float64]:
    """(n, coefficients) values."""
    name, _, legacy = basis.partition("_")
    polar, azimuth = np.arccos(vectors[:, 2]), np.arctan2(vectors[:, 1], vectors[:, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)  # of each legacy form
        values, _, _ = FUNCTIONS[name](degree, polar, azimuth, legacy=bool(legacy))
    return np.asarray(values, np.float64)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--golden", type=Path)
    arguments = parser.parse_args()
    vectors = directions(1000)
    print("largest difference from dipy on 1,000 directions\n")
    print_head("basis", "degree 6", "degree 8", "degree 16")
    for basis in BASES:
        apart = [
            abs(of_dipy(vectors, degree, basis) - ours(vectors, degree, basis)).max()
            for degree in (6, 8, 16)
        ]
        print_row(basis, *(f"{most:.1e}" for most in apart))
    if arguments.golden:
        few = directions(8)
        values = {basis: of_dipy(few, GOLDEN_DEGREE, basis).tolist() for basis in BASES}
        golden = {"degree": GOLDEN_DEGREE, "directions": few.tolist(), "values": values}
        arguments.golden.write_text(json.dumps(golden) + "\n")


def ours(vectors: NDArray[np.float64], degree: int, basis: Basis) -> NDArray[np.float64]:
    return harmonics_matrix(torch.from_numpy(vectors), degree, basis).numpy()


if __name__ == "__main__":
    main()
