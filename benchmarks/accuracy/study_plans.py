"""The paper's studies: in each, one thing is varied about one network and recipe."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from settings import Settings

SHOWN = "upright", "any angle"
SIDE = 20
"""Pixels of the images, resized by averaging areas."""
TRAIN, TEST = 8000, 2000
BASE = Settings(steps=500)
PLANE = replace(BASE, manifold="r2")
LINES = replace(BASE, lift="cake", scales=2, weights="selling", directional=0.05, widen=0.645)
"""Directional Laplacians and line filters, with about as many parameters as BASE."""
NORMS = replace(PLANE, operators="first-order", widen=0.75)
ARROWS = replace(BASE, orientations=8, period="2pi", weights="selling")
ALONG = replace(ARROWS, operators="first-order", widen=0.5)
"""First derivatives beside the Laplacian: their norms on the plane, along the axes on SE(2)."""


@dataclass(frozen=True)
class Study:
    """What one parameter does.

    Args:
        title: of the table and of the figure.
        parameter: that is varied, on the figure's axis.
        variants: settings by the parameter's value, as the table's rows say it.
        drawn: whether it has a figure.
        numeric: whether the values are numbers on an axis, else they are names.
        logarithmic: whether that axis is.
        paper: its accuracies in % by the same values; "upright" and, where it has them, "rotated".
        source: where in the paper, and on what data.
        shown: columns of the table, beside others that some runs have.
    """

    title: str
    parameter: str
    variants: Mapping[str, Settings]
    drawn: bool = False
    numeric: bool = False
    logarithmic: bool = False
    paper: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    source: str = ""
    shown: Sequence[str] = SHOWN


KAPPAS = (0.1, 0.4, 0.6)


def thinned(part: str, paper: Mapping[str, Mapping[str, float]]) -> Study:
    """Shares of a graph, with the degrees of the whole one; of one share with its own."""

    def keeping(share: float, settings: Settings = BASE) -> Settings:
        kappa: dict[str, Any] = {f"kappa_{part}": share}
        return replace(settings, **kappa)

    anew = replace(BASE, lambda_max="2", degrees="kept")

    return Study(
        f"A share of the {part} in each training step",
        "kappa",
        {
            **{f"{share:g}": keeping(share) for share in (*KAPPAS, 1.0)},
            "0.6, own degrees": keeping(0.6, anew),
        },
        drawn=True,
        numeric=True,
        paper=paper,
        source="its appendix, MNIST's 60,000 digits, one level, eps^2 = 0.1",
    )


OF_EDGES = {
    "upright": {"0.1": 11.35, "0.4": 92.43, "0.6": 96.89, "1": 97.92},
    "rotated": {"0.1": 11.35, "0.4": 86.91, "0.6": 93.12, "1": 92.37},
}
OF_VERTICES = {
    "upright": {"0.1": 12.75, "0.4": 87.27, "0.6": 95.59, "1": 97.92},
    "rotated": {"0.1": 12.81, "0.4": 83.48, "0.6": 91.10, "1": 92.37},
}
STUDIES = {
    "anisotropy": Study(
        "Anisotropy",
        "eps^2",
        {
            **{f"{eps:g}": replace(BASE, eps_squared=eps) for eps in (0.1, 0.2, 0.5, 1.0)},
            "plane": PLANE,
        },
        drawn=True,
        paper={"upright": {"0.1": 84.26, "0.2": 85.49, "0.5": 84.69, "plane": 77.34}},
        source="its section 4.1, CIFAR10; its isotropic network is the one on the plane",
    ),
    "orientations": Study(
        "Distance between orientations",
        "alpha",
        {f"{alpha:g}": replace(BASE, alpha=alpha) for alpha in (0.5, 1.0, 2.0, 8.0)},
        drawn=True,
        numeric=True,
        logarithmic=True,
        paper={"upright": {"0.5": 83.43, "1": 84.83, "2": 83.41, "8": 80.06}},
        source="its section 4.1, CIFAR10; its unit of alpha is half of ours, in which 1 is 40/60",
    ),
    "edges": thinned("edges", OF_EDGES),
    "vertices": thinned("vertices", OF_VERTICES),
    "pooling": Study(
        "Pooling",
        "pooling",
        {"max": BASE, "mean": replace(BASE, pool="mean"), "random": replace(BASE, pool="random")},
    ),
    "weights": Study(
        "Edge weights",
        "weights",
        {
            "Gaussian, normalized": BASE,
            "matched": replace(BASE, weights="matched"),
            "Selling": replace(BASE, weights="selling"),
        },
    ),
    "lifts": Study(
        "Lifts and operators",
        "lift, operators",
        {
            "repeated": BASE,
            "cake": replace(BASE, lift="cake"),
            "cake, two scales": replace(BASE, lift="cake", scales=2),
            "repeated, directional": replace(LINES, operators="directional", lift="repeat"),
            "cake, two scales, directional": replace(LINES, operators="directional"),
        },
    ),
    "filters": Study(
        "What else the anisotropic network may lack",
        "change",
        {
            "none": BASE,
            "2 polynomials": replace(BASE, kernel_size=2),
            "8 polynomials": replace(BASE, kernel_size=8),
            "K = 32": replace(BASE, neighbors=32),
            "12 orientations": replace(BASE, orientations=12),
            "rotated images": replace(BASE, augment="rotations"),
        },
    ),
    "plane": Study(
        "What the isotropic network may lack",
        "change",
        {
            "none": PLANE,
            "2 polynomials": replace(PLANE, kernel_size=2),
            "8 polynomials": replace(PLANE, kernel_size=8),
            "K = 24": replace(PLANE, neighbors=24),
            "bandwidth 0.12": replace(PLANE, bandwidth=0.12),
            "combinatorial": replace(PLANE, laplacian="combinatorial"),
            "twice as deep": replace(PLANE, depth=2),
            "smoothed by 0.7 pixels": replace(PLANE, smooth=0.7),
            "rotated images": replace(PLANE, augment="rotations"),
        },
    ),
    "first-order": Study(
        "First derivatives, with about as many parameters",
        "network",
        {
            "plane, Laplacian alone": PLANE,
            "plane": NORMS,
            "plane, mirror images alike": replace(NORMS, handed=0),
            "plane, 2 polynomials": replace(NORMS, kernel_size=2, widen=1.0),
            "plane, 8 polynomials": replace(NORMS, kernel_size=8, widen=0.5),
            "SE(2), Laplacian alone": ARROWS,
            "SE(2)": ALONG,
            "SE(2), mirror images alike": replace(ALONG, handed=0, widen=0.75),
            "SE(2), 12 orientations": replace(ALONG, orientations=12),
            "SE(2), 2 polynomials": replace(ALONG, kernel_size=2, widen=0.75),
            "SE(2), 8 polynomials": replace(ALONG, kernel_size=8, widen=0.375),
        },
    ),
}

_COARSE = Settings(manifold="r2", levels=2, first_level=1, kernel_size=6, smooth=1.0)
_DIRECTIONAL = Settings(
    lift="cake",
    scales=3,
    weights="selling",
    directional=0.05,
    operators="directional",
    first_level=1,
)
_HANDED, _ALONG = replace(NORMS, steps=None), replace(ALONG, steps=None)
CONTENDERS = {
    "plain": Settings(network="plain"),
    "plain, rotated images": Settings(network="plain", augment="rotations"),
    "escnn, D4": Settings(network="escnn"),
    "escnn, C8": Settings(network="escnn", group="C8"),
    "escnn, C8, rotated images": Settings(network="escnn", group="C8", augment="rotations"),
    "plane": Settings(manifold="r2"),
    "plane, first-order": _HANDED,
    "plane, first-order, rotated images": replace(_HANDED, augment="rotations"),
    "plane, first-order, mirror images alike": replace(_HANDED, handed=0),
    "plane, first-order, low-pass": replace(_HANDED, low_pass=1),
    "plane, first-order, low-pass, rotated images": replace(
        _HANDED, low_pass=1, augment="rotations"
    ),
    "plane, first-order, low-pass at first": replace(_HANDED, initial="low-pass"),
    "plane, first-order, smoothed": replace(_HANDED, smooth=0.7, kernel_size=6),
    "plane, smoothed, from level 1": _COARSE,
    "plane, smoothed, from level 1, rotated images": replace(_COARSE, augment="rotations"),
    "SE(2)": Settings(),
    "SE(2), first-order": _ALONG,
    "SE(2), first-order, mirror images alike": replace(_ALONG, handed=0),
    "SE(2), directional, from level 1": _DIRECTIONAL,
    "SE(2), directional, from level 1, rotated images": replace(_DIRECTIONAL, augment="rotations"),
}
"""Networks compared at equal time; widths are chosen for equal parameters."""
