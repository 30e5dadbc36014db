"""Mutate published stores and open them: a StoreError or a valid graph, never anything else.

Each store gets one to three mutations, aimed at what they hit: bytes of chunks, of CSR pointers, of
JSON text; values, keys and nesting of metadata; sizes, kinds and places of files. It is opened as a
training process would, every matrix multiplied, and verified. Mutants are opened in child processes
that work off a share each, so that a crash or a hang is seen and laid to a mutant.

    python benchmarks/robustness/fuzz.py [--mutants 10000] [--seed 0]
"""

import argparse
import collections
import copy
import json
import multiprocessing
import os
import random
import shutil
import signal
import tempfile
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.store.verify import verify
from cheblienet_models import StoreError, open_store

SHARE = 250
SECONDS = 20
VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2, 3.5, -0.0, 1e308, 2**31, 2**63, 10**30, "", "x", "float64",
    "..", "../../etc", "<f4", "\u0000", [], {}, [0], [-1], [2**62, 2**62], {"name": "zstd"},
    [[[[]]]],
]  # fmt: skip


def nodes(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of everything inside a JSON value."""
    found = [path] if path else []
    if isinstance(value, dict):
        children = list(value.items())
    else:
        children = list(enumerate(value)) if isinstance(value, list) else []
    for key, child in children:
        found += nodes(child, (*path, key))
    return found


def mutate_json(text: bytes, chance: random.Random) -> bytes:
    """Another document: one node replaced, removed, renamed or added."""
    document = json.loads(text)
    path = chance.choice(nodes(document))
    parent = document
    for key in path[:-1]:
        parent = parent[key]
    action = chance.choice(["replace", "replace", "delete", "add", "nudge", "nest"])
    if action == "delete":
        del parent[path[-1]]
    elif action == "add" and isinstance(parent, dict):
        parent[chance.choice(["x", "attributes", "codecs", "shape"])] = chance.choice(VALUES)
    elif action == "nudge" and type(parent[path[-1]]) in {int, float}:
        parent[path[-1]] += chance.choice([-1, 1, 2**32])
    elif action == "nest":
        parent[path[-1]] = [copy.deepcopy(parent[path[-1]])]
    else:
        parent[path[-1]] = chance.choice(VALUES)
    return json.dumps(document, indent=2).encode()


def mutate_bytes(contents: bytes, chance: random.Random) -> bytes:
    """Other bytes: a bit, a word, a cut, an addition, a swap."""
    changed = bytearray(contents)
    at = chance.randrange(max(1, len(changed)))
    action = chance.choice(["bit", "word", "word", "cut", "extend", "swap", "empty"])
    if action == "bit" and changed:
        changed[at] ^= 1 << chance.randrange(8)
    elif action == "word" and len(changed) >= 4:
        word = chance.choice([0, 1, -1, 2**31 - 1, -(2**31), chance.getrandbits(31)])
        at -= at % 4
        changed[at : at + 4] = word.to_bytes(4, "little", signed=True)
    elif action == "cut":
        del changed[at:]
    elif action == "swap" and len(changed) >= 8:
        other = chance.randrange(len(changed) // 4) * 4
        at -= at % 4
        changed[at : at + 4], changed[other : other + 4] = (
            changed[other : other + 4],
            changed[at : at + 4],
        )
    elif action == "empty":
        changed.clear()
    else:
        changed += chance.randbytes(chance.choice([1, 4, 64]))
    return bytes(changed)


def mutate_place(path: Path, chance: random.Random) -> None:
    """Another kind of thing where a file was."""
    action = chance.choice(["unlink", "link", "folder", "fifo", "rename", "stray"])
    if action == "stray":
        (path.parent / "stray").write_bytes(b"x")
        return
    if action == "rename":
        path.rename(path.with_name("renamed"))
        return
    contents = path.read_bytes()
    path.unlink()
    if action == "link":
        elsewhere = path.with_name(".elsewhere")
        elsewhere.write_bytes(contents)
        path.symlink_to(elsewhere)
    elif action == "folder":
        path.mkdir()
    elif action == "fifo":
        os.mkfifo(path)


def mutate(store: Path, chance: random.Random) -> None:
    """One mutation somewhere below the version."""
    version = store / "g" / "v001"
    files = sorted(path for path in version.rglob("*") if path.is_file() and not path.is_symlink())
    if not files:
        return
    by_kind = collections.defaultdict(list)
    for path in files:
        by_kind["metadata" if path.name == "zarr.json" else "chunk"].append(path)
    path = chance.choice(by_kind[chance.choice(sorted(by_kind))])
    kind = chance.choice(["contents", "contents", "contents", "place"])
    if kind == "place":
        mutate_place(path, chance)
        return
    contents = path.read_bytes()
    as_json = path.name == "zarr.json" and chance.random() < 0.8
    try:
        path.write_bytes((mutate_json if as_json else mutate_bytes)(contents, chance))
    except ValueError:  # an earlier mutation left no JSON
        path.write_bytes(mutate_bytes(contents, chance))


def snapshot(store: Path) -> dict[str, bytes | str]:
    """Everything below the version, to tell whether anything changed at all."""
    return {
        str(path): path.read_bytes() if path.is_file() and not path.is_symlink() else "other"
        for path in sorted((store / "g" / "v001").rglob("*"))
    }


def use(store: Path) -> str:
    """Open the graph and compute with it: 'refused' or 'valid'."""
    try:
        pyramid = open_store(store)["g"]
    except StoreError:
        return "refused"
    for graph in pyramid.levels:
        assert graph.values.shape == graph.columns.shape
        assert graph.coordinates.shape[0] == graph.num_vertices
        product = graph.laplacian @ torch.ones(graph.num_vertices, 1)
        assert product.shape == (graph.num_vertices, 1)
    for level in range(len(pyramid.levels) - 1):
        for level_map in (pyramid.pooling(level), pyramid.unpooling(level)):
            torch.ones(level_map.origins).index_select(0, level_map.sources.flatten())
    return "valid"


def work(template: Path, first: int, count: int, seed: int, results: Any) -> None:
    """Mutants first .. first + count, one after another, each reported when it begins and ends."""
    torch.set_num_threads(1)
    original = snapshot(template)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "graphs.zarr"
        for mutant in range(first, first + count):
            shutil.rmtree(store, ignore_errors=True)
            shutil.copytree(template, store)
            chance = random.Random(f"{seed} {mutant}")
            for _ in range(chance.choice([1, 1, 1, 2, 3])):
                mutate(store, chance)
            relocated = {key.replace(str(template), str(store)): v for key, v in original.items()}
            changed = snapshot(store) != relocated
            signal.alarm(SECONDS)
            outcome = use(store)
            noticed = bool(verify(store))
            try:
                open_store(store, verify=True)["g"]
                noticed_in_training = False
            except StoreError:
                noticed_in_training = True
            signal.alarm(0)
            if changed and not (noticed and noticed_in_training):
                outcome = "unnoticed"
            results.put((mutant, outcome if changed else "unchanged"))


def fuzz(mutants: int, seed: int = 0) -> collections.Counter[str]:
    """Outcomes by kind; raises RuntimeError with the mutant's number for what must not be."""
    outcomes: collections.Counter[str] = collections.Counter()
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder, tqdm(total=mutants, unit="mutant") as bar:
        template = Path(folder) / "graphs.zarr"
        build(GraphSpec("se2", 8, orientations=2, levels=2, eigenpairs=4), template, name="g")
        for path in template.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        for first in range(0, mutants, SHARE):
            count = min(SHARE, mutants - first)
            results = context.SimpleQueue()
            child = context.Process(target=work, args=(template, first, count, seed, results))
            child.start()
            child.join()
            done = []
            while not results.empty():
                done.append(results.get())
            for mutant, outcome in done:
                outcomes[outcome] += 1
                if outcome == "unnoticed":
                    raise RuntimeError(f"seed {seed}, mutant {mutant}: verify did not notice")
            if child.exitcode != 0 or len(done) != count:
                mutant = first + len(done)
                raise RuntimeError(f"seed {seed}, mutant {mutant}: exit code {child.exitcode}")
            bar.update(count)
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutants", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    outcomes = fuzz(arguments.mutants, arguments.seed)
    print(", ".join(f"{outcome}: {count}" for outcome, count in sorted(outcomes.items())))


if __name__ == "__main__":
    main()
