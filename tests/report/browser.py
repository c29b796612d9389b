"""A headless Chromium, driven through ChromeDriver's protocol (W3C WebDriver) with the standard library alone."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM, DRIVER = (shutil.which(name) for name in ("chromium", "chromedriver"))
# No sandbox, for tests may run as root in a container; and none of the browser's own traffic, which a log would show.
# What a script may take on a busy machine; the driver's own limit is 30.
SECONDS = 120
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-ipc-flooding-protection",  # a test turns more pages in a second than a person does
)


def missing() -> str:
    """What is not installed; empty where a browser can be opened."""
    absent = [name for name, found in (("chromium", CHROMIUM), ("chromedriver", DRIVER)) if found is None]
    return f"not installed: {', '.join(absent)} (tools/ci_packages.sh installs them)" if absent else ""


class Browser:
    """One window of a session."""

    def __init__(self, address: str, session: str) -> None:
        self.address, self.session = address, session

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """A command of the protocol, and its value."""
        return request(method, f"{self.address}/session/{self.session}/{path}", body)

    def open(self, path: Path) -> None:
        """Open a file, and wait until it is loaded."""
        self.call("POST", "url", {"url": path.resolve().as_uri()})

    def run(self, script: str, *arguments: Any) -> Any:
        """What the body of an asynchronous function returns, as JSON."""
        body = f"return (async function () {{ {script}\n}}).apply(null, arguments);"
        return self.call("POST", "execute/sync", {"script": body, "args": list(arguments)})

    def resize(self, width: int, height: int) -> None:
        """Set what the page sees of the screen; a window cannot be as narrow as a telephone."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        body = {"cmd": "Emulation.setDeviceMetricsOverride", "params": metrics}
        self.call("POST", "goog/cdp/execute", body)

    def screenshot(self, path: Path) -> None:
        """Write what the window shows."""
        path.write_bytes(base64.b64decode(self.call("GET", "screenshot")))

    def log(self, kind: str) -> list[dict[str, Any]]:
        """What has come into a log since it was last asked for."""
        found = self.call("POST", "se/log", {"type": kind})
        return list(found)

    def requests(self) -> list[str]:
        """The addresses that pages have asked for since this was last called, the browser's own first one aside."""
        messages = (json.loads(entry["message"])["message"] for entry in self.log("performance"))
        sent = [m["params"] for m in messages if m["method"] == "Network.requestWillBeSent"]
        return [s["request"]["url"] for s in sent if not s["documentURL"].startswith("chrome:")]


def request(method: str, url: str, body: dict[str, Any] | None = None) -> Any:
    """Ask the driver; what it refuses is an error with its words."""
    data = None if method == "GET" else json.dumps(body or {}).encode()
    asked = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(asked, timeout=SECONDS + 30) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        raise RuntimeError(json.load(error)["value"]["message"]) from None


@contextmanager
def browser(width: int = 1400, height: int = 900) -> Iterator[Browser]:
    """A new session of a new browser, which ends with the block."""
    logs = {"browser": "ALL", "performance": "ALL"}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, driver() as address:
        arguments = [*FLAGS, f"--window-size={width},{height}", f"--user-data-dir={folder}"]
        options = {"binary": CHROMIUM, "args": arguments}
        wanted = {
            "timeouts": {"script": 1000 * SECONDS},
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": logs,
        }
        session = request("POST", f"{address}/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        try:
            yield Browser(address, session)
        finally:
            request("DELETE", f"{address}/session/{session}")


@contextmanager
def driver() -> Iterator[str]:
    """ChromeDriver at a port that it chooses; its address."""
    process = subprocess.Popen([str(DRIVER), "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert process.stdout is not None
        said = ""
        for line in process.stdout:
            said += line
            if "started successfully on port" in line:
                break
        else:
            raise RuntimeError(f"chromedriver ended: {said}")
        address = f"http://127.0.0.1:{line.strip().rstrip('.').rsplit(' ', 1)[1]}"
        for _ in range(100):
            if request("GET", f"{address}/status")["ready"]:
                break
            time.sleep(0.05)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=10)
        if process.stdout is not None:
            process.stdout.close()
