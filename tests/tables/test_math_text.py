"""Text as LaTeX: symbols are mathematics, and whatever is typed compiles."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factormech import labels
from factormech.tables.latex import latex_text


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("γ̂₂(W, α)", r"$\hat{\gamma}_{2}$($W$, $\alpha$)"),
        ("γF(W)", r"$\gamma _F$($W$)"),
        ("γ₍₁₂₎(W)", r"$\gamma _{(12)}$($W$)"),
        ("‖x − x'‖₁ ≤ 1", r"$\|x$ $-$ $x'\|_{1}$ $\leq$ 1"),
        ("10⁻⁶", "10$^{-6}$"),
        ("√(2 ln(1.25/δ))/ε", r"$\sqrt{2\ \mathrm{ln}(1.25/\delta )}$/$\varepsilon$"),
        ("(E‖·‖_p^p / k)^(1/p)", r"($E\|\cdot \|_{p}^{p}$ / $k$)$^{1/p}$"),
        ("E‖answers − truth‖∞", r"$E\|$answers $-$ truth$\|_{\infty}$"),
        ("n_pan of norm_upper", r"$n_{\mathrm{pan}}$ of norm\_upper"),
        ("10 s, a p-value, K-norm, 2-way", "10 s, a $p$-value, $K$-norm, 2-way"),
        ("a", "$a$"),
        ("H. B. McMahan's", "H. B. McMahan's"),
        (
            r"50% of a_b & {x} \ ^~#$",
            r"50\% of a$_{b}$ \& \{$x$\} \textbackslash{} \textasciicircum{}\textasciitilde{}\#\$",
        ),
        ("x²^3", "$x^{2}{}^{3}$"),
        ("(E‖·‖ₚᵖ)^{1/p}", r"($E\|\cdot \|_{p}^{p}$)$^{1/p}$"),
        ("‖·‖²_∞", r"$\|\cdot \|^{2}_{\infty}$"),
        ("γ_(4)", r"$\gamma _{(4)}$"),
        ("日 é", "(cjk unified ideograph-65e5) é"),
    ],
)
def test_symbols_are_mathematics(text: str, latex: str) -> None:
    assert latex_text(text) == latex


@given(st.text(st.characters(blacklist_categories=["Cs"])))
def test_any_text_is_balanced(text: str) -> None:
    check_balanced(latex_text(text))


@given(st.text("γ√(x)²₃^_‖∞½ a\u0302\\{}$", max_size=14))
def test_any_formula_is_balanced(text: str) -> None:
    check_balanced(latex_text(text))


def test_all_labels_are_ascii() -> None:
    for label in [*labels.SERIES.values(), *labels.BOUNDS.values(), *labels.NORMS.values()]:
        assert latex_text(label).isascii(), label


def check_balanced(text: str) -> None:
    """Braces and dollars are closed, specials escaped, and no base has two powers or indices."""
    assert "\n" not in text
    bare = re.sub(r"\\[\\&%$#_{}|]", "", text)
    depth = 0
    for character in bare:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0
    assert bare.count("$") % 2 == 0
    outside = re.sub(r"\$[^$]*\$", "", bare)
    assert not set("^_<>|~#%&") & set(outside.replace("\\textasciicircum{}", "").replace("\\textasciitilde{}", ""))
    assert all(ord(c) < 256 for c in text)
    assert not re.search(r"(?<!\\)\^\{[^{}]*\}\^|(?<!\\)_\{[^{}]*\}_", text)
