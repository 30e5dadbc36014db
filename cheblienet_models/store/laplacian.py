"""Verification of a stored Laplacian and its eigenpairs, which recursions rely on."""

import torch
from torch import Tensor

from cheblienet_models.errors import StoreError
from cheblienet_models.store.csr import CsrArrays
from cheblienet_models.store.eigenpairs import Eigenpairs
from cheblienet_models.store.levels import Level
from cheblienet_models.tensors.sparse import csr_tensor

STEPS = 64
"""Of the Chebyshev recursion with which the spectrum is probed."""
RESIDUAL = 1e-4
"""Largest |L v - mu v| of an eigenpair, L the rescaled Laplacian and v a unit vector."""
ORTHONORMAL = 1e-3
"""Largest relative change of a random vector under Phi^T Phi."""
BLOCK = 64
"""Eigenvectors that are multiplied at a time."""


def verify_laplacian(level: Level) -> None:
    """Check what a recursion relies on: finite, symmetric, spectrum within [-1, 1].

    Outside [-1, 1] Chebyshev polynomials grow exponentially, so the spectrum is probed by applying
    them to a random vector, whose norm must not grow. Stored eigenpairs must be the Laplacian's,
    and orthonormal, which again a random vector tells.

    Raises:
        StoreError: one of them does not hold.
    """
    laplacian = _verified(level.laplacian, f"The Laplacian of {level.label}")
    for name, operator in level.directional.items():
        _verified(operator.laplacian, f"The {name} Laplacian of {level.label}")
    if level.eigenpairs is not None:
        _verify_eigenpairs(level, level.eigenpairs, laplacian)


def _verified(matrix: CsrArrays, named: str) -> Tensor:
    """The matrix, if it is finite, symmetric and has its spectrum within [-1, 1]."""
    pointers, columns, values = (
        torch.from_numpy(part) for part in (matrix.indptr, matrix.indices, matrix.data)
    )
    vertices = matrix.shape[0]
    rows = torch.arange(vertices).repeat_interleave(pointers.diff())
    order = torch.argsort(columns, stable=True)  # stable: rows stay ascending within a column
    transposed = (columns[order], rows[order], values[order])
    symmetric = all(map(torch.equal, transposed, (rows.to(columns), columns.to(rows), values)))
    if not (values.isfinite().all() and symmetric):
        raise StoreError(f"{named} is not finite and symmetric.")
    laplacian = csr_tensor(pointers, columns, values, matrix.shape)
    start = torch.randn(vertices, 1, generator=torch.Generator().manual_seed(0))
    previous, current = start, laplacian @ start
    for _ in range(STEPS):
        previous, current = current, 2 * (laplacian @ current) - previous
    if not current.norm() <= 1.01 * start.norm():
        raise StoreError(f"{named} has eigenvalues outside [-1, 1].")
    return laplacian


def _verify_eigenpairs(level: Level, eigenpairs: Eigenpairs, laplacian: Tensor) -> None:
    """Check L v = (2 lambda / lambda_max - 1) v, and Phi^T Phi y = y for a random y."""
    vectors = eigenpairs.vectors
    values = eigenpairs.values.to(vectors)
    rescaled = 2 * values / level.lambda_max - 1
    for start in range(0, len(values), BLOCK):
        block = vectors[:, start : start + BLOCK]
        residuals = (laplacian @ block - block * rescaled[start : start + BLOCK]).norm(dim=0)
        if not (residuals <= RESIDUAL).all():
            raise StoreError(f"The stored eigenpairs of {level.label} are not its Laplacian's.")
    probe = torch.randn(len(values), 1, generator=torch.Generator().manual_seed(0))
    if not (vectors.T @ (vectors @ probe) - probe).norm() <= ORTHONORMAL * probe.norm():
        raise StoreError(f"The stored eigenvectors of {level.label} are not orthonormal.")
