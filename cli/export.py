"""clg export and clg import: graphs in other files."""

from pathlib import Path

import click

from cheblienet_cli import options
from cheblienet_cli.options import FILE, Once, option
from cheblienet_graphs.errors import InputError
from cheblienet_graphs.store import catalog

SUFFIXES = {"npz": "-npz", "zip": ".zip"}


@click.command(cls=Once)
@click.argument("name", metavar="[NAME[@REF]]", required=False)
@option(
    f"--to [{'|'.join(SUFFIXES)}]",
    "A folder for other libraries; or an archive to import again.",
    "target",
    type=click.Choice(list(SUFFIXES)),
    required=True,
)
@option(
    "--output FILE",
    "File to write, or to replace; with npz a folder.  [default: made from the graph's name]",
    type=FILE,
)
@options.store
def export(name: str | None, target: str, output: Path | None, store: Path) -> None:
    """Write a graph to a folder for other libraries, or to a zip archive of the whole version.

    npz: a folder with Laplacians and the maps between levels as scipy's .npz, other arrays as .npy,
    and a manifest. zip: everything, for `clg import`, of maps between samplings, too.
    """
    from cheblienet_graphs.archives import npz, zips  # help does without
    from cheblienet_graphs.store.map_facts import MapFacts, read_either

    version = catalog.resolve(store, name)
    facts = read_either(version)
    if target == "npz" and isinstance(facts, MapFacts):
        raise click.UsageError(
            f"--to must be zip: {version.parent.name} is a map. Its matrix is written by "
            "open_store(path).maps[name].save_npz(file)."
        )
    if output is not None and output.is_dir() and target != "npz":
        raise click.UsageError(f"--output must be a file. {output} is a folder.")
    file = output or Path(f"{version.parent.name}{SUFFIXES[target]}")
    npz.check_output(file)
    write = npz.to_npz if target == "npz" else zips.export_zip
    write(version, file)
    click.echo(str(file))


@click.command("import", cls=Once)
@click.argument("file", type=FILE)
@option("--name NAME", "Name of the graph.  [default: the one it was exported from]")
@options.store
def import_(file: Path, name: str | None, store: Path) -> None:
    """Publish the version in a zip archive that `clg export --to zip` wrote.

    Every file is compared with the manifest first. If the store has the same version already,
    nothing is published.
    """
    from cheblienet_graphs.archives.zips import import_zip  # help does without

    if not file.expanduser().exists():
        raise InputError(f"{file} does not exist.")

    def remark(where: str, what: str) -> None:
        click.echo(f"{file}: {where} {what}.", err=True)

    imported = import_zip(file, store, name, remark=remark)
    click.echo(f"{imported.name}@{imported.version}")
    if not imported.built:
        click.echo(f"It is there already, as {imported.name}@{imported.version}.", err=True)
