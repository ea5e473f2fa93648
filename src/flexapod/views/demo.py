"""`make demo`: the first slice through the whole pipe, from robot file to kernel, C file, labelled result and picture."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import flexapod as fp
from flexapod.views.plot import actuator_figure, page, robot_figure


def vertical_motion(robot: fp.Robot, samples: int = 301) -> fp.Motion:
    """Staicu's first test motion (Eq. 6): down and up by 0.3 m in 3 s."""
    t = np.linspace(0.0, 3.0, samples)
    omega, depth = 2.0 * np.pi / 3.0, -0.15
    still = np.zeros((samples, 3))
    up = np.array([0.0, 0.0, 1.0])
    return fp.Motion(
        time=t,
        position=robot.home.position + np.outer(depth * (1.0 - np.cos(omega * t)), up),
        rotation=np.tile(np.eye(3), (samples, 1, 1)),
        velocity=np.outer(depth * omega * np.sin(omega * t), up),
        angular_velocity=still,
        acceleration=np.outer(depth * omega**2 * np.cos(omega * t), up),
        angular_acceleration=still,
    )


def catalogue_table() -> str:
    """Every robot of the catalogue: kind and mobility."""
    lines = [f"{'robot':14} {'mobility':>8} {'actuators':>9}  title"]
    for name in fp.catalogue():
        robot = fp.load(name)
        lines.append(f"{name:14} {robot.mobility.rank:8d} {len(robot.actuators):9d}  {robot.title}")
    return "\n".join(lines)


def main() -> None:
    """Run the demo."""
    parser = argparse.ArgumentParser(description="flexapod: from a robot file to a result, a C file and a picture")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the results")
    folder = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    table = catalogue_table()
    print(table, end="\n\n")

    robot = fp.load("stewart-3-3")
    legs = fp.inverse_kinematics(robot, vertical_motion(robot))
    kernel = fp.kernel(robot, "inverse_kinematics")
    files = fp.export_c(robot, "inverse_kinematics", folder / "c")
    legs.actuator_position.to_pandas().to_csv(folder / "stewart-3-3_actuator_position.csv")
    figures = [
        robot_figure(robot),
        actuator_figure(legs, "actuator_position", "Leg extension, vertical motion", "extension"),
        actuator_figure(legs, "actuator_velocity", "Leg rates, vertical motion", "rate"),
    ]
    text = f"{table}\n\n{robot.loops}\n\n{kernel!r}: {kernel.operations}"
    report = folder / "demo.html"
    report.write_text(page(figures, "flexapod demo: stewart-3-3", text), encoding="utf-8")

    reach = legs.actuator_position
    print(f"stewart-3-3, vertical motion: legs between {float(reach.min()):+.4f} and {float(reach.max()):+.4f} m of 5 m")
    print(f"kernel: {kernel.operations}")
    print(f"C code: {files['source']}")
    print(f"picture and plots: {report.resolve()}")


if __name__ == "__main__":
    main()
