"""How fitted mechanisms, workloads and plans look to a reader, in a terminal and in a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from factormech.privacy import Guarantee


def guarantee(stated: Guarantee | None) -> str:
    """Return a guarantee in words: its numbers, between which neighbours, and on what ground."""
    if stated is None:
        return "none"
    numbers = f"ε = {stated.epsilon:g}" if stated.rho is None else f"ρ = {stated.rho:g}"
    delta = f", δ = {stated.delta:g}" if stated.delta else ""
    return f"{numbers}{delta}; neighbours: {stated.relation}; {stated.ground}"


def text(title: str, facts: Mapping[str, str]) -> str:
    """Return facts as aligned lines under a title."""
    width = max(map(len, facts))
    return "\n".join([title, *(f"  {key:<{width}}  {value}" for key, value in facts.items())])


def in_words(value: Any) -> str:
    """Return a setting as a configuration has it: lists with commas, mappings as ``key: value``, yes and no."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {in_words(item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(in_words, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def html(facts: Mapping[str, str]) -> str:
    """Return facts as an HTML table of two columns."""
    rows = "".join(f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>" for key, value in facts.items())
    return f"<table>{rows}</table>"
