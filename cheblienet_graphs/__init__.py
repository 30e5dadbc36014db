"""Graphs on Lie groups: sample, connect, weigh, take the Laplacian, publish.

Importing this package imports nothing heavy: each public name loads its module on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # type checkers can't follow __getattr__
    from cheblienet_graphs.assembly.maps import build_map as build_map
    from cheblienet_graphs.assembly.pipeline import build as build
    from cheblienet_graphs.assembly.pipeline import open_or_build as open_or_build
    from cheblienet_graphs.assembly.plan import Plan as Plan
    from cheblienet_graphs.assembly.plan import plan as plan
    from cheblienet_graphs.assembly.versions import Published as Published
    from cheblienet_graphs.assembly.versions import PublishedMap as PublishedMap
    from cheblienet_graphs.errors import CheblienetError as CheblienetError
    from cheblienet_graphs.errors import OtherGraphWarning as OtherGraphWarning
    from cheblienet_graphs.errors import SpecError as SpecError
    from cheblienet_graphs.errors import StoreError as StoreError
    from cheblienet_graphs.errors import UnknownGraphError as UnknownGraphError
    from cheblienet_graphs.errors import UnreadableError as UnreadableError
    from cheblienet_graphs.inputs.files import read_points as read_points
    from cheblienet_graphs.inputs.mask_files import read_mask as read_mask
    from cheblienet_graphs.inputs.masks import LatLonMask as LatLonMask
    from cheblienet_graphs.inputs.polygons import Polygons as Polygons
    from cheblienet_graphs.inputs.volumes import Volume as Volume
    from cheblienet_graphs.inputs.volumes import read_nifti as read_nifti
    from cheblienet_graphs.inputs.volumes import write_nifti as write_nifti
    from cheblienet_graphs.measure.spectra import eigenpairs as eigenpairs
    from cheblienet_graphs.measure.spectra import eigenvalues as eigenvalues
    from cheblienet_graphs.report.difference import compare as compare
    from cheblienet_graphs.report.inspect import inspect as inspect
    from cheblienet_graphs.report.inspect import inspect_map as inspect_map
    from cheblienet_graphs.report.neighbors import neighbors_of as neighbors_of
    from cheblienet_graphs.search.point_lists import nearest_neighbors as nearest_neighbors
    from cheblienet_graphs.spec.graph_spec import GraphSpec as GraphSpec
    from cheblienet_graphs.spec.map_spec import MapSpec as MapSpec
    from cheblienet_graphs.store.reader import open_group as open_group
    from cheblienet_graphs.verification.versions import verify as verify
    from cheblienet_graphs.weights.points import point_laplacian as point_laplacian

__version__ = "0.3.0"

_PUBLIC = {
    "CheblienetError": "errors",
    "GraphSpec": "spec.graph_spec",
    "LatLonMask": "inputs.masks",
    "MapSpec": "spec.map_spec",
    "OtherGraphWarning": "errors",
    "Plan": "assembly.plan",
    "Polygons": "inputs.polygons",
    "Published": "assembly.versions",
    "PublishedMap": "assembly.versions",
    "SpecError": "errors",
    "StoreError": "errors",
    "UnknownGraphError": "errors",
    "UnreadableError": "errors",
    "Volume": "inputs.volumes",
    "build": "assembly.pipeline",
    "build_map": "assembly.maps",
    "compare": "report.difference",
    "eigenpairs": "measure.spectra",
    "eigenvalues": "measure.spectra",
    "inspect": "report.inspect",
    "inspect_map": "report.inspect",
    "nearest_neighbors": "search.point_lists",
    "neighbors_of": "report.neighbors",
    "open_group": "store.reader",
    "open_or_build": "assembly.pipeline",
    "plan": "assembly.plan",
    "point_laplacian": "weights.points",
    "read_mask": "inputs.mask_files",
    "read_nifti": "inputs.volumes",
    "read_points": "inputs.files",
    "verify": "verification.versions",
    "write_nifti": "inputs.volumes",
}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
