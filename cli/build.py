"""clg build: sample, connect, weigh, publish."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cheblienet_cli import options
from cheblienet_graphs import words
from cheblienet_graphs.manifolds import MANIFOLDS
from cheblienet_graphs.spec import BOUNDARIES, GraphSpec
from cheblienet_graphs.weights.kernels import KERNELS

if TYPE_CHECKING:
    from cheblienet_graphs.pipeline import Plan, Progress


class _ManifoldGroup(click.Group):
    """Says which manifolds there are when asked for another."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            known = ", ".join(self.commands)
            raise click.UsageError(f"There is no manifold {args[0]!r}. Choose one of {known}.")
        return super().resolve_command(ctx, args)


@click.group(cls=_ManifoldGroup)
def build() -> None:
    """Build a graph pyramid and publish it in a store."""


def _spec_options(command: Callable[..., None]) -> Callable[..., None]:
    described = {
        "--size N|WxH": "Pixels, width x height, of the finest level.",
        "--orientations N": "Samples of theta, on se2.  [default: 6]",
        "--eps X": "Anisotropy in R = diag(1, eps^-2, xi^2), in (0, 1].  [default: sqrt(0.1)]",
        "--eps-squared X": "The same as its square; the paper's is 0.1.",
        "--alpha X": "xi^2 = alpha n_o h^2, h the pixel size.  [default: 1]",
        "--xi X": "xi of the finest level; coarser ones keep its alpha.",
        "--neighbors K": "At most this many neighbours.  [default: 16, on r2 8]",
        f"--kernel {'|'.join(KERNELS)}": "Weight of an edge.  [default: gaussian]",
        "--bandwidth X": "Kernel width over mean squared distance.  [default: 0.2]",
        f"--boundary {'|'.join(BOUNDARIES)}": "Of the image domain.  [default: open]",
        "--levels L": "Graphs in the pyramid, each half the size of the one before.  "
        "[default: while sides are even and halves at least 8]",
        "--lambda-max exact|2": "What the Laplacian is rescaled by.  [default: exact]",
    }
    for described_option, text in reversed(described.items()):
        flag, metavar = described_option.split(" ")
        required = flag == "--size"
        command = click.option(flag, metavar=metavar, help=text, required=required)(command)
    return command


def _command(manifold: str) -> click.Command:
    title = MANIFOLDS[manifold].title

    @click.command(manifold, help=f"Build graphs on {title}.", short_help=f"Graphs on {title}.")
    @_spec_options
    @click.option("--name", help="Name of the graph.  [default: made from the manifold and sizes]")
    @options.store
    @click.option("--dry-run", is_flag=True, help="Say what would be built, and how large.")
    @click.option("--force", is_flag=True, help="Build a new version even if an equal one exists.")
    @options.as_json
    @options.quiet
    @options.debug
    def command(
        name: str | None,
        store: Path,
        dry_run: bool,
        force: bool,
        as_json: bool,
        quiet: bool,
        **chosen: Any,
    ) -> None:
        given = {field: value for field, value in chosen.items() if value is not None}
        spec = GraphSpec(manifold, **given)
        if dry_run:
            _dry_run(spec, as_json=as_json)
        else:
            _build(spec, store, name, force=force, as_json=as_json, quiet=quiet)

    return command


for known in MANIFOLDS:
    build.add_command(_command(known))


def _dry_run(spec: GraphSpec, *, as_json: bool) -> None:
    from cheblienet_graphs.pipeline import plan

    planned = plan(spec)
    if as_json:
        levels = [asdict(level) for level in planned.levels]
        planned_json = {"spec": spec.to_dict(), "spec_sha256": spec.sha256, "levels": levels}
        click.echo(json.dumps(planned_json | {"bytes": planned.nbytes}))
    else:
        click.echo("\n".join(_planned_lines(planned)))


def _planned_lines(planned: "Plan") -> list[str]:
    levels = [
        f"level {number}: {level.vertices:,} vertices, {level.edges:,} edges"
        for number, level in enumerate(planned.levels)
    ]
    size = f"{words.human_bytes(planned.nbytes)} would be written; nothing was"
    return [*words.sentences(planned.spec), *levels, size]


def _build(
    spec: GraphSpec, store: Path, name: str | None, *, force: bool, as_json: bool, quiet: bool
) -> None:
    from cheblienet_graphs.pipeline import build as build_graph

    with _progress(shown=sys.stderr.isatty() and not quiet) as progress:
        result = build_graph(spec, store, name=name, force=force, progress=progress)
    identity = f"{result.name}@{result.version}"
    if as_json:
        found = asdict(result) | {"store": str(store)}
        click.echo(json.dumps(found | {"spec": spec.to_dict(), "spec_sha256": spec.sha256}))
    else:
        click.echo(identity)
    if quiet:
        return
    for sentence in words.sentences(spec):
        click.echo(sentence, err=True)
    if result.built:
        click.echo(f"Published as {identity} in {store}.", err=True)
    else:
        click.echo(f"Already published as {identity} in {store}; --force builds it anew.", err=True)


@contextmanager
def _progress(*, shown: bool) -> Iterator["Progress | None"]:
    if not shown:
        yield None
        return
    from tqdm import tqdm

    with tqdm(unit=" entries", unit_scale=True, leave=False, file=sys.stderr) as bar:

        def update(what: str, done: int, total: int) -> None:
            bar.set_description(what, refresh=False)
            bar.total, bar.n = total, done
            bar.refresh()

        yield update
