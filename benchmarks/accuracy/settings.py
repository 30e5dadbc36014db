"""All that decides how an image classifier is made and trained, but for data and seed."""

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

from cheblienet_graphs import GraphSpec

Kind = Literal["graph", "plain", "escnn"]
BASE_WIDTHS = (16, 32, 64)


@dataclass(frozen=True)
class Settings:
    """All that decides a training, but for data and seed.

    Args:
        network: "graph", "plain" or "escnn".
        manifold: "se2", anisotropic, or "r2", isotropic.
        orientations, period, eps_squared, alpha, neighbors, weights, laplacian, bandwidth,
            lambda_max, directional, levels: of the graph, as GraphSpec has them; those that a
            manifold lacks do not count. lambda_max "2" bounds every normalized Laplacian; the
            network pools at most twice, whatever levels there are.
        lift: "repeat", "cake" or "gabor".
        scales: of line filters.
        operators: "laplacian", "directional" or "first-order"; graphs have the gradients for it.
        handed: 1 where first-order operators tell mirror images apart, else 0.
        low_pass: 1 where layers smooth what they see, else 0.
        head: "invariant" or "oriented", which keeps orientations.
        group: of escnn, "D4" with flips, or the rotations "C8" or "C16".
        first_level: of the convolutions.
        pool: "max", "mean" or "random".
        kernel_size: Chebyshev polynomials.
        depth: residual blocks in each of the three groups.
        widen: the three groups have 16, 32 and 64 times this many channels, rounded.
        smooth: standard deviation in pixels of a Gaussian that images go through first; 0 for none.
        kappa_edges, kappa_vertices: share of each graph's edges, or vertices, that a training step
            has, drawn anew for each; 1 is all. The whole graph is tested.
        degrees: by which such a share is normalized, those of the whole graph or of what is kept.
        augment: what is done to training images: "none", "rotations" by any angle, or "motions",
            rotations and flips.
        epochs: passes over the training images.
        steps: of the optimizer, instead of epochs.
        batch: images a step.
        rate: of Adam, the largest of its schedule.
        schedule: "one-cycle", up to the rate and down again, or "constant".
        initial: the first weights, of deviation "fan-in", sqrt(2 / (K in)), or as filters that
            vanish at the shortest waves, "low-pass", or of the deviation of the paper's code,
            "paper", sqrt(2 / (in out)), with biases of 0.01.
    """

    network: Kind = "graph"
    manifold: Literal["se2", "r2"] = "se2"
    orientations: int = 6
    period: Literal["pi", "2pi"] = "pi"
    eps_squared: float = 0.1
    alpha: float = 1.0
    neighbors: int | None = None
    weights: str = "kernel"
    laplacian: str | None = None
    bandwidth: float | None = None
    lambda_max: Literal["exact", "2"] = "exact"
    directional: float | None = None
    levels: int = 3
    lift: Literal["repeat", "cake", "gabor"] = "repeat"
    scales: int = 1
    operators: Literal["laplacian", "directional", "first-order"] = "laplacian"
    handed: int = 1
    low_pass: int = 0
    head: Literal["invariant", "oriented"] = "invariant"
    group: Literal["D4", "C8", "C16"] = "D4"
    first_level: int = 0
    pool: Literal["max", "mean", "random"] = "max"
    kernel_size: int = 4
    depth: int = 1
    widen: float = 1.0
    smooth: float = 0.0
    kappa_edges: float = 1.0
    kappa_vertices: float = 1.0
    degrees: Literal["whole", "kept"] = "whole"
    augment: Literal["none", "rotations", "motions"] = "none"
    epochs: int = 2
    steps: int | None = None
    batch: int = 32
    rate: float = 1e-2
    schedule: Literal["one-cycle", "constant"] = "one-cycle"
    initial: Literal["fan-in", "low-pass", "paper"] = "fan-in"

    def __post_init__(self) -> None:
        if self.kappa_edges < 1 and self.kappa_vertices < 1:
            raise ValueError(
                "A step has a share of the edges or of the vertices: one of kappa_edges and "
                f"kappa_vertices must be 1. Got {self.kappa_edges} and {self.kappa_vertices}."
            )
        if self.network != "graph" and self.pool == "random":
            raise ValueError(f"pool='random' is for graph networks. Got network={self.network!r}.")

    @property
    def digest(self) -> str:
        """Of all values that are not the default, by which results are found again."""
        chosen = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != field.default
        }
        text = json.dumps(chosen, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def spec(self, height: int, width: int) -> GraphSpec:
        """The graphs for images of a size."""
        names = ["manifold", "levels", "neighbors", "weights", "laplacian", "bandwidth"]
        if self.manifold == "se2":
            names += ["orientations", "period", "eps_squared", "alpha", "directional"]
        fields: dict[str, Any] = {name: getattr(self, name) for name in names}
        fields["gradients"] = self.operators == "first-order"
        bound = 2 if self.lambda_max == "2" else "exact"
        return GraphSpec(size=(width, height), lambda_max=bound, **fields)


def widths_of(settings: Settings) -> list[int]:
    """Channels of the three groups."""
    return [max(1, round(width * settings.widen)) for width in BASE_WIDTHS]
