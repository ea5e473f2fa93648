"""Write the parts of docs/reference that come from the code; tests/docs/test_api_reference.py says when to run it again.

Between `<!-- api: name -->` and `<!-- end -->` a page has the signature, arguments, units and returns of a public name, as
tools/api_entries.py makes them; titles, examples and pictures around them are written by hand. The index lists every name.

    python tools/make_api_reference.py
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from api_entries import entry, find, summary

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
MARK = re.compile(r"<!-- api: (?P<path>[\w.]+)(?: \((?P<options>[\w ]+)\))? -->\n.*?<!-- end -->", re.DOTALL)
LIST = re.compile(r"<!-- api-names -->\n.*?<!-- end -->", re.DOTALL)


def pages() -> list[Path]:
    """Pages of the reference but for the index, in the order of its table of contents."""
    contents = (REFERENCE / "index.md").read_text(encoding="utf-8").split("{toctree}")[1]
    return [REFERENCE / f"{name}.md" for name in re.findall(r"^([\w-]+)$", contents, re.MULTILINE)]


def names_of(page: Path) -> list[str]:
    """Public names that a page describes, in its order."""
    return [match["path"] for match in MARK.finditer(page.read_text(encoding="utf-8"))]


def filled(text: str) -> str:
    """A page with its marks filled from the code."""

    def fill(match: re.Match[str]) -> str:
        head = match[0].split("\n", 1)[0]
        return f"{head}\n{entry(match['path'], match['options'] or '')}\n\n<!-- end -->"

    return MARK.sub(fill, text)


def anchors(page: Path) -> dict[str, str]:
    """Heading -> its anchor, as GitHub and MyST make it: small letters without dots; the second of one name gets a number."""
    found: dict[str, str] = {}
    used: list[str] = []
    for heading in re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.M | re.S), re.MULTILINE):
        slug = re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-")
        found[heading] = slug + f"-{used.count(slug)}" * (slug in used)
        used.append(slug)
    return found


def index(text: str) -> str:
    """The index with its table of names: name, page, first sentence."""
    rows = ["| name | what it is |", "|---|---|"]
    for page in pages():
        links = anchors(page)
        for path in names_of(page):
            said = summary(find(path)) or summary(type(find(path)))
            sentence = re.split(r"(?<=[a-z`)\]])\. |(?<=[a-z`)\]]): (?=\$)", said + " ")[0].strip().replace("|", "\\|")
            rows.append(f"| [`{path}`]({page.name}#{links[path]}) | {sentence} |")
    return LIST.sub(lambda _: "<!-- api-names -->\n" + "\n".join(rows) + "\n\n<!-- end -->", text)


def main() -> None:
    """Write every page that is out of date."""
    for page in [*pages(), REFERENCE / "index.md"]:
        old = page.read_text(encoding="utf-8")
        new = index(old) if page.name == "index.md" else filled(old)
        if new != old:
            page.write_text(new, encoding="utf-8")
            print(f"wrote {page.name}")


if __name__ == "__main__":
    main()
