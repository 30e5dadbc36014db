"""Mutations of published stores: of bytes, of metadata, of places; sealed anew or not.

An attacker can compute digests as well as we do, so some mutants get new ones.
"""

import collections
import copy
import functools
import hashlib
import json
import operator
import os
import random
import warnings
import zipfile
from pathlib import Path
from typing import Any

import zarr

from cheblienet_graphs.store import layout
from cheblienet_graphs.verification.versions import manifest_files

VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2, 3.5, -0.0, 1e308, 2**31, 2**63, 10**30, "", "x", "float64",
    "..", "../../etc", "<f4", "\u0000", [], {}, [0], [-1], [2**62, 2**62], {"name": "zstd"},
    [[[[]]]], 1e-300, 1e999, -1e999, float("nan"), 10**19, [10**19, 1], [float("inf"), 1],
    ["128", "128"], 10**4290, "v001", "9" * 4000, "\u001b[31m\n" * 5000, "\ud800", "x" * 40_000,
    {"a": {"b": [1, 2, 3]}}, ["x" * 40_000] * 3,
]  # fmt: skip
DEPTHS = (20, 40, 900, 100_000)
NAMES = ("x" * 40_000, "\u001b[2J\n" * 60, "../" * 40, "a/" * 9_000 + "b", "..", "v001", "\u202e")


def nodes(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of everything inside a JSON value."""
    paths = [path] if path else []
    if isinstance(value, dict):
        children = list(value.items())
    else:
        children = list(enumerate(value)) if isinstance(value, list) else []
    for key, child in children:
        paths += nodes(child, (*path, key))
    return paths


def mutate_json(text: bytes, chance: random.Random) -> bytes:
    """Another document: one node replaced, removed, renamed or added."""
    document = json.loads(text)
    *path, key = chance.choice(nodes(document))
    change(functools.reduce(operator.getitem, path, document), key, chance)
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


def nest(path: Path, chance: random.Random) -> None:
    """Metadata, or what stands in its place, within many lists."""
    depth = chance.choice(DEPTHS)
    value = b"[" * depth + b"]" * depth
    member = b'{"attributes": {"clg": ' + value + b'}, "zarr_format": 3, "node_type": "group"}'
    path.write_bytes(chance.choice([value, member]))


def mutate_facts(store: Path, chance: random.Random) -> None:
    """Another value of a fact of the version, of an array's shape, or of the graph's refs."""
    version = store / "g" / "v001"
    files = [version / "zarr.json"] * 4 + [store / "g" / "zarr.json", store / "zarr.json"]
    path = chance.choice([*files, *sorted(version.glob("*/*/*/zarr.json"))])
    if not path.is_file():  # a pipe, of which nobody ever writes the contents
        return
    try:
        document = json.loads(path.read_bytes())
        where = document["attributes"]
        if path.parent == version:
            where = where["clg"]
            place = chance.choice(["spec", "levels", "levels", "levels", "manifest", "rest"])
            where = where if place == "rest" else where[place]
        elif path.parent.name == "g":
            where = where["clg"]["refs"]
        elif path.parent != store:
            where = chance.choice([document, where])
        if isinstance(where, list):
            where = chance.choice(where)
        key = chance.choice(sorted(where))
        change(where, key, chance)
        path.write_text(json.dumps(document, indent=2))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return  # an earlier mutation left nothing of that form


def change(where: Any, key: Any, chance: random.Random) -> None:
    """Another value for a key of an object or an index of a list, or another key."""
    value = where[key]
    action = chance.choice(["value", "value", "near", "near", "nest", "name", "add", "delete"])
    if action == "delete":
        del where[key]
    elif action == "nest":
        where[key] = [copy.deepcopy(value)]
    elif action == "name" and isinstance(where, dict):
        where[chance.choice(NAMES)] = where.pop(key)
    elif action == "add" and isinstance(where, dict):
        where[chance.choice(["x", "attributes", "codecs", "shape"])] = chance.choice(VALUES)
    elif action == "near" and type(value) in {int, float}:
        nudged = [value + 1, value - 1, value + 2**32, -value, value * 2, value * (1 + 1e-4)]
        where[key] = chance.choice([*nudged, str(value), [value]])
    elif action == "near" and isinstance(value, list) and value:
        where[key] = chance.choice([value[:-1], value + value, value[::-1], [*value[:-1], 10**19]])
    else:
        where[key] = chance.choice(VALUES)


def seal(store: Path, *, spec_too: bool) -> None:
    """Make the digests agree with what is there, as far as it still has the form for that."""
    version = store / "g" / "v001"
    if not (version / "zarr.json").is_file():
        return
    try:
        clg = json.loads((version / "zarr.json").read_bytes())["attributes"]["clg"]
        for key, entry in clg["manifest"].items():
            files = (version / file for file in manifest_files(key))
            for file in filter(Path.is_file, files):
                contents = file.read_bytes()
                entry["sha256"] = hashlib.sha256(contents).hexdigest()
                entry["nbytes"] = len(contents)
        if spec_too:
            clg["spec_sha256"] = layout.canonical_sha256(clg["spec"])
        clg["attributes_sha256"] = layout.canonical_sha256(clg)
        contents = layout.document_bytes(layout.group_document({"clg": clg}))
        (version / "zarr.json").write_bytes(contents)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return


def pack(version: Path, file: Path, chance: random.Random) -> None:
    """A zip archive of a version as it is, now and then with an entry of another name."""
    odd = chance.random() < 0.3
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w") as archive:
        warnings.simplefilter("ignore")  # of two entries of one name
        for path in sorted(version.rglob("*")):
            if path.is_file() and not path.is_symlink():
                name = f"g/{path.relative_to(version)}"
                if odd and chance.random() < 0.05:
                    name = chance.choice(NAMES) + chance.choice(["", "/" + name])
                archive.writestr(zipfile.ZipInfo(name[:60_000]), path.read_bytes())
    if chance.random() < 0.2:
        file.write_bytes(mutate_bytes(file.read_bytes(), chance))


def consolidate(store: Path, chance: random.Random) -> None:
    """Copies of metadata in the store or in the graph, true or not."""
    group = chance.choice([store, store / "g"])
    if any(
        path.is_fifo() for path in store.rglob("*")
    ):  # of which zarr would wait for the contents
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that they are no part of zarr's specification
            zarr.consolidate_metadata(group)
        document = json.loads((group / "zarr.json").read_bytes())
        copied = document["consolidated_metadata"]
        forge = chance.choice(["nothing", "a node", "anything"])
        if forge == "a node":
            node = copied["metadata"][chance.choice(sorted(copied["metadata"]))]
            change(node, chance.choice(sorted(node)), chance)
        elif forge == "anything":
            *path, key = chance.choice(nodes(copied))
            change(functools.reduce(operator.getitem, path, copied), key, chance)
        (group / "zarr.json").write_text(json.dumps(document, indent=2))
    except Exception:  # noqa: BLE001 -- zarr's, of what an earlier mutation left
        return


def mutate(store: Path, chance: random.Random) -> None:
    """One mutation somewhere below the store."""
    files = sorted(path for path in store.rglob("*") if path.is_file() and not path.is_symlink())
    if not files:
        return
    by_kind = collections.defaultdict(list)
    for path in files:
        is_group = path.parent in {store, store / "g"}
        kind = "group" if is_group else "metadata" if path.name == "zarr.json" else "chunk"
        by_kind[kind].append(path)
    path = chance.choice(by_kind[chance.choice(sorted(by_kind))])
    kinds = ["contents", "contents", "contents", "place", "facts", "facts", "nested", "copies"]
    kind = chance.choice(kinds)
    if kind == "copies":
        consolidate(store, chance)
    elif kind == "facts":
        mutate_facts(store, chance)
    elif kind == "nested":
        nest(path, chance)
    elif kind == "place":
        mutate_place(path, chance)
    else:
        mutate_contents(path, chance)


def mutate_contents(path: Path, chance: random.Random) -> None:
    """Another document where there is one, or other bytes."""
    contents = path.read_bytes()
    as_json = path.name == "zarr.json" and chance.random() < 0.8
    try:
        path.write_bytes((mutate_json if as_json else mutate_bytes)(contents, chance))
    except (ValueError, LookupError, RecursionError):  # an earlier mutation left no such JSON
        path.write_bytes(mutate_bytes(contents, chance))
