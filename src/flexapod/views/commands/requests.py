"""Requests of the design commands: the arguments of a verb from a YAML file and from options, checked by name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any

import flexapod as fp
from flexapod.errors import did_you_mean
from flexapod.files import read_whole
from flexapod.views.commands.options import named

LARGEST_FILE = 5_000_000
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)[eE][-+]?[0-9]+")
"""Numbers that YAML 1.1 takes for texts: 1e-3, 2E7."""


def request_of(file: Path | None, verb: Callable[..., object], **options: object) -> dict[str, Any]:
    """Arguments of a verb: those of the file, and on top of them the options that were given.

    Checked by: tests/views/test_cli_design.py.
    """
    given = {} if file is None else _read(file)
    known = list(inspect.signature(verb).parameters)[1:]  # the robot is the argument of the command
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known, "there are", after=" There are")
            raise fp.InputError(f"{file}: {verb.__name__} has no argument {name!r}; {hint}: {', '.join(known)}")
    return given | {name: value for name, value in options.items() if value is not None}


def needed(given: Mapping[str, object], **options: str) -> None:
    """Refuse a request without an argument, naming the option that gives it."""
    for name, option in options.items():
        if name not in given:
            how = f"give {option}, or a --request file with {name}" if option else f"give a --request file with {name}"
            raise fp.InputError(f"{name}: missing; {how}")


def with_limits(given: Mapping[str, object], vary: list[str]) -> dict[str, Any]:
    """The request with the variables of `--vary`."""
    if not vary:
        return dict(given)
    limits = {}
    for name, value in named("--vary", vary).items():
        limits[name] = tuple(value.split(":"))
        if len(limits[name]) != 2:
            raise fp.InputError(f"--vary {name}={value}: expected PATH=LOW:HIGH, e.g. --vary platform.mass=20:100")
    of_file = given.get("variables", {})
    if not isinstance(of_file, Mapping):
        raise fp.InputError("variables: the request file has no mapping of paths to limits, e.g. platform.mass: [20, 100]")
    return {**given, "variables": {**of_file, **limits}}


def _read(path: Path) -> dict[str, Any]:
    import yaml

    class Loader(yaml.SafeLoader):
        """Numbers as in robot files; a key that is written twice is refused."""

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
            keys = [key.value for key, _ in node.value]
            double = [key for key, _ in node.value if keys.count(key.value) > 1]
            if double:
                line, key = double[-1].start_mark.line + 1, double[-1].value
                raise fp.InputError(f"{path}, line {line}: the key {key!r} is written twice")
            return super().construct_mapping(node, deep=deep)

    Loader.add_implicit_resolver("tag:yaml.org,2002:float", FLOAT, list("-+.0123456789"))
    try:
        data = yaml.load(read_whole(path, LARGEST_FILE), Loader)
    except yaml.YAMLError as error:
        raise fp.InputError(f"{path}: is not valid YAML: {_in_one_line(error)}") from None
    if not isinstance(data, dict) or any(not isinstance(key, str) for key in data):
        raise fp.InputError(f"{path}: expected a mapping of arguments, e.g. variables: ..., criteria: ...")
    return data


def _in_one_line(error: Exception) -> str:
    """What is wrong and where, of a YAML error."""
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    if mark is None or problem is None:
        return str(error).splitlines()[0]
    return f"line {mark.line + 1}: {problem}"
