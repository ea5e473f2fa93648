"""FMUs in a real importer (FMPy), by real compilers: equal to `simulate`, exact derivatives, events, parameters, messages."""

import ctypes
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmpy.validation import validate_fmu
from fmu_tools import Importer
from scipy.spatial.transform import Rotation

import flexapod as fp
from flexapod.bridges.fmu.description import exponents
from flexapod.bridges.fmu.export import make_plant

SAME_STEPS = 1e-12
"""Same method, same steps, same equations: rounding of some hundred steps."""
SAME_EQUATIONS = 1e-12
"""Another order of the same sums."""
DIFFERENCES = 5e-9
"""Central differences with a step of 1e-6."""
IMPORTER = 1e-8
"""Relative tolerance that the importer's solver is given."""
WARNINGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
ADJOINT = 1e-11
"""Relative: the same Jacobian, from both sides."""
ONE_STEP = 1.5e-3
"""[s]: a step and a half."""
IMPORTERS = 0.02
"""[s]: the step of FMPy's output."""


@pytest.fixture(scope="module")
def robot() -> fp.Robot:
    return fp.load("stewart-3-3")


@pytest.fixture(scope="module", params=["2.0", "3.0"])
def fmu(request: pytest.FixtureRequest, robot: fp.Robot, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fp.export_fmu(robot, tmp_path_factory.mktemp("fmu") / "stewart.fmu", version=request.param)


def forces(robot: fp.Robot) -> np.ndarray:
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    return fp.inverse_dynamics(robot, home, friction=False).force.values * np.linspace(0.97, 1.04, len(robot.actuators))


def vector(name: str, labels: str = "xyz") -> list[str]:
    return [f"{name}.{k}" for k in labels]


def test_fmpy_finds_nothing_wrong(fmu: Path) -> None:
    assert validate_fmu(str(fmu)) == []


def test_co_simulation_equals_simulate(fmu: Path, robot: fp.Robot) -> None:
    start = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    result = fp.simulate(robot, start, force=forces(robot), duration=0.2, step=1e-3, output_step=1e-3, watch=("stroke",))
    at = Importer(fmu, "cs")
    at.set([f"force.{a}" for a in robot.actuators], forces(robot))
    for k in range(20):
        at.fmu.doStep(k * 10e-3, 10e-3)  # ten inner steps each
    for name in ("position", "velocity", "angular_velocity", "acceleration"):
        ours = result[name].values
        moved = np.abs(ours - ours[0]).max()
        assert np.abs(at.get(vector(name)) - ours[-1]).max() <= SAME_STEPS * max(moved, 1e-2)
    at.close()


@pytest.mark.full
def test_wrench_is_an_input(robot: fp.Robot, tmp_path: Path) -> None:
    path = fp.export_fmu(robot, tmp_path / "loaded.fmu", wrench=True)
    start = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    load = np.array([10.0, -5.0, 3.0, 1.0, 2.0, -1.0])
    result = fp.simulate(robot, start, force=forces(robot), wrench=load, duration=0.1, step=1e-3, output_step=1e-3)
    at = Importer(path, "cs")
    at.set([f"force.{a}" for a in robot.actuators], forces(robot))
    at.set([f"wrench.{k}" for k in ("fx", "fy", "fz", "mx", "my", "mz")], load)
    at.fmu.doStep(0.0, 0.1)
    assert np.abs(at.get(vector("velocity")) - result.velocity.values[-1]).max() <= SAME_STEPS
    at.close()


def test_model_exchange_equals_forward_dynamics(fmu: Path, robot: fp.Robot) -> None:
    random = np.random.default_rng(4)
    at = Importer(fmu, "me")
    at.continuous()
    for _ in range(5):
        p, v, w = robot.home.position + random.uniform(-0.1, 0.1, 3), *random.uniform(-0.5, 0.5, (2, 3))
        quat = np.array([1.0, *random.uniform(-0.1, 0.1, 3)])
        gamma = random.uniform(-500, 500, 6)
        at.set_states([*p, *(1.3 * quat), *v, *w])  # any length of the quaternion
        at.set([f"force.{a}" for a in robot.actuators], gamma)
        unit = quat / np.linalg.norm(quat)
        s, u = unit[0], unit[1:]
        R = Rotation.from_quat(np.roll(unit, -1)).as_matrix()
        state = fp.State(position=p, rotation=R, velocity=v, angular_velocity=w)
        wanted = fp.forward_dynamics(robot, state, gamma, friction=False)
        found = at.rates()
        for part, name in ((found[7:10], "acceleration"), (found[10:13], "angular_acceleration")):
            assert np.abs(part - wanted[name].values).max() <= SAME_EQUATIONS * np.abs(wanted[name].values).max()
        assert np.array_equal(found[:3], v)
        assert np.allclose(found[3:7], np.r_[-w @ u, s * w + np.cross(w, u)] / 2, rtol=0, atol=SAME_EQUATIONS)
        lengths = fp.inverse_kinematics(robot, state).actuator_position.values
        assert np.abs(at.get([f"actuator_position.{a}" for a in robot.actuators]) - lengths).max() <= SAME_EQUATIONS
    at.close()


def test_importers_solver_follows_simulate(fmu: Path, robot: fp.Robot) -> None:
    start = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    result = fp.simulate(robot, start, force=forces(robot), duration=0.3, step=1e-3, watch=("stroke",))
    given = {f"force.{a}": (float(f), "N") for a, f in zip(robot.actuators, forces(robot), strict=True)}
    names = vector("position")
    found = fmpy.simulate_fmu(
        str(fmu), fmi_type="ModelExchange", stop_time=0.3, relative_tolerance=IMPORTER, start_values=given, output=names,
        output_interval=0.1,
    )  # fmt: skip
    ends = np.array([found[name][-1] for name in names])
    assert np.abs(ends - result.position.values[-1]).max() <= IMPORTER * np.abs(ends).max()
    assert np.abs(ends - result.position.values[0]).max() > 1e4 * IMPORTER * np.abs(ends).max()  # it moved


def test_directional_and_adjoint_derivatives(fmu: Path, robot: fp.Robot) -> None:
    random, at = np.random.default_rng(5), Importer(fmu, "me")
    at.continuous()
    names = [s.name for s in at.states]
    inputs = [f"force.{a}" for a in robot.actuators]
    x, u, n = at.get(names) + 0.01 * random.normal(size=13), forces(robot), len(at.states)
    knowns = [at.vr[name] for name in (*names, *inputs)]
    unknowns = [v.valueReference for v in at.derivatives] + [at.vr[f"actuator_position.{a}"] for a in robot.actuators]
    unknowns += [at.vr[name] for name in vector("acceleration")]
    seed = random.normal(size=len(knowns))

    def values(s: float) -> np.ndarray:
        at.set_states(x + s * seed[:n])
        at.set(inputs, u + s * seed[n:])
        lengths = at.get([f"actuator_position.{a}" for a in robot.actuators])
        return np.concatenate([at.rates(), lengths, at.get(vector("acceleration"))])

    differences = (values(1e-6) - values(-1e-6)) / 2e-6
    values(0.0)
    exact = at.directional(unknowns, knowns, seed)
    assert np.abs(exact - differences).max() <= DIFFERENCES * np.abs(differences).max()
    if at.version == "3.0":
        back = random.normal(size=len(unknowns))
        adjoint = np.array(at.fmu.getAdjointDerivative(unknowns, knowns, back, len(knowns)))
        assert abs(adjoint @ seed - back @ exact) <= ADJOINT * abs(back @ exact)
    at.close()


def test_parameters_are_tunable_with_paths_and_units(fmu: Path, robot: fp.Robot) -> None:
    at = Importer(fmu, "me")
    at.continuous()
    variable = next(v for v in at.description.modelVariables if v.name == "platform.mass")
    assert (variable.causality, variable.variability, variable.unit) == ("parameter", "tunable", "kg")
    assert float(variable.start) == robot.values["platform.mass"]
    gamma = forces(robot)
    at.set([f"force.{a}" for a in robot.actuators], gamma)
    at.set("platform.mass", 1.5 * robot.values["platform.mass"])
    heavy = robot.with_parameters({"platform.mass": 1.5 * robot.values["platform.mass"]})
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    wanted = fp.forward_dynamics(heavy, home, gamma, friction=False).acceleration.values
    assert np.abs(at.get(vector("acceleration")) - wanted).max() <= SAME_EQUATIONS * np.abs(wanted).max()
    at.close()


def test_inertial_parameters_say_what_they_are(tmp_path: Path) -> None:
    """`platform.mass` has the payloads in it, and does not move the first moments, as that of a robot file does."""
    robot = fp.load("five-bar").with_payload(2.0, com=(0.1, 0.0, 0.0))
    path = fp.export_fmu(robot, tmp_path / "five-bar.fmu", binary=False)
    said = {v.name: v.description for v in fmpy.read_model_description(str(path)).modelVariables if v.causality == "parameter"}
    masses = [name for name in said if name.endswith(".mass")]
    assert masses
    assert all("all that is fixed on it; first moments and moments of inertia" in said[name] for name in masses)
    assert all("origin of the body's frame" in said[name] for name in said if ".inertia." in name)


def test_steps_that_cannot_be_counted_are_refused(fmu: Path) -> None:
    """The number of inner steps was beyond a C integer: none was taken, and the step succeeded."""
    at = Importer(fmu, "cs", {"step": 1e-13})
    with pytest.raises(fmpy.fmi1.FMICallException):
        at.fmu.doStep(0.0, 1e-3)
    at.close()


def test_strokes_are_events(fmu: Path, robot: fp.Robot) -> None:
    push = {f"force.{a}": 4000.0 for a in robot.actuators}
    at = Importer(fmu, "cs", push)
    result = fp.simulate(
        robot, fp.State(position=robot.home.position, rotation=robot.home.rotation), force=np.full(6, 4000.0), duration=2.0,
        step=1e-3, watch=("stroke",),
    )  # fmt: skip
    assert "leaves its stroke" in result.attrs["stopped"]
    stopped = None
    for k in range(2000):
        try:
            more = at.fmu.doStep(k * 1e-3, 1e-3)
        except fmpy.fmi1.FMICallException:
            stopped = k * 1e-3
            break
        if at.version == "3.0" and more[1]:
            stopped = k * 1e-3
            break
    assert stopped is not None
    assert abs(stopped - result.attrs["stopped_at"]) <= ONE_STEP
    given = {name: (value, "N") for name, value in push.items()}
    found = fmpy.simulate_fmu(str(fmu), fmi_type="ModelExchange", stop_time=2.0, start_values=given, output=["margin.A.high"])
    assert found["time"][-1] < 2.0
    assert abs(found["time"][-1] - stopped) <= IMPORTERS
    at.close()


@pytest.mark.parametrize("every", [1e-3, 1e-2])
def test_a_stroke_that_is_left_ends_the_co_simulation(fmu: Path, robot: fp.Robot, every: float) -> None:
    """FMPy keeps the results up to the first inner step beyond the stroke, also where it ends within a communication step."""
    push = {f"force.{a}": (4000.0, "N") for a in robot.actuators}
    margins = [f"margin.{a}.high" for a in robot.actuators]
    result = fp.simulate(
        robot, fp.State(position=robot.home.position, rotation=robot.home.rotation), force=np.full(6, 4000.0), duration=2.0,
        step=1e-3, watch=("stroke",),
    )  # fmt: skip
    found = fmpy.simulate_fmu(
        str(fmu), fmi_type="CoSimulation", stop_time=2.0, output_interval=every, start_values=push, output=margins
    )
    assert abs(found["time"][-1] - result.attrs["stopped_at"]) <= every
    assert min(found[name][-1] for name in margins) < 0.0
    inside = found["time"] < found["time"][-1]  # FMI 2.0 has the last time twice
    assert min(found[name][inside].min() for name in margins) >= 0.0


def test_fmi3_asks_to_end_at_the_step_that_leaves_a_stroke(fmu: Path, robot: fp.Robot) -> None:
    at = Importer(fmu, "cs", {f"force.{a}": 4000.0 for a in robot.actuators})
    if at.version == "3.0":
        margins = [f"margin.{a}.high" for a in robot.actuators]
        for k in range(2000):
            _, ended, early, last = at.fmu.doStep(k * 1e-3, 1e-3)
            assert ended == (at.get(margins).min() < 0.0)
            if ended:
                assert not early
                assert last == pytest.approx((k + 1) * 1e-3)
                break
        else:
            pytest.fail("no stroke is left")
    at.close()


def test_states_of_an_instance_can_be_kept(fmu: Path, robot: fp.Robot) -> None:
    at = Importer(fmu, "cs", {f"force.{a}": 900.0 for a in robot.actuators})
    at.fmu.doStep(0.0, 0.01)
    word = "FMUstate" if at.version == "2.0" else "FMUState"
    get, put, free = (getattr(at.fmu, f"{verb}{word}") for verb in ("get", "set", "free"))
    kept, before = get(), at.get(vector("position"))
    serialised = (at.fmu.serializeFMUstate if at.version == "2.0" else at.fmu.serializeFMUState)(kept)
    at.fmu.doStep(0.01, 0.05)
    after = at.get(vector("position"))
    assert not np.array_equal(before, after)
    put(kept)
    free(kept)
    assert np.array_equal(at.get(vector("position")), before)
    at.fmu.doStep(0.01, 0.05)
    assert np.array_equal(at.get(vector("position")), after)
    again = (at.fmu.deSerializeFMUstate if at.version == "2.0" else at.fmu.deserializeFMUState)(serialised)
    put(again)
    assert np.array_equal(at.get(vector("position")), before)
    at.close()


def test_every_function_of_the_standard_is_exported(fmu: Path, tmp_path: Path) -> None:
    headers = Path(fmpy.__file__).parent / "c-code"
    with zipfile.ZipFile(fmu) as archive:
        archive.extractall(tmp_path)
    version = fmpy.read_model_description(str(fmu)).fmiVersion[0]
    text = re.sub(r"/\*.*?\*/", "", (headers / f"fmi{version}FunctionTypes.h").read_text(), flags=re.DOTALL)
    names = sorted(set(re.findall(rf"(fmi{version}\w+)TYPE\b", text)))
    assert len(names) > 40
    library = ctypes.CDLL(str(next((tmp_path / "binaries").rglob("*.so"))))
    assert [name for name in names if not hasattr(library, name)] == []
    # the same source against the official declarations: a wrong type would be an error
    official = tmp_path / "official.c"
    official.write_text(f'#include "fmi{version}Functions.h"\n#include "fmi{version}.c"\n')
    folders = [f"-I{headers}", f"-I{tmp_path / 'sources'}"]
    command = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *folders, str(official)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


DRIVER = """
#include "core.h"
#include <stdio.h>
#include <time.h>
static Model m;
int main(void)
{
    model_start(&m);
    if (model_settle(&m) != 0) return 1;
    const clock_t begin = clock();
    for (int k = 0; k < STEPS; ++k)
        if (model_advance(&m, 1e-4) != 0) return 2;
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    const unsigned unknown = VR_INPUT - 1u, known = VR_INPUT; /* the last derivative by the first force */
    const double one = 1.0;
    double found = 0.0;
    if (model_directional(&m, &unknown, 1, &known, 1, &one, &found) != 0 || found == 0.0) return 3;
    printf("%.3f us per step, %.17g\\n", 1e6 * seconds / STEPS, m.state[2]);
    return 0;
}
"""


def test_sources_compile_without_warnings_and_run_clean(fmu: Path, tmp_path: Path) -> None:
    check_sources(fmu, tmp_path, {"2": "gcc", "3": "clang"}[fmpy.read_model_description(str(fmu)).fmiVersion[0]])


@pytest.mark.full
@pytest.mark.parametrize(("method", "compiler"), [("rk4", "gcc"), ("implicit", "clang")])
def test_sources_of_robots_with_loops_run_clean(method: str, compiler: str, tmp_path: Path) -> None:
    robot = fp.load("delta-parallelograms")
    check_sources(fp.export_fmu(robot, tmp_path / "delta.fmu", method=method, binary=False), tmp_path, compiler)


def check_sources(fmu: Path, folder: Path, compiler: str) -> None:
    """Compile the sources of an FMU with a small driver, all warnings and sanitizers, and let it run."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    with zipfile.ZipFile(fmu) as archive:
        archive.extractall(folder)
    sources = folder / "sources"
    (sources / "driver.c").write_text(DRIVER)
    files = [*sorted(p.name for p in sources.glob("*.c"))]
    sanitizers = ["-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-DSTEPS=50"]
    command = [compiler, *WARNINGS, *sanitizers, *files, "-o", "driver", "-lm"]
    done = subprocess.run(command, cwd=sources, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    ran = subprocess.run(["./driver"], cwd=sources, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[:2000]


def test_inverse_dynamics_is_a_block(robot: fp.Robot, tmp_path: Path) -> None:
    for version in ("2.0", "3.0"):
        path = fp.export_fmu(robot, tmp_path / f"inverse{version[0]}.fmu", "inverse_dynamics", version=version)
        assert validate_fmu(str(path)) == []
        at = Importer(path, "cs")
        random = np.random.default_rng(6)
        a, alpha, v = random.uniform(-1, 1, (3, 3))
        at.set(vector("acceleration"), a)
        at.set(vector("angular_acceleration"), alpha)
        at.set(vector("velocity"), v)
        at.fmu.doStep(0.0, 0.1)
        motion = fp.Motion(
            time=[0.0], position=robot.home.position[None], rotation=robot.home.rotation[None], velocity=v[None],
            angular_velocity=np.zeros((1, 3)), acceleration=a[None], angular_acceleration=alpha[None],
        )  # fmt: skip
        wanted = fp.inverse_dynamics(robot, motion, friction=False).force.values[0]
        found = at.get([f"force.{name}" for name in robot.actuators])
        assert np.abs(found - wanted).max() <= SAME_EQUATIONS * np.abs(wanted).max()
        at.close()


UNITLESS = (
    r".*\.(R|axes|axis1|drive|y0|n0)\.\w+|.*\.(mode|root|fold)|.*\.friction\.\w+|quat_wxyz\.\w|rotation\.\w+|"
    r"elastic.*|constraint.*"
)
"""Rotations, directions, branches, friction coefficients, modal coordinates and residuals of mixed kind."""


@pytest.mark.parametrize("name", ["stewart-3-3", "five-bar", pytest.param("hexaslide", marks=pytest.mark.full)])
@pytest.mark.parametrize("quantity", ["forward_dynamics", "inverse_kinematics", "virtual_power"])
def test_every_variable_has_one_true_unit(name: str, quantity: str) -> None:
    """Of joints and actuators by their kind: m or rad, N or N m, but never both."""
    robot, free = fp.load(name), {"start": None, "step": None, "method": None}
    plant = make_plant(robot, quantity, **free, wrench=False, friction=True, watch=True, general=False, options={})
    parts = (plant.states, plant.inputs, plant.outputs, plant.parameters, plant.margins)
    found = {v.name: v.unit for part in parts for v in part}
    for variable, unit in found.items():
        assert exponents(unit) is not None, (variable, unit)
        assert unit or re.fullmatch(UNITLESS, variable), variable
    straight = dict(zip(robot.coordinates, robot.coordinate_units, strict=True))
    for joint, unit in straight.items():
        assert found.get(f"legs.{joint}.zero", unit) == unit
    for actuator, unit in zip(robot.actuators, robot.actuator_units, strict=True):
        for variable in (f"legs.{actuator}.zero", f"stroke.{actuator}.low", f"actuator_position.{actuator}"):
            assert found.get(variable, unit) == unit
    if quantity == "forward_dynamics":
        assert {f"stroke.{a}.{end}" for a in robot.actuators for end in ("low", "high")} <= set(found)


def test_a_block_leaves_out_friction(tmp_path: Path) -> None:
    robot, v = fp.load("hexaslide"), np.array([0.1, 0.2, 0.1])
    state = fp.State(position=robot.home.position, rotation=robot.home.rotation, velocity=v)
    wanted = {friction: fp.inverse_dynamics(robot, state, friction=friction).force.values for friction in (True, False)}
    for friction, force in wanted.items():
        at = Importer(fp.export_fmu(robot, tmp_path / f"{friction}.fmu", "inverse_dynamics", friction=friction), "cs")
        at.set(vector("velocity"), v)
        at.fmu.doStep(0.0, 0.1)
        found = at.get([f"force.{name}" for name in robot.actuators])
        assert np.abs(found - force).max() <= SAME_EQUATIONS * np.abs(force).max()
        at.close()
    assert np.abs(wanted[True] - wanted[False]).max() > 1e6 * SAME_EQUATIONS * np.abs(wanted[True]).max()


def test_a_check_by_the_importer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = fp.load("five-bar")
    for quantity in ("forward_dynamics", "inverse_kinematics"):
        path = fp.export_fmu(robot, tmp_path / "checked.fmu", quantity, check=True)
        assert validate_fmu(str(path)) == []
    with monkeypatch.context() as broken:
        broken.setattr("fmpy.validation.validate_fmu", lambda path: ["a start value is missing", "a unit is unknown"])
        with pytest.raises(fp.FmuError, match="FMPy finds 2 problems: a start value is missing; a unit is unknown"):
            fp.export_fmu(robot, tmp_path / "checked.fmu", "inverse_kinematics", check=True)
    with monkeypatch.context() as broken:
        broken.setattr("flexapod.bridges.fmu.export.compile_sources", lambda sources, names: b"no library")
        with pytest.raises(fp.FmuError, match="FMPy cannot take steps with it"):
            fp.export_fmu(robot, tmp_path / "broken.fmu", "inverse_kinematics", check=True)
    with pytest.raises(fp.InputError, match="an FMU without a binary cannot run"):
        fp.export_fmu(robot, tmp_path / "sources.fmu", check=True, binary=False)
    monkeypatch.setitem(sys.modules, "fmpy", None)
    with pytest.raises(fp.InputError, match=re.escape("install it with `pip install 'flexapod[fmu]'`")):
        fp.export_fmu(robot, tmp_path / "missing.fmu", check=True)
    assert not (tmp_path / "missing.fmu").exists()


def test_mistakes_have_one_clear_message(robot: fp.Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder.fmu").mkdir()
    (tmp_path / "mine.fmu").write_text("not an FMU")
    with zipfile.ZipFile(tmp_path / "archive.fmu", "w") as archive:
        archive.writestr("a.txt", "mine")
    cases = [
        ({"path": tmp_path / "folder.fmu"}, "is a folder"),
        ({"path": tmp_path / "mine.fmu"}, "exists and is not an FMU"),
        ({"path": tmp_path / "archive.fmu"}, "archive.fmu exists and is not an FMU; it is not replaced"),
        ({"path": tmp_path / "robot.zip"}, "must end in .fmu"),
        ({"path": tmp_path / "none" / "robot.fmu"}, "does not exist"),
        ({"version": "1.0"}, "version"),
        ({"quantity": "inverse_dynamics", "wrench": True}, "wrench: a block without states"),
        ({"quantity": "inverse_dynamics", "step": 5.0}, "step: a block without states"),
        ({"quantity": "inverse_dynamics", "watch": False}, "watch: a block without states"),
        ({"quantity": "inverse_dynamics", "general": True}, "general: a block without states"),
        ({"quantity": "inverse_dynamics", "friction": "constant"}, "friction: a block without states"),
        ({"quantity": "jacobian", "friction": False}, "'friction'"),
        ({"quantity": "inverse_dynamic"}, "no kernel for 'inverse_dynamic'"),
        ({"step": 0.0}, "step: expected a time above 0 s"),
        ({"step": float("inf")}, "step: expected a time above 0 s, got inf"),
        ({"method": "dopri"}, "method"),
    ]
    for options, text in cases:
        with pytest.raises(fp.InputError, match=re.escape(text)):
            fp.export_fmu(robot, **{"path": tmp_path / "robot.fmu", **options})
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(fp.CompilerError, match="binary=False"):
        fp.export_fmu(robot, tmp_path / "robot.fmu", "inverse_kinematics")
