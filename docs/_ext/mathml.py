"""Math as MathML written at build time, so that the pages need neither a network nor JavaScript.

A formula that cannot be converted is a warning, and warnings are errors in the build.
"""

from __future__ import annotations

import html
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

LOGGER = logging.getLogger(__name__)


def to_mathml(latex: str, display: str, node: nodes.Node) -> str:
    """Return the MathML of a formula; an unknown command is reported at the node."""
    try:
        mathml = convert(latex.replace("{aligned}", "{align*}"), display=display)
        words = "".join(ElementTree.fromstring(mathml).itertext())
    except Exception as error:
        LOGGER.warning("formula cannot be converted to MathML (%r): %s", error, latex, location=node)
        return f"<code>{html.escape(latex)}</code>"
    if "\\" in words or "&" in words:
        LOGGER.warning("formula with a command that MathML does not know: %s", latex, location=node)
    return mathml


def visit_inline(self: Any, node: nodes.math) -> None:
    """Write an inline formula."""
    self.body.append(to_mathml(node.astext(), "inline", node))
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """Write a displayed formula, with its number and link where it has a label."""
    self.body.append(self.starttag(node, "div", CLASS="math-block"))
    if node["number"]:
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="eqno">({number})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append(to_mathml(node.astext(), "block", node))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer under the name `mathml`."""
    app.add_html_math_renderer("mathml", inline_renderers=(visit_inline, None), block_renderers=(visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
