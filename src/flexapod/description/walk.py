"""Walks along the schema: which type is at a path, and values of a document made plain by it."""

from __future__ import annotations

import types
from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from flexapod.description.schema import EulerAngles, Rotation
from flexapod.description.units import Quantity, Word, Written


@cache
def fields_of(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields of a model by the keys of the file."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def annotation_of(field: FieldInfo) -> Any:
    """The whole type of a field, with what pydantic took off it."""
    annotation: Any = field.annotation
    return Annotated[annotation, *field.metadata] if field.metadata else annotation


def alternatives(annotation: object) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """The types that a value may have, each with its marks; None is left out."""
    if annotation is type(None):
        return
    if get_origin(annotation) is Annotated:
        base, *marks = get_args(annotation)
        for inner, inner_marks in alternatives(base):
            yield inner, (*inner_marks, *marks)
    elif get_origin(annotation) in (Union, types.UnionType):
        for option in get_args(annotation):
            yield from alternatives(option)
    else:
        yield annotation, ()


def model_of(annotation: object) -> type[BaseModel] | None:
    """The model among the alternatives."""
    for base, _ in alternatives(annotation):
        if isinstance(base, type) and issubclass(base, BaseModel):
            return base
    return None


def literals_of(annotation: object) -> tuple[Any, ...]:
    """The words that are allowed literally."""
    return tuple(v for base, _ in alternatives(annotation) if get_origin(base) is Literal for v in get_args(base))


def is_list(annotation: object) -> bool:
    """Whether a list is allowed there."""
    return any(get_origin(base) is list for base, _ in alternatives(annotation))


def step(annotation: object, key: str | int) -> Any:
    """The type behind one key or index; None where the schema says nothing."""
    for base, _ in alternatives(annotation):
        if isinstance(base, type) and issubclass(base, BaseModel):
            fields = fields_of(base)
            if key in fields:
                return annotation_of(fields[str(key)])
            return EulerAngles if base is Rotation else None
        if get_origin(base) is list and isinstance(key, int):
            return get_args(base)[0]
        if get_origin(base) is dict and isinstance(key, str):
            return get_args(base)[1]
    return None


def type_at(annotation: object, path: tuple[str | int, ...]) -> Any:
    """The type at a path; None where the schema says nothing."""
    for key in path:
        annotation = None if annotation is None else step(annotation, key)
    return annotation


def plain(value: object, annotation: object) -> Any:
    """A copy of a value with SI numbers for quantities and strings for names; what does not fit stays as it is."""
    if isinstance(value, dict):
        return {key: plain(item, step(annotation, key) if annotation is not None else None) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item, step(annotation, i) if annotation is not None else None) for i, item in enumerate(value)]
    if value is not None and annotation is EulerAngles:
        return plain([value], annotation)
    if value is not None and annotation is not None:
        for base, marks in alternatives(annotation):
            for mark in marks:
                if (isinstance(mark, Quantity) and base is float) or isinstance(mark, Word):
                    try:
                        return mark.convert(value)
                    except PydanticCustomError:
                        continue
    return float(value) if isinstance(value, Written) else value
