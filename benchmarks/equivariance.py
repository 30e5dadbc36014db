"""How equivariant a network on SO(3) is under rotations that the icosphere does not have.

A U-ChebNet with random weights, two levels of pooling, on smooth random fields f (real spherical
harmonics up to degree 6). Compared are the network's output for the field turned by a random
rotation, evaluated exactly at the points, and its output for f, turned: interpolated linearly in
triangles and then on a fine grid. Root mean square of the difference over that of the output's
deviation from its mean; `interpolation` is the same for f itself, what interpolating alone costs;
`grid` is the largest difference under rotations that the graph does have, in float32 and float64.

    python benchmarks/equivariance.py
"""

import copy
import math
import statistics
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import torch
from scipy.special import sph_harm_y
from scripts import parser_of, print_head, print_row, pyramid_of, unit_vectors
from torch import Tensor, nn

from cheblienet_graphs import GraphSpec
from cheblienet_models import Pyramid, UNet, VerticesToLatLon, regular_grid
from cheblienet_models.testing import assert_equivariant

DEGREE, ROTATIONS = 6, 5
GRID = (360, 720)
KINDS: dict[str, dict[str, Any]] = {
    "Gaussian, eps^2 = 0.1": {"eps_squared": 0.1},
    "Gaussian, eps = 1": {"eps": 1},
    "matched, eps^2 = 0.1": {"eps_squared": 0.1, "weights": "matched", "neighbors": 24},
}


def angles(points: Tensor) -> tuple[Tensor, Tensor]:
    """Colatitudes in [0, pi] and longitudes in [0, 2 pi) of unit vectors."""
    x, y, z = points.T
    return torch.atan2(torch.hypot(x, y), z), torch.atan2(y, x) % (2 * math.pi)


def field(points: Tensor, coefficients: np.ndarray) -> Tensor:
    """(points,) float32 sum of real spherical harmonics."""
    beta, gamma = (angle.numpy() for angle in angles(points))
    total = np.zeros(len(beta))
    index = 0
    for degree in range(1, DEGREE + 1):
        for order in range(degree + 1):
            wave = sph_harm_y(degree, order, beta, gamma)
            total += coefficients[index] * wave.real + coefficients[index + 1] * wave.imag
            index += 2
    return torch.from_numpy(total).float()


def at(pyramid: Pyramid, signal: Tensor, points: Tensor) -> Tensor:
    """(B, C, n) a signal on the base (B, C, points) at other places (n, 3)."""
    latitudes, longitudes = regular_grid(*GRID, west=0)
    image = VerticesToLatLon(pyramid, latitudes, longitudes)(signal)
    image = torch.cat([image[..., -1:], image, image[..., :1]], dim=3)  # across the seam
    beta, gamma = angles(points)
    height, width = GRID
    row = beta / math.pi * height - 0.5
    column = gamma / (2 * math.pi) * width + 0.5
    places = torch.stack([2 * column / (width + 1) - 1, 2 * row / (height - 1) - 1], dim=1)
    grid = places.float()[None, None].expand(len(image), -1, -1, -1)
    return nn.functional.grid_sample(image, grid, padding_mode="border", align_corners=True)[
        :, :, 0
    ]


def errors(pyramid: Pyramid, seed: int) -> tuple[float, float, float, float]:
    """Under a random rotation, of interpolation, under the graph's own in float32 and float64."""
    generator = np.random.default_rng(seed)
    torch.manual_seed(seed)
    network = UNet(pyramid, 1, 4, channels=(8, 16, 16, 16)).eval()
    coefficients = generator.standard_normal(2 * (DEGREE + 1) * DEGREE)
    q, r = np.linalg.qr(generator.standard_normal((3, 3)))
    rotation = q * np.sign(r.diagonal())
    turn = torch.from_numpy(rotation * np.linalg.det(rotation))
    points = unit_vectors(pyramid.levels[0])
    straight, turned = (field(p, coefficients)[None, None] for p in (points, points @ turn))

    def relative(output: Tensor, expected: Tensor) -> float:
        spread = (expected - expected.mean(dim=2, keepdim=True)).square().mean().sqrt()
        return float((output - expected).square().mean().sqrt() / spread)

    with torch.no_grad():
        moved = at(pyramid, network(straight), points @ turn)
        difference = relative(network(turned), moved)
    interpolation = relative(turned, at(pyramid, straight, points @ turn))
    check = partial(assert_equivariant, pyramid=pyramid, output="base", tolerance=1e-3)
    single = check(network, signal=straight)
    precise = copy.deepcopy(network).double()  # a copy of the graphs too, which others share
    double = check(precise, signal=straight.double())
    return difference, interpolation, max(single.values()), max(double.values())


def main() -> None:
    parser_of(__doc__).parse_args()
    tested = "random rotations", "interpolation", "grid", "float64"
    print_head("graph", "level", "vertices", *tested)
    for (title, kind), level in product(KINDS.items(), (2, 3, 4, 5)):
        spec = GraphSpec("so3", subdivisions=level, orientations=6, levels=3, **kind)
        pyramid = pyramid_of(spec, device="cpu")
        columns = zip(*(errors(pyramid, seed) for seed in range(ROTATIONS)), strict=True)
        random, interpolation, single, double = columns
        print_row(
            *(title, level, f"{spec.num_vertices:,}"),
            f"{statistics.mean(random):.3f} +- {statistics.stdev(random):.3f}",
            *(f"{statistics.mean(interpolation):.3f}", f"{max(single):.1e}", f"{max(double):.1e}"),
        )


if __name__ == "__main__":
    main()
