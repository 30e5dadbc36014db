"""Weights that go from one graph to another: which may, what is said, what is refused."""

import io
import json
import math
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import (
    ChebConv,
    Lift,
    Pyramid,
    StoreError,
    UNet,
    WideResNet,
    load_weights,
    open_store,
)

BASE = {"orientations": 4, "levels": 2, "lambda_max": 2}
SPECS = {
    "patches": GraphSpec("se2", 8, **BASE),
    "images": GraphSpec("se2", "12x16", **BASE),
    "periodic": GraphSpec("se2", 8, boundary="periodic", **BASE),
    "turning": GraphSpec("se2", 16, xi=0.5, **BASE),
    "also-turning": GraphSpec("se2", 8, xi=0.5, **BASE),
    "scattered": GraphSpec("se2", points=64, orientations=4, levels=1, lambda_max=2),
    "deeper": GraphSpec("se2", 16, orientations=4, levels=3, lambda_max=2),
    "orientations": GraphSpec("se2", 8, orientations=6, levels=2, lambda_max=2),
    "laplacian": GraphSpec("se2", 8, orientations=4, levels=2, laplacian="combinatorial"),
    "eps": GraphSpec("se2", 8, eps=0.5, **BASE),
    "neighbors": GraphSpec("se2", 8, neighbors=12, **BASE),
    "kernel": GraphSpec("se2", 8, kernel="cauchy", **BASE),
    "weights": GraphSpec("se2", 8, orientations=4, levels=2, weights="selling"),
    "lambda_max": GraphSpec("se2", 8, orientations=4, levels=2),
    "manifold": GraphSpec("so3", subdivisions=1, orientations=4, levels=2, lambda_max=2),
    "sphere": GraphSpec("s2", subdivisions=2, levels=2),
    "healpix": GraphSpec("s2", nside=4, levels=2),
}
REFUSED = ("orientations", "laplacian", "eps", "neighbors", "kernel", "lambda_max", "manifold")


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("transfer") / "graphs.zarr"
    for name, spec in SPECS.items():
        build(spec, path, name=name)
    return path


def make(pyramid: Pyramid, in_channels: int = 1) -> WideResNet:
    return WideResNet(pyramid, in_channels, 2, kernel_size=2, depth=1, widen=1, pool="mean")


def saved(network: nn.Module) -> dict[str, Tensor]:
    file = io.BytesIO()
    torch.save(network.state_dict(), file)
    file.seek(0)
    return torch.load(file, weights_only=True)


def textures(size: int, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Noise whose grains are one pixel wide (0) or three (1): (count, 1, size, size)."""
    fine = torch.randn(count, 1, size, size, generator=generator)
    coarse = torch.randn(count, 1, size // 3, size // 3, generator=generator)
    coarse = coarse.repeat_interleave(3, 2).repeat_interleave(3, 3)
    labels = torch.arange(count) % 2
    return torch.where(labels.view(-1, 1, 1, 1) == 1, coarse, fine), labels


@pytest.mark.slow
def test_trained_on_96_it_runs_on_144(tmp_path: Path) -> None:
    for size in (96, 144):
        spec = GraphSpec("se2", size, orientations=2, levels=2, weights="selling")
        build(spec, tmp_path / "graphs.zarr")
    store, generator = open_store(tmp_path / "graphs.zarr"), torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    network = make(store["se2-96x96x2"])
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    for _ in range(12):
        images, labels = textures(96, 4, generator)
        optimizer.zero_grad()
        nn.functional.nll_loss(network(images), labels).backward()
        optimizer.step()
    state = saved(network)
    larger = make(store["se2-144x144x2"])
    with pytest.raises(
        StoreError, match=r"use load_weights\(network, state, allow_other_graph=True"
    ):
        larger.load_state_dict(state, strict=False)
    found = load_weights(larger, state, allow_other_graph=True)
    assert [(d.name, d.trained, d.here) for d in found] == [("size", [96, 96], [144, 144])]
    assert str(found[0]) == "size: [96, 96] in training, [144, 144] here"
    for name, value in network.named_parameters():
        assert torch.equal(larger.get_parameter(name), value)
    for kind in (network, larger):
        images, labels = textures(96 if kind is network else 144, 8, generator)
        with torch.no_grad():
            assert torch.equal(kind.train()(images).argmax(1), labels)
    # The larger network's own graph is in what it saves.
    make(store["se2-144x144x2"]).load_state_dict(saved(larger))


def test_filters_mean_the_same_on_a_larger_image(tmp_path: Path) -> None:
    """Far from the boundary a patch and an image around it get the same features.

    All weights are 1 and lambda_max is 2, so the Laplacians are equal there, entry by entry.
    """
    layers = {}
    for size in (16, 24):
        settings = {"kernel": "rectangular", "lambda_max": 2, "levels": 1}
        build(GraphSpec("se2", size, orientations=4, **settings), tmp_path / "graphs.zarr")
        pyramid = open_store(tmp_path / "graphs.zarr")[f"se2-{size}x{size}x4"]
        layers[size] = nn.ModuleDict(
            {"pyramid": pyramid, "lift": Lift(pyramid.levels[0])}
            | {"conv": ChebConv(1, 3, 3, pyramid.levels[0])}
        )
    load_weights(layers[24], saved(layers[16]), allow_other_graph=True)
    image = torch.randn(1, 1, 24, 24)
    found = {}
    for size, part in ((16, image[..., 4:20, 4:20]), (24, image)):
        features = layers[size]["conv"](layers[size]["lift"](part))
        found[size] = features.view(3, 4, size, size)
    assert torch.allclose(found[16][..., 6:10, 6:10], found[24][..., 10:14, 10:14], atol=1e-5)
    assert not torch.allclose(found[16], found[24][..., 4:20, 4:20], atol=1e-2)


@pytest.mark.parametrize(
    ("trained", "here", "expected"),
    [
        ("patches", "patches", {}),
        ("patches", "images", {"size": ([8, 8], [12, 16])}),
        ("patches", "periodic", {"boundary": ("open", "periodic")}),
        ("also-turning", "turning", {"size": ([8, 8], [16, 16]), "xi in lattice units": (4, 8)}),
        (
            "patches",
            "turning",
            {
                "size": ([8, 8], [16, 16]),
                "xi": ("alpha", 0.5),
                "alpha": (1, None),
                "xi in lattice units": (2, 8),
            },
        ),
        ("patches", "deeper", {"size": ([8, 8], [16, 16]), "levels": (2, 3)}),
        (
            "patches",
            "scattered",
            {
                "sampling": ("lattice", "random"),
                "size": ([8, 8], None),
                "points": (None, 64),
                "seed": (None, 0),
                "levels": (2, 1),
            },
        ),
        (
            "sphere",
            "healpix",
            {
                "sampling": ("icosahedral", "healpix"),
                "subdivisions": (2, None),
                "nside": (None, 4),
            },
        ),
    ],
)
def test_what_may_differ_is_returned(
    graphs: Path, trained: str, here: str, expected: dict[str, tuple[object, object]]
) -> None:
    store = open_store(graphs)
    network, other = make(store[trained]), make(store[here])
    found = load_weights(other, saved(network), allow_other_graph=True)
    assert {d.name: (d.trained, d.here) for d in found} == expected
    for name, value in network.named_parameters():
        assert torch.equal(other.get_parameter(name), value)


def test_xi_in_lattice_units_is_that_of_the_builder(graphs: Path) -> None:
    from cheblienet_models.graphs.identity import _xi_in_spacings

    specs = [spec for spec in SPECS.values() if spec.xi not in {None, "auto"}]
    specs += [GraphSpec("so3", xi=0.2, **size) for size in ({"nside": 4}, {"bandlimit": 5})]
    specs += [GraphSpec("so3", xi=0.2, subdivisions=3), GraphSpec("so3", xi=0.2, points=50)]
    for spec in specs:
        expected = spec.metric(0).xi / math.sqrt(spec.squared_spacing(0))
        assert _xi_in_spacings(spec.to_dict()) == pytest.approx(expected, rel=1e-5)
    solved = GraphSpec("so3", subdivisions=3, in_plane_fraction=0.4)
    for spec in (solved, SPECS["sphere"]):
        assert _xi_in_spacings(spec.to_dict()) is None


def test_xi_in_lattice_units_on_points_of_ones_own() -> None:
    """Spacings are roots of the area of a point, of grids by name and of points by number."""
    from cheblienet_models.graphs.identity import _xi_in_spacings

    sphere = {"manifold": "so3", "xi": 0.2, "sampling": "unstructured", "orientations": 4}
    plane = {"manifold": "se2", "xi": 0.2, "boundary": "open", "sampling": "unstructured"}
    for spec, area in (
        (sphere | {"coordinates": {"points": [500, 100]}}, 4 * math.pi / 500),
        (plane | {"coordinates": {"points": [50], "extent": [2.0, 3.0]}}, 1.5 / 50),
        (sphere | {"gaussian": "O32"}, 4 * math.pi / 5248),
        (sphere | {"gaussian": "F32"}, 4 * math.pi / 8192),
    ):
        assert _xi_in_spacings(spec) == pytest.approx(0.2 / math.sqrt(area), rel=1e-5)
    for value in ("", "O", "Ox", None, 3, [], "O0", "F" + "9" * 99):
        found = _xi_in_spacings(sphere | {"gaussian": value})
        assert found is None or isinstance(found, float)
    for value in (None, [], {}, {"points": []}, {"points": [0]}, {"points": ["x"]}):
        assert _xi_in_spacings(sphere | {"coordinates": value}) is None
        assert _xi_in_spacings(plane | {"coordinates": value}) is None


@pytest.mark.parametrize("name", REFUSED)
def test_other_operators_are_refused_and_nothing_is_loaded(graphs: Path, name: str) -> None:
    store = open_store(graphs)
    network, other = make(store["patches"]), make(store[name])
    before = {key: value.clone() for key, value in other.state_dict().items()}
    for trained, here in ((network, other), (other, network)):
        mine, theirs = here.pyramid, trained.pyramid
        with pytest.raises(StoreError) as caught:
            load_weights(here, saved(trained), allow_other_graph=True)
        message = str(caught.value)
        assert f"trained on {theirs.name}@v001 with" in message
        assert f"this network is on {mine.name}@v001 with" in message
        assert f"{name} {theirs.spec[name]!r}" in message
        assert f"{name} {mine.spec[name]!r}" in message
        assert "\n" not in message
    for key, value in other.state_dict().items():
        assert torch.equal(value, before[key])


def test_without_leave_another_graph_is_refused(graphs: Path) -> None:
    store = open_store(graphs)
    state = saved(make(store["patches"]))
    with pytest.raises(StoreError, match=r"trained on patches@v001.*on images@v001.*load_weights"):
        load_weights(make(store["images"]), state)
    again = make(store["patches"])
    assert load_weights(again, state) == ()
    assert torch.equal(again.conv.weight, state["conv.weight"])


def test_other_layers_are_refused_in_one_line(graphs: Path) -> None:
    store = open_store(graphs)
    network, state = make(store["images"]), saved(make(store["patches"], in_channels=3))
    before = network.conv.weight.clone()
    for change, fault in (
        ({}, r"conv.weight has shape \(2, 3, 16\), the network's \(2, 1, 16\)\."),
        ({"classify.bias": None}, r"conv.weight has shape .*, and 1 more\."),
        ({"conv.weight": network.conv.weight, "new\n": before}, r"'new\\n' is not the network's\."),
    ):
        for leave in (False, True):
            with pytest.raises(ValueError, match=rf"other layers than WideResNet has: {fault}"):
                load_weights(network, {**state, **change}, allow_other_graph=leave)
    with pytest.raises(ValueError, match=r"pyramid._extra_state is missing, and \d+ more"):
        load_weights(network, {"network": state})
    assert torch.equal(network.conv.weight, before)
    unet = UNet(store["images"], 1, 2, kernel_size=2, channels=(2, 2, 2))
    with pytest.raises(ValueError, match="other layers than UNet has"):
        load_weights(unet, state, allow_other_graph=True)


def test_parts_of_a_larger_module(graphs: Path) -> None:
    """Two networks on one pyramid, inside of another module: each says what it is on."""
    store = open_store(graphs)
    pairs = [
        nn.ModuleDict({"a": make(p), "b": make(p)}) for p in (store["patches"], store["images"])
    ]
    found = load_weights(pairs[1], saved(pairs[0]), allow_other_graph=True)
    assert [d.name for d in found] == ["size"]


def test_networks_that_do_not_register_their_pyramid(graphs: Path) -> None:
    conv = nn.Sequential(ChebConv(1, 2, 2, open_store(graphs)["patches"].levels[0]))
    with pytest.raises(StoreError, match=r"Sequential does not register its pyramid.*self.pyramid"):
        load_weights(conv, saved(conv), allow_other_graph=True)
    assert load_weights(conv, saved(conv)) == ()


def as_state(document: object) -> Tensor:
    return torch.frombuffer(bytearray(json.dumps(document).encode()), dtype=torch.uint8)


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
    with pytest.raises(
        StoreError, match=r"but not that graph's specification.*on patches@v001, and"
    ):
        load_weights(larger, old, allow_other_graph=True)
    assert [d.name for d in load_weights(larger, saved(again), allow_other_graph=True)] == ["size"]


@pytest.mark.parametrize(
    "identity",
    [
        None,
        [],
        "text",
        {},
        {"name": "x", "version": "v001"},
        {"name": "x" * 9999, "version": "v001", "spec_sha256": "0"},
        {"name": "x", "version": "v001", "spec_sha256": "0", "spec": []},
        {"name": "x", "version": "v001", "spec_sha256": "0", "spec": {}},
        {"name": "x", "version": "v001", "spec_sha256": "0", "spec": {"a\n" * 9999: "b" * 9999}},
        {
            "name": "x",
            "version": "v001",
            "spec_sha256": "0",
            "spec": {str(n): n for n in range(999)},
        },
    ],
)
def test_hostile_identities_are_refused(graphs: Path, identity: object) -> None:
    network = make(open_store(graphs)["patches"])
    state = {**saved(network), "pyramid._extra_state": as_state(identity)}
    for load in (
        network.load_state_dict,
        lambda state: load_weights(network, state, allow_other_graph=True),
    ):
        with pytest.raises(StoreError) as caught:
            load(state)
        assert len(str(caught.value)) < 1500
        assert "\n" not in str(caught.value)
    for extra in (None, 3, torch.zeros(3), torch.tensor([255], dtype=torch.uint8)):
        with pytest.raises(StoreError, match="does not say which graph"):
            load_weights(network, {**state, "pyramid._extra_state": extra}, allow_other_graph=True)


@pytest.mark.parametrize("xi", [None, True, "x", [], -1, 1e308, 10**400])
def test_impossible_values_are_no_number(xi: object) -> None:
    from cheblienet_models.graphs.identity import _xi_in_spacings

    for size in ([0, 0], [8, 8], [], "x", [10**400, 1]):
        for spec in (
            {"xi": xi, "size": size, "orientations": 4},
            {"xi": "alpha", "alpha": xi, "size": size, "orientations": 4},
            {"xi": xi, "manifold": "so3", "subdivisions": size, "orientations": 4},
        ):
            found = _xi_in_spacings(spec)
            assert found is None or isinstance(found, float)
