"""`python -m tools.site.screenshots HTML` writes pictures of the site in HTML to `golden/site/`, with Chromium."""

from __future__ import annotations

import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PICTURES = Path(__file__).parents[2] / "golden" / "site"
PAGES = {"home": "index.html", "how-to": "how-to/operate.html", "diagnostic": "diagnostics/RD113.html"}
SCHEMES = {"dark": 0, "light": 1}


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without a line for each request."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Print nothing."""


def take(html: Path) -> None:
    """Take a picture of each page in each scheme. The browser can reach no other host."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(html)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    PICTURES.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        for scheme, number in SCHEMES.items():
            options = [
                f"--blink-settings=preferredColorScheme={number}",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
                f"--screenshot={PICTURES / f'{name}-{scheme}.png'}",
            ]
            common = ["--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1300,860"]
            url = f"http://127.0.0.1:{server.server_port}/{page}"
            command = ["chromium", *common, "--virtual-time-budget=4000", *options, url]
            subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    server.shutdown()


if __name__ == "__main__":
    take(Path(sys.argv[1]))
