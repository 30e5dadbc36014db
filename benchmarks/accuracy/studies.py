"""The paper's studies on digits: anisotropy, sampled graphs, pooling, weights, lifts, equal time.

    python benchmarks/accuracy/studies.py DATA RESULTS [--only anisotropy edges ...] [--page FILE]
    python benchmarks/accuracy/studies.py DATA RESULTS --only edges --side 28 --train 60000
        --test 10000 --levels 1 --epochs 1

DATA is MNIST's test digits, or any other that classify.py reads; RESULTS a folder with a file for
each run that is done. The same command goes on after the last epoch before an interruption. Runs
are spread over processes of one thread each. Tables go to the page between its markers, and to the
terminal; figures beside it (extra `plot`).

Every study varies one thing about one network and recipe, see study_plans.py: 8,000 digits to train
on and 2,000 to test, split by the seed, resized to 20 x 20 pixels, 500 steps of 32. The second
command has digits and graphs as the paper's sub-graphs had: all of MNIST, of one level.
"""

import argparse
import itertools
import json
import multiprocessing
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import shared_path  # noqa: F401  to import what all scripts share
import torch
from classifiers import pyramid_of
from classifying import Classification, Samples
from pictures import Pictures, read
from rotations import turned
from scripts import exit_code, parser_of, positive
from settings import Settings
from study_plans import SIDE, STUDIES, TEST, TRAIN, Study
from study_tables import Runs, draw, gaps, invariance, table, write_page
from throughput import BATCH, kept_times
from tqdm import tqdm
from training import SECONDS, Checkpoint, Scores, trained

from cheblienet_models import Pyramid

TURNS = 2**31
"""Seed of the angles by which images are turned once; no run's own."""


@dataclass(frozen=True)
class Images:
    """What all networks of the studies see.

    Args:
        path: of the files.
        side: pixels they are resized to.
        train: how many to train on.
        test: and to test on.
        turned: whether each is turned once by an angle of its own, as those of rotated MNIST are.
    """

    path: Path
    side: int
    train: int
    test: int
    turned: bool = False

    def seen(self, settings: Settings) -> int:
        """How many a training sees, each as often as it does."""
        return settings.steps * settings.batch if settings.steps else settings.epochs * self.train

    def samples(self, seed: int) -> Samples:
        """Of a seed's split."""
        samples = Samples.of(pictures_of(self.path, self.side), seed, self.train, self.test)
        if not self.turned:
            return samples
        return replace(samples, images=turned(samples.images, TURNS))


@dataclass(frozen=True)
class Run:
    """One training of the studies.

    Args:
        images: that it is on.
        settings: of the network and its training.
        seed: of the split, the weights and the order.
        results: the folder of the runs that are done.
        device: it is trained on.
    """

    images: Images
    settings: Settings
    seed: int
    results: Path
    device: str = "cpu"

    @property
    def file(self) -> Path:
        """Of its scores."""
        images = self.images
        sizes = f"{images.side}-{images.train}-{images.test}{'-turned' * images.turned}"
        return self.results / f"{self.settings.digest}-{sizes}-{self.seed}.json"

    def pyramid(self) -> Pyramid | None:
        """The graphs, built where they are not yet."""
        side = self.images.side
        return pyramid_of(self.settings, self.results / "graphs.zarr", side, side)

    def go(self) -> None:
        """Train, from where an interruption left it; test and keep the scores."""
        torch.set_num_threads(1)
        samples, pyramid = self.images.samples(self.seed), self.pyramid()
        candidate = Classification(self.settings, samples, pyramid, self.seed, self.device)
        checkpoint = Checkpoint(self.file.with_suffix(".pt"))
        (scores,), _ = trained([candidate], candidate.epochs, checkpoint, silent=True)
        if self.device != "cpu":
            del scores[SECONDS]  # those of the processor that drives another
        self._keep(scores)
        self.file.with_suffix(".pt").unlink(missing_ok=True)

    def scores(self) -> Scores:
        """Of the run, which is done."""
        scores: Scores = json.loads(self.file.read_text())["scores"]
        return scores

    def _keep(self, scores: Scores) -> None:
        part = self.file.with_suffix(".part")
        images = {name: value for name, value in asdict(self.images).items() if name != "path"}
        document = {"settings": asdict(self.settings), "seed": self.seed, **images}
        part.write_text(json.dumps({**document, "scores": scores}, indent=1))
        part.replace(self.file)


def every_seed(first: Run) -> list[Scores]:
    """Scores of a run and of those of the next seeds, as far as they are done."""
    seeds = (replace(first, seed=seed) for seed in itertools.count(first.seed))
    return [run.scores() for run in itertools.takewhile(lambda run: run.file.exists(), seeds)]


@cache
def pictures_of(data: Path, side: int) -> Pictures:
    """Read once in each process."""
    return read(data, side)


def go(run: Run) -> str:
    """What a process of the pool does; returns the run's file."""
    run.go()
    return str(run.file)


def carried_out(runs: Sequence[Run], workers: int) -> None:
    """Do what is not done yet, each run in a process with one thread; seeds come first to last."""
    missing = [run for run in dict.fromkeys(runs) if not run.file.exists()]
    # Here, as two processes would build the same graph twice.
    for run in {(run.settings, run.images.side): run for run in missing}.values():
        run.pyramid()
    context = multiprocessing.get_context("spawn")
    with (
        tqdm(total=len(missing), unit="run", disable=None) as bar,
        ProcessPoolExecutor(workers, mp_context=context) as pool,
    ):
        for done in as_completed([pool.submit(go, run) for run in missing]):
            done.result()
            bar.update()


def lone_seconds(study: Study, runs: Runs, images: Images, results: Path) -> dict[str, float]:
    """Processor time of variants that were trained on a GPU alone: by steps timed in turns, here.

    Those whose steps are of other batches, or of parts of graphs, are left out.
    """
    untimed = {
        variant: of
        for variant, of in study.variants.items()
        if of.batch == BATCH and of.kappa_edges == of.kappa_vertices == 1
        if not any(SECONDS in scores for scores in runs[variant])
    }
    if not untimed:
        return {}
    known = {of.digest: of for of in untimed.values()}
    file = results / f"milliseconds-{images.side}-{'-'.join(known)}.json"
    channels = images.samples(0).images.shape[1]
    times = kept_times(file, known, results / "graphs.zarr", images.side, channels)
    return {v: times[of.digest] / 1e3 * images.seen(of) / BATCH for v, of in untimed.items()}


def study(given: argparse.Namespace, studies: Mapping[str, Study], images: Images) -> None:
    """Do what is missing, seeds first; write tables and figures, of more seeds where they are."""
    runs = {
        (name, variant, seed): Run(images, settings, seed, given.results, given.device)
        for seed in range(given.seeds)
        for name in given.only
        for variant, settings in studies[name].variants.items()
    }
    began = time.perf_counter()
    carried_out(list(runs.values()), given.workers)
    parts, all_found = {}, []
    for name in given.only:
        one = studies[name]
        scores = {variant: every_seed(runs[name, variant, 0]) for variant in one.variants}
        all_found.append(scores)
        parts[name] = table(one, scores, lone_seconds(one, scores, images, given.results))
        print(f"\n{one.title}\n\n{parts[name]}\n\n{gaps(scores)}")
        if given.page and one.drawn:
            draw(one, scores, given.page.with_name(f"{given.page.stem}-{name}.svg"))
    if given.page:
        write_page(given.page, parts)
    print(f"\n{invariance(all_found)}\n\n{time.perf_counter() - began:.0f} s")


def results_folder(text: str) -> Path:
    """Made where it is not there."""
    Path(text).mkdir(parents=True, exist_ok=True)
    return Path(text)


def study_parser(documentation: str, **options: Any) -> argparse.ArgumentParser:
    """Of a script whose runs are kept; more options as of `parser_of`."""
    parser = parser_of(documentation, **{"seeds": 3, "workers": 2, **options})
    parser.add_argument("data", type=Path)
    parser.add_argument("results", type=results_folder)
    parser.add_argument("--page", type=Path, help="Markdown file with markers for the tables")
    parser.add_argument("--device", default="cpu", help="that networks are trained on")
    return parser


def asked(given: argparse.Namespace) -> dict[str, Study]:
    """The studies that were asked for, of so many levels and epochs."""
    long: dict[str, Any] = {"epochs": given.epochs, "steps": None} if given.epochs else {}
    return {
        name: replace(
            STUDIES[name],
            variants={
                variant: replace(settings, levels=given.levels, **long)
                for variant, settings in STUDIES[name].variants.items()
            },
        )
        for name in given.only
    }


def main(arguments: Sequence[str] | None = None) -> int:
    sizes = {"side": SIDE, "train": TRAIN, "test": TEST, "levels": Settings.levels}
    parser = study_parser(__doc__, only=list(STUDIES), **sizes)
    parser.add_argument("--epochs", type=positive, help="instead of 500 steps")
    given = parser.parse_args(arguments)
    images = Images(given.data, given.side, given.train, given.test)
    return exit_code(partial(study, given, asked(given), images))


if __name__ == "__main__":
    sys.exit(main())
