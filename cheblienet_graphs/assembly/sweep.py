"""One pass over a level, as all who write its blocks know it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar

from cheblienet_graphs.assembly.job import Job
from cheblienet_graphs.pools.kept import Kept
from cheblienet_graphs.store.records import Range, Result
from cheblienet_graphs.store.staged import Writer


@dataclass(frozen=True)
class Sweep(ABC):
    """One pass over a level, whose blocks any process can write, in any order; picklable.

    All fields but the level are results of earlier sweeps, which the blocks depend on.

    Args:
        job: the level.

    Attributes:
        name: tells it from others of a level.
        shown: what it does, in words.
        parts: into which blocks are cut further, where one takes so long that the progress would
            seem to stand still.
    """

    job: Job

    name: ClassVar[str]
    shown: ClassVar[str]
    parts: ClassVar[int] = 1

    @property
    def key(self) -> str:
        """The name of its records: those that were given other results are other ones."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        del given["job"]
        return self.job.key(self.name, **given)

    @property
    def total(self) -> int:
        """How many vertices, or whatever blocks are ranges of, it goes over."""
        return self.vertices

    @property
    def vertices(self) -> int:
        """The vertices among these, or over what it goes over."""
        return self.job.num_vertices

    @abstractmethod
    def write(self, kept: Kept, out: Writer, block: Range) -> Result:
        """Write one block.

        Args:
            kept: by this process from block to block.
            out: writes into the level's arrays.
            block: which.

        Returns:
            What later sweeps, or the facts of the level, need of it: JSON types.
        """
