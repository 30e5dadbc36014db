"""What is recorded of finished blocks: everything that their bytes depend on."""

from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from builds import inodes, interrupted, manifest
from marks import slow_but

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.assembly import assemble, sweeps, versions
from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.assembly.versions import software
from cheblienet_graphs.search.choice import Choice
from cheblienet_graphs.store.verify import leftovers

# Neighbors so far that one ring of images around the domain has not all of them.
RINGS = {
    "plane": GraphSpec("r2", "16x4", neighbors=70, boundary="periodic", levels=1, lambda_max=2),
    "three rings": GraphSpec(
        "se2", "24x2", orientations=3, neighbors=40, boundary="periodic", levels=1
    ),
    "random": GraphSpec("se2", points=30, orientations=3, neighbors=100, boundary="periodic"),
}


@pytest.mark.parametrize("name", slow_but(["plane"], RINGS))
def test_interrupted_between_rings_and_resumed(tmp_path: Path, name: str) -> None:
    """Against stencils where there are some, else against one block."""
    spec = RINGS[name]
    build(spec, tmp_path / "whole")
    for after in range(0, 400, 9):
        store = tmp_path / str(after)
        if interrupted(spec, store, after, engine="pruned", device="cpu", block_rows=13) is None:
            break
        kept = inodes(store)
        interrupted(spec, store, 5, engine="pruned", device="cpu", block_rows=17, resume=True)
        assert inodes(store).items() >= kept.items()
        kept = inodes(store)
        result = build(spec, store, engine="pruned", device="cpu", block_rows=11, resume=True)
        assert result.resumed == bool(kept)
        assert manifest(store) == manifest(tmp_path / "whole")
        assert leftovers(store) == []
    assert after > 20


def test_what_was_computed_once_is_not_computed_again_in_larger_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another machine's last bits would not fit blocks that are finished."""
    spec = GraphSpec("se2", 24, orientations=4, levels=1)
    computed = assemble.largest_eigenvalue_bound
    calls = []

    def counted(*arguments: object, **named: object) -> object:
        calls.append(arguments)
        return computed(*arguments, **named)

    monkeypatch.setattr(assemble, "largest_eigenvalue_bound", counted)
    build(spec, tmp_path / "whole")
    [_] = calls
    after = 0
    while len(calls) < 2:  # until an interrupted build has come that far
        interrupted(spec, tmp_path / "g", after, block_rows=300, resume=True)
        after += 1
    assert build(spec, tmp_path / "g", resume=True).resumed
    assert len(calls) == 2
    assert manifest(tmp_path / "g") == manifest(tmp_path / "whole")


def test_bytes_of_a_sampling_depend_on_its_library() -> None:
    assert "astropy-healpix" in software("healpix", "pruned")
    assert "astropy-healpix" not in software("lattice", "stencil")


def test_torch_is_of_no_account_where_it_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupted build goes on after torch was upgraded, or where pip does not know it."""

    def without_torch(name: str) -> str:
        if name == "torch":
            raise PackageNotFoundError(name)
        return version(name)

    spec = GraphSpec("r2", 24)
    build(spec, tmp_path / "whole")
    interrupted(spec, tmp_path / "g", 6, block_rows=100)
    monkeypatch.setattr(versions, "version_of", without_torch)
    versions.software.cache_clear()
    assert build(spec, tmp_path / "g", resume=True).resumed
    assert manifest(tmp_path / "g") == manifest(tmp_path / "whole")
    with pytest.raises(PackageNotFoundError):
        software(spec.sampling, "pruned")


def test_records_are_named_by_all_that_blocks_depend_on(tmp_path: Path) -> None:
    searched = Level(RINGS["plane"], Choice("pruned", "cpu"), rings=1)
    lattice = Level(RINGS["plane"], Choice("stencil", "cpu"))
    measured = [replace(searched, mean=mean) for mean in (None, 0.1, 0.2)]
    made = [
        *(sweeps.Filled(lattice, bound) for bound in (None, 1.5)),
        *(sweeps.Rescaled(lattice, bound) for bound in (1.5, 1.25)),
        sweeps.Weighed(lattice),
        sweeps.Weighed(replace(lattice, direction="forward")),
        *(sweeps.Lists(replace(searched, rings=rings)) for rings in (1, 2)),
        *(sweeps.Weighed(level) for level in measured),
        sweeps.Lists(replace(searched, number=1)),
        sweeps.Measured(searched),
    ]
    assert len({sweep.key for sweep in made}) == len(made)
    assert made[0].key == "0-filled-lambda_max=null-mean=null-rings=0"
    assert [sweep.unit for sweep in made[:5]] == [16] * 5
