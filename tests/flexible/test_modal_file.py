"""Modal files: the two reference files, writing and reading back, and every way a file can be wrong."""

from pathlib import Path

import numpy as np
import pytest
from bodies import DATA, HEXAGON, STRIP, random_body

from flexapod.flexible import (
    FlexibleBody,
    FlexibleBodyError,
    Interface,
    beam,
    from_matrices,
    from_modes,
    material,
    plate,
    save_modes,
)
from flexapod.flexible.beam_element import BeamElement
from flexapod.flexible.beams import BeamChain
from flexapod.flexible.body import replace_body
from flexapod.flexible.body_cache import CONSTANTS, pack
from flexapod.flexible.modal_file import INTEGRALS
from flexapod.flexible.shape_integrals import shape_integrals

PLATE, GENERIC = DATA / "gough-stewart-modes-plate.npz", DATA / "gough-stewart-modes-generic.npz"
ROUNDING = 1e-13
"""Relative, and of entries of the size of 1: sums over some two hundred nodes."""
PRINTED = 5e-5
"""[kg]: a mass with four decimals."""
DIGITS = 1e-9
"""Relative: a frequency with eleven digits."""


def test_the_plate_file() -> None:
    """Mass-normalised modes of a free plate: mass of the exact hexagon, unit modal masses, D = 2 * 0.4 * sqrt(K)."""
    body = from_modes(PLATE)
    assert body.mass == pytest.approx(73.0709, abs=PRINTED)
    assert np.allclose(body.M_ee, np.eye(10), rtol=0, atol=ROUNDING)
    assert body.angular_frequency[0] == pytest.approx(187.42274643, rel=DIGITS)
    assert np.allclose(np.diag(body.D_ee), 0.8 * np.sqrt(np.diag(body.K_ee)), rtol=ROUNDING, atol=0)
    assert np.allclose(body.interfaces["3"].r0, [0.5, 0.0, 0.0], rtol=0, atol=ROUNDING)
    with np.load(PLATE) as file:
        assert np.array_equal(body.interfaces["3"].Phi_d, file["attach_phi"][2])
    assert body.interfaces["3"].Phi_r is not None


def test_the_generic_file() -> None:
    """Shapes along all axes, with momentum, without rotations."""
    body = from_modes(GENERIC)
    assert body.mass == pytest.approx(73.069, rel=ROUNDING)
    assert np.allclose(body.angular_frequency, [150.0, 210.0, 320.0, 480.0, 700.0], rtol=ROUNDING, atol=0)
    assert np.abs(body.MS_de).max() > 1.0
    assert np.abs(body.lambda_).max() > 0.1
    assert body.interfaces["1"].Phi_r is None


def test_interfaces_by_position() -> None:
    body = from_modes(PLATE, interfaces={"tool": (0.0, 0.0, 0.0), "A": (-0.25, -0.25 * np.sqrt(3.0), 0.0)})
    assert list(body.interfaces) == ["tool", "A"]
    assert np.array_equal(body.interfaces["A"].Phi_d, from_modes(PLATE).interfaces["1"].Phi_d)
    with pytest.raises(FlexibleBodyError, match="interface tool must be at a node, but the nearest is"):
        from_modes(PLATE, interfaces={"tool": (0.0, 0.013, 0.0)})


def lumped(rotary: float, method: str = "normal") -> FlexibleBody:
    """A line of beam elements as matrices, with lumped masses and rotary inertia about all axes, or consistent mass (-1)."""
    element = BeamElement(length=0.1, section=STRIP, material=material("steel"), planar=False, shear=False)
    chain = BeamChain([element] * 5, True)
    lump = STRIP.area * 0.1 * 7850.0
    M = shape_integrals(chain.nodes).M_ee if rotary < 0 else np.diag(np.tile([lump] * 3 + [rotary * lump] * 3, 6))
    x = np.linspace(0.0, 0.5, 6)
    nodes = np.stack([x, 0 * x, 0 * x], axis=1)
    ends = {"root": 0, "tip": (0.5, 0.0, 0.0)}
    return from_matrices(M, chain.K, nodes, dofs_per_node=6, modes=5, method=method, interfaces=ends, damping=0.01)


def half_rotated() -> FlexibleBody:
    """Interfaces with and without rotations at nodes that have them, and the other way round."""
    body = beam(length=0.5, section=STRIP, material="steel", elements=2)
    tip = body.interfaces["tip"]
    return replace_body(body, interfaces={"bare": Interface(r0=tip.r0, Phi_d=tip.Phi_d), **body.interfaces})


def bare_nodes() -> FlexibleBody:
    body = random_body(np.random.default_rng(3))
    rotated = Interface(r0=np.ones(3), Phi_d=np.ones((3, 4)), Phi_r=2.0 * np.ones((3, 4)))
    return replace_body(body, interfaces={"turned": rotated, "bare": Interface(r0=np.zeros(3), Phi_d=np.ones((3, 4)))})


@pytest.mark.parametrize(
    "name",
    [
        "plate", "beam", "file", "sized", "consistent", "lumped", "lumped and rotary", "component", "tip", "planar", "kirchhoff",
        "half", "bare", "modeless",
    ],
)  # fmt: skip
def test_save_and_load(tmp_path: Path, name: str) -> None:
    body = {
        "consistent": lambda: lumped(-1.0),
        "lumped": lambda: lumped(0.0),
        "lumped and rotary": lambda: lumped(1e-4),
        "component": lambda: lumped(1e-4, "craig-bampton"),
        "tip": lambda: beam(length=0.5, section=STRIP, material="steel", damping=0.02),
        "planar": lambda: beam(length=0.5, section=STRIP, material="steel", planar=True, elements=2, theory="timoshenko"),
        "kirchhoff": lambda: plate(**HEXAGON, modes=3, mesh_size=0.3, theory="kirchhoff", point_masses=[(0.1, 0.1, 2.0)]),
        "half": half_rotated,
        "bare": bare_nodes,
        "modeless": lambda: plate(**HEXAGON, modes=0, mesh_size=0.3, theory="kirchhoff", interfaces={"A": (0.5, 0.0)}),
        "plate": lambda: plate(**HEXAGON, modes=3, mesh_size=0.2, interfaces={"A": (0.5, 0.0), "B": (0.1, 0.1, 0.02)}),
        "beam": lambda: beam(length=0.5, section=STRIP, material="steel", elements=2, modes=4, damping=0.02),
        "file": lambda: from_modes(GENERIC),
        "sized": lambda: _modal(random_body(np.random.default_rng(8), sized=True)),
    }[name]()
    save_modes(body, tmp_path / "body.npz")
    again = from_modes(tmp_path / "body.npz")
    assert_same(body, again)
    save_modes(again, tmp_path / "again.npz")
    assert_same(body, from_modes(tmp_path / "again.npz"))


def assert_same(body: FlexibleBody, again: FlexibleBody) -> None:
    """To the last bit, with names, interfaces and nodes."""
    assert pack(again).keys() == pack(body).keys()
    for key, value in pack(body).items():
        assert np.array_equal(value, pack(again)[key]), key


def test_a_file_without_integrals_sums_over_the_nodes(tmp_path: Path) -> None:
    body = beam(length=0.5, section=STRIP, material="steel", elements=2, modes=4, damping=0.02)
    save_modes(body, tmp_path / "body.npz")
    with np.load(tmp_path / "body.npz") as file:
        arrays = {name: file[name] for name in file.files if name not in (*INTEGRALS, "total_mass", "integrals_of", "names")}
    np.savez(tmp_path / "plain.npz", **arrays)
    again = from_modes(tmp_path / "plain.npz")
    assert again.mass == pytest.approx(body.mass, rel=ROUNDING)
    for constant in CONSTANTS:
        expected = getattr(body, constant)
        assert np.abs(getattr(again, constant) - expected).max() <= ROUNDING * max(np.abs(expected).max(), 1.0), constant


def test_integrals_of_other_nodes_are_refused(tmp_path: Path) -> None:
    save_modes(lumped(-1.0), tmp_path / "body.npz")
    with np.load(tmp_path / "body.npz") as file:
        arrays = {name: file[name] for name in file.files}
    np.savez(tmp_path / "heavy.npz", **(arrays | {"mass": 2.0 * arrays["mass"]}))
    with pytest.raises(FlexibleBodyError, match="integrals of the file belong to other nodes"):
        from_modes(tmp_path / "heavy.npz")
    del arrays["beta"]
    np.savez(tmp_path / "part.npz", **arrays)
    with pytest.raises(FlexibleBodyError, match="has MS_r but no beta: give all shape integrals or none"):
        from_modes(tmp_path / "part.npz")


@pytest.mark.parametrize("name", ["", " ", "a\0", "a\nb"])
def test_names_are_printable(tmp_path: Path, name: str) -> None:
    body = replace_body(bare_nodes(), interfaces={name: bare_nodes().interfaces["bare"]})
    with pytest.raises(FlexibleBodyError, match="interfaces must be printable"):
        save_modes(body, tmp_path / "body.npz")
    with pytest.raises(FlexibleBodyError, match="attach_names must be printable"):
        from_modes(broken(tmp_path, attach_names=np.array(["A", "B", "C", "D", "E", f"{name}\tF"])))


def _modal(body: object) -> object:
    return body.normal_modes()  # type: ignore[attr-defined]


def test_a_body_without_nodes_cannot_be_saved(tmp_path: Path) -> None:
    body = replace_body(random_body(np.random.default_rng(1)), nodes=None)
    with pytest.raises(FlexibleBodyError, match="has no nodes"):
        save_modes(body, tmp_path / "body.npz")


def broken(tmp_path: Path, **changes: object) -> Path:
    """The plate file with arrays replaced; None removes one."""
    with np.load(PLATE) as file:
        arrays = {name: file[name] for name in file.files}
    arrays |= changes
    path = tmp_path / "broken.npz"
    np.savez(path, **{name: value for name, value in arrays.items() if value is not None})
    return path


def plate_array(name: str) -> np.ndarray:
    with np.load(PLATE) as file:
        return np.array(file[name])


def shuffled(name: str) -> np.ndarray:
    return plate_array(name)[np.random.default_rng(0).permutation(len(plate_array(name)))]


WRONG = {
    "no masses": ({"mass": None}, "the modal file has no mass; it needs r0, mass, phi_d, omega"),
    "masses of other nodes": ({"mass": np.ones(5)}, r"mass must have the shape \(217\), has \(5,\)"),
    "axes and modes swapped": ({"phi_d": plate_array("phi_d").transpose(0, 2, 1)}, r"phi_d must have the shape \(217, 3, any\)"),
    "fewer frequencies": ({"omega": np.ones(9)}, r"omega must have the shape \(10\), has \(9,\)"),
    "negative mass": ({"mass": -plate_array("mass")}, "mass must not be negative, but node"),
    "no mass at all": ({"mass": np.zeros(217)}, "mass of the body must be positive"),
    "masses in grams": ({"mass": 1000.0 * plate_array("mass")}, "mass, phi_d and K do not fit omega: mode"),
    "not a number": ({"phi_d": np.full((217, 3, 10), np.nan)}, "phi_d must be finite"),
    "nodes in another order": ({"r0": shuffled("r0")}, "attach_r does not match node .* nodes are in another order"),
    "shapes in another order": (
        {"phi_d": plate_array("phi_d")[::-1], "mass": plate_array("mass")[::-1]},
        "attach_phi does not match node",
    ),
    "masses in another order": ({"mass": shuffled("mass")}, "do not fit omega"),
    "node numbers from one": ({"attach_idx": plate_array("attach_idx") + 1}, "attach_idx must be whole numbers of nodes from 0"),
    "node numbers shifted": ({"attach_idx": plate_array("attach_idx")[::-1]}, "attach_r does not match node"),
    "other stiffness": ({"K": 4.0 * plate_array("K")}, "do not fit omega"),
    "stiffness not symmetric": ({"K": np.diag(plate_array("K")) + np.triu(np.full((10, 10), 9e3), 1)}, "K_ee must be symmetric"),
    "rotations of other nodes": ({"phi_r": np.zeros((3, 3, 10))}, "phi_r must have the shape"),
    "negative frequency": ({"omega": -plate_array("omega")}, "omega must not be negative"),
    "names": ({"attach_names": np.array(["A", "A", "B", "C", "D", "E"])}, "attach_names must be 6 different names"),
    "triangles": ({"triangles": np.array([[0, 1, 999]])}, "triangles must be"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files(tmp_path: Path, name: str) -> None:
    changes, text = WRONG[name]
    path = broken(tmp_path, **changes)
    with pytest.raises(FlexibleBodyError, match=text) as caught:
        from_modes(path)
    assert str(path) in str(caught.value)


def test_files_that_are_no_modal_files(tmp_path: Path) -> None:
    with pytest.raises(FlexibleBodyError, match="there is no file"):
        from_modes(tmp_path / "missing.npz")
    (tmp_path / "text.npz").write_text("not a zip file")
    with pytest.raises(FlexibleBodyError, match="cannot be read as an npz file"):
        from_modes(tmp_path / "text.npz")
    np.save(tmp_path / "single.npy", np.zeros(3))
    with pytest.raises(FlexibleBodyError, match="is a single array"):
        from_modes(tmp_path / "single.npy")


def test_pickled_objects_are_not_run(tmp_path: Path) -> None:
    path = broken(tmp_path, omega=np.array([{"a": 1}], dtype=object))
    with pytest.raises(FlexibleBodyError, match="cannot be read as an npz file of plain arrays"):
        from_modes(path)
