"""Notebooks of docs/lectures as pages of the site: Markdown cells as they are, code cells as blocks.

Outputs are not kept in the files, so that pages show none; who opens a notebook in Jupyter sees the figures.
"""

from __future__ import annotations

import json
from typing import Any

from docutils import nodes
from myst_parser.sphinx_ import Parser
from sphinx.application import Sphinx

NOTE = "*Open this page as a notebook to execute it: `docs/lectures/{name}.ipynb`.*"


def page(text: str, name: str) -> str:
    """Markdown of a notebook, with a note below its title that says where the notebook is."""
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
    title, _, rest = parts[0].partition("\n")
    return "\n\n".join([title, NOTE.format(name=name), rest, *parts[1:]])


class NotebookParser(Parser):
    """MyST, for the text of a notebook."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Parse the Markdown of a notebook."""
        name = document.settings.env.docname.rpartition("/")[2]
        super().parse(page(inputstring, name), document)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the parser for the suffix `.ipynb` of conf.py."""
    app.add_source_parser(NotebookParser)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
