"""The specification of a build: its fields, its digest, its words, and the samplings it means.

Fields are tested through `GraphSpec`, in `test_spec.py` and the files of their subjects.
"""

from cheblienet_graphs.spec.graph_spec import GraphSpec

__all__ = ["GraphSpec"]
