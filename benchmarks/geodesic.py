"""The norm of the logarithm beside the geodesic distance that it stands for, on SE(2).

    python benchmarks/geodesic.py            # three minutes

The straight path exp(t log) to an element is no geodesic, so its length, by which neighbors are
chosen and weighed, is an upper bound of the distance. Geodesics are found by shooting: momenta
follow the Lie-Poisson equations, and Newton's method, from the logarithms of all candidates and
from velocities around them, finds those that arrive; the shortest counts. Those missed could only
be shorter still. For n_o = 6, K = 16, alpha = 1, by eps^2: how much too long the norm is at most,
within the neighborhood (stencil) and within twice its radius, and how many of the 16 nearest by
one distance are among the 16 nearest by the other, least and most over orientations.
"""

import math

import numpy as np
from scripts import print_head, print_row

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampling import SampledManifold
from cheblienet_graphs.search.stencil import StencilEngine
from cheblienet_graphs.typing import Floats

N_O, K, PIXELS = 6, 16, 64
STEPS, ROUNDS, STARTS = 48, 12, 6
ARRIVED = 1e-9


def arrival(velocity: Floats, diagonal: Floats) -> Floats:
    """(N, 3) x, y, theta at time 1 of geodesics from the identity; Runge-Kutta of fourth order.

    Args:
        velocity: (N, 3) in the frame, at time 0.
        diagonal: (3,) of the metric.
    """

    def slope(state: Floats) -> Floats:
        momentum, theta = state[:3], state[5]
        v = momentum / diagonal[:, None]
        cos, sin = np.cos(theta), np.sin(theta)
        turning = v[1] * momentum[0] - v[0] * momentum[1]
        rates = [v[2] * momentum[1], -v[2] * momentum[0], turning]
        return np.stack([*rates, v[0] * cos - v[1] * sin, v[0] * sin + v[1] * cos, v[2]])

    state = np.concatenate([(velocity * diagonal).T, np.zeros((3, len(velocity)))])
    step = 1 / STEPS
    for _ in range(STEPS):
        a = slope(state)
        b = slope(state + step / 2 * a)
        c = slope(state + step / 2 * b)
        d = slope(state + step * c)
        state = state + step / 6 * (a + 2 * b + 2 * c + d)
    return state[3:].T


def shortest(targets: Floats, starts: Floats, diagonal: Floats) -> Floats:
    """(N,) lengths of geodesics to targets (N, 3) from velocities to start with; inf where none."""
    velocity, unit = starts.copy(), 1e-6
    for _ in range(ROUNDS):
        missed = arrival(velocity, diagonal) - targets
        columns = [
            (arrival(velocity + unit * e, diagonal) - targets - missed) / unit for e in np.eye(3)
        ]
        jacobian = np.stack(columns, axis=2) + 1e-12 * np.eye(3)
        change = np.linalg.solve(jacobian, missed[..., None])[..., 0]
        largest = abs(change).max(axis=1, keepdims=True)
        velocity -= change * np.minimum(1, 1 / np.maximum(largest, 1e-300))
    arrived = abs(arrival(velocity, diagonal) - targets).max(axis=1) < ARRIVED
    return np.where(arrived, np.sqrt((velocity**2 * diagonal).sum(axis=1)), np.inf)


def logarithms(theta: float, offsets: Floats) -> Floats:
    """(3, N, 3) candidates c for the way from (0, 0, theta) to x, y, theta' modulo pi."""
    turn = offsets[:, 2] - theta
    turn = (turn + math.pi) % (2 * math.pi) - math.pi
    candidates = []
    for t in (turn, turn - math.pi, turn + math.pi):
        half = theta + t / 2
        x, y = offsets[:, 0], offsets[:, 1]
        scale = np.sinc(t / (2 * np.pi))
        forward = (np.cos(half) * x + np.sin(half) * y) / scale
        sideways = (-np.sin(half) * x + np.cos(half) * y) / scale
        candidates.append(np.stack([forward, sideways, t], axis=1))
    return np.array(candidates)


def distances(theta: float, offsets: Floats, diagonal: Floats) -> tuple[Floats, Floats]:
    """(N,) norms of the logarithm, and geodesic distances, of elements in pixels and radians."""
    candidates = logarithms(theta, offsets)
    norms = np.sqrt((candidates**2 * diagonal).sum(axis=2))
    random, length = np.random.default_rng(0), norms.min(axis=0)
    for c in candidates[abs(candidates[:, :, 2]).max(axis=1) <= 2 * math.pi]:
        cos, sin = math.cos(theta), math.sin(theta)
        x, y = offsets[:, 0], offsets[:, 1]
        targets = np.stack([cos * x + sin * y, -sin * x + cos * y, c[:, 2]], axis=1)
        for attempt in range(STARTS):
            around = random.normal(size=c.shape) / np.sqrt(diagonal)
            starts = c + (0.3 * norms.min(axis=0)[:, None] * around if attempt else 0)
            length = np.minimum(length, shortest(targets, starts, diagonal))
    return norms.min(axis=0), length


def print_eps(eps_squared: float) -> None:
    spec = GraphSpec("se2", PIXELS, orientations=N_O, eps_squared=eps_squared, neighbors=K)
    lattice, metric = spec.full_sampling(0), spec.metric(0).scaled(1 / PIXELS)
    assert isinstance(lattice, Lattice)
    sampled = SampledManifold(lattice, spec.geometry, spec.metric(0))
    squared = StencilEngine.of_rule(sampled, K).squared_radii
    assert squared is not None
    radii = np.sqrt(squared) * PIXELS
    diagonal = np.array(spec.geometry.weights(metric))
    (angles,) = lattice.fiber_coordinates.T
    near, far, agree = 0.0, 0.0, []
    for theta, radius in zip(angles, radii, strict=True):
        box = np.arange(-math.ceil(2 * radius), math.ceil(2 * radius) + 1)
        grid = np.stack(np.meshgrid(box, box, angles, indexing="ij"), axis=-1)
        offsets = grid.reshape(-1, 3).astype(np.float64)
        itself = (offsets[:, :2] == 0).all(axis=1) & (offsets[:, 2] == theta)
        norms, lengths = distances(theta, offsets[~itself], diagonal)
        known = norms <= 2 * radius * (1 + 1e-7)
        norms, lengths = norms[known], lengths[known]
        ratio = norms / lengths - 1
        near = max(near, ratio[norms <= radius * (1 + 1e-7)].max())
        far = max(far, ratio.max())
        by_norm, by_length = (set(np.argsort(d, kind="stable")[:K]) for d in (norms, lengths))
        agree.append(len(by_norm & by_length))
    print_row(f"{eps_squared:g}", f"{near:.1%}", f"{far:.1%}", f"{min(agree)} .. {max(agree)}")


def main() -> None:
    np.seterr(over="ignore", invalid="ignore")  # of velocities that lead nowhere
    distances_up_to = "within the neighborhood", "within twice its radius"
    print_head("eps^2", *distances_up_to, "of 16 neighbors agree")
    for eps_squared in (1.0, 0.1, 0.01):
        print_eps(eps_squared)


if __name__ == "__main__":
    main()
