"""clg verify: whether a store is what was published."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from cheblienet_cli import options
from cheblienet_cli.help import Once
from cheblienet_graphs.errors import StoreError
from cheblienet_graphs.quoting import one_line


@click.command(cls=Once)
@click.argument("name", metavar="[NAME[@REF]]", required=False)
@click.option("--clean", is_flag=True, help="Delete what interrupted builds left behind.")
@options.store
@options.as_json
@options.quiet
@options.debug
def verify(name: str | None, store: Path, clean: bool, as_json: bool, quiet: bool) -> None:
    """Hash every file and compare it with what was published; check every matrix.

    Coordinates and areas are compared with the sampling that the specification says. Without a
    NAME, every version of every graph. What is wrong is listed, a line each.
    """
    from cheblienet_graphs.store import layout  # help does without
    from cheblienet_graphs.store import verify as checks

    store = layout.store_path(store)

    removed = checks.clean(store) if clean else []
    left = checks.leftovers(store)
    checked: list[str] = []
    killed_first = bool(removed or left) and not layout.check_store(store)
    remarks: list[dict[str, str]] = []

    def remark(where: str, what: str) -> None:
        remarks.append({"where": where, "what": what})

    faults = []
    if not killed_first:
        faults = checks.verify(store, name, progress=checked.append, remark=remark)
    if as_json:
        listed = {
            "versions": checked,
            "faults": [asdict(fault) for fault in faults],
            "remarks": remarks,
            "leftovers": len(left),
        }
        click.echo(json.dumps(listed))
    else:
        for fault in faults:
            click.echo(one_line(f"{fault.where}: {fault.what}"))
    if not quiet:
        for made in remarks:
            click.echo(one_line(f"{made['where']} {made['what']}."), err=True)
        remedy = "harmless: --resume goes on with one, `clg verify --clean` deletes them"
        for count, fate in ((len(removed), "deleted"), (len(left), remedy)):
            if count:
                items = f"{count} item{'s' if count > 1 else ''}"
                click.echo(f"{items} left by interrupted builds, {fate}.", err=True)
    if faults:
        wrong = f"{len(faults)} fault{'s' if len(faults) > 1 else ''}"
        raise StoreError(
            f"{store} has {wrong}; rebuild or import what they touch, unless a line says otherwise."
        )
    if not quiet:
        counted = f"{len(checked)} version{'s' if len(checked) != 1 else ''}"
        click.echo(f"{counted} as published.", err=True)
