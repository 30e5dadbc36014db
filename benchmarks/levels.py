"""A training step of the same network on the mnist recipe and with one more level to pool to.

The recipe has one level, as the paper's table has, so that all of the WideResNet runs at full
resolution; with two levels its second and third group run on a quarter of the vertices. The
networks take turns, the ratio is the median over the rounds. On a CPU the processor's time is
counted, which other processes hardly change; on a GPU the clock's.

    python benchmarks/levels.py [--rounds 9] [--device cpu|cuda]
"""

import statistics
import time

import torch
from layers import step_of
from scripts import parser_of, print_head, print_row, pyramid_of
from turns import in_turns

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.recipes import recipe


def main() -> None:
    options = parser_of(__doc__, rounds=9, device="cpu").parse_args()
    given, device = recipe("mnist").spec.to_dict(), options.device
    works, vertices = {}, {}
    for n in (1, 2):
        pyramid = pyramid_of(GraphSpec(**given | {"levels": n}))
        torch.manual_seed(0)
        name = f"--levels {n}"
        works[name] = step_of(pyramid, 1, 28, device)
        vertices[name] = " / ".join(str(graph.num_vertices) for graph in pyramid.levels)
    clock = time.process_time if options.device == "cpu" else time.perf_counter
    took = in_turns(works, options.rounds, device, clock, warm=True)
    threads = torch.get_num_threads()
    print(f"WideResNet, depth 2, widen 2, B = 16, {device}, {threads} thread(s)\n")
    print_head("graph", "vertices", "step")
    for name, seconds in took.items():
        print_row(name, vertices[name], f"{statistics.median(seconds):.2f} s")
    ratios = sorted(a / b for a, b in zip(*took.values(), strict=True))
    print(
        f"\none level / two: {statistics.median(ratios):.2f} ({ratios[0]:.2f} .. {ratios[-1]:.2f})"
    )


if __name__ == "__main__":
    main()
