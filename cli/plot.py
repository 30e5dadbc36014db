"""clg plot: one figure of a graph."""

from pathlib import Path

import click

from cheblienet_cli import options
from cheblienet_cli.help import Once, examples
from cheblienet_cli.spelling import as_options
from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.figures.titles import TITLES
from cheblienet_graphs.quoting import quoted


@click.command(
    cls=Once,
    epilog=examples(
        "clg plot spectrum -o spectrum.svg", "clg plot neighbourhood se2-96x96x6 -o edges.png"
    ),
)
@click.argument("figure", metavar="[FIGURE]", required=False)
@click.argument("name", metavar="[NAME[@REF]]", required=False)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File to write, or to replace: .png, .svg or .pdf.",
)
@click.option("--list", "listed", is_flag=True, help="List the figures and do nothing else.")
@click.option(
    "--level",
    type=int,
    metavar="L",
    help="Which level of the pyramid, 0 the finest.  [default: 0]",
)
@click.option(
    "--vertex",
    type=int,
    metavar="V",
    help="The vertex in its middle, where a figure has one.  [default: one well inside]",
)
@click.option(
    "--seed",
    type=int,
    metavar="S",
    help="Seed of what is drawn by chance, where a figure has that.  [default: 0]",
)
@options.store
@options.debug
def plot(
    figure: str | None,
    name: str | None,
    output: Path | None,
    listed: bool,
    level: int | None,
    vertex: int | None,
    seed: int | None,
    store: Path,
) -> None:
    """Draw a figure of a graph into a file, and print what there is to see.

    NAME may be left out where the store has one graph. Figures need matplotlib: pip install
    'cheblienet[plot]'.
    """
    if listed:
        if (figure, output, level, vertex, seed) != (None,) * 5:
            raise click.UsageError("--list must stand alone: it does nothing else.")
        _list(TITLES)
        return
    if figure not in TITLES:
        given = "FIGURE is missing." if figure is None else f"There is no figure {quoted(figure)}."
        raise click.UsageError(f"{given} Choose one of {', '.join(TITLES)}.")
    if output is None:
        raise click.UsageError("--output must be given: a file that ends in .png, .svg or .pdf.")
    from cheblienet_graphs.figures.opened import open_graph  # help does without
    from cheblienet_graphs.plot.catalogue import figure_named  # and lists without matplotlib
    from cheblienet_graphs.plot.figure import Asked
    from cheblienet_graphs.plot.files import write_figure

    chosen, asked = figure_named(figure), Asked(level or 0, vertex, seed or 0)
    for option, value in (("vertex", vertex), ("seed", seed)):
        if value is not None and option not in chosen.takes:
            raise SpecError(option, f"left out: {figure} has none", value)
    caption = write_figure(chosen, open_graph(store, name), asked, output)
    click.echo(as_options(caption))


def _list(titles: dict[str, str]) -> None:
    width = max(map(len, titles), default=0)
    for name, title in titles.items():
        click.echo(f"{name:<{width}}  {title}")
