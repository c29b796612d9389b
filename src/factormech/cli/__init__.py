"""``factormech …``: one question answered without a workflow; each module answers one group of commands."""

from __future__ import annotations

from factormech.cli.main import main

__all__ = ["main"]
