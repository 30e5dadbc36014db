"""clg neighbors: the edges of one vertex."""

import json
from pathlib import Path

import click

from cheblienet_cli import options
from cheblienet_cli.help import Once, examples


@click.command(
    cls=Once,
    epilog=examples(
        "clg neighbors se2-96x96x6 --at 0.5,0.5,30", "clg neighbors stations --at 52.5,13.4"
    ),
)
@click.argument("name", metavar="[NAME[@REF]]", required=False)
@options.store
@click.option("--vertex", metavar="V", help="Index of the vertex.")
@click.option(
    "--at",
    metavar="PLACE",
    help="The vertex nearest to a place instead: X,Y or X,Y,Z in widths of the domain, on the "
    "sphere LAT,LON in degrees; where there are orientations, their angle in degrees after it, "
    "where there are axes NX,NY,NZ.",
)
@click.option("--level", metavar="L", default="0", show_default=True, help="0 is the finest.")
@options.as_json
@options.debug
def neighbors(
    name: str | None, store: Path, vertex: str | None, at: str | None, level: str, as_json: bool
) -> None:
    """List the edges of one vertex, the nearest first: components, distance and weight.

    Components are those of the way to the neighbour in the left-invariant frame: forward and
    sideways in the metric's unit of length, rotation in degrees (with --json in radians); of axes
    along, twice across, and the tilts.
    """
    from cheblienet_graphs.report.edges_of import neighbors_of  # help does without

    found = neighbors_of(store, name, vertex=vertex, at=at, level=level)
    click.echo(json.dumps(found.to_json(), allow_nan=False) if as_json else str(found))
