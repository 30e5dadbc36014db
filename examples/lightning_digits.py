"""Train a classifier of scikit-learn's digits by a Lightning Trainer, also in several processes.

    python examples/lightning_digits.py [--epochs 6] [--precision bf16-mixed] [--devices 2]
        [--compile] [--store graphs.zarr]

The graph is built in the store before the processes start; they map it. The last line has the
accuracy on 200 digits that were not trained on. digits.ckpt, beside the store, is the checkpoint.

Requires: pip install lightning scikit-learn.
"""

import argparse
import warnings
from pathlib import Path
from typing import Any

import torch
from arguments import positive, printable
from lightning import LightningModule, Trainer
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from cheblienet_graphs import CheblienetError, GraphSpec, open_or_build
from cheblienet_models import StoreError, WideResNet

BATCH = 50
SPEC = GraphSpec("r2", 8, levels=2)
Batch = list[Tensor]
"""(B, 1, 8, 8) images and (B,) labels."""


class Classifier(LightningModule):
    """A WideResNet. A checkpoint has its weights and these arguments, from which it is made again.

    Args:
        spec: of the graph, as `GraphSpec.to_dict` returns it; opened, or built where it is missing.
        store: path; kept as an absolute one, as a checkpoint may be loaded in another folder.
        rate: the highest learning rate.
    """

    def __init__(self, spec: dict[str, Any], store: str, rate: float = 2e-2) -> None:
        super().__init__()
        store = str(Path(store).absolute())
        self.save_hyperparameters()
        self.rate = rate
        pyramid = open_or_build(GraphSpec.from_dict(spec), store)
        self.network = WideResNet(pyramid, 1, 10, kernel_size=4, depth=1, widen=0.5)

    def forward(self, images: Tensor) -> Tensor:
        """(B, 1, 8, 8) -> (B, 10) log-probabilities."""
        log_probabilities: Tensor = self.network(images)
        return log_probabilities

    def training_step(self, batch: Batch) -> Tensor:
        """The loss of a batch."""
        images, labels = batch
        loss = nn.functional.nll_loss(self(images), labels)
        self.log("loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch: Batch) -> None:
        """Log the accuracy, of all processes together."""
        images, labels = batch
        right = self(images).argmax(1) == labels
        self.log("accuracy", right.float().mean(), prog_bar=True, sync_dist=True)

    def configure_optimizers(self) -> Any:
        """Adam, its rate rising and falling once, changed at each step."""
        optimizer = torch.optim.Adam(self.parameters())
        steps = int(self.trainer.estimated_stepping_batches)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, self.rate, total_steps=steps)
        return [optimizer], [{"scheduler": schedule, "interval": "step"}]


def loaders(batch: int) -> list[DataLoader[tuple[Tensor, ...]]]:
    """Batches of the first 1,500 digits, in random order, and of the last 200, for validation."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32)[:, None]
    images, labels = (images - images.mean()) / images.std(), torch.tensor(digits.target)
    train = TensorDataset(images[:1500], labels[:1500])
    validation = TensorDataset(images[-200:], labels[-200:])
    return [DataLoader(train, batch, shuffle=True, drop_last=True), DataLoader(validation, batch)]


def trained(
    model: Classifier, *, epochs: int, batch: int = BATCH, devices: int = 1, **options: Any
) -> Trainer:
    """Train a model in as many processes as devices; a step takes `batch` digits of all of them.

    The model's graph is in the store by now, so that the processes that are started only map it.
    """
    options |= {"strategy": "ddp" if devices > 1 else "auto", "logger": False}
    trainer = Trainer(max_epochs=epochs, devices=devices, **options)
    train, validation = loaders(batch // devices)
    trainer.fit(model, train, validation)
    return trainer


def main() -> None:
    """Train, save the checkpoint, and print the accuracy."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=positive, default=6, help="of training [%(default)s]")
    precisions = "32-true", "bf16-mixed"
    parser.add_argument("--precision", choices=precisions, default="32-true", help="[%(default)s]")
    parser.add_argument("--devices", type=positive, default=1, help="processes [%(default)s]")
    parser.add_argument("--compile", action="store_true", help="compile the network, in a minute")
    parser.add_argument("--store", type=Path, default="graphs.zarr", help="[%(default)s]")
    arguments = parser.parse_args()
    # Digits in memory need no processes that load them; torch 2.13 deprecates what Lightning calls.
    for message in (".*does not have many workers", "`isinstance.treespec, LeafSpec"):
        warnings.filterwarnings("ignore", message)
    torch.manual_seed(0)
    model = Classifier(SPEC.to_dict(), str(arguments.store))
    if arguments.compile:
        model.network.compile()
    options = {"precision": arguments.precision, "enable_checkpointing": False}
    trainer = trained(model, epochs=arguments.epochs, devices=arguments.devices, **options)
    file = arguments.store.with_name("digits.ckpt")
    trainer.save_checkpoint(file)
    if trainer.is_global_zero:
        print(f"{printable(file)}: accuracy {trainer.callback_metrics['accuracy']:.2f}")


if __name__ == "__main__":
    try:
        main()
    except (CheblienetError, StoreError, OSError, ValueError) as error:
        raise SystemExit(f"Error: {printable(error)}") from error
