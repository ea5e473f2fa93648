"""A description as readable YAML, which reads back to an equal description."""

from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path as FilePath
from typing import Any

import yaml

from flexapod.calls import check_path, checked
from flexapod.description.read import Description, check_description
from flexapod.description.yaml_reader import resolve_scalar
from flexapod.files import write_whole

_WIDTH = 110
_TAG = "tag:yaml.org,2002:"
_YAML_1_1: Any = yaml.resolver.Resolver()


class _Dumper(yaml.SafeDumper):
    """PyYAML's writer with the scalar rules of YAML 1.2."""

    def resolve(self, kind: type[yaml.Node], value: str | None, implicit: tuple[bool, bool] | bool) -> str:
        """The tag that a reader will see."""
        if kind is not yaml.ScalarNode or value is None or isinstance(implicit, bool):
            return _TAG + ("map" if kind is yaml.MappingNode else "seq")
        return _TAG + (_kind(resolve_scalar(value)) if implicit[0] else "str")

    def ignore_aliases(self, data: object) -> bool:
        """Anchors are never written."""
        return True


@checked(description=check_description)
def robot_text(description: Description) -> str:
    """The robot file as text; short vectors and mappings are on one line.

    Args:
        description: as `read_robot_file` returns it, or ``robot.description``.
    """
    text = yaml.serialize(_node(description.written, 0), Dumper=_Dumper, allow_unicode=True, width=_WIDTH, indent=2)
    return str(text)


@checked(description=check_description, path=check_path)
def write_robot_file(description: Description, path: str | os.PathLike[str]) -> None:
    """Write the robot file as a whole: readers see the old file or the new one, never a part.

    Args:
        description: as `read_robot_file` returns it, or ``robot.description``.
        path: of the file, replaced as a whole.
    Raises:
        FileError: the folder cannot be written; an existing file is then unchanged.
    """
    write_whole({FilePath(path): robot_text(description).encode("utf-8")})


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"
    return "float" if isinstance(value, float) else "str"


def _number(value: float) -> str:
    """The shortest text that reads back to the same number; whole numbers without a point, 74 GPa as 7.4e10."""
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    return repr(value) if abs(value) < 1e6 else str(Decimal(repr(value)).normalize()).lower().replace("e+", "e")


def _key_style(key: str) -> str | None:
    """Style of a key. Keys are always strings: only the key `<<`, and those that are no plain text, need quotes."""
    return None if isinstance(resolve_scalar(key), str) and key != "<<" else '"'


def _node(value: object, depth: int) -> yaml.Node:
    if isinstance(value, dict):
        pairs = [
            (yaml.ScalarNode(_TAG + "str", key, style=_key_style(key)), _node(item, depth + 1)) for key, item in value.items()
        ]
        return yaml.MappingNode(_TAG + "map", pairs, flow_style=not value or (depth > 0 and _fits(value, depth)))
    if isinstance(value, list):
        flow = all(isinstance(v, int | float) for v in value) or _fits(value, depth)
        items = [_node(item, depth + 1) for item in value]
        return yaml.SequenceNode(_TAG + "seq", items, flow_style=flow)
    if isinstance(value, str):
        # Words that YAML 1.1 takes for something else (no, on, 12:30) are quoted for other readers.
        plain = _YAML_1_1.resolve(yaml.ScalarNode, value, (True, False)) == _TAG + "str"
        return yaml.ScalarNode(_TAG + "str", value, style=None if plain and value.isprintable() else '"')
    if value is None:
        return yaml.ScalarNode(_TAG + "null", "null")
    if isinstance(value, bool):
        return yaml.ScalarNode(_TAG + "bool", "true" if value else "false")
    text = _number(float(value)) if isinstance(value, float) else str(value)
    return yaml.ScalarNode(_TAG + _kind(resolve_scalar(text)), text)


def _fits(value: object, depth: int) -> bool:
    """Whether a value is on one line, with room for its key."""
    return _length(value) + 2 * depth + 12 <= _WIDTH


def _length(value: object) -> int:
    if isinstance(value, dict):
        return 2 + sum(len(key) + 4 + _length(item) for key, item in value.items())
    if isinstance(value, list):
        return 2 + sum(2 + _length(item) for item in value)
    return len(str(value)) if not isinstance(value, float) else len(_number(value))
