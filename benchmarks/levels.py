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
from scripts import parser_of, print_head, print_row, pyramid_of
from torch import nn
from turns import in_turns

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.recipes import recipe
from cheblienet_models import WideResNet

BATCH = 16


class Steps:
    """Training steps of a WideResNet on a graph."""

    def __init__(self, spec: GraphSpec, device: str) -> None:
        pyramid = pyramid_of(spec)
        self.vertices = [graph.num_vertices for graph in pyramid.levels]
        torch.manual_seed(0)
        self.network = WideResNet(pyramid, 1, 10, kernel_size=4, depth=2, widen=2).to(device)
        self.images = torch.randn(BATCH, 1, 28, 28, device=device)
        self.labels = torch.randint(10, (BATCH,), device=device)
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=1e-3)

    def __call__(self) -> None:
        """Take one, with its update of the weights."""
        self.optimizer.zero_grad()
        loss = nn.functional.nll_loss(self.network(self.images), self.labels)
        loss.backward()
        self.optimizer.step()


def main() -> None:
    options = parser_of(__doc__, rounds=9, device="cpu").parse_args()
    given = recipe("mnist").spec.to_dict()
    works = [Steps(GraphSpec(**given | {"levels": n}), options.device) for n in (1, 2)]
    clock = time.process_time if options.device == "cpu" else time.perf_counter
    took = in_turns(
        dict(zip("12", works, strict=True)), options.rounds, options.device, clock, warm=True
    )
    threads = torch.get_num_threads()
    print(f"WideResNet, depth 2, widen 2, B = {BATCH}, {options.device}, {threads} thread(s)\n")
    print_head("graph", "vertices", "step")
    for work, seconds in zip(works, took.values(), strict=True):
        vertices = " / ".join(map(str, work.vertices))
        print_row(f"--levels {len(work.vertices)}", vertices, f"{statistics.median(seconds):.2f} s")
    ratios = sorted(a / b for a, b in zip(*took.values(), strict=True))
    print(
        f"\none level / two: {statistics.median(ratios):.2f} ({ratios[0]:.2f} .. {ratios[-1]:.2f})"
    )


if __name__ == "__main__":
    main()
