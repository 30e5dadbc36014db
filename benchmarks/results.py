"""Results of benchmarks as data, and the pages that take their numbers from there.

Each result is a file `results/NAME.json`: a command, when and on what it ran, and its output with
tables by columns and rows. Pages show results in two ways:

- a block between `<!-- NAME -->` and `<!-- /NAME -->` is the whole output;
- a number before `<!-- NAME; CELL; ...; COLUMN -->` is the number in that column of the first table
  row that has all these cells: `440<!-- search; 5 x 6; ratio -->`. It is written with as many
  decimals as the page has, without a sign where the page has none. `COLUMN #2` is the second number
  of the cell, `COLUMN *100` is in percent.

`python benchmarks/results.py` writes both anew; with `--check` it fails where a page differs.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "benchmarks/results"
BLOCK = re.compile(r"^<!-- ([a-z0-9-]+) -->\n((?s:.*?))^<!-- /\1 -->$", re.MULTILINE)
MARK = re.compile(
    r"(?P<number>-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?|-?\.\d+)<!-- (?P<mark>[^;>]+;[^>]+?) -->"
)
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


@dataclass(frozen=True)
class Table:
    """A table of an output.

    Args:
        columns: their titles.
        rows: cells, as they were printed.
    """

    columns: list[str]
    rows: list[list[str]]

    def __str__(self) -> str:
        """The table in Markdown."""
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        first, rule, *rest = (
            f"|{'|'.join(cells)}|" if cells[0] == "---" else f"| {' | '.join(cells)} |"
            for cells in lines
        )
        return "\n".join([first, rule, *rest])


@dataclass(frozen=True)
class Result:
    """The result of a command.

    Args:
        command: from the folder of the project; words in capitals stand for what --with gives.
        taken: how long it took, when and on what machine.
        output: text and tables, in order.
    """

    command: str
    taken: str
    output: list[str | Table]

    @classmethod
    def of(cls, command: str, taken: str, printed: str) -> "Result":
        """The result of a command that printed this text."""
        parts = list[str | Table]()
        pieces = re.split(r"((?:^\|.*\n?)+)", printed, flags=re.MULTILINE)
        for piece in pieces:
            if piece.startswith("|"):
                columns, _, *rows = map(_cells, piece.strip().splitlines())
                parts.append(Table(columns, rows))
            elif piece.strip("\n"):
                parts.append(piece.strip("\n"))
        return cls(command, taken, parts)

    def __str__(self) -> str:
        """The block of a page: the command, where it ran, and its output."""
        between = " " if self.taken.startswith("took") else ", "
        head = f"`{self.command}`{between}{self.taken}"
        return "\n\n".join([head, *map(str, self.output)]) + "\n"

    def number(self, cells: list[str], column: str) -> float:
        """The number in a column of the first row with these cells.

        Raises:
            ValueError: there is no such row, column or number.
        """
        column, _, factor = column.partition(" *")
        column, _, place = column.partition(" #")
        for table in self.output:
            if isinstance(table, Table) and column in table.columns:
                for row in table.rows:
                    if all(cell in row for cell in cells):
                        found = NUMBER.findall(row[table.columns.index(column)])
                        if len(found) >= int(place or 1):
                            number = float(found[int(place or 1) - 1].replace(",", ""))
                            return number * float(factor or 1)
        raise ValueError(f"no number at {'; '.join([*cells, column])}")


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def load(name: str, folder: Path = FOLDER) -> Result:
    """The recorded result of a name.

    Raises:
        OSError: there is none.
    """
    known: dict[str, Any] = json.loads((folder / f"{name}.json").read_text())
    output = [part if isinstance(part, str) else Table(**part) for part in known["output"]]
    return Result(known["command"], known["taken"], output)


def save(name: str, result: Result, folder: Path = FOLDER) -> None:
    """Write a result, whole or not at all."""
    text = json.dumps(asdict(result), indent=1, ensure_ascii=False)
    part = folder / f".{name}.json"
    part.write_text(f"{text}\n")
    part.replace(folder / f"{name}.json")


def names(folder: Path = FOLDER) -> list[str]:
    """The names of all results."""
    return sorted(file.stem for file in folder.glob("*.json"))


def pages(root: Path = ROOT) -> Iterator[Path]:
    """The pages that may show results."""
    yield from (root / name for name in ("README.md", "paper.md") if (root / name).exists())
    yield from sorted(file for file in (root / "docs").rglob("*.md") if "_build" not in file.parts)


def refreshed(text: str, folder: Path = FOLDER) -> str:
    """A page with the blocks and numbers that are recorded.

    Raises:
        ValueError: a mark names no number.
        OSError: a mark names no result.
    """
    known = names(folder)

    def block(match: re.Match[str]) -> str:
        if match[1] not in known:  # of a script that writes pages itself
            return match[0]
        return f"<!-- {match[1]} -->\n{load(match[1], folder)}<!-- /{match[1]} -->"

    def number(match: re.Match[str]) -> str:
        name, *cells, column = match["mark"].split("; ")
        try:
            value = load(name, folder).number(cells, column)
        except ValueError as error:
            raise ValueError(f"{match[0]}: {name} has {error}") from None
        return f"{written(value, match['number'])}<!-- {match['mark']} -->"

    return MARK.sub(number, BLOCK.sub(block, text))


def written(value: float, like: str) -> str:
    """A number with as many decimals as another text has; '440' may stand for 437 to 444."""
    value = value if like.startswith("-") else abs(value)
    if "e" in like:
        digits = len(like.partition("e")[0].replace(".", "").lstrip("-"))
        mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
        return f"{mantissa}e{int(power)}"
    decimals = len(like.partition(".")[2])
    whole = like.replace(",", "").lstrip("-")
    zeros = 0 if decimals else len(whole) - len(whole.rstrip("0"))
    if zeros and round(value, -zeros) == float(like.replace(",", "")):
        return like
    text = f"{value:,.{decimals}f}" if "," in like else f"{value:.{decimals}f}"
    return text.removeprefix("0") if like.startswith(".") else text


def refresh(root: Path = ROOT, *, write: bool = True) -> list[Path]:
    """Write the pages that differ from the results anew; return them."""
    differing = []
    for page in pages(root):
        text = page.read_text()
        if (new := refreshed(text, root / "benchmarks/results")) != text:
            differing.append(page)
            if write:
                page.write_text(new)
    return differing


def main(arguments: list[str] | None = None) -> int:
    """Write the pages anew, or check them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args(arguments)
    differing = refresh(write=not options.check)
    print("\n".join(str(page.relative_to(ROOT)) for page in differing))
    return 1 if options.check and differing else 0


if __name__ == "__main__":
    sys.exit(main())
