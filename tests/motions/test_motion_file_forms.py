"""Motion files in the forms that others write: units, Euler angles in every order, rotation vectors, MATLAB, noise, gaps."""

import sys
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat
from scipy.spatial.transform import Rotation

from flexapod.errors import InputError
from flexapod.motions import Motion, motion_from_file, motion_names, motion_to_file, named_motion
from flexapod.motions.measured import MotionNoiseWarning, noise, savitzky_golay

WRITTEN = 1e-12
"""Angles written with 17 digits, turned into matrices by another program."""
TIME = np.linspace(0.0, 1.0, 101)
ORDERS = ["".join(s) for s in product("XYZ", repeat=3) if s[0] != s[1] != s[2]]
ROTATIONS = Rotation.from_rotvec(np.stack([0.3 * np.sin(3 * TIME), 0.2 * TIME, 0.4 * np.cos(2 * TIME)], axis=1))
PLACES = np.stack([0.1 * np.sin(2 * TIME), 0.2 * TIME**2, 1.0 + 0.1 * TIME], axis=1)
NOISE = 0.1
"""Of the deviation of noise that is found in its own samples."""
FIT = 1e-12
"""Values of a polynomial of the degree of the fit: roundings of sums over the window."""
SECOND = 1e-8
"""[1/s^2]: rounding over the squared step."""
UNEVEN = 1e-9
"""[1/s] far from the ends: a quintic spline through samples 5 ms apart; found 1e-12."""


def write(path: Path, header: str, *columns: np.ndarray) -> Path:
    np.savetxt(path, np.column_stack(columns), delimiter=",", header=header, comments="", fmt="%.17g")
    return path


@pytest.mark.filterwarnings("ignore:Gimbal lock")
@pytest.mark.parametrize("sequence", [*ORDERS, *(s.lower() for s in ORDERS)])
def test_euler_angles_in_every_order(tmp_path: Path, sequence: str) -> None:
    assert len(ORDERS) == 12
    angles = ROTATIONS.as_euler(sequence, degrees=True)
    header = "t,x [mm],y [mm],z [mm],euler_1 [deg],euler_2 [deg],euler_3 [deg]"
    path = write(tmp_path / "m.csv", header, TIME, 1e3 * PLACES, angles)
    motion = motion_from_file(path, euler=sequence)
    assert np.abs(motion.rotation - ROTATIONS.as_matrix()).max() <= WRITTEN
    assert np.abs(motion.position - PLACES).max() <= WRITTEN


@pytest.mark.parametrize("sequence", ["ZYX", "zyx", "XYZ", "xyz", "YXZ"])
def test_roll_pitch_and_yaw_in_the_order_of_the_file(tmp_path: Path, sequence: str) -> None:
    names = [{"x": "roll", "y": "pitch", "z": "yaw"}[letter] for letter in sequence.lower()]
    path = write(tmp_path / "m.csv", f"t,x,y,z,{','.join(names)}", TIME, PLACES, ROTATIONS.as_euler(sequence))
    for said in (None, {"euler": names}):
        assert np.abs(motion_from_file(path, euler=sequence, columns=said).rotation - ROTATIONS.as_matrix()).max() <= WRITTEN
    contradiction = f"does not fit the columns {', '.join(names)}, which are angles about {', '.join(sequence.lower())}; say"
    for other in ("XZY", "zxz"):
        with pytest.raises(InputError, match=contradiction):
            motion_from_file(path, euler=other)


def test_units_can_be_said(tmp_path: Path) -> None:
    path = write(tmp_path / "m.csv", "time,x,y,z,rotvec_x,rotvec_y,rotvec_z", 1e3 * TIME, 1e2 * PLACES, ROTATIONS.as_rotvec())
    motion = motion_from_file(path, units={"time": "ms", "position": "cm"})
    assert np.abs(motion.time - TIME).max() <= WRITTEN
    assert np.abs(motion.position - PLACES).max() <= WRITTEN
    assert np.abs(motion.rotation - ROTATIONS.as_matrix()).max() <= WRITTEN
    speeds = write(tmp_path / "q.csv", "t,q_1,qd_1 [rpm],qdd_1 [deg/s^2]", TIME, TIME, np.full(101, 60.0), np.full(101, 180.0))
    found = motion_from_file(speeds, units={"q_1": "deg"})
    assert np.allclose(found.velocity, 2 * np.pi)
    assert np.allclose(found.acceleration, np.pi)
    assert np.allclose(found.position[:, 0], np.radians(TIME))


@pytest.mark.parametrize(
    ("header", "options", "text"),
    [
        ("t,x [kg],y,z,roll,pitch,yaw", {"euler": "xyz"}, "m.csv, column 'x': the unit 'kg' is not known; e.g. mm"),
        ("t,q_1 [s],q_2,q_3,a,b,c", {}, "m.csv, column 'q_1': an actuator position cannot be in 's'"),
        ("t,q_1 [mm],q_2,q_3,qd_1 [rpm],qd_2,qd_3", {}, "m.csv, column 'qd_1': cannot be in 'rpm' where 'q_1' is in 'mm'"),
        ("t,q_1 [mm],q_2,q_3,qd_1 [mm],qd_2,qd_3", {}, "m.csv, column 'qd_1': an actuator velocity cannot be in 'mm'"),
        ("t,a,b,c,d,e,f [kg]", {"columns": {"actuator_position": ["f"]}}, "m.csv, column 'f': the unit 'kg' is not known"),
        ("t,x [deg],y,z,roll,pitch,yaw", {"euler": "xyz"}, "a position cannot be in 'deg'"),
        ("t,x [mm],y,z,roll,pitch,yaw", {"euler": "xyz", "units": {"x": "m"}}, "is in 'mm' by its header, but units gives 'm'"),
        ("t,x,y,z,roll,pitch,yaw", {}, "say about which axes, e.g. euler='XYZ'"),
        ("t,x,y,z,rotvec_x,rotvec_y,rotvec_z", {"euler": "xyz"}, "not as Euler angles; leave out euler"),
        ("t,x,y,z,roll,pitch,yaw", {"euler": "xyz", "units": {"speed": "m"}}, "'speed' is neither a column"),
        ("t,x,y,z,roll,pitch,yaw", {"euler": "xyz", "units": "mm"}, "units: expected a dictionary, e.g. {'position': 'mm', "),
        ("t,x,y,z,roll,pitch,yaw", {"euler": "xyz", "units": {"x": 5}}, "units: 'x' needs a unit as text, e.g. 'mm', got 5"),
        ("t,x,y,z,roll,pitch,yaw", {"euler": "xyz", "columns": "x"}, "columns: expected a dictionary, e.g. {'time': 'Zeit', "),
        ("t,x,y,z,roll,pitch,yaw", {"euler": "xyz", "columns": {"position": 5}}, "'position' needs column names as text, got 5"),
        ("t,x,y,z,roll,pitch,yaw", {"euler": "xyz", "delimiter": ";;"}, "delimiter: expected one character"),
        ("t,q_1,q_2,q_3,a,b,c", {"derivatives": "savitzky-golay", "window": "wide"}, "window: expected an odd number above 5"),
        ("t,q_1,q_2,q_3,a,b,c", {"derivatives": "low-pass", "cutoff": 5, "order": "high"}, "order: expected a whole number"),
        ("t,x,y,z,roll,pitch,yaw", {"euler": "xyz", "window": 11}, "window: give the number of samples together with"),
    ],
)  # fmt: skip
def test_mistakes_have_one_clear_message(tmp_path: Path, header: str, options: dict, text: str) -> None:
    path = write(tmp_path / "m.csv", header, TIME, PLACES, ROTATIONS.as_rotvec())
    with pytest.raises(InputError) as error:
        motion_from_file(path, **options)
    assert text in str(error.value)


def test_matlab_files(tmp_path: Path) -> None:
    savemat(tmp_path / "m.mat", {"t": TIME, "position": PLACES, "R": ROTATIONS.as_matrix()})
    motion = motion_from_file(tmp_path / "m.mat")
    assert np.abs(motion.rotation - ROTATIONS.as_matrix()).max() <= WRITTEN
    savemat(tmp_path / "q.mat", {"t": TIME, "q": PLACES})
    assert np.abs(motion_from_file(tmp_path / "q.mat").position - PLACES).max() <= WRITTEN
    savemat(tmp_path / "bad.mat", {"t": TIME, "q": PLACES[:-1]})
    with pytest.raises(InputError, match="variables of different lengths"):
        motion_from_file(tmp_path / "bad.mat")
    (tmp_path / "no.mat").write_text("hello")
    with pytest.raises(InputError, match="not a readable MATLAB file"):
        motion_from_file(tmp_path / "no.mat")


def test_rotations_of_matlab_with_time_last(tmp_path: Path) -> None:
    """(3, 3, n) as MATLAB's own functions have them; three samples could be read both ways."""
    R = ROTATIONS.as_matrix()
    savemat(tmp_path / "m.mat", {"t": TIME, "p": PLACES, "R": np.moveaxis(R, 0, -1)})
    assert np.abs(motion_from_file(tmp_path / "m.mat").rotation - R).max() <= WRITTEN
    savemat(tmp_path / "m.mat", {"t": TIME, "p": PLACES, "R": np.moveaxis(R, 0, -1), "J": R.reshape(-1, 9)[::-1]})
    assert np.abs(motion_from_file(tmp_path / "m.mat").rotation - R).max() <= WRITTEN  # of two with nine columns the one called R
    savemat(tmp_path / "three.mat", {"t": TIME[:3], "p": PLACES[:3], "R": R[:3]})
    with pytest.raises(InputError, match="R is 3x3x3, with time first or last; save it as 3x9, one row per time"):
        motion_from_file(tmp_path / "three.mat")
    savemat(tmp_path / "short.mat", {"t": TIME, "p": PLACES, "R": np.moveaxis(R[1:], 0, -1)})
    with pytest.raises(
        InputError, match=rf"\(t: {len(TIME)}, p: {len(TIME)}x3, R: 3x3x{len(TIME) - 1}\); each has one row"
    ) as label:
        motion_from_file(tmp_path / "short.mat")
    assert len(str(label.value)) < 300


def test_one_name_of_a_matrix_in_a_matlab_file(tmp_path: Path) -> None:
    savemat(tmp_path / "m.mat", {"Zeit": TIME, "pos": PLACES, "q": ROTATIONS.as_quat(), "lam": PLACES})
    names = {"time": "Zeit", "position": "pos", "quat_xyzw": "q"}
    found = motion_from_file(tmp_path / "m.mat", columns=names)
    assert np.abs(found.rotation - ROTATIONS.as_matrix()).max() <= WRITTEN
    found = motion_from_file(tmp_path / "m.mat", kind="actuators", columns={"time": "Zeit", "actuator_position": "lam"})
    assert np.abs(found.position - PLACES).max() <= WRITTEN
    with pytest.raises(InputError, match="'quat_xyzw' needs 4 column names, got 3"):
        motion_from_file(tmp_path / "m.mat", columns={**names, "quat_xyzw": "lam"})


def test_matlab_files_without_columns_of_numbers(tmp_path: Path) -> None:
    savemat(tmp_path / "struct.mat", {"data": {"t": TIME, "q": PLACES}})
    with pytest.raises(
        InputError, match=r"struct.mat: holds data \(a struct\); save fields as variables of their own: save\('m.mat'"
    ):
        motion_from_file(tmp_path / "struct.mat")
    savemat(tmp_path / "complex.mat", {"t": TIME, "q": PLACES * (1 + 1j)})
    with pytest.raises(InputError, match=r"complex.mat, column 'q_1': has complex numbers"):
        motion_from_file(tmp_path / "complex.mat")
    savemat(tmp_path / "beside.mat", {"t": TIME, "q": PLACES, "settings": {"gain": 2.0}})
    assert np.abs(motion_from_file(tmp_path / "beside.mat").position - PLACES).max() <= WRITTEN


def test_units_of_columns_that_are_not_read_do_not_matter(tmp_path: Path) -> None:
    path = write(tmp_path / "m.csv", "t,q_1 [mm],q_2 [mm],q_3 [mm],F_1 [N],F_2 [N],T [C]", TIME, 1e3 * PLACES, PLACES)
    motion = motion_from_file(path)
    assert motion.position.shape == (101, 3)
    assert np.abs(motion.position - PLACES).max() <= WRITTEN
    said = motion_from_file(write(tmp_path / "said.csv", "t,q_1,q_2,q_3", TIME, 1e3 * PLACES), units={"actuator_position": "mm"})
    assert np.abs(said.position - PLACES).max() <= WRITTEN


def noisy(size: float) -> np.ndarray:
    t = np.linspace(0.0, 1.0, 1001)
    return np.column_stack([t, 0.1 * np.sin(2 * np.pi * t) + size * np.random.default_rng(1).normal(size=1001)])


def test_noise_in_accelerations_is_said(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    clean, dirty = noisy(0.0), noisy(1e-5)
    write(tmp_path / "clean.csv", "t,q_1", clean)
    motion_from_file(tmp_path / "clean.csv")
    assert not [w for w in recwarn if w.category is MotionNoiseWarning]
    write(tmp_path / "dirty.csv", "t,q_1", dirty)
    with pytest.warns(MotionNoiseWarning, match=r"about 9\d % of the accelerations of the actuator coordinates") as seen:
        raw = motion_from_file(tmp_path / "dirty.csv")
    assert seen[0].filename == __file__  # the line of the caller
    for sigma in noise(dirty[:, 0], dirty[:, 1:]):
        assert sigma[0] == pytest.approx(1e-5, rel=NOISE)
    exact = -0.1 * (2 * np.pi) ** 2 * np.sin(2 * np.pi * dirty[:, 0])
    gain = np.pi**2 / np.sqrt(5.0) * 1000.0**2  # rms of omega^2 up to half the sampling rate
    assert np.std(raw.acceleration[:, 0] - exact) > 0.5 * gain * 1e-5
    good = motion_from_file(tmp_path / "dirty.csv", derivatives="savitzky-golay", window=101)
    inside = slice(100, -100)
    assert np.abs(good.acceleration[inside, 0] - exact[inside]).max() < 0.1 * np.abs(exact).max()


EYE = np.tile(np.eye(3).ravel(), (101, 1))
MATRIX = ",".join(f"R_{i}{j}" for i in "123" for j in "123")
SIZE = 5e-5
"""Noise that makes accelerations of 2 m/s^2 (rms) and more at 100 samples per second, where the motion has 0.4."""


@pytest.mark.parametrize(
    ("header", "columns", "options"),
    [
        ("x,y,z", ["p"], {"rotation": np.eye(3)}),
        (f"x,y,z,{MATRIX},w_x,w_y,w_z,alpha_x,alpha_y,alpha_z", ["p", EYE, 0 * PLACES, 0 * PLACES], {}),
        (f"{MATRIX},x,y,z,v_x,v_y,v_z", [EYE, PLACES, "v"], {}),
        (f"x,y,z,{MATRIX}", ["p", EYE], {"derivatives": "low-pass", "cutoff": 45.0}),
        (f"x,y,z,{MATRIX}", ["p", EYE], {"derivatives": "savitzky-golay", "window": 7}),
        ("rotvec_x,rotvec_y,rotvec_z,x,y,z", ["p", PLACES], {}),
        ("q_1,q_2,q_3", ["p"], {"derivatives": "low-pass", "cutoff": 45.0}),
        ("q_1,q_2,q_3", ["p"], {"derivatives": "savitzky-golay", "window": 7}),
        ("q_1,q_2,q_3,qd_1,qd_2,qd_3", [PLACES, "v"], {}),
    ],
)  # fmt: skip
def test_noise_is_said_on_every_path_to_accelerations(tmp_path: Path, header: str, columns: list, options: dict) -> None:
    drawn = SIZE * np.random.default_rng(2).normal(size=PLACES.shape)
    rates = np.gradient(PLACES, TIME, axis=0)
    for file, size in (("clean", 0.0), ("noisy", 1.0)):
        samples = {"p": PLACES + size * drawn, "v": rates + 100.0 * size * drawn}
        path = write(
            tmp_path / f"{file}.csv", "t," + header, TIME, *(samples.get(c, c) if isinstance(c, str) else c for c in columns)
        )
        with warnings.catch_warnings(record=True) as label:
            warnings.simplefilter("always")
            motion_from_file(path, **options)
        assert bool(label) == (file == "noisy"), [str(w.message) for w in label]
        assert all(w.category is MotionNoiseWarning for w in label)
    assert ("Smooth it more" in str(label[0].message)) == ("derivatives" in options)


def test_the_part_of_noise_is_said_in_numbers(tmp_path: Path) -> None:
    """Seven digits: noise is a fifth of the accelerations and half of their peak, and is not said to dominate."""
    t = np.linspace(0.0, 2.0, 2001)
    q = np.round(0.1 * np.sin(3.0 * t), 7)
    with pytest.warns(
        MotionNoiseWarning, match=r"noise makes up about 2\d % of the accel.* \(rms\) and 4\d % of their peak: 2.8e-08"
    ):
        motion_from_file(write(tmp_path / "q.csv", "t,q_1", t, q))


@pytest.mark.parametrize("seed", range(40))
def test_peaks_of_noise_at_the_ends_are_said(tmp_path: Path, seed: int) -> None:
    """One column of two, its rms acceleration just above that of the noise, its peak 4 to 14 times too large."""
    t = np.linspace(0.0, 1.0, 201)
    q = np.stack([0.1 * np.sin(6 * t), 0.1 * np.cos(6 * t) + 1e-5 * np.random.default_rng(seed).normal(size=201)], axis=1)
    with pytest.warns(MotionNoiseWarning):
        motion_from_file(write(tmp_path / "q.csv", "t,q_1,q_2", t, q))


MADE = {
    "through-poses": {"positions": [(0, 0, 0), (0.1, 0, 0.1), (0, 0.2, 0)]},
    "actuator-polygon": {"corners": [(0.0, 0.0), (0.1, 0.0), (0.1, 0.2)]},
    "staicu": {"example": "rotation-z"},
}


@pytest.mark.parametrize("name", sorted(motion_names()))
@pytest.mark.parametrize("options", [{}, {"derivatives": "low-pass"}, {"derivatives": "savitzky-golay", "window": 9}])
def test_clean_motions_are_not_called_noisy(tmp_path: Path, name: str, options: dict) -> None:
    motion = named_motion(name, **MADE.get(name, {}))
    assert len(motion.time) >= 61
    places = motion.position
    columns = [places, motion.rotation.reshape(-1, 9)] if isinstance(motion, Motion) else [places]
    header = f"x,y,z,{MATRIX}" if isinstance(motion, Motion) else ",".join(f"q_{k}" for k in range(places.shape[1]))
    path = write(tmp_path / "m.csv", "t," + header, motion.time, *columns)
    if options.get("derivatives") == "low-pass":
        options = {**options, "cutoff": 0.1 / float(np.diff(motion.time).max())}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motion_from_file(path, **options)


def test_savitzky_golay_of_poses(tmp_path: Path) -> None:
    path = write(tmp_path / "m.csv", "t,x,y,z,rotvec_x,rotvec_y,rotvec_z", TIME, PLACES, ROTATIONS.as_rotvec())
    smooth, exact = motion_from_file(path, derivatives="savitzky-golay", window=9), motion_from_file(path)
    inside = slice(10, -10)
    for name, close in (("rotation", 1e-8), ("angular_velocity", 1e-5), ("angular_acceleration", 1e-3)):
        assert np.abs(getattr(smooth, name) - getattr(exact, name))[inside].max() <= close


def test_savitzky_golay_keeps_polynomials() -> None:
    t = np.linspace(0.0, 1.0, 51)
    x = np.stack([t**5 - t**2, 3 * t**4], axis=1)
    found = savitzky_golay(time=t, values=x, window=11)
    second = np.stack([20 * t**3 - 2, 36 * t**2], axis=1)
    assert np.abs(found[0] - x).max() <= FIT
    assert np.abs(found[2] - second).max() <= SECOND
    with pytest.raises(InputError, match="odd number above 5"):
        savitzky_golay(time=t, values=x, window=10)


def test_gaps_are_not_bridged(tmp_path: Path) -> None:
    t = np.concatenate([np.linspace(0, 1, 51), np.linspace(3, 4, 51)])
    write(tmp_path / "gap.csv", "t,q_1", t, np.sin(t))
    with pytest.raises(InputError, match=r"a gap of 2 s after 1 s"):
        motion_from_file(tmp_path / "gap.csv")
    uneven = np.sort(np.random.default_rng(2).uniform(0, 1, 200))
    write(tmp_path / "uneven.csv", "t,q_1", uneven, np.sin(uneven))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # uneven time is no noise
        motion = motion_from_file(tmp_path / "uneven.csv")
    assert np.abs(motion.velocity[20:-20, 0] - np.cos(uneven)[20:-20]).max() < UNEVEN
    for options, what in (({"derivatives": "savitzky-golay", "window": 9}, "Savitzky-Golay smoothing"),
                          ({"derivatives": "low-pass", "cutoff": 5.0}, "a low-pass filter")):  # fmt: skip
        with pytest.raises(InputError, match=rf"uneven.csv: time: {what} needs uniform samples, but the step after entry"):
            motion_from_file(tmp_path / "uneven.csv", **options)


def test_the_extra_of_parquet_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    motion = motion_from_file(write(tmp_path / "q.csv", "t,q_1", TIME, TIME))
    path = motion_to_file(motion, tmp_path / "q.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    for call in (lambda: motion_from_file(path), lambda: motion_to_file(motion, path)):
        with pytest.raises(InputError, match=r"q.parquet: Parquet files need the package pyarrow; .*'flexapod\[files\]'"):
            call()
