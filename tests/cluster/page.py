"""docs/cluster.md, followed literally: what its reader types."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.cluster.site import ROOT

# Where a site keeps no accounts, as here, the page says that this has no answer.
MAY_FAIL = ("sacctmgr",)


def typed() -> list[str]:
    """What the page tells the reader to type, in its order."""
    page = (ROOT / "docs/cluster.md").read_text()
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    lines = "".join(text for language, text in blocks if not language).splitlines()
    return [line.partition(" #")[0].strip() for line in lines]


def script() -> str:
    """The same, with the address of the project and the name of this Python."""
    lines = ["set -euo pipefail"]
    for line in typed():
        said = line.replace("ADDRESS-OF-THIS-PROJECT", str(ROOT))
        said = said.replace("make setup", f"make setup PYTHON={sys.executable}")
        lines += [f"echo '$ {line}'", f"{said} || true" if line.startswith(MAY_FAIL) else said]
    return "\n".join(lines)


class Reader:
    """Someone who follows the page, while other tests run."""

    def __init__(self, home: Path) -> None:
        self.home = home
        # Of the session's environment only what this machine tells pip, of which a part is in the other home folder.
        kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        if (told := Path.home() / ".config/pip/pip.conf").exists():
            kept.setdefault("PIP_CONFIG_FILE", str(told))
        path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        with (home / "said").open("w") as said:
            self.running = subprocess.Popen(
                ["bash", "-c", script()],
                cwd=home,
                env=kept | {"HOME": str(home), "USER": "root", "PATH": path},
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def said(self) -> str:
        return (self.home / "said").read_text()
