"""Public callables given something else than they take say so, in one line of ours."""

import inspect
import linecache
import random
import traceback
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from calls import Call, call, fails, of_spins
from marks import OFF_THEIR_METRIC

import cheblienet_graphs as graphs
import cheblienet_models as models
from cheblienet_graphs import GraphSpec, LatLonMask, MapSpec, Volume, build, build_map, write_nifti
from cheblienet_models import harmonics, open_store, resampling
from cheblienet_models.symmetries import symmetries
from cheblienet_models.testing import assert_equivariant, equivariance_error, turned_image

pytestmark = OFF_THEIR_METRIC

CALLED_WITHIN = {"get_extra_state", "set_extra_state", "compare", "decoded", "finite", "first_look"}
"""Methods that torch or other modules of the packages call, as they do all those of GraphSpec."""

RETURNED = {"Plan", "Published", "PublishedMap", "DataArray", "Basis", "Connection"}
"""Names of types that are not called."""


def publish(folder: Path) -> Path:
    """A store of a plane with everything that can be stored, a sphere, and axes in space."""
    store = folder / "graphs.zarr"
    plane = {"orientations": 4, "weights": "selling", "directional": 0.05, "eigenpairs": 4}
    build(GraphSpec("se2", 8, levels=2, **plane), store, name="plane")
    arrows = {"orientations": 4, "period": "2pi", "gradients": True}
    build(GraphSpec("se2", 8, levels=1, **arrows), store, name="arrows")
    build(GraphSpec("s2", subdivisions=1, levels=2, gradients=True), store, name="sphere")
    build(GraphSpec("r3s2", 4, axes="6", weights="selling", levels=1), store, name="space")
    build_map(MapSpec(*[GraphSpec("s2", subdivisions=1)] * 2, neighbors=3), store, name="map")
    return store


def of_models(store: Path) -> Iterator[Call]:
    """Those of cheblienet_models and its rooms."""
    opened = open_store(store)
    plane, sphere, space = (opened[name] for name in ("plane", "sphere", "space"))
    graph, axes = plane.levels[0], space.levels[0]
    signal, images = torch.randn(2, 3, graph.num_vertices), torch.randn(2, 3, *graph.grid[1:])
    coarse, fourier = torch.randn(2, 3, plane.levels[1].num_vertices), torch.randn(2, 3, 4)
    fibers, matrix = torch.randn(1, 1, 6, 5), store.parent / "matrix.npz"
    yield call(models.BatchNorm, signal, num_features=3, eps=1e-5, momentum=0.1)
    sizes = {"in_channels": 3, "out_channels": 2, "kernel_size": 2, "graph": graph}
    yield call(models.ChebConv, signal, **sizes, bias=True, save_basis=True)
    yield call(models.ChebConv, signal, **sizes, bias=True, operators="directional")
    yield call(models.ResidualBlock, signal, **sizes, operators="laplacian")
    channels = {"channels": 3, "graph": graph, "times": (0.1, 0.2)}
    yield call(models.Diffusion, signal, **channels, density=True, tolerance=1e-3)
    for layer in (models.FromHarmonics, models.ToHarmonics):
        basis = {"degree": 2, "basis": "tournier07", "affine": np.eye(4)}
        yield call(layer, fibers, graph=axes, **basis)
    arrows = opened["arrows"].levels[0]
    norms = {"in_channels": 3, "out_channels": 2, "graph": arrows, "handed": True}
    yield call(models.Gradient, signal, graph=arrows)
    yield call(models.GradientNorm, signal, **norms)
    yield call(models.GlobalPool, signal, mode="mean", keep=arrows)
    yield call(models.Lift, images, graph=graph, order="nested")
    yield call(models.OrientedLift, images, graph=graph, kind="cake", scales=[4.0])
    yield call(models.OrientedLift(graph).inverse, scores=signal)
    yield call(models.Project, signal, graph=graph, mode="mean")
    yield from of_spins(sphere, arrows)
    yield call(models.SpatialPool, signal, pyramid=plane, level=0, mode="mean")
    yield call(models.SpatialUnpool, coarse, pyramid=plane, level=0, mode="mean")
    network = {"pyramid": plane, "in_channels": 3, "num_classes": 2, "kernel_size": 2}
    network |= {"lift": "cake", "check_finite": True, "operators": "directional", "pool": "mean"}
    wide = {**network, "depth": 1, "widen": 0.125, "first_level": 0}
    yield call(models.WideResNet, images, **wide)
    shaped = {**network, "channels": [2, 2, 2], "unpool": "mean", "project": "max"}
    yield call(models.UNet, images, **shaped)
    small = models.WideResNet(**wide)
    yield call(small.features, images=images)
    yield call(models.low_pass_, module=small, order=1)
    yield call(models.UNet(**shaped).features, signal=images)
    yield call(models.ignore_graphs_in_ddp, module=small)
    yield call(models.load_weights, network=small, state=small.state_dict(), allow_other_graph=True)
    yield call(models.check_finite, name="mine", x=images)
    yield fails(models.portable, program=None)

    yield fails(models.Graph, reopen=graph.handle, stored=None)
    polynomial = {"tolerance": 1e-3, "training": False}
    yield call(graph.diffuse, x=signal, t=0.1, density=True, **polynomial)
    yield call(graph.filter, x=signal, function=lambda e: 1 / (1 + e), **polynomial)
    yield call(graph.diffusion_polynomial, t=1.0, tolerance=0.1)
    yield call(graph.polynomial, function=torch.cos, tolerance=0.1)
    yield call(graph.convolve, x=signal, y=signal)
    yield call(graph.fourier, x=signal)
    yield call(graph.inverse_fourier, x_hat=fourier)
    yield call(graph.laplacian_parts, training=True)
    yield call(graph.operator, training=True)
    yield call(graph.neighbors, vertex=0)
    yield call(graph.to_grid, x=signal, fill=0.0, order="nested")
    down = plane.pooling(0)
    yield fails(models.LevelMap, reopen=down.handle, matrix=None)
    yield call(down.save_npz, path=matrix)
    between = opened.maps["map"]
    yield fails(models.VertexMap, reopen=between.handle, identity=None, stored=None)
    yield call(between, x=torch.randn(2, 3, 42))
    yield call(between.save_npz, path=matrix)
    parts = dict.fromkeys(("identity", "levels", "poolings", "unpoolings"))
    yield fails(models.Pyramid, **parts, reopen=plane.handle)
    yield call(plane.pooling, level=0)
    yield call(plane.unpooling, level=0)
    maps = dict.fromkeys(("encoder", "decoder", "processor"), between)
    yield fails(sphere.save_neural_lam, folder=store, **maps, unit=1.0)
    there = find_spec("torch_geometric") is not None
    yield call(graph.to_pyg) if there else fails(graph.to_pyg)
    yield call(sphere.to_hetero, **maps) if there else fails(sphere.to_hetero)
    for sample in (models.sample_edges, models.sample_vertices):
        yield call(sample, graphs=plane, kappa=1, generator=None)
    yield call(models.Store, path=store, verify=True)
    yield call(opened.get, key="plane")
    yield call(models.open_store, path=store, verify=False)

    latitudes, longitudes = resampling.regular_grid(6, 12, west=0)
    grid = {"pyramid": sphere, "latitudes": latitudes, "longitudes": longitudes}
    field, points = torch.randn(2, 3, 6, 12), torch.randn(2, 3, 42)
    for layer, x in ((models.LatLonToVertices, field), (models.VerticesToLatLon, points)):
        yield call(layer, x, **grid, method="bilinear", level=0, skipna=True, fill=0.5)
        yield fails(layer.from_dataarray, pyramid=sphere, array=None)
        yield call(layer(**grid).save_npz, path=matrix)
    gaps = torch.where(points > 1, torch.nan, points)
    yield call(models.smooth, pyramid=sphere, x=gaps, fwhm=0.5, level=0, allow_inconsistent=True)
    yield call(models.inpaint, pyramid=sphere, x=gaps, level=0)
    beam = {"fwhm": 0.5, "level": 0, "tolerance": 0.01, "allow_inconsistent": True}
    yield call(models.smoothing_matrix, pyramid=sphere, **beam)
    yield call(models.save_npz, path=matrix, matrix=models.smoothing_matrix(sphere, **beam))
    drawn = {"pyramid": sphere, "spectrum": models.Gaussian(length=1.5), "level": 0}
    noise = torch.randn(1, 1, 42)
    yield call(models.random_field, **drawn, n=2, seed=0, first=0, std=1.0, tolerance=1e-3)
    yield call(models.random_field, **drawn, noise=noise, std=None)
    yield call(models.noise_matrix, **drawn, tolerance=0.01)
    yield call(models.Matern, length=0.3, nu=1.5)
    yield call(models.Gaussian, length=0.3)
    yield call(models.regular_grid, height=4, width=8, west=-180)
    harmonic = {"degree": 2, "basis": "tournier07", "affine": np.eye(3)}
    yield call(models.harmonics_matrix, axes=torch.eye(3), **harmonic)
    yield call(harmonics.largest_degree, axes=axes)
    yield call(symmetries, pyramid=plane, levels=[0, 1])
    checked = {"signal": None, "level": 0, "output": "auto", "symmetries": ["flip"]}
    conv = models.ChebConv(1, 1, 2, graph)
    yield call(assert_equivariant, module=conv, pyramid=plane, **checked, tolerance=1e-3, seed=0)
    any_angle = {"signal": images, "angles": [45.0], "turn": None, "output": "signal"}
    yield call(equivariance_error, module=torch.nn.ReLU(), **any_angle)
    yield call(turned_image, images=images, angle=30.0)


def forward(layer: Call) -> Call:
    """Of a layer, the call of what it makes."""
    module = layer.function(**layer.arguments)
    (signal,) = inspect.signature(module.forward).parameters
    return Call(module, (), {signal: layer.then[0]})


def of_graphs(store: Path) -> Iterator[Call]:
    """Those of cheblienet_graphs."""
    folder, spec = store.parent, GraphSpec("se2", 8, orientations=2, levels=1)
    inside, points = np.arange(64).reshape(8, 8) % 2 == 0, np.random.default_rng(0).random((9, 2))
    np.save(folder / "mask.npy", inside)
    np.save(folder / "points.npy", points)
    content = {"values": np.ones((2, 3, 4), np.float32), "affine": np.eye(4)}
    image, volume = folder / "image.nii", Volume(**content)
    write_nifti(image, **content)
    fields = inspect.signature(GraphSpec).parameters.items()
    defaults = {name: each.default for name, each in fields if each.default is not each.empty}
    yield call(GraphSpec, **defaults | {"manifold": "se2", "size": 8})
    yield call(GraphSpec, manifold="s2", subdivisions=1, region=(-30, 30, 45, 75))
    yield call(GraphSpec, manifold="r2", coordinates=points)
    yield call(GraphSpec.from_dict, values=spec.to_dict())
    yield fails(spec.with_points, arrays={})
    latlon = {"inside": inside, "latitudes": np.arange(8.0), "longitudes": np.arange(8.0)}
    yield call(LatLonMask, **latlon)
    yield call(LatLonMask(**latlon).at, latitudes=[1.0], longitudes=[2.0])
    yield call(LatLonMask.whole_sphere, inside=inside)
    yield call(Volume, **content)
    yield call(volume.check_grid, like=volume)
    built = {"spec": spec, "store": store, "name": "built", "force": False, "resume": False}
    built |= {"engine": "stencil", "device": "cpu", "workers": 1, "block_rows": 64}
    built |= {"progress": None, "memory_limit": "1GB", "dask": None}
    yield Call(build, (), built, words=frozenset({"dask", "store"}))
    sides = {"source": GraphSpec("s2", nside=1), "target": GraphSpec("s2", subdivisions=0)}
    rule = {"neighbors": 2, "radius": None, "scales": None, "weights": "gaussian", "bandwidth": 1}
    yield call(MapSpec, **sides, **rule)
    between = MapSpec(**sides, **rule)
    yield call(MapSpec.from_dict, values=between.to_dict())
    mapped = {"spec": between, "store": store, "name": "b", "force": False, "progress": None}
    yield Call(build_map, (), mapped, words=frozenset({"store"}))
    yield call(graphs.inspect_map, store=store, name="map")
    opened = {name: built[name] for name in ("spec", "store", "name", "device", "workers")}
    yield Call(graphs.open_or_build, (), opened, words=frozenset({"store"}))
    named = {"store": store, "name": "plane"}
    report = {**named, "level": 0}
    yield call(graphs.compare, store=store, first="plane", second="sphere", other_store=None)
    yield call(graphs.eigenpairs, **report, count=2, which="largest")
    yield call(graphs.eigenvalues, **report)
    yield call(graphs.inspect, **report, eigenvalues=2, progress=None)
    yield call(graphs.neighbors_of, **report, vertex=0)
    turned = {"points": np.eye(6, 3) * 40, "manifold": "se2", "eps": 0.5, "xi": 0.1}
    turned |= {"period": "pi", "periodic": None, "units": "degrees", "engine": "auto"}
    yield call(graphs.nearest_neighbors, **turned, k=2, device="cpu")
    weighed = {"kernel": "gaussian", "bandwidth": 0.2, "laplacian": "normalized"}
    yield call(graphs.point_laplacian, **turned, **weighed, neighbors=3, device="cpu")
    yield call(graphs.open_group, **named)
    yield call(graphs.plan, spec=spec)
    yield call(graphs.Polygons, rings=[[[[0, 0], [4, 0], [4, 4]]]])
    yield call(graphs.Polygons.of, vertices=[[0, 0], [4, 0], [4, 4]])
    yield call(graphs.read_mask, source=folder / "mask.npy", edge="pixels")
    yield call(graphs.read_nifti, source=image, dimensions=3, like=None)
    yield call(graphs.read_points, file=folder / "points.npy", sphere=False)
    yield call(graphs.verify, **named, progress=None, remark=None)
    yield call(write_nifti, target=image, **content)


def names() -> Iterator[str]:
    """Of every public callable: functions, classes, and methods that these define."""
    for module in (models, graphs, harmonics, resampling):
        for name in module.__all__:
            if name not in RETURNED and callable(getattr(module, name)):
                yield from _names_of(name, getattr(module, name))
    yield from ("symmetries", "assert_equivariant")


def _names_of(name: str, function: Callable[..., Any]) -> Iterator[str]:
    if inspect.isclass(function) and issubclass(function, Exception):
        return
    yield name
    if not inspect.isclass(function) or name == "GraphSpec":
        return
    ours = [base for base in function.__mro__ if base.__module__.startswith("cheblienet")]
    for each, method in (pair for base in ours for pair in vars(base).items()):
        takes = inspect.isfunction(method) and len(inspect.signature(method).parameters) > 1
        called = each[0] != "_" and each not in CALLED_WITHIN
        if called and (takes or isinstance(method, classmethod)):
            yield f"{name}.{each}"


PACKAGES = tuple(str(Path(p.__file__).parent) for p in (graphs, models))


def ignored(*_: object) -> None:
    """A function that takes anything and returns nothing."""


WORDS: tuple[Any, ...] = ("no", "")
WRONG: tuple[Any, ...] = (
    *(None, True, -1, 0, 2.5, float("nan"), b"x", 1j, ignored, object(), Path("missing")),
    *([], [1, "a"], (None,), {}, {"a": 1}, {1: 2}, range(2)),
    *(np.array(["a"]), np.zeros((2, 3)), np.array(1), np.array([None])),
    *(torch.zeros(()), torch.zeros(2, 3), torch.zeros(2, 3, 4, dtype=torch.uint8)),
)


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> list[Call]:
    store = publish(tmp_path_factory.mktemp("calls"))
    calls = [*of_models(store), *of_graphs(store)]
    layers = [each for each in calls if each.then and inspect.isclass(each.function)]
    return calls + [forward(each) for each in layers]


def test_every_public_callable_is_called_and_works(calls: list[Call]) -> None:
    assert set(names()) <= {one.name for one in calls}
    for one in calls:
        if one.works:
            one()


def is_ours(error: BaseException, changed: dict[str, Any]) -> bool:
    """Raised on purpose by the packages, in one line; or a TypeError that names an argument."""
    text = str(error)
    if isinstance(error, TypeError) and any(name in text for name in changed):
        return True
    last = traceback.extract_tb(error.__traceback__)[-1]
    on_purpose = linecache.getline(last.filename, last.lineno or 0).strip().startswith("raise ")
    families = (ValueError, TypeError, AssertionError, graphs.CheblienetError)
    known = isinstance(error, families) and last.filename.startswith(PACKAGES)
    return known and on_purpose and len(text) > 0 and "\n" not in text


def wrong_calls(calls: list[Call]) -> Iterator[tuple[Call, dict[str, Any]]]:
    """Callables and each of their arguments in turn, or two, with what to give instead."""
    drawn = random.Random(0)
    for one, argument in [(each, name) for each in calls for name in sorted(each.arguments)] * 2:
        others = sorted(one.arguments.keys() - {argument})
        chosen = [argument, *drawn.sample(others, k=min(len(others), drawn.choice((0, 0, 1))))]
        words = {each: () if each in one.words else WORDS for each in chosen}
        yield one, {each: drawn.choice(WRONG + words[each]) for each in chosen}


LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "sparse": torch.Tensor.to_sparse,
    "rows": lambda x: x.reshape(-1, x.shape[-1]).to_sparse_csr(),
    "mkldnn": lambda x: x.float().to_mkldnn(),
    "nested": lambda x: torch.nested.nested_tensor([*x.reshape(-1, x.shape[-1])]),
    "quantized": lambda x: torch.quantize_per_tensor(x.float(), 0.1, 0, torch.quint8),
    "gradient": lambda x: x.float().clone().requires_grad_(),
    "half": torch.Tensor.bfloat16,
    "conjugate": lambda x: torch.complex(x.float(), x.float()).conj(),
    "negative": lambda x: torch.complex(x.float(), x.float()).conj().imag,
}
"""Tensors whose memory numpy, or most of torch, does not take."""


def arrays_of(call: Call) -> Iterator[tuple[str, torch.Tensor]]:
    """Names of arguments that are tensors, arrays or lists of numbers, and these as tensors."""
    for name, value in call.arguments.items():
        array = value.detach() if isinstance(value, torch.Tensor) else np.asarray(None)
        if isinstance(value, np.ndarray | list):
            array = np.asarray(value)
        if isinstance(array, torch.Tensor) or array.dtype.kind in "biuf":
            tensor = torch.as_tensor(array)
            yield from [(name, tensor)] if tensor.ndim and tensor.layout == torch.strided else []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_tensors_of_other_layouts_are_taken_or_told_of(calls: list[Call], layout: str) -> None:
    """All their values are there; what other libraries say of them says little."""
    foreign = []
    tensors = [(each, *array) for each in calls if each.works for array in arrays_of(each)]
    for one, name, x in tensors:
        try:
            one(**{name: LAYOUTS[layout](x)})
        except Exception as error:  # noqa: BLE001 -- all that can come is looked at
            if not is_ours(error, {name: x}):
                foreign.append(f"{one.name} {name}: {type(error).__name__}: {error!s:.150}")
    assert foreign == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_wrong_arguments_are_told_of(
    calls: list[Call], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    foreign = []
    for one, changed in wrong_calls(calls):
        try:
            one(**changed)
        except Exception as error:  # noqa: BLE001 -- all that can come is looked at
            if not is_ours(error, changed):
                shown = f"{type(error).__name__}: {error!s:.150}"
                foreign.append(f"{one.name} {changed!r:.150}: {shown}")
    assert foreign == []
