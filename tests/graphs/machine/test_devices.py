"""Which of several devices a process has."""

import os
import subprocess
import sys
from pathlib import Path

from cheblienet_graphs.machine.devices import free_index


def test_every_process_has_its_device(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from cheblienet_graphs.machine.devices import free_index\n"
        f"print(free_index(3, Path({str(tmp_path)!r})), flush=True); input()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    found, processes = [], []
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", program], **pipes)
        found.append(int(process.stdout.readline()))
        processes.append(process)
    assert found == [0, 1, 2]
    assert free_index(3, tmp_path) in {0, 1, 2}  # shared
    processes[1].communicate("\n")
    assert free_index(3, tmp_path) == 1
    for process in (processes[0], processes[2]):
        process.communicate("\n")


def test_what_others_put_in_the_folder_of_the_locks(tmp_path: Path) -> None:
    """All may write to it: a link may lead anywhere, and what is another's can't be opened."""
    first, second = (tmp_path / f"cheblienet-device-{os.getuid()}-{i}.lock" for i in range(2))
    first.symlink_to(tmp_path / "elsewhere")
    second.mkdir()  # as a file of another user does for all but root, it fails to open
    assert free_index(3, tmp_path) == 2
    assert free_index(2, tmp_path) in {0, 1}  # shared
    assert not (tmp_path / "elsewhere").exists()
