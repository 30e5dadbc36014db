"""Calls of public names with arguments that they take."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

import cheblienet_models as models
from cheblienet_models.testing import assert_equivariant, equivariance_error


@dataclass(frozen=True)
class Call:
    """A callable, the arguments that it is given, and those of what it returns, if that is called.

    `words` says which arguments no other words are tried for: they would start something. What
    `works` not is given nothing in place of xarray's arrays, exported programs or parts of a store.
    """

    function: Callable[..., Any]
    then: tuple[Any, ...]
    arguments: dict[str, Any]
    words: frozenset[str] = frozenset()
    works: bool = True

    def __call__(self, **changed: Any) -> Any:
        returned = self.function(**{**self.arguments, **changed})
        return returned(*self.then) if self.then else returned

    @property
    def name(self) -> str:
        """Such as "Graph", "Graph.filter", and "Lift.forward" of an instance that is called."""
        if isinstance(self.function, torch.nn.Module):
            return f"{type(self.function).__name__}.forward"
        owner = getattr(self.function, "__self__", None)
        kind = owner if inspect.isclass(owner) else type(owner)
        return f"{kind.__name__}.{self.function.__name__}" if owner else self.function.__name__


def call(function: Callable[..., Any], /, *then: Any, **arguments: Any) -> Call:
    return Call(function, then, arguments)


def fails(function: Callable[..., Any], /, **arguments: Any) -> Call:
    return Call(function, (), arguments, works=False)


def of_spins(sphere: models.Pyramid, arrows: models.Graph) -> Iterator[Call]:
    """Layers of fields of spin, and the module of their Laplacian."""
    graph, coarse = (level.num_vertices for level in sphere.levels)
    wind, few = torch.randn(1, 4, graph), torch.randn(1, 4, coarse)
    on = {"graph": sphere.levels[0], "spin": 1}
    sizes = {"in_channels": 2, "out_channels": 2, "kernel_size": 2}
    yield call(models.ChebConv, wind, **sizes, **on, handed=False)
    yield call(models.Gradient, wind, **on)
    yield call(models.Modulus, wind, channels=2)
    how = {"pyramid": sphere, "level": 0, "mode": "mean", "spin": 2}
    yield call(models.SpatialPool, wind, **how)
    yield call(models.SpatialUnpool, few, **how)
    yield call(models.Lift, torch.randn(1, 4, 8, 8), graph=arrows, spin=1)
    yield call(models.Project, torch.randn(1, 2, 256), graph=arrows, spin=1)
    connection = sphere.levels[0].connection(1)
    yield call(sphere.levels[0].connection, spin=2)
    yield call(connection.filter, x=wind, function=torch.exp, tolerance=1e-3)
    yield call(connection.polynomial, function=torch.exp, tolerance=1e-3)
    yield call(models.smooth, pyramid=sphere, x=wind, fwhm=0.5, spin=2, allow_inconsistent=True)
    grid = {"pyramid": sphere, "latitudes": [60.0, 0.0, -60.0], "longitudes": [0.0, 120.0, 240.0]}
    yield call(models.LatLonToVertices, torch.randn(1, 2, 3, 3), **grid, spin=2)
    yield call(models.VerticesToLatLon, wind, **grid, spin=1)
    layer = models.ChebConv(**sizes, **on)
    yield call(assert_equivariant, module=layer, pyramid=sphere, signal=wind, spin=(1, 1))
    image = torch.randn(1, 2, 8, 8)
    identity = torch.nn.Identity()
    yield call(equivariance_error, module=identity, signal=image, angles=[9.0], spin=(1, 1))
