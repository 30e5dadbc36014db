"""The way of a specification through a build: calls from file to file, and what they make again.

Counted are calls of functions whose file is another one than the caller's, both of this project, in
the build of the README's command; and how often specifications, samplings of lattices and stencils
are made. Numbers of calls do not depend on the machine.

    python benchmarks/walk.py [--list]

With --list the pairs of files with the most calls between them follow.
"""

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import FrameType

from scripts import print_head, print_row

import cheblienet_graphs
from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.search.offsets import OffsetDistances

ROOT = Path(cheblienet_graphs.__file__).parents[1]
MADE = {"specifications": GraphSpec, "lattices": Lattice, "tables of distances": OffsetDistances}
MOST = 20


class Walk:
    """Calls and objects, counted while a function runs."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, str]] = Counter()
        self.made: Counter[str] = Counter()
        self._inits = {vars(kind)["__init__"].__code__: name for name, kind in MADE.items()}

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Count a call, as `sys.setprofile` tells of it."""
        if event != "call":
            return
        if (name := self._inits.get(frame.f_code)) is not None:
            self.made[name] += 1
        ends = [_file_of(frame.f_back), _file_of(frame)]
        if all(ends) and ends[0] != ends[1]:
            self.calls[ends[0], ends[1]] += 1


def _file_of(frame: FrameType | None) -> str:
    """A file of the project, by its path there; empty for others."""
    name = "" if frame is None else frame.f_code.co_filename
    return name.removeprefix(f"{ROOT}/") if name.startswith(f"{ROOT}/cheblienet_") else ""


def walked() -> Walk:
    """The build of the README, once all that it imports is there."""
    walk = Walk()
    with tempfile.TemporaryDirectory() as folder:
        build(GraphSpec("se2", 12, orientations=6, eps=0.1), f"{folder}/first.zarr")
        sys.setprofile(walk)
        try:
            build(GraphSpec("se2", 96, orientations=6, eps=0.1), f"{folder}/graphs.zarr")
        finally:
            sys.setprofile(None)
    return walk


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true", help="the most frequent calls")
    given = parser.parse_args()
    walk = walked()
    print_head("what", "times")
    print_row("calls from file to file", f"{walk.calls.total():,}")
    for name in MADE:
        print_row(f"{name} made", f"{walk.made[name]:,}")
    if given.list:
        for (caller, called), count in walk.calls.most_common(MOST):
            print_row(f"{caller} -> {called}", f"{count:,}")


if __name__ == "__main__":
    main()
