"""Names used again: what a name stands for, and which version is found."""

import dataclasses
import json
from pathlib import Path

import pytest

from cheblienet_cli.main import run
from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.errors import OtherGraphWarning
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.verify import leftovers
from cheblienet_models import open_store

THREE, TWO = GraphSpec("r2", 32, levels=3), GraphSpec("r2", 32, levels=2, neighbors=6)


def test_another_specification_under_a_used_name_is_told(tmp_path: Path) -> None:
    store = tmp_path / "g.zarr"
    first = build(THREE, store, name="g")
    assert (first.other, first.changes) == (None, {})
    second = build(TWO, store, name="g")  # in silence, as the name was given
    assert (second.version, second.other) == ("v002", "v001")
    assert second.changes == {"levels": (3, 2), "neighbors": (8, 6)}
    words = r"g stands for g@v002\. Open g@v001, or give each"
    with pytest.warns(OtherGraphWarning, match=words) as warned:
        again = build(THREE, store, name="g")  # not what the name stands for any more
    assert (again.built, again.version, again.other) == (False, "v001", "v002")
    assert warned[0].filename == __file__  # whose line it is
    opened = open_store(store)
    assert opened["g"].spec["levels"] == 2  # what the warning is about
    assert opened["g@v001"].spec["levels"] == 3
    assert again.changes == {"levels": (2, 3), "neighbors": (6, 8)}
    again = build(TWO, store, name="g")
    assert (again.built, again.version, again.other, again.changes) == (False, "v002", None, {})
    forced = build(TWO, store, name="g", force=True)
    assert (forced.version, forced.other, forced.changes) == ("v003", "v002", {})
    build(GraphSpec("s2", subdivisions=1), store, name="s")
    changes = build(GraphSpec("s2", nside=2), store, name="s").changes
    assert changes["sampling"] == ("icosahedral", "healpix")
    assert (changes["subdivisions"], changes["nside"]) == ((1, None), (None, 2))


def test_the_command_line_tells_what_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build(THREE, tmp_path / "g.zarr", name="g")
    command = ["build", "r2", "--size", "32", "--store", str(tmp_path / "g.zarr"), "--name", "g"]
    assert run([*command, "--levels", "2", "--json"]) == 0
    captured = capsys.readouterr()
    line = "g@v002 is other than g@v001: levels 3 -> 2. g stands for g@v002."
    assert captured.err.splitlines()[-1] == line
    built = json.loads(captured.out)
    assert (built["other"], built["changes"]) == ("v001", {"levels": [3, 2]})
    assert run([*command, "--levels", "1", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_facts_of_levels_are_alike_whether_built_or_found(tmp_path: Path) -> None:
    built, again = (build(GraphSpec("r2", 4), tmp_path / "g.zarr") for _ in range(2))
    assert (built.built, again.built) == (True, False)
    assert built.levels == again.levels
    assert hash(built.levels) == hash(again.levels)
    (level,) = again.levels
    assert level["grid"] == level.grid == (1, 4, 4)
    assert dict(level) == dataclasses.asdict(level)
    with pytest.raises(KeyError):
        level["values"]


def test_what_goes_while_leftovers_are_listed_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Builders at work end between the listing of their folder and the look at what is in it."""
    store = tmp_path / "g.zarr"
    staging = layout.staging_folder(store)
    (staging / "left").mkdir(parents=True)
    monkeypatch.setattr(
        Path,
        "iterdir",
        lambda folder: iter([folder / "left", folder / "build", folder / "temporary.json"]),
    )
    assert leftovers(store) == [staging / "left"]
