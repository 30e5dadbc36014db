"""The choice of an engine and its device."""

from dataclasses import dataclass

from cheblienet_graphs.errors import Remedy, SpecError, Words
from cheblienet_graphs.limits import choice

ENGINES = ("auto", "stencil", "pruned", "keops")
DEVICES = ("auto", "cpu", "cuda")


@dataclass(frozen=True)
class Choice:
    """An engine and its device, "cpu" or "cuda".

    The engine is "stencil", "pruned" or "keops"; or "diagram" where edges come from Voronoi cells.
    """

    engine: str
    device: str


def choose(
    sampling: str, engine: str = "auto", device: str = "auto", *, weights: str = "kernel"
) -> Choice:
    """The engine and device that a build will use.

    On lattices "auto" is the stencil engine, which needs no GPU; elsewhere, and on a lattice where
    cuda is asked for, it is the pruned one. The device "auto" is cuda where there is one, else cpu.

    Args:
        sampling: name of the sampling.
        engine: one of ENGINES.
        device: one of DEVICES.
        weights: kind of the edge weights; on lattices all but "kernel" are made from stencils,
            "voronoi" from Voronoi cells.

    Raises:
        SpecError: an unknown name, a combination that does not exist, or no such device here.
    """
    choice("engine", engine, ENGINES)
    choice("device", device, DEVICES)
    from cheblienet_graphs.samplings import SAMPLINGS  # numpy: help does without

    lattice = SAMPLINGS[sampling].regular
    if weights == "voronoi":
        remedy = "Their edges come from Voronoi cells, on the CPU."
        _refuse_others(engine, device, ("auto",), "voronoi weights", remedy)
        return Choice("diagram", "cpu")
    if lattice and weights != "kernel":
        engines, remedy = ("auto", "stencil"), "They are made from stencils, on the CPU."
        _refuse_others(engine, device, engines, f"{weights} weights on a lattice", remedy)
    if engine == "stencil":
        if not lattice:
            accepted = f"auto, pruned or keops with {sampling} sampling"
            raise SpecError("engine", accepted, engine, "Stencils exist on lattices only.")
        if device == "cuda":
            remedy = Words("Use ", Remedy("engine", "pruned"), " for a GPU; stencils need none.")
            raise SpecError("device", "auto or cpu with the stencil engine", device, remedy)
    if engine == "auto":
        engine = "stencil" if lattice and device != "cuda" else "pruned"
    return Choice(engine, "cpu" if engine == "stencil" else _available(device))


def _refuse_others(
    engine: str, device: str, engines: tuple[str, ...], of: str, remedy: str
) -> None:
    """Refuse other engines than these, and a GPU, for some weights."""
    if engine not in engines:
        raise SpecError("engine", f"{' or '.join(engines)} with {of}", engine, remedy)
    if device == "cuda":
        raise SpecError("device", f"auto or cpu with {of}", device, remedy)


def _available(device: str) -> str:
    if device == "cpu":
        return device
    import torch  # slow to import, stencil builds do without

    if torch.cuda.is_available():
        return "cuda"
    if device == "cuda":
        remedy = Words("Use ", Remedy("device", "cpu"), ", or see what `clg doctor` says.")
        raise SpecError(
            "device", "auto or cpu here, where torch sees no CUDA device", device, remedy
        )
    return "cpu"
