"""Training networks over epochs and seeds: the loop that the experiments of this folder share.

An experiment says what it trains by the `Candidate`s it makes, one for each network and seed; all
else is here: epochs, progress, scores, and going on after an interruption.
"""

import pickle
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import shared_path  # noqa: F401  to import what all scripts share
import torch
from scripts import pyramid_of
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler
from tqdm import tqdm

from cheblienet_graphs import GraphSpec
from cheblienet_models import Pyramid

Scores = dict[str, float]
"""By column of a table."""
NOT_OURS = (
    *(OSError, RuntimeError, EOFError, pickle.UnpicklingError),  # no file of torch.save
    *(AttributeError, KeyError, TypeError),  # one with other contents
)


@dataclass(frozen=True)
class Saved:
    """Scores of what is done, seconds so far, and the state of the training under way, if any."""

    scores: list[Scores] = field(default_factory=list)
    seconds: float = 0.0
    run: dict[str, Any] | None = None


@dataclass(frozen=True)
class Checkpoint:
    """A file with how far an experiment has come.

    Args:
        path: where; None keeps nothing.
        settings: of the experiment, which is not continued with others: name, value.
    """

    path: Path | None = None
    settings: Mapping[str, str | int | float] = field(default_factory=dict)

    def load(self) -> Saved:
        """A beginning where there is no file.

        Raises:
            ValueError: the file is none of ours, or of an experiment with other settings.
        """
        if self.path is None or not self.path.exists():
            return Saved()
        try:
            content = torch.load(self.path, weights_only=True)
            settings = content.pop("settings")
            saved = Saved(**content)
            saved_settings = {name: settings.get(name) for name in self.settings}
        except NOT_OURS:
            raise ValueError(f"{self.path} is not a checkpoint of this experiment.") from None
        self._check(saved_settings)
        return saved

    def _check(self, saved_settings: dict[str, Any]) -> None:
        for name, value in self.settings.items():
            if saved_settings[name] != value:
                raise ValueError(
                    f"The checkpoint {self.path} is of another experiment: its {name} is "
                    f"{saved_settings[name]}, here it is {value}. Name another file or remove it."
                )

    def save(self, saved: Saved) -> None:
        """Replace the file at once, so that a stop at any moment leaves a whole one."""
        if self.path is None:
            return
        part = self.path.with_name(f"{self.path.name}.part")
        torch.save({"settings": dict(self.settings), **vars(saved)}, part)
        part.replace(self.path)


SECONDS = "processor seconds"
"""Of a training, all threads together; beside the scores of its network."""


class Training:
    """The training of one network, epoch by epoch.

    Args:
        network: is trained, on whatever device it is.
        optimizer: of its weights.
        loss: mean over the samples of a batch, given their numbers (n,).
        order: (samples,) numbers in the order of an epoch, which counts from 0. A training that is
            resumed ends as an undisturbed one does if this depends on the epoch alone.
        batch: samples for each step.
        schedule: of the learning rate, a step of it after each one of the optimizer.

    Attributes:
        epoch: how many are done.
        seconds: of processor time that its steps took, all threads together.
    """

    def __init__(
        self,
        network: nn.Module,
        optimizer: Optimizer,
        *,
        loss: Callable[[Tensor], Tensor],
        order: Callable[[int], Tensor],
        batch: int,
        schedule: LRScheduler | None = None,
    ) -> None:
        self.network, self.epoch, self.seconds = network, 0, 0.0
        self._optimizer, self._schedule = optimizer, schedule
        self._loss, self._order, self._batch = loss, order, batch

    def until(self, epochs: int) -> Iterator[float]:
        """Train until as many epochs are done; yields the mean loss of each."""
        while self.epoch < epochs:
            self.network.train()
            batches = self._order(self.epoch).split(self._batch)
            began = time.process_time()
            losses = [self._step(numbers) for numbers in batches]
            self.seconds += time.process_time() - began
            self.epoch += 1
            yield torch.stack(losses).mean().item()

    def _step(self, numbers: Tensor) -> Tensor:
        loss = self._loss(numbers)
        self._optimizer.zero_grad()
        loss.backward()
        self._optimizer.step()
        if self._schedule:
            self._schedule.step()
        return loss.detach()  # not a number, for which a GPU would have to be waited for

    def state(self) -> dict[str, Any]:
        """All that changes as it goes on, for `restore`."""
        parts = {name: part.state_dict() for name, part in self._parts.items()}
        return {"epoch": self.epoch, "seconds": self.seconds, **parts}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from where another of the same kind was."""
        for name, part in self._parts.items():
            part.load_state_dict(state[name])
        self.epoch, self.seconds = state["epoch"], state["seconds"]

    @property
    def _parts(self) -> dict[str, Any]:
        parts = {"network": self.network, "optimizer": self._optimizer, "schedule": self._schedule}
        return {name: part for name, part in parts.items() if part is not None}


class Candidate(Protocol):
    """A network of an experiment and a seed for it."""

    @property
    def title(self) -> str:
        """For the progress bar."""

    def start(self) -> Training:
        """A training at its beginning; the same one at each call."""

    def scores(self, network: nn.Module) -> Scores:
        """Of the trained network, which is in eval mode; gradients are off."""


def trained(
    candidates: Sequence[Candidate],
    epochs: int,
    checkpoint: Checkpoint | None = None,
    *,
    silent: bool = False,
) -> tuple[list[Scores], float]:
    """Scores of candidates, trained one after another; seconds, those before an interruption too.

    Args:
        candidates: their number and order tell apart what a checkpoint has of each.
        epochs: of each.
        checkpoint: to continue from and to write to after each epoch; None keeps nothing.
        silent: whether there is no progress bar, as where others run beside.

    Raises:
        ValueError: the checkpoint is of something else.
    """
    checkpoint = checkpoint or Checkpoint()
    saved = checkpoint.load()
    began = time.perf_counter() - saved.seconds

    def keep(run: dict[str, Any] | None) -> Saved:
        kept = Saved(saved.scores, time.perf_counter() - began, run)
        checkpoint.save(kept)
        return kept

    total, done = (epochs * len(each) for each in (candidates, saved.scores))
    done += saved.run["epoch"] if saved.run else 0
    with tqdm(total=total, initial=done, unit="epoch", disable=silent or None) as bar:
        for candidate in candidates[len(saved.scores) :]:
            training = candidate.start()
            if saved.run:
                training.restore(saved.run)
            bar.set_description(candidate.title)
            for loss in training.until(epochs):
                keep(training.state())
                bar.update()
                bar.set_postfix(loss=f"{loss:.4f}")
            with torch.no_grad():
                tested = candidate.scores(training.network.eval())
            saved.scores.append({**tested, SECONDS: training.seconds})
            saved = keep(None)
    return saved.scores[: len(candidates)], saved.seconds


@dataclass(frozen=True)
class OfGraph:
    """What `of_each` trains: a network on the graphs of a kind, with all else drawn by the seed."""

    kind: str
    pyramid: Pyramid
    seed: int
    epochs: int

    @property
    def title(self) -> str:
        """For the progress bar."""
        return f"{self.kind}, seed {self.seed}"


def by_labels(
    network: nn.Module,
    samples: tuple[Tensor, Tensor],
    epochs: int,
    *,
    batch: int,
    rate: float,
    weight: Tensor | None = None,
) -> Training:
    """A training by the likelihood of labels, in an order of its own for each epoch.

    Args:
        network: that gives log-probabilities of classes.
        samples: fields and labels, (N, ...) each; negative ones do not count.
        epochs: of the one-cycle schedule.
        batch: samples for each step.
        rate: of learning.
        weight: (classes,) of classes in the loss; None: equal.
    """
    fields, labels = samples

    def loss(numbers: Tensor) -> Tensor:
        return nn.functional.nll_loss(network(fields[numbers]), labels[numbers], weight)

    def order(_: int) -> Tensor:
        return torch.randperm(len(fields))

    steps = epochs * -(-len(fields) // batch)
    return with_one_cycle(network, loss, order, steps=steps, batch=batch, rate=rate)


def with_one_cycle(
    network: nn.Module,
    loss: Callable[[Tensor], Tensor],
    order: Callable[[int], Tensor],
    *,
    steps: int,
    batch: int,
    rate: float,
    constant: bool = False,
) -> Training:
    """By Adam, whose learning rate goes up to `rate` and down again over so many steps.

    With `constant` it stays as it is.
    """
    optimizer, schedule = torch.optim.Adam(network.parameters(), lr=rate), None
    if not constant:
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps)
    return Training(network, optimizer, loss=loss, order=order, batch=batch, schedule=schedule)


def of_each(
    specs: Mapping[str, GraphSpec],
    candidate: Callable[[str, Pyramid, int, int], Candidate],
    epochs: int,
    seeds: int,
) -> dict[str, list[Scores]]:
    """Scores of the seeds by kind of graph, all trained seed by seed.

    Args:
        specs: by kind.
        candidate: of a kind, its graphs, a seed and as many epochs.
        epochs: of each.
        seeds: how many.
    """
    pyramids = {kind: pyramid_of(spec, device="cpu") for kind, spec in specs.items()}
    candidates = [
        candidate(kind, pyramid, seed, epochs)
        for seed in range(seeds)
        for kind, pyramid in pyramids.items()
    ]
    scores, _ = trained(candidates, epochs)
    return {kind: scores[index :: len(specs)] for index, kind in enumerate(specs)}


def means_and_deviations(runs: Sequence[Scores], columns: Sequence[str], form: str) -> list[str]:
    """Cells of a row, as `mean_and_deviation` has them: of some columns, over seeds."""
    return [mean_and_deviation([run[column] for run in runs], form) for column in columns]


def mean_and_deviation(values: Sequence[float], form: str) -> str:
    """A table's cell, as in '98.1 +- 0.3'; of one value there is no deviation: '98.1'.

    Args:
        values: of the seeds.
        form: of both numbers, as for `format`.
    """
    mean = f"{statistics.mean(values):{form}}"
    return f"{mean} +- {statistics.stdev(values):{form}}" if len(values) > 1 else mean
