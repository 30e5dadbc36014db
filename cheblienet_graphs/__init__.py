"""Graphs on Lie groups: sample, connect, weigh, take the Laplacian, publish.

Importing this package imports nothing heavy: each public name loads its module on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # __getattr__ tells type checkers nothing
    from cheblienet_graphs.assembly.pipeline import build
    from cheblienet_graphs.assembly.plan import Plan, plan
    from cheblienet_graphs.assembly.versions import Published
    from cheblienet_graphs.errors import (
        CheblienetError,
        OtherGraphWarning,
        SpecError,
        StoreError,
        UnknownGraphError,
        UnreadableError,
    )
    from cheblienet_graphs.inputs.mask_files import read_mask
    from cheblienet_graphs.inputs.masks import LatLonMask
    from cheblienet_graphs.inputs.nifti import read_nifti, write_nifti
    from cheblienet_graphs.inputs.points_files import read_points
    from cheblienet_graphs.inputs.volumes import Volume
    from cheblienet_graphs.report.difference import compare
    from cheblienet_graphs.report.edges_of import neighbors_of
    from cheblienet_graphs.report.inspect import inspect
    from cheblienet_graphs.report.spectra import eigenpairs, eigenvalues
    from cheblienet_graphs.spec.graph_spec import GraphSpec
    from cheblienet_graphs.store.reader import open_group
    from cheblienet_graphs.store.verify import verify

__version__ = "0.2.0"

_PUBLIC = {
    "CheblienetError": "errors",
    "GraphSpec": "spec.graph_spec",
    "LatLonMask": "inputs.masks",
    "OtherGraphWarning": "errors",
    "Plan": "assembly.plan",
    "Published": "assembly.versions",
    "SpecError": "errors",
    "StoreError": "errors",
    "UnknownGraphError": "errors",
    "UnreadableError": "errors",
    "Volume": "inputs.volumes",
    "build": "assembly.pipeline",
    "compare": "report.difference",
    "eigenpairs": "report.spectra",
    "eigenvalues": "report.spectra",
    "inspect": "report.inspect",
    "neighbors_of": "report.edges_of",
    "open_group": "store.reader",
    "plan": "assembly.plan",
    "read_mask": "inputs.mask_files",
    "read_nifti": "inputs.nifti",
    "read_points": "inputs.points_files",
    "verify": "store.verify",
    "write_nifti": "inputs.nifti",
}

__all__ = [
    "CheblienetError",
    "GraphSpec",
    "LatLonMask",
    "OtherGraphWarning",
    "Plan",
    "Published",
    "SpecError",
    "StoreError",
    "UnknownGraphError",
    "UnreadableError",
    "Volume",
    "build",
    "compare",
    "eigenpairs",
    "eigenvalues",
    "inspect",
    "neighbors_of",
    "open_group",
    "plan",
    "read_mask",
    "read_nifti",
    "read_points",
    "verify",
    "write_nifti",
]


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
