"""The training of an image classifier and its scores on upright, turned and flipped images."""

import copy
from dataclasses import dataclass
from functools import cached_property

import torch
from classifiers import network_of, parameters
from pictures import Pictures, split
from rotations import augmented, turned
from settings import Settings
from torch import Tensor, nn
from torch.optim.swa_utils import update_bn
from training import Scores, Training, with_one_cycle

from cheblienet_models import Pyramid, sample_edges, sample_vertices

COLUMNS = ("upright", "90 degrees", "any angle", "flipped")
FRESH = "upright, fresh statistics"
"""Where training steps had a share of the graph only: after batch norms saw the whole one."""
CHANGE = "change at 90 degrees"
"""The largest change of a log-probability when images are turned by 90 degrees."""
SPLIT_AT = 2 * 1e-4
"""Test images whose two best classes are closer than that may change class by rounding."""
AT_ONCE = 250
AFRESH = 100
"""Batches over which statistics are taken."""


@dataclass(frozen=True)
class Samples:
    """Standardised images (N, C, H, W) float32 and labels (N,), of which some are to train on.

    Args:
        images, labels: all.
        train, test: numbers (n,) of those to train on and of those to test on.
        classes: how many there are.
    """

    images: Tensor
    labels: Tensor
    train: Tensor
    test: Tensor
    classes: int

    @classmethod
    def of(cls, pictures: Pictures, seed: int, train: int | None, test: int | None) -> "Samples":
        """Of a seed's split, with mean 0 and deviation 1 in each channel over the training images.

        Args:
            pictures: all.
            seed: of the split.
            train: how many to train on, as `split` has it.
            test: and to test on.
        """
        images, labels = pictures.images.float(), pictures.labels
        first, last = split(pictures, seed, train, test)
        mean = images[first].mean((0, 2, 3), keepdim=True)
        deviation = images[first].std((0, 2, 3), keepdim=True).clamp(min=1e-6)
        return cls((images - mean) / deviation, labels, first, last, int(labels.max()) + 1)


@dataclass(frozen=True)
class Classification:
    """A network that is to classify images, from weights and in an order drawn by a seed.

    Args:
        settings: of the network and its training.
        samples: of this seed.
        pyramid: the graphs that the settings stand for; None for networks without.
        seed: of the weights and of all that is random in the training.
        device: it is trained on.
    """

    settings: Settings
    samples: Samples
    pyramid: Pyramid | None
    seed: int
    device: str = "cpu"

    @property
    def title(self) -> str:
        return f"{self.settings.network}, seed {self.seed}"

    def network(self) -> nn.Module:
        """With weights of the seed."""
        torch.manual_seed(self.seed)
        channels = self.samples.images.shape[1]
        return network_of(self.settings, self.pyramid, channels, self.samples.classes).to(
            self.device
        )

    @property
    def is_invariant(self) -> bool:
        """Whether turns by 90 degrees change nothing but rounding, as where n_o fits."""
        settings = self.settings
        quarter = 4 if settings.period == "2pi" else 2
        whole = settings.manifold == "r2" or settings.orientations % quarter == 0
        return settings.network == "graph" and settings.head == "invariant" and whole

    @property
    def steps(self) -> int:
        """Of the whole training."""
        return self.settings.steps or self.settings.epochs * self._steps_of_an_epoch

    @property
    def epochs(self) -> int:
        """Of the whole training, the last one perhaps not complete."""
        return -(-self.steps // self._steps_of_an_epoch)

    def start(self) -> Training:
        """Adam with a one-cycle schedule; at each epoch all random numbers start anew from it."""
        network, settings = self.network(), self.settings
        if self.pyramid is not None:
            sample_edges(self.pyramid, 1)  # another training may have left a part of it

        def loss(numbers: Tensor) -> Tensor:
            self._thin_out()
            images = augmented(self._images[numbers], settings.augment)
            return nn.functional.nll_loss(network(images), self._labels[numbers])

        return with_one_cycle(
            network,
            loss,
            self._order,
            steps=self.steps,
            batch=settings.batch,
            rate=settings.rate,
            constant=settings.schedule == "constant",
        )

    def scores(self, network: nn.Module) -> Scores:
        """Accuracy in % by column, the largest change by quarter turns, and the network's size."""
        images, labels = self._images[self.samples.test], self._labels[self.samples.test]
        tested = {
            "upright": images,
            "90 degrees": images.rot90(1, (2, 3)),
            "any angle": turned(images.cpu(), self.seed).to(self.device),
            "flipped": images.flip(3),
        }
        outputs = {
            column: torch.cat([network(part) for part in batch.split(AT_ONCE)])
            for column, batch in tested.items()
        }
        right = {name: (output.argmax(1) == labels) for name, output in outputs.items()}
        change = (outputs["90 degrees"] - outputs["upright"]).abs().max().item()
        best = outputs["upright"].topk(2, dim=1).values
        close = int(((best[:, 0] - best[:, 1]) < SPLIT_AT).sum())
        return {
            **{name: 100 * hits.float().mean().item() for name, hits in right.items()},
            CHANGE: change,
            "close classes": float(close),
            **self._afresh(network),
            "parameters": parameters(network),
            "exact": float(self.is_invariant),
        }

    def _afresh(self, network: nn.Module) -> Scores:
        """Accuracy on upright images with statistics of batch norms taken on whole graphs.

        Those of the training are of thinned-out ones. The network's own are given back after.
        """
        if (
            self.pyramid is None
            or min(self.settings.kappa_edges, self.settings.kappa_vertices) == 1
        ):
            return {}
        sample_edges(self.pyramid, 1)
        network = copy.deepcopy(network)
        parts = self.samples.train.split(self.settings.batch)[:AFRESH]
        update_bn([self._images[numbers] for numbers in parts], network, torch.device(self.device))
        images, labels = self._images[self.samples.test], self._labels[self.samples.test]
        network.eval()
        best = torch.cat([network(part).argmax(1) for part in images.split(AT_ONCE)])
        return {FRESH: 100 * (best == labels).float().mean().item()}

    @property
    def _steps_of_an_epoch(self) -> int:
        return -(-len(self.samples.train) // self.settings.batch)

    @cached_property
    def _images(self) -> Tensor:
        return self.samples.images.to(self.device)

    @cached_property
    def _labels(self) -> Tensor:
        return self.samples.labels.to(self.device)

    def _order(self, epoch: int) -> Tensor:
        """By seed and epoch alone, as all that is drawn in it."""
        torch.manual_seed(1_000_003 * (self.seed + 1) + epoch)
        train = self.samples.train
        left = self.steps - epoch * self._steps_of_an_epoch
        order = train[torch.randperm(len(train))][: left * self.settings.batch]
        return order.to(self.device)

    def _thin_out(self) -> None:
        """Draw the graphs' edges and vertices for a step."""
        if self.pyramid is None:
            return
        if self.settings.kappa_edges < 1:
            sample_edges(self.pyramid, self.settings.kappa_edges, degrees=self.settings.degrees)
        if self.settings.kappa_vertices < 1:
            sample_vertices(
                self.pyramid, self.settings.kappa_vertices, degrees=self.settings.degrees
            )
