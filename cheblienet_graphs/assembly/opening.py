"""Specifications opened as pyramids: what is published is found by its digest, else built."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from cheblienet_graphs.assembly.pipeline import build
from cheblienet_graphs.assembly.plan import check_spec
from cheblienet_graphs.assembly.versions import same_digest
from cheblienet_graphs.errors import StoreError, another
from cheblienet_graphs.progress import progress_bar
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.durable import check_writable
from cheblienet_graphs.store.refs import alone

if TYPE_CHECKING:
    from cheblienet_models import Pyramid

KEY_DIGITS = 32
"""Of the digest, in the name of the folder whose lock the builder holds."""


def open_or_build(
    spec: GraphSpec,
    store: str | Path = "graphs.zarr",
    *,
    name: str | None = None,
    device: str = "auto",
    workers: int | str | None = None,
) -> "Pyramid":
    """Open the pyramid of a specification; build it first where the store does not have it.

    A version is found by the specification's digest, whatever the name of its graph and whichever
    version of the package built it. Processes that call at once build once: one does, the others
    wait. A build shows a progress bar where stderr is a terminal.

    Args:
        spec: what to open.
        store: where; made if need be. One that can't be written is enough where it has the graph.
        name: of the graph if it is built, and the first place to look; default `spec.default_name`.
        device: "auto", "cpu" or "cuda", for a build that searches.
        workers: processes that build, in [1, 1024]; default 1.

    Returns:
        A pyramid of `cheblienet_models`, whose arrays are mapped from the store.

    Warns:
        OtherGraphWarning: a build took a name that stood for another graph.

    Raises:
        TypeError: spec is no GraphSpec.
        SpecError: as `build`.
        StoreError: the store holds something else, or does not have the graph and can't be written.
        CheblienetError: as `build`.
    """
    check_spec(spec)
    store = layout.store_path(store)
    name = layout.check_name(spec.default_name if name is None else name)
    if found := same_digest(spec, store, name):
        return found.open()
    with ExitStack() as turn:
        try:
            check_writable(store)
            turn.enter_context(alone(store, f"opening-{spec.sha256[:KEY_DIGITS]}"))
        except OSError as error:
            why = error.strerror or error
            absent = f"{store} has no graph of this specification and can't be written: {why}; "
            raise StoreError(absent, another("store")) from error
        if not (found := same_digest(spec, store, name)):
            with progress_bar() as progress:
                found = build(
                    spec, store, name=name, device=device, workers=workers, progress=progress
                )
    return found.open()
