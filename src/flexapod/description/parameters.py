"""The numbers of a description by dotted path: listed with unit and meaning, read, and changed into a new description."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError, PydanticUndefined

from flexapod.description.addresses import Address, Addresses, ParameterError, fixed_length
from flexapod.description.check_joint import misfit, own_unit
from flexapod.description.check_leg import SIGMA
from flexapod.description.merge import parts_of
from flexapod.description.plain_data import plain_data
from flexapod.description.problems import Path
from flexapod.description.read import Description, description_from_document
from flexapod.description.schema import Leg, RobotFile
from flexapod.description.shared_places import SharedPlaces
from flexapod.description.translate import translate_value
from flexapod.description.units import quantity_of, unit_of
from flexapod.description.variant import with_numbers, written
from flexapod.description.walk import fields_of, model_of, step, type_at

__all__ = ["ParameterError", "ParameterInfo", "get_parameter", "list_parameters", "set_parameters"]

Value = float | tuple[Any, ...]
_DIAGONAL = ("xx", "yy", "zz")


@dataclass(frozen=True, kw_only=True)
class ParameterInfo:
    """One parameter: its SI value (a number or a vector), its unit, and what it is."""

    value: Value
    unit: str
    doc: str


def list_parameters(description: Description) -> dict[str, ParameterInfo]:
    """Every number that the file gives, by dotted path: `legs.cylinder.mass` from the template, `legs.A...` from a leg."""
    document, places, words = description.document, description.addresses, SharedPlaces(description)
    found: dict[str, ParameterInfo] = {}

    def collect(prefix: str, data: object, root: object, place: Path, kind: str) -> None:
        for names, at, value in _leaves(data, type_at(root, place), place):
            found[".".join([prefix, *names]).lstrip(".")] = _info(root, at, value, kind)

    for key in fields_of(RobotFile):
        if key != "legs" and key in document:
            collect(key, document[key], RobotFile, (key,), "")
    template = places.template or {}
    for name, place in _parts(template):
        for names, at, value in _leaves(_at(template, place), type_at(Leg, place), place):
            if len(places.own_legs(at)) < len(places.legs):
                found[".".join(["legs", name, *names])] = _info(Leg, at, value, _kind(template, place))
    for leg, merged in places.merged.items():
        for name, place in _parts(merged.data):
            kind = _kind(merged.data, place)
            for names, at, value in _leaves(_at(merged.data, place), type_at(Leg, place), place):
                own = merged.origins.get(at, ())
                if own[:2] == ("legs", "each") and not words.replace(own):
                    found[".".join(["legs", leg, name, *names])] = _info(Leg, at, value, kind)
    return found | {text: ParameterInfo(value=p.value, unit=p.unit, doc=p.doc) for text, p in words.places.items()}


def get_parameter(description: Description, path: str) -> Value:
    """The value at a dotted path; the default where the file leaves it out.

    Raises:
        ParameterError: there is no such parameter, or it has no value.
    """
    if (shared := SharedPlaces(description).find(path)) is not None:
        return shared.value
    return _get(description.addresses, path)


def set_parameters(description: Description, values: Mapping[str, object]) -> Description:
    """A new description with other values: SI numbers, lists, or strings with a unit.

    A path of the template leaves legs alone that give their own value. Warnings are given again only where they are new.

    Raises:
        ParameterError: a path or the type of a value is wrong.
        RobotFileError: the values do not make a valid robot.
    """
    words = SharedPlaces(description)
    if description.written is not description.document or any(words.find(path) is not None for path in values):
        return _set_shared(description, values, words)
    document = description.document
    for path, value in values.items():
        places = description.addresses if document is description.document else Addresses(document)
        address = _single(places, path)
        document = written(document, places.document_path(address), _validated(places, address, value))
    return with_numbers(description, document)


def _single(places: Addresses, path: str) -> Any:
    """The one place of a path in the document."""
    address = places.find(path)
    if address.leg == "" and len(owners := places.own_legs(address.place)) == len(places.legs):
        hint = f"Set legs.{owners[0]}.{path.removeprefix('legs.')} and so on."
        raise ParameterError(path, "every leg gives its own value", hint)
    return address


def _set_shared(description: Description, values: Mapping[str, object], words: SharedPlaces) -> Description:
    """Set parameters, as `set_parameters`, of a file whose values refer to shared numbers: it is resolved again."""
    document, source = description.document, description.written
    for path, value in values.items():
        if (shared := words.find(path)) is not None:
            source = written(source, shared.path, shared.checked(value))
            continue
        places = Addresses(document)
        address = _single(places, path)
        given = _validated(places, address, value)
        document, source = (written(target, places.document_path(address), given) for target in (document, source))
    name, known = description.file.name, description.warnings
    return description_from_document(source, path=description.path, name=name, known=known)


def _get(places: Addresses, path: str) -> Value:
    address = places.find(path)
    value = _effective(places, address)
    if address.leg == "" and _at(places.root(""), address.place) is None and (owners := places.own_legs(address.place)):
        hint = f"Ask for legs.{owners[0]}.{path.removeprefix('legs.')} and so on."
        raise ParameterError(path, "the legs give their own values", hint)
    if value is None:
        raise ParameterError(path, "has no value in the file", "Set it first, or leave it out.")
    return _frozen(value if address.component is None else value[address.component])


def _effective(places: Addresses, address: Address) -> Any:
    """The value of the file, else the default of the schema; `diagonal` also from xx, yy and zz."""
    root = places.root(address.leg)
    value = _at(root, address.place)
    if value is None and address.place[-2:] == ("inertia", "diagonal"):
        inertia = _at(root, address.place[:-1]) or {}
        return [inertia.get(key, 0.0) for key in _DIAGONAL]
    if value is None:
        model = model_of(type_at(RobotFile if address.leg is None else Leg, address.place[:-1]))
        field = fields_of(model).get(str(address.place[-1])) if model else None
        value = None if field is None or field.default is PydanticUndefined else field.default
    return value


def _validated(places: Addresses, address: Address, value: object) -> Any:
    """The value as the schema has it; with one component changed, the whole vector."""
    value = plain_data({"value": value}, address.text)["value"]
    _refuse_other_motion(places, address, value)
    quantity = quantity_of(address.annotation)
    if address.component is None or quantity is None:
        if value is None:
            raise ParameterError(address.text, "must be a number, is empty", "Write a number.")
        try:
            return TypeAdapter(address.annotation).validate_python(value)
        except ValidationError as error:
            what, hint = translate_value(address.annotation, error.errors(include_url=False)[0])
            raise ParameterError(address.text, what, hint) from None
    vector = _effective(places, address)
    vector = list(vector) if vector is not None else [0.0] * fixed_length(address.annotation)
    try:
        vector[address.component] = quantity.convert(value)
    except PydanticCustomError as error:
        context = error.context or {}
        raise ParameterError(address.text, str(context["what"]), str(context["hint"])) from None
    return vector


def _refuse_other_motion(places: Addresses, address: Address, value: object) -> None:
    """Refuse a unit of the other motion: `3 N m` for the friction of a joint that slides."""
    if not address.part:
        return
    kind = _kind(places.root(address.leg), address.place[: address.part])
    for item in value if isinstance(value, list) else [value]:
        if wrong := misfit(item, str(address.place[-1]), kind):
            raise ParameterError(address.text, *wrong)


def _at(data: object, path: Path) -> Any:
    """The value at a path; None where there is none."""
    for key in path:
        if isinstance(data, dict):
            data = data.get(key)
        elif isinstance(data, list) and isinstance(key, int) and key < len(data):
            data = data[key]
        else:
            return None
    return data


def _parts(leg: Mapping[str, object]) -> Iterator[tuple[str, Path]]:
    """The frames and parts of a leg by their names in parameter paths; a table row once, by its body."""
    for key in ("frame", "platform_frame"):
        if key in leg:
            yield key, (key,)
    seen: set[Path] = set()
    for name, place in parts_of(leg).items():
        if place not in seen:
            seen.add(place)
            yield name, place


def _leaves(data: object, annotation: object, place: Path) -> Iterator[tuple[list[str], Path, Any]]:
    """Names below the start, place and value of every quantity; `diagonal` as xx, yy, zz."""
    if annotation is None or data is None:
        return
    if quantity_of(annotation) is not None:
        if not isinstance(data, str | dict):
            yield [], place, data
        return
    if place and place[-1] == "inertia" and isinstance(data, dict) and isinstance(data.get("diagonal"), list):
        for i, key in enumerate(_DIAGONAL):
            yield [key], (*place, "diagonal", i), data["diagonal"][i]
        data = {key: value for key, value in data.items() if key != "diagonal"}
    for key, value in data.items() if isinstance(data, dict) else ():
        for names, at, leaf in _leaves(value, step(annotation, key), (*place, key)):
            yield [key, *names], at, leaf


def _kind(leg: Mapping[str, object], place: Path) -> str:
    """The type of the joint at a place of a leg; empty if there is none."""
    part = _at(leg, place)
    if not isinstance(part, dict):
        return ""
    return SIGMA[part.get("sigma") or 0] if place[0] == "table" else str(part.get("type", ""))


def _info(root: object, place: Path, value: object, kind: str) -> ParameterInfo:
    if place[-2:-1] == ("diagonal",):
        place = (*place[:-2], _DIAGONAL[int(place[-1])])
    owner = next(i for i in range(len(place) - 1, -1, -1) if model_of(type_at(root, place[:i])))
    model = model_of(type_at(root, place[:owner]))
    field = fields_of(model).get(str(place[owner])) if model else None
    unit = unit_of(type_at(root, place))
    unit = own_unit(str(place[owner]), kind) or unit
    doc = (field.description if field else None) or ("Euler angles" if field is None else str(place[owner]))
    return ParameterInfo(value=_frozen(value), unit=unit, doc=doc)


def _frozen(value: Any) -> Value:
    return tuple(_frozen(v) for v in value) if isinstance(value, list | tuple) else float(value)
