"""The specification of a build: its fields, its digest, its words, and the samplings it means.

Fields are tested through `GraphSpec`, in `test_spec.py` and the files of their subjects; what it
refuses is in `test_refusals.py`. Its words are tested where they are printed, in `tests/cli`.
"""

from cheblienet_graphs.spec.graph_spec import GraphSpec

__all__ = ["GraphSpec"]
