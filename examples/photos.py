"""Train a classifier on a folder of photos, save it, and predict the class of new photos.

The folder has one sub-folder for each class. Photos may have any size: each is resized and cropped
to a square. The network gives a photo turned by 90 degrees, or mirrored, the same probabilities.

    python examples/photos.py train FOLDER MODEL.pt [--side 48] [--steps 400]
    python examples/photos.py predict MODEL.pt PHOTO...

Every fifth photo of a class is left out of the training, and the model is tested on these. Pictures
are read by Pillow: pip install '.[images]' in a clone.
"""

import argparse
import pickle
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from arguments import new_model, positive
from PIL import Image, ImageOps, UnidentifiedImageError
from torch import Tensor, nn
from tqdm import trange

from cheblienet_graphs import CheblienetError, GraphSpec, build
from cheblienet_models import StoreError, WideResNet

BATCH = 32
LEFT_OUT = 5
"""One photo of so many is left out of the training."""


def network(side: int, classes: int) -> WideResNet:
    """On the plane; the graph of side x side pixels is built here, in seconds."""
    with tempfile.TemporaryDirectory() as store:
        pyramid = build(GraphSpec("r2", side), store).open()
        return WideResNet(pyramid, 3, classes, kernel_size=6, depth=1, widen=1)


def photo(file: Path, side: int) -> Tensor:
    """(3, side, side) colors in [-2, 2], of the largest square in the middle of the photo."""
    try:
        image = ImageOps.exif_transpose(Image.open(file)).convert("RGB")
    except UnidentifiedImageError:
        raise ValueError(f"{file} is not a picture that Pillow can read. Remove it.") from None
    except OSError as error:
        raise ValueError(f"{file} can't be read: {error.strerror or error}.") from None
    square = ImageOps.fit(image, (side, side), Image.Resampling.BILINEAR)
    colors = torch.from_numpy(np.array(square, np.float32)).permute(2, 0, 1)
    return colors / 63.75 - 2


def files_of(folder: Path) -> dict[str, list[Path]]:
    """The pictures of each sub-folder, sorted; others are passed over."""
    known = Image.registered_extensions()
    return {
        inner.name: files
        for inner in sorted(filter(Path.is_dir, folder.iterdir()))
        if (files := sorted(file for file in inner.iterdir() if file.suffix.lower() in known))
    }


def photos(files: dict[str, list[Path]], side: int) -> tuple[Tensor, Tensor, Tensor]:
    """(N, 3, side, side) of all classes, (N,) their numbers, (N,) whether to leave a photo out."""
    images = [photo(file, side) for of_class in files.values() for file in of_class]
    counts = torch.tensor([len(of_class) for of_class in files.values()])
    left_out = torch.cat([torch.arange(int(n)) % LEFT_OUT == LEFT_OUT - 1 for n in counts])
    return torch.stack(images), torch.arange(len(counts)).repeat_interleave(counts), left_out


def train(model: WideResNet, images: Tensor, labels: Tensor, steps: int) -> None:
    """By Adam, its rate 0.01 at most."""
    optimizer = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=steps)
    for _ in (bar := trange(steps)):
        some = torch.randint(len(images), (BATCH,))
        loss = nn.functional.nll_loss(model(images[some]), labels[some])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        bar.set_postfix(loss=f"{loss.item():.3f}")


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
    images, labels, left_out = photos(files, arguments.side)
    torch.manual_seed(0)
    model = network(arguments.side, len(files))
    train(model, images[~left_out], labels[~left_out], arguments.steps)
    model.eval()
    if left_out.any():
        right = probabilities(model, images[left_out]).argmax(1) == labels[left_out]
        print(f"{int(right.sum())} of {len(right)} photos that were left out are classified right.")
    saved = {"side": arguments.side, "classes": list(files), "weights": model.state_dict()}
    torch.save(saved, arguments.model)


def opened(file: Path) -> dict[str, Any]:
    """What `train` saved: side, classes and weights."""
    try:
        with file.open("rb") as contents:
            is_archive = zipfile.is_zipfile(contents)
        saved = torch.load(file, weights_only=True) if is_archive else None
    except OSError as error:
        raise ValueError(f"{file} can't be read: {error.strerror}. Give a .pt file.") from None
    except (pickle.UnpicklingError, RuntimeError):
        saved = None
    if not isinstance(saved, dict) or saved.keys() != {"side", "classes", "weights"}:
        raise ValueError(
            f"{file} is not a model that `train` wrote. Give the .pt file of a `train` command."
        )
    return saved


def predict(arguments: argparse.Namespace) -> None:
    """Print the probability of each class, the likeliest first, for each photo."""
    saved = opened(arguments.model)
    model = network(saved["side"], len(saved["classes"]))
    model.load_state_dict(saved["weights"])
    images = torch.stack([photo(file, saved["side"]) for file in arguments.photos])
    for file, row in zip(arguments.photos, probabilities(model.eval(), images), strict=True):
        order = row.argsort(descending=True).tolist()
        print(f"{file}:", ", ".join(f"{saved['classes'][n]} {row[n]:.2f}" for n in order))


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
        raise SystemExit(f"Error: {error}") from error
