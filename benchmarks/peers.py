"""Side by side with what else there is, in one run: neighbors, layers, networks, escnn's layer.

Who computes the same as ours is compared with it first, and refused where it differs; then all take
turns, and medians are printed with their quartiles. Ratios are taken round by round.

    python benchmarks/peers.py [--rounds 7] [--device cpu|cuda] [--parts neighbors layers ...]
                               [--quick]

With --quick sizes are tiny, to see that it runs.

Packages that are not here are left out, with a line on how to install them: scikit-learn,
torch_geometric, deepsphere, escnn (which brings a numpy below 2).
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import torch

sys.path.append(str(Path(__file__).parent / "accuracy"))  # scripts there import each other by name

from peers_layers import chebyshev_layers
from peers_neighbors import neighbors
from peers_sphere import sphere
from peers_steerable import steerable_layers
from scripts import parser_of
from turns import machine

PACKAGES = (
    *("torch", "numpy", "scipy", "pykeops", "scikit-learn"),
    *("torch_geometric", "deepsphere", "escnn", "cheblienet"),
)
PARTS = {
    "neighbors": neighbors,
    "layers": chebyshev_layers,
    "sphere": sphere,
    "steerable": steerable_layers,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables of these parts, in their order."""
    options = parser_of(__doc__, rounds=7, device="cpu", parts=list(PARTS), quick=False)
    given = options.parse_args(arguments)
    print(f"{machine(given.device, PACKAGES)} Rounds: {given.rounds}.")
    for part in given.parts:
        torch.manual_seed(0)
        print(flush=True)
        PARTS[part](given.rounds, given.device, quick=given.quick)


if __name__ == "__main__":
    main()
