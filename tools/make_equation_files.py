"""Write docs/papers/files.md: which file implements which numbered equations of the five papers.

Run: python tools/make_equation_files.py. The lists come from docs/papers/<paper>.yaml.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src"
PAPERS = ROOT / "docs" / "papers"
PAGE = PAPERS / "files.md"
ORDER = ("staicu-2009", "sinatra-2009", "kim-2002", "long-2014", "briot-2014")
HEAD = """# Equations by file

Where to find a paper's equation from the folder listing: every file of `src/flexapod/` that implements numbered equations.
`python tools/make_equation_files.py` writes this page.

| file | equations |
|---|---|
"""


def file_of(function: str) -> str:
    """File of a dotted name, below src/flexapod."""
    parts = function.split(".")
    for end in range(len(parts), 0, -1):
        path = SRC.joinpath(*parts[:end])
        if path.with_suffix(".py").is_file():
            return str(path.with_suffix(".py").relative_to(SRC / "flexapod"))
        if (path / "__init__.py").is_file():
            return str((path / "__init__.py").relative_to(SRC / "flexapod"))
    raise ValueError(f"{function}: no such module")


def spans(numbers: list[str]) -> str:
    """Numbers in the order of the paper, neighbours as a range: 1, 2, 3, 7 is (1)-(3), (7)."""
    rows: list[list[str]] = []
    for number in numbers:
        if rows and number.isdigit() and rows[-1][-1].isdigit() and int(number) == int(rows[-1][-1]) + 1:
            rows[-1].append(number)
        else:
            rows.append([number])
    return ", ".join(f"({row[0]})-({row[-1]})" if len(row) > 2 else ", ".join(f"({n})" for n in row) for row in rows)


def page() -> str:
    """The text of the page."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for paper in ORDER:
        for entry in yaml.safe_load((PAPERS / f"{paper}.yaml").read_text(encoding="utf-8"))["equations"]:
            for file in sorted({file_of(name) for name in entry["functions"]}):
                found[file][paper].append(str(entry["equation"]))
    rows = []
    for file in sorted(found):
        lists = "; ".join(f"[{paper}]({paper}.md) {spans(found[file][paper])}" for paper in ORDER if paper in found[file])
        rows.append(f"| `{file}` | {lists} |")
    return HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
