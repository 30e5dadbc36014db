"""clg build and clg recipes: sample, connect, weigh, publish."""

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

import cheblienet_graphs as graphs
from cheblienet_cli import options
from cheblienet_cli.options import Decorator, Group, Once, examples, from_table, option, together
from cheblienet_cli.output import print_table, show
from cheblienet_cli.specification import options_of
from cheblienet_cli.spelling import spelled
from cheblienet_graphs.errors import InputError, OtherGraphWarning, SpecError, one_line
from cheblienet_graphs.limits import WORKERS
from cheblienet_graphs.machine.threads import done_by
from cheblienet_graphs.manifolds import MANIFOLDS, Manifold
from cheblienet_graphs.progress import progress_bar
from cheblienet_graphs.search.choice import DEVICES, ENGINES

HOW = {
    f"--engine {'|'.join(ENGINES)}": "Search engine; results are identical.  [default: stencil "
    "on lattices, else pruned]",
    f"--device {'|'.join(DEVICES)}": "Device that computes distances.  [default: cuda if there is "
    "one and the engine can use it]",
    "--workers N": f"Number of processes, in {WORKERS}.  [default: 1; with --dask local one "
    "for each core]",
    "--memory-limit SIZE": "Memory of all processes, such as 2GB; sets the size of blocks.",
    "--dask ADDRESS|FILE|local": "Dask cluster that does the work: the address of its scheduler, "
    "the file that the scheduler wrote, or local. Its workers must see the file system of the "
    "store.",
    "--resume": "Continue an interrupted build of the same graph.",
    "--dry-run": "Print what would be built and its size; build nothing.",
    "--force": "Build a new version even if an equal one exists.",
}
"""Options of all builds, and what they do."""


@click.group(
    cls=Group,
    unknown=f"There is no manifold {{}}. Choose one of {', '.join(MANIFOLDS)}, or `recipe NAME`; "
    "`clg recipes` lists those.",
    epilog=examples(
        "clg build se2 --size 96 --weights selling",
        "clg build so3 --subdivisions 3 --xi auto",
        "clg build recipe stl10",
    ),
)
def build() -> None:
    """Build a graph pyramid and publish it in a store."""


def _how(default_name: str) -> Decorator:
    """The options that say how and where to build; None or False where they are not given."""
    name = option("--name NAME", f"Name of the graph.  [default: {default_name}]")
    how = from_table(HOW)
    return together(name, options.store, how, options.as_json, options.quiet, options.verbose)


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
    @_how("size and non-default fields")
    def command(**chosen: Any) -> None:
        how = {name: chosen[name] for name in OF_BUILDS}
        _run(specification(manifold, chosen), **how)

    return command


def specification(manifold: Manifold, chosen: Mapping[str, Any]) -> "graphs.GraphSpec":
    """The specification that options give, with the contents of their files.

    Raises:
        InputError: a file can't be read, or the specification refuses what it holds.
        SpecError: it refuses something else.
    """
    given = {name: value for name, value in chosen.items() if value not in (None, ())}
    fields = {name: value for name, value in given.items() if name not in OF_BUILDS}
    sphere = not manifold.base.flat
    files = {"mask": given.get("mask"), "coordinates": ", ".join(given.get("coordinates", ()))}
    try:
        if files["mask"]:
            edge = given.get("mask_edge", "pixels") if not sphere else "pixels"
            fields["mask"] = graphs.read_mask(given["mask"], edge)
        if files["coordinates"]:
            named = given["coordinates"]
            fields["coordinates"] = [graphs.read_points(file, sphere=sphere) for file in named]
        return graphs.GraphSpec(manifold.name, **fields)
    except SpecError as error:
        if not files.get(error.field):
            raise
        named = f"{files[error.field]}: `{error.field}` {error.complaint}"
        raise InputError(named) from error


@build.command()
@click.argument("name_or_file", metavar="NAME|FILE")
@_how("that of the recipe")
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
        raise InputError(f"{name_or_file}: {error}") from error


OF_BUILDS = {str(of.name) for of in recipe.params if of.expose_value} - {"name_or_file"}
"""Parameters that say how to build, and nothing of the graph."""

for known in MANIFOLDS.values():
    build.add_command(_command(known))


@click.command(cls=Once)
@options.as_json
def recipes(as_json: bool) -> None:
    """List the shipped recipes; `clg build recipe NAME` builds one."""
    from cheblienet_graphs.recipes import recipes as shipped  # help does without

    if as_json:
        fields = ("name", "title", "vertices", "spec")
        rows = [(r.name, r.title, r.spec.vertices, r.spec.to_dict()) for r in shipped()]
        show([dict(zip(fields, row, strict=True)) for row in rows])
    else:
        print_table([(r.name, " / ".join(map(str, r.spec.vertices)), r.title) for r in shipped()])


def _run(
    spec: "graphs.GraphSpec",
    *,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    **how: Any,
) -> None:
    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose exclude each other: give one of the two.")
    given = {name: value for name, value in how.items() if value is not None}
    if dry_run:
        _plan(spec, given, as_json)
    else:
        _build(spec, given, as_json, quiet=quiet, verbose=verbose)


def _plan(spec: "graphs.GraphSpec", how: dict[str, Any], as_json: bool) -> None:
    """Print what would be built."""
    from cheblienet_graphs.assembly.pipeline import dry_run  # help does without
    from cheblienet_graphs.spec import words

    planned = dry_run(spec, **how)
    if as_json:
        size = {"bytes": planned.nbytes, "exact": planned.exact}
        names = ("vertices", "edges", "nnz")
        levels = [{name: getattr(level, name) for name in names} for level in planned.levels]
        show({"spec": spec.to_dict(), "spec_sha256": spec.sha256, "levels": levels} | size)
        return
    bound = "" if planned.exact else "at most "
    lines = words.sentences(spec)
    for number, level in enumerate(planned.levels):
        edges = f"{bound}{level.edges:,} edges"
        lines.append(f"level {number}: {level.vertices:,} vertices, {edges}")
    arrays = words.human_bytes(planned.nbytes)
    lines.append(f"{bound}{arrays} of arrays would be written; nothing was")
    show("\n".join(lines))


def _build(
    spec: "graphs.GraphSpec", how: dict[str, Any], as_json: bool, *, quiet: bool, verbose: bool
) -> None:
    """Build, and print what was built."""
    from cheblienet_graphs.report import checks  # help does without

    result = None
    try:
        with (
            progress_bar(shown=not quiet) as update,
            warnings.catch_warnings(action="ignore", category=OtherGraphWarning),  # printed below
        ):
            result = graphs.build(spec, progress=update, **how)
        if as_json:
            report = asdict(replace(result, checks=())) | {"store": str(how["store"])}
            report |= {"checks": [checks.to_json(spec, check) for check in result.checks]}
            show(report | {"spec": spec.to_dict(), "spec_sha256": spec.sha256})
        else:
            click.echo(f"{result.name}@{result.version}")
        for line in [] if quiet else _lines(spec, how, result, verbose=verbose):
            click.echo(spelled(line), err=True)
    except BaseException as error:
        if result:
            error.add_note(f"{result.name}@{result.version} is published.")
        raise


def _lines(
    spec: "graphs.GraphSpec", how: dict[str, Any], result: "graphs.Published", *, verbose: bool
) -> Iterator[str]:
    """Lines on what was built: size, fidelity, place; everything known if that is wanted."""
    from cheblienet_graphs.report import checks  # help does without
    from cheblienet_graphs.spec import words

    if verbose:
        yield from words.sentences(spec)
        yield from words.reached(spec, result.levels)
    finest = result.levels[0]
    yield words.size(finest["vertices"], finest["edges"], spec.levels, result.nbytes)
    if result.built:
        if how["resume"]:
            went_on = "Continued an" if result.resumed else "There was no"
            yield f"{went_on} interrupted build of this graph."
        told = checks.sentences if verbose else checks.summary
        yield from told(spec, result.checks)
        if verbose and how.get("dask", "local") == "local":
            yield done_by(result.processes, result.threads)
    yield from placed(result, how["store"])


def placed(result: "graphs.Published | graphs.PublishedMap", store: Path) -> Iterator[str]:
    """Lines on where a version is, and how it differs from what its name stood for."""
    place = f"{result.name}@{result.version} in {one_line(str(store))}"
    again = f"Already published as {place}; --force builds it again."
    yield f"Published as {place}." if result.built else again
    if result.difference:
        yield result.difference
