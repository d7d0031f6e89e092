# SPDX-License-Identifier: Apache-2.0
"""One HTML page with the tables of a study and its plots. It needs no other file, and is well-formed XML too."""

from typing import List
from xml.sax.saxutils import escape

from figures.table import Table

from study import report

STYLE = """
body { font: 15px/1.5 sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; color: #222; background: #fff }
table { border-collapse: collapse; margin: 1em 0; font-size: 13px } th, td { padding: .2em .8em; border-bottom: 1px solid #ddd }
td, th { text-align: right } th:first-child, td:first-child { text-align: left } .wide { overflow-x: auto }
svg { width: 100%; height: auto; font: 13px sans-serif } .bar { fill: #1b6ca8 } .published { fill: #f2c14e }
.interval { stroke: #000; fill: none } .axis { stroke: #888; fill: none } .line { fill: none; stroke-width: 2 }
.failed { color: #b00020; white-space: pre-wrap } .note { color: #555; font-size: 13px } code { overflow-wrap: anywhere }
"""


def html_of(table: Table) -> str:
    def row(cells: List[str], kind: str) -> str:
        return "<tr>" + "".join(f"<{kind}>{escape(cell)}</{kind}>" for cell in cells) + "</tr>"

    lines = [f"<h2>{escape(table.title)}</h2>", '<div class="wide"><table>', row(["", *table.columns], "th")]
    lines += [row([name, *texts], "td") for name, texts in table.rows]
    lines.append("</table></div>")
    if table.notes:
        lines.append(f'<p class="note">{escape(" ".join(table.notes))}</p>')
    return "\n".join(lines)


def page(document: dict) -> str:
    first, *others = report.head(document)
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en" xmlns="http://www.w3.org/1999/xhtml">',
        f'<head><meta charset="utf-8"/><title>{escape(first)}</title><style>{STYLE}</style></head>',
        "<body>",
        f"<h1>{escape(first)}</h1>",
        *(f"<p><code>{escape(line)}</code></p>" for line in others),
        *(f'<p class="failed">{escape(line)}</p>' for line in report.failures(document)),
        *report.plots(document),
        *(html_of(table) for table in report.tables(document)),
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"
