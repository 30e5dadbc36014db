"""clg inspect: what a graph is like."""

import json
from pathlib import Path

import click

from cheblienet_cli import options


@click.command()
@click.argument("name", metavar="[NAME[@REF]]", required=False)
@options.store
@click.option("--level", type=int, metavar="L", help="Only this level, 0 the finest.")
@click.option(
    "--eigenvalues",
    type=int,
    metavar="M",
    default=6,
    show_default=True,
    help="How many of the smallest eigenvalues of Delta to compute, 0 for none.",
)
@options.as_json
@options.debug
def inspect(
    name: str | None, store: Path, level: int | None, eigenvalues: int, as_json: bool
) -> None:
    """Report on a graph: sparsity, degrees, spectrum, symmetries, realised metric.

    NAME may be left out where the store has one graph; @REF is a version such as @v001, or a ref.
    """
    from cheblienet_graphs.report import inspect as report_on

    report = report_on(store, name, eigenvalues=eigenvalues, level=level)
    click.echo(json.dumps(report.to_json(), allow_nan=False) if as_json else str(report))
