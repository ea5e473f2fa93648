"""The part of the schema that makes a body flexible, and the base of every part of the file."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from flexapod.description.units import Angle, Area, AreaMoment, Density, Fraction, Length, LengthSize, Size, Stress

Flag = Annotated[bool, Field(strict=True)]
Text = Annotated[str, Field(strict=True)]


class Model(BaseModel):
    """Base of every part of the file: unknown keys are refused, values are frozen."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Section(Model):
    """Cross-section of a beam."""

    shape: Literal["rectangle", "box", "tube", "i", "t", "l", "general"] = Field(description="shape of the section")
    width: Size | None = Field(default=None, description="size along the body's y axis")
    height: Size | None = Field(default=None, description="size along the body's z axis")
    outer: Size | None = Field(default=None, description="outer diameter of a tube")
    inner: LengthSize | None = Field(default=None, description="inner diameter of a tube; 0 or left out: a round bar")
    wall: Size | None = Field(default=None, description="wall thickness of a box or L section")
    flange: Size | None = Field(default=None, description="flange thickness of an I or T section")
    web: Size | None = Field(default=None, description="web thickness of an I or T section")
    area: Area | None = Field(default=None, description="area, general section")
    iy: AreaMoment | None = Field(default=None, description="second moment about y, general section")
    iz: AreaMoment | None = Field(default=None, description="second moment about z, general section")
    torsion: AreaMoment | None = Field(default=None, description="torsion constant, general section")
    shear_y: Fraction | None = Field(default=None, description="shear coefficient along y, general section (5/6)")
    shear_z: Fraction | None = Field(default=None, description="shear coefficient along z, general section (5/6)")
    fibre_y: Size | None = Field(default=None, description="farthest fibre along y, general section: for stresses")
    fibre_z: Size | None = Field(default=None, description="farthest fibre along z, general section: for stresses")


class Rayleigh(Model):
    """Damping in proportion to mass and stiffness of a flexible body."""

    mass: Fraction = Field(
        default=0.0, description="factor of the mass matrix [1/s]; a beam of several elements needs `modes` as well"
    )
    stiffness: Fraction = Field(default=0.0, description="factor of the stiffness matrix [s]")


class Reduction(Model):
    """Reduction of a plate to elastic coordinates."""

    method: Literal["normal", "craig-bampton", "residual"] | None = Field(
        default=None,
        description="normal (default): free modes; craig-bampton (default of a link): modes with joints and points held, and "
        "the static deflections of these; residual: free modes, and static deflections under loads there",
    )
    boundary: Literal["free", "pinned", "clamped"] = Field(
        default="free", description="outline of the plate in its modes; free for links"
    )


def _sizes(section: Section) -> dict[str, float]:
    return {name: value for name, value in section.model_dump(exclude={"shape"}).items() if value is not None}


class Flexible(Model):
    """A flexible body: a beam along its own x axis, a plate in its own xy plane, or a file of modes; any link or the platform."""

    type: Literal["beam", "plate", "modes"] = Field(description="kind of flexible body")
    length: Size | None = Field(default=None, description="beam: length along the body's x axis, or along its arc")
    bend: Angle | None = Field(
        default=None,
        description="curved beam: angle of its arc, about the body's z axis; x is its tangent at the root. Straight elements "
        "have their ends on the arc; what is attached at d along it has the axes of the tangent there",
    )
    elements: Annotated[int, Field(ge=1, le=1000, strict=True)] = Field(default=1, description="beam: number of elements")
    section: Section | None = Field(default=None, description="beam: cross-section, of a tapered beam at its root")
    tip_section: Section | None = Field(
        default=None, description="tapered beam: cross-section at the tip; sizes change linearly from root to tip"
    )
    theory: Literal["euler-bernoulli", "timoshenko", "exact", "kirchhoff", "mindlin"] | None = Field(
        default=None,
        description="beam: euler-bernoulli (default), timoshenko (shear) or exact (shear, large rotations of every element); "
        "plate: kirchhoff or mindlin",
    )
    stiffening: Flag | None = Field(
        default=None,
        description="beam: axial load stiffens or softens bending (default true); false: the papers' linear elements; "
        "plate: loads in its plane stiffen or soften bending (default false); "
        "file of modes: as the file has it (`attach_geometric`)",
    )
    outline: list[Annotated[list[Length], Field(min_length=2, max_length=2)]] | None = Field(
        default=None, description="plate: corners in order, in the body's xy plane"
    )
    thickness: Size | None = Field(default=None, description="plate: thickness")
    material: Text | None = Field(default=None, description="name of a material, instead of young, poisson and density")
    young: Stress | None = Field(default=None, description="Young's modulus")
    poisson: Fraction | None = Field(default=None, description="Poisson's ratio")
    density: Density | None = Field(default=None, description="mass per volume")
    modes: Annotated[int, Field(ge=0, le=1000, strict=True)] | None = Field(
        default=None,
        description="number of elastic modes kept (plate: 10, of a plate that is a link: 4, with what is attached held); of a "
        "beam: its elements are reduced to the coordinates of the tip and this number of modes between root and tip",
    )
    reduction: Reduction | None = Field(
        default=None, description="plate: method and boundary of its modes (of a plate that is a link: craig-bampton)"
    )
    damping: Fraction | None = Field(
        default=None, description="damping ratio of the modes of the body, of a beam of each element, with its frame held"
    )
    rayleigh: Rayleigh | None = Field(default=None, description="instead of damping: in proportion to mass and stiffness")
    loss_factor: Fraction | None = Field(
        default=None,
        description="instead of damping: structural, ratio loss_factor / 2 of the body's modes; of a beam of several elements in "
        "proportion to stiffness, with that ratio at the beam's first frequency, root held",
    )
    file: Text | None = Field(default=None, description="modes: file beside the robot file (.npz)")

    def sizes_at(self, place: float) -> dict[str, float]:
        """Sizes of a beam's section at a place, 0 at the root and 1 at the tip, by the names of the file."""
        sizes = {} if self.section is None else _sizes(self.section)
        if self.tip_section is not None:
            tip = _sizes(self.tip_section)
            sizes = {name: (1.0 - place) * value + place * tip[name] for name, value in sizes.items()}
        return sizes
