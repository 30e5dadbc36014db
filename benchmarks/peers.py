"""Side by side with what else there is, in one run: neighbours, layers, networks, escnn's layer.

Who computes the same as ours is compared with it first, and refused where it differs; then all take
turns, and medians are printed with their quartiles. Ratios are taken round by round.

    python benchmarks/peers.py [--rounds 7] [--device cpu|cuda] [--parts neighbours layers ...]

Packages that are not here are left out, with a line on how to install them: scikit-learn,
torch_geometric, deepsphere, escnn (which brings a numpy below 2).
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import torch

sys.path.append(str(Path(__file__).parent / "accuracy"))  # scripts there import each other by name

from peers_layers import chebyshev_layers
from peers_neighbours import neighbours
from peers_sphere import sphere
from peers_steerable import steerable_layers
from turns import machine

PACKAGES = (
    *("torch", "numpy", "scipy", "pykeops", "scikit-learn"),
    *("torch_geometric", "deepsphere", "escnn", "cheblienet"),
)
PARTS = ("neighbours", "layers", "sphere", "steerable")


def compare(parts: Sequence[str], store: Path, rounds: int, device: str, *, quick: bool) -> None:
    """Print the tables of these parts, in their order."""
    works = {
        "neighbours": partial(neighbours, rounds, device, quick=quick),
        "layers": partial(chebyshev_layers, store, rounds, device, quick=quick),
        "sphere": partial(sphere, store, rounds, device, quick=quick),
        "steerable": partial(steerable_layers, store, rounds, device, quick=quick),
    }
    for part in parts:
        torch.manual_seed(0)
        print(flush=True)
        works[part]()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it runs")
    given = parser.parse_args(arguments)
    print(f"{machine(given.device, PACKAGES)} Rounds: {given.rounds}.")
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "graphs.zarr"
        compare(given.parts, store, given.rounds, given.device, quick=given.quick)


if __name__ == "__main__":
    main()
