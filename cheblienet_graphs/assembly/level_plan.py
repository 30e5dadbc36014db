"""The plan of a level: all that a build knows of it before it writes, computed once."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import Any, cast

import numpy as np
import scipy.sparse

from cheblienet_graphs.assembly.copies import CopiedGradients
from cheblienet_graphs.assembly.xi import alpha_solver, first_guess
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.masked import CutSampling
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling
from cheblienet_graphs.search.choice import STENCILS, Choice
from cheblienet_graphs.search.engines import NeighborRule
from cheblienet_graphs.search.rule import Scratch
from cheblienet_graphs.search.stencil import MaskedStencils, StencilEngine
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.store import layout
from cheblienet_graphs.typing import Floats, Progress
from cheblienet_graphs.weights.cut import rows_at_edge
from cheblienet_graphs.weights.directional import DIRECTIONS, Directional
from cheblienet_graphs.weights.lattice import LatticeWeights


@dataclass(frozen=True)
class LevelPlan:
    """A level of a build with one of its Laplacians, before anything is written. Picklable.

    Args:
        spec: of the build.
        number: 0 is the finest.
        choice: the engine that finds neighbors, and its device.
        metric: R, lengths in units of the base.
        direction: name of a directional Laplacian; None for the metric's, which comes with the
            points.
    """

    spec: GraphSpec
    number: int
    choice: Choice
    metric: Metric
    direction: str | None = None

    def __getstate__(self) -> dict[str, Any]:
        """The fields, and what takes long to compute or follows from masks that are left out."""
        state = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.domain.lattice is None:
            _ = self.domain.base_areas  # which its points keep
        known = {name: getattr(self, name) for name in ("domain", "weights", "edge_rows")}
        return state | known | {"spec": self.spec.recorded()}

    def changed(self, **fields: Any) -> "LevelPlan":
        """The same points with other fields."""
        other = replace(self, **fields)
        other.__dict__["domain"] = self.domain
        return other

    @cached_property
    def domain(self) -> Sampling:
        """The points.

        Raises:
            SpecError: the specification was read back, and knows a mask or points by digest alone.
        """
        return self.spec.domain(self.number)

    @cached_property
    def directed(self) -> "dict[str, LevelPlan]":
        """The same vertices with the edges of each directional Laplacian, if there are any."""
        if self.spec.directional is None:
            return {}
        return {name: self.changed(choice=STENCILS, direction=name) for name in DIRECTIONS}

    @cached_property
    def vertices(self) -> int:
        """V."""
        return self.spec.orientations * self.spec.base_points(self.number)

    @property
    def edges(self) -> int:
        """Undirected edges of a lattice, most of them elsewhere."""
        return self.degree_bound // 2

    @property
    def nnz(self) -> int:
        """Stored entries of a lattice, most of them elsewhere."""
        return self.degree_bound + self.vertices

    @property
    def xi(self) -> float | None:
        """The length of one radian of rotation; None without orientations."""
        return self.metric.xi if self.spec.geometry.oriented else None

    @property
    def sampled(self) -> SampledManifold[Sampling]:
        """All points with their metric: edges and weights belong to the whole sampling."""
        return SampledManifold(self.domain.full, self.spec.geometry, self.metric)

    @cached_property
    def neighbors(self) -> NeighborRule:
        """The neighbors of all vertices by the rule."""
        return NeighborRule(self.sampled, self.spec.weighting.count, self.choice)

    @cached_property
    def weights(self) -> LatticeWeights | None:
        """The weights of a lattice's offsets; None off lattices.

        Raises:
            SpecError: there are no edges, or no such weights.
        """
        if not self.spec.sampling_kind.regular:
            return None
        lattice = cast("Lattice", self.domain.lattice)
        sampled = SampledManifold(lattice, self.spec.geometry, self.metric)
        if self.direction is not None and self.spec.directional is not None:
            return Directional(self.direction, self.spec.directional).on_lattice(sampled)
        return self.spec.weighting.on_lattice(self.spec, sampled)

    def with_solution(self, solution: Floats) -> "LevelPlan":
        """The same with weights of a lattice that are solved for already, (N,)."""
        other = copy.copy(self)
        lattice = self.domain.lattice
        sampled = SampledManifold(cast("Lattice", lattice), self.spec.geometry, self.metric)
        weights = self.spec.weighting.on_lattice(self.spec, sampled, np.array(solution))
        other.__dict__["weights"] = weights
        return other

    @property
    def stencils(self) -> StencilEngine:
        """The neighbors on a whole lattice."""
        if self.weights is None:
            raise TypeError("stencils are those of a lattice")
        return self.weights.engine

    @cached_property
    def stencils_inside(self) -> StencilEngine | MaskedStencils:
        """The neighbors on a lattice, inside the mask where there is one."""
        return self._within(self.stencils)

    def _within(self, engine: StencilEngine) -> StencilEngine | MaskedStencils:
        places = self.domain.places
        return engine if places is None else MaskedStencils(engine, places)

    @cached_property
    def edge_rows(self) -> scipy.sparse.csr_array | None:
        """(V, V) the rows of W at the edge of a domain that cuts pixels; None where none does."""
        mask = self.spec.mask
        weights = self.weights
        if mask is None or weights is None or self.domain.filling is None:
            return None
        cut = cast("CutSampling", self.domain)
        stencils = self.stencils_inside
        halves = mask.halves_on(self.number)
        return rows_at_edge(cut, cast("MaskedStencils", stencils), weights, halves)

    @property
    def laplacian(self) -> str:
        """The kind: directional ones are combinatorial whatever the metric's is."""
        return self.spec.laplacian if self.direction is None else Directional.laplacian

    @property
    def lambda_max_known(self) -> bool:
        """True if the level is rescaled by a bound that holds without computing."""
        return self.spec.lambda_max == 2 and self.direction is None

    @property
    def copied(self) -> bool:
        """True if rows are copied from a small lattice, which has all that they need."""
        return self.choice == STENCILS and self.domain.whole_lattice is not None

    @cached_property
    def copied_gradients(self) -> CopiedGradients | None:
        """The rows of gradients of a whole lattice, which are copies of few; None elsewhere."""
        lattice = self.domain.whole_lattice
        turned = self.spec.geometry.oriented
        return None if lattice is None else CopiedGradients(lattice, turned=turned)

    @property
    def degree_bound(self) -> int:
        """Twice the number of edges on a lattice, an upper bound of it elsewhere."""
        if self.weights is None:
            return self.spec.weighting.degree_bound(self.spec, self.vertices)
        stencils, listed = self.stencils_inside, self.edge_rows
        if listed is None or not isinstance(stencils, MaskedStencils):
            return stencils.total_degree
        instead = stencils.counts(np.flatnonzero(np.diff(listed.indptr)))
        return stencils.total_degree + int(listed.nnz - instead.sum())

    @property
    def dropped_edges(self) -> int:
        """Edges of a lattice that are left out because their weight came out 0."""
        if self.weights is None or not self.weights.united:
            return 0
        united = self._within(self.weights.with_left_out)
        return (united.total_degree - self.stencils_inside.total_degree) // 2

    @property
    def path(self) -> str:
        """The level's place in the version."""
        return f"levels/{self.number}"

    @property
    def matrix_path(self) -> str:
        """The Laplacian's place in the version."""
        part = "laplacian" if self.direction is None else f"{layout.DIRECTIONAL}/{self.direction}"
        return f"{self.path}/{part}"

    @property
    def scratch_path(self) -> str:
        """The place of arrays that are not published: each Laplacian has its own."""
        return "/".join([str(self.number), *([self.direction] if self.direction else [])])


def level_plans(
    spec: GraphSpec, choice: Choice, progress: Progress = lambda *_: None
) -> list[LevelPlan]:
    """The plans of all levels, finest first.

    Off lattices an xi that is to be solved for is the first guess, on which no size depends;
    `solved_plans` has the others.
    """
    alphas: Callable[[int], float] | None = None
    if spec.xi == "auto" and spec.sampling_kind.regular:
        alphas = _alphas(spec, choice, {}, progress=progress)
    elif spec.xi == "auto":
        guess = first_guess(spec)
        alphas = lambda _: guess  # noqa: E731
    plans = []
    for number in range(spec.levels):
        metric = spec.metric_of_alpha(alphas(number), number) if alphas else spec.metric(number)
        plans.append(LevelPlan(spec, number, choice, metric))
    return plans


def solved_plans(
    plans: Sequence[LevelPlan],
    record: Callable[[LevelPlan, Callable[[], float]], float],
    scratch: Scratch,
    progress: Progress,
) -> list[LevelPlan]:
    """The same plans with the xi that is solved for off lattices.

    Args:
        plans: of all levels, finest first.
        record: gives the alpha of a level that is recorded already, else solves for it.
        scratch: makes the array of a search's lists.
        progress: called as searches proceed.
    """
    spec, choice = plans[0].spec, plans[0].choice
    if spec.xi != "auto" or spec.sampling_kind.regular:
        return list(plans)
    full = {plan.number: plan.domain.full for plan in plans}
    alphas = _alphas(spec, choice, full, scratch, progress)
    solved = []
    for plan in plans:
        alpha = record(plan, partial(alphas, plan.number))
        solved.append(plan.changed(metric=spec.metric_of_alpha(alpha, plan.number)))
    return solved


def _alphas(
    spec: GraphSpec,
    choice: Choice,
    known: Mapping[int, Sampling],
    scratch: Scratch = np.empty,
    progress: Progress = lambda *_: None,
) -> Callable[[int], float]:
    """The alpha of each level for which its in-plane fraction is what was asked for."""

    def full(number: int) -> Sampling:  # a level beyond the last one gives a guess
        return known[number] if number in known else spec.full_sampling(number)

    return alpha_solver(spec, choice, full, scratch, progress)
