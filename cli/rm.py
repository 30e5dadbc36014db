"""clg rm: delete a version."""

from pathlib import Path

import click

from cheblienet_cli import options
from cheblienet_graphs.store import refs


@click.command()
@click.argument("name", metavar="NAME@REF")
@click.option("--force", is_flag=True, help="Delete it even if refs other than latest name it.")
@options.store
@options.debug
def rm(name: str, store: Path, force: bool) -> None:
    """Delete a version of a graph; its number is not given again.

    A graph without versions is no longer listed. Processes that have the version mapped keep it.
    """
    version = refs.remove(store.expanduser().absolute(), name, force=force)
    click.echo(f"Removed {version.parent.name}@{version.name}.", err=True)
