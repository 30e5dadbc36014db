"""Everything that reads a store, tried on one that somebody may have changed.

What is refused must be refused in one line that a user can read, by an error of ours; warnings
count as faults.
"""

import contextlib
import io
import json
import random
import warnings
from collections.abc import Callable
from pathlib import Path

from mutations import pack

from cheblienet_cli.main import run
from cheblienet_graphs import GraphSpec, eigenpairs, eigenvalues, inspect
from cheblienet_graphs.archives.npz import to_npz
from cheblienet_graphs.archives.zips import export_zip, import_zip
from cheblienet_graphs.assembly.versions import published
from cheblienet_graphs.errors import CheblienetError
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.map_facts import listing
from cheblienet_graphs.store.refs import tag, untag
from cheblienet_graphs.verification.versions import verify

LONGEST = 2_000
THROUGH_THE_COMMAND_LINE = 0.15
"""Share of the commands that run there as well, and of exports to AnnData, which are slow."""


def attempts(
    store: Path, spec: GraphSpec, chance: random.Random
) -> dict[str, Callable[[], object]]:
    """Name -> what a command does. They write beside the store."""
    version, beside = store / "g" / "v001", store.parent
    level = chance.choice([0, 1])

    def examine() -> None:
        report = inspect(store, "g", eigenvalues=chance.choice([0, 3, 6]))
        json.dumps(report.to_json(), allow_nan=False)
        str(report)

    def bring_back() -> None:
        pack(version, beside / "mutant.zip", chance)
        import_zip(beside / "mutant.zip", beside / "other.zarr")

    def name() -> None:
        tag(store, "g@v001", "x")
        untag(store, "g", "x")

    return {
        "inspect": examine,
        "npz": lambda: to_npz(Folder(version), beside / "x-npz"),
        "zip": lambda: export_zip(Folder(version), beside / "x.zip"),
        "import": bring_back,
        "verify": lambda: [str(fault) for fault in verify(store)],
        "ls": lambda: listing(store),
        "lookup": lambda: published(spec, store, "g"),
        "eigenvalues": lambda: eigenvalues(store, "g", level=level),
        "eigenpairs": lambda: eigenpairs(store, "g", level=level, count=3),
        "tag": name,
    }


def command_lines(store: Path) -> list[list[str]]:
    """Command lines as a user would type them."""
    where = ["--store", str(store)]
    beside = store.parent
    return [
        ["inspect", "g", *where],
        ["inspect", "--json", "--eigenvalues", "3", *where],
        ["ls", *where],
        ["ls", "--json", *where],
        ["verify", *where],
        ["verify", "--json", "g", *where],
        ["export", "g", "--to", "npz", "--output", str(beside / "y-npz"), *where],
        ["export", "--to", "zip", "--output", str(beside / "y.zip"), *where],
        ["import", str(beside / "mutant.zip"), "--store", str(beside / "third.zarr")],
        ["tag", "g@v001", "paper", *where],
        ["rm", "g", "--keep", "1", *where],
    ]


def faults(store: Path, spec: GraphSpec, chance: random.Random) -> tuple[list[str], list[str]]:
    """Faults other than errors of ours, a line each; and names of attempts refused by those.

    The archive is left out of the latter, as its entries get other names.
    """
    wrong: list[str] = []
    refused: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, attempt in attempts(store, spec, chance).items():
            try:
                attempt()
            except CheblienetError as error:
                refused += [name] if name != "import" else []
                wrong += _unreadable(name, str(error))
            except Exception as error:  # noqa: BLE001
                wrong.append(f"{name}: {error!r:.200}")
        if chance.random() < THROUGH_THE_COMMAND_LINE:
            wrong += _typed(chance.choice(command_lines(store)))
    return wrong, refused


def _typed(arguments: list[str]) -> list[str]:
    """Faults of one command line: exit codes and messages."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(arguments)
    name, message = f"clg {arguments[0]}", err.getvalue()
    wrong = [] if code in {0, 1, 2} else [f"{name}: exit code {code}"]
    if "--debug" in message:
        wrong.append(f"{name}: {message:.200}")
    lines = [*out.getvalue().splitlines(), *message.splitlines()]
    return wrong + [fault for line in lines for fault in _unreadable(name, line, 10**6)]


def _unreadable(name: str, message: str, longest: int = LONGEST) -> list[str]:
    """Whether a message is more than one line of printable characters."""
    if len(message) > longest or not message.isprintable():
        return [f"{name}: a message of {len(message)} characters, {message!r:.200}"]
    return []
