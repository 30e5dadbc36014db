"""Train an image classifier on files that you have, and test it on turned and flipped images.

    python benchmarks/accuracy/classify.py DATA [--recipe mnist | --isotropic | --network plain] ...

DATA is one of

- a folder with IDX files as MNIST has them, gzipped or not, or one of images beside its labels;
- a folder of CIFAR-10's, CIFAR-100's or STL-10's binary files;
- a folder with a folder of pictures for each class, perhaps in train/ and test/;
- an .npz with images (N, H, W) or (N, H, W, C) and labels (N,), or the same of each part: x_train,
  y_train, x_test, y_test.

The network is the paper's wide residual network on SE(2), with --isotropic on the plane; --network
plain or escnn is one of that form without a graph. Of each seed it prints accuracy on the test
images upright, turned by 90 degrees without resampling, turned by any angle, and flipped; then mean
and deviation. Without a split in the files a seed draws one: --train and --test images, else four
fifths and one. With --checkpoint the same command goes on after the last epoch that was finished.

A training of your own needs none of this: see the tutorial, docs/tutorials/classify.md.
"""

import argparse
import dataclasses
import inspect
import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import shared_path  # noqa: F401  to import what all scripts share
import torch
from classifiers import of_recipe, pyramid_of
from classifying import CHANGE, COLUMNS, Classification, Samples
from pictures import Pictures, read
from scripts import exit_code, head, positive, row, temporary_store
from settings import Settings
from training import SECONDS, Checkpoint, Scores, means_and_deviations, trained
from turns import machine


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_code(partial(classify, parsed(arguments)))


def classify(given: argparse.Namespace) -> None:
    """Read, train, test, report."""
    settings = chosen(given)
    pictures = read(given.path, given.size)
    height, width = pictures.images.shape[2:]
    pyramid = pyramid_of(settings, given.store or temporary_store(), height, width)
    counts = given.train, given.test
    candidates = [
        Classification(settings, Samples.of(pictures, seed, *counts), pyramid, seed, given.device)
        for seed in range(given.first_seed, given.first_seed + given.seeds)
    ]
    checkpoint = Checkpoint(given.checkpoint, kept(settings, pictures, given))
    scores, _ = trained(candidates, candidates[0].epochs, checkpoint)
    print(table(candidates, scores))
    if given.json:
        given.json.write_text(json.dumps(document(candidates, scores), indent=1) + "\n")


def kept(settings: Settings, pictures: Pictures, given: argparse.Namespace) -> dict[str, str]:
    """What has to agree for a checkpoint to be gone on from."""
    asked = {name: str(value) for name, value in dataclasses.asdict(settings).items()}
    data = {"data": f"of digest {pictures.digest[:12]}"}
    return asked | data | {n: str(getattr(given, n)) for n in ("first_seed", "train", "test")}


def table(candidates: Sequence[Classification], scores: Sequence[Scores]) -> str:
    """A row a seed, and one of means and deviations.

    Args:
        candidates: of one network, one a seed.
        scores: of each, in the same order.
    """
    first = candidates[0]
    train, test = len(first.samples.train), len(first.samples.test)
    lines = [
        f"Accuracy in % on {test:,} test images, {train:,} to train on",
        f"{first.steps:,} steps, {scores[0]['parameters']:,} parameters\n",
        head("seed", *COLUMNS, CHANGE, SECONDS),
    ]
    for candidate, one in zip(candidates, scores, strict=True):
        cells = [f"{one[name]:.2f}" for name in COLUMNS]
        lines.append(row(candidate.seed, *cells, f"{one[CHANGE]:.1e}", f"{one[SECONDS]:.0f}"))
    cells = means_and_deviations(scores, COLUMNS, ".2f")
    change = max(one[CHANGE] for one in scores)
    seconds = means_and_deviations(scores, [SECONDS], ".0f")
    return "\n".join([*lines, row("all", *cells, f"{change:.1e}", *seconds)])


def document(candidates: Sequence[Classification], scores: Sequence[Scores]) -> dict[str, Any]:
    """Settings and scores of each seed, and what they were measured with."""
    first = candidates[0]
    settings = dataclasses.asdict(first.settings)
    sizes = {"train": len(first.samples.train), "test": len(first.samples.test)}
    rows = [
        {**settings, "seed": candidate.seed, "steps": candidate.steps, **one}
        for candidate, one in zip(candidates, scores, strict=True)
    ]
    return {"machine": machine(first.device, ["torch"]), **sizes, "runs": rows}


def chosen(given: argparse.Namespace) -> Settings:
    """Those of the recipe, over which go those that were given."""
    names = {field.name for field in dataclasses.fields(Settings)}
    settings = of_recipe(given.recipe) if given.recipe else {}
    settings |= {name: value for name, value in vars(given).items() if name in names}
    return Settings(**settings | ({"manifold": "r2"} if given.isotropic else {}))


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    form = argparse.RawDescriptionHelpFormatter
    more = inspect.getdoc(Settings)
    parser = argparse.ArgumentParser(description=__doc__, epilog=more, formatter_class=form)
    parser.add_argument("path", type=Path, metavar="DATA")
    parser.add_argument("--recipe", help="mnist, cifar10, stl10, or one with -isotropic: its graph")
    parser.add_argument("--isotropic", action="store_true", help="as --manifold r2")
    hints = get_type_hints(Settings)
    for field in dataclasses.fields(Settings):
        kind: Any = {"default": argparse.SUPPRESS, "help": str(field.default)}
        hint = hints[field.name]
        if get_origin(hint) is Literal:
            kind["choices"] = get_args(hint)
        else:
            kind["type"] = next(t for t in (*get_args(hint), hint) if t in {int, float, str})
        parser.add_argument(f"--{field.name.replace('_', '-')}", **kind)
    parser.add_argument("--size", type=positive, help="resize images to this side")
    parser.add_argument("--train", type=positive, help="images to train on")
    parser.add_argument("--test", type=positive, help="images to test on")
    parser.add_argument("--seeds", type=positive, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--store", type=Path, help="for the graphs; default: a temporary one")
    parser.add_argument("--checkpoint", type=Path, help="to go on from after an interruption")
    parser.add_argument("--json", type=Path, help="a row a seed, and what it was measured with")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
