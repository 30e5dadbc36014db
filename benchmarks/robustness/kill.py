"""kill -9 at random moments of builds, several at a time; then the store must be as if nothing was.

Several processes build graphs in one store; each is killed at a moment drawn uniformly from the
duration of an undisturbed build, start of the interpreter left out. After every round the store
must open, show no partial version, verify without a fault, and take the next build.

    python benchmarks/robustness/kill.py [--kills 100] [--processes 3]
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tqdm import tqdm

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.store.leftovers import clean, leftovers
from cheblienet_graphs.store.map_facts import listing
from cheblienet_graphs.store.refs import remove
from cheblienet_graphs.verification.versions import verify
from cheblienet_models import open_store

BUILDER = """
import sys
from cheblienet_graphs import GraphSpec, build
import cheblienet_graphs.assembly.pipeline
spec = GraphSpec("se2", int(sys.argv[2]))
print("ready", flush=True)
input()
build(spec, sys.argv[1], name=sys.argv[3], force=True)
"""
SIDE = 64


def start(store: Path, processes: int) -> list[subprocess.Popen[str]]:
    """Builders that have imported everything and begin now, together."""
    builders = [builder(store, f"g{n % 2}") for n in range(processes)]
    for one in builders:
        assert one.stdout
        one.stdout.readline()
    for one in builders:
        assert one.stdin
        one.stdin.write("\n")
        one.stdin.flush()
    return builders


def builder(store: Path, name: str) -> subprocess.Popen[str]:
    """A process that says when it has imported everything, and builds when told."""
    command = [sys.executable, "-c", BUILDER, str(store), str(SIDE), name]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def duration(store: Path, processes: int) -> float:
    """Seconds that builds take when as many run at once."""
    builders = start(store, processes)
    began = time.perf_counter()
    for builder in builders:
        builder.wait()
    return time.perf_counter() - began


def check(store: Path) -> tuple[int, int]:
    """Assert that the store is whole; number of its versions and of leftovers."""
    if not store.exists():
        return 0, len(leftovers(store))
    versions = listing(store)
    opened = open_store(store)
    for version in versions:
        assert opened[f"{version.name}@{version.version}"].levels
    faults = verify(store)
    assert faults == [], faults
    return len(versions), len(leftovers(store))


def run(kills: int, processes: int, seed: int = 0) -> dict[str, int]:
    """Kill builds, check after each round; what was seen."""
    generator = random.Random(seed)
    killed = finished = left = 0
    with tempfile.TemporaryDirectory() as folder, tqdm(total=kills, unit="kill") as bar:
        store = Path(folder) / "graphs.zarr"
        longest = duration(store, processes)
        while killed < kills:
            builders = start(store, processes)
            began = time.perf_counter()
            moments = sorted(generator.uniform(0, longest) for _ in builders)
            for moment, builder in zip(moments, builders, strict=True):
                time.sleep(max(0, began + moment - time.perf_counter()))
                finished += builder.poll() is not None
                if builder.poll() is None and killed < kills:
                    builder.kill()
                    killed += 1
                    bar.update()
                builder.wait()
            _, leftover = check(store)
            left += leftover
            build(GraphSpec("r2", 8), store, name="next", force=True)
            clean(store)
            assert check(store)[1] == 0
            for version in listing(store):
                if "latest" not in version.refs:
                    remove(store, f"{version.name}@{version.version}")
        versions, _ = check(store)
    return {
        "killed": killed,
        "finished before": finished,
        "versions at the end": versions,
        "leftovers cleaned": left,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--processes", type=int, default=3)
    arguments = parser.parse_args()
    seen = run(arguments.kills, arguments.processes)
    print(", ".join(f"{name}: {count}" for name, count in seen.items()) + "; no fault")


if __name__ == "__main__":
    main()
