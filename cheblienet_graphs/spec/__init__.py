"""The specification of a build: its fields, its digest, its words, and the samplings it means."""

from cheblienet_graphs.spec.graph_spec import GraphSpec

__all__ = ["GraphSpec"]
