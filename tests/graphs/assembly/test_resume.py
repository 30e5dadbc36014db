"""Interrupted builds are gone on with, by whichever engine and after whatever ended them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from builds import SPECS, inodes, interrupted, manifest
from marks import slow_but

from cheblienet_graphs import SpecError, build
from cheblienet_graphs.store.verify import leftovers, verify
from cheblienet_graphs.weights.edges import KernelWeights

OTHER_WAYS = [
    {},
    {"block_rows": 97},
    {"block_rows": 100_000},
    {"workers": 2, "block_rows": 300},
]


@pytest.mark.slow
@pytest.mark.usefixtures("quick_workers")
@pytest.mark.parametrize(
    "name",
    slow_but(["lattice", "torus", "selling"], SPECS),
)
def test_interrupted_anywhere_and_resumed(
    tmp_path: Path, name: str, expected: dict[str, dict[str, object]]
) -> None:
    """Also twice, with blocks of other sizes and by other processes."""
    spec = SPECS[name]
    for way, after in enumerate(range(0, 400, 7)):
        store = tmp_path / str(after)
        stop = interrupted(spec, store, after, block_rows=211)
        if stop is None:
            break
        kept = inodes(store)
        if kept:
            assert f"{len(kept):,} finished block" in stop.__notes__[0]
            assert "`resume=True`" in stop.__notes__[0]
        else:
            assert leftovers(store) == []
        interrupted(spec, store, 3, block_rows=150, resume=True)
        assert inodes(store).items() >= kept.items()
        kept = inodes(store)
        how = {"block_rows": 211} | OTHER_WAYS[way % len(OTHER_WAYS)]
        if name == "lattice" and way % 2:
            how |= {"engine": "pruned", "device": "cpu"}
        result = build(spec, store, resume=True, **how)
        assert result.resumed == bool(kept)
        assert manifest(store) == expected[name]
        assert leftovers(store) == []
    assert after >= 14


def test_resume_finds_its_own_build_only(tmp_path: Path) -> None:
    store = tmp_path / "g"
    interrupted(SPECS["lattice"], store, 9, block_rows=211)
    [left] = leftovers(store)
    for spec, name in ((SPECS["torus"], None), (SPECS["lattice"], "other")):
        assert not build(spec, store, name=name, resume=True).resumed
        assert leftovers(store) == [left]
    identity = json.loads((left / "build.json").read_text())
    identity["software"]["numpy"] = "1.0"
    (left / "build.json").write_text(json.dumps(identity))
    assert not build(SPECS["lattice"], store, resume=True).resumed
    assert leftovers(store) == [left]


def test_build_at_work_is_not_resumed(tmp_path: Path) -> None:
    spec, store = SPECS["lattice"], tmp_path / "g"
    second = []

    def meanwhile(*_: object) -> None:
        if not second and inodes(store):
            second.append(build(spec, store, resume=True, force=True))

    first = build(spec, store, block_rows=211, progress=meanwhile)
    assert not second[0].resumed
    assert {first.version, second[0].version} == {"v001", "v002"}


@pytest.mark.parametrize("name", slow_but(["lattice"], ["lattice", "sphere"]))
@pytest.mark.parametrize("moment", ["sealed", "half of a record"])
def test_killed_while_publishing(
    tmp_path: Path,
    name: str,
    moment: str,
    expected: dict[str, dict[str, object]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The process ends there and then: nothing is tidied up."""
    store = tmp_path / "g"
    program = (
        "import os, sys\n"
        "from cheblienet_graphs.store import staged, writer\n"
        "from cheblienet_graphs import GraphSpec, build\n"
        f"spec = GraphSpec.from_dict({SPECS[name].to_dict()!r})\n"
    )
    if moment == "sealed":
        program += "writer.publish = lambda *_: os._exit(9)\n"
    else:
        program += (
            "calls, replace = [], staged.replace\n"
            "def torn(file, contents, temporary):\n"
            "    calls.append(file)\n"
            "    if len(calls) == 5:\n"
            "        temporary.write_bytes(contents[:1]); os._exit(9)\n"
            "    replace(file, contents, temporary)\n"
            "staged.replace = torn\n"
        )
    program += f"build(spec, {str(store)!r}, block_rows=211)"
    ended = subprocess.run([sys.executable, "-c", program], check=False)
    assert ended.returncode == 9
    assert len(leftovers(store)) == 1
    assert build(SPECS[name], store, resume=True, block_rows=211).resumed
    assert manifest(store) == expected[name]
    assert verify(store) == []
    assert leftovers(store) == []


def test_refused_build_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What can't succeed is nothing to resume."""
    monkeypatch.setattr(KernelWeights, "weights", lambda _, block, _squared: 0.0 * block.columns)
    with pytest.raises(SpecError, match="weights of 648 vertices vanish"):
        build(SPECS["sphere"], tmp_path / "g", block_rows=100)
    assert list(tmp_path.iterdir()) == []
