"""Graphs with eigenvalues that stay off their metric's, however many points: an error or a warning.

Beams and times of the operator have no meaning there beyond some percent.
"""

import warnings
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from cheblienet_models.graphs.graph import Graph  # which imports this


def why_off(graph: "Graph") -> str:
    """Fault of a graph's family and what to build instead; empty where it converges."""
    spec = graph.stored.spec
    if (mended := spec.weighting.convergent(spec)) is None:
        return ""
    ((field, value),) = mended.items()
    what = f"{spec.weights} weights" if field != "laplacian" else "a normalized Laplacian"
    given = f"the points that `{field}` gives" if value is None else f"`{field}={value!r}`"
    return (
        f"{graph.label} has {what}, with which eigenvalues stay off those of its metric, however "
        f"many points: build it with {given}"
    )


def check_family(name: str, graph: "Graph") -> None:
    """See that the eigenvalues of a graph converge under refinement.

    Args:
        name: of the function that needs it, for messages.
        graph: that it is asked to use.

    Raises:
        ValueError: its eigenvalues stay off its metric's.
    """
    if why := why_off(graph):
        raise ValueError(
            f"{name} takes a graph that converges to its metric. {why}, or give "
            "`allow_inconsistent=True`."
        )


def warn_of_family(name: str, graph: "Graph") -> None:
    """Warn, once for each graph and its copies, that its eigenvalues stay off its metric's.

    Programs that are compiled or exported do not look.

    Args:
        name: of what uses the graph, for the message.
        graph: that is used.
    """
    if torch.compiler.is_compiling() or not graph.first_look("family"):
        return
    if why := why_off(graph):
        warnings.warn(f"{name} is off by some percent: {why}.", stacklevel=3)
