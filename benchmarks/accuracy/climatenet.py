"""Extreme weather on the sphere: the paper's segmentation of ClimateNet, for those who have it.

Trains a UNet on the climatenet recipe to tell tropical cyclones and atmospheric rivers from the
background, and prints the F1 score of each class on test samples over several seeds.

    python benchmarks/accuracy/climatenet.py DATA [--checkpoint FILE]
    python benchmarks/accuracy/climatenet.py --profile

DATA is one of

- an .npz file with `fields` (N, 16, lat, lon), or (N, 16, points) in the order of the sphere's
  points, and `labels` (N, lat, lon) or (N, points): 0 background, 1 tropical cyclone,
  2 atmospheric river. Optional: `channels`, 16 names in the order of the fields; `latitudes` and
  `longitudes` in degrees, else rows from -90 to 90 and columns from 0 eastwards, as ClimateNet has
  them; `split` (N,), "train" or "test" (or 0 and 1), else a fifth drawn by the seed is the test;
- a NetCDF file as ClimateNet publishes them, one variable a channel and LABELS, through xarray;
- a folder of such files, the split given by its folders train/ and test/ if it has them.

Fields on latitudes and longitudes are brought to the sphere's points bilinearly, labels from the
nearest pixel, and channels are standardised by the training samples. Losses are weighted by the
inverse frequency of each class. With --checkpoint the same command continues after the last epoch
that was finished.
"""

import argparse
import hashlib
import pickle
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from tqdm import tqdm

from cheblienet_graphs import CheblienetError, GraphSpec, build
from cheblienet_graphs.recipes import recipe
from cheblienet_models import Pyramid, StoreError, UNet, open_store
from cheblienet_models.resampling import LatLonToVertices

CHANNELS = (
    *("TMQ", "U850", "V850", "UBOT", "VBOT", "QREFHT", "PS", "PSL"),
    *("T200", "T500", "PRECT", "TS", "TREFHT", "Z1000", "Z200", "ZBOT"),
)
CLASSES = ("background", "tropical cyclone", "atmospheric river")
COLUMNS = (*CLASSES, "mean of the two", "mean of all")
NETCDF = (".nc", ".nc4")
TEST_SHARE = 0.2
STEPS = 5

Scores = dict[str, float]


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
                found.update(memoryview(tensor.numpy()).cast("B"))
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
    axes = climatenet_axes(*fields.shape[2:], arrays) if fields.ndim == 4 else None
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
    height: int, width: int, arrays: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Latitudes and longitudes in degrees, ClimateNet's where there are none."""
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
    values = variable.transpose(..., "lat", "lon").values
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
    fields, labels, test = [], [], []
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


@dataclass(frozen=True)
class Experiment:
    """What is trained on what, and how."""

    pyramid: Pyramid
    data: Data
    epochs: int
    batch: int
    rate: float
    device: str

    @property
    def settings(self) -> dict[str, str | int | float]:
        """What a checkpoint must agree on."""
        return {
            "graph": f"{self.pyramid.name} (spec {self.pyramid.spec_sha256[:12]})",
            "data": f"of digest {self.data.digest[:12]}",
            "epochs": self.epochs,
            "batch": self.batch,
            "rate": self.rate,
        }


class Run:
    """The training of one seed, epoch by epoch.

    Args:
        experiment: which.
        seed: of the weights, of the split where the data has none, and of the batches.
    """

    def __init__(self, experiment: Experiment, seed: int) -> None:
        self.experiment, self.seed, self.epoch = experiment, seed, 0
        data, device = experiment.data, experiment.device
        self.training, self.test = data.split(seed)
        self.weights = inverse_frequencies(data.labels[self.training]).to(device)
        self.mean, self.deviation = standard(data.fields, self.training)
        torch.manual_seed(seed)
        self.network = UNet(experiment.pyramid, len(CHANNELS), len(CLASSES)).to(device)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=experiment.rate)

    def train_epoch(self) -> float:
        """The mean loss. The order of the batches depends on seed and epoch alone."""
        generator = torch.Generator().manual_seed(1_000_003 * self.seed + self.epoch)
        order = self.training[torch.randperm(len(self.training), generator=generator)]
        losses = []
        self.network.train()
        for numbers in order.split(self.experiment.batch):
            fields, labels = self._batch(numbers)
            loss = nn.functional.nll_loss(self.network(fields), labels, self.weights)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
        self.epoch += 1
        return statistics.mean(losses)

    @torch.no_grad()
    def evaluate(self) -> Scores:
        """F1 by column over all test points together."""
        self.network.eval()
        confusion = torch.zeros(len(CLASSES), len(CLASSES), dtype=torch.long)
        for numbers in self.test.split(self.experiment.batch):
            fields, labels = self._batch(numbers)
            pairs = labels * len(CLASSES) + self.network(fields).argmax(1)
            confusion += pairs.flatten().cpu().bincount(minlength=confusion.numel()).view(3, 3)
        return f1_scores(confusion)

    def _batch(self, numbers: Tensor) -> tuple[Tensor, Tensor]:
        data, device = self.experiment.data, self.experiment.device
        base = self.experiment.pyramid.levels[0].grid[1:]
        fields = ((data.fields[numbers] - self.mean) / self.deviation).unflatten(2, base)
        return fields.to(device), data.labels[numbers].unflatten(1, base).to(device)

    def state(self) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "epoch": self.epoch,
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.epoch = state["epoch"]


def inverse_frequencies(labels: Tensor) -> Tensor:
    """(3,) how often a point of another class comes for each of this one; 0 where none does."""
    counts = labels.flatten().bincount(minlength=len(CLASSES)).double()
    return torch.where(counts > 0, counts.sum() / (len(CLASSES) * counts), 0).float()


def standard(fields: Tensor, training: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and deviation (16, 1) of each channel over the training samples and their points."""
    chosen = [fields[training, channel].double() for channel in range(fields.shape[1])]
    mean = torch.stack([channel.mean() for channel in chosen])[:, None]
    deviation = torch.stack([channel.std() for channel in chosen])[:, None]
    return mean.float(), torch.where(deviation > 0, deviation, 1).float()


def f1_scores(confusion: Tensor) -> Scores:
    """By column, from counts (true, predicted); 0 for a class that is neither there nor found."""
    hits, counts = confusion.diag().double(), (confusion.sum(0) + confusion.sum(1)).double()
    f1 = torch.where(counts > 0, 2 * hits / counts.clamp(min=1), 0)
    return dict(zip(COLUMNS, [*f1.tolist(), f1[1:].mean().item(), f1.mean().item()], strict=True))


class Checkpoint:
    """A file with the scores of the seeds that are done and the state of the one that is not.

    Args:
        path: where; None keeps nothing.
        settings: of the experiment.
    """

    def __init__(self, path: Path | None, settings: dict[str, str | int | float]) -> None:
        self.path, self.settings = path, settings

    def load(self) -> dict[str, Any]:
        """What was saved, or what a beginning is.

        Raises:
            ValueError: the file is none of ours, or of an experiment with other settings.
        """
        if self.path is None or not self.path.exists():
            return {"scores": [], "seconds": 0.0, "run": None}
        try:
            saved = torch.load(self.path, weights_only=True)
            settings, found = saved["settings"], {k: saved[k] for k in ("scores", "seconds", "run")}
        except (OSError, RuntimeError, EOFError, pickle.UnpicklingError, KeyError, TypeError):
            raise ValueError(f"{self.path} is not a checkpoint of this experiment.") from None
        for name, value in self.settings.items():
            if settings.get(name) != value:
                raise ValueError(
                    f"The checkpoint {self.path} is of another experiment: its {name} is "
                    f"{settings.get(name)}, here it is {value}. Name another file or remove it."
                )
        return found

    def save(self, scores: list[Scores], seconds: float, run: dict[str, Any] | None) -> None:
        """Replace the file at once, so that a stop at any moment leaves a whole one."""
        if self.path is None:
            return
        content = {"settings": self.settings, "scores": scores, "seconds": seconds, "run": run}
        part = self.path.with_name(f"{self.path.name}.part")
        torch.save(content, part)
        part.replace(self.path)


def experiment_scores(
    experiment: Experiment,
    seeds: int,
    checkpoint: Checkpoint,
    after_epoch: Callable[[int, int], None] = lambda *_: None,
) -> tuple[list[Scores], float]:
    """The scores of each seed, and the seconds it all took, those before an interruption included.

    Args:
        experiment: which.
        seeds: how many, from 0.
        checkpoint: to continue from and to write to.
        after_epoch: called with the seed and the epochs done, when these are saved.
    """
    saved = checkpoint.load()
    scores, began = list(saved["scores"]), time.perf_counter() - saved["seconds"]
    done = len(scores) * experiment.epochs + (saved["run"]["epoch"] if saved["run"] else 0)
    with tqdm(total=seeds * experiment.epochs, initial=done, unit="epoch", disable=None) as bar:
        for seed in range(len(scores), seeds):
            run = Run(experiment, seed)
            if saved["run"] and saved["run"]["seed"] == seed:
                run.restore(saved["run"])
            bar.set_description(f"seed {seed}")
            while run.epoch < experiment.epochs:
                loss = run.train_epoch()
                checkpoint.save(scores, time.perf_counter() - began, run.state())
                bar.update()
                bar.set_postfix(loss=f"{loss:.4f}")
                after_epoch(seed, run.epoch)
            scores.append(run.evaluate())
            checkpoint.save(scores, time.perf_counter() - began, None)
    return scores[:seeds], time.perf_counter() - began


def report(experiment: Experiment, scores: list[Scores], seconds: float) -> None:
    sizes = [len(part) for part in experiment.data.split(0)]
    print(
        f"F1 on {sizes[1]} test samples, {sizes[0]} to train on, mean +- deviation over "
        f"{len(scores)} seeds, {experiment.epochs} epochs\n"
    )
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    cells = []
    for column in COLUMNS:
        values = [run[column] for run in scores]
        spread = statistics.stdev(values) if len(values) > 1 else 0.0
        cells.append(f"{statistics.mean(values):.3f} +- {spread:.3f}")
    print(f"| {' | '.join(cells)} |\n\n{seconds:.0f} s")


def spec_of(subdivisions: int | None) -> GraphSpec:
    """The climatenet recipe, or the same on another icosphere, down to the icosahedron."""
    spec = recipe("climatenet").spec
    if subdivisions is None:
        return spec
    sizes = {"subdivisions": subdivisions, "levels": subdivisions + 1}
    return GraphSpec(**(spec.to_dict() | sizes))


def opened(arguments: argparse.Namespace) -> Pyramid:
    """The graph named, or the recipe's, built if it is not there."""
    if arguments.graph:
        return open_store(arguments.store)[arguments.graph]
    published = build(spec_of(arguments.subdivisions), arguments.store)
    return open_store(arguments.store)[f"{published.name}@{published.version}"]


def profile(arguments: argparse.Namespace) -> None:
    """Time and memory of training steps at batch 1, in a process that does nothing else."""
    pyramid = opened(arguments)
    name = f"{pyramid.name}@{pyramid.version}"
    command = [sys.executable, __file__, "--profile-graph", name, "--store", str(arguments.store)]
    subprocess.run([*command, "--threads", str(arguments.threads)], check=True)


def profile_steps(store: Path, name: str, threads: int) -> None:
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    pyramid = open_store(store)[name]
    network = UNet(pyramid, len(CHANNELS), len(CLASSES))
    optimizer = torch.optim.Adam(network.parameters())
    base = pyramid.levels[0].grid[1:]
    fields, labels = torch.randn(1, len(CHANNELS), *base), torch.randint(len(CLASSES), (1, *base))
    before = memory("VmRSS")
    rounds: list[tuple[float, ...]] = []
    for _ in range(STEPS + 1):
        times = [time.perf_counter()]
        loss = nn.functional.nll_loss(network(fields), labels)
        times.append(time.perf_counter())
        optimizer.zero_grad()
        loss.backward()
        times.append(time.perf_counter())
        optimizer.step()
        times.append(time.perf_counter())
        rounds.append(tuple(1e3 * (b - a) for a, b in pairwise(times)))
    forward, backward, step = (statistics.median(times) for times in zip(*rounds[1:], strict=True))
    weights = sum(parameter.numel() for parameter in network.parameters())
    print(f"{name}: {pyramid.levels[0].num_vertices:,} vertices, {weights:,} weights")
    print(f"One training step at batch 1 on {threads} threads, median of {STEPS}\n")
    print("| forward | backward | optimiser | peak memory | before the first step |")
    print("|---|---|---|---|---|")
    print(
        f"| {forward:.0f} ms | {backward:.0f} ms | {step:.0f} ms | {memory('VmHWM') / 1e6:.0f} MB "
        f"| {before / 1e6:.0f} MB |"
    )


def memory(kind: str) -> int:
    """Bytes resident in this process now, VmRSS, or at most so far, VmHWM."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(kind):
            return int(line.split()[1]) * 1024
    raise ValueError(f"This system does not tell {kind} of a process.")


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1. Got {text}.")
    return number


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path, nargs="?", help=".npz, NetCDF or a folder of NetCDF")
    parser.add_argument("--epochs", type=positive, default=20)
    parser.add_argument("--batch", type=positive, default=4)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--seeds", type=positive, default=5)
    parser.add_argument("--subdivisions", type=positive, help="of the icosahedron; 5 in the recipe")
    parser.add_argument("--store", type=Path, default=Path("graphs.zarr"))
    parser.add_argument("--graph", help="one of the store, instead of the recipe's")
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--profile", action="store_true", help="time and memory of a step, no data")
    parser.add_argument("--threads", type=positive, default=2, help="with --profile")
    parser.add_argument("--profile-graph", help=argparse.SUPPRESS)
    found = parser.parse_args(arguments)
    if found.path is None and not (found.profile or found.profile_graph):
        parser.error("name the data, or --profile.")
    return found


def main(arguments: list[str] | None = None) -> int:
    given = parsed(arguments)
    try:
        if given.profile_graph:
            profile_steps(given.store, given.profile_graph, given.threads)
            return 0
        if given.profile:
            profile(given)
            return 0
        pyramid = opened(given)
        data = load(given.path, pyramid)
        experiment = Experiment(pyramid, data, given.epochs, given.batch, given.rate, given.device)
        checkpoint = Checkpoint(given.checkpoint, experiment.settings)
        scores, seconds = experiment_scores(experiment, given.seeds, checkpoint)
    except (ValueError, StoreError, CheblienetError, OSError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    report(experiment, scores, seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
