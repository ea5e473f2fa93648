"""Public names of the last version work for one more, and say how they are called now."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from typer.testing import CliRunner

import flexapod as fp
from flexapod.calls import renamed
from flexapod.views.studio.loop import ActionLoop
from support.patience import PATIENCE


@pytest.fixture(scope="module")
def motion() -> fp.Motion:
    home = fp.load("stewart-3-3").home.position
    return fp.motions.named_motion("circle", center=home, radius=0.1, rpm=10.0, samples=5)


def test_shares_are_contributions(motion: fp.Motion) -> None:
    robot = fp.load("stewart-3-3")
    with pytest.warns(DeprecationWarning, match="inverse_dynamics: shares is called contributions now") as found:
        old = fp.inverse_dynamics(robot, motion, shares="frozen")  # type: ignore[call-arg]
    assert found[0].filename == __file__, "the line of the user is named"
    new = fp.inverse_dynamics(robot, motion, contributions="frozen")
    assert np.array_equal(old.force_contribution, new.force_contribution)
    assert np.array_equal(new.force_share.sum("share"), new.force_contribution.sum("contribution"))
    assert new.force_share.attrs["deprecated"] == "called force_contribution now"


def test_both_names_are_refused(motion: fp.Motion) -> None:
    with pytest.raises(fp.InputError, match="shares is the former name of contributions; give contributions alone"):
        fp.inverse_dynamics(fp.load("stewart-3-3"), motion, shares="frozen", contributions="frozen")  # type: ignore[call-arg]


def test_arguments_without_a_former_name_are_passed_on() -> None:
    def verb(*, new: int = 0) -> int:
        return new

    call: Callable[..., int] = renamed(old="new")(verb)
    assert call(new=2) == 2
    with pytest.warns(DeprecationWarning, match="verb: old is called new now"):
        assert call(old=3) == 3


def test_ledger_residual_is_energy_residual() -> None:
    robot = fp.load("stewart-3-3")
    at = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    result = fp.simulate(robot, at, duration=0.01, step=1e-3, progress=False)
    assert np.array_equal(result.ledger_residual, result.energy_residual)
    assert result.ledger_residual.attrs["deprecated"] == "called energy_residual now"
    assert "deprecated" not in result.energy_residual.attrs


def test_run_at_is_motion_at() -> None:
    robot = fp.load("stewart-3-3")
    result = fp.simulate(robot, fp.State.at_home(robot), duration=0.01, step=1e-3, progress=False)
    with pytest.warns(DeprecationWarning, match="run_at is called motion_at now") as found:
        old = fp.run_at(result, [0.0015])
    assert found[0].filename == __file__, "the line of the user is named"
    assert np.array_equal(old.position, fp.motion_at(result, [0.0015]).position)
    with pytest.warns(DeprecationWarning, match="energy_figure: run is called result now"):
        fp.figures.energy_figure(run=result, title="Energy")


def test_words_of_a_workspace_are_reason_texts() -> None:
    area = fp.workspace(fp.load("stewart-3-3"), grid={"x": (-9.0, 9.0, 3)}, progress=False)
    assert area.words.values.tolist() == area.reason_text.values.tolist()
    assert area.reason_text.values[area.reason.values[0]] != ""


def test_the_figure_by_its_former_name(motion: fp.Motion) -> None:
    drive = fp.inverse_dynamics(fp.load("stewart-3-3"), motion, contributions="frozen")
    with pytest.warns(DeprecationWarning, match="share_figure is called contribution_figure now"):
        figure = fp.figures.share_figure(drive, "parts")
    assert figure.to_json() == fp.figures.contribution_figure(drive, "parts").to_json()


def test_the_option_by_its_former_name() -> None:
    from flexapod.views.cli import app

    found = CliRunner().invoke(app, ["inverse-dynamics", "stewart-3-3", "--motion", "staicu", "--shares", "--json"])
    assert found.exit_code == 0, found.output
    assert "shares are called contributions now" in found.output
    assert "force_contribution" in found.output


def test_the_sense_of_a_circle_is_its_direction() -> None:
    given = {"center": (0, 0, 1), "radius": 0.1, "rpm": 10.0, "samples": 5}
    with pytest.warns(DeprecationWarning, match="circle: sense is called direction now"):
        old = fp.motions.circle(**given, sense="clockwise")
    assert np.array_equal(old.position, fp.motions.circle(**given, direction="clockwise").position)
    with pytest.warns(DeprecationWarning, match="circle: sense is called direction now"):
        assert np.array_equal(fp.motions.named_motion("circle", **given, sense="clockwise").position, old.position)


def test_the_turns_of_a_circle_are_its_revolutions() -> None:
    given = {"radius": 0.1, "speed": 0.2, "samples": 5}
    with pytest.warns(DeprecationWarning, match="circle: turns is called revolutions now"):
        old = fp.motions.circle(center=(0, 0, 1), **given, turns=1.5)
    assert np.array_equal(old.position, fp.motions.circle(center=(0, 0, 1), **given, revolutions=1.5).position)
    with pytest.warns(DeprecationWarning, match="dualemps_circle: turns is called revolutions now"):
        both = [fp.motions.dualemps_circle(**given, turns=0.5), fp.motions.dualemps_circle(**given, revolutions=0.5)]
    assert np.array_equal(both[0].position, both[1].position)


def test_the_turn_of_a_flexible_platform_is_its_rotation_vector() -> None:
    robot = fp.load("gough-stewart-flexible")
    found = fp.deformation(robot, fp.State.at_home(robot), elastic=np.full(len(robot.elastic_names), 1e-4))
    assert np.abs(found.rotation_vector).max() > 0
    assert np.array_equal(found.turn, found.rotation_vector)
    assert found.turn.attrs["deprecated"] == "called rotation_vector now"


def test_settle_of_the_studio_is_wait_until_idle() -> None:
    loop = ActionLoop(lambda error: None)
    with pytest.warns(DeprecationWarning, match="settle is called wait_until_idle now") as found:
        assert loop.settle(PATIENCE)
    assert found[0].filename == __file__, "the line of the user is named"
    assert loop.wait_until_idle(PATIENCE)
