"""Many large graphs open at once: memory of the process that holds them, and what opening takes.

Graphs of few vertices and many edges are built and published, each with a bandwidth of its own. A
process of its own then opens all, with every check that opening makes, and holds them. Resident
memory is what the system counts for it, pages of mapped files included; private memory is what
other processes do not share. Then it multiplies by one of them, and drops that one.

    python benchmarks/many_graphs.py --graphs 64
"""

import time
from pathlib import Path
from typing import Any

import torch
from scripts import parser_of, print_head, print_row, temporary_store
from turns import in_fresh_process, resident_memory

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import open_store

NEIGHBORS = 1024
FACTS = ("VmRSS", "RssAnon", "VmHWM")
"""Of /proc/self/status: resident, private, and most that was ever resident."""


def publish(store: Path, graphs: int, side: int) -> tuple[int, float]:
    """Build the graphs.

    Returns:
        Bytes of one, and the processor seconds that one took.
    """
    began, nbytes = time.process_time(), 0
    for number in range(graphs):
        how: dict[str, Any] = {"neighbors": NEIGHBORS, "bandwidth": 0.1 + number / graphs}
        spec = GraphSpec("r2", side, levels=1, lambda_max=2, **how)
        made = build(spec, store, name=f"g{number}", device="cpu")
        nbytes = made.nbytes
    return nbytes, (time.process_time() - began) / graphs


def megabytes() -> list[float]:
    """Memory of this process, as FACTS has it."""
    return [resident_memory(fact) / 1e6 for fact in FACTS]


def hold(store: Path) -> None:
    """Open everything in a store and say what that takes."""
    before, began, processor = megabytes(), time.perf_counter(), time.process_time()
    opened = open_store(store)
    held = [opened[name] for name in opened]
    took = time.perf_counter() - began, time.process_time() - processor
    rows = {"before": before, f"{len(held)} open": megabytes()}
    graph = held[0].levels[0]
    _ = graph.laplacian @ torch.ones(graph.num_vertices, 4)
    rows["after a product by one"] = megabytes()
    print_head("", "resident", "private", "most resident")
    for title, sizes in rows.items():
        print_row(title, *(f"{size:,.0f} MB" for size in sizes))
    print(f"\nOpened in {took[0]:.1f} s, {took[1]:.1f} s of the processor.")


def main() -> None:
    options = parser_of(__doc__, graphs=64, side=200).parse_args()
    nbytes, seconds = publish(temporary_store(), options.graphs, options.side)
    total = f"{nbytes / 1e6:,.0f} MB each, {options.graphs * nbytes / 1e9:,.1f} GB in all"
    print(f"{options.graphs} graphs, {total}; {seconds:.1f} s of the processor to build one.\n")
    in_fresh_process(hold, temporary_store())


if __name__ == "__main__":
    main()
