"""Markdown of the public names, from signatures and docstrings: what tools/make_api_reference.py writes into docs/reference.

A docstring has a summary, sections (Args, Attributes, Returns, Raises, Warns) of indented entries, and paragraphs; formulas are
`.. math::` blocks. Arguments that mean the same in every verb are described once, in COMMON.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import re
import sys
from collections.abc import Collection
from functools import cache
from typing import Any

import flexapod as fp

SECTIONS = {
    "Args": "Arguments",
    "Attributes": "Attributes",
    "Returns": "Returns",
    "Raises": "Raises",
    "Warns": "Warns",
}
COMMON = {
    "robot": "a `Robot`, as `load` returns it.",
    "on_error": '`"raise"` stops at the first invalid sample; `"mask"` returns `valid` and `reason` per sample instead.',
    "parameters": "designs: paths of the robot file to arrays of values, one per design.",
    "point": "named point of the platform where the load acts; the platform frame's origin if left out.",
    "axes": '`"world"` or `"platform"`: axes of the load.',
    "title": "of the figure.",
    "samples": "number of samples, both ends included.",
}
"""Arguments that every verb takes in the same way; a docstring may say more."""

HEAD = re.compile(r"^(" + "|".join(SECTIONS) + r"):[ \t]*$", re.MULTILINE)
NAMED = re.compile(r"(?:^|[;.,] )((?:\*{0,2}\w+(?: \[[^\]]*\])?, )*\*{0,2}\w+)(?: \[[^\]]*\])?:(?=\s|$)", re.MULTILINE)
MATH = re.compile(r"^\.\. math::[ \t]*(.*(?:\n(?:[ \t]+\S.*|[ \t]*(?=\n[ \t]+\S)))*)", re.MULTILINE)


def find(path: str) -> Any:
    """The object of a public name, e.g. ``simulate``, ``Robot.with_parameters`` or ``motions.circle``."""
    found: Any = fp
    for part in path.split("."):
        found = inspect.getattr_static(found, part) if inspect.isclass(found) else getattr(found, part)
    return found.__func__ if isinstance(found, classmethod | staticmethod) else found


def docstring(found: Any) -> str:
    """Docstring of a class or function; of a table (a dict) the text below its assignment, and its keys."""
    if not isinstance(found, dict):
        return inspect.getdoc(found) or ""
    for module in [m for name, m in sys.modules.items() if name.startswith("flexapod.")]:
        for name in (name for name, value in vars(module).items() if value is found):
            body = ast.parse(inspect.getsource(module)).body
            for statement, text in itertools.pairwise(body):
                targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
                named = any(isinstance(target, ast.Name) and target.id == name for target in targets)
                if named and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                    return f"{text.value.value}\n\nKeys: {', '.join(f'``{key}``' for key in found)}."
    return ""


def unwrapped(text: str) -> str:
    """Lines of a paragraph as one."""
    return " ".join(line.strip() for line in text.strip().splitlines())


def markdown(text: str) -> str:
    """Paragraphs of a docstring as Markdown: literals with one backtick, formulas between dollars."""
    formulas: list[str] = []

    def keep(match: re.Match[str]) -> str:
        lines = [line.strip() for line in match[1].splitlines() if line.strip()]
        formulas.append("$$\n" + "\n".join(lines) + "\n$$")
        return f"\n\0{len(formulas) - 1}\0\n"

    text = MATH.sub(keep, text)
    text = re.sub(r":math:`([^`]*)`", r"$\1$", text)
    text = re.sub(r"``([^`]+)``", r"`\1`", text)
    paragraphs = [unwrapped(part) for part in re.split(r"\n\s*\n", text) if part.strip()]
    return re.sub("\0(\\d+)\0", lambda m: formulas[int(m[1])], "\n\n".join(paragraphs))


def sections(doc: str) -> tuple[str, dict[str, str], str]:
    """Text before the sections, the sections' bodies, and the text after and between them."""
    bodies: dict[str, str] = {}
    rest: list[str] = []
    heads = list(HEAD.finditer(doc))
    before = doc[: heads[0].start()] if heads else doc
    for k, head in enumerate(heads):
        text = doc[head.end() : heads[k + 1].start() if k + 1 < len(heads) else len(doc)].strip("\n")
        body = re.match(r"(?:[ ]{4}.*(?:\n|$)|\n(?=[ ]{4}))*", text)
        assert body is not None
        bodies[head[1]] = body[0].rstrip("\n")
        rest.append(text[body.end() :])
    return before, bodies, "\n\n".join(part.strip("\n") for part in rest if part.strip())


def entries(body: str) -> list[str]:
    """Entries of a section, each on one line."""
    lines: list[str] = []
    for line in body.splitlines():
        if line.startswith("     ") and lines:
            lines[-1] += " " + line.strip()
        elif line.strip():
            lines.append(line.strip())
    return lines


def documented(doc: str) -> dict[str, str]:
    """Argument -> the entry that describes it."""
    _, bodies, _ = sections(doc)
    found: dict[str, str] = {}
    for entry in entries(bodies.get("Args", "") or bodies.get("Attributes", "")):
        for names in NAMED.findall(entry):
            found |= dict.fromkeys(re.findall(r"\w+(?![^\[]*\])", names), entry)
    return found


def signature(path: str, found: Any) -> str:
    """A call with its defaults, as one writes it."""
    parts, star = [], False
    for name, p in inspect.signature(found).parameters.items():
        if name in ("self", "cls"):
            continue
        if p.kind is p.KEYWORD_ONLY and not star:
            star = True
            parts.append("*")
        prefix = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        star |= p.kind is p.VAR_POSITIONAL
        default = "" if p.default is p.empty else f"={default_text(p.default)}"
        parts.append(prefix + name + default)
    call = f"{path}({', '.join(parts)})"
    if len(call) > 110:
        call = f"{path}(\n    " + ",\n    ".join(parts) + ",\n)"
    return call


def default_text(value: Any) -> str:
    """A default as one writes it; factories of empty containers as such."""
    if type(value).__name__ == "_HAS_DEFAULT_FACTORY_CLASS":
        return "{}"
    return f"{value:.6g}" if isinstance(value, float) else repr(value).replace("'", '"')


@cache
def base_arguments(path: str) -> dict[str, str]:
    """Arguments that base classes describe."""
    found = find(path)
    return {} if not inspect.isclass(found) else {
        name: text for base in found.__mro__[1:] if base.__doc__ for name, text in documented(inspect.getdoc(base) or "").items()
    }  # fmt: skip


def arguments(path: str) -> tuple[list[str], list[str]]:
    """Entries of all arguments, described and common ones; and names of those that nothing describes."""
    found = find(path)
    doc = inspect.getdoc(found) or ""
    own, inherited = documented(doc), base_arguments(path)
    lines = entries(sections(doc)[1].get("Args", ""))
    missing = []
    for name in [n for n in inspect.signature(found).parameters if n not in ("self", "cls")]:
        if name in own:
            continue
        if name in inherited:
            lines += [inherited[name]] * (inherited[name] not in lines)
        elif name in COMMON:
            lines.insert(0 if name == "robot" else len(lines), f"{name}: {COMMON[name]}")
        else:
            missing.append(name)
    return lines, missing


def parted(entry: str, names: Collection[str]) -> list[str]:
    """An entry that describes several names, one after another, as an entry for each."""
    starts = [m.start() for m in NAMED.finditer(entry) if set(re.findall(r"\w+(?![^\[]*\])", m[1])) <= set(names)]
    if len(starts) < 2 or starts[0]:
        return [entry]
    *parts, last = [entry[a:b].lstrip(" ;,.") for a, b in itertools.pairwise([*starts, len(entry)])]
    return [*(f"{part}." for part in parts), last]


def bullet(entry: str) -> str:
    """An entry as a list item, its names in bold code."""
    match = NAMED.match(entry)
    if not match:
        return f"- {markdown(entry)}"
    names = re.sub(r"(\w+)(?![^\[]*\])", r"`\1`", match[1].replace("*", ""))
    return f"- **{names}**{entry[len(match[1]) : match.end() - 1]}: {markdown(entry[match.end() :])}"


def returned(found: Any) -> str:
    """The return type of a function, as its signature says it; empty where it says nothing."""
    if getattr(found, "__name__", "").endswith("_figure") and found.__name__ != "save_figure":
        return "plotly.graph_objects.Figure"
    text = str(inspect.signature(found).return_annotation) if inspect.isfunction(found) else ""
    text = re.sub(r"\b(?:xr|np)\.", "", text).replace("'", "").replace("AnyMotion", "Motion | ActuatorMotion")
    return "" if text in ("Any", "<class inspect._empty>") else text


def members(cls: type) -> list[str]:
    """Public methods and properties of a class, each with its first sentence."""
    lines = []
    for name in dir(cls):
        owner = next((base for base in cls.__mro__ if name in vars(base)), object)
        if name.startswith("_") or not owner.__module__.startswith("flexapod"):
            continue
        member = vars(owner)[name]
        member = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        function = getattr(member, "fget", None) or getattr(member, "func", None) or member
        if not inspect.isfunction(function):
            continue
        label = signature(name, function) if function is member else name
        lines.append(f"- `.{unwrapped(label)}`: {summary(function)}")
    return lines


def summary(found: Any) -> str:
    """First paragraph of a docstring in one line."""
    return markdown(docstring(found).split("\n\n")[0].split("\nChecked by")[0]).replace("\n", " ")


def entry(path: str, options: str = "") -> str:
    """Markdown of one name.

    Args:
        path: public name.
        options: ``result``: a class that verbs return, whose constructor is not called; ``plain``: without methods.
    """
    found = find(path)
    before, bodies, after = sections(docstring(found))
    parts = []
    error = inspect.isclass(found) and issubclass(found, BaseException)
    if callable(found) and not error and "result" not in options:
        parts.append(f"```text\n{signature('fp.' + path if '.' not in path or path[0].islower() else path, found)}\n```")
    parts.append(markdown(before))
    if callable(found) and not error:
        lines = entries(bodies.get("Args", "")) if "result" in options else arguments(path)[0]
        lines += entries(bodies.get("Attributes", ""))
        title = "Fields" if "result" in options else "Arguments"
        lines = [part for line in lines for part in parted(line, inspect.signature(found).parameters)]
        if lines:
            parts.append(f"**{title}**\n\n" + "\n".join(bullet(line) for line in lines))
        if "Returns" in bodies:
            parts.append(f"**Returns**\n\n{markdown(bodies['Returns'])}")
        elif text := returned(found):
            parts.append(f"**Returns** `{text}`.")
    for head in ("Raises", "Warns"):
        if head in bodies:
            parts.append(f"**{head}**\n\n" + "\n".join(bullet(line) for line in entries(bodies[head])))
    parts.append(markdown(after))
    if inspect.isclass(found) and not error and "plain" not in options and (lines := members(found)):
        parts.append("**Methods and properties**\n\n" + "\n".join(lines))
    return "\n\n".join(part for part in parts if part.strip())


def public_names() -> list[str]:
    """Every public name: those of the package, and of its three public modules."""
    names = []
    for name in fp.__all__:
        if inspect.ismodule(getattr(fp, name)):
            module = importlib.import_module(getattr(fp, name).__name__)
            names += [f"{name}.{inner}" for inner in module.__all__ if inner not in fp.__all__]
        else:
            names.append(name)
    return names
