"""Public names are importable from where they were before the rooms."""

import cheblienet_models


def test_public_names_are_where_they_were() -> None:
    from cheblienet_models.resampling import LatLonToVertices, VerticesToLatLon, regular_grid
    from cheblienet_models.testing import assert_equivariant

    assert assert_equivariant.__module__ == "cheblienet_models.testing"
    for thing in (LatLonToVertices, VerticesToLatLon, regular_grid):
        assert getattr(cheblienet_models, thing.__name__) is thing
    for name in cheblienet_models.__all__:
        assert getattr(cheblienet_models, name) is not None
