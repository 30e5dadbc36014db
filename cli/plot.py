"""clg plot: one figure of a graph."""

from pathlib import Path

import click

from cheblienet_cli import options
from cheblienet_cli.options import FILE, Once, examples, option
from cheblienet_cli.output import print_table
from cheblienet_graphs.errors import SpecError, quoted


@click.command(
    cls=Once,
    epilog=examples(
        "clg plot spectrum -o spectrum.svg",
        "clg plot neighborhood se2-96x96x6 -o edges.png",
        "clg plot heat plane isotropic se2-96x96x6 -o heat.png",
    ),
)
@click.argument("figure", metavar="[FIGURE]", required=False)
@click.argument("names", metavar="[NAME[@REF]]...", nargs=-1)
@option(
    "--output FILE",
    "File to write or replace: .png, .svg or .pdf. The caption is written beside it, as FILE.txt.",
    "-o",
    type=FILE,
)
@option("--list", "List the figures and exit.", "listed")
@options.level
@option(
    "--vertex V",
    "Vertex in the middle of figures that have one.  [default: one far from the boundary]",
    type=int,
)
@option("--seed S", "Random seed of figures that have one.  [default: 0]", type=int)
@options.store
def plot(
    figure: str | None,
    names: tuple[str, ...],
    output: Path | None,
    listed: bool,
    level: int | None,
    vertex: int | None,
    seed: int | None,
    store: Path,
) -> None:
    """Draw a figure of a graph into a file, and print its caption.

    NAME may be omitted if the store has one graph; `heat` draws several side by side.
    Figures need matplotlib: pip install 'cheblienet[plot]'.
    """
    from cheblienet_graphs import plot as drawing  # help does without

    figures = {known.name: known for known in drawing.FIGURES}
    if listed:
        if (figure, output, level, vertex, seed) != (None,) * 5:
            raise click.UsageError("--list takes no other option: it only lists the figures.")
        print_table([(known.name, known.title) for known in figures.values()])
        return
    if figure not in figures:
        given = "FIGURE is missing." if figure is None else f"There is no figure {quoted(figure)}."
        raise click.UsageError(f"{given} Choose one of {', '.join(figures)}.")
    if output is None:
        raise click.UsageError("--output must be given: a file that ends in .png, .svg or .pdf.")
    takes = figures[figure].takes
    for field, value in (("vertex", vertex), ("seed", seed)):
        if value is not None and field not in takes:
            raise SpecError(field, f"left out: {figure} has none", value)
    if len(names) > 1 and "beside" not in takes:
        raise click.UsageError(f"{figure} draws one graph, not {len(names)} beside each other.")
    first, *beside = [drawing.open_graph(store, name) for name in names or (None,)]
    asked = drawing.Asked(level or 0, vertex, seed or 0, tuple(beside))
    click.echo(drawing.write_figure(figures[figure], first, asked, output))
