"""Verification that a version still is what was published: every byte against its manifest."""

import hashlib
import json
import stat
from typing import Any

from cheblienet_models.errors import StoreError
from cheblienet_models.store.documents import Document
from cheblienet_models.store.files import Folder


def verify_files(version: Folder, attributes: Document) -> None:
    """Hash every file below a version and compare it with the manifest.

    Args:
        version: its folder.
        attributes: its own, attributes clg of its zarr.json.

    Raises:
        StoreError: anything is missing, added or changed; the message names the first such file.
    """
    rest = {key: value for key, value in attributes.items() if key != "attributes_sha256"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    if hashlib.sha256(text.encode()).hexdigest() != attributes.get("attributes_sha256"):
        raise StoreError(f"{version}/zarr.json has attributes that differ from their digest.")
    document = {"attributes": {"clg": attributes}, "zarr_format": 3, "node_type": "group"}
    if (version / "zarr.json").contents() != json.dumps(document, indent=2).encode():
        raise StoreError(f"{version}/zarr.json holds more or other text than was published.")
    manifest = attributes.get("manifest")
    if not isinstance(manifest, dict):
        raise StoreError(f"{version} has no manifest.")
    missing = {_file(version, key): entry for key, entry in manifest.items()}
    _verify_folder(version, "", missing)
    if missing:
        raise StoreError(f"{version}/{min(missing)} is missing.")


def _file(version: Folder, key: str) -> str:
    """Path below the version of the file that a manifest key stands for."""
    if key.rpartition("/")[2] == "zarr.json":
        return key
    shape = (version / key).document().get("shape")
    return "/".join([key, "c", *["0"] * (len(shape) if isinstance(shape, list) else 1)])


def _verify_folder(version: Folder, path: str, missing: dict[str, Any]) -> None:
    folder = version / path if path else version
    for name, mode in folder.entries():
        where = f"{path}/{name}" if path else name
        if stat.S_ISDIR(mode) and any(file.startswith(f"{where}/") for file in missing):
            _verify_folder(version, where, missing)
        elif where != "zarr.json":
            _verify_file(version, where, missing.pop(where, None))


def _verify_file(version: Folder, where: str, entry: Any) -> None:
    if not isinstance(entry, dict):
        raise StoreError(f"{version}/{where} is not in the manifest.")
    digest, size = (version / where).sha256()
    if size != entry.get("nbytes") or digest != entry.get("sha256"):
        raise StoreError(f"{version}/{where} is not what was published.")
