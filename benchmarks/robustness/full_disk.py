"""Commands on disks that are full, or nearly: they work or say so, and removing always works.

A small file system, tmpfs or ext4 in a file, holds a store with three versions and is filled but
for a few kilobytes, drawn from none to more than a build takes. Then one command runs on it. It
must succeed, or say that there is no space and that nothing was changed or published, which must be
true: the same versions and refs, every one as published, and no leftovers. `clg rm` must succeed.

Only root can mount these. Elsewhere nothing is tried, and that is said.

    python benchmarks/robustness/full_disk.py [--rounds 100] [--seed 0]
"""

import argparse
import collections
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tqdm import tqdm

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.store.leftovers import leftovers
from cheblienet_graphs.store.map_facts import Listed, listing
from cheblienet_graphs.store.refs import tag
from cheblienet_graphs.verification.versions import verify

SPEC = GraphSpec("r2", 16)
NAME = SPEC.default_name
MOST_FREE = 64 * 2**10
"""Largest number of bytes that are left free; a build takes about half of it."""
COMMANDS = (
    "build r2 --size 16 --force --quiet",
    "build r2 --size 12 --quiet",
    f"tag {NAME} other",
    f"tag {NAME} paper --delete",
    f"rm {NAME}@v001",
    f"rm {NAME}@latest",
    f"rm {NAME} --keep 1 --force",
)
REFUSED = re.compile(
    r"Error: \S+ can't be written: (No space left on device|[\d,]+ bytes are needed, [\d,]+ are "
    r"free)\. Nothing was (changed|published); free some space or choose another place\.\n"
)


@contextmanager
def disk(kind: str, folder: Path) -> Iterator[Path]:
    """A file system of a few megabytes.

    Raises:
        CalledProcessError: it can't be mounted.
    """
    place, image = folder / "disk", folder / "image"
    place.mkdir()
    if kind == "tmpfs":
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place], check=True)
    else:
        image.write_bytes(bytes(4 * 2**20))
        subprocess.run(["mkfs.ext4", "-q", "-m", "0", image], check=True)
        subprocess.run(["mount", "-o", "loop", image, place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


def fill(place: Path, free: int) -> None:
    """Leave about so many bytes of a file system, or none."""
    for size in (2**16, 2**12, 1):
        with suppress(OSError), (place / f"full{size}").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(size))
    if free:
        os.truncate(place / f"full{2**16}", (place / f"full{2**16}").stat().st_size - free)


def state(store: Path) -> list[Listed]:
    """All versions and refs; each version must be as published."""
    assert verify(store) == []
    assert leftovers(store) == []
    return listing(store)


def run(rounds: int, seed: int = 0) -> collections.Counter[str]:
    """Outcomes by command."""
    chance, outcomes = random.Random(seed), collections.Counter[str]()
    for number in tqdm(range(rounds)):
        command = chance.choice(COMMANDS)
        free = chance.choice([0, chance.randrange(MOST_FREE)])
        kind = ("tmpfs", "ext4")[number % 2]
        with tempfile.TemporaryDirectory() as folder, disk(kind, Path(folder)) as place:
            store = place / "g.zarr"
            for _ in range(3):
                build(SPEC, store, force=True)
            tag(store, f"{NAME}@v002", "paper")
            fill(place, free)
            before = state(store)
            line = [sys.executable, "-m", "cheblienet_cli", *command.split(), "--store", str(store)]
            done = subprocess.run(line, capture_output=True, text=True, check=False)
            after, where = state(store), f"{kind}, {free} bytes free, {command}: {done.stderr}"
            if done.returncode:
                assert REFUSED.fullmatch(done.stderr), where
                assert after == before, where
                assert not command.startswith("rm"), where
            else:
                assert after != before, where
        outcomes[f"{command.split()[0]} {'refused' if done.returncode else 'done'}"] += 1
    return outcomes


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if os.geteuid():
        print("Nothing was tried: only root can mount a small disk.")
    else:
        outcomes = run(**vars(arguments))
        for outcome, count in sorted(outcomes.items()):
            print(f"{outcome}: {count}")
