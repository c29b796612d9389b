"""Write docs/configuration.md from the schema of the configuration."""

from __future__ import annotations

from pathlib import Path

from factormech.config.studies import reference

ROOT = Path(__file__).parents[1]

if __name__ == "__main__":
    page = ROOT / "docs" / "configuration.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text(reference(ROOT / "workflow" / "schemas" / "config.schema.yaml"), encoding="utf-8")
