"""Interrupted builds are gone on with, by whichever engine and after whatever ended them.

What is recorded of finished blocks is all that their bytes depend on.
"""

import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from unittest.mock import Mock

import pytest
from builds import SPECS, Whole, calls_of, inodes, interrupted, manifest
from marks import slow_but

from cheblienet_graphs import GraphSpec, SpecError, build
from cheblienet_graphs.assembly import assemble, versions
from cheblienet_graphs.assembly.versions import software
from cheblienet_graphs.store.leftovers import leftovers
from cheblienet_graphs.verification.versions import verify
from cheblienet_graphs.weights.kernel import Kernel

OTHER_WAYS = [{}, {"block_rows": 97}, {"block_rows": 10**5}, {"workers": 2, "block_rows": 300}]


@pytest.mark.slow
@pytest.mark.usefixtures("quick_workers")
@pytest.mark.parametrize("name", SPECS)
def test_interrupted_anywhere_and_resumed(tmp_path: Path, name: str, expected: Whole) -> None:
    """Also twice, with blocks of other sizes and by other processes; each at other moments."""
    spec, number = SPECS[name], list(SPECS).index(name)
    calls = calls_of(spec, tmp_path / "whole", block_rows=211)
    step = calls // 3
    for way, after in enumerate(range(number % step, calls, step), number):
        store = tmp_path / str(after)
        stop = interrupted(spec, store, after, block_rows=211)
        assert stop is not None
        kept = inodes(store)
        if kept:
            assert f"{len(kept):,} finished block" in stop.__notes__[0]
            assert "`resume=True`" in stop.__notes__[0]
        else:
            assert leftovers(store) == []
        if interrupted(spec, store, 3, block_rows=150, resume=True) is None:
            assert manifest(store) == expected[name]
            continue
        assert inodes(store).items() >= kept.items()
        kept = inodes(store)
        how = {"block_rows": 211} | OTHER_WAYS[way % len(OTHER_WAYS)]
        if name == "lattice" and way % 2:
            how |= {"engine": "pruned", "device": "cpu"}
        result = build(spec, store, resume=True, **how)
        assert manifest(store) == expected[name]
        if "engine" not in how:  # builds by another engine begin anew
            assert result.resumed == bool(kept)
            assert leftovers(store) == []


def test_resume_finds_its_own_build_only(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "g"
    interrupted(SPECS["lattice"], store, 9, block_rows=211)
    [left] = leftovers(store)
    for spec, name in ((SPECS["torus"], None), (SPECS["lattice"], "other")):
        assert not build(spec, store, name=name, resume=True).resumed
        assert leftovers(store) == [left]
    identity = json.loads((left / "build.json").read_text())
    assert capfd.readouterr().err == ""
    without_kind = {field: identity[field] for field in ("name", "spec_sha256", "software")}
    older = identity | {"software": identity["software"] | {"numpy": "1.0"}}
    for other in (without_kind, older):
        (left / "build.json").write_text(json.dumps(other))
        assert not build(SPECS["lattice"], store, resume=True, force=True).resumed
        assert leftovers(store) == [left]
        assert "unfinished build of se2-" in capfd.readouterr().err
    (left / "build.json").write_text(json.dumps(identity))
    assert build(SPECS["lattice"], store, resume=True, force=True).resumed


def test_build_at_work_is_not_resumed(tmp_path: Path) -> None:
    spec, store = SPECS["lattice"], tmp_path / "g"
    second = []

    def meanwhile(*_: object) -> None:
        if not second and inodes(store):
            second.append(build(spec, store, resume=True, force=True))

    first = build(spec, store, block_rows=211, force=True, progress=meanwhile)
    assert not second[0].resumed
    assert {first.version, second[0].version} == {"v001", "v002"}


DIES = {
    "sealed": "writer.publish = lambda *_: os._exit(9)",
    "half of a record": """
calls, replace = [], staged.replace
def torn(folder, name, contents, temporary, staging):
    calls.append(name)
    if len(calls) == 5:
        staged.write(temporary, contents[:1], staging); os._exit(9)
    replace(folder, name, contents, temporary, staging)
staged.replace = torn
""",
}


@pytest.mark.parametrize("moment", DIES)
def test_killed_while_publishing(tmp_path: Path, moment: str, expected: Whole) -> None:
    """The process ends there and then: nothing is tidied up."""
    spec, store = SPECS["lattice"], tmp_path / "g"
    program = f"""
import os
from cheblienet_graphs.store import staged, writer
from cheblienet_graphs import GraphSpec, build
{DIES[moment]}
build(GraphSpec.from_dict({spec.to_dict()!r}), {str(store)!r}, block_rows=211)"""
    ended = subprocess.run([sys.executable, "-c", program], check=False)
    assert ended.returncode == 9
    assert len(leftovers(store)) == 1
    assert build(spec, store, resume=True, block_rows=211).resumed
    assert manifest(store) == expected["lattice"]
    assert verify(store) == []
    assert leftovers(store) == []


def test_refused_build_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What can't succeed is nothing to resume."""
    monkeypatch.setattr(Kernel, "of_squared_lengths", lambda _self, squared, _mean: 0.0 * squared)
    with pytest.raises(SpecError, match="weights of 648 vertices vanish"):
        build(SPECS["sphere"], tmp_path / "g", block_rows=100)
    assert list(tmp_path.iterdir()) == []


# Neighbors so far that one ring of images around the domain has not all of them.
RINGS = {
    "plane": GraphSpec("r2", "16x4", neighbors=70, boundary="periodic", levels=1, lambda_max=2),
    "random": GraphSpec("se2", points=30, orientations=3, neighbors=100, boundary="periodic"),
}


@pytest.mark.parametrize("name", slow_but(["plane"], RINGS))
def test_interrupted_between_rings_and_resumed(tmp_path: Path, name: str) -> None:
    """Against stencils where there are some, else against one block."""
    spec, searched = RINGS[name], {"engine": "pruned", "device": "cpu"}
    build(spec, tmp_path / "whole")
    calls = calls_of(spec, tmp_path / "searched", **searched, block_rows=13)
    for after in range(0, calls, calls // 4):
        store = tmp_path / str(after)
        assert interrupted(spec, store, after, **searched, block_rows=13)
        kept = inodes(store)
        assert interrupted(spec, store, 5, **searched, block_rows=17, resume=True)
        assert inodes(store).items() >= kept.items()
        kept = inodes(store)
        result = build(spec, store, **searched, block_rows=11, resume=True)
        assert result.resumed == bool(kept)
        assert manifest(store) == manifest(tmp_path / "whole")
        assert leftovers(store) == []


def test_what_was_computed_once_is_not_computed_again_in_larger_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another machine's last bits would not fit blocks that are finished."""
    spec = GraphSpec("se2", 24, orientations=4, levels=1)
    counted = Mock(wraps=assemble.largest_eigenvalue_bound)
    monkeypatch.setattr(assemble, "largest_eigenvalue_bound", counted)
    build(spec, tmp_path / "whole")
    assert counted.call_count == 1
    after = 0
    while counted.call_count < 2:  # until an interrupted build has come that far
        interrupted(spec, tmp_path / "g", after, block_rows=300, resume=True)
        after += 1
    assert build(spec, tmp_path / "g", resume=True).resumed
    assert counted.call_count == 2
    assert manifest(tmp_path / "g") == manifest(tmp_path / "whole")


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
        software("pruned")
