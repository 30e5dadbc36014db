"""Change the code a little, many times over: the tests of that part should notice.

Each mutant is one small change (`code_changes.py`) of a part of the code, in a copy of the project.
The part's own tests that call the changed function run on it, quick ones first, until one fails.
A process that has imported what they need forks for each mutant, so that none waits for torch. A
mutant that takes twice the CPU time that these tests took, which noted calls then, has hung; that
counts as noticed. Tests that are slow are left out.

    python benchmarks/robustness/mutants.py [--part NAME ...] [--mutants 50] [--seed 0]
        [--results mutants.json] [--again]

Results are kept in a file: what it has is not done again. With --again those that survived are,
with all tests of the part: some look at what another one's fixture has called the function for.
Tests write stores: with TMPDIR=/dev/shm they don't wait for a disk.
"""

import argparse
import hashlib
import json
import os
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from code_changes import sampled
from tested_copy import TestedCopy, files
from tqdm import tqdm

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Part:
    """A part of the code and its tests.

    Args:
        sources: files or folders that are changed.
        tests: files or folders, those that mirror the sources, or are named after them.
    """

    sources: tuple[str, ...]
    tests: tuple[str, ...]


def _in(where: str, *names: str) -> tuple[str, ...]:
    """The paths of modules whose beginning is the same."""
    return tuple(f"{where}{name}.py" for name in names)


BYTES = "tests/graphs/assembly/test_bytes.py"
STORE, SAMPLINGS = "cheblienet_graphs/store/", "cheblienet_graphs/samplings/"
STORED = ("facts", "verify", "maps", "agreement", "gradients", "links", "groups", "leftovers")
"""Tests of what stores have, on which reading and verifying is tried."""
PARTS = {
    "reader": Part(
        (
            "cheblienet_models/opening.py",
            "cheblienet_graphs/csr.py",
            *_in(
                STORE, "reader", "map_reader", "matrices", "arrays", "facts", "map_facts", "rules"
            ),
        ),
        (
            "tests/graphs/test_csr.py",
            "tests/graphs/report/test_edges_of.py",
            "tests/models/test_opening.py",
            "tests/models/test_damaged_stores.py",
            "tests/models/test_damaged_values.py",
            *_in(
                "tests/models/graphs/test_", "full_grid", "vertex_map", "gradients", "checkpoints"
            ),
            *_in("tests/graphs/store/test_", *STORED, "matrices", "export"),
        ),
    ),
    "verifier": Part(
        ("cheblienet_graphs/verification",),
        ("tests/models/test_damaged_stores.py", *_in("tests/graphs/store/test_", *STORED)),
    ),
    "samplings": Part(
        (
            "cheblienet_models/resampling/points.py",
            *_in(SAMPLINGS, "axes", "given", "given_tables", "grids", "healpix", "icosphere"),
            *_in(SAMPLINGS, "lattice", "maps", "masked", "points", "sampling"),
        ),
        (
            "tests/graphs/samplings",
            "tests/models/resampling",
            "tests/models/graphs/test_full_grid.py",
        ),
    ),
    "cells": Part(
        _in(SAMPLINGS, "cells", "sides", "voronoi", "region"),
        (
            *_in("tests/graphs/samplings/test_", "voronoi", "region"),
            "tests/models/resampling",
        ),
    ),
    "laplacian": Part(
        ("cheblienet_graphs/sparse.py",),
        ("tests/graphs/test_sparse.py", "tests/graphs/assembly/test_masked.py", BYTES),
    ),
    "weights": Part(
        ("cheblienet_graphs/weights",),
        (
            "tests/graphs/weights",
            "tests/graphs/spec",
            "tests/graphs/report/test_advice.py",
            "tests/graphs/assembly/test_scattered.py",
            "tests/graphs/assembly/test_stored_lattices.py",
            "tests/graphs/assembly/test_stored_spheres.py",
            BYTES,
        ),
    ),
    "assembly": Part(("cheblienet_graphs/assembly",), ("tests/graphs/assembly",)),
    "chebyshev": Part(
        (
            "cheblienet_models/layers/cheb_conv.py",
            "cheblienet_models/layers/chebyshev.py",
            "cheblienet_models/tensors.py",
        ),
        (
            "tests/models/layers/test_cheb_conv.py",
            "tests/models/layers/test_chebyshev.py",
            "tests/models/layers/test_derivatives.py",
            "tests/models/layers/test_layout.py",
            "tests/models/test_modules.py",
            "tests/models/resampling/test_matrix_files.py",
            "tests/models/test_missing.py",
        ),
    ),
}


class Results:
    """Outcomes by part and mutant, in a file that is written after each.

    Args:
        path: of the file; it may not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, dict[str, list[str]]] = (
            json.loads(path.read_text()) if path.exists() else {}
        )

    def of(self, sources: dict[str, str]) -> dict[str, list[str]]:
        """Outcomes of the mutants of some sources, as they are now."""
        digest = hashlib.sha256(json.dumps(sources, sort_keys=True).encode()).hexdigest()
        return self._known.setdefault(digest, {})

    def keep(self) -> None:
        """Write all of them."""
        beside = self._path.with_suffix(".part")
        beside.write_text(json.dumps(self._known, indent=1))
        beside.replace(self._path)


def examine(
    root: Path, part: Part, count: int, seed: str, results: Results, *, again: bool = False
) -> dict[str, list[str]]:
    """Judge mutants of a part, those of which no result is known.

    Args:
        root: of the project, which is not touched.
        part: of it.
        count: of the mutants.
        seed: that they are drawn with.
        results: that are known; new ones are kept there as they come.
        again: whether to judge those anew that survived.

    Returns:
        Outcome, and by what, of each mutant, in the order in which they were drawn.
    """
    source_of = {file: (root / file).read_text() for file in files(root, part.sources, "*.py")}
    mutants = {f"{file}:{one}": (file, one) for file, one in sampled(source_of, count, seed)}
    known = results.of(source_of)
    if again:
        left = [name for name in mutants if known.get(name, ["survived"])[0] == "survived"]
    else:
        left = [name for name in mutants if name not in known]
    if left:
        with tempfile.TemporaryDirectory() as folder:
            copy = TestedCopy(root, Path(folder).resolve(), part.sources, part.tests)
            for name in tqdm(left, unit="mutant"):
                file, change = mutants[name]
                tests = None if again else copy.tests_of(file, change.function)
                known[name] = copy.judge(file, change.source, tests)
                results.keep()
    return {name: known[name] for name in mutants}


def table(outcomes: dict[str, dict[str, list[str]]]) -> str:
    """What became of the mutants of each part, as a Markdown table, and those that survived."""
    lines = [
        "| part | mutants | killed | timed out | survived | noticed |",
        "|---|---|---|---|---|---|",
    ]
    survivors = []
    for part, outcome_of in outcomes.items():
        counts = Counter(outcome for outcome, _ in outcome_of.values())
        numbers = [counts[outcome] for outcome in ("killed", "timed out", "survived")]
        cells = [part, str(len(outcome_of)), *map(str, numbers)]
        lines.append(f"| {' | '.join(cells)} | {1 - numbers[2] / len(outcome_of):.0%} |")
        survivors += [name for name, (outcome, _) in outcome_of.items() if outcome == "survived"]
    return "\n".join([*lines, "", *(f"- {name}" for name in sorted(survivors))])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--mutants", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", type=Path, default=Path("mutants.json"))
    parser.add_argument("--again", action="store_true")
    given = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    results = Results(given.results)
    outcomes = {
        name: examine(
            ROOT, PARTS[name], given.mutants, f"{given.seed} {name}", results, again=given.again
        )
        for name in given.part or PARTS
    }
    print(table(outcomes))


if __name__ == "__main__":
    main()
