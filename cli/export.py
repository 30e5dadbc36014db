"""clg export and clg import: graphs in other files."""

from collections.abc import Callable
from pathlib import Path

import click

from cheblienet_cli import options
from cheblienet_cli.options import FILE, Once, option
from cheblienet_graphs.errors import InputError
from cheblienet_graphs.limits import integer
from cheblienet_graphs.store import catalog

SUFFIXES = {"scipy": ".npz", "pyg": ".pyg.npz", "npz": "-npz", "zip": ".zip"}
WHOLE = ("npz", "zip")
"""Those that have all levels."""


@click.command(cls=Once)
@click.argument("name", metavar="[NAME[@REF]]", required=False)
@option(
    f"--to [{'|'.join(SUFFIXES)}]",
    "Library to write for; or npz or zip, with all levels.",
    "target",
    type=click.Choice(list(SUFFIXES)),
    required=True,
)
@options.level
@option(
    "--output FILE",
    "File to write, or to replace; with npz a folder.  [default: made from the graph's name]",
    type=FILE,
)
@options.store
def export(
    name: str | None, target: str, level: int | None, output: Path | None, store: Path
) -> None:
    """Write a graph to files of other libraries, or to a zip archive of the whole version.

    scipy: the rescaled Laplacian. pyg: an .npz with edge_index, edge_weight, edge_attr and pos.
    npz: a folder with Laplacians and the maps between levels as scipy's .npz, other arrays as .npy,
    and a manifest. zip: everything, for `clg import`. Of a map between samplings scipy has its
    matrix.
    """
    from cheblienet_graphs.store import export as exports  # help does without
    from cheblienet_graphs.store.map_facts import MapFacts, read_either

    if level is not None and target in WHOLE:
        raise click.UsageError(
            f"--level must be left out with --to {target}, which has all levels."
        )
    version = catalog.resolve(store, name)
    facts = read_either(version)
    inner, of_level, left_out = "", tuple[int, ...](), list[str]()
    writers: dict[str, Callable[..., None]] = {"npz": exports.to_npz, "zip": exports.export_zip}
    if isinstance(facts, MapFacts):
        writers = {"scipy": exports.map_to_scipy, "zip": exports.export_zip}
        if target not in writers or level is not None:
            raise click.UsageError(
                f"--to must be {' or '.join(writers)}, and --level left out: "
                f"{version.parent.name} is a map."
            )
    elif target not in WHOLE:
        writers = {"scipy": exports.to_scipy, "pyg": exports.to_pyg}
        spec = facts.spec
        of_level = (integer("level", level or 0, 0, spec.levels - 1),)
        inner = "" if spec.levels == 1 else f"-level{of_level[0]}"
        further = {"directional Laplacians": spec.directional, "gradients": spec.gradients}
        left_out = [what for what, there in further.items() if there]
    if output is not None and output.is_dir() and target != "npz":
        raise click.UsageError(f"--output must be a file. {output} is a folder.")
    file = output or Path(f"{version.parent.name}{inner}{SUFFIXES[target]}")
    exports.check_output(file)
    writers[target](version, *of_level, file)
    if left_out:
        click.echo(f"Left out: {' and '.join(left_out)}; --to npz has them.", err=True)
    click.echo(str(file))
    if target == "pyg":
        click.echo(exports.PYG_LINES.format(file=file), err=True)


@click.command("import", cls=Once)
@click.argument("file", type=FILE)
@option("--name NAME", "Name of the graph.  [default: the one it was exported from]")
@options.store
def import_(file: Path, name: str | None, store: Path) -> None:
    """Publish the version in a zip archive that `clg export --to zip` wrote.

    Every file is compared with the manifest first. If the store has the same version already,
    nothing is published.
    """
    from cheblienet_graphs.store.export import import_zip  # help does without

    if not file.expanduser().exists():
        raise InputError(f"{file} does not exist.")

    def remark(where: str, what: str) -> None:
        click.echo(f"{file}: {where} {what}.", err=True)

    imported = import_zip(file, store, name, remark=remark)
    click.echo(f"{imported.name}@{imported.version}")
    if not imported.new:
        click.echo(f"It is there already, as {imported.name}@{imported.version}.", err=True)
