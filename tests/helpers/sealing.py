"""Published versions changed by somebody who computes new digests, as an attacker can."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cheblienet_graphs.store.folder import Folder


def digest(value: Any) -> str:
    """Of JSON in canonical form."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def writable(version: Path | Folder) -> Path:
    """The version, its files writable."""
    version = Path(version)
    for path in version.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return version


def reseal(version: Path | Folder, change: Callable[[dict[str, Any]], object]) -> None:
    """Change our attributes of a version, then make every digest agree."""
    file = writable(version) / "zarr.json"
    clg = json.loads(file.read_bytes())["attributes"]["clg"]
    untouched = digest(clg["spec"])
    change(clg)
    if "spec" in clg and digest(clg["spec"]) != untouched:
        clg["spec_sha256"] = digest(clg["spec"])
    clg["attributes_sha256"] = digest({k: v for k, v in clg.items() if k != "attributes_sha256"})
    document = {"attributes": {"clg": clg}, "zarr_format": 3, "node_type": "group"}
    file.write_text(json.dumps(document, indent=2))


def reseal_file(version: Path | Folder, name: str, contents: bytes) -> None:
    """Give a file of a version other contents and its manifest their digest."""
    (writable(version) / name).write_bytes(contents)
    key = name.partition("/c/")[0]
    entry = {"sha256": hashlib.sha256(contents).hexdigest(), "nbytes": len(contents)}
    reseal(version, lambda clg: clg["manifest"].update({key: entry}))


def reseal_array(version: Path | Folder, key: str, change: Callable[[np.ndarray], object]) -> None:
    """Change the values of an array of a version, as if it had one dimension."""
    document = json.loads((Path(version) / key / "zarr.json").read_bytes())
    name = "/".join([key, "c", *["0"] * len(document["shape"])])
    values = np.frombuffer((Path(version) / name).read_bytes(), document["data_type"]).copy()
    change(values)
    reseal_file(version, name, values.tobytes())


def put(place: object, value: object) -> Callable[[np.ndarray], object]:
    """A change of an array: values at a place, or what a function makes of all values."""
    return lambda v: v.__setitem__(place, value(v) if callable(value) else value)
