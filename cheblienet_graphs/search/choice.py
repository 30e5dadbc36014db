"""The choice of an engine and its device."""

from dataclasses import dataclass

from cheblienet_graphs.errors import SpecError
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


STENCILS = Choice("stencil", "cpu")
DIAGRAM = Choice("diagram", "cpu")


def choose(sampling: str, engine: str = "auto", device: str = "auto") -> Choice:
    """The engine and device of a search for nearest neighbors.

    On lattices "auto" is the stencil engine, which needs no GPU; elsewhere, and on a lattice where
    cuda is asked for, it is the pruned one. The device "auto" is cuda where there is one, else cpu.

    Args:
        sampling: name of the sampling.
        engine: one of ENGINES.
        device: one of DEVICES.

    Raises:
        SpecError: an unknown name, a combination that does not exist, or no such device here.
    """
    choice("engine", engine, ENGINES)
    choice("device", device, DEVICES)
    from cheblienet_graphs.samplings import SAMPLINGS  # numpy: help does without

    lattice = SAMPLINGS[sampling].regular
    if engine == "stencil":
        if not lattice:
            accepted = f"auto, pruned or keops with {sampling} sampling"
            raise SpecError("engine", accepted, engine, "Stencils exist on lattices only.")
        if device == "cuda":
            remedy = "Use `engine='pruned'` for a GPU; stencils need none."
            raise SpecError("device", "auto or cpu with the stencil engine", device, remedy)
    if engine == "auto":
        engine = "stencil" if lattice and device != "cuda" else "pruned"
    return Choice(engine, "cpu" if engine == "stencil" else _available(device))


def only(alone: Choice, engine: str, device: str, of: str, remedy: str) -> Choice:
    """The one choice that there is for some weights, which "auto" and its own names stand for.

    Args:
        alone: the choice, on the CPU.
        engine: one of ENGINES.
        device: one of DEVICES.
        of: what it is the only one for, in words.
        remedy: why.

    Raises:
        SpecError: an unknown name, another engine, or a GPU.
    """
    choice("engine", engine, ENGINES)
    choice("device", device, DEVICES)
    engines = ["auto", *([alone.engine] if alone.engine in ENGINES else [])]
    if engine not in engines:
        raise SpecError("engine", f"{' or '.join(engines)} with {of}", engine, remedy)
    if device == "cuda":
        raise SpecError("device", f"auto or cpu with {of}", device, remedy)
    return alone


def _available(device: str) -> str:
    if device == "cpu":
        return device
    import torch  # slow to import, stencil builds do without

    if torch.cuda.is_available():
        return "cuda"
    if device == "cuda":
        remedy = "Use `device='cpu'`, or see what `clg doctor` says."
        raise SpecError(
            "device", "auto or cpu here, where torch sees no CUDA device", device, remedy
        )
    return "cpu"
