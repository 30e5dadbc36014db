"""Weights that go from one graph to another: which may, what is said, what is refused."""

import copy
import io
import json
import math
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from marks import OFF_THEIR_METRIC
from refusing import refused
from stores import store_of
from torch import Tensor, nn

from cheblienet_graphs import GraphSpec
from cheblienet_models import (
    ChebConv,
    Diffusion,
    Gradient,
    GradientNorm,
    Graph,
    Pyramid,
    StoreError,
    WideResNet,
    load_weights,
    open_store,
    sample_edges,
)
from cheblienet_models.graphs.identity import xi_in_spacings

BASE = {"orientations": 4, "levels": 2, "lambda_max": 2}
SPECS = {
    "patches": GraphSpec("se2", 8, **BASE),
    "images": GraphSpec("se2", "12x16", **BASE),
    "turning": GraphSpec("se2", 16, xi=0.5, **BASE),
    "also-turning": GraphSpec("se2", 8, xi=0.5, **BASE),
    "scattered": GraphSpec("se2", points=64, orientations=4, levels=1, lambda_max=2),
    "orientations": GraphSpec("se2", 8, orientations=6, levels=2, lambda_max=2),
    "weights": GraphSpec("se2", 8, orientations=4, levels=2, weights="selling"),
    "closed": GraphSpec("se2", 8, orientations=4, levels=2, weights="selling", boundary="periodic"),
    "sphere": GraphSpec("s2", subdivisions=2, levels=2, weights="kernel"),
    "healpix": GraphSpec("s2", nside=4, levels=2),
    "round": GraphSpec("se2", 8, eps=1, **BASE),
    "arrows": GraphSpec("se2", 8, period="2pi", gradients=True, **BASE),
    "round-arrows": GraphSpec("se2", 8, eps=1, period="2pi", gradients=True, **BASE),
    "turning-sphere": GraphSpec("so3", subdivisions=1, xi=0.5, **BASE),
}
graphs = store_of(SPECS)


def make(pyramid: Pyramid, in_channels: int = 1, **settings: Any) -> WideResNet:
    sizes = {"kernel_size": 2, "depth": 1, "widen": 1, "pool": "mean"}
    return WideResNet(pyramid, in_channels, 2, **sizes, **settings)


def reread(state: Any) -> Any:
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


def saved(network: nn.Module) -> dict[str, Tensor]:
    return reread(network.state_dict())


def as_bytes(text: str) -> Tensor:
    return torch.frombuffer(bytearray(text.encode()), dtype=torch.uint8)


def as_state(document: object) -> Tensor:
    return as_bytes(json.dumps(document))


NAMED = {"name": "x", "version": "v001", "spec_sha256": "0"}


@pytest.mark.parametrize(
    ("trained", "here", "names", "steps"),
    [
        ("patches", "patches", "", None),
        ("patches", "images", "size", None),
        ("weights", "closed", "boundary boundary_correction", None),
        ("also-turning", "turning", "size", (4, 8)),
        ("patches", "turning", "size xi alpha", (2, 8)),
        ("patches", "scattered", "sampling size points seed levels", None),
        ("sphere", "healpix", "sampling subdivisions nside", None),
    ],
)
def test_what_may_differ_is_returned(
    graphs: Path, trained: str, here: str, names: str, steps: tuple[int, int] | None
) -> None:
    store = open_store(graphs)
    network, other = make(store[trained]), make(store[here])
    apart = load_weights(other, saved(network), allow_other_graph=True)
    then, now = store[trained].spec, store[here].spec
    expected = {name: (then.get(name), now.get(name)) for name in names.split()}
    expected |= {"xi in lattice units": steps} if steps else {}
    assert {d.name: (d.trained, d.here) for d in apart} == expected
    assert all(str(d) == f"{d.name}: {d.trained!r} in training, {d.here!r} here" for d in apart)
    for name, value in network.named_parameters():
        assert torch.equal(other.get_parameter(name), value)
    make(store[here]).load_state_dict(saved(other))  # its own graph is in what it saves


def test_xi_in_lattice_units_is_that_of_the_builder() -> None:
    specs = [spec for spec in SPECS.values() if spec.xi not in {None, "auto"}]
    for spec in (*specs, GraphSpec("so3", xi=0.2, nside=4)):
        expected = spec.metric(0).xi / math.sqrt(spec.squared_spacing(0))
        assert xi_in_spacings(spec) == pytest.approx(expected, rel=1e-5)
    for spec in (GraphSpec("so3", subdivisions=3, in_plane_fraction=0.4), SPECS["sphere"]):
        assert xi_in_spacings(spec) is None
    points = np.random.default_rng(0).random((50, 2))
    sphere = GraphSpec("so3", coordinates=60 * points, xi=0.2)
    plane = GraphSpec("se2", coordinates=points, domain=(0, 0, 2, 3), xi=0.2)
    for spec, area in ((sphere, 4 * math.pi / 50), (plane, 1.5 / 50)):
        assert xi_in_spacings(spec) == pytest.approx(0.2 / math.sqrt(area), rel=1e-5)


def test_specifications_that_can_not_be_read_are_refused(graphs: Path) -> None:
    """As those of a region without a mask, which would be sampled, or with fields to come."""
    network = make(open_store(graphs)["turning-sphere"])
    known = network.pyramid.spec
    region = {k: v for k, v in known.items() if k != "subdivisions"}
    region |= {"sampling": "random", "points": 3_000_000, "seed": 0, "region": [0, 0, 60, 60]}
    for spec in (region, known | {"xi": True}, known | {"size": 10**400}, known | {"later": 1}):
        state = {**saved(network), "pyramid._extra_state": as_state(NAMED | {"spec": spec})}
        load = partial(load_weights, allow_other_graph=True)
        refused(
            "^The specification of x@v001 can't be read", load, network, state, error=StoreError
        )


OPERATORS = {"laplacian": "combinatorial", "eps": 0.5, "neighbors": 12, "kernel": "cauchy"}
OPERATORS |= {"lambda_max": "exact", "period": "2pi", "directional": 0.05}
"""Of specifications, what decides which operator filters are of."""


def test_other_operators_are_refused_and_nothing_is_loaded(graphs: Path) -> None:
    store = open_store(graphs)
    network, other = make(store["patches"]), make(store["orientations"])
    before = {key: value.clone() for key, value in other.state_dict().items()}
    for trained, here in ((network, other), (other, network)):
        with pytest.raises(StoreError, match=r"was trained on .*; this network is on") as caught:
            load_weights(here, saved(trained), allow_other_graph=True)
        for pyramid in (trained.pyramid, here.pyramid):
            assert f"on {pyramid.name}@v001 with" in str(caught.value)
            assert f"orientations={pyramid.spec['orientations']}" in str(caught.value)
    for name, value in OPERATORS.items():
        bound = {"lambda_max": "exact"} if name == "laplacian" else {}
        identity = NAMED | {"spec": other.pyramid.spec | bound | {name: value}}
        state = {**saved(network), "pyramid._extra_state": as_state(identity)}
        load = partial(load_weights, allow_other_graph=True)
        message = f"trained on x@v001 with .*{name}={value!r}"
        refused(message, load, other, state, error=StoreError)
    for key, value in other.state_dict().items():
        assert torch.equal(value, before[key])


def test_without_leave_another_graph_is_refused(graphs: Path) -> None:
    store = open_store(graphs)
    state, other = saved(make(store["patches"])), make(store["images"])
    message = "trained on patches@v001.*images@v001.*load_weights"
    refused(message, other.load_state_dict, state, error=StoreError)
    refused(message, load_weights, other, state, error=StoreError)
    trained, early = (
        nn.ModuleDict({"conv": ChebConv(1, 1, 2, store[name].levels[0]), "pyramid": store[name]})
        for name in ("patches", "images")
    )
    before = early["conv"].weight.clone()
    refused("trained on patches@v001", load_weights, early, saved(trained), error=StoreError)
    assert torch.equal(early["conv"].weight, before)


def test_other_layers_are_refused_in_one_line(graphs: Path) -> None:
    store = open_store(graphs)
    network, state = make(store["images"]), saved(make(store["patches"], in_channels=3))
    before = network.conv.weight.clone()
    for change, fault in (
        ({}, r"conv.weight has shape \(2, 3, 16\), the network's \(2, 1, 16\)\."),
        ({"classify.bias": None}, r"conv.weight has shape .*, and 1 more\."),
        ({"conv.weight": network.conv.weight, "new\n": before}, r"'new\\n' is not the network's\."),
    ):
        message, given = f"other layers than WideResNet has: {fault}", {**state, **change}
        for leave in (False, True):
            refused(message, load_weights, network, given, allow_other_graph=leave)
    refused("pyramid._extra_state is missing, and", load_weights, network, {"network": state})
    assert torch.equal(network.conv.weight, before)


LAYERS = {
    "laplacian": lambda graph: ChebConv(1, 2, 3, graph),
    "first-order": lambda graph: ChebConv(1, 2, 3, graph, operators="first-order"),
    "diffusion": lambda graph: Diffusion(1, graph),
    "norm": lambda graph: GradientNorm(1, 2, graph),
    "gradient": Gradient,
}
"""All that compute with the operators of a graph."""


class Own(nn.Module):
    """A network that registers no pyramid, and lets its layer work after weights of others."""

    def __init__(self, graph: Graph, layer: str = "laplacian") -> None:
        super().__init__()
        self.mix = nn.Conv1d(1, 1, 1)
        self.layer = LAYERS[layer](graph)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(self.mix(x))


@OFF_THEIR_METRIC
@pytest.mark.parametrize("layer", LAYERS)
def test_layers_refuse_another_graph(graphs: Path, layer: str) -> None:
    """In any module, with its fields; nothing of the layer is loaded."""
    store = open_store(graphs)
    network = Own(store["arrows"].levels[0], layer)
    state = saved(network)
    for name, level, then, now in (
        ("round-arrows", 0, r"eps=0\.31.*", "eps=1.0"),
        ("arrows", 1, "level=0", "level=1"),
    ):
        other = Own(store[name].levels[level], layer)
        before = [value.clone() for value in other.layer.parameters()]
        message = (
            rf"checkpoint's {type(network.layer).__name__} was trained on arrows@v001, level 0: "
            rf"{then}\. This one is on {name}@v001, level {level}: {now}\..*allow_other_graph"
        )
        refused(message, other.load_state_dict, state, error=StoreError)
        refused(message, load_weights, other, state, error=StoreError)
        assert all(map(torch.equal, other.layer.parameters(), before))
    again, x = Own(open_store(graphs)["arrows"].levels[0], layer), torch.randn(1, 1, 256)
    assert again.load_state_dict(state) == ([], [])
    assert torch.equal(again(x), network(x))
    assert load_weights(again, state) == ()


def test_networks_that_do_not_register_their_pyramid(graphs: Path) -> None:
    store = open_store(graphs)
    network = Own(store["patches"].levels[0])
    other = Own(store["images"].levels[1])
    apart = load_weights(other, saved(network), allow_other_graph=True)
    assert {d.name: (d.trained, d.here) for d in apart} == {
        "size": ([8, 8], [12, 16]),
        "level": (0, 1),
    }
    assert torch.equal(other.layer.weight, network.layer.weight)
    message, unlike = (
        "trained on patches@v001, level 0 with eps=0.31",
        Own(store["round"].levels[0]),
    )
    load = partial(load_weights, allow_other_graph=True)
    refused(message, load, unlike, saved(network), error=StoreError)
    old = {key: value for key, value in saved(network).items() if "_extra_state" not in key}
    refused("weights of Own do not say which graph", load, other, old, error=StoreError)


def test_layers_of_older_checkpoints_load_with_a_warning(graphs: Path) -> None:
    graph = open_store(graphs)["patches"].levels[0]
    network, x = Own(graph), torch.randn(1, 1, 256)
    old = {key: value for key, value in saved(network).items() if "_extra_state" not in key}
    for load in (Own.load_state_dict, load_weights):
        again = Own(graph)
        with pytest.warns(UserWarning, match="of an earlier version, which did not say of layers"):
            load(again, old)
        assert torch.equal(again(x), network(x))
    part = {key: value for key, value in old.items() if key.startswith("mix")}
    assert Own(graph).load_state_dict(part, strict=False).missing_keys == [
        "layer.weight",
        "layer.bias",
    ]


def test_the_identity_is_the_graphs_and_small(graphs: Path) -> None:
    """However a layer came about, and whatever part of the graph it works on."""
    graph = open_store(graphs)["patches"].levels[0]
    network = Own(graph)
    state = network.state_dict()
    assert state["layer._extra_state"].nbytes < 600
    sample_edges(graph, 0.5)
    copies: list[Callable[[], nn.Module]] = [
        lambda: copy.deepcopy(network),
        lambda: pickle.loads(pickle.dumps(network)),
        lambda: copy.deepcopy(network).double(),
        lambda: copy.deepcopy(network).to("meta"),
    ]
    for copied in copies:
        one = copied()
        assert torch.equal(one.state_dict()["layer._extra_state"], state["layer._extra_state"])
        assert one.layer.graph.identity.spec is one.layer.graph.spec
    compiled = torch.compile(Own(graph), backend="eager")
    compiled.load_state_dict({f"_orig_mod.{key}": value for key, value in state.items()})
    sample_edges(graph, 1)
    x = torch.randn(1, 1, 256)
    assert torch.equal(compiled(x), network(x))
    program = torch.export.export(network.eval(), (x,))
    assert set(program.state_dict) == {name for name, _ in network.named_parameters()}
    on_meta = {key: value.to("meta") for key, value in state.items()}
    copy.deepcopy(network).to("meta").load_state_dict(on_meta)


def test_checkpoints_from_before_hold_no_specification(graphs: Path) -> None:
    """They load on their own graph; for another one has to save them again."""
    store = open_store(graphs)
    network = make(store["patches"])
    pyramid = network.pyramid
    identity = {key: getattr(pyramid, key) for key in ("name", "version", "spec_sha256")}
    old = {**saved(network), "pyramid._extra_state": as_state(identity)}
    again = make(store["patches"])
    again.load_state_dict(old)
    assert load_weights(again, old, allow_other_graph=True) == ()
    larger = make(store["images"])
    message = "but not that graph's specification.*on patches@v001, and"
    refused(message, load_weights, larger, old, allow_other_graph=True, error=StoreError)
    assert [d.name for d in load_weights(larger, saved(again), allow_other_graph=True)] == ["size"]


SPECIFIED = ([], {}, {"a\n" * 9999: "b" * 9999}, {str(n): n for n in range(999)})
IDENTITIES = [
    *(None, [], "text", {}, {"name": "x", "version": "v001"}, NAMED | {"name": "x" * 9999}),
    *(NAMED | {"spec": spec} for spec in SPECIFIED),
]
SETTINGS = ["null", "[]", "{", '{"kind": "cake\\n"}', "[" * 9999]
SETTINGS.append(json.dumps({str(n): "x\n" * 99 for n in range(999)}))
HOSTILE = [
    *(("pyramid._extra_state", json.dumps(identity), ".") for identity in IDENTITIES),
    *(("_extra_state", text, "Net was set|trained with ") for text in SETTINGS),
    *(("lift._extra_state", text, "Lift was set|trained with ") for text in SETTINGS),
]


@pytest.mark.parametrize(("key", "text", "message"), HOSTILE, ids=lambda value: value[:20])
def test_hostile_states_are_refused(graphs: Path, key: str, text: str, message: str) -> None:
    """What a checkpoint says of graphs and of settings may be anything."""
    network = make(open_store(graphs)["patches"], lift="cake")
    state = saved(network)
    odd = torch.zeros(3), torch.tensor([255], dtype=torch.uint8), torch.tensor(10**13)
    state[key] = as_bytes(text)
    allowing = partial(load_weights, network, allow_other_graph=True)
    for load in (network.load_state_dict, partial(load_weights, network), allowing):
        refused(message, load, state, error=StoreError, most=1_500)
    for extra in (None, 3, *odd) if key.startswith("pyramid") else ():
        state[key] = extra
        refused("does not say which graph", allowing, state, error=StoreError)
