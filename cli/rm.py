"""clg rm: delete a version."""

from pathlib import Path

import click

from cheblienet_cli import options
from cheblienet_cli.help import Once
from cheblienet_graphs.quoting import quoted
from cheblienet_graphs.store import refs


@click.command(cls=Once)
@click.argument("name", metavar="NAME[@REF]")
@click.option("--keep", metavar="N", help="Delete all versions of NAME but the newest N.")
@click.option(
    "--force", is_flag=True, help="Delete even versions that refs other than latest name."
)
@options.store
@options.debug
def rm(name: str, keep: str | None, store: Path, force: bool) -> None:
    """Delete a version of a graph, NAME@REF, or with --keep the old ones of NAME.

    A number is not given again; a graph without versions is no longer listed. Processes that have a
    version mapped keep it.
    """
    from cheblienet_graphs.spec import words  # help does without

    if keep is None:
        removed = refs.remove(store, name, force=force)
    elif "@" in name:
        raise click.UsageError(f"--keep is for a graph, named alone. Got {quoted(name)}.")
    else:
        removed = refs.prune(store, name, keep, force=force)
    versions = ", ".join(f"{removed.graph}@{version}" for version in removed.versions)
    freed = words.human_bytes(removed.nbytes)
    click.echo(f"Removed {versions}, {freed}." if versions else "Nothing to remove.", err=True)
    for version, names in removed.spared.items():
        kept = f"{removed.graph}@{version} stays, as it is named {', '.join(names)}"
        click.echo(f"{kept}; --force removes it all the same.", err=True)
