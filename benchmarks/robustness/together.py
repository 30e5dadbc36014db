"""Commands at the same moment on one store: none says what is not so, and nothing is lost.

Two processes that have imported everything are told to run one command each, drawn from builds of
the same and of another specification, `ls`, `verify` (with and without `--clean`), `tag`, `tag
--delete` and `rm`. Each must succeed, or say one of the few things that the other one can have made
true: that a version or a ref is not there, or that a version is tagged. Then the store must verify
without a fault and without leftovers, and equal builds may not publish twice without `--force`.

    python benchmarks/robustness/together.py [--rounds 100] [--seed 0]
"""

import argparse
import collections
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tqdm import tqdm

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.store.leftovers import leftovers
from cheblienet_graphs.store.map_facts import listing
from cheblienet_graphs.verification.versions import verify

RUNNER = """
import sys
from cheblienet_cli.main import run
import cheblienet_graphs.assembly.pipeline, cheblienet_graphs.verification.versions
import cheblienet_graphs.store.map_facts, cheblienet_graphs.assembly.checks
print("ready", flush=True)
sys.exit(run(input().split()))
"""
SPEC = GraphSpec("r2", 24)
NAME = SPEC.default_name
COMMANDS = (
    "build r2 --size 24 --quiet",
    "build r2 --size 24 --force --quiet",
    "build r2 --size 24 --name other --quiet",
    "build r2 --size 25 --name other --quiet",
    "ls",
    "verify",
    "verify --clean",
    f"tag {NAME} paper",
    f"tag {NAME}@v001 paper",
    f"tag {NAME} paper --delete",
    f"rm {NAME}@latest",
    f"rm {NAME}@v001 --force",
    f"rm {NAME} --keep 2",
)
TRUE = re.compile(
    r"(No version '\w+' of \S+\.|No graph '\S+' in \S+\.|\S+ has no ref 'paper'|"
    r"\S+ is named paper; --force removes|\S+ holds no graph)"
)
"""What a command may say as the other one made it so."""


def start() -> subprocess.Popen[str]:
    """A process that has imported everything, and runs a command when told."""
    runner = subprocess.Popen(
        [sys.executable, "-c", RUNNER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert runner.stdout
    runner.stdout.readline()
    return runner


def at_once(store: Path, commands: list[str]) -> list[tuple[int, str]]:
    """Exit codes and messages of commands that begin together."""
    runners = [start() for _ in commands]
    for runner, command in zip(runners, commands, strict=True):
        assert runner.stdin
        runner.stdin.write(f"{command} --store {store}\n")
        runner.stdin.flush()
    outcomes = []
    for runner in runners:
        out, told = runner.communicate(timeout=300)
        outcomes.append((runner.returncode, told + ("" if runner.returncode == 0 else out)))
    return outcomes


def wrong(store: Path, commands: list[str]) -> list[str]:
    """What should not have happened."""
    found = []
    for command, (code, told) in zip(commands, at_once(store, commands), strict=True):
        if code and not TRUE.search(told.removeprefix("Error: ")):
            found.append(f"{command}: exit {code}: {told.strip()}")
        if "left by interrupted builds" in told and "--clean" not in command:
            found.append(f"{command}: {told.strip()}")
    found += [f"{fault.where}: {fault.what}" for fault in verify(store)]
    found += [str(path) for path in leftovers(store)]
    if len(set(commands)) == 1 and commands[0] in {COMMANDS[0], COMMANDS[2]}:
        name = "other" if "other" in commands[0] else NAME
        if sum(version.name == name for version in listing(store)) > (1 if name == "other" else 3):
            found.append("an equal version was published twice")
    return found


def run(rounds: int, seed: int = 0) -> collections.Counter[str]:
    """Rounds by commands; every round begins with three versions, one of them tagged."""
    chance, done = random.Random(seed), collections.Counter[str]()
    for _ in tqdm(range(rounds)):
        commands = chance.choices(COMMANDS, k=2)
        if chance.random() < 0.2:  # equal ones meet most often
            commands = [chance.choice([COMMANDS[0], COMMANDS[2]])] * 2
        with tempfile.TemporaryDirectory() as folder:
            store = Path(folder) / "g.zarr"
            for _ in range(3):
                build(SPEC, store, force=True)
            assert at_once(store, [f"tag {NAME}@v002 paper"])[0][0] == 0
            found = wrong(store, commands)
            assert not found, f"{commands}: {found}"
        done.update(command.split()[0] for command in commands)
    return done


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    for command, count in sorted(run(**vars(arguments)).items()):
        print(f"{command}: {count}, without a false word")
