"""Ctrl-C at every line of a build: what stays is told, and can be gone on with.

The signal is raised when a line is about to run, the first time or the last, so that nothing here
depends on time.
"""

import dis
import gc
import shlex
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import count
from pathlib import Path
from types import FrameType

import pytest

import cheblienet_cli
import cheblienet_graphs
from cheblienet_cli import build as build_command
from cheblienet_cli.main import _terminate, run
from cheblienet_graphs.assembly import pipeline
from cheblienet_graphs.store import catalog, layout
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.layout import check_version
from cheblienet_graphs.store.leftovers import leftovers
from cheblienet_graphs.store.staged import Records, identity_of

GRAPHS, CLI = (Path(module.__file__).parent for module in (cheblienet_graphs, cheblienet_cli))
WATCHED = {
    str(file)
    for file in (
        *(GRAPHS / "store").glob("*.py"),
        *(GRAPHS / "assembly" / name for name in ("assemble.py", "building.py", "pipeline.py")),
        *(GRAPHS / "machine" / name for name in ("__init__.py", "processes.py", "interrupts.py")),
        *(CLI / name for name in ("main.py", "commands.py", "build.py")),
    )
}
"""Files that make, keep and delete what may stay, or tell of it."""
assert all(Path(file).is_file() for file in WATCHED)

BUILD = shlex.split("build r2 --size 12 --levels 1 --lambda-max 2 --name g --quiet --store")

# A signal can come after a file is opened and before anybody has it to close it.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

Line = tuple[str, int]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(pipeline, "rows_within", lambda *_: 40)
    handlers = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: _terminate}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
    gc.collect()  # so that no other test warns of what these left open


def code_of(arguments: list[str]) -> int:
    """Exit code of a command.

    It runs in a generator, which has its own record of the exception at hand: one that is raised
    while another is being left can stay there, and would be the context of later ones.
    """
    return next(run(arguments) for _ in range(1))


def lines_of_a_build(
    store: Path, stop: tuple[Line, int] | None = None, number: int = 0
) -> tuple[int, Counter[Line]]:
    """Exit code, and how often each line ran; a signal comes when one is about to run so often.

    What is cached runs in the first build only, so a line may not run so often again.
    """
    seen = Counter[Line]()

    def noticed(frame: FrameType, event: str, _: object) -> object:
        if event == "line":
            line = frame.f_code.co_filename, frame.f_lineno
            seen[line] += 1
            if (line, seen[line]) == stop:
                sys.settrace(None)
                signal.raise_signal(number)
        return noticed

    def entered(frame: FrameType, event: str, argument: object) -> object:
        within = frame.f_code.co_filename in WATCHED and frame.f_code.co_name != "run"
        return noticed if within else None

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        return code_of([*BUILD, str(store)]), seen
    finally:
        sys.settrace(before)


def manifest(store: Path) -> object:
    [version] = catalog.versions(Folder(store / "g"))
    return check_version(Folder(store / "g" / version))["manifest"]


def check(store: Path, messages: str, printed: str, expected: object) -> str:
    """Assert that what stays was told and can be gone on with; what stayed."""
    where = f"{messages!r}, {sorted(map(str, store.parent.rglob('*')))}"
    left = leftovers(store)
    assert layout.staging_folder(store).exists() == bool(left), where
    assert messages.count("\n") <= 2, where  # click ends the line in which ^C stands
    assert "Traceback" not in messages, where
    if left:
        [folder] = left
        kept = len(Records(folder / "finished"))
        assert identity_of(folder), where
        assert f"{kept} finished block" in messages, where
        assert "--resume" in messages, where
    else:
        assert "--resume" not in messages, where
    published = store.exists()
    if published:
        assert not left, where
        assert manifest(store) == expected, where
        assert "g@v001 is published." in messages or printed.startswith("g@v001"), where
    else:
        assert "published" not in messages, where
    if not left and not published:
        assert list(store.parent.iterdir()) == [], where
        return "nothing"
    assert run([*BUILD, str(store), "--resume"]) == 0
    assert manifest(store) == expected
    assert [path.name for path in store.parent.iterdir()] == [store.name], where
    return "published" if published else "kept"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "last"), [(signal.SIGINT, False), (signal.SIGINT, True), (signal.SIGTERM, False)]
)
def test_signal_at_every_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], number: int, last: bool
) -> None:
    """Lines that run several times are stopped at the first of these, or at the last."""
    (tmp_path / "whole").mkdir()
    code, lines = lines_of_a_build(tmp_path / "whole" / "g.zarr")
    assert code == 0
    expected = manifest(tmp_path / "whole" / "g.zarr")
    assert len(lines) > 200
    some = 7 if number == signal.SIGTERM else 1  # it is the same mechanism
    stayed = Counter[str]()
    for place, (line, times) in enumerate(sorted(lines.items())):
        if place % some or (last if times == 1 else place % 2 == last):
            continue
        (tmp_path / str(place)).mkdir()
        store = tmp_path / str(place) / "g.zarr"
        capsys.readouterr()
        stop = line, times if last else 1
        code, ran = lines_of_a_build(store, stop, number)
        printed, messages = capsys.readouterr()
        if ran[line] >= stop[1]:
            assert code == (143 if number == signal.SIGTERM else 130), (line, messages)
            stayed[check(store, messages, printed, expected)] += 1
    assert len(stayed) == 3, stayed
    assert sum(stayed.values()) > (15 if number == signal.SIGTERM else 100), stayed


def can_come(frame: FrameType) -> bool:
    """Whether Python would hear a signal there: not before it notes which exception it handles."""
    return dis.opname[frame.f_code.co_code[frame.f_lasti]] != "PUSH_EXC_INFO"


def interrupted_twice(call: int, lines: int, store: Path, patch: pytest.MonkeyPatch) -> int | None:
    """Exit code of a build with a signal in a progress call and one so many lines after it.

    None where it ends before.
    """
    calls, left = 0, lines

    def second(frame: FrameType, event: str, _: object) -> object:
        nonlocal left
        if event == "line" and frame.f_code.co_filename in WATCHED and can_come(frame):
            left -= 1
            if left == 0:
                sys.settrace(None)
                signal.raise_signal(signal.SIGINT)
        return second

    def first(*_: object) -> None:
        nonlocal calls
        calls += 1
        if calls == call:
            sys.settrace(second)
            frame = sys._getframe()
            while frame := frame.f_back:  # what is under way is traced from here on
                frame.f_trace = second
            signal.raise_signal(signal.SIGINT)

    patch.setattr(build_command, "progress_bar", lambda **_: nullcontext(first))
    before = sys.gettrace()
    try:
        code = code_of([*BUILD, str(store)])
    finally:
        sys.settrace(before)
        assert sys.exc_info() == (None, None, None)
    return None if left > 0 else code


@pytest.mark.slow
@pytest.mark.parametrize(("call", "stays"), [(1, "nothing"), (3, "kept")])
def test_second_signal_at_every_line_after_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], call: int, stays: str
) -> None:
    """The first comes before any block is finished, or when two are."""
    (tmp_path / "whole").mkdir()
    whole = tmp_path / "whole" / "g.zarr"
    assert run([*BUILD, str(whole)]) == 0
    expected = manifest(whole)
    for lines in count(1):
        (tmp_path / str(lines)).mkdir()
        store = tmp_path / str(lines) / "g.zarr"
        capsys.readouterr()
        with pytest.MonkeyPatch.context() as patch:
            code = interrupted_twice(call, lines, store, patch)
        printed, messages = capsys.readouterr()
        if code is None:
            break
        assert code == 130
        once = "\n".join(dict.fromkeys(messages.split("\n")))  # it may have been printed before
        assert check(store, once, printed, expected) == stays
    assert lines > 40
