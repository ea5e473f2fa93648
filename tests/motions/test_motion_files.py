"""Motions in files: round trips, every form of columns, derivatives, and the text of every error."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from motion_checks import same

from flexapod.errors import FileError, InputError
from flexapod.motions import (
    ActuatorMotion,
    Motion,
    MotionFileError,
    motion_from_file,
    motion_to_file,
    one_minus_cos,
    rotation_quat_wxyz,
    rotation_quat_xyzw,
    rotvec_rotation,
)

DATA = Path(__file__).parents[1] / "data" / "motions"
ENDINGS = ["csv", "parquet"]
SPLINE = 2e-4
"""Quintic spline at 0.025 s, accelerations at its ends included."""
ENDS = 1e-3
"""Accelerations at the ends of a spline through 61 samples."""
OF_VELOCITIES = 1e-5
"""Accelerations [m/s^2] by a spline of velocities at 0.025 s: an order more than from positions."""
ROUNDING = 1e-15
"""The spline at its own samples [m]."""
FILTERED = 0.02
"""Of the largest acceleration: what a low-pass filter leaves of noise."""
ROTATED = 1e-6
"""[rad/s]: orientations without noise through the same filter; found 3e-9."""
LINE = 1e-12
"""[m/s]: a spline through eight samples of a line, rounding over the step of 0.1 s."""


def general(samples: int = 121) -> Motion:
    start, amplitude, omega = (0.1, 0, 0.9, 0.2, -0.1, 0.3), (0.1, 0.2, -0.1, 0.4, 0.3, -0.6), (2.0, 3.0, 1.0, 1.5, 2.5, 0.7)
    return one_minus_cos(start, amplitude, omega, 3.0, samples)


def write(path: Path, columns: dict[str, np.ndarray]) -> Path:
    rows = zip(*(c.tolist() for c in columns.values()), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(repr, row)) for row in rows)]), encoding="utf-8")
    return path


def pose_columns(motion: Motion, *, quaternion: str | None = None, flip: bool = False) -> dict[str, np.ndarray]:
    columns = {"t": motion.time} | {a: motion.position[:, i] for i, a in enumerate("xyz")}
    if quaternion is None:
        return columns | {f"r{i + 1}{j + 1}": motion.rotation[:, i, j] for i in range(3) for j in range(3)}
    q = (rotation_quat_wxyz if quaternion == "quat_wxyz" else rotation_quat_xyzw)(motion.rotation)
    if flip:
        q = q * np.random.default_rng(0).choice([-1.0, 1.0], (len(q), 1))
    return columns | {f"{quaternion}_{i}": q[:, i] for i in range(4)}


numbers = st.floats(allow_nan=False, allow_infinity=False, width=64)


@pytest.mark.parametrize("ending", ENDINGS)
@given(data=st.data(), n=st.integers(1, 6), m=st.integers(1, 4))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_actuator_round_trip_keeps_every_bit(tmp_path: Path, ending: str, data: st.DataObject, n: int, m: int) -> None:
    time = sorted(data.draw(st.lists(st.floats(-1e3, 1e3), min_size=n, max_size=n, unique=True)))
    arrays = [np.array(data.draw(st.lists(st.lists(numbers, min_size=m, max_size=m), min_size=n, max_size=n))) for _ in range(3)]
    motion = ActuatorMotion(time=time, position=arrays[0], velocity=arrays[1], acceleration=arrays[2])
    back = motion_from_file(motion_to_file(motion, tmp_path / f"m.{ending}"))
    assert isinstance(back, ActuatorMotion)
    for name in ("time", "position", "velocity", "acceleration"):
        assert getattr(back, name).tobytes() == getattr(motion, name).tobytes()


@pytest.mark.parametrize("ending", ENDINGS)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 5))
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_platform_round_trip_keeps_every_bit(tmp_path: Path, ending: str, seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    p, v, w, a, alpha = rng.normal(size=(5, n, 3))
    motion = Motion(
        time=np.cumsum(rng.uniform(0.1, 1, n)), position=p, rotation=rotvec_rotation(rng.normal(size=(n, 3))),
        velocity=v, angular_velocity=w, acceleration=a, angular_acceleration=alpha,
    )  # fmt: skip
    back = motion_from_file(motion_to_file(motion, tmp_path / f"m.{ending}"))
    assert isinstance(back, Motion)
    same(back, motion, 0.0)


def test_reference_file_as_platform_and_its_splines() -> None:
    file = DATA / "stewart-3-3_rotation_z.csv"
    exact = motion_from_file(file)
    assert isinstance(exact, Motion)
    fit = motion_from_file(file, derivatives="spline")
    same(fit, exact, ENDS)


def test_actuator_file_by_its_names() -> None:
    motion = motion_from_file(DATA / "dualemps_square.csv")
    assert isinstance(motion, ActuatorMotion)
    assert motion.position.shape == (251, 2)
    assert np.abs(motion.acceleration).max() > 0.3


@pytest.mark.parametrize("quaternion", [None, "quat_wxyz", "quat_xyzw"])
def test_poses_alone_get_derivatives_by_splines(tmp_path: Path, quaternion: str | None) -> None:
    exact = general()
    file = write(tmp_path / "poses.csv", pose_columns(exact, quaternion=quaternion, flip=quaternion is not None))
    same(motion_from_file(file), exact, SPLINE)


def test_component_names_of_quaternions(tmp_path: Path) -> None:
    columns = pose_columns(general(), quaternion="quat_xyzw")
    file = write(tmp_path / "q.csv", {k.replace("quat_xyzw_", "q") if k[-1] not in "0123" else "q" + "xyzw"[int(k[-1])]
                                      if k.startswith("quat") else k: v for k, v in columns.items()})  # fmt: skip
    same(motion_from_file(file), general(), SPLINE)


def test_velocity_columns_give_accelerations_by_a_spline_of_the_velocity(tmp_path: Path) -> None:
    m = general()
    columns = pose_columns(m) | {f"v_{a}": m.velocity[:, i] for i, a in enumerate("xyz")}
    columns |= {f"w_{a}": m.angular_velocity[:, i] for i, a in enumerate("xyz")}
    motion = motion_from_file(write(tmp_path / "v.csv", columns))
    np.testing.assert_array_equal(motion.velocity, m.velocity)
    assert np.abs(motion.acceleration - m.acceleration).max() < OF_VELOCITIES


def test_own_names_and_constant_orientation(tmp_path: Path) -> None:
    m = general()
    file = tmp_path / "own.csv"
    text = ["# measured by hand", "Zeit;X;Y;Z;note"]
    text += [";".join([repr(float(t)), *(repr(float(x)) for x in p), "ok"]) for t, p in zip(m.time, m.position, strict=True)]
    file.write_text("\n".join(text) + "\n\n", encoding="utf-8")
    motion = motion_from_file(file, columns={"time": "Zeit", "position": ["X", "Y", "Z"]}, rotation=np.eye(3))
    np.testing.assert_allclose(motion.position, m.position, rtol=0, atol=ROUNDING)
    assert not motion.angular_velocity.any()


def test_low_pass_of_measured_encoders(tmp_path: Path) -> None:
    t = np.arange(3000) / 1000
    q = np.round(0.1 * (1 - np.cos(2 * np.pi * t)) / 1e-5) * 1e-5
    file = write(tmp_path / "encoder.csv", {"time": t, "q1": q})
    motion = motion_from_file(file, derivatives="low-pass", cutoff=20.0)
    exact = 0.1 * (2 * np.pi) ** 2 * np.cos(2 * np.pi * t)
    assert np.abs(motion.acceleration[500:-500, 0] - exact[500:-500]).max() < FILTERED * exact.max()
    raw = motion_from_file(file, derivatives="spline")
    assert np.abs(raw.acceleration[500:-500, 0] - exact[500:-500]).max() > exact.max()


def test_low_pass_of_poses(tmp_path: Path) -> None:
    exact = general(1501)
    noise = 1e-6 * np.random.default_rng(3).normal(size=exact.position.shape)
    columns = pose_columns(exact) | {a: (exact.position + noise)[:, i] for i, a in enumerate("xyz")}
    motion = motion_from_file(write(tmp_path / "p.csv", columns), derivatives="low-pass", cutoff=15.0)
    inner = slice(200, -200)
    assert np.abs(motion.acceleration - exact.acceleration)[inner].max() < FILTERED * np.abs(exact.acceleration).max()
    assert np.abs(motion.angular_velocity - exact.angular_velocity)[inner].max() < ROTATED


def test_names_of_actuators(tmp_path: Path) -> None:
    motion = ActuatorMotion(time=[0, 1.0], position=[[1.0, 2], [3, 4]], velocity=np.zeros((2, 2)), acceleration=np.zeros((2, 2)))
    file = motion_to_file(motion, tmp_path / "m.csv", actuators=["A", "B"])
    assert file.read_text(encoding="utf-8").splitlines()[0] == "t,q_A,q_B,qd_A,qd_B,qdd_A,qdd_B"
    same(motion_from_file(file), motion, 0.0)


def test_writing_is_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = motion_to_file(general(5), tmp_path / "m.csv")
    before = file.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(FileError, match=r"m.csv: was not written: no space left on device; free some space"):
        motion_to_file(general(7), file)
    assert file.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m.csv"]


def test_the_old_file_stays_until_the_new_one_takes_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = motion_to_file(general(5), tmp_path / "m.csv")
    before = file.read_bytes()

    def broken(source: object, target: object) -> None:
        assert file.read_bytes() == before
        raise OSError("no permission")

    monkeypatch.setattr("os.replace", broken)
    with pytest.raises(FileError, match="no permission"):
        motion_to_file(general(7), file)
    assert [p.name for p in tmp_path.iterdir()] == ["m.csv"]


GOOD = "t,p_x,p_y,p_z,quat_wxyz_0,quat_wxyz_1,quat_wxyz_2,quat_wxyz_3\n" + "\n".join(f"0.{i},0.{i},0,1,1,0,0,0" for i in range(8))


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("t,p_x", "tt,p_x", "m.csv, column 't': is missing (time [s]); the nearest column is 'tt'"),
        ("p_y,", "p_yy,", "m.csv, column 'p_y': is missing (position, with p_x, p_z); the nearest column is 'p_yy'"),
        ("0.3,0.3,", "0.2,0.3,", "m.csv, column 't', row 4 (line 5): time has to increase, but 0.2 s repeats the time before"),
        ("0.3,0.3,", "0.1,0.3,", "m.csv, column 't', row 4 (line 5): time has to increase, but 0.1 s comes after 0.2 s"),
        ("0.4,0.4,", "0.4,nan,", "m.csv, column 'p_x', row 5 (line 6): expected a finite number, got nan"),
        ("0.4,0.4,", "0.4,abc,", "m.csv, column 'p_x', row 5 (line 6): 'abc' is not a number"),
        ("0.4,0.4,", "0.4,,", "m.csv, column 'p_x', row 5 (line 6): the cell is empty"),
        ("0.5,0.5,0,1,1,", "0.5,0.5,0,1,2,",
         "m.csv, column 'quat_wxyz', row 6 (line 7): expected a unit quaternion, but its norm is 2"),
        ("0.5,0.5,0,1,1,", "0.5,0.5,0,1,", "m.csv, row 6 (line 7): has 7 cells, but the header has 8"),
        ("p_y,", "p_x,", "m.csv, column 'p_x': occurs more than once in the header"),
        ("quat_wxyz_3", "quat_wxyz_4",
         "m.csv, column 'quat_wxyz_3': is missing (quat wxyz, with quat_wxyz_0, quat_wxyz_1, quat_wxyz_2); "
         "the nearest column is 'quat_wxyz_4'"),
        ("quat_wxyz", "other",
         "m.csv, column 'R_11': is missing (orientation R_11 .. R_33 or a quaternion; rotation=... sets a constant one); "
         "the columns are t, p_x, p_y, p_z, other_0, other_1, other_2, other_3"),
        (GOOD, "", "m.csv: is empty; the first line names the columns"),
        (GOOD, "t,q_1", "m.csv: has no rows"),
        (GOOD, "t;q_1\n0,0;1,5", "m.csv, column 't', row 1 (line 2): '0,0' is not a number; write the decimal sign as a point"),
        (GOOD, "t,q_1\n0,1\n1,2\n2,3", "m.csv: a spline needs at least 4 samples to give accelerations, got 3"),
        (GOOD, "t,q_1,q_2,qd_1\n0,1,1,1",
         "m.csv, column 'qd_2': is missing (rates of all actuators or of none); the nearest column is 'q_2'"),
        (GOOD, "t,foo\n0,1",
         "m.csv, column 'p_x': is missing (position of the platform p_x, p_y, p_z, or actuator coordinates q_1, q_2, ...); "
         "the columns are t, foo"),
        (GOOD, "t,q_1,qdd_1\n0,1,1\n1,1,1",
         "m.csv: has accelerations of the actuator coordinates without its rates; derivatives='spline' computes both"),
    ],
)  # fmt: skip
def test_errors_name_file_column_and_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, text: str) -> None:
    monkeypatch.chdir(tmp_path)
    assert old in GOOD
    Path("m.csv").write_text(GOOD.replace(old, new), encoding="utf-8")
    with pytest.raises(MotionFileError) as error:
        motion_from_file("m.csv")
    assert str(error.value) == text


def test_the_good_file_is_good(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text(GOOD, encoding="utf-8")
    assert np.abs(motion_from_file(tmp_path / "m.csv").velocity[:, 0] - 1).max() < LINE


def test_matrix_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    columns = pose_columns(general(9))
    write(Path("m.csv"), columns | {"r11": 1.001 * columns["r11"]})
    with pytest.raises(MotionFileError, match=r"^m.csv, column 'rotation', row 1 \(line 2\): the matrix is not orthonormal"):
        motion_from_file("m.csv")
    write(Path("m.csv"), columns | {f"r{i}3": -columns[f"r{i}3"] for i in "123"})
    with pytest.raises(MotionFileError, match=r"^m.csv, column 'rotation', row 1 \(line 2\): the matrix is a reflection$"):
        motion_from_file("m.csv")
    write(Path("m.csv"), columns | {f"quat_wxyz_{i}": columns["t"] for i in range(4)})
    with pytest.raises(MotionFileError, match=r"^m.csv: has the orientation as rotation and as quat_wxyz; choose one"):
        motion_from_file("m.csv")


def test_parquet_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.parquet").write_text("no parquet", encoding="utf-8")
    with pytest.raises(MotionFileError, match=r"^m.parquet: is not a readable Parquet file"):
        motion_from_file("m.parquet")
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table({"t": [0.0, 1.0, 2.0], "q_1": [1.0, None, 2.0]}), "m.parquet")
    with pytest.raises(MotionFileError, match=r"^m.parquet, column 'q_1', row 2: expected a finite number, got nan$"):
        motion_from_file("m.parquet")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"kind": "legs"}, "kind: expected one of auto, platform, actuators, got 'legs'"),
        ({"derivatives": "low-pass"}, "cutoff: give the cut-off frequency [Hz] together with derivatives='low-pass'"),
        ({"cutoff": 3.0}, "cutoff: give the cut-off frequency [Hz] together with derivatives='low-pass'"),
        ({"order": 2}, "order: belongs to derivatives='low-pass'; leave it out"),
        ({"derivatives": "columns"},
         "m.csv: has no columns with the rates of the position; derivatives='spline' computes them"),
        ({"rotation": np.eye(3)}, "m.csv: has an orientation already; leave out rotation=..."),
        ({"columns": {"positon": ["a"]}}, "columns: expected one of time, rotation, quat_wxyz, quat_xyzw, actuator_position, "
         "actuator_velocity, actuator_acceleration, position, velocity, acceleration, angular_velocity, angular_acceleration, "
         "rotvec, euler, got 'positon'; did you mean 'position'?"),
        ({"columns": {"position": ["p_x"]}}, "columns: 'position' needs 3 column names, got 1"),
        ({"columns": {"time": "T"}}, "m.csv, column 'T': is missing (asked for as time); the nearest column is 't'"),
        ({"derivatives": "low-pass", "cutoff": 9.0},
         "m.csv: cutoff: 9 Hz must lie below half the sampling rate, which is 5 Hz"),
    ],
)  # fmt: skip
def test_option_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict, text: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.csv").write_text(GOOD, encoding="utf-8")
    with pytest.raises(InputError) as error:
        motion_from_file("m.csv", **options)
    assert str(error.value) == text


def test_writing_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MotionFileError, match=r"^nowhere/m.csv: the folder 'nowhere' does not exist$"):
        motion_to_file(general(5), "nowhere/m.csv")
    with pytest.raises(MotionFileError, match=r"^none.csv: no such file$"):
        motion_from_file("none.csv")
    bad = ActuatorMotion(time=[0.0], position=[[np.nan]], velocity=[[0.0]], acceleration=[[0.0]])
    with pytest.raises(InputError, match=r"^motion: q_1 of sample 0 is nan; only finite numbers are written$"):
        motion_to_file(bad, "m.csv")
    good = ActuatorMotion(time=[0.0], position=[[1.0]], velocity=[[0.0]], acceleration=[[0.0]])
    with pytest.raises(InputError, match=r"^actuators: expected 1 different names"):
        motion_to_file(good, "m.csv", actuators=["A", "B"])
    with pytest.raises(InputError, match=r"^actuators: 'A,B' cannot name a column"):
        motion_to_file(good, "m.csv", actuators=["A,B"])
    with pytest.raises(InputError, match=r"^actuators: a motion of the platform has none to be named$"):
        motion_to_file(general(5), "m.csv", actuators=["A"])
    assert not list(tmp_path.iterdir())
