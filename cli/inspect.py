"""clg inspect: what a graph is like."""

import json
import sys
from pathlib import Path

import click

from cheblienet_cli import options
from cheblienet_cli.help import Once
from cheblienet_cli.progress import line_on_stderr
from cheblienet_cli.spelling import option
from cheblienet_graphs.limits import EIGENVALUES
from cheblienet_graphs.values import integer


@click.command(cls=Once)
@click.argument("name", metavar="[NAME[@REF]]", required=False)
@options.store
@click.option("--level", type=int, metavar="L", help="Only this level, 0 the finest.")
@click.option(
    "--eigenvalues",
    metavar="M",
    default="6",
    show_default=True,
    help=f"How many of the smallest eigenvalues of Delta to compute, in {EIGENVALUES}.",
)
@click.option(
    "--full", is_flag=True, help="Every measurement, the spectra of all levels, units, digests."
)
@click.option(
    "--html",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write all of it as a page with figures to this file, or replace it. Needs matplotlib: "
    "pip install 'cheblienet[plot]'.",
)
@options.as_json
@options.debug
def inspect(
    name: str | None,
    store: Path,
    level: int | None,
    eigenvalues: str,
    full: bool,
    html: Path | None,
    as_json: bool,
) -> None:
    """Report on a graph: is it consistent with its metric, connected, how large, how symmetric.

    NAME may be left out where the store has one graph; @REF is a version such as @v001, or a ref.
    """
    from cheblienet_graphs.report.inspect import inspect as report_on  # help does without

    count = integer("eigenvalues", eigenvalues, *EIGENVALUES)
    if html is not None:
        if as_json:
            raise click.UsageError("Give --html or --json, not both.")
        _write(html, store, name, count, level)
        return
    with line_on_stderr(shown=sys.stderr.isatty()) as progress:
        report = report_on(store, name, eigenvalues=count, level=level, progress=progress)
    if as_json:
        click.echo(json.dumps(report.to_json(option), allow_nan=False))
    else:
        click.echo(report.full_text(option) if full else report.short_text(option))
        if not full:
            click.echo("--full has every measurement, --html FILE figures, too.", err=True)


def _write(file: Path, store: Path, name: str | None, eigenvalues: int, level: int | None) -> None:
    """Write the report as a page, and print where it is."""
    from cheblienet_graphs.page.page import (  # matplotlib, which may be missing
        check_file,
        page,
        write_page,
    )
    from cheblienet_graphs.plot.opened import open_graph  # the report in a terminal does without
    from cheblienet_graphs.report.inspect import inspect as report_on  # help does without

    check_file(file)
    with line_on_stderr(shown=sys.stderr.isatty()) as progress:
        report = report_on(store, name, eigenvalues=eigenvalues, level=level, progress=progress)
        graph = open_graph(store, f"{report.name}@{report.version}")
        document = page(report, graph, option=option, progress=progress)
    write_page(document, file)
    click.echo(str(file))
