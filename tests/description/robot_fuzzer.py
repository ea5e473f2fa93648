"""Wrong, odd and hostile robot files, made from valid ones by a seeded generator.

`fuzzed_documents(seed, count)` yields (name, text): mutations of values, keys, references and units in the document, and of
the text itself (bombs, cycles, tags, truncation). The same seed gives the same files.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

import flexapod
from flexapod.description.yaml_reader import read_yaml

DATA = Path(__file__).parent / "data"
CATALOGUE = Path(flexapod.__file__).parent / "robots"
MECHANISMS = Path(__file__).parents[1] / "data" / "mechanisms"

ODD_VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2, -0.0, 1e-300, 1e30, 1e31, -1e31, 1e308, float("inf"), float("-inf"), float("nan"),
    10**30, 10**400, "", " ", "abc", "no", "5", "5 mm", "-5 mm", "30 deg", "1e999 m", "1e-999999999 m", "3 furlongs", "5 kg",
    "210 GPa", "5 m^99", "5 m/", "mm", "5 N/m s", "platform", "base", "A.cylinder", "1.13", "a.b.c", "../x", "\u0000", "\u2028",
    "ü" * 70, "x" * 5000, "9" * 5000, [], {}, [[]], [{}], [1], [1, 2], [0, 0, 0], [1, 2, 3], [0, 0, 1], [1, 2, 3, 4],
    ["a", "b", "c"], [None] * 3, ["1 mm", "1 deg", "1 kg"], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [1e200, 1e200, 1e200],
    {"a": 1}, {"type": "fixed"}, {"x": {"y": {"z": {}}}}, {"diagonal": [1, 1, 1], "xx": 1}, {"matrix": [[1, 0, 0]] * 3},
    {"quat_wxyz": [1, 1, 1, 1]}, {"XYZ": [1, 2, 3]}, {"xx": [1, 2]}, {"XyZ": [1, 2, 3]}, {"axis": [0, 0, 0], "angle": 1},
    {"axis": [0, 0, 1], "angle": "30 deg"}, {"toward_x": [0, 0, 1], "toward_z": [0, 0, 2]},
]  # fmt: skip
KEYS = [
    "mass", "com", "inertia", "axis", "axis1", "axis2", "axis_on", "at", "on", "direction", "cross", "rotation", "from", "to",
    "type", "friction", "limits", "flexible", "points", "frames", "table", "joints", "bodies", "frame", "branch", "body",
    "zero", "start", "actuated", "base_parameters", "diagonal", "xx", "stroke", "file", "sigma", "mu", "after", "plane",
    "template", "each", "masss", "Axis", "", "a b", "a.b", "q1", "platform", "base", "<<", "~", "ключ", "k" * 100,
]  # fmt: skip
TYPES = ["revolute", "prismatic", "universal", "spherical", "cylindrical", "fixed", "hinge"]
FILES = [
    "modes.npz", "../modes.npz", "/etc/passwd", "a/../../b.npz", "~/x.npz", "C:\\x.npz", "..\\x.npz", "./x.npz", "a//b.npz",
    "x.npz\u0000.txt", ".npz", "sub/modes.npz", "/dev/zero", "file:///etc/passwd", "x" * 300 + ".npz", "..", ".", "",
]  # fmt: skip
FLEXIBLE: list[dict[str, Any]] = [
    {"type": "beam", "length": 1, "young": 7e9, "density": 2e3, "section": {"shape": "tube", "outer": 1, "inner": 2}},
    {"type": "plate", "outline": [[0, 0], [1, 0], [1, 1]], "thickness": 1, "young": 2e11, "poisson": 0, "density": 8e3},
    {"type": "plate", "outline": [[0, 0], [1, 0], [2, 0]], "thickness": 0, "young": -1, "poisson": 0.7},
    {"type": "modes", "file": "modes.npz", "outline": []},
    {"type": "beam"},
]
LINES = [
    "x: !!python/object/apply:os.system ['true']", "x: !include /etc/passwd", "<<: {a: 1}", "<<: *nothing", "--- \nb: 2",
    "\tx: 1", "name: again", "x: &a [*a]", "? [1, 2]\n: 3", "x: {", "x: ]", "'", '"', "%YAML 9.9", "x: \x07",
    "&a : *a", "- 1", "...",
    "x: |", "x: &b {y: &c {z: *b}}", "*a : 1", "!!map x: 1", "? {a: 1} : 2", "@", "`", "x: y: z", ": :", "{}: 1",
]  # fmt: skip


def valid_texts() -> dict[str, str]:
    """The catalogue, one small file of each kind, and mechanisms with every word of loops, couplings and flexible links."""
    files = sorted(DATA.glob("*.yaml")) + sorted(CATALOGUE.glob("*.yaml")) + sorted(MECHANISMS.glob("*.yaml"))
    return {path.stem: path.read_text(encoding="utf-8") for path in files}


def fuzzed_documents(seed: int, count: int) -> Iterator[tuple[str, str]]:
    """Mutated robot files as (name, text); the same for the same seed and the same valid files."""
    rng = random.Random(seed)
    texts = valid_texts()
    documents = {name: read_yaml(text, name).data for name, text in texts.items()}
    for i in range(count):
        stem = rng.choice(list(texts))
        if rng.random() < 0.2:
            mutate_text = rng.choice(TEXT_MUTATIONS)
            yield f"{i}-{stem}-{mutate_text.__name__}", mutate_text(rng, texts[stem])
            continue
        document = copy.deepcopy(documents[stem])
        names = []
        for _ in range(rng.choice([1, 1, 1, 2, 5])):
            mutate = rng.choice(DOCUMENT_MUTATIONS)
            mutate(rng, document)
            names.append(mutate.__name__)
        yield f"{i}-{stem}-{'-'.join(names)}", dump(document)


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def _float(dumper: yaml.SafeDumper, value: float) -> yaml.Node:
    text = {"inf": ".inf", "-inf": "-.inf", "nan": ".nan"}.get(str(float(value)), repr(float(value)))
    return dumper.represent_scalar("tag:yaml.org,2002:float", text)


_Dumper.add_multi_representer(float, _float)


def dump(document: Any) -> str:
    """The document as YAML."""
    return str(yaml.dump(document, Dumper=_Dumper, allow_unicode=True, sort_keys=False, default_flow_style=None))


def places(data: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of the document."""
    found: list[tuple[Any, Any]] = []
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        found.append((data, key))
        found += places(value)
    return found


def pick(rng: random.Random, document: Any, want: Callable[[Any, Any], bool] = lambda owner, key: True) -> tuple[Any, Any]:
    """A random place that fits; a dummy one if none does."""
    fitting = [(owner, key) for owner, key in places(document) if want(owner, key)]
    return rng.choice(fitting) if fitting else ({"dummy": 0}, "dummy")


def replace(rng: random.Random, document: Any) -> None:
    owner, key = pick(rng, document)
    owner[key] = copy.deepcopy(rng.choice(ODD_VALUES))


def scale(rng: random.Random, document: Any) -> None:
    owner, key = pick(rng, document, lambda o, k: isinstance(o[k], int | float) and not isinstance(o[k], bool))
    owner[key] = owner[key] * rng.choice([-1, 0, 1e-12, 1e12, 1e300, 0.5, 2])


def remove(rng: random.Random, document: Any) -> None:
    owner, key = pick(rng, document)
    del owner[key]


def rename(rng: random.Random, document: Any) -> None:
    owner, key = pick(rng, document, lambda o, k: isinstance(o, dict))
    typo = key[1:] + key[:1] if isinstance(key, str) else key
    owner[rng.choice([typo, key + "s", key.upper(), rng.choice(KEYS)])] = owner.pop(key)


def add_key(rng: random.Random, document: Any) -> None:
    owner, key = pick(rng, document, lambda o, k: isinstance(o[k], dict))
    if isinstance(owner[key], dict):
        owner[key][rng.choice(KEYS)] = copy.deepcopy(rng.choice(ODD_VALUES))


def resize(rng: random.Random, document: Any) -> None:
    owner, key = pick(rng, document, lambda o, k: isinstance(o[k], list))
    if isinstance(owner[key], list):
        owner[key] = rng.choice([owner[key][:-1], owner[key] + owner[key][-1:], owner[key] * 100, owner[key][::-1]])


def reference(rng: random.Random, document: Any) -> None:
    owner, key = pick(rng, document, lambda o, k: k in ("from", "to", "cross", "after", "body", "about", "axes"))
    names = ["base", "platform", "piston", "cylinder", "1", "3", "13", "1.13", "A.cylinder", "2.23", "B.piston", "nobody"]
    owner[key] = rng.choice(names)


def joint_type(rng: random.Random, document: Any) -> None:
    owner, key = pick(rng, document, lambda o, k: k == "type")
    owner[key] = rng.choice(TYPES)


def swap(rng: random.Random, document: Any) -> None:
    owner, key = pick(rng, document)
    other, other_key = pick(rng, document)
    owner[key] = copy.deepcopy(other[other_key])


def flexible(rng: random.Random, document: Any) -> None:
    owner, key = pick(rng, document, lambda o, k: k in ("cylinder", "platform", "13", "piston") and isinstance(o[k], dict))
    if isinstance(owner[key], dict):
        owner[key]["flexible"] = copy.deepcopy(rng.choice(FLEXIBLE))


def path_trick(rng: random.Random, document: Any) -> None:
    if isinstance(document.get("platform"), dict):
        document["platform"]["flexible"] = {"type": "modes", "file": rng.choice(FILES)}


def many(rng: random.Random, document: Any) -> None:
    owner, key = pick(rng, document, lambda o, k: isinstance(o[k], dict) and o[k])
    if isinstance(owner[key], dict) and owner[key]:
        value = rng.choice(list(owner[key].values()))
        owner[key].update({f"n{i}": copy.deepcopy(value) for i in range(rng.choice([3, 150]))})


def truncate(rng: random.Random, text: str) -> str:
    return text[: rng.randrange(len(text))]


def flip(rng: random.Random, text: str) -> str:
    characters = list(text)
    for _ in range(rng.randrange(1, 6)):
        characters[rng.randrange(len(text))] = chr(rng.choice([rng.randrange(32, 127), rng.randrange(1, 0x300), 9, 10]))
    return "".join(characters)


def insert_line(rng: random.Random, text: str) -> str:
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    indent = " " * rng.choice([0, 0, 2, 4])
    return "\n".join([*lines[:at], indent + rng.choice(LINES), *lines[at:]])


def shuffle_lines(rng: random.Random, text: str) -> str:
    lines = text.split("\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]
    return "\n".join(lines)


def laughs(rng: random.Random, text: str) -> str:
    width, depth = rng.choice([(10, 9), (2, 40), (2000, 3)])
    start = rng.choice(["[x]", "{a: b}", "[1, 2, 3]"])
    bomb = [f"bomb0: &b0 {start}"]
    bomb += [f"bomb{i}: &b{i} [{', '.join([f'*b{i - 1}'] * width)}]" for i in range(1, depth)]
    return "\n".join([text, *bomb, ""])


def deep(rng: random.Random, text: str) -> str:
    opening, closing = rng.choice([("[", "]"), ("{a: ", "}")])
    depth = rng.choice([40, 60, 1000, 20000])
    return text + "\ndeep: " + opening * depth + closing * rng.choice([0, depth])


def long_list(rng: random.Random, text: str) -> str:
    key = rng.choice(["gravity", "title", "deep", "notes"])
    return text + f"\n{key}: [{', '.join([rng.choice(['0', 'x', '{}', 'a b'])] * rng.choice([1000, 30000]))}]"


def cycle(rng: random.Random, text: str) -> str:
    for key in rng.sample(["platform:", "legs:", "template:", "each:", "home:"], 5):
        if key in text:
            return text.replace(key, f"{key} &loop", 1) + rng.choice(["\nx: *loop", "\n  y: *loop", "\n  each: *loop"])
    return text


def bytes_like(rng: random.Random, text: str) -> str:
    return rng.choice(["\ufeff", "\x00", "\x85", "\ufffe", "\x1b[0m", "\u2028"]) + text


DOCUMENT_MUTATIONS = [
    replace, replace, replace, scale, scale, remove, remove, rename, add_key, add_key, resize, reference, reference, joint_type,
    swap, flexible, path_trick, many,
]  # fmt: skip
TEXT_MUTATIONS = [truncate, flip, flip, insert_line, insert_line, shuffle_lines, laughs, deep, long_list, cycle, bytes_like]
