"""Fuzzed robot files on the disk: structure, bytes, paths, nesting. What `load` refuses, it refuses with file and line; what it
accepts evaluates to finite numbers or a reason. `make test` takes a sample, `make test-full` all 10 000.
"""

from __future__ import annotations

import os
import random
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.description import RobotFileError

sys.path.insert(0, str(Path(__file__).parent.parent / "description"))
from robot_fuzzer import dump, fuzzed_documents, valid_texts

SAMPLE, FULL, PARTS = 120, 10_000, 20
SLOWEST = 10.0
"""Seconds of processor time to load one file; the median is some milliseconds, a mesh of a plate takes a second."""
LONGEST = 100.0
"""Seconds of processor time to derive, compile and evaluate the equations of a robot with a structure of its own."""
BYTES = [
    b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x7f", b"\x1b[2J", b"\r", b"\xef\xbb\xbf", b"\xe2\x80\xa8",
]  # fmt: skip
NAMES = [
    "robot.yaml", "a b.yaml", "ключ.yaml", "%s%n{}.yaml", "-rf.yaml", "~.yaml", "new\nline.yaml", "x" * 200 + ".yaml", ".yaml",
    "a:1:b",
]  # fmt: skip


def cut(chance: random.Random, data: bytes) -> bytes:
    return data[: chance.randrange(len(data))]


def flipped(chance: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randrange(1, 8)):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def inserted(chance: random.Random, data: bytes) -> bytes:
    place = chance.randrange(len(data))
    return data[:place] + chance.choice(BYTES) * chance.choice([1, 1, 3, 1000]) + data[place:]


def doubled(chance: random.Random, data: bytes) -> bytes:
    a, b = sorted(chance.randrange(len(data)) for _ in range(2))
    return data[:b] + data[a:]


def removed(chance: random.Random, data: bytes) -> bytes:
    a, b = sorted(chance.randrange(len(data)) for _ in range(2))
    return data[:a] + data[b:]


def noise(chance: random.Random, data: bytes) -> bytes:
    return chance.randbytes(chance.choice([1, 10, 1000, len(data)]))


def nested(chance: random.Random, data: bytes) -> bytes:
    opening, closing = chance.choice([(b"[", b"]"), (b"{a: ", b"}"), (b"- ", b"")])
    depth = chance.choice([30, 51, 500, 100_000])
    where = chance.choice([b"gravity: ", b"home: ", b"platform: ", b"legs: ", b"x: "])
    return data + b"\n" + where + opening * depth + closing * chance.choice([0, depth])


def huge(chance: random.Random, data: bytes) -> bytes:
    return data + b"\n" + chance.choice([b"#" * 80 + b"\n", b"x: 1\n", b" " * 80]) * chance.choice([70_000, 600])


BYTE_MUTATIONS = [cut, flipped, flipped, flipped, inserted, inserted, doubled, removed, noise, nested, huge]


def fuzzed_files(seed: int, count: int) -> Iterator[tuple[str, bytes]]:
    """Two of three are structural mutations, one of bytes."""
    chance = random.Random(seed)
    texts = {name: text.encode() for name, text in valid_texts().items()}
    structural = fuzzed_documents(seed, count)
    for k in range(count):
        if k % 3:
            name, text = next(structural)
            yield name, text.encode("utf-8", "surrogatepass")
        else:
            stem, mutate = chance.choice(list(texts)), chance.choice(BYTE_MUTATIONS)
            yield f"{stem}-{mutate.__name__}", mutate(chance, texts[stem])


def judge(path: Path, verbs: str = "") -> str:
    """What became of a file; anything but a clear error with file and line, or finite numbers of the verbs, fails."""
    start = time.process_time()
    try:
        robot = fp.load(path)
    except RobotFileError as error:
        for problem in error.problems:
            assert problem.file == str(path)
            assert problem.line is not None, str(problem)
            assert problem.what.strip()
            assert problem.hint.strip()
            assert len(str(problem)) - len(str(path)) < 1500
        return "refused"
    except fp.FlexapodError as error:
        found = re.match(re.escape(str(path)) + r":\d+: .{10,1500}", str(error), re.DOTALL)
        assert found, f"no file and line: {error}"  # noqa: PT017
        return "not built"
    finally:
        assert time.process_time() - start < SLOWEST
    return evaluated(robot, verbs) if verbs else "accepted"


def evaluated(robot: Any, verbs: str) -> str:
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    start = time.process_time()
    try:
        found = [fp.inverse_kinematics(robot, home, joints=False).actuator_position.values]
        if verbs == "dynamics":
            found.append(fp.inverse_dynamics(robot, home).force.values)
    except fp.FlexapodError as error:
        assert 10 < len(str(error)) < 1500, str(error)  # noqa: PT017
        return "a reason"
    finally:
        assert time.process_time() - start < LONGEST
    assert all(np.all(np.isfinite(values)) for values in found)
    return "numbers"


def judge_many(folder: Path, seed: int, count: int, every: int) -> Counter[str]:
    """Judge files; every so many of them by the verbs, and every tenth of those by dynamics."""
    seen: Counter[str] = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, (name, data) in enumerate(fuzzed_files(seed, count)):
            path = folder / NAMES[k % len(NAMES)]
            path.write_bytes(data)
            try:
                seen[judge(path, "" if k % every else "dynamics" if k % (10 * every) == 0 else "kinematics")] += 1
            except Exception as error:
                error.add_note(f"file {k} of seed {seed}: {name}")
                raise
            path.unlink()
    return seen


def test_a_sample_of_fuzzed_files(tmp_path: Path) -> None:
    seen = judge_many(tmp_path, 20261116, SAMPLE, 10)
    assert seen["refused"] > 0.3 * SAMPLE, seen
    assert seen["accepted"] > 0.05 * SAMPLE, seen


@pytest.mark.full
@pytest.mark.parametrize("part", range(PARTS))
def test_all_fuzzed_files_have_a_reason_or_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int) -> None:
    """A twentieth by compiled kernels: every accepted file has its own structure, and compiling takes most of the time."""
    monkeypatch.setenv("FLEXAPOD_BACKEND", "llvm" if part == 0 else "numpy")
    seen = judge_many(tmp_path, 20261116 + part, FULL // PARTS, 1)
    print(dict(seen))
    assert seen["refused"] > 0.3 * FULL / PARTS, seen
    assert seen["numbers"] > 0.02 * FULL / PARTS, seen


HOSTILE = ["/etc/passwd", "../x.yaml", "/dev/zero", "/dev/tty", "pipe", "folder", "loop", "gone", "a\0b", "", ".", "x" * 5000]


@pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")
@pytest.mark.parametrize("path", HOSTILE)
def test_hostile_paths_of_robot_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    Path("folder").mkdir()
    Path("loop").symlink_to("loop")
    for read in (fp.load, fp.read_robot_file):
        with pytest.raises(
            fp.FlexapodError, match=r"no robot called|is not a file|is a folder|does not exist|cannot be read|:\d+: "
        ):
            read(path)


@pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")
@pytest.mark.parametrize("named", [*HOSTILE[:7], "../x.npz", "gone.npz", "robot.yaml", "x" * 5000])
def test_hostile_paths_inside_robot_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    Path("folder").mkdir()
    Path("loop").symlink_to("loop")
    document = fp.read_robot_file(fp.catalogue()["gough-stewart"]).document
    document["platform"]["flexible"] = {"type": "modes", "file": named}
    Path("robot.yaml").write_text(dump(document))
    with pytest.raises(fp.FlexapodError, match=r"robot.yaml:\d+: "):
        fp.load("robot.yaml")


def test_a_robot_that_cannot_be_built_says_file_and_line(tmp_path: Path) -> None:
    text = valid_texts()["hexapod"]
    path = tmp_path / "far.yaml"
    path.write_text(re.sub(r"home:.*?\n(?=\w)", "home: {position: [0, 0, 0.9]}\n", text, flags=re.DOTALL))
    line = 1 + [row.split(":")[0].strip() for row in path.read_text().splitlines()].index("A")
    with pytest.raises(fp.FlexapodError, match=rf"far.yaml:{line}: leg A cannot reach the platform at home"):
        fp.load(path)


def test_a_joint_beside_the_nodes_of_a_beam_says_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "planar.yaml"
    path.write_text(valid_texts()["planar"])
    with pytest.raises(fp.FlexapodError, match=r"planar.yaml:\d+: leg 1: something is attached to the beam 13 at \[0.2"):
        fp.load(path)
