"""The classifier of examples/photos.py, trained on pictures of mixed sizes as a user would.

FOLDER has a sub-folder of pictures for each class, such as CIFAR-10 as JPEG. The first pictures of
the first classes are enlarged to five sizes in turn, square, wide and tall: cropped, not stretched.
examples/photos.py trains on these with its defaults.

    python benchmarks/accuracy/photos.py FOLDER [--classes 5] [--photos 300]
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import shared_path  # noqa: F401  to import what all scripts share
from PIL import Image, ImageOps
from record import processor_seconds
from scripts import exit_code, parser_of, print_head, print_row

SCRIPT = Path(__file__).resolve().parents[2] / "examples/photos.py"
SIZES = ((64, 64), (96, 72), (72, 96), (160, 120), (120, 160))
"""Width and height in pixels."""
PRINTED = re.compile(r"(\d+) of (\d+) photos that were left out are classified right\.\n")


def mixed_sizes(folder: Path, classes: int, photos: int, target: Path) -> None:
    """Write the first pictures of the first classes, each in the next of the sizes.

    Raises:
        ValueError: there are fewer.
    """
    for inner in sorted(filter(Path.is_dir, folder.iterdir()))[:classes]:
        (target / inner.name).mkdir(parents=True)
        for number, file in enumerate(sorted(inner.iterdir())[:photos]):
            picture = ImageOps.fit(Image.open(file).convert("RGB"), SIZES[number % len(SIZES)])
            picture.save(target / inner.name / f"{number:04}.jpg", quality=90)
    found = len(list(target.glob("*/*.jpg")))
    if found != classes * photos:
        raise ValueError(
            f"{folder} must have {photos} pictures of each of {classes} classes. Found {found}."
        )


def trained(folder: Path, model: Path) -> tuple[int, int]:
    """How many of the photos left out were classified right, and how many these are."""
    command = [sys.executable, str(SCRIPT), "train", str(folder), str(model)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    printed = PRINTED.fullmatch(done.stdout)
    if done.returncode or printed is None:
        raise ValueError(done.stderr.strip().splitlines()[-1])
    return int(printed[1]), int(printed[2])


def trial(folder: Path, classes: int, photos: int) -> None:
    """Train, and print the accuracy on the photos left out."""
    with tempfile.TemporaryDirectory() as work:
        mixed_sizes(folder, classes, photos, Path(work, "photos"))
        before = processor_seconds()
        right, left_out = trained(Path(work, "photos"), Path(work, "model.pt"))
    print_head("classes", "photos", "left out", "classified right", "in %", "s of processors")
    share, seconds = f"{100 * right / left_out:.1f}", f"{processor_seconds() - before:.0f}"
    print_row(classes, f"{classes * photos:,}", left_out, right, share, seconds)


def main() -> int:
    parser = parser_of(__doc__, classes=5, photos=300)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    return exit_code(lambda: trial(arguments.folder, arguments.classes, arguments.photos))


if __name__ == "__main__":
    sys.exit(main())
