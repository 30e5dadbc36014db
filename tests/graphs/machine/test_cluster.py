"""Schedulers that are none, or say nothing."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cheblienet_graphs import CheblienetError, GraphSpec, SpecError, build

cluster = pytest.importorskip("cheblienet_graphs.machine.dask")

SPEC = GraphSpec("r2", 8)


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """Accepts connections, and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def address_of(listening: socket.socket) -> str:
    return f"tcp://127.0.0.1:{listening.getsockname()[1]}"


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense://x", "tcp://127.0.0.1"])
def test_no_cluster_there(tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECTED", 1)
    with pytest.raises(CheblienetError, match=r"There is no Dask cluster at .*dask scheduler"):
        build(SPEC, tmp_path / "g", dask=address)
    with pytest.raises(SpecError, match="workers must be left out where a cluster has its own"):
        build(SPEC, tmp_path / "g", dask=address, workers=2)
    with pytest.raises(CheblienetError, match=r"at none\.json: there is no such file\. Give"):
        build(SPEC, tmp_path / "g", dask="none.json")
    dask = pytest.importorskip("dask")
    assert dask.config.get("scheduler", None) is None  # that of the caller's other work


@pytest.mark.parametrize("text", ["", "[]", "{}", "\udcff"])
def test_file_that_no_scheduler_wrote(tmp_path: Path, text: str) -> None:
    (tmp_path / "file").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(CheblienetError, match="it is a file that no scheduler wrote"):
        build(SPEC, tmp_path / "g", dask=str(tmp_path / "file"))


def test_scheduler_that_says_nothing(
    tmp_path: Path, silent: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CONNECTED", 0.2)
    with pytest.raises(CheblienetError, match=r"There is no Dask cluster at .* 0\.2 s\. Give"):
        build(SPEC, tmp_path / "g", dask=address_of(silent))


def test_ctrl_c_while_a_scheduler_says_nothing(tmp_path: Path, silent: socket.socket) -> None:
    """Were it not heard, the build would end with another code, once its time is up."""
    program = (
        "import signal; from cheblienet_cli.main import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler); main()\n"
    )
    command = ["build", "r2", "--size", "8", "--dask", address_of(silent)]
    command += ["--store", str(tmp_path / "g.zarr")]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *command], stderr=subprocess.PIPE, text=True
    )
    connection, _ = silent.accept()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    connection.close()
    assert process.returncode == 130
    assert "Interrupted." in said
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []
