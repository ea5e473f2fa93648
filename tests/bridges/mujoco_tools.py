"""MuJoCo with hard loops: its mass matrix, bias and constraint Jacobian, solved exactly."""

import mujoco
import numpy as np

import flexapod as fp
from flexapod.rotation_arrays import rotation_quaternion

CLOSED = 1e-14
"""[m, rad]: the last step of Newton's method on the loops."""


class Engine:
    """A compiled MJCF model, driven by our joint names."""

    def __init__(self, text: str) -> None:
        self.model = mujoco.MjModel.from_xml_string(text)
        self.data = mujoco.MjData(self.model)

    def put(self, robot: fp.Robot, motion: fp.Motion, joints: object, k: int) -> np.ndarray:
        """Set positions and velocities; returns the accelerations of all coordinates.

        Closing joints inside the tree (universal ones) have coordinates that we do not name: the loops give them.
        """
        m, d = self.model, self.data
        acceleration = np.zeros(m.nv)
        mujoco.mj_resetDataKeyframe(m, d, 0)
        closing: list[int] = []
        for j in range(m.njnt):
            at, dof = m.jnt_qposadr[j], m.jnt_dofadr[j]
            if m.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE:
                R = motion.rotation[k]
                d.qpos[at : at + 7] = [*motion.position[k], *rotation_quaternion(R)]
                d.qvel[dof : dof + 6] = [*motion.velocity[k], *(R.T @ motion.angular_velocity[k])]
                acceleration[dof : dof + 6] = [*motion.acceleration[k], *(R.T @ motion.angular_acceleration[k])]
            elif m.joint(j).name in robot.coordinates:
                i = robot.coordinates.index(m.joint(j).name)
                d.qpos[at], d.qvel[dof] = joints.joint_position.values[k, i], joints.joint_velocity.values[k, i]
                acceleration[dof] = joints.joint_acceleration.values[k, i]
            else:
                closing.append(j)
        if closing:
            self._close(m.jnt_qposadr[closing], m.jnt_dofadr[closing], acceleration)
        mujoco.mj_forward(m, d)
        return acceleration

    def _close(self, at: np.ndarray, dof: np.ndarray, acceleration: np.ndarray) -> None:
        """Newton steps for the positions, then velocities and accelerations that the loops allow."""
        d = self.data
        for _ in range(20):
            J = self._rows()
            step = np.linalg.lstsq(J[:, dof], d.efc_pos[: d.ne], rcond=None)[0]
            d.qpos[at] -= step
            if np.abs(step).max() < CLOSED:
                break
        J = self._rows()
        d.qvel[dof] = -np.linalg.lstsq(J[:, dof], J @ d.qvel, rcond=None)[0]
        J = self._rows()
        acceleration[dof] = np.linalg.lstsq(J[:, dof], d.efc_aref[: d.ne] - J @ acceleration, rcond=None)[0]

    def _rows(self) -> np.ndarray:
        """Constraint Jacobian where the coordinates are now."""
        mujoco.mj_forward(self.model, self.data)
        return self.data.efc_J.reshape(-1, self.model.nv)[: self.data.ne].copy()

    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Mass matrix, bias, constraint Jacobian, and map of the actuators, at what was put."""
        m, d = self.model, self.data
        M = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, d, M)
        S = np.zeros((m.nv, m.nu))
        for a in range(m.nu):
            S[m.jnt_dofadr[m.joint(m.actuator(a).name).id], a] = 1.0
        return M, d.qfrc_bias.copy(), d.efc_J.reshape(-1, m.nv)[: d.ne].copy(), S
