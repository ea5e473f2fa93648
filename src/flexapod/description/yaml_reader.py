"""YAML text to plain data by the core rules of YAML 1.2, with a line number for every path, in bounded time.

Built on PyYAML's events only: its own constructors follow YAML 1.1 (`no` is false, `1e-3` a string) and expand aliases
without limit. Mapping keys are always strings. Merge keys, unknown tags, cycles and duplicate keys are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from flexapod.description.problems import Path, Problem, RobotFileError, dotted
from flexapod.description.unit_parser import shorten
from flexapod.description.units import Written

LARGEST_FILE = 5_000_000
MOST_NODES = 200_000
DEEPEST = 50

_NULL = re.compile(r"null|Null|NULL|~|")
_TRUE, _FALSE = re.compile(r"true|True|TRUE"), re.compile(r"false|False|FALSE")
_INT, _OCTAL, _HEX = re.compile(r"[-+]?[0-9]+"), re.compile(r"0o[0-7]+"), re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INF, _NAN = re.compile(r"([-+]?)\.(inf|Inf|INF)"), re.compile(r"\.(nan|NaN|NAN)")
_TAGS = {f"tag:yaml.org,2002:{t}": t for t in ("str", "int", "float", "bool", "null", "map", "seq")}
_UNPRINTABLE = re.compile("[^\\t\\n\\r\\x20-\\x7e\\x85\\xa0-\\ud7ff\\ue000-\\ufefe\\uff00-\\ufffd\\U00010000-\\U0010ffff]")
Reported = Callable[[int, Path, str, str], None]
"""Takes line, path, what is wrong, hint."""

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, kw_only=True)
class Document:
    """A read document: plain data, and the line of every path."""

    data: dict[str, Any]
    lines: dict[Path, int]


@dataclass
class _Node:
    line: int
    kind: str
    value: Any = None
    children: list[tuple[str | int, _Node]] = field(default_factory=list)
    seen: dict[str, int] = field(default_factory=dict)
    key: tuple[str, int] | None = None
    size: int = 1
    depth: int = 1
    open: bool = True
    anchor: str | None = None


class _Refused(Exception):
    def __init__(self, line: int | None, path: Path, what: str, hint: str) -> None:
        super().__init__(what)
        self.line, self.path, self.what, self.hint = line, path, what, hint


def resolve_scalar(text: str) -> object:
    """The value of a plain scalar by the YAML 1.2 core schema."""
    if _NULL.fullmatch(text):
        return None
    if _TRUE.fullmatch(text):
        return True
    if _FALSE.fullmatch(text):
        return False
    if len(text) <= 40:
        if _INT.fullmatch(text):
            return int(text)
        if _OCTAL.fullmatch(text):
            return int(text[2:], 8)
        if _HEX.fullmatch(text):
            return int(text[2:], 16)
    if _FLOAT.fullmatch(text):
        return Written(float(text), text)
    if match := _INF.fullmatch(text):
        return float(match[1] + "inf")
    return float("nan") if _NAN.fullmatch(text) else text


def read_yaml(content: bytes | str, file: str) -> Document:
    """Read one YAML document whose top is a mapping.

    Args:
        content: the file's bytes (UTF-8) or text.
        file: its name in messages.

    Raises:
        RobotFileError: with every problem found.
    """
    problems: list[Problem] = []

    def report(line: int | None, path: Path, what: str, hint: str) -> None:
        problems.append(Problem(file=file, line=line, path=dotted(path), what=what, hint=hint))

    lines: dict[Path, int] = {}
    data: Any = None
    try:
        root = _compose(_text(content), report)
        if root is None or (root.kind == "scalar" and root.value[1] is None):
            raise _Refused(1, (), "the file is empty", "A robot file starts with `flexapod: 1`.")
        if root.kind != "map":
            raise _Refused(root.line, (), "the top must be a mapping of keys", "Start with `flexapod: 1`.")
        data = _expand(root, (), lines)
    except _Refused as refused:
        report(refused.line, refused.path, refused.what, refused.hint)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = " ".join(filter(None, [error.context, error.problem])) or "cannot be read"
        hint = "Check indentation, colons, brackets and quotes on this line and the one before."
        if "cannot start any token" in what:
            hint = "Indent with spaces, not tabs; put text with special characters in quotes."
        report(None if mark is None else mark.line + 1, (), f"not valid YAML: {what}", hint)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        what = str(getattr(error, "reason", error)).replace("\n", " ")
        report(_odd_line(content), (), f"not valid YAML: {shorten(what, 120)}", "Save the file as plain UTF-8 text.")
    if problems:
        raise RobotFileError(problems)
    return Document(data=data, lines=lines)


def _text(content: bytes | str) -> str:
    if len(content) > LARGEST_FILE:
        line = content[:LARGEST_FILE].count(b"\n" if isinstance(content, bytes) else "\n") + 1  # type: ignore[arg-type]
        raise _Refused(line, (), f"larger than {LARGEST_FILE // 10**6} MB", "A robot file is a few kilobytes of text.")
    try:
        if isinstance(content, bytes):
            return content.decode("utf-8-sig")
        content.encode("utf-8")
        return content.removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise _Refused(line, (), "is not UTF-8 text", "Save the file as UTF-8.") from None
    except UnicodeEncodeError as error:
        line = error.object[: error.start].count("\n") + 1
        raise _Refused(line, (), "is not UTF-8 text", "Save the file as UTF-8.") from None


def _odd_line(content: bytes | str) -> int:
    """Line of the first character that YAML does not allow; 1 if there is none."""
    text = content.decode("utf-8", "replace") if isinstance(content, bytes) else content
    found = _UNPRINTABLE.search(text.removeprefix("\ufeff"))
    return 1 if found is None else text.count("\n", 0, found.start()) + 1


def _events(text: str) -> Iterator[Any]:
    loader = _Loader(text)
    try:
        while loader.check_event():
            yield loader.get_event()
    finally:
        loader.dispose()


def _compose(text: str, report: Reported) -> _Node | None:
    """The tree of nodes; aliases point to the node they name. Sizes count what aliases expand to."""
    root: _Node | None = None
    stack: list[_Node] = []
    anchors: dict[str, _Node] = {}
    documents = nodes = 0
    for event in _events(text):
        line = event.start_mark.line + 1
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise _Refused(
                    line,
                    (),
                    "the file holds more than one document",
                    "Remove the line `---` and what follows.",
                )
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            node = stack.pop()
            node.open = False
            if stack:
                _attach(stack, node, report)
        elif isinstance(event, yaml.AliasEvent | yaml.ScalarEvent | yaml.CollectionStartEvent):
            if isinstance(event, yaml.AliasEvent):
                target = anchors.get(str(event.anchor))
                if target is None:
                    raise _Refused(
                        line,
                        _path(stack),
                        f"*{shorten(event.anchor)} has no anchor",
                        "Define it with & before.",
                    )
                if target.open:
                    raise _Refused(line, _path(stack), "refers to itself", "An alias may not lie inside its own anchor.")
                node = target
            else:
                node = _node(event, line, report, stack)
                if event.anchor is not None:
                    anchors[event.anchor] = node
            nodes += node.size
            if nodes > MOST_NODES:
                raise _Refused(
                    line,
                    _path(stack),
                    f"more than {MOST_NODES} values",
                    "Aliases count as what they represent.",
                )
            if len(stack) + node.depth > DEEPEST:
                raise _Refused(
                    line,
                    _path(stack),
                    f"nested deeper than {DEEPEST} levels",
                    "A robot file is rarely 10 deep.",
                )
            if node.open:
                stack.append(node)
            elif stack:
                _attach(stack, node, report)
            if root is None:
                root = node
    return root


def _node(event: yaml.ScalarEvent | yaml.CollectionStartEvent, line: int, report: Reported, stack: list[_Node]) -> _Node:
    tag = event.tag
    known = _TAGS.get(tag) if tag not in (None, "!") else ""
    if known is None:
        report(line, _path(stack), f"the tag {shorten(tag)} is not allowed", "Write plain values without tags.")
    if isinstance(event, yaml.MappingStartEvent):
        return _Node(line=line, kind="map")
    if isinstance(event, yaml.SequenceStartEvent):
        return _Node(line=line, kind="list")
    assert isinstance(event, yaml.ScalarEvent)
    text = event.value
    plain = (event.implicit[0] and tag is None) or known in ("int", "float", "bool", "null")
    value = resolve_scalar(text) if plain else text
    return _Node(line=line, kind="scalar", value=(text, value, plain), open=False)


def _attach(stack: list[_Node], node: _Node, report: Reported) -> None:
    """Put a finished node into the innermost open one."""
    parent = stack[-1]
    parent.size += node.size
    parent.depth = max(parent.depth, node.depth + 1)
    if parent.kind == "list":
        parent.children.append((len(parent.children), node))
        return
    if parent.key is not None:
        parent.children.append((parent.key[0], node))
        parent.key = None
        return
    if node.kind != "scalar":
        path = _path(stack)
        raise _Refused(
            node.line,
            path,
            "a key must be a word",
            "Write `key: value`; quote a value that starts with { or [.",
        )
    text, _, plain = node.value
    if text == "<<" and plain:
        report(
            node.line,
            (*_path(stack), text),
            "merge keys (<<) are not supported",
            "Use `legs.template` for what legs share.",
        )
    elif text in parent.seen:
        hint = f"It is already on line {parent.seen[text]}; keep one."
        report(node.line, (*_path(stack), text), "this key is given twice", hint)
    parent.seen.setdefault(text, node.line)
    parent.key = (text, node.line)


def _path(stack: list[_Node]) -> Path:
    """Path at which the next value will be."""
    path: list[str | int] = []
    for node in stack:
        if node.kind == "list":
            path.append(len(node.children))
        elif node.key is not None:
            path.append(node.key[0])
    return tuple(path)


def _expand(node: _Node, path: Path, lines: dict[Path, int]) -> Any:
    """Plain data, each alias a copy; the size was bounded while composing."""
    lines[path] = node.line
    if node.kind == "scalar":
        return node.value[1]
    if node.kind == "list":
        return [_expand(child, (*path, key), lines) for key, child in node.children]
    data: dict[str, Any] = {}
    for key, child in node.children:
        data[str(key)] = _expand(child, (*path, key), lines)
        lines[(*path, key)] = node.seen.get(str(key), child.line)
    return data
