"""The Gaussian's calibration under the local room's name; it lives in :mod:`factormech.gaussian`."""

from __future__ import annotations

from factormech.gaussian import ROUNDING_MARGIN, check_delta, gaussian_delta, gaussian_noise_multiplier

__all__ = ["ROUNDING_MARGIN", "check_delta", "gaussian_delta", "gaussian_noise_multiplier"]
