"""clg build: sample, connect, weigh, publish."""

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cheblienet_cli import options, spelling
from cheblienet_cli.help import Once, WholeSentences, examples
from cheblienet_cli.own_domain import contents, files_named
from cheblienet_cli.specification import options_of
from cheblienet_graphs.errors import OtherGraphWarning, RecipeError, SpecError
from cheblienet_graphs.limits import WORKERS
from cheblienet_graphs.manifolds import MANIFOLDS, Manifold
from cheblienet_graphs.neighbours.choice import DEVICES, ENGINES
from cheblienet_graphs.quoting import quoted

if TYPE_CHECKING:
    from cheblienet_graphs import GraphSpec
    from cheblienet_graphs.assembly.plan import Plan
    from cheblienet_graphs.assembly.versions import Published
    from cheblienet_graphs.typing import Progress


Command = TypeVar("Command", bound=Callable[..., Any])


class _ManifoldGroup(WholeSentences):
    """A group of commands, one per manifold; errors for other names list them."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            known = ", ".join(name for name in self.commands if name != "recipe")
            raise click.UsageError(
                f"There is no manifold {quoted(args[0])}. Choose one of {known}, or `recipe NAME`; "
                "`clg recipes` lists those."
            )
        return super().resolve_command(ctx, args)


@click.group(
    cls=_ManifoldGroup,
    epilog=examples(
        "clg build se2 --size 96 --weights selling",
        "clg build so3 --subdivisions 3 --xi auto",
        "clg build recipe stl10",
    ),
)
def build() -> None:
    """Build a graph pyramid and publish it in a store."""


def _name(default: str) -> Callable[[Command], Command]:
    return click.option("--name", metavar="NAME", help=f"Name of the graph.  [default: {default}]")


def _build_options(command: Command) -> Command:
    for option in reversed(
        [
            options.store,
            click.option(
                "--engine",
                metavar="|".join(ENGINES),
                default="auto",
                help="What finds neighbours; all find the same.  [default: stencil on lattices, "
                "else pruned]",
            ),
            click.option(
                "--device",
                metavar="|".join(DEVICES),
                default="auto",
                help="Where distances are evaluated.  [default: cuda where there is one and the "
                "engine can use it]",
            ),
            click.option(
                "--workers",
                metavar="N",
                help=f"Processes that do the work, in {WORKERS}.  [default: 1; with --dask local "
                "one for each core]",
            ),
            click.option(
                "--memory-limit",
                metavar="SIZE",
                help="Memory of all processes together, such as 2GB: sets how much is done at a "
                "time.",
            ),
            click.option(
                "--dask",
                metavar="ADDRESS|FILE|local",
                help="Let a Dask cluster do the work: address of its scheduler, or the file that "
                "this wrote, or local. Its workers must see the store's file system.",
            ),
            click.option(
                "--resume", is_flag=True, help="Go on with an interrupted build of the same graph."
            ),
            click.option("--dry-run", is_flag=True, help="Say what would be built, and how large."),
            click.option(
                "--force", is_flag=True, help="Build a new version even if an equal one exists."
            ),
            options.as_json,
            options.quiet,
            options.debug,
        ]
    ):
        command = option(command)
    return command


def _command(manifold: Manifold) -> click.Command:
    title = manifold.title
    meaning = f": {manifold.meaning}" if manifold.meaning else ""

    @click.command(
        manifold.name,
        cls=Once,
        help=f"Build graphs on {title}{meaning}.",
        short_help=f"Graphs on {title}{meaning}.",
    )
    @options_of(manifold)
    @_name("made from the above")
    @_build_options
    def command(**chosen: Any) -> None:
        from cheblienet_graphs import GraphSpec  # help does without

        how = {field: chosen.pop(field) for field in _HOW}
        given = {name: value for name, value in chosen.items() if value not in (None, ())}
        with files_named(given):
            spec = GraphSpec(manifold.name, **contents(given, sphere=not manifold.base.flat))
        _run(spec, **how)

    return command


@build.command()
@click.argument("name_or_file", metavar="NAME|FILE")
@_name("that of the recipe")
@_build_options
def recipe(name_or_file: str, **how: Any) -> None:
    """Build a shipped recipe, or one in a TOML file of the same form; `clg recipes` lists them."""
    from cheblienet_graphs.recipes import recipe as load  # help does without

    loaded = load(name_or_file)
    try:
        _run(loaded.spec, **how | {"name": how["name"] or loaded.name})
    except SpecError as error:
        if error.field in how:
            raise
        # Named as in the file: the command line has no such option here.
        raise RecipeError(f"{name_or_file}: {error}") from error


for known in MANIFOLDS.values():
    build.add_command(_command(known))

_HOW = (
    *("name", "store", "engine", "device", "workers", "memory_limit", "dask", "resume"),
    *("dry_run", "force", "as_json", "quiet"),
)


def _run(
    spec: "GraphSpec", *, dry_run: bool, store: Path, as_json: bool, quiet: bool, **how: Any
) -> None:
    if dry_run:
        _dry_run(spec, store, how, as_json=as_json)
    else:
        _build(spec, store, how, as_json=as_json, quiet=quiet)


def _dry_run(spec: "GraphSpec", store: Path, how: dict[str, Any], *, as_json: bool) -> None:
    from cheblienet_graphs.assembly.pipeline import dry_run  # help does without

    planned = dry_run(spec, store, **how)
    if as_json:
        levels = [asdict(level) for level in planned.levels]
        planned_json = {"spec": spec.to_dict(), "spec_sha256": spec.sha256, "levels": levels}
        size = {"bytes": planned.nbytes, "exact": planned.exact}
        click.echo(json.dumps(planned_json | size))
    else:
        click.echo("\n".join(_planned_lines(planned)))


def _planned_lines(planned: "Plan") -> list[str]:
    from cheblienet_graphs.spec import words  # help does without

    bound = "" if planned.exact else "at most "
    levels = [
        f"level {number}: {level.vertices:,} vertices, {bound}{level.edges:,} edges"
        for number, level in enumerate(planned.levels)
    ]
    size = f"{bound}{words.human_bytes(planned.nbytes)} would be written; nothing was"
    return [*words.sentences(planned.spec, spelling.option), *levels, size]


def _build(
    spec: "GraphSpec", store: Path, how: dict[str, Any], *, as_json: bool, quiet: bool
) -> None:
    from cheblienet_graphs.assembly.pipeline import build as build_graph  # help does without

    result = None
    try:
        with (
            _progress(shown=sys.stderr.isatty() and not quiet) as progress,
            warnings.catch_warnings(action="ignore", category=OtherGraphWarning),  # _tell does
        ):
            result = build_graph(spec, store, progress=progress, **how)
        _tell(spec, store, result, how, as_json=as_json, quiet=quiet)
    except BaseException as error:
        if result:
            error.add_note(f"{result.name}@{result.version} is published.")
        raise


def _tell(
    spec: "GraphSpec",
    store: Path,
    result: "Published",
    how: dict[str, Any],
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Print what was built."""
    from cheblienet_graphs.assembly.checks import sentences  # help does without
    from cheblienet_graphs.spec import words

    identity = f"{result.name}@{result.version}"
    if as_json:
        report = asdict(replace(result, checks=())) | {"store": str(store)}
        report |= {"checks": [check.to_json(spelling.option) for check in result.checks]}
        report |= {"spec": spec.to_dict(), "spec_sha256": spec.sha256}
        click.echo(json.dumps(report))
    else:
        click.echo(identity)
    if quiet:
        return
    for sentence in [*words.sentences(spec, spelling.option), *words.reached(spec, result.levels)]:
        click.echo(sentence, err=True)
    if how["resume"] and result.built:
        went_on = "Went on with an" if result.resumed else "There was no"
        click.echo(f"{went_on} interrupted build of this graph.", err=True)
    if result.built:
        for sentence in sentences(spec, result.checks, spelling.option):
            click.echo(sentence, err=True)
        if how["dask"] in {None, "local"}:
            click.echo(words.done_by(result.processes, result.threads), err=True)
        click.echo(f"Published as {identity} in {store}.", err=True)
    else:
        click.echo(f"Already published as {identity} in {store}; --force builds it anew.", err=True)
    if result.difference:
        click.echo(result.difference, err=True)


@contextmanager
def _progress(*, shown: bool) -> Iterator["Progress | None"]:
    if not shown:
        yield None
        return
    from tqdm import tqdm  # help does without

    with tqdm(unit=" entries", unit_scale=True, leave=False, file=sys.stderr) as bar:

        def update(what: str, done: int, total: int) -> None:
            if bar.desc != f"{what}: ":  # another sweep, with its own rate and time left
                bar.set_description(what, refresh=False)
                bar.reset(total)
                bar.initial = done
            bar.n = done
            bar.refresh()

        yield update
