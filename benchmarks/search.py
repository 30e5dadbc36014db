"""Finding neighbors on SO(3): the pruned search against brute force, in one run.

Icosahedral levels x 6 orientations, K = 16, the paper's metric. Brute force evaluates every pair
in float64 torch, block by block, and takes the nearest; on a CPU it is extrapolated from 200 rows.
Peak memory is that of a fresh process that builds nothing but that level.

    python benchmarks/search.py [--device cpu|cuda] [--largest 6]
"""

import math
import statistics
from functools import partial

import torch
from scripts import parser_of, print_head, print_row, temporary_store
from torch import Tensor
from turns import Work, in_fresh_process, in_turns, machine, peak_memory, ratio, seconds_of

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.assembly.level_plan import LevelPlan, level_plans
from cheblienet_graphs.search.choice import Choice
from cheblienet_graphs.search.positions import Cloud, PlacedPoints

NEIGHBORS = 16
ROWS = 200
PAIRS_AT_ONCE = {"cpu": 2**20, "cuda": 2**27}


def level_of(subdivisions: int, device: str) -> LevelPlan:
    spec = GraphSpec("so3", subdivisions=subdivisions, orientations=6, eps_squared=0.1, levels=1)
    return level_plans(spec, Choice("pruned", device))[0]


def nearest_of_all(cloud: Cloud, device: str, chosen: Tensor) -> tuple[Tensor, Tensor]:
    """(n, K + 2) ascending d^2 of those nearest to the chosen (n,), themselves too, and these."""
    elements = tuple(torch.from_numpy(e.ravel()).to(device) for e in cloud.elements)
    vertices = len(elements[0])
    nearest = []
    for block in chosen.split(max(1, PAIRS_AT_ONCE[device] // vertices)):
        start = tuple(e[block, None] for e in elements)
        end = tuple(e[None] for e in elements)
        squared = cloud.manifold.squared_distance(start, end, cloud.metric)
        nearest.append(squared.topk(min(NEIGHBORS + 2, vertices), dim=1, largest=False))
    squared, others = zip(*nearest, strict=True)
    return torch.cat(squared), torch.cat(others)


def total_degree(level: LevelPlan) -> int:
    """Twice the number of edges, which are searched anew."""
    return level.neighbors.engine().total_degree


def compare(largest: int, device: str) -> None:
    costs = "brute force", "pruned", "ratio", "seconds / (V log V)"
    print_head("level", "V", "edges", *costs)
    for subdivisions in range(4, largest + 1):
        level = level_of(subdivisions, device)
        vertices = level.vertices
        points = PlacedPoints.of(level.sampled).cloud()
        rows = vertices if device == "cuda" and vertices < 10**5 else ROWS
        chosen = torch.linspace(0, vertices - 1, rows, device=device).long()
        level.domain.coordinates()
        works: dict[str, Work] = {
            "brute force": partial(nearest_of_all, points, device, chosen),
            "pruned": partial(total_degree, level),
        }
        took = in_turns(works, 3, device, warm=True)
        brute, ours = (statistics.median(times) for times in took.values())
        brute *= vertices / rows
        scaled = 1e9 * ours / (vertices * math.log(vertices))
        speed = f"{vertices**2 / brute:.2g} pairs/s"
        edges = total_degree(level) // 2
        sizes = f"{subdivisions} x 6", f"{vertices:,}", f"{edges:,}"
        times = f"{brute:.0f} s ({speed})", f"{ours:.2f} s"
        print_row(
            *sizes, *times, f"{ratio(*took.values()) * vertices / rows:.0f}", f"{scaled:.0f} e-9"
        )


def build_once(subdivisions: int, device: str) -> tuple[float, int]:
    """Build one level into a throw-away store: seconds, and the most memory of this process."""
    spec = level_of(subdivisions, device).spec
    took = seconds_of(partial(build, spec, temporary_store(), device=device))
    return took, peak_memory()


def main() -> None:
    options = parser_of(__doc__, device="cpu", largest=6).parse_args()
    print(f"{machine(options.device, ('torch',))}\n")
    compare(options.largest, options.device)
    print()
    print_head("whole build", "V", "seconds", "peak memory")
    for subdivisions in range(4, options.largest + 1):
        spec = level_of(subdivisions, options.device).spec
        took, peak = in_fresh_process(build_once, subdivisions, options.device)
        cells = f"{spec.num_vertices:,}", f"{took:.1f} s", f"{peak / 1e9:.2f} GB"
        print_row(f"{subdivisions} x 6", *cells)


if __name__ == "__main__":
    main()
