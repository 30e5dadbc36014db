"""clg ls, clg tag, clg rm, clg verify: what a store holds, and keeping it."""

import datetime as dt
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cheblienet_cli import options
from cheblienet_cli.options import Once, examples, option
from cheblienet_cli.output import count, print_table, show
from cheblienet_graphs.errors import StoreError, one_line
from cheblienet_graphs.limits import integer
from cheblienet_graphs.store import catalog, layout, refs
from cheblienet_graphs.store.folder import Folder

if TYPE_CHECKING:
    from cheblienet_graphs.store.map_facts import Listed

TITLES: tuple[str, ...] = ("graph", "vertices", "levels", "size", "built", "refs")
TITLES += ("weights", "eps^2", "alpha", "K", "inside")
"""Columns of --long."""


@click.command(cls=Once)
@option("--long", "Also weights, eps^2, alpha, K, and points inside a mask or region.")
@options.store
@options.as_json
def ls(long: bool, store: Path, as_json: bool) -> None:
    """List the graphs of a store: one line for each version and a total."""
    from cheblienet_graphs.spec.words import human_bytes  # help does without
    from cheblienet_graphs.store.map_facts import listing

    versions = listing(store)
    if as_json:
        show([asdict(version) for version in versions])
    elif versions:
        size = human_bytes(sum(version.bytes for version in versions))
        kinds = Counter({version.name: version.kind for version in versions}.values())
        held = ", ".join(count(number, kind) for kind, number in kinds.items())
        rows = [_row(version, human_bytes(version.bytes)) for version in versions]
        total: tuple[str, ...] = "total", count(len(versions), "version"), held, size, "", ""
        if long:
            rows = [(*row, *_graph(one.spec)) for row, one in zip(rows, versions, strict=True)]
            rows.insert(0, TITLES)
            total = *total, *("" for _ in TITLES[len(total) :])
        print_table([*rows, total])
    else:
        click.echo(f"{store} is empty; `clg build` makes a graph.", err=True)


def _row(version: "Listed", size: str) -> tuple[str, ...]:
    name = f"{version.name}@{version.version}".rstrip("@")
    known_as = ", ".join(version.refs)
    if version.fault is not None:
        return name, "unreadable; clg verify says why", "", "", "", known_as
    vertices = f"{max(version.vertices, default=0):,} vertices"
    levels = count(len(version.vertices), "level")
    if version.kind == "map":
        targets, sources = version.vertices
        vertices = f"{sources:,} -> {targets:,} vertices"
        levels = "map"
    return name, vertices, levels, size, _age(version.created), known_as


def _graph(spec: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Weights, eps^2, alpha, K and the points inside a mask; empty where one does not apply."""
    from cheblienet_graphs.spec.naming import as_typed

    fields = spec or {}
    eps = f"{fields['eps'] ** 2:.4g}" if "eps" in fields else ""
    alpha, count = (as_typed(fields.get(name, "")) for name in ("alpha", "neighbors"))
    inside = f"{fields['mask']['inside'][0]:,} points" if "mask" in fields else ""
    return fields.get("weights", ""), eps, alpha, count, inside


def _age(created: str) -> str:
    elapsed = dt.datetime.now(dt.UTC) - dt.datetime.fromisoformat(created)
    for unit in ("day", "hour", "minute"):
        if (whole := elapsed // dt.timedelta(**{f"{unit}s": 1})) > 0:
            return f"{count(whole, unit)} ago"
    return "just now"


@click.command(cls=Once, epilog=examples("clg tag se2-96x96x6@v003 paper"))
@click.argument("name", metavar="NAME[@REF]")
@click.argument("ref")
@option("--delete", "Delete the tag REF.")
@options.store
def tag(name: str, ref: str, store: Path, delete: bool) -> None:
    """Give a version the tag REF, or move the tag to it."""
    if delete:
        refs.untag(store, name, ref)
        click.echo(f"{name.partition('@')[0]} has no ref {ref} any more.", err=True)
    else:
        version = refs.tag(store, name, ref)
        click.echo(f"{version.parent.name}@{ref} is {version.name}.", err=True)


@click.command(cls=Once)
@click.argument("name", metavar="NAME[@REF]")
@option("--keep N", "Delete all versions of NAME except the newest N.")
@option("--force", "Ask nothing, and also delete versions that have tags.")
@options.store
def rm(name: str, keep: str | None, store: Path, force: bool) -> None:
    """Delete a version of a graph, NAME@REF, or with --keep the old ones of NAME.

    On a terminal it asks first. Version numbers are not reused; a graph without versions is not
    listed. Processes that have mapped a version keep it.
    """
    from cheblienet_graphs.spec.words import human_bytes  # help does without

    if not force and _on_a_terminal() and (doomed := _doomed(store, name, keep)):
        if not click.confirm(f"Delete {doomed} for good?", err=True):
            click.echo("Nothing was removed.", err=True)
            click.get_current_context().exit(1)
        name = doomed if keep is None else name  # by the time of the answer @latest may be another
    if keep is None:
        removed = refs.remove(store, name, force=force)
    else:
        removed = refs.prune(store, name, keep, force=force)
    versions = ", ".join(f"{removed.graph}@{version}" for version in removed.versions)
    freed = f"Removed {versions}, {human_bytes(removed.nbytes)}."
    click.echo(freed if versions else "Nothing to remove.", err=True)
    for version, names in removed.spared.items():
        kept = f"{removed.graph}@{version} stays, as it is named {', '.join(names)}"
        click.echo(f"{kept}; --force removes it anyway.", err=True)


def _on_a_terminal() -> bool:
    """Check whether somebody can be asked; streams may be closed."""
    return all(stream and stream.isatty() for stream in (sys.stdin, sys.stderr))


def _doomed(store: Path, name: str, keep: str | None) -> str:
    """Name of what `rm` is about to delete; empty where it refuses to."""
    version = catalog.resolve(store, name)
    if keep is None:
        return f"{version.parent.name}@{version.name}" if "@" in name else ""
    newest = integer("keep", keep, 1, layout.LAST_VERSION, "an integer from 1")
    return "" if "@" in name else f"all versions of {name} except the newest {newest}"


@click.command(cls=Once)
@click.argument("name", metavar="[NAME[@REF]]", required=False)
@option("--clean", "Delete files left by interrupted builds.")
@options.store
@options.as_json
@options.quiet
def verify(name: str | None, store: Path, clean: bool, as_json: bool, quiet: bool) -> None:
    """Hash every file and compare it with what was published; check every matrix.

    Coordinates and areas are compared with the sampling of the specification. Without NAME, all
    versions of all graphs. Prints one line for each fault.
    """
    from cheblienet_graphs.store import leftovers  # help does without
    from cheblienet_graphs.verification import versions as checks

    store = layout.store_path(store)
    removed = leftovers.clean(store) if clean else []
    left = leftovers.leftovers(store)
    checked: list[str] = []
    remarks: list[dict[str, str]] = []
    faults = []

    def remark(where: str, what: str) -> None:
        remarks.append({"where": where, "what": what})

    was_killed = removed or left  # so that there may be no store yet
    if not was_killed or catalog.check_store(Folder(store)):
        faults = checks.verify(store, name, progress=checked.append, remark=remark)
    if as_json:
        listed = {"faults": [asdict(fault) for fault in faults], "remarks": remarks}
        show({"versions": checked, **listed, "leftovers": len(left)})
    else:
        for fault in faults:
            click.echo(one_line(f"{fault.where}: {fault.what}"))
    lines = [one_line(f"{made['where']} {made['what']}.") for made in remarks]
    remedy = "harmless: --resume continues one, `clg verify --clean` deletes them"
    lines += [
        f"{count(len(items), 'item')} left by interrupted builds, {fate}."
        for items, fate in ((removed, "deleted"), (left, remedy))
        if items
    ]
    if not faults:
        lines.append(f"{count(len(checked), 'version')} as published.")
    for line in [] if quiet else lines:
        click.echo(line, err=True)
    if faults:
        raise StoreError(
            f"{store} has {count(len(faults), 'fault')}; rebuild or import what they touch, unless "
            "a line says otherwise."
        )
