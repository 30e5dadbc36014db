"""Does anisotropy help in volumes? Tubes and blobs, trained upright, tested in all directions.

Made-up scalar fields in a ball of 16 voxels across: two tubes (straight, with a Gaussian profile)
and three round blobs of random places, lengths, widths and heights, and noise. A U-ChebNet on
positions and axes tells for each voxel whether it lies on a tube, on a blob or on neither. In
training all tubes run along z, within 0.2 radians. Tested is on fields made in the same way, on the
same fields turned by one of the cube's 24 rotations each, which the graph has itself, and on fields
of the same shapes turned by any rotation of space, computed anew. The same network with eps = 1
(isotropic) and with eps^2 = 0.1, with Gaussian weights and with some that realize it. F1 is the
mean over blobs and tubes.

    python benchmarks/accuracy/volumes.py
"""

import itertools
from functools import cached_property
from typing import Any

import torch
from scripts import parser_of
from sphere import Segmentation, report, rotations
from torch import Tensor, nn
from training import Scores, of_each

from cheblienet_graphs import GraphSpec

SIDE = 16
TRAINING, TEST, BATCH = 240, 64, 8
CHANNELS = (8, 8, 16)
NOISE = 0.25
OUTSIDE = -100
"""The label of voxels outside the ball, which a loss leaves out."""


def places() -> Tensor:
    """(D, H, W, 3) x, y, z of the voxels from the middle, in voxels."""
    line = torch.arange(SIDE, dtype=torch.float64) - (SIDE - 1) / 2
    return torch.stack(torch.meshgrid(line, line, line, indexing="ij")[::-1], dim=-1)


BALL = places().norm(dim=-1) < SIDE / 2
COMMON: dict[str, Any] = {"mask": BALL.numpy(), "axes": 12, "levels": 2}
SPECS = {
    "eps = 1": GraphSpec("r3s2", eps=1, **COMMON),
    "eps^2 = 0.1": GraphSpec("r3s2", eps_squared=0.1, **COMMON),
    "eps^2 = 0.1, selling": GraphSpec("r3s2", eps_squared=0.1, weights="selling", **COMMON),
}


Fields = tuple[Tensor, Tensor]
"""Fields (n, 1, D, H, W), 0 outside the ball, and labels (n, D, H, W)."""
CUBE = [
    (order, signs)
    for order in itertools.permutations(range(3))
    for signs in itertools.product((1, -1), repeat=3)
    if torch.linalg.det(torch.eye(3)[list(order)] * torch.tensor(signs)) > 0
]
"""Rotations of the cube: an order of the axes, and which of them are turned over."""


def turned_by_cube(fields: Fields, seed: int) -> Fields:
    """Each field turned by one of the cube's rotations."""
    generator = torch.Generator().manual_seed(seed)
    chosen = torch.randint(len(CUBE), (len(fields[0]),), generator=generator).tolist()
    values, labels = (
        torch.stack([_turned(one, n) for one, n in zip(part, chosen, strict=True)])
        for part in (fields[0][:, 0], fields[1])
    )
    return values[:, None], labels


def _turned(field: Tensor, rotation: int) -> Tensor:
    """(D, H, W) turned by one of the rotations of the cube."""
    order, signs = CUBE[rotation]
    return field.permute(order).flip([axis for axis in range(3) if signs[axis] < 0])


def samples(count: int, seed: int, *, turned: bool) -> Fields:
    """Fields of the seed's shapes and noise, turned by any rotations or upright."""
    generator = torch.Generator().manual_seed(seed)

    def uniform(low: float, high: float, *shape: int) -> Tensor:
        drawn = torch.rand(count, *shape, generator=generator, dtype=torch.float64)
        return low + (high - low) * drawn

    def centers(number: int) -> Tensor:
        """(count, number, 3) in a ball of 5 voxels."""
        vectors = torch.randn(count, number, 3, generator=generator, dtype=torch.float64)
        return 5 * uniform(0, 1, number, 1) ** (1 / 3) * nn.functional.normalize(vectors, dim=2)

    tilt, around = uniform(0, 0.2, 2), uniform(0, 2 * torch.pi, 2)
    along = torch.stack([tilt.sin() * around.cos(), tilt.sin() * around.sin(), tilt.cos()], dim=2)
    tubes, blobs = centers(2), centers(3)
    length, widths = uniform(3, 5, 2, 1), (uniform(0.8, 1.1, 2, 1), uniform(1.4, 2.0, 3, 1))
    heights = uniform(0.8, 1.2, 2, 1), uniform(0.8, 1.2, 3, 1)
    noise = NOISE * torch.randn(count, int(BALL.sum()), generator=generator, dtype=torch.float64)
    turns = rotations(count, generator) if turned else torch.eye(3).double().expand(count, 3, 3)
    # What was at x is at R x: the field there is that of R^-1 x.
    at = places()[BALL] @ turns
    offset = at[:, None] - tubes[:, :, None]
    forward = (offset * along[:, :, None]).sum(-1)
    beyond = (forward.abs() - length).clamp(min=0)
    aside = (offset - forward[..., None] * along[:, :, None]).square().sum(-1) + beyond**2
    tube = heights[0] * (-aside / (2 * widths[0] ** 2)).exp()
    blob = (
        heights[1]
        * (-(at[:, None] - blobs[:, :, None]).square().sum(-1) / (2 * widths[1] ** 2)).exp()
    )
    both = torch.stack([blob.amax(dim=1), tube.amax(dim=1)], dim=1)
    strongest, kind = both.max(dim=1)
    field = both.sum(dim=1) + noise
    values = torch.zeros(count, 1, SIDE, SIDE, SIDE)
    values[:, 0, BALL] = ((field - field.mean()) / field.std()).float()
    labels = torch.full((count, SIDE, SIDE, SIDE), OUTSIDE)
    labels[:, BALL] = torch.where(strongest > 0.5, kind + 1, 0)
    return values, labels


class InVolumes(Segmentation):
    """The same for tubes and blobs in the ball."""

    channels = CHANNELS

    def scores(self, network: nn.Module) -> Scores:
        """F1 in % by column, and the largest change of log-probabilities under the 24 rotations."""
        return super().scores(network) | {"change": self._change(network)}

    def _change(self, network: nn.Module) -> float:
        """Of one field, over the rotations of the cube."""
        field = self.samples["upright"][0][0, 0]
        turned = torch.stack([_turned(field, n) for n in range(len(CUBE))])[:, None]
        outputs = torch.cat([network(part) for part in turned.split(BATCH)])
        upright = network(field[None, None])[0]
        expected = [torch.stack([_turned(part, n) for part in upright]) for n in range(len(CUBE))]
        return float((outputs - torch.stack(expected)).abs().nan_to_num().max())

    @cached_property
    def samples(self) -> dict[str, Fields]:
        """Fields to train on, to test on, and to test on turned in two ways."""
        upright = samples(TEST, 1000 + self.seed, turned=False)
        return {
            "training": samples(TRAINING, self.seed, turned=False),
            "upright": upright,
            "24 rotations": turned_by_cube(upright, self.seed),
            "any rotation": samples(TEST, 1000 + self.seed, turned=True),
        }


SHOWN = {
    "mean, upright": "upright",
    "mean, 24 rotations": "24 rotations",
    "mean, any rotation": "any rotation",
    "filament, upright": "tubes only, upright",
}
"""Columns of scores by what they are called in the table."""


def main() -> None:
    options = vars(parser_of(__doc__, epochs=4, seeds=3).parse_args())
    scores = of_each(SPECS, InVolumes, **options)
    changes = [run["change"] for runs in scores.values() for run in runs]
    shown = {
        kind: [{title: run[column] for column, title in SHOWN.items()} for run in runs]
        for kind, runs in scores.items()
    }
    report(shown, TEST)
    print(f"\nlargest change of log-probabilities under the 24 rotations: {max(changes):.1e}")


if __name__ == "__main__":
    main()
