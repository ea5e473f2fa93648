"""The two papers of the recursive matrix method written out in NumPy, angles and all, with the errata applied.

Letters and equation numbers are the papers': a_k (a_{k,k-1}) turns components of body k-1 into those of body k, r_k goes from
A_{k-1} to A_k in axes of k-1, R turns base into platform components. One sample at a time; nothing of the package is used.
"""

from dataclasses import dataclass

import numpy as np

U1, U2, U3 = np.eye(3)
G = 9.81


def tilde(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def about_x(t):
    return np.array([[1, 0, 0], [0, np.cos(t), np.sin(t)], [0, -np.sin(t), np.cos(t)]])


def about_y(t):
    return np.array([[np.cos(t), 0, -np.sin(t)], [0, 1, 0], [np.sin(t), 0, np.cos(t)]])


def about_z(t):
    return np.array([[np.cos(t), np.sin(t), 0], [-np.sin(t), np.cos(t), 0], [0, 0, 1]])


@dataclass(frozen=True, kw_only=True)
class Leg:
    """a_10, a_21, a_32; r_10, r_21, r_32 and r_43; joint kind, axis, mass, centre of mass, tensor about A_k per body."""

    a: list
    r: list
    tip: np.ndarray
    kinds: str
    axes: list
    masses: list
    centres: list
    tensors: list
    actuator: int


# --- Staicu 2009 -----------------------------------------------------------------------------------------------------

STEWART_ALPHA1 = dict(A=0, F=0, B=2 * np.pi / 3, C=2 * np.pi / 3, D=-2 * np.pi / 3, E=-2 * np.pi / 3)
STEWART_ALPHA2 = {leg: (-1 if leg in "ACE" else 1) * np.pi / 3 for leg in "ABCDEF"}  # alpha3 = -alpha2
STEWART = dict(l0=2.5, l2=1.5, l3=3.0, beta=np.pi / 3, m1=1.5, m2=15.0, m3=10.0, mp=50.0)
THETA = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]])


def stewart_geometry(leg):
    """Base joint, first universal axis x1, platform joint in platform axes (Eqs. 1-3, 8)."""
    first = about_z(STEWART_ALPHA1[leg])
    axis = (about_z(STEWART_ALPHA2[leg]) @ first).T @ U1
    return STEWART["l0"] * first.T @ U1, axis, STEWART["l0"] * first.T @ about_z(-STEWART_ALPHA2[leg]).T @ U1


def stewart_leg(name, p, R):
    """Angles and length that close the loop (Eq. 7), then the matrices and vectors of Eqs. (2), (8)."""
    s = STEWART
    base, _, joint = stewart_geometry(name)
    d = p + R.T @ joint - base
    length = np.linalg.norm(d)
    m = about_z(STEWART_ALPHA2[name]) @ about_z(STEWART_ALPHA1[name]) @ d / length
    phi10 = np.arctan2(-m[1], m[2])
    phi21 = np.arctan2(np.hypot(m[1], m[2]), -m[0]) - s["beta"]
    a10 = about_x(phi10) @ about_z(STEWART_ALPHA2[name]) @ about_z(STEWART_ALPHA1[name])
    a21 = about_y(phi21) @ about_y(s["beta"])
    return Leg(
        a=[a10, a21, THETA],
        r=[base, np.zeros(3), -(length - s["l3"]) * U1],
        tip=s["l3"] * U2,
        kinds="RRP",
        axes=[U1, U2, U2],
        masses=[s["m1"], s["m2"], s["m3"]],
        centres=[np.zeros(3), -s["l2"] / 2 * U1, s["l3"] / 2 * U2],
        tensors=[np.diag([0.2, 0.1, 0.1]), np.diag([5, 15, 15]), np.diag([30, 5, 30])],
        actuator=2,
    )


# --- Sinatra 2009 ----------------------------------------------------------------------------------------------------

ALPHA0 = np.pi / 36
HEXAPOD_ALPHA1 = dict(
    A=ALPHA0, B=2 * np.pi / 3 - ALPHA0, C=2 * np.pi / 3 + ALPHA0, D=-2 * np.pi / 3 - ALPHA0, E=-2 * np.pi / 3 + ALPHA0, F=-ALPHA0
)
HEXAPOD_SIGN = {leg: -1 if leg in "ACE" else 1 for leg in "ABCDEF"}
HEXAPOD = dict(L0=0.6, l0=0.3, l3=0.5, m1=0.1, m2=0.05, m3=0.398, mp=3.983)
HEXAPOD["l1"] = 2 * (HEXAPOD["L0"] - HEXAPOD["l0"]) * np.sin(np.pi / 3 - ALPHA0) / np.sqrt(2)
HEXAPOD["beta0"] = np.arcsin((HEXAPOD["L0"] - HEXAPOD["l0"]) / HEXAPOD["l1"])
HEXAPOD["beta"] = np.arcsin(2 * HEXAPOD["l0"] / HEXAPOD["l3"] * np.sin(np.pi / 6 - ALPHA0))
HEXAPOD["h"] = HEXAPOD["l1"] * np.cos(HEXAPOD["beta0"]) + HEXAPOD["l3"] * np.cos(HEXAPOD["beta"])
THETA1 = np.array([[0, 0, -1], [0, 1, 0], [1, 0, 0]])
THETA3 = np.diag([-1, -1, 1])


def hexapod_geometry(leg):
    """Start of the rail, its direction z1, first universal axis z2, platform joint in platform axes (Eqs. 1-3, 8)."""
    alpha1, alpha2 = HEXAPOD_ALPHA1[leg], HEXAPOD_SIGN[leg] * (np.pi / 3 + ALPHA0)
    alpha3 = -HEXAPOD_SIGN[leg] * (np.pi / 3 - 2 * ALPHA0)
    a10 = about_y(HEXAPOD["beta0"]) @ THETA3 @ about_z(alpha1)
    to_cross = THETA1 @ about_z(alpha2) @ about_y(HEXAPOD["beta0"]).T  # a_2alpha without the printed transpose
    joint = HEXAPOD["l0"] * about_z(alpha1).T @ about_z(alpha3).T @ U1
    return HEXAPOD["L0"] * about_z(alpha1).T @ U1, a10, to_cross, joint


def hexapod_leg(name, p, R):
    """Slider displacement and angles that close the loop (Eq. 7), then the matrices and vectors of Eqs. (2), (8)."""
    s = HEXAPOD
    base, a10, to_cross, joint = hexapod_geometry(name)
    e, S = a10.T @ U3, p + R.T @ joint
    along = e @ (S - base)
    travel = along - np.sqrt(s["l3"] ** 2 - (S - base) @ (S - base) + along**2)
    n = (S - base - travel * e) / s["l3"]
    k = to_cross @ a10 @ n
    phi21 = np.arctan2(-k[1], -k[0])
    phi32 = np.arctan2(k[2], np.hypot(k[0], k[1])) - s["beta"]
    return Leg(
        a=[a10, about_z(phi21) @ to_cross, about_z(phi32) @ about_z(s["beta"]) @ THETA1 @ THETA],
        r=[base + travel * e, np.zeros(3), np.zeros(3)],
        tip=s["l3"] * U2,
        kinds="PRR",
        axes=[U3, U3, U3],
        masses=[s["m1"], s["m2"], s["m3"]],
        centres=[np.zeros(3), np.zeros(3), s["l3"] / 2 * U2],
        tensors=[np.zeros((3, 3)), np.zeros((3, 3)), np.diag([0.0722, 0, 0.0722])],
        actuator=0,
    )


# --- both ------------------------------------------------------------------------------------------------------------


def absolute(leg):
    """a_10, a_20, a_30 (Eq. 3)."""
    result = [leg.a[0]]
    for a in leg.a[1:]:
        result.append(a @ result[-1])
    return result


def platform_rotation(angles):
    """R = R3 R2 R1: platform from base components (Eqs. 4-5)."""
    return about_z(angles[2]) @ about_y(angles[1]) @ about_x(angles[0])


def platform_spin(angles, rates):
    """Cross-product matrix of the platform's angular velocity in base axes (Staicu Eqs. 9, 15; Sinatra Eqs. 9, 14)."""
    R1, R2, R = about_x(angles[0]), about_y(angles[1]), platform_rotation(angles)
    first = rates[0] * R1.T @ tilde(U1) @ R1 + rates[1] * R1.T @ R2.T @ tilde(U2) @ R2 @ R1
    return first + rates[2] * R.T @ tilde(U3) @ R


def platform_acceleration_matrix(angles, rates, seconds):
    """The square matrix of Staicu Eq. (18), Sinatra Eq. (17), in base axes."""
    R1, R2, R3 = about_x(angles[0]), about_y(angles[1]), about_z(angles[2])
    R21, R = R2 @ R1, platform_rotation(angles)
    u1, u2, u3 = tilde(U1), tilde(U2), tilde(U3)
    d1, d2, d3 = rates
    squares = d1**2 * R1.T @ u1 @ u1 @ R1 + d2**2 * R21.T @ u2 @ u2 @ R21 + d3**2 * R.T @ u3 @ u3 @ R
    mixed = d1 * d2 * R1.T @ u1 @ R2.T @ u2 @ R21 + d2 * d3 * R21.T @ u2 @ R3.T @ u3 @ R
    mixed = mixed + d3 * d1 * R1.T @ u1 @ R2.T @ R3.T @ u3 @ R
    return platform_spin(angles, seconds) + squares + 2 * mixed


def end(leg):
    """Left-hand side of the loop (Eq. 7): A_4 in the base."""
    a0 = absolute(leg)
    return leg.r[0] + a0[0].T @ leg.r[1] + a0[1].T @ leg.r[2] + a0[2].T @ leg.tip


def connectivity(leg):
    """Matrix of the connectivity conditions along base axes (Staicu Eq. 14, Sinatra Eq. 13)."""
    columns, rho = [], leg.tip
    for k in (2, 1, 0):
        columns.append(leg.axes[k] if leg.kinds[k] == "P" else tilde(leg.axes[k]) @ rho)
        columns[-1] = absolute(leg)[k].T @ columns[-1]
        rho = leg.r[k] + leg.a[k].T @ rho
    return np.column_stack(columns[::-1])


def motion(leg, rates, accelerations):
    """omega_k0, epsilon_k0, gamma_k0 by the recursions (Staicu Eqs. 11-13, 19; Sinatra Eqs. 10-12, 18)."""
    omega, epsilon, gamma, result = np.zeros(3), np.zeros(3), np.zeros(3), []
    for k in range(3):
        a, u, q, qq = leg.a[k], leg.axes[k], rates[k], accelerations[k]
        before = a @ tilde(omega) @ a.T
        gamma = a @ (gamma + (tilde(omega) @ tilde(omega) + tilde(epsilon)) @ leg.r[k])
        omega, epsilon = a @ omega, a @ epsilon
        if leg.kinds[k] == "R":
            omega, epsilon = omega + q * u, epsilon + qq * u + q * before @ u
        else:
            gamma = gamma + 2 * q * before @ u + qq * u
        result.append((omega, epsilon, gamma))
    return result


def end_velocity(leg, rates):
    """Velocity of A_4 in the base, joint centre by joint centre (Staicu Eq. 13, Sinatra Eq. 12)."""
    v, omega = np.zeros(3), np.zeros(3)
    for k in range(3):
        v = leg.a[k] @ v + leg.a[k] @ tilde(omega) @ leg.r[k]
        omega = leg.a[k] @ omega
        if leg.kinds[k] == "R":
            omega = omega + rates[k] * leg.axes[k]
        else:
            v = v + rates[k] * leg.axes[k]
    return absolute(leg)[2].T @ (v + tilde(omega) @ leg.tip)


def end_acceleration(leg, bodies):
    """Acceleration of A_4 in the base; at zero joint accelerations the velocity terms of Staicu Eq. (17), Sinatra Eq. (16)."""
    omega, epsilon, gamma = bodies[2]
    return absolute(leg)[2].T @ (gamma + (tilde(omega) @ tilde(omega) + tilde(epsilon)) @ leg.tip)


def wrenches(leg, bodies, gravity):
    """F_k, M_k summed inwards (Staicu Eq. 21; Sinatra Eqs. 19-20, 22-23); gravity in the base."""
    F, M, result = np.zeros(3), np.zeros(3), [None] * 3
    for k in (2, 1, 0):
        omega, epsilon, gamma = bodies[k]
        m, c, J = leg.masses[k], leg.centres[k], leg.tensors[k]
        weight = m * absolute(leg)[k] @ gravity
        F0 = m * (gamma + (tilde(omega) @ tilde(omega) + tilde(epsilon)) @ c) - weight
        M0 = m * tilde(c) @ gamma + J @ epsilon + tilde(omega) @ J @ omega - tilde(c) @ weight
        if k < 2:
            a, r = leg.a[k + 1], leg.r[k + 1]
            F0, M0 = F0 + a.T @ F, M0 + a.T @ M + tilde(r) @ a.T @ F
        F, M = F0, M0
        result[k] = (F, M)
    return result


def forces(make_leg, joints, mass, tensor, gravity, p, R, v, w, a, alpha):
    """Actuator forces by six virtual motions (Staicu Eqs. 16, 20; Sinatra Eqs. 15, 21) and powers.

    Args:
        make_leg: leg from name, p, R (the papers' R: platform from base).
        joints: platform joints by leg, platform axes.
        w, alpha: of the platform, base axes.
    """
    legs = {name: make_leg(name, p, R) for name in "ABCDEF"}
    velocities, works, rows, powers = {}, {}, [], []
    for name, leg in legs.items():
        r = R.T @ joints[name]
        inverse = np.linalg.inv(connectivity(leg))
        velocities[name] = inverse @ np.hstack([np.eye(3), -tilde(r)])  # joint rates per platform twist
        rates = velocities[name] @ np.concatenate([v, w])
        target = a + (tilde(w) @ tilde(w) + tilde(alpha)) @ r
        accelerations = inverse @ (target - end_acceleration(leg, motion(leg, rates, np.zeros(3))))
        sums = wrenches(leg, motion(leg, rates, accelerations), gravity)
        works[name] = np.array([leg.axes[k] @ sums[k][leg.kinds[k] == "R"] for k in range(3)])
        rows.append(velocities[name][leg.actuator])
        powers.append(rates[leg.actuator])
    J = R.T @ tensor @ R
    platform = np.concatenate([mass * (a - gravity), J @ alpha + tilde(w) @ J @ w])
    virtual = np.linalg.inv(np.array(rows))  # column k: twist of the platform in the virtual motion of actuator k
    result = [sum(velocities[n] @ V @ works[n] for n in legs) + V @ platform for V in virtual.T]
    return np.array(result), np.array(result) * powers


def stewart_forces(p, R_WP, v, w, a, alpha):
    """Forces and powers of the 3-3 Stewart platform; R_WP world-from-platform."""
    joints = {leg: stewart_geometry(leg)[2] for leg in "ABCDEF"}
    return forces(stewart_leg, joints, STEWART["mp"], np.diag([40, 40, 80]), -G * U3, p, R_WP.T, v, w, a, alpha)


def hexapod_forces(p, R_WP, v, w, a, alpha):
    """Forces and powers of the hexapod; R_WP world-from-platform."""
    joints = {leg: hexapod_geometry(leg)[3] for leg in "ABCDEF"}
    return forces(hexapod_leg, joints, HEXAPOD["mp"], np.diag([0.068, 0.068, 0.136]), G * U3, p, R_WP.T, v, w, a, alpha)
