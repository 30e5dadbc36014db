"""clg inspect, clg diff, clg neighbors: what graphs are like."""

from pathlib import Path

import click

import cheblienet_graphs as graphs
from cheblienet_cli import options
from cheblienet_cli.options import FILE, Once, examples, option
from cheblienet_cli.output import show
from cheblienet_graphs.limits import EIGENVALUES, integer
from cheblienet_graphs.progress import progress_bar
from cheblienet_graphs.store import catalog, layout

DIFFERENT = 3
"""Exit code of --exit-code where graphs differ; 1 is that of a command that failed."""


@click.command(cls=Once)
@click.argument("name", metavar="[NAME[@REF]|FOLDER]", required=False)
@options.store
@option("--level L", "Only this level, 0 the finest.", type=int)
@option(
    "--eigenvalues M", f"Number of smallest eigenvalues of Delta, in {EIGENVALUES}.", default="6"
)
@option("--full", "Every measurement, the spectra of all levels, units, digests.")
@option(
    "--html FILE",
    "Write a page with every measurement and figures; an existing file is replaced.",
    type=FILE,
)
@options.as_json
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

    For a map between samplings: the number of sources of a target, distances and weights. NAME may
    be omitted if the store has one graph. @REF is a version such as @v001, or a tag. --html needs
    matplotlib: pip install 'cheblienet[plot]'.

    NAME may also be a folder that neural-lam saved, or a .pt file of anemoi-graphs: degrees,
    lengths, components, double and one-way edges, targets without edges.
    """
    from cheblienet_graphs.archives.edge_files import saved_by_others  # help does without
    from cheblienet_graphs.measure.opened_graph import open_graph
    from cheblienet_graphs.report.inspect import examined

    if name is not None and saved_by_others(Path(name)):
        from cheblienet_graphs.report.edge_sets import inspect_saved

        saved = inspect_saved(Path(name))
        show(saved.to_json() if as_json else str(saved))
        return
    number = integer("eigenvalues", eigenvalues, *EIGENVALUES)
    if layout.MAP in layout.check_version(catalog.resolve(store, name)):
        if html is not None or level is not None:
            raise click.UsageError("Leave out --html and --level: this is a map, not a graph.")
        about = graphs.inspect_map(store, name)
        show(about.to_json() if as_json else str(about))
        return
    if html is not None:
        from cheblienet_graphs.page import page  # matplotlib, which may be missing
        from cheblienet_graphs.plot.figure import check_file

        if as_json:
            raise click.UsageError("Give --html or --json, not both.")
        check_file(html, "html")
    with progress_bar(share=False) as update:
        graph = open_graph(store, name)
        report = examined(graph, number, level, update)
        if html is not None:
            document = page.page(report, graph, progress=update)
    if html is not None:
        page.write_page(document, html)
        click.echo(str(html))
    elif as_json or full:
        show(report.to_json() if as_json else report.full_text())
    else:
        show(str(report))
        click.echo("Every measurement: --full. A page with figures: --html FILE.", err=True)


@click.command(
    cls=Once, epilog=examples("clg diff se2-96x96x6@v001 se2-96x96x6@v002", "clg diff a b --json")
)
@click.argument("first", metavar="A[@REF]")
@click.argument("second", metavar="B[@REF]")
@options.store
@option("--other-store PATH", "The store of B, if it is another one.", type=FILE)
@option("--exit-code", f"Exit with {DIFFERENT} instead of 0 if they differ.")
@options.as_json
def diff(
    first: str, second: str, store: Path, other_store: Path | None, exit_code: bool, as_json: bool
) -> None:
    """Say what differs between two graphs: fields of the specification, facts of their levels.

    If all files are equal, one line says so.
    """
    difference = graphs.compare(store, first, second, other_store=other_store)
    show(difference.to_json() if as_json else str(difference))
    if exit_code and not difference.identical:
        click.get_current_context().exit(DIFFERENT)


@click.command(cls=Once, epilog=examples("clg neighbors se2-96x96x6 --vertex 4608"))
@click.argument("name", metavar="[NAME[@REF]]", required=False)
@options.store
@option("--vertex V", "Index of the vertex.", required=True)
@options.level
@options.as_json
def neighbors(
    name: str | None,
    store: Path,
    vertex: str,
    level: int | None,
    as_json: bool,
) -> None:
    """List the edges of one vertex, the nearest first: coordinates, distance and weight."""
    edges = graphs.neighbors_of(store, name, vertex=vertex, level=level or 0)
    show(edges.to_json() if as_json else str(edges))
