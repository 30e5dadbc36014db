"""What layers and networks are made with, checked before anything is made of it."""

from numbers import Integral

from torch import Tensor

from cheblienet_models.errors import quoted
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.pyramid import Pyramid


def check_pyramid(given: object) -> None:
    """Check that a network or a pooling is on a pyramid.

    Raises:
        TypeError: it is on something else.
    """
    if not isinstance(given, Pyramid):
        raise TypeError(
            'pyramid must be a Pyramid, as open_store("graphs.zarr")["NAME"] is. '
            f"Got a {type(given).__name__}."
        )


def check_graph(given: object) -> None:
    """Check that a layer is on a graph.

    Raises:
        TypeError: it is on something else.
    """
    if not isinstance(given, Graph):
        raise TypeError(
            "graph must be a Graph, a level of a pyramid as pyramid.levels[0] is. "
            f"Got a {type(given).__name__}."
        )


def check_size(name: str, size: object) -> None:
    """Check that a size is an integer of at least 1.

    Raises:
        TypeError: it is no integer.
        ValueError: it is below 1.
    """
    if integer(name, size) < 1:
        raise ValueError(f"{name} must be at least 1. Got {size}.")


def integer(name: str, given: object) -> int:
    """An argument that counts something.

    Raises:
        TypeError: it is no integer.
    """
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise TypeError(f"{name} must be an integer. Got {quoted(given)}.")
    return int(given)


def check_tensor(name: str, given: object) -> None:
    """Check that the signal of a layer or network is a tensor.

    Raises:
        TypeError: it is something else, such as a numpy array.
    """
    if not isinstance(given, Tensor):
        raise TypeError(
            f"{name} takes a torch.Tensor, as torch.from_numpy makes of an array. "
            f"Got a {type(given).__name__}."
        )
