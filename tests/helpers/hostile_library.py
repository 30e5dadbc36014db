"""A shared library whose bytes are finite numbers, so that it can stand in any array of a store."""

import platform
import struct
import sys

import numpy as np
import pytest

EFFECT = "x"
"""The file that the library makes in the current folder as soon as it is loaded."""
CREATE = bytes.fromhex(
    "488d3d1900000090"  # lea rdi, [rip + 25]: EFFECT, behind the code
    "bea4010000909090"  # mov esi, 0o644
    "b8550000000f0590"  # mov eax, 85; syscall: creat(EFFECT, 0o644)
    "c300000000000000"  # ret
)


def library(values: np.ndarray) -> np.ndarray:
    """(the shape of values) the bytes of the library, then zeros; numbers of its type.

    ELF by hand: what linkers write has names, which as numbers are beyond what is accepted.
    """
    if not (sys.platform == "linux" and platform.machine() == "x86_64"):
        pytest.skip("the library is one of Linux on x86-64")
    header, segment, entry = 64, 56, 16
    dynamic = header + 3 * segment
    symbols = dynamic + 6 * entry  # none, and so no strings
    code = symbols + 24
    end = code + len(CREATE) + 8
    tags = {5: symbols, 6: symbols, 10: 1, 11: 24, 12: code, 0: 0}  # DT_STRTAB ... DT_INIT
    contents = b"".join(
        (
            b"\x7fELF\2\1\1".ljust(16, b"\0"),
            struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, header, 0, 0, header, segment, 3, 64, 0, 0),
            struct.pack("<IIQQQQQQ", 1, 7, 0, 0, 0, end, end, 4096),  # PT_LOAD
            struct.pack("<IIQQQQQQ", 2, 6, dynamic, dynamic, dynamic, 96, 96, 8),  # PT_DYNAMIC
            struct.pack("<IIQQQQQQ", 0x6474E551, 6, 0, 0, 0, 0, 0, 16),  # PT_GNU_STACK
            b"".join(struct.pack("<QQ", *tag) for tag in tags.items()),
            bytes(24),
            CREATE,
            EFFECT.encode().ljust(8, b"\0"),
        )
    )
    padded = contents.ljust(values.nbytes, b"\0")
    return np.frombuffer(padded, values.dtype).reshape(values.shape)
