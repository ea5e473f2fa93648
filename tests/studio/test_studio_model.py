"""The studio without a page: what it shows is what the verbs say; undo, compare, files, motions, modes, slices."""

from pathlib import Path

import numpy as np
import pytest

import flexapod as fp
from flexapod.views.chosen_motion import chosen_motion
from flexapod.views.drives import chosen_drives
from flexapod.views.scene.frames import drawn_pose, leg_ends, link_frames
from flexapod.views.scene.shapes import extent, platform_corners
from flexapod.views.studio.exaggeration import MOST, SEEN, good_factor, rounded
from flexapod.views.studio.moved_coordinates import coordinates_of, pose_components, state_of
from flexapod.views.studio.numbers import Origin, bad_legs, numbers_of
from flexapod.views.studio.panel_space import all_poses, platforms, singular_curves
from flexapod.views.studio.recording import (
    SMALL,
    largest_displacement,
    motion_choices,
    motion_of,
    record,
    recorded,
    recording_from_bytes,
)
from flexapod.views.studio.scene import handle_options
from flexapod.views.studio.session import Session, robot_bytes, robot_from_bytes
from flexapod.views.studio.vibration import displaced, modes_of, room_of_mode
from flexapod.views.studio.workspace_slice import planes, workspace_slice

ROBOTS = [name for name in fp.catalogue() if name != "dualemps-8"]
"""The catalogue, but for a robot that is another one with more beam elements: its equations take long to compile."""
RIGID_SIX = ["stewart-3-3", "hexaslide", "hexa"]
BALANCE = 1e-9
"""Power balance of a few sums of forces times lengths, relative to the largest term: rounding, times the condition number."""
SAME = 1e-12
"""The same computation twice, on rebuilt inputs: a few roundings."""
SEEN_MOVE = 1e-3
"""Displacement of a drawn mode, of the characteristic length and in radians; they are drawn with some per cent."""
SINGULAR = 1e-6
"""Distance of points of singular curves: they are corrected to 1e-9 of the window or so."""
NEWTON = 1e-8
"""Of the robot's size, or [rad]: what Newton's method of forward kinematics leaves."""
STOPS = 2e-6
"""Of the characteristic length: a drag stops within a millionth of it."""
DEGREES = 1e-9
"""[deg], [m] and of forces: a pose through its coordinates, a file in full digits."""
ROUNDING = 1e-14
"""Entries of rotations."""


@pytest.fixture(scope="module")
def stewart() -> Session:
    return Session.start(fp.load("stewart-3-3"))


@pytest.fixture
def session(stewart: Session) -> Session:
    """A fresh studio; the ranges of its sliders are computed once."""
    return Session(
        variants=[stewart.variants[0]], coordinates=stewart.coordinates, values=stewart.coordinates.home,
        numbers=numbers_of(stewart.variants[0].robot, fp.State.at_home(stewart.variants[0].robot)),
    )  # fmt: skip


@pytest.mark.parametrize("name", ROBOTS)
def test_every_robot_has_coordinates_around_its_home(name: str) -> None:
    robot = fp.load(name)
    found = coordinates_of(robot)
    assert len(found.items) == robot.mobility.platform
    assert all(item.low < item.home < item.high and 0 < item.step < item.high - item.low for item in found.items)
    at = state_of(robot, found, found.home)
    # a pose component is exact; actuators go through Newton's method of forward kinematics
    assert np.allclose(at.position, robot.home.position, atol=NEWTON * robot.size, rtol=0)
    assert np.allclose(at.rotation, robot.home.rotation, atol=NEWTON, rtol=0)
    assert numbers_of(robot, at).good or name == "hexapod-floating", "its limits are not known"
    for k, item in enumerate(found.items):  # each slider moves the robot, to both sides
        for part in (0.02, -0.02):
            values = list(found.home)
            values[k] += part * ((item.high - item.home) if part > 0 else (item.home - item.low))
            assert numbers_of(robot, state_of(robot, found, values, guess=at)).taken, (item.name, part)


@pytest.mark.parametrize("name", RIGID_SIX)
def test_shown_forces_hold_the_robot(name: str) -> None:
    """Against the verb that they come from, and against J^T f = g, which does not use it."""
    robot = fp.load(name)
    studio = Session.start(robot)
    values = [home + 0.1 * (item.high - home) for item, home in zip(studio.coordinates.items, studio.values, strict=True)]
    shown = studio.move(values)
    state = shown.state
    assert np.array_equal(shown.force, fp.inverse_dynamics(robot, state).force.values)
    J = fp.jacobian(robot, state).jacobian.values
    gravity = fp.gravity_force(robot, state).values
    still = fp.inverse_dynamics(robot, state, friction=False).force.values
    assert np.abs(J.T @ still - gravity).max() < BALANCE * np.abs(gravity).max()


def test_out_of_reach_names_leg_and_reason(session: Session) -> None:
    shown = session.move_one("x", 2.6)
    assert not shown.good
    assert shown.taken
    assert bad_legs(session.robot, shown.problems) == {"B", "E"}
    assert "actuator B is above its stroke" in shown.problems[0].text
    hexapod = fp.load("hexapod")
    above = hexapod.home.position + np.array([0.0, 0.0, 2.0])
    far = numbers_of(hexapod, fp.State(position=above, rotation=hexapod.home.rotation))
    assert not far.taken
    assert np.all(np.isnan(far.force))
    assert "cannot reach" in far.problems[0].text
    assert bad_legs(hexapod, far.problems) <= {leg.name for leg in hexapod.legs}


def test_actuators_beyond_every_pose_keep_the_last_one() -> None:
    studio = Session.start(fp.load("five-bar"))
    before = studio.last_good
    shown = studio.move([210.0, -30.0])
    assert not shown.taken
    assert studio.last_good is before
    assert "no pose was found" in shown.problems[0].text
    assert studio.home().good


def test_numbers_that_are_none_are_refused(session: Session) -> None:
    for values in ([0.0], [np.nan] * 6, [np.inf, 0, 4, 0, 0, 0]):
        with pytest.raises(fp.InputError, match="expected 6 finite numbers for x, y, z, rx, ry, rz"):
            session.move(values)
    assert session.numbers.good


def test_dragging_a_five_bar_follows_the_hand() -> None:
    studio = Session.start(fp.load("five-bar"))
    target = studio.robot.home.position + np.array([0.05, -0.03, 0.0])
    shown = studio.place(target, np.eye(3))
    # the drag stops within a millionth of the characteristic length
    assert np.linalg.norm(shown.state.position - target) < STOPS * studio.robot.characteristic_length
    far = studio.place(target + np.array([5.0, 0.0, 0.0]), np.eye(3))
    assert far.taken
    assert far.state.position[0] > shown.state.position[0]


def test_dragging_turns_and_moves(session: Session) -> None:
    R = fp.motions.rotvec_rotation(np.radians([3.0, -4.0, 5.0])) @ session.robot.home.rotation
    shown = session.place(session.robot.home.position + np.array([0.1, 0.2, -0.1]), R)
    assert np.allclose(session.values[3:], [3.0, -4.0, 5.0], rtol=0, atol=DEGREES)
    assert np.allclose(shown.state.rotation, R, rtol=0, atol=ROUNDING)


def test_change_undo_redo(session: Session) -> None:
    light = session.numbers.force.copy()
    session.change("platform.mass", 120.0)
    heavy = session.numbers.force.copy()
    assert np.array_equal(heavy, fp.inverse_dynamics(session.robot, session.numbers.state).force.values)
    assert np.all(heavy > light)
    session.change("platform.mass", "130 kg")
    assert session.variant.changes == ("platform.mass = 130",)
    session.undo()
    assert np.array_equal(session.numbers.force, heavy)
    session.undo()
    session.undo()  # nothing left: stays
    assert np.array_equal(session.numbers.force, light)
    assert not session.can_undo
    session.redo()
    assert np.array_equal(session.numbers.force, heavy)
    session.change("platform.mass", 60.0)  # forgets what was undone
    assert not session.can_redo
    assert session.variant.label == "platform.mass = 60"


def test_a_refused_value_changes_nothing(session: Session) -> None:
    with pytest.raises(fp.FlexapodError):
        session.change("platform.mass", -1.0)
    with pytest.raises(fp.FlexapodError):
        session.change("platform.mas", 1.0)
    assert session.current == 0
    assert len(session.variants) == 1


def test_kept_variant_is_compared(session: Session) -> None:
    session.keep()
    session.change("platform.mass", 100.0)
    assert session.kept_numbers is not None
    first = fp.inverse_dynamics(fp.load("stewart-3-3"), session.numbers.state)
    assert np.array_equal(session.kept_numbers.force, first.force.values)
    session.drop()
    assert session.evaluate().good
    assert session.kept_numbers is None


def test_saved_and_opened_variant_is_the_same(session: Session) -> None:
    session.change("platform.mass", 77.0)
    again = robot_from_bytes("my robot.yaml", robot_bytes(session.robot))
    assert again.parameter("platform.mass") == 77.0
    assert np.allclose(numbers_of(again, session.numbers.state).force, session.numbers.force, rtol=SAME, atol=0)


def test_bad_files_are_refused_in_their_own_name() -> None:
    with pytest.raises(fp.InputError) as error:
        robot_from_bytes("../../odd name.yaml", b"name: x\nplatform: [")
    assert "odd name.yaml" in str(error.value)
    assert "flexapod-" not in str(error.value), "the temporary folder is nobody's business"
    with pytest.raises(fp.InputError, match="at most 2000000 bytes"):
        robot_from_bytes("big.yaml", b" " * 2_000_001)
    with pytest.raises(fp.InputError, match=r"a motion is a \.csv or \.parquet file"):
        recording_from_bytes(fp.load("hexapod"), "motion.exe", b"")
    with pytest.raises(fp.InputError, match=r"motion\.csv"):
        recording_from_bytes(fp.load("hexapod"), "motion.csv", b"\x00\xff\x00")


@pytest.mark.parametrize("name", ["stewart-3-3", "delta", "gough-stewart-flexible", "dualemps"])
def test_recording_is_the_inverse_dynamics_of_the_motion(name: str) -> None:
    robot = fp.load(name)
    motion = motion_of(robot, SMALL)
    found = record(robot, motion, SMALL)
    drive = fp.inverse_dynamics(robot, motion)
    assert np.array_equal(found.force, drive.force.values)
    assert found.note == str(drive.attrs.get("validity", ""))
    assert bool(found.note) == (name == "gough-stewart-flexible"), "its plate bends by more than half its thickness"
    assert found.index(0.0) == 0
    assert found.index(found.duration) == len(found.time) - 1
    assert found.time[found.index(1.234)] <= 1.234 < found.time[found.index(1.234) + 1]
    assert bool(np.any(found.deformation > 0)) == bool(robot.elastic_names)
    if robot.elastic_names:
        state, joints = found.drawn(40, 30.0)
        assert np.all(np.isfinite(joints))
        ends = leg_ends(robot, link_frames(robot, joints))
        corners = platform_corners(robot, state, 30.0 * found.elastic[40])
        assert np.allclose(ends, corners, rtol=0, atol=NEWTON * robot.size), "an exaggerated drawing falls apart"
    if robot.flexible_platform is not None:  # joints are points of the plate: none moves further than the largest displacement
        joints = fp.deformation(robot, motion).joint_displacement.values
        furthest = np.linalg.norm(joints, axis=-1).max(axis=-1)
        assert np.all(furthest <= found.deformation * (1 + SAME))
        assert np.all(furthest > 0.2 * found.deformation)


def test_simulation_result_becomes_a_recording(tmp_path: Path) -> None:
    robot = fp.load("hexapod")
    motion = motion_of(robot, "cosine-z")
    result = fp.simulate(robot, motion, drive="actuators", progress=False)
    found = recorded(robot, result, "run")
    assert found.kind == "simulation"
    assert len(found.time) <= result.sizes["time"]
    legs = fp.inverse_kinematics(robot, fp.State(position=found.position, rotation=found.rotation)).joint_position.values
    assert np.array_equal(found.joints, legs)
    for suffix in (".nc", ".csv"):
        path = fp.save(result, tmp_path / f"run{suffix}")
        again = recording_from_bytes(robot, path.name, path.read_bytes())
        assert again.kind == "simulation"
        assert np.allclose(again.force, found.force, rtol=SAME, atol=0)
    with pytest.raises(fp.InputError, match="open that robot"):
        recorded(fp.load("delta"), result, "run")
    with pytest.raises(fp.InputError, match="no result of a simulation"):
        recorded(robot, result[["force"]], "run")


def test_motion_files_are_played(tmp_path: Path) -> None:
    robot = fp.load("hexapod")
    path = tmp_path / "motion.csv"
    fp.motions.motion_to_file(motion_of(robot, "circle"), path)
    found = recording_from_bytes(robot, "motion.csv", path.read_bytes())
    direct = record(robot, motion_of(robot, "circle"), "circle")
    # a file has positions, rates and accelerations in full digits
    assert np.allclose(found.force, direct.force, rtol=DEGREES, atol=0)


def test_every_choice_of_motion_can_be_made() -> None:
    robot = fp.load("stewart-3-3")
    assert SMALL in motion_choices()
    for name in ("cosine-x", "rotation-z", "circle", "line", "harmonic"):
        assert name in motion_choices()
        assert len(motion_of(robot, name)) > 10


@pytest.mark.parametrize("name", ["stewart-3-3", "gough-stewart-flexible", "delta", "five-bar", "planar-4-prr", "dualemps", "h4"])
def test_modes_are_the_natural_frequencies(name: str) -> None:
    robot = fp.load(name)
    at = fp.State.at_home(robot)
    found = modes_of(robot, at)
    drives = chosen_drives(robot)
    wanted = fp.natural_frequencies(robot, at, actuators=drives.actuators)
    assert found.assumed == drives.assumed == (not robot.elastic_names)
    assert found.held.split(";")[0] == drives.label.split(";")[0], "the studio and the report assume the same drives"
    assert np.array_equal(found.frequency, wanted.frequency.values)
    if robot.elastic_legs and robot.elastic_names:
        assert np.abs(found.push).max() < BALANCE  # locked
    elif robot.mobility.platform < 6 and not robot.elastic_legs:  # the components that follow obey the constraints
        G = fp.jacobian(robot, at).constraint_jacobian.values
        assert np.abs(G @ found.twist.T).max() < BALANCE * np.abs(found.twist).max() * np.abs(G).max()
    coordinates = coordinates_of(robot)
    for mode in range(min(3, len(found.frequency))):
        state, _ = displaced(robot, coordinates, found, mode, 0.5 * np.pi, factor=1.0, deformation=1.0)
        assert np.linalg.norm(state.position - at.position) < 0.2 * robot.characteristic_length
        shifted = np.linalg.norm(state.position - at.position) / robot.characteristic_length
        assert max(shifted, np.abs(state.rotation - at.rotation).max()) > SEEN_MOVE, "the mode is not seen"
        rest, elastic = displaced(robot, coordinates, found, mode, 0.0, factor=1.0, deformation=1.0)
        assert np.allclose(rest.position, at.position, rtol=0, atol=DEGREES)
        assert np.allclose(elastic, found.elastic)


def test_a_drawing_that_is_enlarged_gives_no_warning(recwarn: pytest.WarningsRecorder) -> None:
    """Strains of the picture are not those of the robot; those of the robot are warned about all the same."""
    robot = fp.load("dualemps")
    elastic = np.full(len(robot.elastic_names), 0.2)
    drawn_pose(robot, fp.State.at_home(robot), elastic)
    assert not [w for w in recwarn if issubclass(w.category, fp.ValidityWarning)]
    q = fp.inverse_kinematics(robot, fp.State.at_home(robot), joints=False).actuator_position.values
    with pytest.warns(fp.ValidityWarning):
        fp.inverse_kinematics(robot, fp.State.from_actuators(robot, q, elastic=elastic), on_error="mask")


def test_given_stiffness_is_by_unit() -> None:
    robot = fp.load("eclipse")
    assert set(robot.actuator_units) == {"m", "rad"}
    found = modes_of(robot, fp.State.at_home(robot), {"m": 2e7, "rad": 3e4})
    held = [{"m": 2e7, "rad": 3e4}[unit] for unit in robot.actuator_units]
    wanted = fp.natural_frequencies(robot, fp.State.at_home(robot), actuators=held)
    assert np.array_equal(found.frequency, wanted.frequency.values)
    assert found.held == "drives of 30000 N m/rad and 2e+07 N/m"
    assert not found.assumed
    assert modes_of(robot, fp.State.at_home(robot), {"m": 2e7}).assumed, "the torsional one is not given"


def test_locked_actuators_stay_while_a_mode_is_shown() -> None:
    """Their motion along a mode is of second order: twice the amplitude, four times the change."""
    robot = fp.load("gough-stewart-flexible")
    found = modes_of(robot, fp.State.at_home(robot))
    coordinates = coordinates_of(robot)

    def change(factor: float) -> float:
        state, elastic = displaced(robot, coordinates, found, 3, 0.5 * np.pi, factor=factor, deformation=1.0)
        moved = fp.inverse_kinematics(robot, state, joints=False, elastic=elastic).actuator_position.values
        rest = fp.inverse_kinematics(robot, fp.State.at_home(robot), joints=False, elastic=found.elastic).actuator_position.values
        return float(np.abs(moved - rest).max())

    ratio = change(0.02) / change(0.01)
    assert 3.5 < ratio < 4.5


@pytest.mark.parametrize(("name", "plane"), [("stewart-3-3", "xz"), ("five-bar", "xy")])
def test_slice_agrees_with_single_poses(name: str, plane: str) -> None:
    robot = fp.load(name)
    studio = Session.start(robot)
    assert plane in planes(studio.coordinates)
    parts: list[float] = []
    found = workspace_slice(robot, studio.coordinates, studio.last_good, plane, parts.append)
    assert parts[0] == 0.0
    assert parts[-1] == 1.0
    assert len(found.faces)
    used = np.unique(found.faces)
    random = np.random.default_rng(3)
    if robot.mobility.platform == 6:
        for k in random.choice(used, 8):
            assert numbers_of(robot, fp.State(position=found.vertices[k], rotation=robot.home.rotation)).good
        unused = np.setdiff1d(np.arange(len(found.vertices)), used)
        good = [numbers_of(robot, fp.State(position=found.vertices[k], rotation=robot.home.rotation)).good for k in unused[::60]]
        assert not all(good)
    assert found.low <= numbers_of(robot, fp.State.at_home(robot)).condition


def test_drawings_of_the_space_are_what_the_verbs_say(session: Session) -> None:
    studio, robot = session, session.robot
    text, names, p, R = all_poses(robot, studio.numbers.actuator + 0.01, lambda part: None)
    modes = fp.assembly_modes(robot, studio.numbers.actuator + 0.01)
    assert len(names) == int(modes["count"]) == len(platforms(robot, p, R)) // 6
    assert str(modes["completeness"].values) in text
    tilted = fp.motions.euler_rotation("Z", [1.2]) @ fp.motions.euler_rotation("X", [0.5])
    rotated = fp.State(position=robot.home.position, rotation=tilted)
    said, curves = singular_curves(robot, studio.coordinates, rotated, "xy", lambda part: None)
    assert curves
    assert said.startswith(f"{len(curves)} curve")
    points = np.concatenate(curves)[::20]
    at = fp.singularities(robot, fp.State(position=points, rotation=np.repeat(rotated.rotation[None], len(points), axis=0)))
    assert at["type_2"].values.max() < SINGULAR


def test_a_slice_can_be_stopped() -> None:
    studio = Session.start(fp.load("stewart-3-3"))

    def stop(part: float) -> None:
        if part > 0.3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        workspace_slice(studio.robot, studio.coordinates, studio.last_good, "xy", stop)


def test_handles_offer_only_motions_that_the_robot_has() -> None:
    def axes(name: str) -> dict[str, tuple[bool, ...]]:
        robot = fp.load(name)
        found = handle_options(robot, coordinates_of(robot))
        return {key: options.get("active_axes", (True, True, True)) for key, options in found}

    assert axes("delta") == {"arrows": (True, True, True)}
    assert axes("five-bar") == {"arrows": (True, True, False)}
    assert set(axes("stewart-3-3")) == {"arrows", "rings"}
    for name in ("planar-4-prr", "tripteron", "dualemps"):
        robot = fp.load(name)
        moves = pose_components(robot)
        rings = [key for key in axes(name) if key.startswith("ring-")]
        if moves and len([m for m in moves if m not in "xyz"]) < 3:
            assert [f"r{key[-1]}" for key in rings] == [m for m in moves if m not in "xyz"], name


def test_a_base_that_floats_is_drawn_and_said_why_it_has_no_forces() -> None:
    session = Session.start(fp.load("hexapod-floating"))
    assert session.coordinates.names == ("x", "y", "z", "rx", "ry", "rz")
    found = session.move_one("z", 0.45)
    assert found.taken
    assert not found.problems
    assert "use linearize for its small motions" in found.unknown
    assert not found.good, "its limits are not known to be kept"
    assert session.drag(found.state.position + np.array([0.0, 0.0, 0.02]), found.state.rotation).taken


def test_limits_along_a_motion_are_those_of_check_motion() -> None:
    robot = fp.load("stewart-3-3")
    size = 1.2 * robot.characteristic_length
    motion = chosen_motion(robot, "cosine-z", {"amplitude": size})
    check = fp.check_motion(robot, motion)
    found = record(robot, motion, "far").limits
    assert found.bad.any()
    assert not found.bad.all()
    assert np.array_equal(found.bad, ~check.margins.valid.values)
    first = min(v.first for v in check.violations)
    assert found.spans()[0][0] == first
    assert found.bad[found.worst]
    text = found.problems(found.worst)[0].text
    k = int(np.argmin(check.margins.stroke_margin.values[found.worst]))
    assert any(f"{-check.margins.stroke_margin.values[found.worst, k]:.3g} m" in p.text for p in found.problems(found.worst)), (
        text
    )
    assert found.problems(0) == ()


def test_a_motion_that_cannot_be_followed_anywhere_is_refused() -> None:
    robot = fp.load("hexapod")
    far = fp.motions.offset(motion_of(robot, SMALL), translation=np.array([0.0, 0.0, 9.0]))
    with pytest.raises(fp.InputError, match="cannot follow this motion at any sample"):
        record(robot, far, "far")


@pytest.mark.parametrize("name", ["gough-stewart-flexible", "dualemps"])
def test_drawn_deformation_is_seen_and_stays_together(name: str) -> None:
    robot = fp.load(name)
    numbers = numbers_of(robot, fp.State.at_home(robot))
    factor = good_factor(robot, numbers.state, numbers.elastic)
    assert np.all(np.isfinite(drawn_pose(robot, numbers.state, factor * numbers.elastic)[1]))
    largest = largest_displacement(robot, numbers.elastic[None])[0]
    assert factor == 1.0 or 0.3 * SEEN < factor * largest / extent(robot) <= SEEN * (1 + SAME) or factor == MOST
    assert [rounded(x) for x in (0.3, 1.0, 1.9, 4.9, 56.0, 1e9)] == [1.0, 1.0, 1.0, 3.0, 50.0, MOST]
    found, coordinates = modes_of(robot, numbers.state), coordinates_of(robot)
    for mode in range(3):
        part = room_of_mode(robot, coordinates, found, mode, 4.0, factor)
        assert part > 0
        state, elastic = displaced(robot, coordinates, found, mode, 0.5 * np.pi, factor=4.0 * part, deformation=factor)
        assert np.all(np.isfinite(drawn_pose(robot, state, factor * elastic)[1])), "the platform leaves its joints"


def test_numbers_carry_what_they_belong_to(session: Session) -> None:
    session.change("platform.mass", 60.0)
    shown = session.move_one("x", 0.1)
    assert shown.origin == Origin(robot="stewart-3-3", variant="platform.mass = 60", pose=(0.1, 0.0, 4.330127019, 0.0, 0.0, 0.0))
    assert shown.origin.text == "stewart-3-3, platform.mass = 60, at (0.1, 0, 4.33) m, (0, 0, 0) deg"
    assert modes_of(session.robot, shown.state, None, session.variant.label).origin == shown.origin
