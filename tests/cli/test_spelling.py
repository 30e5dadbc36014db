"""The command line names options where the libraries name parameters."""

import pickle
import re

import pytest
from failures import Clg

from cheblienet_cli.spelling import spelled
from cheblienet_graphs.errors import SpecError


@pytest.mark.parametrize(
    ("python", "typed"),
    [
        ("use `weights='selling'` or `neighbors=48`", "use --weights selling or --neighbors 48"),
        ("`boundary_correction=False`, `eps_squared`", "--no-boundary-correction, --eps-squared"),
        ("`force=True`, fewer `levels`", "--force, fewer --levels"),
        ("`coordinates`", "--points-file"),
        ("`size=16x16`", "--size 16x16"),
        (
            "as `clg ls` and `nvidia-smi` tell, `pad=True`",
            "as `clg ls` and `nvidia-smi` tell, `pad=True`",
        ),
        ({"a": ["`eps`", 1, None]}, {"a": ["--eps", 1, None]}),
    ],
)
def test_parameters_are_options(python: object, typed: object) -> None:
    assert spelled(python) == typed


def test_errors_are_pickled_whole() -> None:
    error = pickle.loads(pickle.dumps(SpecError("eps", "small", "big", "Give `xi`.")))
    assert (error.field, error.complaint) == ("eps", "must be small. Got 'big'. Give `xi`.")
    assert str(error) == f"eps {error.complaint}"


def test_what_is_told_of_a_build_and_in_a_report_names_options(clg: Clg) -> None:
    build, texts = "build se2 --size 16 --eps 0.1 --levels 1", []
    inspect = "inspect", "inspect --full", "inspect --json"
    for command in (f"{build} --dry-run", f"{build} --verbose", *inspect):
        texts.append("".join(clg(command)))
        assert not re.search(r"`\w+(=[^`]*)?`", texts[-1])
    assert [text.count("--eps-squared 0.1") for text in texts[:4]] == [1, 1, 0, 1]
    assert all("--weights selling" in text for text in texts[2:])
