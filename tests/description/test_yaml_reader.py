"""YAML 1.2 rules, lines of every path, and files made to hang, crash or deceive a reader."""

from __future__ import annotations

import contextlib
import math
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexapod.description import RobotFileError, yaml_reader
from flexapod.description.yaml_reader import read_yaml


def data(text: str | bytes) -> dict[str, object]:
    return read_yaml(text, "my.yaml").data


def message(text: str | bytes) -> str:
    with pytest.raises(RobotFileError) as refused:
        read_yaml(text, "my.yaml")
    return str(refused.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001), ("1E3", 1000.0), ("1.", 1.0), (".5", 0.5), ("-0", 0), ("+7", 7), ("007", 7), ("0o17", 15), ("0x1F", 31),
        ("no", "no"), ("on", "on"), ("yes", "yes"), ("off", "off"), ("y", "y"), ("true", True), ("False", False), ("TRUE", True),
        ("~", None), ("null", None), ("", None), ("1:30", "1:30"), ("2001-01-01", "2001-01-01"), ("1_000", "1_000"),
        (".inf", math.inf), ("-.INF", -math.inf), ("'1'", "1"), ('"no"', "no"), ("0b1", "0b1"), ("15 mm", "15 mm"), ("=", "="),
        ("!!str 1", "1"), ("!!float 1", 1), ("!!int 1", 1), ("! 1", "1"), ("1e400", math.inf),
    ],
)  # fmt: skip
def test_scalars(text: str, value: object) -> None:
    read = data(f"a: {text}")["a"]
    assert read == value
    assert isinstance(read, type(value))


def test_nan() -> None:
    read = data("a: .nan")["a"]
    assert isinstance(read, float)
    assert math.isnan(read)


def test_long_integers_are_floats() -> None:
    assert data("a: " + "9" * 5000)["a"] == math.inf


def test_keys_are_strings() -> None:
    assert data("1: a\nno: b\n1.50: c\nnull: d\ntrue: e\n'x y': f") == {
        "1": "a", "no": "b", "1.50": "c", "null": "d", "true": "e", "x y": "f",
    }  # fmt: skip


def test_lines_of_keys_and_values() -> None:
    read = read_yaml("a: 1\nb:\n  - x\n  - {c: 2,\n     d: 3}\ne: &k\n  f: 1\ng: *k\n", "my.yaml")
    assert read.lines[("a",)] == 1
    assert read.lines[("b",)] == 2
    assert read.lines[("b", 0)] == 3
    assert read.lines[("b", 1, "d")] == 5
    assert read.lines[("e", "f")] == 7
    assert read.lines[("g",)] == 8
    assert read.data["g"] == {"f": 1}


def test_aliases_are_copies() -> None:
    read = data("a: &k {x: [1]}\nb: *k")
    assert read["a"] == read["b"]
    assert read["a"] is not read["b"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "my.yaml:1: (top): the file is empty. A robot file starts with `flexapod: 1`."),
        ("# only words\n", "my.yaml:1: (top): the file is empty. A robot file starts with `flexapod: 1`."),
        ("~", "my.yaml:1: (top): the file is empty. A robot file starts with `flexapod: 1`."),
        ("- 1\n- 2", "my.yaml:1: (top): the top must be a mapping of keys. Start with `flexapod: 1`."),
        ("word", "my.yaml:1: (top): the top must be a mapping of keys. Start with `flexapod: 1`."),
        ("a: 1\n---\nb: 2", "my.yaml:2: (top): the file holds more than one document. Remove the line `---` and what follows."),
        ("a: 1\nb: {a: 1}\na: 2", "my.yaml:3: a: this key is given twice. It is already on line 1; keep one."),
        ("1: a\n'1': b", "my.yaml:2: 1: this key is given twice. It is already on line 1; keep one."),
        ("a: &a [*a]", "my.yaml:1: a[0]: refers to itself. An alias may not lie inside its own anchor."),
        ("a: &a {b: {c: *a}}", "my.yaml:1: a.b.c: refers to itself. An alias may not lie inside its own anchor."),
        ("a: *b", "my.yaml:1: a: *'b' has no anchor. Define it with & before."),
        ("a: {<<: {b: 1}}", "my.yaml:1: a.<<: merge keys (<<) are not supported. Use `legs.template` for what legs share."),
        (
            "a: !!python/object/apply:os.system [x]",
            "my.yaml:1: a: the tag 'tag:yaml.org,2002:python/object/appl... is not allowed. Write plain values without tags.",
        ),
        ("a: !x 1", "my.yaml:1: a: the tag '!x' is not allowed. Write plain values without tags."),
        (
            "? [a]\n: 1",
            "my.yaml:1: (top): a key must be a word. Write `key: value`; quote a value that starts with { or [.",
        ),
        (b"a: 1\nb: \xff", "my.yaml:2: (top): is not UTF-8 text. Save the file as UTF-8."),
        ("a: \ud800", "my.yaml:1: (top): is not UTF-8 text. Save the file as UTF-8."),
    ],
)  # fmt: skip
def test_messages(text: str | bytes, expected: str) -> None:
    assert message(text) == expected


@pytest.mark.parametrize("text", ["a: [", "a: 1\n\tb: 2", "a: b: c", "a: 'x", "\x00", "%YAML 3.0\n---\na: 1", "a: @x"])
def test_syntax_errors(text: str) -> None:
    assert re.match(r"my.yaml:\d+: .*not valid YAML: ", message(text))


def test_a_character_that_yaml_does_not_allow_is_found() -> None:
    assert message("a: 1\nb: 2\nc: \x07").startswith("my.yaml:3: (top): not valid YAML: ")
    assert message(b"\xef\xbb\xbfa: 1\nb: \x00").startswith("my.yaml:2: (top): not valid YAML: ")
    assert message("a: 1\n" + "# 5 MB\n" * 800_000).startswith("my.yaml:714287: (top): larger than 5 MB")


def test_tabs_get_a_hint() -> None:
    assert "spaces, not tabs" in message("a:\n\tb: 1")


def test_byte_order_mark() -> None:
    assert data(b"\xef\xbb\xbfa: 1") == {"a": 1}
    assert data("\ufeffa: 1") == {"a": 1}


def bomb(width: int, depth: int) -> str:
    lines = ["b0: &b0 [x, y]"]
    lines += [f"b{i}: &b{i} [{', '.join([f'*b{i - 1}'] * width)}]" for i in range(1, depth)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (bomb(10, 12), "more than 200000 values"),
        (bomb(2, 45), "more than 200000 values"),
        ("a: [" + "x, " * 300_000 + "x]", "more than 200000 values"),
        ("a: " + "[" * 100_000, "nested deeper than 50 levels"),
        ("a: " + "{a: " * 5000 + "1" + "}" * 5000, "nested deeper than 50 levels"),
        ("\n".join(" " * i + f"k{i}:" for i in range(300)), "nested deeper than 50 levels"),
        ("- " * 1000, "nested deeper than 50 levels"),
        ("a: " + "x" * 5_000_001, "larger than 5 MB"),
    ],
    ids=["laughs", "doubling", "long", "brackets", "braces", "indented", "dashes", "large"],
)
def test_bombs_are_refused_quickly(text: str, what: str) -> None:
    start = time.process_time()
    assert what in message(text)
    assert time.process_time() - start < 10.0


def test_depth_counts_through_aliases() -> None:
    links = [f"a{i}: &a{i} {{x: *a{i - 1}}}" for i in range(1, 60)]
    assert "nested deeper than 50 levels" in message("\n".join(["a0: &a0 [1]", *links]))


def test_the_parser_without_libyaml_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a: 1e-3\nb: [x, &k {y: no}]\nc: *k\n1: '2'\n"
    fast = read_yaml(text, "my.yaml")
    monkeypatch.setattr(yaml_reader, "_Loader", yaml_reader.yaml.SafeLoader)
    assert read_yaml(text, "my.yaml") == fast
    assert "nested deeper" in message("a: " + "[" * 300)


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(RobotFileError):
        assert isinstance(data(text), dict)
