"""Draw docs/reference/pictures: what the examples of docs/reference/figures.md draw, one small PNG per function (needs Chromium).

    python tools/make_reference_pictures.py

The blocks of the page are executed as a test executes them; every figure that a function of `fp.figures` returns is kept.
"""

from __future__ import annotations

import io
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flexapod as fp

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
PICTURES = REFERENCE / "pictures"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
WIDTH, HEIGHT, COLOURS = 720, 420, 64


def drawn() -> dict[str, Any]:
    """Function -> the last figure that it returned in the examples of the page."""
    found: dict[str, Any] = {}

    def kept(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def draw(*arguments: Any, **options: Any) -> Any:
            found[name] = function(*arguments, **options)
            return found[name]

        return draw

    names = [name for name in fp.figures.__all__ if name.endswith("_figure") and name != "save_figure"]
    functions = {name: getattr(fp.figures, name) for name in names}
    try:
        for name, function in functions.items():
            setattr(fp.figures, name, kept(name, function))
        namespace: dict[str, Any] = {"__name__": "__page__"}
        for block in BLOCK.findall((REFERENCE / "figures.md").read_text(encoding="utf-8")):
            exec(block, namespace)
    finally:
        for name, function in functions.items():
            setattr(fp.figures, name, function)
    return found


def small(figure: Any) -> bytes:
    """A figure as a PNG of few colours."""
    from PIL import Image

    image = Image.open(io.BytesIO(figure.to_image(format="png", width=WIDTH, height=HEIGHT)))
    out = io.BytesIO()
    image.convert("RGB").quantize(COLOURS).save(out, format="png", optimize=True)
    return out.getvalue()


def main() -> None:
    """Draw all of them."""
    PICTURES.mkdir(exist_ok=True)
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            found = drawn()
        finally:
            os.chdir(home)
    for name, figure in sorted(found.items()):
        (PICTURES / f"{name}.png").write_bytes(small(figure))
        print(f"drew {name}.png")


if __name__ == "__main__":
    main()
