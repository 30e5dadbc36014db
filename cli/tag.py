"""clg tag: further names for versions."""

from pathlib import Path

import click

from cheblienet_cli import options
from cheblienet_cli.help import Once, examples
from cheblienet_graphs.store import refs


@click.command(cls=Once, epilog=examples("clg tag se2-96x96x6@v003 paper"))
@click.argument("name", metavar="NAME[@REF]")
@click.argument("ref")
@click.option("--delete", is_flag=True, help="Take the name REF away instead.")
@options.store
@options.debug
def tag(name: str, ref: str, store: Path, delete: bool) -> None:
    """Give a version the further name REF, or move that name to it."""
    if delete:
        refs.untag(store, name, ref)
        click.echo(f"{name.partition('@')[0]} has no ref {ref} any more.", err=True)
    else:
        version = refs.tag(store, name, ref)
        click.echo(f"{version.parent.name}@{ref} is {version.name}.", err=True)
