"""The identity of weights: the graph that a checkpoint names, and the settings of modules."""

import json
import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.spec import GraphSpec
from cheblienet_models.errors import StoreError, one_line, quoted

MAY_DIFFER = (
    *("sampling", "size", "subdivisions", "nside", "bandlimit", "points", "seed", "boundary"),
    *("boundary_correction", "mask_edge"),
    *("gaussian", "pl", "refined", "coordinates", "domain", "spacing", "mask", "region"),
    *("xi", "alpha", "in_plane_fraction", "levels", "eigenpairs", "gradients"),
)
"""Fields of a specification that say where, and how finely, a manifold is sampled. The rest decides
on the operator of a trained layer's polynomials."""
LEVEL = "level"
"""Name of the level in a pyramid, in which layers may differ as well."""
SHOWN = 4
"""So many fields, or settings, are named in an error."""
EXTRA = "_extra_state"
"""Under which a state dict has what a module saves besides weights."""


@dataclass(frozen=True)
class Difference:
    """Something that the graph of trained weights and the graph of a network have apart.

    Args:
        name: a field of the specification, or "xi in lattice units": the distance, in spacings of
            the finest level, that one radian of rotation counts for.
        trained: its value where the weights were trained; None where it does not apply.
        here: its value on the network's graph.
    """

    name: str
    trained: Any
    here: Any

    def __str__(self) -> str:
        return f"{self.name}: {self.trained!r:.99} in training, {self.here!r:.99} here"


@dataclass(frozen=True)
class Identity:
    """A published version.

    Args:
        name, version: where it was opened from.
        spec_sha256: digest of its specification.
        spec: what it was built from, as JSON types; None in checkpoints that only have the digest.
        level: the number of a level; None of the whole.
    """

    name: str
    version: str
    spec_sha256: str
    spec: dict[str, Any] | None
    level: int | None = None

    def __str__(self) -> str:
        of = "" if self.level is None else f", level {self.level}"
        return f"{self.name:.99}@{self.version:.99}{of}"

    def is_of(self, other: "Identity") -> bool:
        """Check whether both are the same numbers, whatever they are named."""
        return (self.spec_sha256, self.level) == (other.spec_sha256, other.level)

    def encoded(self) -> Tensor:
        """(n,) uint8, as checkpoints have it."""
        return encoded({name: value for name, value in vars(self).items() if value is not None})

    @classmethod
    def decoded(cls, state: Any) -> "Identity":
        """The identity of `encoded` fields.

        Raises:
            StoreError: the state is not one of ours.
        """
        recorded = decoded(state) or {}
        if not {"name", "version", "spec_sha256"} <= recorded.keys():
            raise StoreError("The checkpoint does not say which graph it was trained on.")
        name, version, digest = (str(recorded[key]) for key in ("name", "version", "spec_sha256"))
        spec, level = recorded.get("spec"), recorded.get("level")
        known = spec if isinstance(spec, dict) else None
        return cls(name, version, digest, known, level if type(level) is int else None)


def differences(trained: Identity, here: Identity) -> tuple[Difference, ...]:
    """In what the graph that weights were trained on and another one differ, if they may.

    Raises:
        StoreError: the two differ in more than `MAY_DIFFER`, or a specification is not known, or
            can't be read.
    """
    if trained.spec_sha256 == here.spec_sha256:
        return levels_apart(trained, here)
    if trained.spec is None or here.spec is None:
        raise StoreError(
            f"The checkpoint names the graph that it was trained on, {trained}, but not that "
            f"graph's specification, to compare with {here}: load it into a network on {trained}, "
            "and save that network's state_dict()."
        )
    then, now = (_specification(one) for one in (trained, here))
    differences = field_differences(then.to_dict(), now.to_dict())
    grave = [difference for difference in differences if difference.name not in MAY_DIFFER]
    if grave:
        theirs, ours = (
            settings_in_words({d.name: getattr(d, side) for d in grave})
            for side in ("trained", "here")
        )
        raise StoreError(
            f"The checkpoint was trained on {trained} with {theirs}; this network is on {here} "
            f"with {ours}. Weights carry over where only sampling, size, boundary, mask, xi, "
            "levels, eigenpairs or gradients differ."
        )
    steps = Difference("xi in lattice units", xi_in_spacings(then), xi_in_spacings(now))
    differences += [steps] * (steps.trained != steps.here)
    return *differences, *levels_apart(trained, here)


def _specification(one: Identity) -> GraphSpec:
    """The specification of a version.

    Raises:
        StoreError: it is of another form, or of a later version of the package.
    """
    try:
        return GraphSpec.from_dict(one.spec or {})
    except (SpecError, TypeError) as error:
        raise StoreError(f"The specification of {one} can't be read: {error}") from error


def levels_apart(trained: Identity, here: Identity) -> tuple[Difference, ...]:
    """In what level of their versions two parts differ, if they do."""
    return (Difference(LEVEL, trained.level, here.level),) * (trained.level != here.level)


def field_differences(trained: dict[str, Any], here: dict[str, Any]) -> list[Difference]:
    """The differences between two sets of fields or settings."""
    names = dict.fromkeys((*here, *trained))
    values = ((name, trained.get(name), here.get(name)) for name in names)
    return [Difference(name, then, now) for name, then, now in values if then != now]


def xi_in_spacings(spec: GraphSpec) -> float | None:
    """Xi over the spacing of the finest level's points; None where there is none, or not yet."""
    if spec.xi in {None, "auto"}:
        return None
    return float(f"{spec.metric(0).xi / math.sqrt(spec.squared_spacing(0)):.6g}")


class Recorded(nn.Module):
    """A module with settings that checkpoints save, and compare when they are loaded.

    Attributes:
        settings: JSON values by name, all that decides what it computes, besides the graph.
        sampled: names of the settings that say how finely a manifold is sampled, as levels do: a
            graph that may differ from the trained one may differ in them.
        since_later: whether checkpoints are older than the settings; checkpoints without them load.
    """

    settings: dict[str, Any]
    sampled: frozenset[str] = frozenset()
    since_later: bool = False

    def get_extra_state(self) -> Tensor:
        """(n,) uint8: the settings as JSON, so that they travel with torch.save safely."""
        return encoded(self.settings)

    def set_extra_state(self, state: Any) -> None:
        """Compare a checkpoint's settings with these.

        Raises:
            StoreError: they differ, or the state is not one of ours.
        """
        self.compare(self.decoded(state), frozenset())

    def compare(self, trained: dict[str, Any], but: frozenset[str]) -> None:
        """Compare settings with these, but for some.

        Raises:
            StoreError: they differ.
        """
        if any(
            difference.name not in but for difference in field_differences(trained, self.settings)
        ):
            name = type(self).__name__
            raise StoreError(
                f"The checkpoint was trained with {name}({settings_in_words(trained)}); this "
                f"network has {name}({settings_in_words(self.settings)}): make it as the trained "
                "one was."
            )

    def decoded(self, state: Any) -> dict[str, Any]:
        """Settings that were saved.

        Raises:
            StoreError: the state is not one of ours.
        """
        recorded = decoded(state)
        if recorded is None:
            raise StoreError(f"The checkpoint does not say how its {type(self).__name__} was set.")
        return recorded

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *others: Any) -> None:
        super()._load_from_state_dict(state_dict, prefix, *others)
        missing_keys = others[2]
        if self.since_later and f"{prefix}{EXTRA}" in missing_keys:
            missing_keys.remove(f"{prefix}{EXTRA}")


def encoded(settings: dict[str, Any]) -> Tensor:
    """(n,) uint8: as JSON, so that it travels with torch.save safely."""
    return torch.frombuffer(bytearray(json.dumps(settings).encode()), dtype=torch.uint8)


def decoded(state: Any) -> dict[str, Any] | None:
    """Settings that were saved; None of a state that is not one of ours."""
    try:
        recorded = json.loads(bytes(state.cpu().flatten().tolist()))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    return recorded if isinstance(recorded, dict) else None


def settings_in_words(settings: dict[str, Any]) -> str:
    """Settings, or fields of a specification, as arguments, shortened."""
    shown = [f"{name!s:.40}={quoted(value)}" for name, value in list(settings.items())[:SHOWN]]
    more = f" and {len(settings) - SHOWN} more" if len(settings) > SHOWN else ""
    return one_line(", ".join(shown) + more)
