"""clg export and clg import: graphs in other files."""

from pathlib import Path

import click

from cheblienet_cli import options
from cheblienet_cli.options import FILE, Once, option
from cheblienet_graphs.limits import integer
from cheblienet_graphs.store import layout

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
    from cheblienet_graphs.store.facts import read_facts
    from cheblienet_graphs.store.map_facts import is_map

    if level is not None and target in WHOLE:
        raise click.UsageError(
            f"--level must be left out with --to {target}, which has all levels."
        )
    version = layout.resolve(store, name)
    if is_map(version):
        _export_map(version, target, level, output)
        return
    spec = read_facts(version).spec
    levels = spec.levels
    level = integer("level", level or 0, 0, levels - 1)
    inner = "" if target in WHOLE or levels == 1 else f"-level{level}"
    if output is not None and output.is_dir() and target != "npz":
        raise click.UsageError(f"--output must be a file. {output} is a folder.")
    file = output or Path(f"{version.parent.name}{inner}{SUFFIXES[target]}")
    exports.check_output(file)
    if target in WHOLE:
        {"npz": exports.to_npz, "zip": exports.export_zip}[target](version, file)
    else:
        {"scipy": exports.to_scipy, "pyg": exports.to_pyg}[target](version, level, file)
        further = {"directional Laplacians": spec.directional, "gradients": spec.gradients}
        if left_out := [what for what, there in further.items() if there]:
            click.echo(f"Left out: {' and '.join(left_out)}; --to npz has them.", err=True)
    click.echo(str(file))
    if target == "pyg":
        click.echo(exports.PYG_LINES.format(file=file), err=True)


def _export_map(version: Path, target: str, level: int | None, output: Path | None) -> None:
    from cheblienet_graphs.store import export as exports  # help does without

    writers = {"scipy": exports.map_to_scipy, "zip": exports.export_zip}
    if target not in writers or level is not None:
        accepted = " or ".join(writers)
        raise click.UsageError(
            f"--to must be {accepted}, and --level left out: {version.parent.name} is a map."
        )
    if output is not None and output.is_dir():
        raise click.UsageError(f"--output must be a file. {output} is a folder.")
    file = output or Path(f"{version.parent.name}{SUFFIXES[target]}")
    exports.check_output(file)
    writers[target](version, file)
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
    from cheblienet_graphs.store.export import import_zip  # help does without

    def remark(where: str, what: str) -> None:
        click.echo(f"{file}: {where} {what}.", err=True)

    imported = import_zip(file, store, name, remark=remark)
    click.echo(f"{imported.name}@{imported.version}")
    if not imported.new:
        click.echo(f"It is there already, as {imported.name}@{imported.version}.", err=True)
