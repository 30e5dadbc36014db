"""Programs of Python in processes of their own."""

import subprocess
import sys
from typing import Any


def printed_by(*words: object, **how: Any) -> str:
    """What Python prints that is called with these words, and must succeed."""
    command = [sys.executable, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **how)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
