"""The report on one level of a pyramid."""

from dataclasses import asdict, dataclass
from typing import Any

from cheblienet_graphs.report.diagnostics import EffectiveMetric
from cheblienet_graphs.report.findings import Finding, Spell
from cheblienet_graphs.report.verdict import Consistency
from cheblienet_graphs.store.facts import OperatorFacts


@dataclass(frozen=True)
class LevelReport:
    """One graph of the pyramid.

    Args:
        level: 0 is the finest.
        grid: shape of a signal, orientations first: (n_o, height, width) on a lattice; that of the
            full sampling where there is a mask.
        vertices: V.
        edges: undirected.
        nnz: stored entries of the Laplacian.
        sparsity: share of zeros of the Laplacian.
        degree: min, mean, max number of neighbours.
        isolated: vertices without neighbours.
        dropped_edges: edges left out because their matched weight came out 0.
        components: connected components.
        in_plane_fraction: share of edges within one orientation.
        xi, xi_squared: of the metric; None without orientations.
        bandwidth: t, in squared widths of the domain; None without a kernel.
        lambda_max: an upper bound of the spectrum of Delta, by which the stored one is scaled.
        lambda_max_method: "lanczos", or "bound" for a limit known without computation.
        eigenvalues: the smallest of Delta, ascending, repeated by multiplicity.
        multiplicities: of the distinct eigenvalues; the last may have more copies.
        eigenvalues_converged: whether the solver reached its tolerance.
        eigenvalues_method: "bloch", "dense", "chebyshev", "shift-invert" or "lanczos"; "stored"
            where they come from the build, "components" where there are enough components for all
            to be 0; None where there are none.
        multiplicities_may_be_larger: whether copies of eigenvalues may have been missed, as
            Lanczos recursions with single vectors can.
        eigenvalue_scale: factor by which they estimate the operator's; 1 for combinatorial
            Laplacians of all but kernel weights. As the build recorded it; measured now in
            versions that are older than this fact.
        exact_eigenvalues: of the Laplace-Beltrami operator, in its units; None where none
            are known.
        effective_metric: the metrics that the weights realise, by orientation.
        consistency: with the metric, as of `Verdict`: "consistent", "inconsistent", "not compared"
            or "too coarse".
        spectral_error: the largest relative error of the first 6 eigenvalues; None where none
            were compared.
        finding: the consistency with its causes and a remedy; `verdict` is that in words.
        equivariance: symmetry -> max |P'LP - L|; names of symmetries that the sampling has only
            approximately say so.
        weights: min, median, max of the edges.
        directional: edges, entries and lambda_max of the directional Laplacians, by direction; None
            where there are none.
        inside: share of the sampling's points inside the mask; None without one.
    """

    level: int
    grid: tuple[int, ...]
    vertices: int
    edges: int
    nnz: int
    sparsity: float
    degree: dict[str, float]
    isolated: int
    dropped_edges: int
    components: int
    in_plane_fraction: float
    xi: float | None
    xi_squared: float | None
    bandwidth: float | None
    lambda_max: float
    lambda_max_method: str
    eigenvalues: list[float]
    multiplicities: list[int]
    eigenvalues_converged: bool
    eigenvalues_method: str | None
    multiplicities_may_be_larger: bool
    eigenvalue_scale: float | None
    exact_eigenvalues: list[float] | None
    effective_metric: list[EffectiveMetric]
    consistency: Consistency
    spectral_error: float | None
    finding: Finding
    equivariance: dict[str, float]
    weights: dict[str, float]
    directional: dict[str, OperatorFacts] | None = None
    inside: float | None = None

    @property
    def verdict(self) -> str:
        """The consistency in words."""
        return str(self.finding)

    def to_json(self, spell: Spell) -> dict[str, Any]:
        """All of it as JSON types, the finding as words."""
        fields = asdict(self)
        del fields["finding"]
        return fields | {"verdict": self.finding.sentence(spell)}
