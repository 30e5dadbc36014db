"""The long robustness runs, in short; and how processes share a graph."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import open_store

SCRIPTS = Path(__file__).parents[1] / "benchmarks" / "robustness"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "arguments", "expected"),
    [
        ("kill.py", ["--kills", "4", "--processes", "2"], "killed: 4"),
        ("fuzz.py", ["--mutants", "15", "--seed", "1"], "refused: "),
    ],
)
def test_short_run(script: str, arguments: list[str], expected: str) -> None:
    command = [sys.executable, str(SCRIPTS / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert expected in done.stdout


READER = """
import json, sys, torch
from cheblienet_models import open_store
pyramid = open_store(sys.argv[1])[sys.argv[2]]
graph = pyramid.levels[0]
graph.laplacian @ torch.ones(graph.num_vertices, 1)
graph.coordinates.sum()
print("ready", flush=True)
for _ in sys.stdin:
    mine, totals = False, dict.fromkeys(("Rss", "Pss", "Private_Dirty"), 0)
    with open("/proc/self/smaps") as lines:
        for line in lines:
            key, _, value = line.partition(":")
            if key in totals and mine:
                totals[key] += int(value.split()[0])
            elif "-" in key.split(" ")[0]:
                mine = sys.argv[1] in line
    print(json.dumps(totals), flush=True)
"""


@pytest.mark.slow
def test_two_processes_share_the_pages(tmp_path: Path) -> None:
    store = tmp_path / "g.zarr"
    build(GraphSpec("se2", 96, levels=1), store, name="g")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", READER, str(store), "g"]
    readers = [subprocess.Popen(command, **pipes) for _ in range(2)]
    try:
        for reader in readers:
            assert reader.stdout.readline() == "ready\n"
        for reader in readers:
            reader.stdin.write("report\n")
            reader.stdin.flush()
            totals = json.loads(reader.stdout.readline())
            assert totals["Rss"] > 6000
            assert totals["Pss"] < 0.6 * totals["Rss"]
            assert totals["Private_Dirty"] == 0
    finally:
        for reader in readers:
            reader.communicate()


def test_fifty_open_graphs_hold_no_descriptor(store: Path) -> None:
    def held() -> list[Path]:
        """Files of the store that are open; what else is open here is not ours to count."""
        descriptors = map(Path.resolve, Path("/proc/self/fd").iterdir())
        return [file for file in descriptors if store in file.parents]

    before = held()  # of maps that other tests have not let go of
    opened = open_store(store)
    with (store / "zarr.json").open():
        assert set(held()) - set(before) == {store / "zarr.json"}  # the test can tell
    kept = [opened["torus"] for _ in range(50)]
    assert len(held()) <= len(before)
    assert len({pyramid.levels[0].values.data_ptr() for pyramid in kept}) == 50
