"""Samples of ClimateNet: files of fields and labels, read, checked and brought to the sphere."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pictures import digest_of
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
        return digest_of(self.fields, self.labels, *([] if self.test is None else [self.test]))

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
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix in NETCDF)
    if not files or (files == [path] and path.suffix not in (".npz", *NETCDF)):
        raise ValueError(f"{path} must be .npz, NetCDF ({', '.join(NETCDF)}) or a folder of these.")
    parts = [file.relative_to(path).parts[:1] for file in files]
    is_split = set(parts) == {("train",), ("test",)}
    for file, part in zip(files, parts, strict=True):
        try:
            raw = read_npz(file) if file.suffix == ".npz" else read_netcdf(file)
        except (OSError, EOFError, KeyError) as error:
            raise ValueError(f"{file} can't be read: {error}") from error
        if is_split:
            raw = replace(raw, test=np.full(len(raw.fields), part == ("test",)))
        yield len(files), checked(raw)


def read_npz(path: Path) -> Raw:
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    fields, test = arrays["fields"], None
    if fields.ndim not in (3, 4) or fields.shape[1] != len(CHANNELS) or 0 in fields.shape:
        raise ValueError(
            f"fields in {path} must be (N, {len(CHANNELS)}, lat, lon) or (N, {len(CHANNELS)}, "
            f"points). Got {fields.shape}."
        )
    if "channels" in arrays:
        names = [str(name) for name in arrays["channels"]]
        if sorted(names) != sorted(CHANNELS):
            raise ValueError(f"channels in {path} must be {', '.join(CHANNELS)}, in any order.")
        fields = fields[:, [names.index(name) for name in CHANNELS]]
    if "split" in arrays:
        parts = arrays["split"].astype(str)
        test = np.isin(parts, ["test", "1", "True"])
        if not (test | np.isin(parts, ["train", "0", "False"])).all():
            raise ValueError(f'split in {path} must be "train" or "test", or 0 or 1.')
    if fields.ndim == 3:
        return Raw(str(path), fields, arrays["labels"], None, test)
    # ClimateNet's axes where there are none.
    height, width = fields.shape[2:]
    latitudes = arrays.get("latitudes", np.linspace(-90, 90, height))
    longitudes = arrays.get("longitudes", np.arange(width) * (360 / width))
    return Raw(str(path), fields, arrays["labels"], (latitudes, longitudes), test)


def read_netcdf(path: Path) -> Raw:
    try:
        import xarray
    except ImportError:
        raise ValueError(
            f"Reading {path} takes xarray: pip install xarray netcdf4, or convert it to .npz."
        ) from None
    with xarray.open_dataset(path) as dataset:
        columns = [planes(dataset[name]) for name in (*CHANNELS, "LABELS")]
        latitudes, longitudes = (dataset[name].values for name in ("lat", "lon"))
    fields = np.stack(columns[:-1], axis=1)
    return Raw(str(path), fields, columns[-1], (latitudes, longitudes), None)


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
    shapes = {"labels": (labels, (len(fields), *fields.shape[2:]))}
    if raw.test is not None:
        shapes["split"] = raw.test, (len(fields),)
    for name, (array, shape) in shapes.items():
        if array.shape != shape:
            raise ValueError(f"{name} in {raw.where} must be {shape}. Got {array.shape}.")
    for name, channel in zip(CHANNELS, fields.swapaxes(0, 1), strict=True):
        if bad := int((~np.isfinite(channel)).sum()):
            raise ValueError(
                f"{name} in {raw.where} has {bad} values that are NaN or infinite; fill them."
            )
    odd = np.setdiff1d(labels, np.arange(len(CLASSES)))
    if len(odd):
        meaning = ", ".join(f"{number} {name}" for number, name in enumerate(CLASSES))
        raise ValueError(f"labels in {raw.where} must be {meaning}. Found {odd[0]}.")
    return replace(raw, fields=fields.astype(np.float32), labels=labels.astype(np.int64))


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


def load(path: Path, pyramid: Pyramid) -> Data:
    """All samples of a file or a folder, on the finest level's points.

    Raises:
        ValueError: they are not as they should be; one sentence says what.
    """
    if pyramid.spec["manifold"] not in ("so3", "s2"):
        raise ValueError(f"ClimateNet takes a graph on the sphere, so3 or s2. Got {pyramid.name}.")
    parts, tests = [], []
    with tqdm(desc="reading", unit="file", disable=None) as bar:
        for total, raw in read(path):
            bar.total = total
            parts.append(on_sphere(raw, pyramid))
            tests += [] if raw.test is None else [torch.from_numpy(raw.test)]
            bar.update()
    fields, labels = (torch.cat(part) for part in zip(*parts, strict=True))
    data = Data(fields, labels, torch.cat(tests) if tests else None)
    sizes = [len(part) for part in data.split(0)]
    if min(sizes) < 1:
        raise ValueError(
            f"{path} must have samples to train and to test on. It has {sizes[0]} and {sizes[1]}."
        )
    return data
