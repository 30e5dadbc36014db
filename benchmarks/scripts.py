"""What scripts share: their arguments and parts, graphs in a store that goes away, tables."""

import argparse
import atexit
import math
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.sparse.linalg import eigsh
from torch import Tensor

from cheblienet_graphs import CheblienetError, GraphSpec, build, inspect
from cheblienet_graphs.typing import Floats
from cheblienet_models import Graph, Pyramid, StoreError, open_store


def positive(text: str) -> int:
    """A whole number of at least 1, of the command line."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1. Got {text}.")
    return number


def parser_of(documentation: str, **options: Any) -> argparse.ArgumentParser:
    """Of a script, described by the first line of its documentation.

    Args:
        documentation: of the script.
        options: what they are where they are not given, by name: a number or a word, a list of
            numbers or of all words that there are, or False for a flag. Whole numbers are positive.
    """
    parser = argparse.ArgumentParser(description=documentation.splitlines()[0])
    for name, default in options.items():
        kind: Any = type(default[0] if isinstance(default, list) else default)
        kind = positive if kind is int else kind
        how: dict[str, Any] = {"type": kind} if default is not False else {"action": "store_true"}
        if isinstance(default, list):
            how |= {"nargs": "*", "choices": default if kind is str else None}
        parser.add_argument(f"--{name}", default=default, **how)
    return parser


def exit_code(work: Callable[[], object]) -> int:
    """0; or 2 where it refuses what it was given, with the reason in a line."""
    try:
        work()
    except (ValueError, StoreError, CheblienetError, OSError, ImportError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    return 0


def run_parts(documentation: str, parts: Mapping[str, Callable[..., None]], **options: Any) -> None:
    """Run the part that the command line names, or all of them, each below its name.

    Args:
        documentation: of the script.
        parts: by name.
        options: as those of `parser_of`; what parts are called with.
    """
    parser = parser_of(documentation, **options)
    parser.add_argument("part", nargs="?", choices=parts)
    options = vars(parser.parse_args())
    chosen = options.pop("part")
    for name, work in parts.items():
        if chosen is None:
            print(f"{name}\n")
        if chosen in {None, name}:
            work(**options)
            print()


@cache
def temporary_store() -> Path:
    """A store that is deleted when this process ends."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return Path(folder.name) / "graphs.zarr"


def pyramid_of(spec: GraphSpec, store: Path | None = None, **how: Any) -> Pyramid:
    """The graphs of a specification, built where they are not there yet.

    Args:
        spec: of the graphs.
        store: that they are in; None: one that goes away.
        how: options of `build`.
    """
    if store is None:
        store, how = temporary_store(), {"name": spec.sha256[:12], **how}
    built = build(spec, store, **how)
    return open_store(store)[f"{built.name}@{built.version}"]


def graph_of(spec: GraphSpec, **how: Any) -> Graph:
    """The finest level of `pyramid_of`."""
    return pyramid_of(spec, **how).levels[0]


def report_of(spec: GraphSpec, eigenvalues: int) -> Any:
    """What is reported of a finest level, built on the CPU: facts, eigenvalues, errors."""
    pyramid = pyramid_of(spec, device="cpu")
    return inspect(temporary_store(), pyramid.name, eigenvalues=eigenvalues, level=0).levels[0]


def errors_of(level: Any, exact: Floats) -> Floats:
    """(M - 1,) of a report's eigenvalues but 0, relative to the (M,) exact ones, 0 first."""
    assert level.eigenvalues_converged
    values = np.array(level.eigenvalues) * (level.eigenvalue_scale or math.nan)
    return values[1:] / exact[1:] - 1


def smallest_eigenvalues(matrix: Any, count: int, shift: float = -1.0) -> Floats:
    """(count,) of a sparse symmetric matrix, ascending, by ARPACK on the inverse, shifted."""
    start = np.random.default_rng(0).normal(size=matrix.shape[0])
    how = {"v0": start, "ncv": min(4 * count, len(start)), "return_eigenvectors": False}
    return np.sort(eigsh(matrix.tocsc(), count, sigma=shift, **how))


def unit_vectors(graph: Graph) -> Tensor:
    """(points, 3) float64 of the base of a graph over the sphere."""
    beta, gamma = graph.coordinates[: graph.num_points, -2:].T
    return torch.stack([beta.sin() * gamma.cos(), beta.sin() * gamma.sin(), beta.cos()], dim=1)


def row(*cells: object) -> str:
    """A line of a Markdown table."""
    return f"| {' | '.join(map(str, cells))} |"


def head(*titles: str) -> str:
    """The first two lines of one."""
    return f"{row(*titles)}\n|{'---|' * len(titles)}"


def print_row(*cells: object) -> None:
    """At once, as tables may take minutes."""
    print(row(*cells), flush=True)


def print_head(*titles: str) -> None:
    """Begin a table."""
    print(head(*titles), flush=True)
