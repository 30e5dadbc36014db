"""Train a small U-Net with directional Laplacians to trace vessels, in minutes.

It is trained on square patches of the photographs, and applied to a whole one: on another graph of
the same specification, whose neighborhoods are the same in pixels, the weights are the same
functions. The network is equivariant: a turned photograph gives the turned map.

    python examples/train_vessels.py "chase/*.jpg" "chase/*_1stHO.png" MAP.png [--steps 400]

Both patterns, sorted, must give the photographs and their traces in one order; the last photograph
is left out of the training, and is what the map is of: its green channel, its trace, and the map.
Pictures are read and written by Pillow: pip install '.[images]' in a clone.
"""

import argparse
import glob
import tempfile
from pathlib import Path

import numpy as np
import torch
from arguments import new_picture, positive, printable
from images import Image, read_picture
from torch import Tensor, nn
from tqdm import trange

from cheblienet_graphs import CheblienetError, GraphSpec, open_or_build
from cheblienet_models import Pyramid, StoreError, UNet, load_weights

PATCH = 64
BATCH = 4


def pyramid(width: int, height: int, store: Path) -> Pyramid:
    """Three levels of SE(2) with forward, sideways and rotational Laplacians."""
    spec = GraphSpec(
        "se2", (width, height), orientations=6, weights="selling", directional=0.05, levels=3
    )
    return open_or_build(spec, store)


def network(graphs: Pyramid) -> UNet:
    """Log-probabilities of no vessel and vessel at each pixel."""
    return UNet(graphs, 1, 2, channels=(8, 8, 16, 32), operators="directional")


def pair(photograph: str, trace: str, side: int) -> tuple[Tensor, Tensor]:
    """(H, W) green of mean 0 and deviation 1, and (H, W) vessels, 0 and 1; sides multiples of 4."""
    image, traced = read_picture(Path(photograph), "RGB"), read_picture(Path(trace), "L")
    size = (round(image.width * side / image.height) // 4 * 4, side // 4 * 4)
    if min(size) < PATCH:
        raise ValueError(
            f"{photograph} would be {size[0]} x {size[1]} pixels; give a larger --side."
        )
    box = Image.Resampling.BOX
    green = torch.from_numpy(np.asarray(image.resize(size, box), np.float32)[..., 1])
    vessels = torch.from_numpy(np.asarray(traced.resize(size, box)) > 127)
    return (green - green.mean()) / green.std(), vessels.long()


def patches(pairs: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    """(BATCH, 1, PATCH, PATCH) green and (BATCH, PATCH, PATCH) vessels, from anywhere."""
    cuts = []
    for number in torch.randint(len(pairs), (BATCH,)).tolist():
        both = torch.stack([pairs[number][0], pairs[number][1].float()])
        top, left = (int(torch.randint(n - PATCH + 1, ())) for n in both.shape[1:])
        cuts.append(both[:, top : top + PATCH, left : left + PATCH])
    greens, vessels = torch.stack(cuts).unbind(1)
    return greens[:, None], vessels.long()


def trained(pairs: list[tuple[Tensor, Tensor]], graphs: Pyramid, steps: int) -> UNet:
    """A network trained by Adam, its rate 0.01 at most."""
    unet = network(graphs)
    optimizer = torch.optim.Adam(unet.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=steps)
    for _ in (bar := trange(steps)):
        greens, vessels = patches(pairs)
        loss = nn.functional.nll_loss(unet(greens), vessels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        bar.set_postfix(loss=f"{loss.item():.3f}")
    return unet


def main() -> None:
    """Train on all photographs but the last, and write the map of that one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("photographs", help="pattern of their files, in quotes")
    parser.add_argument("traces", help="pattern of the files of their traces, white on black")
    parser.add_argument("map", type=new_picture, help="to write: green, the trace and the map")
    parser.add_argument("--steps", type=positive, default=400, help="of training [%(default)s]")
    parser.add_argument(
        "--side",
        type=int,
        default=160,
        help="height in pixels that they are reduced to [%(default)s]",
    )
    arguments = parser.parse_args()
    patterns = arguments.photographs, arguments.traces
    photographs, traces = (sorted(glob.glob(p)) for p in patterns)  # noqa: PTH207  absolute ones, too
    if len(photographs) != len(traces) or len(photographs) < 2:
        raise SystemExit(
            f"Found {len(photographs)} photographs, {len(traces)} traces. Give as many of each, "
            "2 or more."
        )
    if arguments.side < PATCH:
        raise SystemExit(f"--side must be at least {PATCH}, as patches are. Got {arguments.side}.")
    torch.manual_seed(0)
    both = zip(photographs, traces, strict=True)
    *train, (green, vessels) = [pair(*files, arguments.side) for files in both]
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "graphs.zarr"
        weights = trained(train, pyramid(PATCH, PATCH, store), arguments.steps).state_dict()
        whole = network(pyramid(green.shape[1], green.shape[0], store)).eval()
        load_weights(whole, weights, allow_other_graph=True)
        with torch.no_grad():
            probability = whole(green[None, None])[0, 1].exp()
    shown = np.hstack([((green + 3) / 6).clamp(0, 1), vessels, probability])
    Image.fromarray(np.uint8(np.rint(255 * shown))).save(arguments.map)


if __name__ == "__main__":
    try:
        main()
    except (CheblienetError, StoreError, OSError, ValueError) as error:
        raise SystemExit(f"Error: {printable(error)}") from error
