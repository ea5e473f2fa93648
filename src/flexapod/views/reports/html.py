"""One self-contained HTML page: sections with text, tables and Plotly figures; opens without a network."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import plotly.graph_objects as go

STYLE = """
body{font-family:system-ui,'Segoe UI',Helvetica,Arial,sans-serif;max-width:1080px;margin:1.5em auto;padding:0 1em;color:#1a1a1a;
line-height:1.45}
h1{font-size:1.7em;margin-bottom:.2em} h2{margin-top:2em;border-bottom:2px solid #0072B2;padding-bottom:.15em}
h3{margin-top:1.6em;margin-bottom:.3em}
nav{background:#f4f6f8;padding:.6em 1em;border-radius:6px;display:flex;flex-wrap:wrap;gap:.2em 1.1em} nav a{white-space:nowrap}
table{border-collapse:collapse;margin:.8em 0;font-size:.93em} th,td{border:1px solid #c9ced3;padding:.3em .6em;text-align:right}
th{background:#eef2f5} td:first-child,th:first-child,td.text,th.text{text-align:left}
caption{text-align:left;font-weight:600;padding:.3em 0}
pre{background:#f4f6f8;padding:.8em;overflow:auto;font-size:.85em} .scroll{overflow-x:auto}
.note{color:#444;font-size:.93em} .warning{border-left:5px solid #D55E00;background:#fdf3ec;padding:.5em .8em;margin:.5em 0}
.good{border-left:5px solid #009E73;background:#eef8f4;padding:.5em .8em;margin:.5em 0}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:1em} .pair>div{background:#f4f6f8;padding:.5em .8em;border-radius:6px}
.verdict{font-weight:700} .figure{margin:.6em 0} td:not(.text){white-space:nowrap}
@page{size:A4;margin:14mm}
@media print{nav,.modebar{display:none!important} body{margin:0;padding:0;max-width:none;font-size:10.5pt} h2{margin-top:1.2em}
h2,h3,caption,thead{break-after:avoid} .figure,tr,.warning{break-inside:avoid} thead{display:table-header-group}
.scroll{overflow:visible} pre{white-space:pre-wrap} table{font-size:.8em} th,td{padding:.2em .4em} .figure{zoom:.88}}
"""


@dataclass(frozen=True, kw_only=True)
class HtmlTable:
    """A table: caption, head and rows of text; columns before `text` are left-aligned."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    text: int = 1

    def render(self) -> str:
        """HTML of the table."""
        caption = f"<caption>{html.escape(self.caption)}</caption>" if self.caption else ""
        head = "".join(f"<th{' class=text' if k < self.text else ''}>{html.escape(c)}</th>" for k, c in enumerate(self.head))
        body = "".join("<tr>" + "".join(self._cell(k, c) for k, c in enumerate(row)) + "</tr>" for row in self.rows)
        return f"<div class='scroll'><table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"

    def _cell(self, column: int, text: str) -> str:
        return f"<td{' class=text' if column < self.text else ''}>{html.escape(text)}</td>"


@dataclass(frozen=True, kw_only=True)
class Raw:
    """A piece of HTML as it is."""

    html: str


def paragraph(text: str, kind: str = "") -> Raw:
    """A paragraph of plain text; kind is a class of the style: note, warning, good."""
    return Raw(html=f"<p{f' class={kind}' if kind else ''}>{html.escape(text)}</p>")


def heading(text: str) -> Raw:
    """A heading within a section."""
    return Raw(html=f"<h3>{html.escape(text)}</h3>")


def bullets(items: Sequence[str]) -> Raw:
    """A list of plain texts."""
    return Raw(html="<ul>" + "".join(f"<li>{html.escape(item)}</li>" for item in items) + "</ul>")


def html_page(title: str, sections: Sequence[tuple[str, Sequence[object]]], lead: str = "") -> str:
    """The page.

    Args:
        sections: (heading, parts); a part is a Plotly figure, an `HtmlTable`, a `Raw`, or plain text.
        lead: a line under the title.
    """
    script, body, links = True, [], []
    for k, (name, parts) in enumerate(sections):
        if name:
            links.append(f"<a href='#s{k}'>{html.escape(name)}</a>")
        pieces = [f"<section id='s{k}'>", f"<h2>{html.escape(name)}</h2>" if name else ""]
        for part in parts:
            if hasattr(part, "to_html"):
                pieces.append(f"<div class='figure'>{_figure(part, script)}</div>")
                script = False
            else:
                pieces.append(_text(part))
        body.append("\n".join([*pieces, "</section>"]))
    navigation = f"<nav>{''.join(links)}</nav>" if len(links) > 1 else ""
    return (
        f"<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><title>{html.escape(title)}</title>"
        "<link rel='icon' href='data:,'><meta name='viewport' content='width=device-width,initial-scale=1'>"
        f"<style>{STYLE}</style></head><body><h1>{html.escape(title)}</h1><p class='note'>{html.escape(lead)}</p>{navigation}"
        + "\n".join(body)
        + "</body></html>\n"
    )


def _figure(figure: go.Figure, script: bool) -> str:
    height = figure.layout.height or 520
    text: str = figure.to_html(
        full_html=False, include_plotlyjs=script, default_height=f"{height}px", config={"displaylogo": False, "responsive": True}
    )
    return text


def _text(part: object) -> str:
    if isinstance(part, HtmlTable):
        return part.render()
    return part.html if isinstance(part, Raw) else f"<p>{html.escape(str(part))}</p>"
