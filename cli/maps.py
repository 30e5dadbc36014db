"""clg build map: from the vertices of one graph to another's."""

import shlex
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

import cheblienet_graphs as graphs
from cheblienet_cli import options, spelling
from cheblienet_cli.build import HOW, OF_BUILDS, build, placed, specification
from cheblienet_cli.options import Once, from_table, option
from cheblienet_cli.output import show
from cheblienet_graphs import limits
from cheblienet_graphs.errors import SpecError, quoted
from cheblienet_graphs.manifolds import MANIFOLDS
from cheblienet_graphs.progress import progress_bar

RULE = {
    "--neighbors K": "The K nearest sources of each target, and those as far as the last, in "
    f"{limits.NEIGHBORS}.",
    "--radius X": "Instead: all sources within this distance, radians of arc on the sphere, else "
    f"widths of the domain, in {limits.RADIUS}.",
    "--cutoff-factor X": "Instead: a radius in units of the largest distance of a target to its "
    f"nearest other one, in {limits.CUTOFF}.",
    "--scales N": "Instead, where source and target are one icosphere: the edges of its N finest "
    "meshes together.",
    "--weights inverse|gaussian|uniform": "Of the sources of a target, with sum 1: by inverse "
    "squares of distances, a Gaussian kernel, or equal.  [default: inverse]",
    "--bandwidth X": "Of Gaussian weights: t over the mean squared distance, in "
    f"{limits.BANDWIDTH}.  [default: 0.2]",
}
"""Options of the entries, and what they do."""


@click.command("map", cls=Once)
@option(
    "--source POINTS",
    "Whose signals are mapped: what follows `clg build` for a graph, in quotes, such as "
    "'s2 --gaussian O80'. Its metric says which sources are near.",
    required=True,
)
@option(
    "--target POINTS",
    "To whose vertices: the same, of the same manifold and domain.",
    required=True,
)
@from_table(RULE)
@option("--name NAME", "Name of the map.  [default: sizes of both sides and the rule]")
@options.store
@from_table({known: HOW[known] for known in ("--dry-run", "--force")})
@options.as_json
@options.quiet
def build_map(
    source: str,
    target: str,
    name: str | None,
    store: Path,
    dry_run: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
    **rule: Any,
) -> None:
    """Build a sparse map between two samplings of a manifold, and publish it beside graphs.

    As the encoder and the decoder of a network need them: from a data grid to a mesh and back.
    """
    given = {field: value for field, value in rule.items() if value is not None}
    spec = graphs.MapSpec(_side("source", source), _side("target", target), **given)
    if dry_run:
        _plan(spec, as_json)
        return
    with (
        progress_bar(shown=not quiet) as update,
        warnings.catch_warnings(action="ignore", category=graphs.OtherGraphWarning),
    ):
        result = graphs.build_map(spec, store, name=name, force=force, progress=update)
    if as_json:
        report = asdict(result) | {"store": str(store), "sizes": result.sizes.to_dict()}
        report["nbytes"] = result.nbytes
        show(report | {"spec": spec.to_dict(), "spec_sha256": spec.sha256})
    else:
        click.echo(f"{result.name}@{result.version}")
    if not quiet:
        from cheblienet_graphs.spec.words import human_bytes  # help does without

        sizes = result.sizes
        joined = f"{sizes.sources:,} sources, {sizes.targets:,} targets, {sizes.nnz:,} entries"
        for line in (f"{joined}; {human_bytes(result.nbytes)}", *placed(result, store)):
            click.echo(line, err=True)


def _plan(spec: "graphs.MapSpec", as_json: bool) -> None:
    """Print what would be built; the number of entries is known once they are found."""
    from cheblienet_graphs.spec.words import domain, map_sentences  # help does without

    if as_json:
        sizes = dict(zip(("targets", "sources"), spec.shape, strict=True))
        show({"spec": spec.to_dict(), "spec_sha256": spec.sha256} | sizes)
        return
    targets, sources = spec.shape
    click.echo(f"from {sources:,} vertices: {domain(spec.source)}")
    click.echo(f"to {targets:,} vertices: {domain(spec.target)}")
    click.echo(f"{map_sentences(spec)}\nnothing was written")


def _side(side: str, text: str) -> "graphs.GraphSpec":
    """The points that an option says, as `clg build` reads them.

    Raises:
        click.UsageError: it is of another form.
        SpecError, InputError: as of a build.
    """
    try:
        manifold, *words = shlex.split(text)
    except ValueError:
        manifold, words = "", []
    if manifold not in MANIFOLDS or {"-h", "--help"} & {*words}:
        raise click.UsageError(
            f"--{side} must be what follows `clg build`, such as 's2 --gaussian O80'. "
            f"Got {quoted(text)}. Manifolds are {', '.join(MANIFOLDS)}."
        )
    try:
        return _points(manifold, words)
    except click.UsageError as error:
        raise click.UsageError(f"--{side}: {error.format_message()}") from None
    except SpecError as error:
        raise click.UsageError(f"--{side}: {spelling.message(error)}") from None


def _points(manifold: str, words: list[str]) -> "graphs.GraphSpec":
    command = build.commands[manifold]
    context = command.make_context(manifold, words, parent=click.get_current_context())
    for parameter in command.params:
        known = str(parameter.name)
        typed = context.get_parameter_source(known) is ParameterSource.COMMANDLINE
        if typed and known in OF_BUILDS:
            raise click.UsageError(
                f"leave out {parameter.opts[-1]}, which says how to build: points are meant."
            )
    return specification(MANIFOLDS[manifold], context.params)
