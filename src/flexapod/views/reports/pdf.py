"""A page as PDF, printed by Chromium as people would print it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import flexapod as fp
from flexapod.files import write_whole

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE = 300
"""Seconds that Chromium may take on a busy machine."""
FLAT = """<script>
for (const figure of document.querySelectorAll(".plotly-graph-div"))
  if (Object.keys(figure._fullLayout || {}).some((key) => /^scene/.test(key))) {
    const size = { width: figure.clientWidth, height: figure.clientHeight };
    Plotly.toImage(figure, { format: "png", scale: 2, ...size }).then((picture) => {
      const flat = Object.assign(new Image(), { src: picture, className: "flat", ...size });
      return flat.decode().then(() => figure.replaceWith(flat));
    });
  }
</script>"""
"""Three-dimensional figures become pictures: a browser prints none of what WebGL has drawn."""


def write_pdf(path: Path, html: str) -> Path:
    """Print a self-contained page into a PDF file.

    Raises:
        InputError: there is no Chromium, or it failed.

    Checked by: tests/views/test_report_parts.py.
    """
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        raise fp.InputError(f"--out {path}: a PDF is printed by Chromium, which is not installed; give a file that ends in .html")
    with tempfile.TemporaryDirectory(prefix="flexapod-") as folder:
        page, printed = Path(folder) / "page.html", Path(folder) / "page.pdf"
        before, end, after = html.rpartition("</body>")
        page.write_text(before + FLAT + end + after, encoding="utf-8")
        options = ["--headless", "--ignore-gpu-blocklist", "--no-pdf-header-footer", f"--user-data-dir={folder}/browser",
                   "--window-size=800,1100", "--virtual-time-budget=20000", "--use-angle=swiftshader",
                   "--enable-unsafe-swiftshader"]  # fmt: skip
        if hasattr(os, "getuid") and os.getuid() == 0:
            options.append("--no-sandbox")
        try:
            done = subprocess.run(
                [browser, *options, f"--print-to-pdf={printed}", page.as_uri()], capture_output=True, text=True,
                timeout=PATIENCE, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise fp.InputError(f"--out {path}: Chromium did not print the page within {PATIENCE} s; give .html") from None
        if not printed.is_file():
            last = done.stderr.strip().splitlines()[-1:] or ["no message"]
            raise fp.InputError(f"--out {path}: Chromium could not print the page ({last[0]}); give .html")
        write_whole({path: printed.read_bytes()})
    return path
