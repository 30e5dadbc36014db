"""The segmentation network: shapes, equivariance, training, checkpoints, refusals."""

import io
import pickle
from pathlib import Path

import pytest
import torch
from torch import nn

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.recipes import recipe
from cheblienet_models import Pyramid, StoreError, UNet, open_store
from cheblienet_models.networks.unet import PAPER_CHANNELS, default_channels
from cheblienet_models.testing import assert_equivariant

SPECS = {
    "r2": GraphSpec("r2", "16x8", levels=3),
    "se2": GraphSpec("se2", 16, orientations=6, eps_squared=0.1, levels=3),
    "periodic": GraphSpec("se2", 16, orientations=4, boundary="periodic", levels=2),
    "s2": GraphSpec("s2", subdivisions=2, levels=3),
    "so3": GraphSpec("so3", subdivisions=2, orientations=6, eps_squared=0.1, levels=3),
    "healpix": GraphSpec("so3", nside=4, orientations=4, levels=2),
    "equiangular": GraphSpec("so3", bandlimit=4, orientations=4, levels=2),
    "one-level": GraphSpec("s2", subdivisions=1, levels=1),
}
DEEP = [name for name, spec in SPECS.items() if spec.levels > 1]


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("deep") / "graphs.zarr"
    for name, spec in SPECS.items():
        build(spec, path, name=name)
    return path


def narrow(pyramid: Pyramid, *, in_channels: int = 3, num_classes: int = 4, **options) -> UNet:
    channels = range(4, 5 + len(pyramid.levels))
    return UNet(pyramid, in_channels, num_classes, kernel_size=3, channels=channels, **options)


def trained(network: UNet) -> UNet:
    """A few steps on noise, so that no weight or statistic is at its initial value."""
    torch.manual_seed(0)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
    base = network.pyramid.levels[0].grid[1:]
    for _ in range(5):
        loss = nn.functional.nll_loss(
            network(torch.randn(2, 3, *base)), torch.randint(4, (2, *base))
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return network.eval()


@pytest.mark.parametrize("name", DEEP)
def test_a_distribution_over_classes_at_each_base_point(graphs: Path, name: str) -> None:
    pyramid = open_store(graphs)[name]
    graph = pyramid.levels[0]
    network = narrow(pyramid).eval()
    signal = torch.randn(2, 3, *graph.grid[1:])
    with torch.no_grad():
        found = network(signal)
        assert found.shape == (2, 4, *graph.grid[1:])
        assert torch.allclose(found.exp().sum(1), torch.ones(()), atol=1e-5)
        assert torch.equal(network(signal.flatten(2)), found)
        assert torch.equal(network(network.lift(signal)), found)


@pytest.mark.parametrize("pool", ["max", "mean", "random"])
@pytest.mark.parametrize("name", DEEP)
def test_equivariant_under_all_symmetries(graphs: Path, name: str, pool: str) -> None:
    pyramid = open_store(graphs)[name]
    unpool = "random" if pool == "random" else "mean"
    project = "mean" if pool == "mean" else "max"
    network = trained(narrow(pyramid, pool=pool, unpool=unpool, project=project))
    signal = torch.randn(2, 3, *pyramid.levels[0].grid[1:])
    differences = assert_equivariant(network, pyramid, signal, output="base", tolerance=1e-4)
    assert len(differences) >= 2
    lifted = assert_equivariant(network, pyramid, output="base", tolerance=1e-4)
    assert set(lifted) == set(differences)


def test_skips_carry_what_pooling_loses(graphs: Path) -> None:
    """Two points with the same parent get predictions of their own, from one point's signal."""
    pyramid = open_store(graphs)["r2"]
    network = UNet(pyramid, 1, 2, kernel_size=1, channels=[4] * 4).eval()
    signal = torch.zeros(1, 1, 8, 16)
    signal[..., 2, 2] = 3
    with torch.no_grad():
        found = network(signal)
    assert (found[..., 2, 2] - found[..., 3, 3]).abs().max() > 1e-3
    assert torch.allclose(found[..., 3, 2], found[..., 3, 3])
    assert torch.allclose(found[..., 6, 12], found[..., 7, 9])


@pytest.mark.parametrize("name", ["se2", "so3"])
def test_overfits_a_small_problem(graphs: Path, name: str) -> None:
    torch.manual_seed(0)
    pyramid = open_store(graphs)[name]
    network = narrow(pyramid, in_channels=1, num_classes=3)
    signal = torch.randn(2, 1, *pyramid.levels[0].grid[1:])
    labels = (signal[:, 0] > -0.5).long() + (signal[:, 0] > 0.5).long()
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-2)
    for _ in range(60):
        loss = nn.functional.nll_loss(network(signal), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert (network(signal).argmax(1) == labels).float().mean() > 0.95


def test_default_channels_are_the_papers() -> None:
    levels = recipe("climatenet").spec.levels
    assert default_channels(levels) == PAPER_CHANNELS == (16, 32, 64, 128, 256, 256, 256)
    assert default_channels(2) == (16, 32, 64)
    assert default_channels(8) == (*PAPER_CHANNELS, 256, 256)


def test_the_papers_network_on_six_levels(tmp_path: Path) -> None:
    """The channels of every block, on six levels of a plane that is quick to build."""
    build(GraphSpec("r2", 64, levels=6), tmp_path / "g.zarr")
    network = UNet(open_store(tmp_path / "g.zarr")["r2-64x64"], 16, 3)
    widths = lambda block: (block.conv1.in_channels, block.conv1.out_channels)  # noqa: E731
    assert (network.conv.in_channels, network.conv.out_channels) == (16, 16)
    assert [widths(block) for block in network.down] == [
        (16, 32),
        (32, 64),
        (64, 128),
        (128, 256),
        (256, 256),
        (256, 256),
    ]
    assert [widths(block) for block in network.up] == [
        (96, 32),
        (192, 64),
        (384, 128),
        (512, 256),
        (512, 256),
    ]
    assert network.eval()(torch.zeros(1, 16, 64, 64)).shape == (1, 3, 64, 64)


def test_signals_stay_vertex_major(graphs: Path) -> None:
    network = narrow(open_store(graphs)["so3"])
    seen = []
    for block in (*network.down, *network.up):
        block.register_forward_hook(lambda _, inputs, y: seen.extend([*inputs, y]))
    network(torch.randn(2, 3, 162))
    assert len(seen) == 10
    assert all(x.permute(2, 0, 1).is_contiguous() for x in seen)


def test_pickles_and_ddp(graphs: Path) -> None:
    network = trained(narrow(open_store(graphs)["so3"]))
    data = pickle.dumps(network)
    assert len(data) < sum(p.numel() * p.element_size() for p in network.parameters()) + 100_000
    again, x = pickle.loads(data), torch.randn(1, 3, 162)
    assert torch.equal(again(x), network(x))
    ignored = set(network._ddp_params_and_buffers_to_ignore)
    buffers = {name for name, _ in network.named_buffers(remove_duplicate=False)}
    ends = {name.rpartition(".")[2] for name in buffers - ignored}
    assert ends == {"running_mean", "running_var", "num_batches_tracked"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_classes": 0}, r"num_classes must be at least 1\. Got 0\."),
        ({"in_channels": 0}, r"in_channels must be at least 1\. Got 0\."),
        (
            {"channels": [4, 4, 4]},
            r"channels must be 4 .* 3 levels of so3@v001.*\(4, 4, 4\)",
        ),
        ({"channels": [4, 4, 0, 4]}, r"channels must be 4 numbers of at least 1.*\(4, 4, 0, 4\)"),
        ({"pool": "min"}, "mode must be"),
        ({"unpool": "min"}, "mode must be"),
        ({"project": "random"}, "mode must be"),
    ],
)
def test_refused_options(graphs: Path, options: dict[str, object], message: str) -> None:
    arguments = {"in_channels": 1, "num_classes": 2, "channels": [2] * 4} | options
    with pytest.raises(ValueError, match=message):
        UNet(open_store(graphs)["so3"], **arguments)


def test_refused_signals_and_pyramids(graphs: Path) -> None:
    opened = open_store(graphs)
    with pytest.raises(ValueError, match=r"at least two levels\. one-level@v001 has 1"):
        UNet(opened["one-level"], 1, 2)
    plane, sphere = narrow(opened["se2"]), narrow(opened["so3"])
    shapes = r"\(B, 3, 16, 16\) or \(B, 3, 256\) or \(B, 3, 6, 16, 16\) or \(B, 3, 1536\)"
    with pytest.raises(ValueError, match=shapes):
        plane(torch.zeros(1, 3, 16, 8))
    for shape in ((1, 3, 161), (1, 2, 162), (3, 162), (1, 3, 9, 18)):
        with pytest.raises(
            ValueError, match=r"takes \(B, 3, 162\) or .*, 6, 162\) or \(B, 3, 972\)\. Got \("
        ):
            sphere(torch.zeros(shape))
    with pytest.raises(ValueError, match=r"takes torch\.float32.*Got torch\.float64"):
        sphere(torch.zeros(1, 3, 162, dtype=torch.float64))


@pytest.mark.parametrize("name", ["so3", "s2"])
def test_equivariant_as_the_sampling_has_it(graphs: Path, name: str) -> None:
    """The building side's permutations, which know turns by 72 and 120 degrees where exact."""
    pyramid, spec = open_store(graphs)[name], SPECS[name]
    network, points = trained(narrow(pyramid)), pyramid.levels[0].grid[1]
    on_levels = [
        {symmetry for symmetry, _ in spec.full_sampling(level).symmetries()} for level in range(3)
    ]
    shared = {symmetry for symmetry in set.intersection(*on_levels) if "(" not in symmetry}
    assert {"half_turn_x", "half_turn_y", "half_turn_z", "reflection"} <= shared
    assert name == "so3" or {"rotation_72", "rotation_120"} <= shared
    signal = torch.randn(1, 3, points)
    with torch.no_grad():
        expected = network(signal)
        for symmetry, moved in spec.full_sampling(0).symmetries():
            if symmetry in shared:
                image = torch.from_numpy(moved[:points] % points)
                turned, wanted = torch.empty_like(signal), torch.empty_like(expected)
                turned[..., image], wanted[..., image] = signal, expected
                assert not torch.equal(turned, signal)
                assert (network(turned) - wanted).abs().max() <= 1e-4


def test_predictions_differ_from_point_to_point(graphs: Path) -> None:
    """What a global pooling at the end would prevent."""
    pyramid = open_store(graphs)["so3"]
    predictions = trained(narrow(pyramid))(torch.randn(1, 3, 162))
    assert predictions.std(2).min() > 1e-2


def test_gradients_reach_all_parameters(graphs: Path) -> None:
    torch.manual_seed(0)
    network = narrow(open_store(graphs)["so3"])
    (network(torch.randn(2, 3, 162)) ** 2).sum().backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 0, name


def test_checkpoints(graphs: Path) -> None:
    opened, file = open_store(graphs), io.BytesIO()
    network = trained(narrow(opened["so3"]))
    torch.save(network.state_dict(), file)
    file.seek(0)
    state = torch.load(file, weights_only=True)
    extra = [key for key in state if key.endswith("_extra_state")]
    assert extra == ["_extra_state", "pyramid._extra_state"]
    again = narrow(opened["so3"])
    again.load_state_dict(state)
    x = torch.randn(1, 3, 162)
    assert torch.equal(again.eval()(x), network(x))
    with pytest.raises(StoreError, match=r"trained on so3@v001.*on s2@v001"):
        narrow(opened["s2"]).load_state_dict(state)
