"""``python -m factormech.cli``, the same as ``factormech``."""

from __future__ import annotations

import sys

from factormech.cli.main import main

sys.exit(main())
