"""Samples of ClimateNet: files of fields and labels, read, checked and brought to the sphere."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from cheblienet_models import Pyramid
from cheblienet_models.resampling import LatLonToVertices

CHANNELS = (
    *("TMQ", "U850", "V850", "UBOT", "VBOT", "QREFHT", "PS", "PSL"),
    *("T200", "T500", "PRECT", "TS", "TREFHT", "Z1000", "Z200", "ZBOT"),
)
CLASSES = ("background", "tropical cyclone", "atmospheric river")
NETCDF = (".nc", ".nc4")
TEST_SHARE = 0.2


@dataclass(frozen=True)
class Raw:
    """Samples as a file has them: fields (n, 16, *grid), labels (n, *grid), what goes with them.

    `grid` is (lat, lon), with latitudes and longitudes, or (points,), without. `test` (n,) is None
    where the file does not say.
    """

    where: str
    fields: np.ndarray
    labels: np.ndarray
    axes: tuple[np.ndarray, np.ndarray] | None
    test: np.ndarray | None


@dataclass(frozen=True)
class Data:
    """All samples on the sphere: fields (N, 16, points), labels (N, points), test (N,) or None."""

    fields: Tensor
    labels: Tensor
    test: Tensor | None

    @property
    def digest(self) -> str:
        """Of every number, so that a checkpoint is not continued on other data."""
        found = hashlib.sha256()
        for tensor in (self.fields, self.labels, self.test):
            if tensor is not None:
                found.update(str(tuple(tensor.shape)).encode())
                found.update(tensor.numpy().data.cast("B"))
        return found.hexdigest()

    def split(self, seed: int) -> tuple[Tensor, Tensor]:
        """Numbers of the training and of the test samples."""
        test = self.test
        if test is None:
            order = torch.randperm(len(self.fields), generator=torch.Generator().manual_seed(seed))
            count = max(1, round(TEST_SHARE * len(order)))
            return order[count:].sort().values, order[:count].sort().values
        return (~test).nonzero()[:, 0], test.nonzero()[:, 0]


def read(path: Path) -> Iterator[tuple[int, Raw]]:
    """How many files there are, and one after the other.

    Raises:
        ValueError: there is none, or one is not as it should be.
    """
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix in NETCDF)
        if not files:
            raise ValueError(f"The folder {path} has no NetCDF files ({', '.join(NETCDF)}).")
        parts = [file.relative_to(path).parts[0] for file in files]
        is_split = {"train", "test"} <= set(parts)
        if is_split and (odd := sorted(set(parts) - {"train", "test"})):
            raise ValueError(f"{path} has NetCDF files outside train/ and test/: {odd[0]}.")
        for file, part in zip(files, parts, strict=True):
            yield (
                len(files),
                checked(read_netcdf(file, is_test=part == "test" if is_split else None)),
            )
    elif not path.is_file():
        raise ValueError(f"There is no file or folder {path}.")
    elif path.suffix in NETCDF:
        yield 1, checked(read_netcdf(path))
    elif path.suffix == ".npz":
        yield 1, checked(read_npz(path))
    else:
        raise ValueError(
            f"{path} must be .npz, NetCDF ({', '.join(NETCDF)}) or a folder of NetCDF."
        )


def read_npz(path: Path) -> Raw:
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError) as error:
        raise ValueError(f"{path} can't be read as .npz: {error}") from error
    if missing := [name for name in ("fields", "labels") if name not in arrays]:
        found = ", ".join(arrays) or "nothing"
        raise ValueError(f"{path} must have an array {missing[0]!r}. It has {found}.")
    fields = arrays["fields"]
    if fields.ndim not in (3, 4) or fields.shape[1] != len(CHANNELS) or 0 in fields.shape:
        raise ValueError(
            f"fields in {path} must be (N, {len(CHANNELS)}, lat, lon) or (N, {len(CHANNELS)}, "
            f"points). Got {fields.shape}."
        )
    if "channels" in arrays:
        fields = fields[:, channel_order([str(name) for name in arrays["channels"]], path)]
    test = test_flags(arrays["split"], path) if "split" in arrays else None
    axes = climatenet_axes(fields.shape[2:], arrays) if fields.ndim == 4 else None
    return Raw(str(path), fields, arrays["labels"], axes, test)


def channel_order(names: list[str], path: Path) -> list[int]:
    """Where each of CHANNELS is among the names."""
    if sorted(names) != sorted(CHANNELS):
        odd = sorted(set(names) ^ set(CHANNELS)) or names
        raise ValueError(
            f"channels in {path} must be the 16 names {', '.join(CHANNELS)}, in any order. "
            f"Missing or unknown: {', '.join(odd)}."
        )
    return [names.index(name) for name in CHANNELS]


def test_flags(split: np.ndarray, path: Path) -> np.ndarray:
    names = split.astype(str)
    is_test = np.isin(names, ["test", "1", "True"])
    if not (is_test | np.isin(names, ["train", "0", "False"])).all():
        raise ValueError(f'split in {path} must be "train" or "test", or 0 or 1, for each sample.')
    return is_test


def climatenet_axes(
    grid: tuple[int, ...], arrays: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Latitudes and longitudes in degrees, ClimateNet's for the grid where there are none."""
    height, width = grid
    latitudes = arrays.get("latitudes", np.linspace(-90, 90, height))
    longitudes = arrays.get("longitudes", np.arange(width) * (360 / width))
    return latitudes, longitudes


def read_netcdf(path: Path, *, is_test: bool | None = None) -> Raw:
    try:
        import xarray
    except ImportError:
        raise ValueError(
            f"Reading {path} takes xarray: pip install xarray netcdf4, or convert it to .npz."
        ) from None
    try:
        with xarray.open_dataset(path) as dataset:
            missing = [n for n in (*CHANNELS, "LABELS", "lat", "lon") if n not in dataset]
            found = {n: planes(dataset[n]) for n in (*CHANNELS, "LABELS") if not missing}
            axes = tuple(dataset[n].values for n in ("lat", "lon") if not missing)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} can't be read: {error}") from error
    if missing:
        raise ValueError(f"{path} must have the variables {', '.join(missing)}.")
    columns = list(found.values())
    if len({column.shape for column in columns}) > 1:
        raise ValueError(f"The variables of {path} must have equal shapes, LABELS included.")
    test = None if is_test is None else np.full(len(columns[0]), is_test)
    return Raw(str(path), np.stack(columns[:-1], axis=1), columns[-1], (axes[0], axes[1]), test)


def planes(variable: Any) -> np.ndarray:
    """(n, lat, lon), n the product of whatever other dimensions there are."""
    values: np.ndarray = variable.transpose(..., "lat", "lon").values
    return values.reshape(-1, *values.shape[-2:])


def checked(raw: Raw) -> Raw:
    """The same, with labels as int64 and fields as float32.

    Raises:
        ValueError: a shape, a number or a label is not as it should be.
    """
    fields, labels = raw.fields, raw.labels
    expected = (len(fields), *fields.shape[2:])
    if labels.shape != expected:
        raise ValueError(
            f"labels in {raw.where} must be {expected} for its fields {fields.shape}. "
            f"Got {labels.shape}."
        )
    if raw.test is not None and raw.test.shape != (len(fields),):
        raise ValueError(
            f"split in {raw.where} must be ({len(fields)},), one for each sample. "
            f"Got {raw.test.shape}."
        )
    if fields.dtype.kind not in "fiu" or labels.dtype.kind not in "fiub":
        raise ValueError(
            f"fields and labels in {raw.where} must be numbers. "
            f"Got {fields.dtype} and {labels.dtype}."
        )
    for name, channel in zip(CHANNELS, fields.swapaxes(0, 1), strict=True):
        if bad := int((~np.isfinite(channel)).sum()):
            raise ValueError(
                f"{name} in {raw.where} has {bad} values that are NaN or infinite; fill them."
            )
    odd = np.setdiff1d(labels, np.arange(len(CLASSES)))
    if len(odd):
        meaning = ", ".join(f"{number} {name}" for number, name in enumerate(CLASSES))
        raise ValueError(f"labels in {raw.where} must be {meaning}. Found {odd[0]}.")
    return Raw(raw.where, fields.astype(np.float32), labels.astype(np.int64), raw.axes, raw.test)


def on_sphere(raw: Raw, pyramid: Pyramid) -> tuple[Tensor, Tensor]:
    """Fields (n, 16, points) float32 and labels (n, points) int64 on the finest level's points.

    Raises:
        ValueError: the samples are on another number of points, or not on the whole sphere.
    """
    fields, labels = torch.from_numpy(raw.fields), torch.from_numpy(raw.labels)
    if raw.axes is not None:
        try:
            fields = LatLonToVertices(pyramid, *raw.axes)(fields)
            labels = LatLonToVertices(pyramid, *raw.axes, "nearest")(labels[:, None])[:, 0]
        except ValueError as error:
            raise ValueError(f"The grid of {raw.where} does not fit: {error}") from error
        return fields.contiguous(), labels.contiguous()
    graph = pyramid.levels[0]
    points = graph.num_vertices // graph.orientations
    if fields.shape[2] != points:
        raise ValueError(
            f"fields in {raw.where} must have {points} points, as {graph.label} has, or "
            f"(lat, lon). Got {fields.shape[2]} points."
        )
    return fields, labels


def check_sphere(pyramid: Pyramid) -> None:
    manifold = pyramid.spec["manifold"]
    if manifold not in ("so3", "s2"):
        raise ValueError(
            f"ClimateNet takes a graph on the sphere, so3 or s2. {pyramid.name}@{pyramid.version} "
            f"is on {manifold}."
        )


def load(path: Path, pyramid: Pyramid) -> Data:
    """All samples of a file or a folder, on the finest level's points.

    Raises:
        ValueError: they are not as they should be; one sentence says what.
    """
    check_sphere(pyramid)
    fields: list[Tensor] = []
    labels: list[Tensor] = []
    test: list[Tensor] = []
    with tqdm(desc="reading", unit="file", disable=None) as bar:
        for total, raw in read(path):
            bar.total = total
            for parts, found in zip((fields, labels), on_sphere(raw, pyramid), strict=True):
                parts.append(found)
            if raw.test is not None:
                test.append(torch.from_numpy(raw.test))
            bar.update()
    data = Data(torch.cat(fields), torch.cat(labels), torch.cat(test) if test else None)
    sizes = [len(part) for part in data.split(0)]
    if min(sizes) < 1:
        raise ValueError(
            f"{path} must have samples to train and to test on. It has {sizes[0]} and {sizes[1]}."
        )
    return data
