"""Loading weights, also from another sampling of the same manifold."""

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from cheblienet_models.arguments import flag, instance
from cheblienet_models.errors import StoreError, quoted
from cheblienet_models.graphs.identity import (
    EXTRA,
    LEVEL,
    Difference,
    Identity,
    Recorded,
    decoded,
    differences,
    field_differences,
    settings_in_words,
)
from cheblienet_models.graphs.mapped import Identified, OnGraph
from cheblienet_models.graphs.pyramid import Pyramid
from cheblienet_models.graphs.vertex_map import VertexMap

Kept = TypeVar("Kept", bound=nn.Module)
OPERATOR_NAMES = "operator_names"
"""Buffer of layers that are not of the metric's Laplacian alone: names, and `LOW_PASS`."""
LOW_PASS = "low-pass"  # noqa: S105 -- no password
SPIN = "spin="


def load_weights(
    network: nn.Module, state: Mapping[str, Any], *, allow_other_graph: bool = False
) -> tuple[Difference, ...]:
    """Load what `network.state_dict()` saved, on the same graph or one like it.

    Weights do not depend on the number of vertices: trained on patches they serve for whole images.
    What a filter means depends on the operator that it is a polynomial of: manifold, orientations,
    eps, weights with their kernel, bandwidth and neighbors, Laplacian and lambda_max must be
    specified alike, directional ones too. Size, sampling, mask, boundary, the number of levels and
    xi may differ, and `first_level` of a WideResNet. All entries must have the same names and
    shapes, a lift by line filters and the poolings of WideResNet and UNet the same settings; other
    layers without weights can't be compared, nor what older checkpoints do not say.

    Args:
        network: of layers on graphs. Earlier versions said only of a network that registers its
            pyramid, as WideResNet and UNet do, what it was trained on.
        state: of a network of the same layers. It is not changed.
        allow_other_graph: whether another graph will do; else this is `load_state_dict`.

    Returns:
        In what the graphs differ, each as one line of text; empty where they are the same.

    Raises:
        TypeError: network or state is something else.
        StoreError: the graphs differ in more than they may, or nothing says what graph the weights
            were trained on, or lifts or poolings differ. Nothing has been loaded then.
        ValueError: the weights are of other layers. Nothing has been loaded then.

    Example:
        >>> pyramid = open_or_build(GraphSpec("se2", 16, orientations=4, levels=2), "graphs.zarr")
        >>> network = WideResNet(pyramid, in_channels=3, num_classes=10)
        >>> torch.save(network.state_dict(), "weights.pt")
        >>> load_weights(network, torch.load("weights.pt"))
        ()
    """
    instance("network", network, nn.Module)
    flag("allow_other_graph", allow_other_graph)
    _check_names(state)
    own = network.state_dict()
    recorded, layers = _with_extra(network, Recorded), _with_extra(network, OnGraph)
    later = {key: module for key, module in recorded.items() if module.since_later}
    lifts = {key: module for key, module in recorded.items() if key not in later}
    settings = _other_settings(lifts, state, leave=allow_other_graph)
    _check(network, own, state, {*later, *layers})
    settings += _other_settings(later, state, leave=allow_other_graph)
    found: list[Difference] = []
    if not allow_other_graph:
        for key, module in (*_with_extra(network, Identified).items(), *layers.items()):
            if key in state:
                module.set_extra_state(state[key])
    else:
        pyramids = _with_extra(network, Pyramid)
        graphs = {key: pyramid.identity for key, pyramid in pyramids.items()}
        graphs |= {key: layer.graph.identity for key, layer in layers.items()}
        sampled = tuple(key.removesuffix(EXTRA) for key, one in recorded.items() if one.sampled)
        for key in _known(network, graphs, state):
            between = differences(Identity.decoded(state[key]), graphs[key])
            if key.startswith(sampled):  # with settings that identify the level
                between = tuple(one for one in between if one.name != LEVEL)
            found += [difference for difference in between if difference not in found]
        found += [difference for difference in settings if difference not in found]
        maps = _with_extra(network, VertexMap)  # between these graphs, without weights of their own
        state = {**state, **{key: own[key] for key in (*graphs, *maps, *recorded)}}
    network.load_state_dict(state)
    return tuple(found)


def _check_names(state: object) -> None:
    if not isinstance(state, Mapping):
        raise TypeError(
            "state must be what state_dict() returns, as torch.load reads it from a file. "
            f"Got {quoted(state)}."
        )
    if odd := [key for key in state if not isinstance(key, str)]:
        raise TypeError(f"state must have entries by names, which are text. Got {quoted(odd[0])}.")


def _known(network: nn.Module, graphs: Mapping[str, Any], state: Mapping[str, Any]) -> list[str]:
    """The keys by which a state identifies graphs of a network."""
    keys = [key for key in graphs if key in state]
    if not keys:
        raise StoreError(
            f"The weights of {type(network).__name__} do not say which graph they were trained on: "
            "load them on that graph with load_state_dict, and save its state_dict()."
        )
    return keys


def _with_extra(network: nn.Module, kind: type[Kept]) -> dict[str, Kept]:
    """The modules of a kind by the keys of what they save besides weights."""
    return {
        f"{place}.{EXTRA}".lstrip("."): module
        for place, module in network.named_modules(remove_duplicate=False)
        if isinstance(module, kind)
    }


def _other_settings(
    recorded: Mapping[str, Recorded], state: Mapping[str, Any], *, leave: bool
) -> list[Difference]:
    """In what modules that record their settings, such as lifts, differ from the trained ones.

    Raises:
        StoreError: in more than, with leave, the level they are on.
    """
    modules: list[Difference] = []
    for key, module in recorded.items():
        if key in state:
            trained = module.decoded(state[key])
            may = module.sampled if leave else frozenset[str]()
            module.compare(trained, may)
            modules += field_differences(trained, module.settings)
        elif not module.since_later:
            raise StoreError(
                f"The weights were trained without {type(module).__name__}("
                f"{settings_in_words(module.settings)}), which this network has: make it as the "
                "trained one was."
            )
    return modules


def _check(
    network: nn.Module, own: Mapping[str, Any], state: Mapping[str, Any], needless: Collection[str]
) -> None:
    """Check that a state fits a network's layers: `load_state_dict` would say it in many lines."""
    theirs, ours = (_operators(entries) for entries in (state, own))
    if theirs != ours:
        raise ValueError(
            f"The weights are of {theirs}; {type(network).__name__} here has {ours}, of which the "
            "same weights would be another function."
        )
    faults = [f"{key} is missing" for key in own if key not in state and key not in needless]
    faults += [_foreign(key, state[key]) for key in state if key not in own]
    faults += [
        f"{key} has shape {_shape(state[key])}, the network's {_shape(own[key])}"
        for key in own
        if key in state and not key.endswith(EXTRA) and _shape(state[key]) != _shape(own[key])
    ]
    if faults:
        more = f", and {len(faults) - 1} more" if len(faults) > 1 else ""
        raise ValueError(
            f"The weights are of other layers than {type(network).__name__} has: {faults[0]}{more}."
        )


def _foreign(key: str, value: Any) -> str:
    """The fault of an entry that the network has not."""
    fault = f"{key!r:.99} is not the network's"
    part = key.removesuffix(f".{EXTRA}")
    if part == key:
        return fault
    settings = decoded(value)
    if settings is None:
        return fault
    return f"{part!r:.99} was trained with {settings_in_words(settings)}, which it has not here"


def _operators(state: Mapping[str, Any]) -> str:
    """The operators of the layers of a state."""
    names = (value for key, value in state.items() if key.endswith(f".{OPERATOR_NAMES}"))
    return operators_of(next(names, None))


def operators_of(names: Any) -> str:
    """The arguments of a layer, by the buffer OPERATOR_NAMES or its absence.

    Of directional Laplacians it has their names.
    """
    known = isinstance(names, Tensor) and names.dtype == torch.uint8
    told = bytes(names.flatten().tolist()).decode(errors="replace").split(",") if known else []
    spins = [name for name in told if name.startswith(SPIN)]
    operators = [name for name in told if name not in {LOW_PASS, "", *spins}]
    kind = "directional" if operators else "laplacian"
    kind = "first-order" if operators == ["first-order"] else kind
    named = [f"operators='{kind}'", *spins, *["low_pass=True"] * (LOW_PASS in told)]
    return ", ".join(named)


def _shape(value: Any) -> tuple[int, ...] | None:
    return tuple(value.shape) if isinstance(value, Tensor) else None
