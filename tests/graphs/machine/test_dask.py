"""Blocks done by a dask cluster that loses a worker, outlives the build, is local or is none."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from builds import SPECS, Whole, inodes, manifest

from cheblienet_graphs import CheblienetError, GraphSpec, SpecError, build
from cheblienet_graphs.errors import InputError
from cheblienet_graphs.store.leftovers import leftovers

distributed = pytest.importorskip("distributed")
client_of = pytest.importorskip("cheblienet_graphs.machine.dask")
dask = pytest.importorskip("dask")
pytestmark = pytest.mark.slow
PLANE = GraphSpec("r2", 8)


@pytest.fixture(scope="module")
def cluster() -> Iterator[object]:
    quietly = {"dashboard_address": ":0", "silence_logs": "CRITICAL"}
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, **quietly) as cluster:
        yield cluster


@pytest.mark.parametrize("name", ["lattice", "given points"])
def test_dask_cluster_of_which_a_worker_is_killed(
    tmp_path: Path, name: str, cluster: object, expected: Whole
) -> None:
    """Blocks of the dead worker go to others, finished ones are not done again."""
    store, before = tmp_path / "g", dict[Path, int]()
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2)  # one may just have been killed by another test
        pids = list(client.run(os.getpid).values())
    killed = []

    def watch(_what: str, done: int, total: int) -> None:
        kept = inodes(store)
        assert kept.items() >= before.items()
        before.update(kept)
        if not killed and 0 < done < total:
            killed.append(pids[0])
            os.kill(pids[0], signal.SIGKILL)

    build(SPECS[name], store, dask=cluster.scheduler_address, block_rows=211, progress=watch)
    assert len(killed) == 1
    assert len(before) > 10
    assert manifest(store) == expected[name]
    assert leftovers(store) == []


def test_a_scheduler_file_and_a_local_cluster(
    tmp_path: Path, cluster: object, expected: Whole
) -> None:
    file = tmp_path / "scheduler.json"
    file.write_text(json.dumps({"type": "Scheduler", "address": cluster.scheduler_address}))
    for where, workers in ((str(file), None), ("local", 1)):
        build(SPECS["mask"], tmp_path / where[-5:], dask=where, workers=workers, block_rows=500)
        assert manifest(tmp_path / where[-5:]) == expected["mask"]


def test_dask_workers_keep_nothing_of_a_build(
    tmp_path: Path, cluster: object, expected: Whole
) -> None:
    """They outlive it."""

    def kept_jobs() -> int:  # sent as it is: workers need not find these tests
        from cheblienet_graphs import machine

        return machine.received.cache_info().currsize

    during = []

    def watch(*_: object) -> None:
        during.append(sum(client.run(kept_jobs).values()))

    with distributed.Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(2)
        how = {"dask": cluster.scheduler_address, "block_rows": 500}
        build(SPECS["lattice"], tmp_path / "g", **how, progress=watch)
        assert manifest(tmp_path / "g") == expected["lattice"]
        assert max(during) > 0
        for _ in range(600):  # the builder tells them without waiting for an answer
            if not sum(client.run(kept_jobs).values()):
                break
            time.sleep(0.1)
        else:
            pytest.fail("a worker still has what it kept for the build")


def test_error_of_a_dask_worker_is_that_of_a_build(tmp_path: Path, cluster: object) -> None:
    spec = GraphSpec("se2", 24, neighbors=1, levels=1)
    with pytest.raises(SpecError) as here:
        build(spec, tmp_path / "g")
    with pytest.raises(SpecError) as there:
        build(spec, tmp_path / "g", engine="pruned", dask=cluster.scheduler_address, block_rows=50)
    assert str(here.value) == str(there.value)
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_ends_a_build_by_local_dask(tmp_path: Path) -> None:
    program = (
        "import os, signal\n"
        "from cheblienet_graphs import GraphSpec, build\n"
        "def stop(_what, done, total):\n"
        "    if done: os.kill(os.getpid(), signal.SIGINT)\n"
        "if __name__ == '__main__':\n"
        "    signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"    spec = GraphSpec.from_dict({SPECS['lattice'].to_dict()!r})\n"
        f"    build(spec, {str(tmp_path / 'g')!r}, dask='local', workers=1, block_rows=211,\n"
        "          progress=stop)\n"
    )
    (tmp_path / "program.py").write_text(program)
    command = [sys.executable, str(tmp_path / "program.py")]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGINT, ended.stderr
    assert "KeyboardInterrupt" in ended.stderr
    assert len(leftovers(tmp_path / "g")) == 1


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """Accepts connections, and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def address_of(listening: socket.socket) -> str:
    return f"tcp://127.0.0.1:{listening.getsockname()[1]}"


@pytest.mark.parametrize("host", ["tcp://127.0.0.1:1", "nonsense://x", "tcp://127.0.0.1", None])
def test_no_cluster_there(
    tmp_path: Path, host: str | None, silent: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_of, "CONNECTED", 0.2)
    address = host or address_of(silent)
    with pytest.raises(CheblienetError, match=r"no Dask cluster at .*: \w.*\. Give .*dask sch"):
        build(PLANE, tmp_path / "g", dask=address)
    with pytest.raises(SpecError, match="workers must be left out where a cluster has its own"):
        build(PLANE, tmp_path / "g", dask=address, workers=2)
    with pytest.raises(InputError, match=r"at none\.json: there is no such file\. Give"):
        build(PLANE, tmp_path / "g", dask="none.json")
    assert dask.config.get("scheduler", None) is None  # that of the caller's other work


def test_local_cluster_has_a_worker_for_each_core() -> None:
    assert client_of.processes_of("local", None) == client_of.CPU_COUNT > 0


def test_local_cluster_that_may_open_few_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Short of them Dask's own loop goes round without end."""
    monkeypatch.setattr(client_of.resource, "getrlimit", lambda _: (40, 4096))
    told = r"of 2 workers needs 64 open files\. Got 40; allow more with `ulimit -n`, or give fewer"
    with pytest.raises(CheblienetError, match=told):
        build(PLANE, tmp_path / "g", dask="local", workers=2)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", "[]", "{}", "\udcff"])
def test_file_that_no_scheduler_wrote(tmp_path: Path, text: str) -> None:
    (tmp_path / "file").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(CheblienetError, match="it is a file that no scheduler wrote"):
        build(PLANE, tmp_path / "g", dask=str(tmp_path / "file"))


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
    _, message = process.communicate()
    connection.close()
    assert process.returncode == 130
    assert "Interrupted." in message
    assert "Traceback" not in message
    assert list(tmp_path.iterdir()) == []
