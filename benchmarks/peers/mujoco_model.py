"""The robot in MuJoCo: legs as two hinges and a slide, a free platform, six site-to-site connections."""

from __future__ import annotations

import mujoco
import numpy as np
from stewart import ACTUATED, HOME, PASSIVE, ROBOT, body, geometry, quat_wxyz, tree_state


def mjcf() -> str:
    """The model as XML text."""

    def text(values: object) -> str:
        return " ".join(f"{float(v):.17g}" for v in np.ravel(values))

    def inertial(name: str) -> str:
        mass, com, tensor = body(name)
        return f'<inertial pos="{text(com)}" mass="{mass:.17g}" diaginertia="{text(np.diag(tensor))}"/>'

    base, plate = geometry()
    parts = [f'<mujoco><option gravity="{text(ROBOT.gravity)}"/><worldbody><body pos="0 0 {HOME:.17g}"><freejoint/>']
    parts += [inertial("platform"), *[f'<site name="b{i}" pos="{text(plate[i])}"/>' for i in range(6)], "</body>"]
    for i, leg in enumerate(ROBOT.legs):
        parts.append(f'<body pos="{text(base[i])}"><joint axis="1 0 0"/><joint axis="0 1 0"/>{inertial(f"{leg.name}.cylinder")}')
        parts.append(f'<body><joint name="s{i}" type="slide" axis="0 0 1"/><site name="a{i}"/>{inertial(f"{leg.name}.piston")}')
        parts.append("</body></body>")
    parts += ["</worldbody><equality>", *[f'<connect site1="a{i}" site2="b{i}"/>' for i in range(6)], "</equality><actuator>"]
    parts += [*[f'<motor joint="s{i}"/>' for i in range(6)], "</actuator></mujoco>"]
    return "".join(parts)


class MuJoCo:
    """Inverse dynamics with hard loops, as a user of the engine would write it."""

    def __init__(self) -> None:
        self.model = mujoco.MjModel.from_xml_string(mjcf())
        self.data = mujoco.MjData(self.model)

    def state(self, motion: object, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions, velocities and accelerations (platform: linear in world axes, angular in its own)."""
        q, qd, qdd = tree_state(motion, k)
        R = motion.rotation[k]
        qpos = np.concatenate([motion.position[k], quat_wxyz(R), q.ravel()])
        qvel = np.concatenate([motion.velocity[k], R.T @ motion.angular_velocity[k], qd.ravel()])
        return qpos, qvel, np.concatenate([motion.acceleration[k], R.T @ motion.angular_acceleration[k], qdd.ravel()])

    def inverse(self, qpos: np.ndarray, qvel: np.ndarray, qacc: np.ndarray) -> np.ndarray:
        """Actuator forces: the engine's inverse, its soft loop forces put back, hard ones from its Jacobian."""
        d = self.data
        d.qpos[:], d.qvel[:], d.qacc[:] = qpos, qvel, qacc
        mujoco.mj_inverse(self.model, d)
        b = d.qfrc_inverse + d.qfrc_constraint
        J = d.efc_J.reshape(-1, 24)
        return b[ACTUATED] - J[:, ACTUATED].T @ np.linalg.solve(J[:, PASSIVE].T, b[PASSIVE])
