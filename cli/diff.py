"""clg diff: what differs between two graphs."""

import json
from pathlib import Path

import click

from cheblienet_cli import options
from cheblienet_cli.help import Once, examples

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
    "--exit-code", is_flag=True, help=f"Exit with {DIFFERENT} where they differ, instead of 0."
)
@options.as_json
@options.debug
def diff(
    first: str, second: str, store: Path, other_store: Path | None, exit_code: bool, as_json: bool
) -> None:
    """Say what differs between two graphs: fields of the specification, facts of their levels.

    A line says so where all files are equal.
    """
    from cheblienet_graphs.report.difference import compare  # help does without

    difference = compare(store, first, second, other_store=other_store)
    click.echo(json.dumps(difference.to_json(), allow_nan=False) if as_json else str(difference))
    if exit_code and not difference.identical:
        click.get_current_context().exit(DIFFERENT)
