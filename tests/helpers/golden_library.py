"""The numbers that the pages of docs/explanation state, as the package computes them."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from golden_axes import AXES
from golden_truth import (
    ELEMENTS,
    EPS,
    SELLING_ANGLE,
    SIDE_ANGLE,
    SIDEWAYS,
    TIMES,
    TOLERANCE,
    TRIANGLE,
    XI,
    Numbers,
)

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.assembly.xi import first_guess
from cheblienet_graphs.manifolds import MANIFOLDS, Metric
from cheblienet_graphs.manifolds.arrays import array
from cheblienet_graphs.manifolds.fibre import AnglesModuloPi, ListedAxes
from cheblienet_graphs.manifolds.metric import squared_norm
from cheblienet_graphs.manifolds.moments import edge_moments
from cheblienet_graphs.neighbours.stencil import Stencils
from cheblienet_graphs.samplings.axes import axis_set
from cheblienet_graphs.samplings.icosphere import Icosphere
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampled import SampledManifold
from cheblienet_graphs.spec.edges import KERNELS
from cheblienet_graphs.weights.boundary import missing
from cheblienet_graphs.weights.selling import Form, base_offsets
from cheblienet_graphs.weights.tilts import tilt_edges
from cheblienet_models.graphs.polynomials import heat

Element = tuple[float, ...]
METRIC = Metric(EPS, XI)


def _points(name: str, *elements: Element) -> list[tuple]:
    return [MANIFOLDS[name].elements(tuple(array([c]) for c in element)) for element in elements]


def _distance(name: str, g: Element, h: Element, metric: Metric = METRIC) -> float:
    return math.sqrt(float(MANIFOLDS[name].squared_distance(*_points(name, g, h), metric)[0]))


def logarithm(name: str) -> Callable[[], Numbers]:
    def of_first() -> Numbers:
        return [
            float(c[0])
            for c in next(iter(MANIFOLDS[name].logarithms(*_points(name, *ELEMENTS[name]))))
        ]

    return of_first


def distance(name: str) -> Callable[[], Numbers]:
    return lambda: [_distance(name, *ELEMENTS[name])]


def _lengths(name: str, g: Element, h: Element, metric: Metric) -> Numbers:
    """Of all candidates."""
    weights = MANIFOLDS[name].weights(metric)
    found = MANIFOLDS[name].logarithms(*_points(name, g, h))
    return [math.sqrt(float(squared_norm(weights, c)[0])) for c in found]


def se2_sideways() -> Numbers:
    g, h, xi = SIDEWAYS
    return _lengths("se2", g, h, Metric(EPS, xi))


def se2_triangle() -> Numbers:
    a, b, c = TRIANGLE
    return [_distance("se2", *pair) for pair in ((a, b), (b, c), (a, c))]


def r3s2_distance() -> Numbers:
    lengths = _lengths("r3s2", *ELEMENTS["r3s2"], METRIC)
    assert math.isclose(_distance("r3s2", *ELEMENTS["r3s2"]), min(lengths), rel_tol=1e-12)
    return lengths


def icosphere_areas() -> Numbers:
    areas = [Icosphere(subdivisions=level).base_areas for level in range(1, 5)]
    return [float(a.max() / a.min()) for a in areas]


def gaussian_points() -> Numbers:
    return [GraphSpec("s2", gaussian=size).base_points(0) for size in ("O32", "F32")]


def xi_squared() -> Numbers:
    specs = GraphSpec("se2", 96), GraphSpec("so3", subdivisions=4)
    return [spec.metric(0).xi ** 2 for spec in specs]


def auto_alpha() -> Numbers:
    return [first_guess(GraphSpec("se2", 32, xi="auto"))]


def _stencils(eps: float, alpha: float, count: int) -> Stencils:
    lattice = Lattice((32, 32), 6, AnglesModuloPi("theta"))
    metric = Metric(eps, math.sqrt(alpha * 6) / 32)
    return Stencils.of(SampledManifold(lattice, MANIFOLDS["se2"], metric), count)


def alpha_plateau() -> Numbers:
    def fits(thousandths: int) -> bool:
        found = _stencils(EPS, thousandths / 1000, 16).stencils
        inside = sum(len(stencil.within(k)) for k, stencil in enumerate(found))
        return 5 * inside == 2 * sum(map(len, found))

    ends = []
    for far in (800, 1300):
        near = 1000
        while abs(far - near) > 1:
            middle = (far + near) // 2
            near, far = (middle, far) if fits(middle) else (near, middle)
        ends.append(near / 1000)
    return ends


def degrees(eps: float, count: int) -> Callable[[], Numbers]:
    def of_three() -> Numbers:
        three = list(enumerate(_stencils(eps, 1.0, count).stencils))[:3]
        return [len(s) for _, s in three] + [len(s.within(k)) for k, s in three]

    return of_three


def shells(dimension: int) -> Callable[[], Numbers]:
    def distinct() -> Numbers:
        name = {2: "r2", 3: "r3"}[dimension]
        sampled = SampledManifold(Lattice((32,) * dimension), MANIFOLDS[name], Metric(1.0))
        least, most = {2: (4, 28), 3: (6, 80)}[dimension]
        found = {len(Stencils.of(sampled, k).stencils[0]) for k in range(least, most + 1)}
        return sorted(found)

    return distinct


def kernels() -> Numbers:
    u = array([1 / 0.8])
    return [float(KERNELS[name](u)[0]) for name in ("gaussian", "laplace", "cauchy")]


def lambda_max(folder: Path, manifold: str, size: int, counts: tuple[int, ...]) -> Numbers:
    found = []
    for count in counts:
        spec = GraphSpec(manifold, size, neighbors=count, boundary="periodic", levels=1)
        built = build(spec, folder / "g.zarr", name=f"{manifold}-{count}")
        found.append(built.levels[0].lambda_max)
    return found


def realised(count: int) -> Callable[[], Numbers]:
    def of_two() -> Numbers:
        found = _stencils(EPS, 1.0, count)
        mean = np.concatenate(found.squared_lengths).mean()
        metric = Metric(EPS, math.sqrt(6))
        ratios = []
        for k, (stencil, squared) in enumerate(
            zip(found.stencils, found.squared_lengths, strict=True)
        ):
            weights = np.asarray(KERNELS["gaussian"](array(squared / (0.8 * mean))))
            ends = found.lattice.edge_coordinates(
                np.full(len(stencil), k), stencil.orientation, stencil.offsets
            )
            _, second = edge_moments(MANIFOLDS["se2"], metric, *ends)
            moment = np.einsum("n,nab->ab", weights, second)
            ratios.append(float(moment[1, 1] / moment[0, 0]) * EPS**2)
        return ratios[:2]

    return of_two


def _form(angle: float, eps_squared: float) -> Form:
    cos, sin = math.cos(angle), math.sin(angle)
    return Form(((1.0, (cos, sin)), (eps_squared, (-sin, cos))))


def selling_weights() -> Numbers:
    return sorted(weight for _, weight in base_offsets(_form(SELLING_ANGLE, 0.1)))[::2]


def selling_reach() -> Numbers:
    angles = np.linspace(0, math.pi / 4, 91)
    return [
        max(math.hypot(*v) for angle in angles for v, _ in base_offsets(_form(angle, e)))
        for e in (0.1, 0.01)
    ]


def side_energy() -> Numbers:
    """The part that is cut off by its formula, and the whole by `missing`."""
    stencil = base_offsets(_form(SIDE_ANGLE, 0.1))
    offsets = np.array([v[::-1] for v, _ in stencil])
    weights = np.array([weight for _, weight in stencil])
    moments = np.einsum("j,ja,jb->ab", weights, offsets, offsets) / 2
    gradient = np.array([-moments[0, 1] / moments[0, 0], 1.0])
    out = offsets[:, 0] < 0
    cut = (weights * -offsets[:, 0] * (offsets @ gradient) ** 2 / 2)[out].sum()
    return [float(cut), float(missing(offsets, weights, 0).item())]


def heat_degrees() -> Numbers:
    return [float(heat(torch.tensor([t]), 2.0, TOLERANCE).degree) for t in TIMES]


def first_fibre_mode() -> Numbers:
    """Second moment of the edges along the fibre over 2, per squared radian."""
    steps = AnglesModuloPi("theta").steps(6, 1.0)
    return [sum(weight * (step * math.pi / 6) ** 2 for step, weight in steps) / 2]


def quarter_turn_excess() -> Numbers:
    g, h = (0.0, 0.0, 0.0, 0.0, 0.0, 1.0), (1.0, 0.0, 1.0, 1.0, 0.0, 0.0)
    return [_distance("r3s2", g, h, Metric(1.0, 1e-9)) ** 2 / 2 - 1]


def axes(name: str) -> Callable[[], Numbers]:
    def told() -> Numbers:
        found = axis_set(name)
        nearest = np.degrees((found.angles + np.diag([9.0] * len(found))).min(axis=1))
        ratio = float(found.areas.max() / found.areas.min())
        return [len(found), len(found.rotations), ratio, nearest.min(), nearest.max()]

    return told


def widest_tilts() -> Numbers:
    widest = []
    for name in ("12", "22"):
        found = axis_set(name)
        fibre = ListedAxes(tuple(map(tuple, found.points.tolist())), tuple(found.areas.tolist()))
        edges = [(i, j) for i, to in enumerate(tilt_edges(fibre, len(found), 1.0)) for j, _ in to]
        widest.append(max(math.degrees(found.angles[edge]) for edge in edges))
    return widest


def spectrum(manifold: str, eps_squared: float, xi_squared: float, count: int) -> Numbers:
    metric = Metric(math.sqrt(eps_squared), math.sqrt(xi_squared))
    return MANIFOLDS[manifold].spectrum(count, metric, None).tolist()


def library(folder: Path) -> dict[str, Callable[[], Numbers]]:
    """The numbers of each name; stores are built in the folder."""
    return {
        "se2.logarithm": logarithm("se2"),
        "se2.distance": distance("se2"),
        "se2.sideways": se2_sideways,
        "se2.triangle": se2_triangle,
        "so3.logarithm": logarithm("so3"),
        "so3.distance": distance("so3"),
        "r3s2.distance": r3s2_distance,
        "icosphere.areas": icosphere_areas,
        "gaussian.points": gaussian_points,
        "xi.squared": xi_squared,
        "xi.auto": auto_alpha,
        "xi.plateau": alpha_plateau,
        "degrees": degrees(EPS, 16),
        "degrees.narrow": degrees(0.1, 16),
        "degrees.narrow.32": degrees(0.1, 32),
        "shells.plane": shells(2),
        "shells.space": shells(3),
        "kernels": kernels,
        "lambda_max.se2": lambda: lambda_max(folder, "se2", 12, (8, 16, 32)),
        "lambda_max.r3": lambda: lambda_max(folder, "r3", 16, (6, 18, 26, 32)),
        **{f"realised.{count}": realised(count) for count in (8, 16, 32, 64)},
        "selling.weights": selling_weights,
        "selling.reach": selling_reach,
        "side.energy": side_energy,
        "heat.degrees": heat_degrees,
        "fibre.moment": first_fibre_mode,
        "r3s2.excess": quarter_turn_excess,
        **{f"axes.{name}": axes(name) for name in AXES},
        "tilts": widest_tilts,
    }
