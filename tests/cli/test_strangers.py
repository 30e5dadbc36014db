"""Mistakes that a first user makes: one line that says what was wrong, found, and to do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import cheblienet_models as models
from cheblienet_cli.main import run
from cheblienet_graphs.errors import StoreError
from cheblienet_graphs.store.export import check_output


@pytest.fixture
def built(here: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A store with a graph."""
    assert run(["build", "r2", "--size", "8", "--quiet"]) == 0
    capsys.readouterr()
    return here / "graphs.zarr"


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(arguments) in {1, 2}
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("Error: ")
    assert captured.err.count("\n") == 1
    assert "Errno" not in captured.err
    assert "Traceback" not in captured.err
    return captured.err.removeprefix("Error: ").rstrip()


@pytest.mark.parametrize(
    ("arguments", "helpful"),
    [
        (["help"], "clg --help"),
        ([""], "clg --help"),
        (["build", "se2", "8"], "clg build se2 --help"),
        (["build", "recipe"], "clg build recipe --help"),
        (["build", "recipe", "mnist", "extra"], "clg build recipe --help"),
        (["recipes", "mnist"], "clg recipes --help"),
        (["tag", "r2-8x8"], "clg tag --help"),
        (["rm"], "clg rm --help"),
        (["export", "r2-8x8"], "clg export --help"),
        (["inspect", "--level", "one"], "clg inspect --help"),
        (["import"], "clg import --help"),
        (["doctor", "x"], "clg doctor --help"),
    ],
)
def test_wrong_usage_names_the_page_that_helps(
    capsys: pytest.CaptureFixture[str], arguments: list[str], helpful: str
) -> None:
    assert refused(capsys, *arguments).endswith(f" See `{helpful}`.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["biuld"], "No such command 'biuld'. Did you mean 'build'? See `clg --help`."),
        (
            ["build", "se2", "--size", "65536", "--orientations", "180"],
            (
                "--size must be such that there are at most 17,179,869,184 vertices. "
                "Got 773094113280. Or use fewer --orientations."
            ),
        ),
        (
            ["build", "se2", "--size", "8", "--memory-limit", "1"],
            "--memory-limit must be at least 100.4 MB here, with 1 worker. Got '1 B'.",
        ),
        (
            ["build", "recipe", "mine.toml"],
            "The recipe mine.toml can't be read: No such file or directory.",
        ),
        (
            ["inspect", "--eigenvalues", "many"],
            "--eigenvalues must be an integer in [0, 1000]. Got 'many'.",
        ),
        (
            ["inspect", "r2-8x8@"],
            "Nothing follows the @ of r2-8x8@; give a version, such as @v001, or a ref.",
        ),
        (
            ["rm", "r2-8x8@"],
            "Nothing follows the @ of r2-8x8@; give a version, such as @v001, or a ref.",
        ),
    ],
)
def test_messages(
    built: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert refused(capsys, *arguments) == message


def test_a_graph_is_no_store(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = built / "r2-8x8"
    message = refused(capsys, "ls", "--store", str(graph))
    assert message == f"{graph} is a graph within a store: give the store, {built}, as --store."
    with pytest.raises(models.StoreError, match=f"a graph within a store: open the store, {built}"):
        models.open_store(graph)
    with pytest.raises(models.StoreError, match=r"is no store: it has no zarr\.json"):
        models.open_store(built.parent)


def test_similar_options_end_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    message = refused(capsys, "build", "s2", "--size", "16")
    assert message.endswith("'--store'?) See `clg build s2 --help`.")


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="it is Linux that has one")
def test_what_is_printed_onto_a_full_disk(built: Path) -> None:
    command = "import sys; from cheblienet_cli.main import run; sys.exit(run(['ls']))"
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([sys.executable, "-c", command], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    said = b"Error: what was to be printed can't be written: no space left; free some.\n"
    assert done.stderr.startswith(said)


def test_a_short_report_says_where_the_rest_is(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["inspect"]) == 0
    said = capsys.readouterr().err
    assert said == "--full has every measurement, --html FILE figures, too.\n"
    for more in ("--full", "--json"):
        assert run(["inspect", more]) == 0
        assert capsys.readouterr().err == ""


def test_numbers_are_read_alike_everywhere(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", "--eigenvalues", "2.0", "--json"]) == 0


def test_an_export_never_writes_into_a_store(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (built.parent / "link").symlink_to(built)
    before = (built / "zarr.json").read_bytes()
    targets = [built / "zarr.json", built / "new", built / "r2-8x8" / "x", Path("link", "x")]
    for target in (*targets, Path(".graphs.zarr.staging", "..", "graphs.zarr", "x")):
        for kind in ("scipy", "pyg", "zip"):
            message = refused(capsys, "export", "--to", kind, "--output", str(target))
            assert "is in the store" in message
            assert message.endswith("choose another --output.")
    assert (built / "zarr.json").read_bytes() == before
    assert run(["verify"]) == 0


def test_an_export_never_replaces_a_device_or_a_pipe(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Renaming a file onto /dev/null, as root may, would take it from the whole machine."""
    for name in ("pipe.png", "pipe"):
        os.mkfifo(name)
    outputs = [["export", "--to", kind, "--output", "pipe"] for kind in ("scipy", "zip", "npz")]
    outputs += [["plot", "sparsity", "-o", "pipe.png"], ["inspect", "--html", "pipe"]]
    for arguments in outputs:
        message = refused(capsys, *arguments)
        assert (
            " is a device or a pipe, which would be replaced by a file; choose another" in message
        )
    assert all(Path(name).is_fifo() for name in ("pipe.png", "pipe"))
    for device in ("/dev/null", "/dev/stdout"):
        with pytest.raises(StoreError, match=f"^{device} is a device or a pipe"):
            check_output(Path(device))


@pytest.mark.parametrize("kind", ["scipy", "pyg", "zip"])
def test_an_export_where_there_is_no_folder(
    built: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    message = refused(capsys, "export", "--to", kind, "--output", "missing/x")
    assert message.startswith("missing/x can't be written: No such file or directory. ")
    assert "choose another place" in message


def test_a_place_that_the_system_refuses(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "a" * 300
    for command in (["export", "--to", "zip", "--output", name], ["import", name]):
        assert refused(capsys, *command).endswith(": File name too long.")
    recipe = refused(capsys, "build", "recipe", f"{name}.toml")
    assert recipe.endswith(": File name too long.")


def test_an_archive_that_is_no_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pipe makes a plain read wait for ever, /dev/zero one without end."""
    os.mkfifo(here / "pipe")
    for name in ("pipe", "/dev/zero", "."):
        message = refused(capsys, "import", name)
        assert message == f"{name} is not a file; give what `clg export --to zip` wrote."


def test_one_of_a_thing_is_no_plural(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["build", "se2", "--size", "8", "--orientations", "1", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "x 1 orientation," in said
    assert "(1 pixel)" in said
