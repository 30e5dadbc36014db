"""Testing whether networks of one's own are equivariant under the symmetries of their graphs."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from cheblienet_models.arguments import (
    check_shape,
    check_values,
    choice,
    instance,
    integer,
    is_sequence,
    number,
)
from cheblienet_models.errors import quoted
from cheblienet_models.graphs.connection import check_pairs
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.pyramid import LevelMap, Pyramid
from cheblienet_models.symmetries import Motion, frame_turns, symmetries
from cheblienet_models.tensors import rotated

Kind = Literal["vertices", "base", "orientations"]
Output = Literal["auto", "invariant", "vertices", "base", "orientations"]


def assert_equivariant(
    module: nn.Module,
    pyramid: Pyramid,
    signal: Tensor | None = None,
    *,
    level: int = 0,
    output: Output = "auto",
    symmetries: Sequence[str] | None = None,
    spin: tuple[int, int] = (0, 0),
    tolerance: float = 1e-4,
    seed: int = 0,
) -> dict[str, float]:
    """Assert that a module commutes with the symmetries of its graphs.

    For each symmetry g it compares module(g signal) with g module(signal), in eval mode and without
    gradients. Symmetries are the ones shared by all levels that the module has as submodules (all
    of them where it has the pyramid), by the levels of the signal and the output, and by all in
    between; see `cheblienet_models.symmetries`. Where a part of the module says `handed`, as
    first-order layers and lifts with odd filters do, reflections are none of them, unless they are
    asked for by name; of Laplacians alone they are.

    Args:
        module: takes one signal and returns one tensor.
        pyramid: of the graphs that it works on.
        signal: to try it on, (B, C, V) on the vertices of `level`, or (B, C, *base shape) or
            (B, C, base points) on its base, such as images (B, C, H, W) or volumes
            (B, C, D, H, W). Where a mask left points out, the base is the full sampling, of which
            only what is inside is moved and compared, or (B, C, points inside). Left out: normal
            random numbers (2, C, V), C the `in_channels` of the first submodule that has any, else
            1; of the dtype and on the device of the module's first parameter.
        level: of the signal, 0 the finest.
        output: what the module returns: a signal on the "vertices" or the "base" of some level, in
            its last dimensions, or numbers that are "invariant". "auto" decides by their sizes.
        symmetries: names of symmetries to try; all there are where left out.
        spin: of the signal and of the output, 0 of scalars. Fields of spin are on the vertices of
            s2 and r2, or on the base: (B, 2 C, ...), the components along south or x of all C
            fields, then the ones along east or y. Symmetries turn them as they turn frames;
            reflections first change the sign of the second ones.
        tolerance: largest difference allowed, absolute.
        seed: of the random numbers.

    Returns:
        The largest difference for each symmetry, by name.

    Raises:
        AssertionError: a difference is larger; the message names the symmetry.
        ValueError: there is no symmetry, none of a name given, or a shape fits no level or two.
        TypeError: an argument is something else, or the module does not return a tensor.

    Example:
        >>> pyramid = open_or_build(GraphSpec("se2", 16, orientations=4, levels=2), "graphs.zarr")
        >>> layer = ChebConv(2, 2, kernel_size=3, graph=pyramid.levels[0])
        >>> sorted(assert_equivariant(layer, pyramid))
        ['flip', 'rotation_180', 'rotation_90']
    """
    instance("module", module, nn.Module)
    instance("pyramid", pyramid, Pyramid)
    choice("output", output, get_args(Output))
    number("tolerance", tolerance)
    integer("level", level, 0, len(pyramid.levels) - 1)
    if symmetries is not None and not is_sequence(symmetries):
        raise TypeError(f"symmetries must be a list of names. Got {quoted(symmetries)}.")
    if symmetries is not None and not symmetries:
        raise ValueError("symmetries must have a name at least; left out, all are tried. Got [].")
    spin = pair_of_spins(spin)
    if signal is None:
        signal = _random_signal(module, pyramid, level, seed, spin[0])
    source = _source(signal, pyramid, level)
    check_pairs("signal", signal, spin[0])
    with evaluating(module), torch.no_grad():
        expected = image_of(module, signal)
        target = _target(expected, pyramid, output)
        differences = {}
        check_pairs("The output", expected, spin[1])
        for name, motions in _chosen(module, pyramid, (source, target), symmetries).items():
            turns = [
                _turns(pyramid, place, one, name, motions)
                for place, one in zip((source, target), spin, strict=True)
            ]
            image = image_of(module, _moved(signal, source, motions, turns[0]))
            moved = _moved(expected, target, motions, turns[1])
            differences[name] = _difference(_inside(image, target), _inside(moved, target))
    for name, difference in differences.items():
        if not difference <= tolerance:
            raise AssertionError(
                f"{type(module).__name__} is not equivariant under {name} of {pyramid.name}@"
                f"{pyramid.version}: the largest difference is {difference:.3g}, the tolerance "
                f"{tolerance:.3g}."
            )
    return differences


@dataclass(frozen=True)
class _Place:
    """The place of a signal: the vertices or the base of a level, in its last sizes, `shape`.

    `inside` are the places, in that shape flattened, of the points that a mask left; None for all.
    """

    level: int
    kind: Kind
    shape: tuple[int, ...]
    inside: Tensor | None = None


def _random_signal(module: nn.Module, pyramid: Pyramid, level: int, seed: int, spin: int) -> Tensor:
    channels = _in_channels(module) * (2 if spin else 1)
    shape = (2, channels, pyramid.levels[level].num_vertices)
    default = torch.empty(0, dtype=torch.float32, device=pyramid.levels[level].values.device)
    like = next(module.parameters(), default)
    generator = torch.Generator().manual_seed(integer("seed", seed))
    return torch.randn(shape, generator=generator).to(like)


def pair_of_spins(spin: object) -> tuple[int, int]:
    """The spins of a signal and of an output.

    Raises:
        TypeError: they are no two integers.
        ValueError: one is below 0.
    """
    if not isinstance(spin, tuple | list) or len(spin) != 2:
        raise TypeError(f"spin must be two, of the signal and the output. Got {quoted(spin)}.")
    return integer("spin", spin[0], 0), integer("spin", spin[1], 0)


def _in_channels(module: nn.Module) -> int:
    names = "lifted_channels", "in_channels"
    settings = (getattr(part, name, None) for part in module.modules() for name in names)
    return next((count for count in settings if isinstance(count, int)), 1)


def _source(signal: Tensor, pyramid: Pyramid, level: int) -> _Place:
    graph = pyramid.levels[level]
    places = _places(graph, level)
    check_shape(f"signal on {graph.label}", signal, [("B", "C", *place.shape) for place in places])
    return next(place for place in places if signal.shape[2:] == place.shape)


def _places(graph: Graph, level: int) -> list[_Place]:
    """The possible places of a level's signal; of several of one shape the first alone."""
    base = graph.grid[1:]
    inside = graph.base_index
    places = [_Place(level, "vertices", (graph.num_vertices,))]
    if graph.num_points < math.prod(base):
        # First: a signal as long as the full sampling is one on that, as networks take it.
        places.insert(0, _Place(level, "base", (math.prod(base),), inside))
    if len(base) > 1:
        places.append(_Place(level, "base", base, inside))
    places.append(_Place(level, "base", (graph.num_points,)))
    firsts = {place.shape: place for place in reversed(places)}
    return [place for place in places if firsts[place.shape] is place]


def image_of(module: nn.Module, signal: Tensor) -> Tensor:
    """The output of a module for a signal.

    Raises:
        TypeError: it is no tensor.
        ValueError: it is not dense, or has no values.
    """
    image = module(signal)
    if not isinstance(image, Tensor):
        name = type(module).__name__
        raise TypeError(
            f"{name} must return one tensor. Got {type(image).__name__}; wrap it in a module that "
            "returns the part to test."
        )
    check_values(f"The comparison of what {type(module).__name__} returns", image)
    return image


def _target(y: Tensor, pyramid: Pyramid, output: Output) -> _Place | None:
    """The place of an output; None where it is to be invariant.

    Raises:
        ValueError: it fits no level, or two places equally well.
    """
    if output == "invariant":
        return None
    if output == "orientations":
        place = _Place(0, "orientations", pyramid.levels[0].grid[:1])
        check_shape("The output on orientations", y, [("B", "C", *place.shape)])
        return place
    fits = [
        place
        for level, graph in enumerate(pyramid.levels)
        for place in _places(graph, level)
        if _fits(y, place) and _is_kind(graph, place, output)
    ]
    if not fits and output == "auto":
        return None
    longest = max((len(place.shape) for place in fits), default=0)
    best = [place for place in fits if len(place.shape) == longest]
    if len(best) != 1:
        label = f"{pyramid.name}@{pyramid.version}"
        where = " or ".join(f"the {p.kind} of level {p.level}" for p in best) or "no level"
        remedy = " Say which with output=." if len({place.kind for place in best}) > 1 else ""
        raise ValueError(f"An output {tuple(y.shape)} fits {where} of {label}.{remedy}")
    return best[0]


def _fits(y: Tensor, place: _Place) -> bool:
    return y.ndim > len(place.shape) and y.shape[-len(place.shape) :] == place.shape


def _is_kind(graph: Graph, place: _Place, output: Output) -> bool:
    """True if a place is of the kind asked for; without orientations vertices are the base."""
    return output in ("auto", place.kind) or (output == "base" and graph.orientations == 1)


def _chosen(
    module: nn.Module,
    pyramid: Pyramid,
    places: tuple[_Place, _Place | None],
    names: Sequence[str] | None,
) -> dict[str, dict[int, Motion]]:
    """The symmetries to try, with their motions.

    Raises:
        ValueError: there are none, or none of these names.
    """
    used = _levels(module, pyramid) | {place.level for place in places if place is not None}
    levels = range(min(used), max(used) + 1)
    motions = symmetries(pyramid, levels)
    if names is None and any(getattr(part, "handed", False) for part in module.modules()):
        motions = {name: of for name, of in motions.items() if not of[levels[0]].reflects}
    where = f"{pyramid.name}@{pyramid.version}, levels {levels[0]} to {levels[-1]},"
    if not motions:
        raise ValueError(f"The graphs of {where} have no symmetry that could be tested.")
    unknown = [name for name in names or () if name not in motions]
    if unknown:
        raise ValueError(
            f"The graphs of {where} have no symmetry {unknown[0]!r}. There: {', '.join(motions)}."
        )
    return motions if names is None else {name: motions[name] for name in names}


def _levels(module: nn.Module, pyramid: Pyramid) -> set[int]:
    """The levels with graphs or maps that are submodules, also as copies."""
    at: dict[object, set[int]] = {graph.handle: {n} for n, graph in enumerate(pyramid.levels)}
    for fine in range(len(pyramid.levels) - 1):
        for level_map in (pyramid.pooling(fine), pyramid.unpooling(fine)):
            at[level_map.handle] = {fine, fine + 1}
    parts = (p for p in module.modules() if isinstance(p, Graph | LevelMap))
    return set[int]().union(*(at.get(part.handle, ()) for part in parts))


def _moved(
    x: Tensor, place: _Place | None, motions: dict[int, Motion], turns: Tensor | None
) -> Tensor:
    """The signal g x: what was at v is at g v, turned there."""
    if place is None:
        return x
    motion = motions[place.level]
    image = _permutation(motion, place.kind).to(x.device)
    flat = x.flatten(-len(place.shape))
    inside = torch.arange(len(image)) if place.inside is None else place.inside.long()
    inside = inside.to(x.device)
    values = flat[..., inside]
    if turns is not None:
        first, second = values.chunk(2, 1)
        mirrored = torch.cat([first, -second if motion.reflects else second], 1)
        values = rotated(mirrored, turns.to(x.device))
    moved = flat.clone()
    moved[..., inside[image]] = values
    return moved.view_as(x)


def _turns(
    pyramid: Pyramid, place: _Place | None, spin: int, name: str, motions: dict[int, Motion]
) -> Tensor | None:
    """(points,) by which a symmetry turns components of fields of spin; None of scalars.

    Raises:
        ValueError: there is a spin and no place with a frame.
    """
    if not spin:
        return None
    manifold = pyramid.spec["manifold"]
    fibers = place is not None and pyramid.levels[place.level].orientations > 1
    if place is None or manifold.startswith("r3") or (place.kind != "base" and fibers):
        where = "one that is invariant" if place is None else f"{place.kind} of {manifold}"
        raise ValueError(f"Fields of spin {spin} are on s2, r2 and bases of these. Got {where}.")
    turns = frame_turns(pyramid.levels[place.level], motions[place.level])
    return spin * turns * (not name.startswith("translation"))


def _permutation(motion: Motion, kind: Kind) -> Tensor:
    """The image of each vertex, base point or orientation."""
    if kind != "orientations":
        return motion.vertices if kind == "vertices" else motion.base
    if motion.orientations is None:
        raise ValueError(
            "Orientations are compared where symmetries turn all points' alike. On the sphere they "
            "do not: say output='vertices'."
        )
    return motion.orientations


def _inside(y: Tensor, place: _Place | None) -> Tensor:
    """The part of an output that is compared: without what lies outside of a mask."""
    if place is None or place.inside is None or not _fits(y, place):
        return y
    return y.flatten(-len(place.shape))[..., place.inside.to(y.device).long()]


def _difference(found: Tensor, expected: Tensor) -> float:
    """The largest absolute one; infinite where the shapes differ."""
    if found.shape != expected.shape:
        return math.inf
    gap = (found.double() - expected.double()).abs()
    return float(gap.max()) if gap.numel() else 0.0


@contextmanager
def evaluating(module: nn.Module) -> Iterator[None]:
    """Eval mode, with every submodule's own mode back afterwards."""
    training = {part: part.training for part in module.modules()}
    module.eval()
    try:
        yield
    finally:
        for part, mode in training.items():
            part.training = mode
