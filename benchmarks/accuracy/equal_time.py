"""Networks that may train for the same processor time, and have about as many parameters.

    python benchmarks/accuracy/equal_time.py DATA RESULTS [--seconds 60] [--page FILE]
    python benchmarks/accuracy/equal_time.py MNIST RESULTS --seconds 600 --train 60000 --test 10000
    python benchmarks/accuracy/equal_time.py MNIST RESULTS --turned --train 12000 --test 10000

First the steps of all are timed in turns, in one process with one thread; then each takes as many
as fit into the time, on 28 x 28 pixels. DATA, RESULTS and the page are those of studies.py, and so
is going on after an interruption: the times are kept in RESULTS, so that what the machine does
during the trainings changes no result. `--only` trains some of the networks whose times are known,
such as a few of them with more seeds. With --turned each image is turned once by an angle of its
own before anything else, as those of rotated MNIST are (Larochelle et al. 2007: 12,000 to train
on): "upright" then is as they are. escnn's networks are left out, and said, where escnn is not
installed.
"""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import shared_path  # noqa: F401  to import what all scripts share
from scripts import exit_code
from settings import Settings
from studies import Images, Run, carried_out, every_seed, study_parser
from study_plans import CONTENDERS, TEST, TRAIN
from study_tables import equal_time_table, write_page
from throughput import available, kept_times, of_one_size

SIDE = 28


def lasting(
    settings: Mapping[str, Settings], times: Mapping[str, float], seconds: float
) -> dict[str, Settings]:
    """With as many steps as fit into the seconds, by the milliseconds that each one takes."""
    return {
        name: replace(one, steps=max(1, round(1e3 * seconds / times[name])))
        for name, one in settings.items()
    }


def compare(given: argparse.Namespace) -> None:
    """Time, train, test, print."""
    began, store = time.perf_counter(), given.results / "graphs.zarr"
    asked = {name: CONTENDERS[name] for name in given.only}
    settings = of_one_size(available(asked), store, SIDE)
    times = kept_times(given.results / "milliseconds.json", settings, store, SIDE, channels=1)
    images = Images(given.data, SIDE, given.train, given.test, given.turned)
    runs = {
        (name, seed): Run(images, one, seed, given.results, given.device)
        for seed in range(given.seeds)
        for name, one in lasting(settings, times, given.seconds).items()
    }
    carried_out(list(runs.values()), given.workers)
    scores = {name: every_seed(runs[name, 0]) for name in settings}
    steps = {name: runs[name, 0].settings.steps or 0 for name in settings}
    table = equal_time_table(scores, times, steps)
    print(f"{table}\n\n{time.perf_counter() - began:.0f} s")
    if given.page:
        part = f"equal-time-{given.seconds:g}{'-turned' * given.turned}"
        write_page(given.page, {part: table})


def main(arguments: Sequence[str] | None = None) -> int:
    parser = study_parser(
        __doc__, seconds=60.0, train=TRAIN, test=TEST, only=list(CONTENDERS), turned=False
    )
    return exit_code(partial(compare, parser.parse_args(arguments)))


if __name__ == "__main__":
    sys.exit(main())
