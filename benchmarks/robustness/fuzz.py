"""Mutate published stores and open them: a StoreError or a valid graph, never anything else.

Each store gets one to three mutations, aimed at what they hit: bytes of chunks, of CSR pointers, of
JSON text; values, keys and nesting of metadata; facts that contradict the arrays; sizes, kinds and
places of files. Half of them are sealed anew: every digest agrees. Of those that are not, verifying
is fine if and only if opening with `verify=True` is. It is opened as a training
process would, every matrix multiplied, verified, and every command is tried on it. Mutants are
opened in child processes that work off a share each, so that a crash or a hang is seen and laid to
a mutant.

    python benchmarks/robustness/fuzz.py [--mutants 10000] [--seed 0]
"""

import argparse
import collections
import json
import multiprocessing
import random
import shutil
import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import torch
from commands import faults
from mutations import mutate, seal
from tqdm import tqdm

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.errors import CheblienetError
from cheblienet_graphs.verification.versions import verify
from cheblienet_models import StoreError, open_store

SHARE = 250
SECONDS = 20
"""Of the processor, for one mutant: who takes longer is killed, which counts as a fault."""
WAITED = 10
"""By the clock so many times that: other programs may have the processor, too."""
SEALED = 0.5
"""Share of the mutants whose digests are computed anew, and of those their spec's too."""
SPEC = GraphSpec("se2", 8, orientations=2, levels=2, eigenpairs=4)


def snapshot(store: Path) -> dict[str, bytes | str]:
    """Everything below the version, to tell whether anything changed at all."""
    return {
        str(path): path.read_bytes() if path.is_file() and not path.is_symlink() else "other"
        for path in sorted((store / "g" / "v001").rglob("*"))
    }


def use(store: Path) -> str:
    """Open the graph and compute with it: 'refused', by opening it or its values, or 'valid'."""
    with suppress(StoreError):
        pyramid = open_store(store)["g"]
        for graph in pyramid.levels:
            assert graph.values.shape == graph.columns.shape
            assert graph.coordinates.shape[0] == graph.num_vertices
            product = graph.laplacian @ torch.ones(graph.num_vertices, 1)
            assert product.shape == (graph.num_vertices, 1)
        for level in range(len(pyramid.levels) - 1):
            for level_map in (pyramid.pooling(level), pyramid.unpooling(level)):
                torch.ones(level_map.origins).index_select(0, level_map.sources.flatten())
        return "valid"
    return "refused"


def work(template: Path, first: int, count: int, seed: int, results: Path) -> None:
    """Mutants first .. first + count, one after another; a line of results for each."""
    torch.set_num_threads(1)
    original = snapshot(template)
    with tempfile.TemporaryDirectory() as folder, results.open("a") as lines:
        store = Path(folder) / "g" / "graphs.zarr"
        for mutant in range(first, first + count):
            shutil.rmtree(store.parent, ignore_errors=True)
            shutil.copytree(template, store)
            chance = random.Random(f"{seed} {mutant}")
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            signal.alarm(WAITED * SECONDS)
            for _ in range(chance.choice([1, 1, 1, 2, 3])):
                mutate(store, chance)
            sealed = chance.random() < SEALED
            if sealed:
                seal(store, spec_too=chance.random() < SEALED)
            relocated = {key.replace(str(template), str(store)): v for key, v in original.items()}
            changed = snapshot(store) != relocated
            outcome, wrong = examine(store, chance, sealed=sealed)
            signal.alarm(0)
            signal.setitimer(signal.ITIMER_PROF, 0)
            lines.write(json.dumps([mutant, outcome if changed else "unchanged", wrong]) + "\n")
            lines.flush()


def examine(store: Path, chance: random.Random, *, sealed: bool) -> tuple[str, list[str]]:
    """The outcome for a mutant, and faults: what must not have happened."""
    outcome = use(store)
    try:
        noticed = bool(verify(store))
    except CheblienetError:
        noticed = True
    try:
        open_store(store, verify=True)["g"]
        noticed_in_training = False
    except StoreError:
        noticed_in_training = True
    wrong, refused = faults(store, SPEC, chance)
    if not noticed:
        wrong += [f"{name}: refused what verify accepts" for name in refused]
        if noticed_in_training:
            wrong.append("training: refused what verify accepts")
        elif not sealed:
            outcome = "unnoticed"
    elif not (noticed_in_training or sealed):
        wrong.append("training: opened what verify refuses")
    return f"{outcome}, sealed" if sealed else outcome, wrong


def fuzz(mutants: int, seed: int = 0) -> tuple[collections.Counter[str], list[str]]:
    """Outcomes by kind, and what must not have happened; a crash is one of those."""
    outcomes: collections.Counter[str] = collections.Counter()
    wrong: list[str] = []
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder, tqdm(total=mutants, unit="mutant") as bar:
        template, results = Path(folder) / "graphs.zarr", Path(folder) / "results"
        build(SPEC, template, name="g")
        for path in template.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        for first in range(0, mutants, SHARE):
            count = min(SHARE, mutants - first)
            results.write_text("")
            child = context.Process(target=work, args=(template, first, count, seed, results))
            child.start()
            child.join()
            done = [json.loads(line) for line in results.read_text().splitlines()]
            for mutant, outcome, happened in done:
                outcomes[outcome] += 1
                why = [*happened, *(["verify did not notice"] if outcome == "unnoticed" else [])]
                wrong += [f"seed {seed}, mutant {mutant}: {what}" for what in why]
            if child.exitcode != 0 or len(done) != count:
                mutant = first + len(done)
                wrong.append(f"seed {seed}, mutant {mutant}: exit code {child.exitcode}")
            bar.update(count)
    return outcomes, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutants", type=int, default=10_000, help="of each seed")
    parser.add_argument("--seed", type=int, nargs="+", default=[0])
    arguments = parser.parse_args()
    outcomes: collections.Counter[str] = collections.Counter()
    wrong: list[str] = []
    for seed in arguments.seed:
        counts, faults_found = fuzz(arguments.mutants, seed)
        outcomes += counts
        wrong += faults_found
    print(", ".join(f"{outcome}: {count}" for outcome, count in sorted(outcomes.items())))
    print(*wrong, sep="\n", end="", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
