"""The paper's headline on photographs: what anisotropy is worth, and what the best networks do.

    python benchmarks/accuracy/natural.py CIFAR RESULTS [--only anisotropy ...] [--page FILE]
    python benchmarks/accuracy/natural.py CIFAR RESULTS --only contenders --train 10000 --epochs 4
    python benchmarks/accuracy/natural.py CIFAR RESULTS --only contenders --seconds 60

CIFAR is CIFAR-10, in binary or as a folder of pictures for each class; RESULTS, the page, and going
on after an interruption are those of studies.py. Networks have about as many parameters as the one
on SE(2), but for those of "size", twice as deep and wide, and of "reference", of the depth, width
and 1.26 million parameters of the paper's code. With
--seconds each of the contenders takes as many steps as fit into so much processor time: steps of
all are timed in turns first. Images are seen as they are, without augmentation, unless a row says
so. On a GPU several workers have more than one, as small networks leave most of it idle:

    python benchmarks/accuracy/natural.py CIFAR RESULTS --only reference --device cuda --workers 4
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import shared_path  # noqa: F401  to import what all scripts share
from equal_time import lasting
from scripts import exit_code
from settings import Settings
from studies import Images, study, study_parser
from study_plans import ALONG, NORMS, STUDIES, Study
from throughput import available, kept_times, of_one_size

SIDE, CHANNELS = 32, 3
EVERY_COLUMN = "upright", "90 degrees", "any angle", "flipped"
ANISOTROPIC = Settings(eps_squared=0.2)
"""At the best eps of the paper."""
PLANE = Settings(manifold="r2", neighbors=8)
PAPER = replace(ANISOTROPIC, batch=16, rate=1e-3, schedule="constant")
DIRECTIONAL = Settings(
    weights="selling", directional=0.05, operators="directional", lift="cake", scales=2
)
FIRST_ORDER = replace(ALONG, steps=None)


def larger(widen: float) -> dict[str, Settings]:
    """Of the depth of the paper's code and of a width."""
    pair = {"plane": PLANE, "SE(2)": ANISOTROPIC}
    return {name: replace(one, depth=2, widen=widen) for name, one in pair.items()}


LARGER = "size", "reference"
PLANS = {
    "setup": Study(
        "Set-ups",
        "training",
        {
            "batch 32, one cycle up to 1e-2, maxima": ANISOTROPIC,
            "batch 16, 1e-3": PAPER,
            "batch 16, 1e-3, random pooling": replace(PAPER, pool="random"),
            "the same, its first weights": replace(PAPER, pool="random", initial="paper"),
        },
        source="the code of the paper",
    ),
    "anisotropy": replace(
        STUDIES["anisotropy"],
        variants={
            **{f"{eps:g}": replace(ANISOTROPIC, eps_squared=eps) for eps in (0.1, 0.2, 0.5, 1.0)},
            "plane": PLANE,
        },
    ),
    "orientations": replace(
        STUDIES["orientations"],
        variants={f"{alpha:g}": replace(ANISOTROPIC, alpha=alpha) for alpha in (0.5, 1.0, 2.0)},
    ),
    "contenders": Study(
        "All contenders",
        "network",
        {
            "plain": Settings(network="plain"),
            "plain, rotated images": Settings(network="plain", augment="rotations"),
            "escnn, C8": Settings(network="escnn", group="C8"),
            "plane": PLANE,
            "plane, first-order": replace(NORMS, steps=None),
            "plane, first-order, low-pass": replace(NORMS, steps=None, low_pass=1),
            "plane, first-order, low-pass at first": replace(NORMS, steps=None, initial="low-pass"),
            "SE(2)": ANISOTROPIC,
            "SE(2), directional": DIRECTIONAL,
            "SE(2), first-order": FIRST_ORDER,
            "SE(2), oriented head": replace(ANISOTROPIC, head="oriented"),
            "SE(2), first-order, oriented head": replace(FIRST_ORDER, head="oriented"),
            "SE(2), first-order, oriented head, from level 1": replace(
                FIRST_ORDER, head="oriented", first_level=1
            ),
        },
        shown=EVERY_COLUMN,
    ),
    "size": Study("Larger networks", "network", larger(2.0), shown=EVERY_COLUMN),
    "reference": Study("Networks of the paper's size", "network", larger(4.0), shown=EVERY_COLUMN),
}


def sized(given: argparse.Namespace) -> dict[str, Study]:
    """The studies that were asked for, of networks of one size that train as long as was asked."""
    store, studies = given.results / "graphs.zarr", {}
    for name in given.only:
        one = PLANS[name]
        variants = available(one.variants)
        if name not in LARGER:
            variants = of_one_size(variants, store, SIDE, CHANNELS)
        if given.seconds:
            times = kept_times(given.results / "milliseconds.json", variants, store, SIDE, CHANNELS)
            variants = lasting(variants, times, given.seconds)
        else:
            variants = {key: replace(of, epochs=given.epochs) for key, of in variants.items()}
        studies[name] = replace(one, variants=variants)
    return studies


def compare(given: argparse.Namespace) -> None:
    """Train, test, print."""
    study(given, sized(given), Images(given.data, SIDE, given.train, given.test))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = study_parser(
        __doc__, only=list(PLANS), seeds=2, epochs=10, seconds=0.0, train=20_000, test=8000
    )
    return exit_code(partial(compare, parser.parse_args(arguments)))


if __name__ == "__main__":
    sys.exit(main())
