"""The robot in Pinocchio: a tree of six U-P legs and a free platform, six loop constraints."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from stewart import ACTUATED, PASSIVE, ROBOT, body, geometry, quat_wxyz, tree_state


class Pinocchio:
    """Inverse and forward dynamics with the loops, as a user of the engine would write them."""

    def __init__(self) -> None:
        base, plate = geometry()
        m = self.model = pin.Model()
        m.gravity.linear = np.array(ROBOT.gravity)
        still = pin.SE3.Identity()
        top = m.addJoint(0, pin.JointModelFreeFlyer(), still, "platform")
        m.appendBodyToJoint(top, pin.Inertia(*body("platform")), still)
        self.constraints = pin.StdVec_RigidConstraintModel()
        for i, leg in enumerate(ROBOT.legs):
            axes = pin.JointModelUniversal(np.array([1.0, 0, 0]), np.array([0, 1.0, 0]))
            u = m.addJoint(0, axes, pin.SE3(np.eye(3), base[i]), f"u{i}")
            m.appendBodyToJoint(u, pin.Inertia(*body(f"{leg.name}.cylinder")), still)
            s = m.addJoint(u, pin.JointModelPZ(), still, f"p{i}")
            m.appendBodyToJoint(s, pin.Inertia(*body(f"{leg.name}.piston")), still)
        for i in range(6):
            end, at = m.getJointId(f"p{i}"), pin.SE3(np.eye(3), plate[i])
            self.constraints.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, m, end, still, top, at, pin.LOCAL))
        self.data = m.createData()
        self.loops = pin.StdVec_RigidConstraintData()
        for c in self.constraints:
            self.loops.append(c.createData())
        pin.initConstraintDynamics(m, self.data, self.constraints, self.loops)
        self.settings = pin.ProximalSettings(1e-12, 0.0, 1)

    def state(self, motion: object, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Configuration, velocity and acceleration of the tree (twist of the platform in its own axes)."""
        q, qd, qdd = tree_state(motion, k)
        R, w, v = motion.rotation[k], motion.angular_velocity[k], motion.velocity[k]
        quat = quat_wxyz(R)
        vb, wb = R.T @ v, R.T @ w
        a = np.concatenate([R.T @ motion.acceleration[k] - np.cross(wb, vb), R.T @ motion.angular_acceleration[k], qdd.ravel()])
        return np.concatenate([motion.position[k], quat[1:], quat[:1], q.ravel()]), np.concatenate([vb, wb, qd.ravel()]), a

    def inverse(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Actuator forces: inverse dynamics of the tree, loop forces from the passive rows."""
        b = pin.rnea(self.model, self.data, q, v, a)
        pin.computeJointJacobians(self.model, self.data, q)
        for c, d in zip(self.constraints, self.loops, strict=True):
            c.calc(self.model, self.data, d)  # without this the Jacobian is silently wrong
        J = pin.getConstraintsJacobian(self.model, self.data, self.constraints, self.loops)
        return b[ACTUATED] - J[:, ACTUATED].T @ np.linalg.solve(J[:, PASSIVE].T, b[PASSIVE])

    def forward(self, q: np.ndarray, v: np.ndarray, force: np.ndarray) -> np.ndarray:
        """Acceleration of the tree under actuator forces."""
        tau = np.zeros(24)
        tau[ACTUATED] = force
        return pin.constraintDynamics(self.model, self.data, q, v, tau, self.constraints, self.loops, self.settings)
