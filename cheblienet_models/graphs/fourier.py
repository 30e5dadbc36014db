"""The graph Fourier transform by stored eigenvectors, and the convolution that it defines."""

from torch import Tensor

from cheblienet_models.arguments import check_signal
from cheblienet_models.tensors import multiplied


def transformed(label: str, vectors: Tensor, x: Tensor) -> Tensor:
    """Phi^T x, (B, C, V) -> (B, C, M), in the wider of the dtypes, also under autocast.

    Args:
        label: of the graph, for messages.
        vectors: (V, M), Phi.
        x: (B, C, V).

    Raises:
        ValueError: x has another shape.
    """
    check_signal(f"fourier on {label}", x, ("B", "C", len(vectors)), vectors.device)
    return multiplied(vectors.T, x)


def inverse_transformed(label: str, vectors: Tensor, x_hat: Tensor) -> Tensor:
    """Phi x_hat, (B, C, M) -> (B, C, V), in the wider of the dtypes, also under autocast.

    Args:
        label: of the graph, for messages.
        vectors: (V, M), Phi.
        x_hat: (B, C, M).

    Raises:
        ValueError: x_hat has another shape.
    """
    sizes, words = ("B", "C", vectors.shape[1]), "(batch, channels, eigenpairs)"
    check_signal(f"inverse_fourier on {label}", x_hat, sizes, vectors.device, words=words)
    return multiplied(vectors, x_hat)


def convolved(label: str, vectors: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Phi (Phi^T x * Phi^T y), (B, C, V), of signals that broadcast over batch and channels.

    Args:
        label: of the graph, for messages.
        vectors: (V, M), Phi.
        x: (B, C, V), or 1 instead of B or C.
        y: likewise.

    Raises:
        ValueError: a signal has another shape, or they do not broadcast.
    """
    x_hat, y_hat = transformed(label, vectors, x), transformed(label, vectors, y)
    if any(a != b and 1 not in {a, b} for a, b in zip(x.shape[:2], y.shape[:2], strict=True)):
        raise ValueError(
            "convolve takes signals whose batches and channels are equal or 1. "
            f"Got {tuple(x.shape)} and {tuple(y.shape)}."
        )
    return inverse_transformed(label, vectors, x_hat * y_hat)
