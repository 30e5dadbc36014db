"""A level of a graph in files of other libraries, without pickle."""

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from cheblienet_graphs.errors import StoreError, another
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.durable import write_errors
from cheblienet_graphs.store.facts import read_facts
from cheblienet_graphs.store.reader import LevelArrays, all_weights

DEVICES = Path("/dev")
PYG_LINES = """\
arrays = {{name: torch.from_numpy(array) for name, array in numpy.load("{file}").items()}}
data = torch_geometric.data.Data(num_nodes=len(arrays["pos"]), **arrays)
data.validate()"""


def to_scipy(version: Path, level: int, file: Path) -> None:
    """The rescaled Laplacian for scipy.sparse.load_npz."""
    laplacian = LevelArrays(version, read_facts(version), level).laplacian
    _written(file, ".npz", lambda target: scipy.sparse.save_npz(target, laplacian))


def to_pyg(version: Path, level: int, file: Path) -> None:
    """edge_index (2, E) int64, edge_weight (E,) float32, pos (V, d) float32; both directions."""
    level_arrays = LevelArrays(version, read_facts(version), level)
    weights = all_weights(level_arrays).tocoo()
    arrays = {
        "edge_index": np.stack(weights.coords).astype(np.int64),
        "edge_weight": weights.data.astype(np.float32),
        "pos": level_arrays.coordinates.astype(np.float32),
    }
    _written(file, ".npz", lambda target: np.savez_compressed(target, **arrays))


def check_output(file: Path, parameter: str = "output") -> None:
    """Check that a file may be written, or replaced, where it was asked for.

    Files of a store belong to what was published. A device or pipe, such as /dev/null, would itself
    be replaced by a file.

    Args:
        file: to be written.
        parameter: by which it was given.

    Raises:
        StoreError: a folder above the file is a store, or there is no file but something else.
    """
    special = file.exists() and not file.is_file() and not file.is_dir()
    if special or file.absolute().parent == DEVICES:
        raise StoreError(
            f"{file} is a device or a pipe, which would be replaced by a file; ",
            another(parameter),
        )
    for folder in file.absolute().resolve().parents:
        if (folder / "zarr.json").is_file() and layout.read_attributes(folder) is not None:
            raise StoreError(f"{file} is in the store {folder}; ", another(parameter))


def _written(file: Path, suffix: str, save: Callable[[Path], Any]) -> None:
    """Save under another name first, so that a failure leaves no incomplete file.

    Libraries add their suffix to names; the file has exactly the name asked for.
    """
    temporary = file.parent / f".{uuid.uuid4().hex}{suffix}"
    with write_errors(file, "Nothing was exported"):
        temporary.touch(exist_ok=False)  # its errors are clearer than the libraries' own
        try:
            save(temporary)
            temporary.replace(file)
        finally:
            temporary.unlink(missing_ok=True)
