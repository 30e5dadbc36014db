"""Pages in a headless Chromium, as wide as asked."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars"),
)


def chromium() -> str | None:
    """The program, where there is one."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def measured(program: str, document: str, widths: list[int], script: str, folder: Path) -> Any:
    """What a script says of a document in frames of these widths.

    Chromium's own windows are at least 500 pixels wide, frames are not. They have no scripts
    themselves, the page around them asks: `script` is the body of a function of a document.
    """
    frames = "".join(
        f'<iframe style="width: {width}px; height: 800px; border: 0" '
        f'srcdoc="{html.escape(document)}"></iframe>'
        for width in widths
    )
    asks = f"""<pre id="said"></pre><script>
const ask = (document) => {{ {script} }};
addEventListener("load", () => {{
  const frames = Array.from(document.querySelectorAll("iframe"));
  const said = frames.map((frame) => ask(frame.contentDocument));
  document.getElementById("said").textContent = JSON.stringify(said);
}});</script>"""
    file = folder / "asked.html"
    file.write_text(f'<!DOCTYPE html><meta charset="utf-8">{frames}{asks}')
    command = [program, *QUIET, f"--user-data-dir={folder / 'profile'}", "--dump-dom"]
    done = subprocess.run(
        [*command, file.as_uri()], capture_output=True, text=True, check=True, timeout=120
    )
    [said] = re.findall(r'<pre id="said">(.*?)</pre>', done.stdout, re.DOTALL)
    return json.loads(html.unescape(said))
