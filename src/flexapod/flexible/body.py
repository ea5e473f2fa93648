r"""`FlexibleBody`: the one data type of a flexible body, whatever it comes from.

A free flexible body about the origin A of its own reference frame, in body axes. A material point is at
``r = r0 + Phi_d(r0) q_e`` (Briot 2014, Eq. 3) and moves with ``v = v_A + omega x r + Phi_d q_e'`` (Eqs. 1, 2). The letters are
those of Briot 2014 (Eqs. 53-60) and Long 2014 (Eq. 34); N is the number of elastic coordinates q_e.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flexapod.calls import refuse_kind
from flexapod.flexible.checked_arrays import Floats, checked_integer, floats, positive, symmetric
from flexapod.flexible.errors import FlexibleBodyError
from flexapod.flexible.interface import SYMMETRY
from flexapod.flexible.interface import Interface as Interface
from flexapod.flexible.shape_integrals import Nodes, ShapeIntegrals
from flexapod.rotation_arrays import skew


@dataclass(frozen=True, kw_only=True, eq=False)
class RigidData:
    """The body frozen in its undeformed shape: mass, centre of mass, inertia tensor about it and about the frame origin."""

    mass: float
    com: Floats
    inertia_com: Floats
    inertia_origin: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class FlexibleBody:
    """Constants of the generalized Newton-Euler model of a free flexible body, body axes, about the frame origin.

    Attributes:
        mass: m [kg].
        MS_r: (3,) first moments of the undeformed body [kg m], Eq. (56).
        MS_de: (3, N) columns: integral of phi_dk dm, Eq. (56).
        beta: (3, N) columns beta_k, integral of r0 x phi_dk dm, Eq. (58).
        lambda_: (N, N, 3), lambda_[k, i] = lambda_ki, integral of phi_dk x phi_di dm, Eq. (59).
        I_rr: (3, 3) inertia tensor of the undeformed body [kg m^2]; I_re: (N, 3, 3), integral of skew(r0)^T skew(phi_dk) dm;
            I_ee: (N, N, 3, 3), integral of skew(phi_di)^T skew(phi_dk) dm, Eq. (60).
        M_ee, K_ee, D_ee: (N, N) elastic mass, stiffness and damping.
        angular_frequency: (N,) of K_ee, M_ee: the body with its frame held [rad/s], ascending.
        interfaces: named points.
        names: N names of the coordinates.
        nodes: mass points and shapes behind the integrals, for pictures and files; None if the source has none.
        T_ee: (N, N, 3, 3) what the quadratic displacement of a stiffened body adds to its second moments, integral of the
            symmetric part of r0 Q_ik^T dm: spin stiffens the body; None without stiffening. Its first moments are zero.
        stretch: (R, N, N) matrices A_r of a stiffened body: stretching has the energy sum of (q_e^T A_r q_e / 2)^2 / 2; or None.

    Checked by: tests/flexible/test_flexible_body.py, tests/flexible/test_shape_integrals.py.
    """

    mass: float
    MS_r: Floats
    MS_de: Floats
    beta: Floats
    lambda_: Floats
    I_rr: Floats
    I_re: Floats
    I_ee: Floats
    M_ee: Floats
    K_ee: Floats
    D_ee: Floats
    interfaces: Mapping[str, Interface] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    nodes: Nodes | None = None
    T_ee: Floats | None = None
    stretch: Floats | None = None
    angular_frequency: Floats = field(init=False)

    def __post_init__(self) -> None:
        N = len(np.atleast_1d(self.M_ee))
        shapes = {
            "MS_r": (3,), "MS_de": (3, N), "beta": (3, N), "lambda_": (N, N, 3), "I_rr": (3, 3), "I_re": (N, 3, 3),
            "I_ee": (N, N, 3, 3), "M_ee": (N, N), "K_ee": (N, N), "D_ee": (N, N),
        }  # fmt: skip
        positive("mass", self.mass, "kg")
        for name, shape in shapes.items():
            object.__setattr__(self, name, floats(name, getattr(self, name), shape))
        for name in ("I_rr", "M_ee", "K_ee", "D_ee"):
            object.__setattr__(self, name, symmetric(name, getattr(self, name), SYMMETRY))
        names = tuple(self.names) or tuple(f"mode{k + 1}" for k in range(N))
        if len(names) != N or len(set(names)) != N:
            raise FlexibleBodyError(f"names must be {N} different names, one per coordinate, is {names}.")
        self._check_stiffening(N)
        for name, point in self.interfaces.items():
            if point.Phi_d.shape[1] != N:
                raise FlexibleBodyError(f"Interface {name} has {point.Phi_d.shape[1]} shapes, but the body has {N}.")
        if self.nodes is not None and self.nodes.Phi_d.shape[2] != N:
            raise FlexibleBodyError(f"The nodes have {self.nodes.Phi_d.shape[2]} shapes, but the body has {N}.")
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "interfaces", MappingProxyType(dict(self.interfaces)))
        self._check_moments()
        object.__setattr__(self, "angular_frequency", floats("angular_frequency", self._spectrum()[0], (N,)))

    def _check_stiffening(self, N: int) -> None:
        """Every interface has its quadratic displacement, or none has and T_ee is None."""
        without = [name for name, point in self.interfaces.items() if point.Q is None]
        if self.T_ee is not None:
            T = floats("T_ee", self.T_ee, (N, N, 3, 3))
            if np.abs(T - T.transpose(0, 1, 3, 2)).max(initial=0.0) > SYMMETRY * np.abs(T).max(initial=0.0):
                raise FlexibleBodyError("T_ee must be symmetric in its last two axes: it changes second moments alone.")
            object.__setattr__(self, "T_ee", T)
        if self.stretch is not None:
            A = floats("stretch", self.stretch, (None, N, N))
            object.__setattr__(self, "stretch", np.array([symmetric("stretch", each, SYMMETRY) for each in A]).reshape(-1, N, N))
            if self.T_ee is None:
                raise FlexibleBodyError("A body with stretch is stiffened: give T_ee and Q at every interface as well.")
        if (self.T_ee is not None and without) or (self.T_ee is None and len(without) < len(self.interfaces)):
            what = f"interface {without[0]} has no Q" if self.T_ee is not None else "T_ee is missing"
            raise FlexibleBodyError(f"A stiffened body has Q at every interface and T_ee, but {what}.")

    @property
    def stiffened(self) -> bool:
        """Whether in-plane loads and spin change its stiffness."""
        return self.T_ee is not None

    def unstiffened(self) -> FlexibleBody:
        """The body with linear displacements alone."""
        return replace_body(
            self, T_ee=None, stretch=None, interfaces={name: replace(p, Q=None, Q_r=None) for name, p in self.interfaces.items()}
        )

    def with_stiffening(
        self, geometric: Mapping[str, ArrayLike], spin: ArrayLike | None = None, stretch: ArrayLike | None = None,
        moments: Mapping[str, ArrayLike] | None = None,
    ) -> FlexibleBody:  # fmt: skip
        """The body with geometric stiffness from another program.

        Args:
            geometric: of every interface, (3, N, N) geometric stiffness per newton along x, y, z in these coordinates, the load
                balanced by the body's inertia (inertia relief), the body free.
            spin: (N, N, 3, 3) geometric stiffness of the loads dm (r_a e_b + r_b e_a) / 2; none if left out: spin then stiffens
                nothing.
            stretch: see the class.
            moments: (3, N, N) per newton metre about x, y, z at interfaces, balanced in the same way. A link of a leg takes that
                of its root: without it only loads along the line from its root to its tip stiffen it (`rooted_body`).

        Checked by: tests/flexible/test_plate_membrane.py, tests/robot/test_modal_links.py.
        """
        missing, N = [name for name in self.interfaces if name not in geometric], len(self.M_ee)
        unknown = [name for name in geometric if name not in self.interfaces]
        if missing or unknown:
            what = f"misses {missing[0]!r}" if missing else f"has {unknown[0]!r}, which the body has not"
            raise FlexibleBodyError(
                f"geometric must have every interface of the body ({', '.join(self.interfaces)}), but {what}."
            )
        rotating = {name: -floats(f"moments {name}", value, (3, N, N)) for name, value in (moments or {}).items()}
        strange = [name for name in rotating if name not in self.interfaces]
        if strange:
            raise FlexibleBodyError(f"moments has {strange[0]!r}; the body has the interfaces {', '.join(self.interfaces)}.")
        points = {
            name: replace(p, Q=-floats(f"geometric {name}", geometric[name], (3, N, N)), Q_r=rotating.get(name))
            for name, p in self.interfaces.items()
        }
        T = np.zeros((N, N, 3, 3)) if spin is None else -floats("spin", spin, (N, N, 3, 3))
        return replace_body(self, interfaces=points, T_ee=T, stretch=stretch)

    def geometric_stiffness(self, forces: Mapping[str, ArrayLike]) -> Floats:
        r"""Geometric stiffness :math:`K_G = -\sum f_a Q_a` (N, N) of forces (3,) [N] at named interfaces, body axes.

        Forces that are not in balance are balanced by the inertia of the accelerated body. Buckling: (K_ee + factor K_G) x = 0.
        Checked by: tests/flexible/test_plate_membrane.py.
        """
        if not self.stiffened:
            raise FlexibleBodyError("The body has no geometric stiffness: make it with stiffening=True.")
        total = np.zeros_like(self.K_ee)
        for name, force in forces.items():
            if name not in self.interfaces:
                raise FlexibleBodyError(f"The body has no interface {name!r}; it has {', '.join(self.interfaces)}.")
            Q = self.interfaces[name].Q
            assert Q is not None
            total = total - np.einsum("aij,a->ij", Q, floats(f"force at {name}", force, (3,)))
        return total

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "interfaces": dict(self.interfaces)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({**state, "interfaces": MappingProxyType(state["interfaces"])})

    def _check_moments(self) -> None:
        """I_re - I_re^T = -skew(beta), I_ee - I_ee^T = -skew(lambda): without these, Eqs. (53)-(55) do not keep the energy."""
        pairs = (("I_re", self.I_re, "beta", self.beta.T), ("I_ee", self.I_ee, "lambda_", self.lambda_))
        for name, tensor, axial_name, axial in pairs:
            error = np.abs(tensor - np.swapaxes(tensor, -1, -2) + skew(axial)).max(initial=0.0)
            if error > SYMMETRY * max(np.abs(tensor).max(initial=0.0), np.abs(axial).max(initial=0.0)):
                raise FlexibleBodyError(f"{name} and {axial_name} must be moments of the same shapes: {name} - {name}^T = -hat.")

    def _spectrum(self) -> tuple[Floats, Floats]:
        """Angular frequencies, ascending, and the mass-normalised modes (N, N) of M_ee, K_ee."""
        if len(self.M_ee) == 0:
            return np.zeros(0), np.zeros((0, 0))
        try:
            root = np.linalg.cholesky(self.M_ee)
        except np.linalg.LinAlgError:
            raise FlexibleBodyError("M_ee must be positive definite: a coordinate without inertia cannot be moved.") from None
        back = np.linalg.inv(root)
        values, vectors = np.linalg.eigh(back @ self.K_ee @ back.T)
        if values[0] < -SYMMETRY * max(values[-1], 0.0):
            raise FlexibleBodyError(f"K_ee must not be negative, but its lowest omega^2 is {values[0]:g} 1/s^2.")
        return np.sqrt(np.clip(values, 0.0, None)), back.T @ vectors

    # -- other coordinates, other damping -------------------------------------------------------------
    def with_damping(self, damping: float | ArrayLike) -> FlexibleBody:
        r"""The body with modal damping ratios (one, or one per mode in the order of `angular_frequency`) or a matrix (N, N).

        Ratios zeta_k give ``D_ee = M_ee V diag(2 zeta_k omega_k) V^T M_ee`` with the mass-normalised modes V: 2 d sqrt(k) for
        mass-normalised modes.

        Source: Long 2014, below Eq. (34). Checked by: tests/flexible/test_flexible_body.py::test_damping.
        """
        N = len(self.M_ee)
        given = np.asarray(damping, dtype=np.float64)
        if given.ndim == 2:
            D = symmetric("damping", floats("damping", given, (N, N)), SYMMETRY)
            if np.linalg.eigvalsh(D).min(initial=0.0) < -SYMMETRY * np.abs(D).max(initial=0.0):
                raise FlexibleBodyError("damping must not be negative: a damping matrix may not feed energy in.")
            return replace_body(self, D_ee=D)
        ratio = floats("damping", np.broadcast_to(given, (N,)) if given.ndim == 0 else given, (N,))
        if ratio.min(initial=0.0) < 0.0:
            raise FlexibleBodyError(f"damping must not be negative, is {ratio.min():g}.")
        omega, V = self._spectrum()
        MV = self.M_ee @ V
        return replace_body(self, D_ee=(MV * (2.0 * ratio * omega)) @ MV.T)

    def with_rayleigh(self, *, mass: float = 0.0, stiffness: float = 0.0) -> FlexibleBody:
        r"""The body with :math:`D_{ee} = a M_{ee} + b K_{ee}`: a = `mass` [1/s], b = `stiffness` [s].

        A mode of the body with its frame held has the ratio (a/omega + b omega)/2.
        Checked by: tests/flexible/test_damping_words.py.
        """
        if not (0.0 <= mass < np.inf and 0.0 <= stiffness < np.inf):
            raise FlexibleBodyError(f"rayleigh must not be negative, is mass {mass:g} 1/s, stiffness {stiffness:g} s.")
        return replace_body(self, D_ee=mass * self.M_ee + stiffness * self.K_ee)

    def with_loss_factor(self, loss: float) -> FlexibleBody:
        """The body with structural damping as viscous damping that takes the same energy at each resonance: ratios loss / 2.

        Checked by: tests/flexible/test_damping_words.py.
        """
        return self.with_damping(loss / 2.0)

    def transformed(self, basis: ArrayLike, names: Sequence[str] = ()) -> FlexibleBody:
        """The body in coordinates p with q_e = basis p, basis (N, n): another choice of shapes or fewer of them.

        Checked by: tests/flexible/test_flexible_body.py::test_transformed_energy.
        """
        V = floats("basis", basis, (len(self.M_ee), None))
        points = {name: p.transformed(V) for name, p in self.interfaces.items()}
        return FlexibleBody(
            mass=self.mass,
            MS_r=self.MS_r,
            MS_de=self.MS_de @ V,
            beta=self.beta @ V,
            lambda_=np.einsum("kix,ka,ib->abx", self.lambda_, V, V),
            I_rr=self.I_rr,
            I_re=np.einsum("kxy,ka->axy", self.I_re, V),
            I_ee=np.einsum("ikxy,ia,kb->abxy", self.I_ee, V, V),
            M_ee=V.T @ self.M_ee @ V,
            K_ee=V.T @ self.K_ee @ V,
            D_ee=V.T @ self.D_ee @ V,
            interfaces=points,
            names=tuple(names),
            nodes=None if self.nodes is None else self.nodes.transformed(V),
            T_ee=None if self.T_ee is None else np.einsum("ikxy,ia,kb->abxy", self.T_ee, V, V),
            stretch=None if self.stretch is None else np.einsum("rij,ia,jb->rab", self.stretch, V, V),
        )

    def truncated(self, modes: int | Sequence[int]) -> FlexibleBody:
        """The body with its first `modes` coordinates, or with those of the given numbers; the others are held at zero.

        For bodies in modal coordinates; a beam in tip coordinates is first put into `normal_modes`.
        """
        N = len(self.M_ee)
        if isinstance(modes, int | np.integer):
            chosen: Sequence[int] = range(checked_integer("modes", modes, 0))
        else:
            chosen = [checked_integer("modes", k, 0) for k in modes]
        if len(chosen) > N or any(k >= N for k in chosen):
            raise FlexibleBodyError(f"modes asks for coordinate {max(chosen) + 1}, but the body has {N}.")
        return self.transformed(np.eye(N)[:, list(chosen)], [self.names[k] for k in chosen])

    def normal_modes(self, modes: int | None = None) -> FlexibleBody:
        """The body in mass-normalised normal modes with the frame held, the lowest `modes` of them."""
        V = self._spectrum()[1]
        count = len(V) if modes is None else checked_integer("modes", modes, 0)
        if count > len(V):
            raise FlexibleBodyError(f"modes must be at most {len(V)}, the number of coordinates, is {count}.")
        return self.transformed(V[:, :count])

    def rigid(self) -> RigidData:
        """Mass, centre of mass and inertia of the undeformed body.

        Checked by: tests/flexible/test_flexible_body.py::test_rigid.
        """
        com = self.MS_r / self.mass
        steiner = skew(com).T @ skew(com) * self.mass
        return RigidData(mass=self.mass, com=com, inertia_com=self.I_rr - steiner, inertia_origin=self.I_rr)

    # -- energies, for tests and balances ---------------------------------------------------------------
    def mass_matrix(self, elastic: ArrayLike) -> Floats:
        r"""Mass matrix (6 + N, 6 + N) for (v_A, omega, q_e'), body axes, in the deformed state q_e.

        .. math::
            M = \begin{bmatrix} m 1 & \widehat{MS}^T & MS_{de} \\ \widehat{MS} & I & MS_{re} \\
            MS_{de}^T & MS_{re}^T & M_{ee} \end{bmatrix}

        Column k of MS_re is ``beta_k + sum_i lambda_ik q_ei``, with the indices of Eq. (59).
        Source: Briot 2014, Eqs. (56), (57), (60), (64). Checked by: tests/flexible/test_shape_integrals.py.
        """
        q = floats("elastic", elastic, (len(self.M_ee),))
        MS = skew(self.MS_r + self.MS_de @ q)
        MS_re = self.beta + np.einsum("ikx,i->xk", self.lambda_, q)
        I_re = np.einsum("kxy,k->xy", self.I_re, q)
        I_q = self.I_rr + I_re + I_re.T + np.einsum("ikxy,i,k->xy", self.I_ee, q, q)
        if self.T_ee is not None:
            T = np.einsum("ikxy,i,k->xy", self.T_ee, q, q)
            I_q = I_q + np.trace(T) * np.eye(3) - T
        top = np.hstack([self.mass * np.eye(3), MS.T, self.MS_de])
        middle = np.hstack([MS, I_q, MS_re])
        return np.vstack([top, middle, np.hstack([self.MS_de.T, MS_re.T, self.M_ee])])

    def kinetic_energy(
        self, *, velocity: ArrayLike, angular_velocity: ArrayLike, elastic: ArrayLike, elastic_velocity: ArrayLike
    ) -> float:
        """Kinetic energy [J] from the twist of the frame (body axes) and the elastic state."""
        N = len(self.M_ee)
        v = floats("velocity", velocity, (3,))
        w = floats("angular_velocity", angular_velocity, (3,))
        x = np.concatenate([v, w, floats("elastic_velocity", elastic_velocity, (N,))])
        return float(0.5 * x @ self.mass_matrix(elastic) @ x)

    def potential_energy(self, elastic: ArrayLike) -> float:
        """Elastic energy q_e^T K_ee q_e / 2, of a stiffened body with that of stretching [J]."""
        return float(self.elastic_energies(floats("elastic", elastic, (len(self.M_ee),))[None])[0])

    def elastic_energies(self, elastic: Floats) -> Floats:
        """Elastic energy (n,) [J] of n samples (n, N)."""
        energy: Floats = np.einsum("ni,ij,nj->n", elastic, self.K_ee, elastic) / 2.0
        if self.stretch is not None:
            energy = energy + (np.einsum("ni,rij,nj->nr", elastic, self.stretch, elastic) ** 2).sum(axis=1) / 8.0
        return energy

    def elastic_forces(self, elastic: Floats) -> Floats:
        """Derivative of the elastic energy (n, N) of n samples (n, N)."""
        force: Floats = elastic @ self.K_ee
        if self.stretch is not None:
            own = np.einsum("rij,nj->nri", self.stretch, elastic)
            force = force + np.einsum("nri,ni,nrj->nj", own, elastic, own) / 2.0
        return force


def replace_body(body: FlexibleBody, **changes: object) -> FlexibleBody:
    """A copy of the body with some fields changed; everything is checked again."""
    return replace(body, **changes)  # type: ignore[arg-type]


def body_from_integrals(
    integrals: ShapeIntegrals,
    *,
    K_ee: Floats,
    D_ee: Floats | None = None,
    interfaces: Mapping[str, Interface] | None = None,
    names: Sequence[str] = (),
    nodes: Nodes | None = None,
    T_ee: Floats | None = None,
    stretch: Floats | None = None,
) -> FlexibleBody:
    """A body from its shape integrals and its stiffness; undamped unless D_ee is given."""
    constants = {f.name: getattr(integrals, f.name) for f in fields(integrals)}
    D = np.zeros_like(K_ee) if D_ee is None else D_ee
    return FlexibleBody(
        **constants, K_ee=K_ee, D_ee=D, interfaces=interfaces or {}, names=tuple(names), nodes=nodes, T_ee=T_ee,
        stretch=stretch,
    )  # fmt: skip


def check_body(name: str, value: object) -> None:
    """Refuse an argument that is not a flexible body."""
    if not isinstance(value, FlexibleBody):
        refuse_kind(name, "a FlexibleBody of flexapod.flexible", value)
