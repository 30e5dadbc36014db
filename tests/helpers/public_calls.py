"""Every public callable of both packages, with arguments that it takes."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

import cheblienet_graphs
import cheblienet_models
from cheblienet_graphs import GraphSpec, LatLonMask, Volume, build, write_nifti
from cheblienet_models import harmonics, open_store, resampling, symmetries, testing

CALLED_WITHIN = {"get_extra_state", "set_extra_state", "compare", "decoded", "finite"}
"""Methods that torch or other modules of the packages call, as they do all those of GraphSpec."""
RETURNED = {"Plan", "Published", "DataArray", "Basis"}
"""Names of types that are not called."""
STORED = {"Graph", "LevelMap", "Pyramid"}
"""Classes whose instances a store makes of what it holds."""


@dataclass(frozen=True)
class Call:
    """A callable, the arguments that it is given, and those of what it returns, if that is called.

    `words` says which arguments no other words are tried for: they would start something.
    """

    function: Callable[..., Any]
    arguments: dict[str, Any]
    then: tuple[Any, ...] | None = None
    words: frozenset[str] = frozenset()

    def __call__(self, **changed: Any) -> Any:
        found = self.function(**{**self.arguments, **changed})
        return found if self.then is None else found(*self.then)


def publish(folder: Path) -> Path:
    """A store of a plane with everything that can be stored, a sphere, and axes in space."""
    store = folder / "graphs.zarr"
    plane = GraphSpec(
        "se2", 8, orientations=4, weights="selling", directional=0.05, levels=2, eigenpairs=4
    )
    build(plane, store, name="plane")
    build(GraphSpec("s2", subdivisions=1, levels=2), store, name="sphere")
    build(GraphSpec("r3s2", 4, axes="6", weights="selling", levels=1), store, name="space")
    return store


def of_models(store: Path) -> dict[str, Call]:
    """By name, those of cheblienet_models and its rooms."""
    opened = open_store(store)
    plane, sphere, space = (opened[name] for name in ("plane", "sphere", "space"))
    graph, axes = plane.levels[0], space.levels[0]
    signal = torch.randn(2, 3, graph.num_vertices)
    images = torch.randn(2, 3, *graph.grid[1:])
    coarse, fourier = torch.randn(2, 3, plane.levels[1].num_vertices), torch.randn(2, 3, 4)
    latitudes, longitudes = resampling.regular_grid(6, 12, west=0)
    grid = {"pyramid": sphere, "latitudes": latitudes, "longitudes": longitudes}
    sizes = {"in_channels": 3, "out_channels": 2, "kernel_size": 2, "graph": graph}
    harmonic = {"graph": axes, "degree": 2, "basis": "tournier07", "affine": np.eye(4)}
    network = {"pyramid": plane, "in_channels": 3, "num_classes": 2, "kernel_size": 2}
    common = {"lift": "cake", "check_finite": True, "operators": "directional", "pool": "mean"}
    wide = {**network, **common, "depth": 1, "widen": 0.125, "first_level": 0}
    unet = {**network, **common, "channels": [2, 2, 2], "unpool": "mean", "project": "max"}
    small = cheblienet_models.WideResNet(**wide)
    resampled = {**grid, "method": "bilinear", "level": 0, "skipna": True, "fill": 0.5}
    of = cheblienet_models
    conv, pool = {**sizes, "bias": True}, {"pyramid": plane, "level": 0, "mode": "mean"}
    diffusion = {"channels": 3, "graph": graph, "times": (0.1, 0.2), "density": True}
    field = torch.randn(2, 3, 6, 12)
    lifted = of.OrientedLift(graph)
    diffused = {"x": signal, "t": 0.1, "density": True, "tolerance": 1e-3, "training": False}
    down, smooth = plane.pooling(0), {"x": signal, "function": lambda e: 1 / (1 + e)}
    found = {
        "BatchNorm": Call(
            of.BatchNorm, {"num_features": 3, "eps": 1e-5, "momentum": 0.1}, (signal,)
        ),
        "ChebConv": Call(of.ChebConv, {**conv, "save_basis": True}, (signal,)),
        "ChebConv(directional)": Call(of.ChebConv, {**conv, "operators": "directional"}, (signal,)),
        "Diffusion": Call(of.Diffusion, {**diffusion, "tolerance": 1e-3}, (signal,)),
        "FromHarmonics": Call(of.FromHarmonics, harmonic, (torch.randn(1, 1, 6, 5),)),
        "GlobalPool": Call(of.GlobalPool, {"mode": "mean"}, (signal,)),
        "Graph": Call(of.Graph, {"reopen": graph.handle, "stored": None}),
        "Graph.convolve": Call(graph.convolve, {"x": signal, "y": signal}),
        "Graph.diffuse": Call(graph.diffuse, diffused),
        "Graph.diffusion_polynomial": Call(
            graph.diffusion_polynomial, {"t": 1.0, "tolerance": 0.1}
        ),
        "Graph.filter": Call(graph.filter, {**smooth, "tolerance": 1e-3, "training": False}),
        "Graph.fourier": Call(graph.fourier, {"x": signal}),
        "Graph.inverse_fourier": Call(graph.inverse_fourier, {"x_hat": fourier}),
        "Graph.laplacian_parts": Call(graph.laplacian_parts, {"training": True}),
        "Graph.neighbors": Call(graph.neighbors, {"vertex": 0}),
        "Graph.operator": Call(graph.operator, {"training": True}),
        "Graph.polynomial": Call(graph.polynomial, {"function": torch.cos, "tolerance": 0.1}),
        "Graph.to_grid": Call(graph.to_grid, {"x": signal, "fill": 0.0, "order": "nested"}),
        "LatLonToVertices": Call(of.LatLonToVertices, resampled, (field,)),
        "LatLonToVertices.from_dataarray": Call(
            of.LatLonToVertices.from_dataarray, {"pyramid": sphere, "array": None}
        ),
        "VerticesToLatLon.from_dataarray": Call(
            of.VerticesToLatLon.from_dataarray, {"pyramid": sphere, "array": None}
        ),
        "VerticesToLatLon.save_npz": Call(
            of.VerticesToLatLon(**grid).save_npz, {"path": store.parent / "matrix.npz"}
        ),
        "LatLonToVertices.save_npz": Call(
            of.LatLonToVertices(**grid).save_npz, {"path": store.parent / "matrix.npz"}
        ),
        "LevelMap": Call(of.LevelMap, {"reopen": down.handle, "matrix": None}),
        "LevelMap.save_npz": Call(down.save_npz, {"path": store.parent / "matrix.npz"}),
        "Lift": Call(of.Lift, {"graph": graph, "order": "nested"}, (images,)),
        "OrientedLift": Call(
            of.OrientedLift, {"graph": graph, "kind": "cake", "scales": [4.0]}, (images,)
        ),
        "OrientedLift.inverse": Call(lifted.inverse, {"scores": signal}),
        "Project": Call(of.Project, {"graph": graph, "mode": "mean"}, (signal,)),
        "Pyramid": Call(
            of.Pyramid,
            dict.fromkeys(("identity", "levels", "poolings", "unpoolings"))
            | {"reopen": plane.handle},
        ),
        "Pyramid.pooling": Call(plane.pooling, {"level": 0}),
        "Pyramid.unpooling": Call(plane.unpooling, {"level": 0}),
        "ResidualBlock": Call(of.ResidualBlock, {**sizes, "operators": "laplacian"}, (signal,)),
        "SpatialPool": Call(of.SpatialPool, pool, (signal,)),
        "SpatialUnpool": Call(of.SpatialUnpool, pool, (coarse,)),
        "Store": Call(of.Store, {"path": store, "verify": True}),
        "Store.get": Call(opened.get, {"key": "plane"}),
        "ToHarmonics": Call(of.ToHarmonics, harmonic, (torch.randn(1, 1, 6, 5),)),
        "UNet": Call(of.UNet, unet, (images,)),
        "VerticesToLatLon": Call(of.VerticesToLatLon, resampled, (torch.randn(2, 3, 42),)),
        "WideResNet": Call(of.WideResNet, wide, (images,)),
        "check_finite": Call(of.check_finite, {"name": "mine", "x": images}),
        "harmonics_matrix": Call(
            of.harmonics_matrix,
            {"axes": torch.eye(3), "degree": 2, "basis": "tournier07", "affine": np.eye(3)},
        ),
        "ignore_graphs_in_ddp": Call(of.ignore_graphs_in_ddp, {"module": small}),
        "largest_degree": Call(harmonics.largest_degree, {"axes": axes}),
        "load_weights": Call(
            of.load_weights,
            {"network": small, "state": small.state_dict(), "allow_other_graph": True},
        ),
        "open_store": Call(of.open_store, {"path": store, "verify": False}),
        "portable": Call(of.portable, {"program": None}),
        "regular_grid": Call(of.regular_grid, {"height": 4, "width": 8, "west": -180}),
        "sample_edges": Call(of.sample_edges, {"graphs": plane, "kappa": 1, "generator": None}),
        "sample_vertices": Call(
            of.sample_vertices, {"graphs": plane, "kappa": 1, "generator": None}
        ),
        "symmetries": Call(symmetries.symmetries, {"pyramid": plane, "levels": [0, 1]}),
        "testing.assert_equivariant": Call(
            testing.assert_equivariant,
            {
                "module": of.ChebConv(1, 1, 2, graph),
                "pyramid": plane,
                "signal": None,
                "level": 0,
                "output": "auto",
                "symmetries": ["flip"],
                "tolerance": 1e-3,
                "seed": 0,
            },
        ),
    }
    return found | {
        f"{name}.forward": forward for name, call in found.items() for forward in forwards(call)
    }


def forwards(call: Call) -> Iterator[Call]:
    """Of a layer, the call of what it makes."""
    if call.then and inspect.isclass(call.function):
        layer = call.function(**call.arguments)
        (signal,) = inspect.signature(layer.forward).parameters
        yield Call(layer, {signal: call.then[0]})


def of_graphs(store: Path) -> dict[str, Call]:
    """By name, those of cheblienet_graphs."""
    folder = store.parent
    of = cheblienet_graphs
    inside = np.arange(64).reshape(8, 8) % 2 == 0
    mask = folder / "mask.npy"
    np.save(mask, inside)
    points = folder / "points.npy"
    np.save(points, np.random.default_rng(0).random((9, 2)))
    image = folder / "image.nii"
    volume = Volume(np.ones((2, 3, 4), np.float32), np.eye(4))
    write_nifti(image, volume.values, volume.affine)
    spec = GraphSpec("se2", 8, orientations=2, levels=1)
    built = {"spec": spec, "store": store, "name": "built", "force": False, "resume": False}
    how = {"engine": "stencil", "device": "cpu", "workers": 1, "block_rows": 64, "progress": None}
    named = {"store": store, "name": "plane"}
    latlon = {"inside": inside, "latitudes": np.arange(8.0), "longitudes": np.arange(8.0)}
    fields = inspect.signature(GraphSpec).parameters.items()
    defaults = {name: each.default for name, each in fields if each.default is not each.empty}
    report = {**named, "level": 0}
    compared = {"store": store, "first": "plane", "second": "sphere", "other_store": None}
    grid = LatLonMask(**latlon)
    return {
        "GraphSpec": Call(of.GraphSpec, defaults | {"manifold": "se2", "size": 8}),
        "GraphSpec.from_dict": Call(of.GraphSpec.from_dict, {"values": spec.to_dict()}),
        "GraphSpec(sphere)": Call(
            of.GraphSpec, {"manifold": "s2", "subdivisions": 1, "region": (-30, 30, 45, 75)}
        ),
        "GraphSpec.with_points": Call(spec.with_points, {"arrays": {}}),
        "GraphSpec(points)": Call(of.GraphSpec, {"manifold": "r2", "coordinates": np.load(points)}),
        "LatLonMask": Call(of.LatLonMask, latlon),
        "LatLonMask.at": Call(grid.at, {"latitudes": [1.0], "longitudes": [2.0]}),
        "LatLonMask.whole_sphere": Call(of.LatLonMask.whole_sphere, {"inside": inside}),
        "Volume": Call(of.Volume, {"values": volume.values, "affine": volume.affine}),
        "Volume.check_grid": Call(volume.check_grid, {"like": volume}),
        "build": Call(
            of.build,
            {**built, **how, "memory_limit": "1GB", "dask": None},
            words=frozenset({"dask", "store"}),
        ),
        "compare": Call(of.compare, compared),
        "eigenpairs": Call(of.eigenpairs, {**report, "count": 2, "which": "largest"}),
        "eigenvalues": Call(of.eigenvalues, report),
        "inspect": Call(of.inspect, {**report, "eigenvalues": 2, "progress": None}),
        "neighbors_of": Call(of.neighbors_of, {**report, "vertex": 0, "at": None}),
        "open_group": Call(of.open_group, named),
        "plan": Call(of.plan, {"spec": spec}),
        "read_mask": Call(of.read_mask, {"source": mask}),
        "read_nifti": Call(of.read_nifti, {"source": image, "dimensions": 3, "like": None}),
        "read_points": Call(of.read_points, {"file": points, "sphere": False}),
        "verify": Call(of.verify, {**named, "progress": None, "remark": None}),
        "write_nifti": Call(
            of.write_nifti,
            {"target": image, "values": volume.values, "affine": volume.affine},
        ),
    }


def names() -> Iterator[str]:
    """Of every public callable: functions, classes, and methods that these define."""
    rooms = {cheblienet_models: "", cheblienet_graphs: "", harmonics: "", resampling: ""}
    for module in rooms:
        for name in module.__all__:
            yield from _names_of(name, getattr(module, name))
    yield "symmetries"
    yield "testing.assert_equivariant"


def _names_of(name: str, found: object) -> Iterator[str]:
    if (
        name in RETURNED
        or not callable(found)
        or (inspect.isclass(found) and issubclass(found, Exception))
    ):
        return
    if not inspect.isclass(found):
        yield name
        return
    yield name
    for base in found.__mro__:
        for each, method in (
            vars(base).items()
            if base.__module__.startswith("cheblienet") and name != "GraphSpec"
            else ()
        ):
            if each.startswith("_") or each in CALLED_WITHIN:
                continue
            if isinstance(method, classmethod) or (
                inspect.isfunction(method) and len(inspect.signature(method).parameters) > 1
            ):
                yield f"{name}.{each}"
