"""Training steps a second: graph networks beside a plain one, escnn's, and PyG's layer, in one run.

    python benchmarks/accuracy/throughput.py [--rounds 5] [--device cpu]

All have about as many parameters. "PyG" is our network with PyG's ChebConv in place of ours, on the
same graphs and with the same weights (needs `pip install torch_geometric`); escnn's needs `pip
install escnn`. What is not installed is left out, and said. Networks take turns; a step is forward,
backward and Adam's on 32 images of 28 x 28. Times are processor time, all threads together; on a
GPU they are by the clock.
"""

import json
import os
import statistics
import time
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

import shared_path  # noqa: F401  to import what all scripts share
import torch
from classifiers import network_of, parameters, pyramid_of
from layers import PYG, with_pyg
from networks import accept_matrices
from rotations import augmented
from scripts import parser_of, print_head, print_row, temporary_store
from settings import Settings
from study_plans import CONTENDERS
from torch import Tensor, nn
from turns import in_turns, installed, ratio

SIDE, BATCH, CLASSES, STEPS = 28, 32, 10, 3


def milliseconds(
    networks: Mapping[str, nn.Module],
    rounds: int,
    side: int = SIDE,
    device: str = "cpu",
    channels: int = 1,
) -> dict[str, list[float]]:
    """Of a training step of each, in each of the rounds.

    Args:
        networks: by name, for images (B, channels, side, side).
        rounds: in each of which every network takes a turn of STEPS steps.
        side: in pixels.
        device: where they are.
        channels: of the images.
    """
    torch.manual_seed(0)
    images = torch.randn(BATCH, channels, side, side, device=device)
    labels = torch.randint(CLASSES, (BATCH,), device=device)
    steps = {name: _steps(network, images, labels) for name, network in networks.items()}
    clock = time.process_time if device == "cpu" else time.perf_counter
    took = in_turns(steps, rounds, device, clock, warm=True)
    return {name: [1e3 * seconds / STEPS for seconds in times] for name, times in took.items()}


def timed(
    settings: Mapping[str, Settings], store: Path, rounds: int, side: int, channels: int
) -> dict[str, float]:
    """Milliseconds of a step of each, the least of rounds in which they take turns.

    What other processes take from a shared machine is the least in the best round.
    """
    torch.set_num_threads(1)
    networks = {
        name: network_of(one, pyramid_of(one, store, side, side), channels, 10)
        for name, one in settings.items()
    }
    for name, one in settings.items():  # turned as in a training
        turned = partial(lambda augment, _, given: augmented(given[0], augment), one.augment)
        networks[name].register_forward_pre_hook(turned)
    took = milliseconds(networks, rounds, side, channels=channels)
    return {name: min(times) for name, times in took.items()}


def kept_times(
    file: Path, settings: Mapping[str, Settings], store: Path, side: int, channels: int
) -> dict[str, float]:
    """Those that an earlier command has measured, else new ones: so steps stay the same.

    Args:
        file: of the times, milliseconds of a step by name.
        settings: of the networks, by name.
        store: of their graphs.
        side: of the images, in pixels.
        channels: of the images.
    """
    if not file.exists():
        part = file.with_suffix(".part")
        part.write_text(json.dumps(timed(settings, store, 15, side, channels), indent=1))
        part.replace(file)
    times: dict[str, float] = json.loads(file.read_text())
    if missing := set(settings) - set(times):
        raise ValueError(
            f"{file} lacks times of {', '.join(sorted(missing))}. Networks are timed together: "
            "remove it, and begin with all of them."
        )
    return times


def _steps(network: nn.Module, images: Tensor, labels: Tensor) -> Callable[[], None]:
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)

    def steps() -> None:
        for _ in range(STEPS):
            optimizer.zero_grad()
            nn.functional.nll_loss(network(images), labels).backward()
            optimizer.step()

    return steps


def networks(store: Path, device: str) -> dict[str, nn.Module]:
    """All that can be made here, by name, with about as many parameters as the one on SE(2)."""
    made: dict[str, nn.Module] = {}
    with_pygs = {Settings(), Settings(manifold="r2")} if installed(*PYG) else set()
    for name, settings in of_one_size(available(CONTENDERS), store, SIDE).items():
        if settings.augment != "none":
            continue
        pyramid = pyramid_of(settings, store, SIDE, SIDE)
        made[name] = network_of(settings, pyramid, 1, CLASSES).to(device)
        if settings in with_pygs:
            made[f"{name}, with PyG's layer"] = with_pyg(
                network_of(settings, pyramid, 1, CLASSES).to(device)
            )
    return made


def available(contenders: Mapping[str, Settings]) -> dict[str, Settings]:
    """Those whose packages are here; what is left out is said."""
    if find_spec("escnn"):
        accept_matrices()  # before it is imported for the first time
    return {
        name: settings
        for name, settings in contenders.items()
        if settings.network != "escnn" or installed("escnn", "pip install escnn")
    }


def of_one_size(
    contenders: Mapping[str, Settings], store: Path, side: int, channels: int = 1
) -> dict[str, Settings]:
    """Of widths that give about as many parameters as the network on SE(2) has.

    Those on graphs have multiples of 4 channels: products with 11 take five times as long.
    """
    target = _parameters(Settings(), store, side, channels)
    widened = {}
    for name, settings in contenders.items():
        step = 4 if settings.network == "graph" else 1
        widths = [replace(settings, widen=n / 16) for n in range(4, 33, step)]
        count = cache(partial(_parameters, store=store, side=side, channels=channels))
        above = min(bisect_left(widths, target, key=count), len(widths) - 1)
        near = widths[max(0, above - 1) : above + 1]
        widened[name] = min(near, key=lambda one: abs(count(one) - target))
    return widened


def _parameters(settings: Settings, store: Path, side: int, channels: int) -> int:
    pyramid = pyramid_of(settings, store, side, side)
    return parameters(network_of(settings, pyramid, channels, CLASSES))


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser_of(__doc__, rounds=5, threads=os.cpu_count(), device="cpu")
    given = options.parse_args(arguments)
    torch.set_num_threads(given.threads)
    made = networks(temporary_store(), given.device)
    took = milliseconds(made, given.rounds, device=given.device)
    first = next(iter(took.values()))
    times = "ms a step", "least, most", "images a second", "over the first"
    print_head("network", "parameters", *times)
    for name, one in took.items():
        middle, spread = statistics.median(one), f"{min(one):.0f}, {max(one):.0f}"
        cells = f"{middle:.0f}", spread, f"{1e3 * BATCH / middle:,.0f}", f"{ratio(one, first):.1f}"
        print_row(name, f"{parameters(made[name]):,}", *cells)


if __name__ == "__main__":
    main()
