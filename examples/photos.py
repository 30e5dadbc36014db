"""Train a classifier on a folder of photos, save it, and predict the class of new photos.

The folder has one sub-folder for each class. Photos may have any size: each is resized and cropped
to a square. The network gives a photo turned by 90 degrees, or mirrored, the same probabilities.

    python examples/photos.py train FOLDER MODEL.pt [--side 48] [--steps 400] [--resume]
    python examples/photos.py predict MODEL.pt PHOTO...

Every fifth photo of a class is left out of the training, and the model is tested on these. Ctrl-C
saves the model as it is; with --resume its training goes on. Pictures are read by Pillow: pip
install '.[images]' in a clone.
"""

import argparse
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import torch
from arguments import new_model, positive, printable
from images import SUFFIXES, Image, ImageOps, read_picture
from torch import Tensor, nn
from tqdm import trange

from cheblienet_graphs import CheblienetError, GraphSpec, build
from cheblienet_models import StoreError, WideResNet

BATCH = 32
LEFT_OUT = 5
"""One photo of so many is left out of the training."""
SAVED = {"side", "classes", "weights"}
"""What a model's file has."""
STOPPED = {*SAVED, "steps", "stopped"}
"""What it has where the training did not come to its end."""


def network(side: int, classes: int) -> WideResNet:
    """On the plane; the graph of side x side pixels is built here, in seconds."""
    with tempfile.TemporaryDirectory() as store:
        pyramid = build(GraphSpec("r2", side), store).open()
        return WideResNet(pyramid, 3, classes, kernel_size=6, depth=1, widen=1)


def photo(file: Path, side: int) -> Tensor:
    """(3, side, side) colors in [-2, 2], of the largest square in the middle of the photo."""
    image = read_picture(file, "RGB", upright=True)
    square = ImageOps.fit(image, (side, side), Image.Resampling.BILINEAR)
    colors = torch.from_numpy(np.array(square, np.float32)).permute(2, 0, 1)
    return colors / 63.75 - 2


def files_of(folder: Path) -> dict[str, list[Path]]:
    """The pictures of each sub-folder, sorted; others are passed over."""
    return {
        inner.name: files
        for inner in sorted(filter(Path.is_dir, folder.iterdir()))
        if (files := sorted(file for file in inner.iterdir() if file.suffix.lower() in SUFFIXES))
    }


def photos(files: dict[str, list[Path]], side: int) -> tuple[Tensor, Tensor, Tensor]:
    """(N, 3, side, side) of all classes, (N,) their numbers, (N,) whether to leave a photo out."""
    images = [photo(file, side) for of_class in files.values() for file in of_class]
    counts = torch.tensor([len(of_class) for of_class in files.values()])
    left_out = torch.cat([torch.arange(int(n)) % LEFT_OUT == LEFT_OUT - 1 for n in counts])
    return torch.stack(images), torch.arange(len(counts)).repeat_interleave(counts), left_out


@contextmanager
def interrupts_noted() -> Iterator[list[int]]:
    """A list that Ctrl-C makes longer; a second one ends the program at once."""
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if came:
            signal.default_int_handler(number, frame)
        came.append(number)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, before)


def train(
    model: WideResNet, images: Tensor, labels: Tensor, steps: int, stopped: dict[str, Any] | None
) -> dict[str, Any] | None:
    """Train by Adam, its rate 0.01 at most.

    Args:
        model: what is trained.
        images: (N, 3, side, side).
        labels: (N,).
        steps: in all.
        stopped: where a training was stopped that goes on; None where it begins.

    Returns:
        Where Ctrl-C stopped it, after a whole step; None at its end.
    """
    optimizer = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=steps)
    done = 0
    if stopped is not None:
        try:
            optimizer.load_state_dict(stopped["optimizer"])
            schedule.load_state_dict(stopped["schedule"])
            torch.set_rng_state(stopped["random"])
            done = int(stopped["done"])
        except Exception as error:
            raise ValueError("The file of --resume is damaged. Train without it.") from error
    with interrupts_noted() as came:
        for step in (bar := trange(done, steps, initial=done, total=steps)):
            some = torch.randint(len(images), (BATCH,))
            loss = nn.functional.nll_loss(model(images[some]), labels[some])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            bar.set_postfix(loss=f"{loss.item():.3f}")
            if came and step + 1 < steps:
                return {
                    "done": step + 1,
                    "optimizer": optimizer.state_dict(),
                    "schedule": schedule.state_dict(),
                    "random": torch.get_rng_state(),
                }
    return None


@torch.no_grad()
def probabilities(model: WideResNet, images: Tensor) -> Tensor:
    """(N, 3, side, side) -> (N, classes), of a network in eval mode."""
    return torch.cat([model(some).exp() for some in images.split(BATCH)])


def train_and_save(arguments: argparse.Namespace) -> None:
    """Train on a folder, print the accuracy on the photos left out, and save the model."""
    if not arguments.folder.is_dir():
        raise ValueError(
            f"{arguments.folder} is not a folder. Give a folder with one sub-folder for each class."
        )
    files = files_of(arguments.folder)
    if len(files) < 2:
        raise ValueError(
            f"{arguments.folder} must have a sub-folder of photos for each of 2 or more classes. "
            f"Found {len(files)}."
        )
    before = resumed(arguments, list(files)) if arguments.resume else None
    images, labels, left_out = photos(files, arguments.side)
    torch.manual_seed(0)
    model = network(arguments.side, len(files))
    if before is not None:
        load(model, before["weights"], arguments.model)
    start = before["stopped"] if before else None
    stopped = train(model, images[~left_out], labels[~left_out], arguments.steps, start)
    learned = {"side": arguments.side, "classes": list(files), "weights": model.state_dict()}
    more = {"steps": arguments.steps, "stopped": stopped} if stopped else {}
    save({**learned, **more}, arguments.model)
    if stopped is not None:
        name, done = printable(arguments.model), stopped["done"]
        print(
            f"Stopped after {done} of {arguments.steps} steps; {name} has what was learned. "
            "The same command with --resume goes on.",
            file=sys.stderr,
        )
        raise SystemExit(130)
    model.eval()
    if left_out.any():
        right = probabilities(model, images[left_out]).argmax(1) == labels[left_out]
        print(f"{int(right.sum())} of {len(right)} photos that were left out are classified right.")


def save(saved: dict[str, Any], file: Path) -> None:
    """Write a model beside its file, and then put it there, whole."""
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=f".{file.name}.") as folder:
        new = Path(folder, file.name)
        try:
            torch.save(saved, new)
            new.replace(file)
        except (OSError, RuntimeError) as error:  # torch's own where a disk is full
            why = getattr(error, "strerror", None) or str(error).partition("\n")[0]
            raise ValueError(f"{file} can't be written: {why}.") from None


def resumed(arguments: argparse.Namespace, classes: list[str]) -> dict[str, Any]:
    """The model whose training goes on."""
    saved = opened(arguments.model)
    if "stopped" not in saved:
        raise ValueError(f"{arguments.model} is trained to its end. Leave out --resume.")
    for name, given in (("side", arguments.side), ("steps", arguments.steps)):
        if saved[name] != given:
            raise ValueError(
                f"--{name} must be {saved[name]}, as when the training began. Got {given}."
            )
    if saved["classes"] != classes:
        raise ValueError(
            f"{arguments.folder} must have the classes {', '.join(saved['classes'])}, as when the "
            f"training began. Found {', '.join(classes)}."
        )
    return saved


def opened(file: Path) -> dict[str, Any]:
    """What `train` saved."""
    if not file.is_file():  # reading a pipe would wait
        what = "is not a file" if file.exists() else "does not exist"
        raise ValueError(f"{file} {what}. Give the .pt file of a `train` command.")
    try:
        saved = torch.load(file, weights_only=True)
    except OSError as error:
        raise ValueError(f"{file} can't be read: {error.strerror}. Give a .pt file.") from None
    except Exception as error:  # damaged files raise whatever their bytes lead to
        raise refused_model(file) from error
    if not isinstance(saved, dict) or saved.keys() not in (SAVED, STOPPED):
        raise refused_model(file)
    if not (isinstance(saved["side"], int) and isinstance(saved["classes"], list)):
        raise refused_model(file)
    return saved


def load(model: WideResNet, weights: Any, file: Path) -> None:
    """Give a network the weights of a file."""
    try:
        model.load_state_dict(weights)
    except (RuntimeError, TypeError, AttributeError):
        raise refused_model(file) from None


def refused_model(file: Path) -> ValueError:
    """That a file is no whole model."""
    why = "is not a model that `train` wrote, or is damaged"
    return ValueError(f"{file} {why}. Give the .pt file of a `train` command.")


def predict(arguments: argparse.Namespace) -> None:
    """Print the probability of each class, the likeliest first, for each photo."""
    saved = opened(arguments.model)
    model = network(saved["side"], len(saved["classes"]))
    load(model, saved["weights"], arguments.model)
    images = torch.stack([photo(file, saved["side"]) for file in arguments.photos])
    for file, row in zip(arguments.photos, probabilities(model.eval(), images), strict=True):
        order = row.argsort(descending=True).tolist()
        chances = (f"{printable(saved['classes'][n])} {row[n]:.2f}" for n in order)
        print(f"{printable(file)}:", ", ".join(chances))


def main() -> None:
    """Train, or predict."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    training = commands.add_parser("train", help="on a folder with one sub-folder for each class")
    training.add_argument("folder", type=Path, help="with one sub-folder for each class")
    training.add_argument("model", type=new_model, help="the file to write, as model.pt")
    training.add_argument(
        "--side", type=positive, default=48, help="pixels of the squares [%(default)s]"
    )
    training.add_argument(
        "--steps", type=positive, default=400, help=f"of {BATCH} photos [%(default)s]"
    )
    training.add_argument(
        "--resume", action="store_true", help="go on with the training that Ctrl-C stopped"
    )
    training.set_defaults(run=train_and_save)
    predicting = commands.add_parser("predict", help="the classes of photos")
    predicting.add_argument("model", type=Path, help="the file that train wrote")
    predicting.add_argument("photos", type=Path, nargs="+", help="their files")
    predicting.set_defaults(run=predict)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    try:
        main()
    except (CheblienetError, StoreError, OSError, ValueError) as error:
        raise SystemExit(f"Error: {printable(error)}") from error
    except KeyboardInterrupt:
        raise SystemExit("Interrupted.") from None
