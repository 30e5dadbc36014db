"""The gradients of a level, in sweeps of their own: their rows, and what makes their transposes.

A gradient G is stored with S = G + G^T, so that a reader has G^T = S - G. Inside lattices G is
antisymmetric, so S has entries next to sides and masks only.
"""

import numpy as np

from cheblienet_graphs.assembly.building import Build
from cheblienet_graphs.assembly.copies import PARTS
from cheblienet_graphs.assembly.staged_level import StagedLevel
from cheblienet_graphs.assembly.sweeps import Given, Sweep
from cheblienet_graphs.gradients.fields import norms
from cheblienet_graphs.spec.fibers import field_spacings
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.facts import GradientFacts
from cheblienet_graphs.store.staged import Range, Result, Writer


def gradient_sweep(level: StagedLevel, part: str, *, filled: bool) -> Sweep:
    """A sweep over the points of a level, for one part of its gradients.

    Args:
        level: it.
        part: layout.FIELDS or layout.SYMMETRIC.
        filled: whether it writes columns and values; else it counts the entries of each row.
    """
    write = count_gradients
    shown = "counting entries of gradients"
    if filled:
        write = fill_gradients
        shown = "writing gradients"
    domain = level.plan.domain
    plan = level.plan
    line = plan.spec.grid(plan.number)[-1] if domain.whole_lattice is not None else 1
    return Sweep(level, write, shown, part, domain.num_points, domain.orientations, line)


def count_gradients(level: StagedLevel, out: Writer, block: Range, part: Given) -> Result:
    """Write the counts of rows over some points."""
    entries = 0
    for rows, _ in level.gradient_rows.of(str(part), *block):
        counts = np.diff(rows.indptr)
        out.write(level.scratch(f"{layout.GRADIENTS}-{part}"), rows.start, counts)
        entries += len(rows.columns)
    return {"entries": entries}


def fill_gradients(level: StagedLevel, out: Writer, block: Range, part: Given) -> Result:
    """Write the columns and values of rows over some points."""
    csr = level.gradient_csr(str(part))
    for rows, values in level.gradient_rows.of(str(part), *block):
        first = int(csr.indptr.part(rows.start, rows.start + 1)[0])
        out.write(csr.indices, first, rows.columns)
        out.write(csr.data, first, values)
    return {}


def write_gradients(build: Build, level: StagedLevel) -> GradientFacts:
    """Stage the gradients of a level, and what makes their transposes; their facts."""
    spec, vertices = level.plan.spec, level.plan.vertices
    shape, nnz = (len(spec.geometry.frame) * vertices, vertices), {}
    for part in PARTS:
        counts = build.scratch(level.plan, f"{layout.GRADIENTS}-{part}", (shape[0],), "int64")
        counted = build.sweep(gradient_sweep(level, part, filled=False), shape[0])
        nnz[part] = sum(result["entries"] for result in counted)
        if not nnz[part]:
            continue
        csr = build.staging.csr(level.gradient_path(part), shape, nnz[part])
        build.write_row_pointers(counts.part, csr.indptr)
        build.sweep(gradient_sweep(level, part, filled=True), nnz[part])
    spacings = field_spacings(spec, level.plan.number)
    bounds, largest = norms(level.gradient_rows.matrix, spacings)
    lengths = tuple(spacings.tolist())
    entries = nnz[layout.FIELDS], nnz[layout.SYMMETRIC]
    return GradientFacts(*entries, tuple(bounds), lengths, largest)
