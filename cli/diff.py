"""clg diff: what differs between two graphs."""

import json
import sys
from pathlib import Path

import click

from cheblienet_cli import options
from cheblienet_cli.help import Once, examples
from cheblienet_cli.progress import line_on_stderr
from cheblienet_graphs.limits import EIGENVALUES

DIFFERENT = 3
"""Exit code of --exit-code where graphs differ; 1 is that of a command that failed."""


@click.command(
    cls=Once, epilog=examples("clg diff se2-96x96x6@v001 se2-96x96x6@v002", "clg diff a b --json")
)
@click.argument("first", metavar="A[@REF]")
@click.argument("second", metavar="B[@REF]")
@options.store
@click.option(
    "--other-store",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="The store that B is in, if it is another one.",
)
@click.option(
    "--eigenvalues",
    metavar="M",
    default="6",
    show_default=True,
    help=f"How many of the smallest eigenvalues to compare, in {EIGENVALUES}.",
)
@click.option(
    "--exit-code", is_flag=True, help=f"Exit with {DIFFERENT} where they differ, instead of 0."
)
@options.as_json
@options.debug
def diff(
    first: str,
    second: str,
    store: Path,
    other_store: Path | None,
    eigenvalues: str,
    exit_code: bool,
    as_json: bool,
) -> None:
    """Say what differs between two graphs: specification, edges, weights, areas, spectrum.

    Edges are compared where both graphs have the same vertices. Relative differences of weights and
    areas are in units of the larger one. A line says so where all files are equal.
    """
    from cheblienet_graphs.report.difference import compare  # help does without
    from cheblienet_graphs.report.difference_text import difference_text

    with line_on_stderr(shown=sys.stderr.isatty()) as progress:
        found = compare(
            store,
            first,
            second,
            other_store=other_store,
            eigenvalues=eigenvalues,
            progress=progress,
        )
    click.echo(json.dumps(found.to_json(), allow_nan=False) if as_json else difference_text(found))
    if exit_code and not found.identical:
        click.get_current_context().exit(DIFFERENT)
