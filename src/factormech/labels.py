"""What readers call mechanisms, lower bounds, workloads and metrics: in figures, tables and captions alike."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from factormech import plugins

MECHANISMS: dict[str, str] = {
    "randomized-response": "Randomized response",
    "rappor": "RAPPOR",
    "subset-selection": "Subset selection",
    "hadamard": "Hadamard (block)",
    "hadamard-table1": "Hadamard (Table 1)",
    "hierarchical": "Hierarchical (block Hadamard)",
    "hierarchical-table1": "Hierarchical (Table 1)",
    "fourier": "Fourier (all parities)",
    "fourier-3": "Fourier (≤ 3-way)",
    "matrix-l1": "Matrix mechanism (L1)",
    "matrix-l2": "Matrix mechanism (L2)",
    "matrix-l2-gaussian": "Matrix mechanism (L2, Gaussian)",
    "adaptive-pgd": "Adaptive PGD (as published)",
    "optimised": "Optimised",
}

BOUNDS: dict[str, str] = {
    "svd": "Lower bound, unbiased (SVD, McKenna et al. Cor. 5.7)",
    "centred-svd": "Lower bound, unbiased (centred SVD)",
    "parametric": "Lower bound, unbiased (weighted)",
    "data-svd": "Lower bound for the data, unbiased (centred SVD)",
    "pairwise": "Lower bound, unbiased (weights of pairs)",
    "certified": "Lower bound, unbiased (certified)",
}
# Bounds that a paper printed: a figure with a band keeps their lines.
PUBLISHED_BOUNDS = frozenset({"svd"})

WORKLOADS: dict[str, str] = {
    "all-ranges": "All Ranges",
    "all-marginals": "All Marginals",
    "random-signs": "Random Signs",
}

NORMS: dict[str, str] = {
    "gamma-2": "γ₂(W)",
    "gamma-f": "γF(W)",
    "gamma-2-approximate": "γ₂(W, α)",
    "gamma-2-shifted": "γ̂₂(W, α)",
    "gamma-2-difference": "γ₂(D, α)",
    "eta": "η(C, α)",
    "margin-complexity": "mc(C)",
}
# How people write the names of norms.
NORM_ALIASES: dict[str, str] = {
    "gamma2": "gamma-2",
    "gammaF": "gamma-f",
    "gammaf": "gamma-f",
    "gamma-F": "gamma-f",
    "gammap": "gamma-p",
    "gamma2-approximate": "gamma-2-approximate",
    "gamma2-shifted": "gamma-2-shifted",
    "gamma2-difference": "gamma-2-difference",
    "margin": "margin-complexity",
}
FACTORIZATIONS: dict[str, str] = {
    "optimal": "Optimal",
    "square-root": "Square root",
    "binary-tree": "Binary tree (least squares)",
    "identity": "Identity (noise on every count)",
}

CALIBRATIONS: dict[str, str] = {
    "analytic": "Analytic (Balle & Wang)",
    "classical": "Classical, √(2 ln(1.25/δ))/ε",
}
DIRECTIONS: dict[str, str] = {
    "euclidean-directions": "Directions of length 1 (‖θ‖₂ = 1)",
    "maximum-directions": "Directions of largest entry 1",
}
RANDOMIZERS: dict[str, str] = {"half-sphere": "", "priv-unit": ", PrivUnit", "gaussian": ", Gaussian"}
_FACTORED: dict[str, str] = {
    "shifted": "γ̂₂(W, a), best a",
    "approximate": "γ₂(W, a), best a",
    "optimal": "γ₂(W)",
    "half-alpha": "γ₂(W, α/2)",
    "independent": "Noise on every query",
    "dyadic-tree": "Dyadic tree (least squares)",
    "dyadic-tree-plain": "Dyadic tree (fewest nodes)",
    "polynomial": "Polynomial",
    "symmetric-polynomial": "Polynomial of least norm",
}
# Mechanisms of local releases, with the randomizer of their reports, and the norms whose approximations are compared.
RELEASES: dict[str, str] = {
    f"{name}/{randomizer}": label + ending
    for name, label in _FACTORED.items()
    for randomizer, ending in RANDOMIZERS.items()
} | {"one-query": "One random query"}
# Factors whose distance from the workload is varied.
APPROXIMATIONS: dict[str, str] = {"shifted": "γ̂₂(W, a)", "approximate": "γ₂(W, a)"}
# A trusted curator's, beside those of FACTORIZATIONS.
CENTRAL: dict[str, str] = {
    "gamma-f": "Factors of γF",
    "gamma-p4": "Factors of γ₍₄₎",
    "gamma-p8": "Factors of γ₍₈₎",
    "gamma-2": "Factors of γ₂",
    "square-root-normalised": "Square root, normalised columns",
    "binary-tree-plain": "Binary tree (plain)",
    "gaussian-input": "Noise on every count",
    "gaussian-output": "Noise on every answer",
    "gaussian-projection": "Noise on every answer, projected",
    "gamma-f-projection": "Factors of γF, projected",
}
PURE: dict[str, str] = {
    "laplace": "Laplace",
    "laplace-projection": "Laplace + projection",
    "l2-ball-projection": "ℓ₂ ball + projection",
    "k-norm": "K-norm",
    "k-norm-projection": "K-norm + projection",
    "recursive": "Recursive K-norm (best depth)",
    "recursive-full": "Recursive K-norm",
    "recursive-equal": "Recursive K-norm (equal shares of ε)",
    "recursive-projection": "Recursive K-norm + projection",
    "split": "Split noise",
    "split-projection": "Split noise + projection",
    "jl": "JL release (best ℓ)",
    "jl-or-k-norm": "JL release or K-norm, by Nε ≤ k",
    "shaped-gaussian": "Gaussian, (ε, δ)",
    "shaped-gaussian-projection": "Gaussian, (ε, δ), + projection",
    "shaped-zcdp": "Gaussian, ε²/2-zCDP",
    "shaped-zcdp-projection": "Gaussian, ε²/2-zCDP, + projection",
}
SKETCHES: dict[str, str] = {
    "jl-balanced": "JL release (ℓ = Nε)",
    "trace": "K-norm (trace body)",
    "trace-projection": "K-norm (trace body) + projection",
    "l2-ball": "ℓ₂ ball",
    "coarse-jl": "Coarse JL",
    "distance-rate": "√ℓ · E max distortion / w(K)",
    "width-ratio": "E w(TK) / w(K)",
    "projected": "Noise of the projected body",
    "hardt-talwar": "Projected noise of the body (Hardt & Talwar)",
    "hardt-talwar-optimal": "Projected noise of the body (optimal shares of ε)",
}
SELECTION: dict[str, str] = {
    "moss-most-played": "MOSS, most played",
    "moss-uniform": "MOSS, uniform T",
    "moss-validated": "MOSS, uniform T, repeated and validated",
    "sequential-halving": "Sequential halving",
    "one-coordinate": "One coordinate each (non-interactive)",
}
SHRINKAGE: dict[str, str] = {"optimised/shrunk": "Optimised, mixed with constants"}
LEARNING: dict[str, str] = {
    "learner/half-sphere": "Agnostic learner (half sphere)",
    "learner/priv-unit": "Agnostic learner (PrivUnit)",
    "refuter/half-sphere": "Refuter (half sphere)",
    "refuter/priv-unit": "Refuter (PrivUnit)",
    "realizable/half-sphere": "Learner by η (half sphere)",
    "realizable/priv-unit": "Learner by η (PrivUnit)",
    "users/agnostic-learner": "Agnostic learner",
    "users/realizable-learner": "Realizable learner, by η",
    "users/kearns-learner": "Realizable learner, Kearns",
    "users/agnostic-refuter": "Agnostic refuter",
    "users/realizable-refuter": "Realizable refuter, by η",
    "users/one-more-round": "Realizable refuter, η + one round",
    "users/kearns-one-more-round": "Realizable refuter, Kearns + one round",
    "users/guaranteed": "Factorization, guaranteed",
    "users/predicted": "Factorization, predicted",
    "users/bound": "Lower bound, certified",
    "users/sequential": "Two rounds, proved and run",
    "class-gamma-2": "γ₂(W, α)",
    "class-gamma-2-shifted": "γ̂₂(W, α)",
    "class-gamma-2-difference": "γ₂(D, α)",
    "class-eta": "η(C, α)",
    "class-margin": "mc(C)",
}
QUERIES: dict[str, str] = {
    "exact": "Exact answers",
    "sampled": "Answers from 1/τ² samples",
    "adversarial": "Adversarial answers, tolerance τ",
    "simulated": "Exact answers made bits (local protocol simulated)",
    "unbiased": "√(π/2)",
    "as-printed": "√π/2 (as printed)",
    "learner/exact": "Exact answers, τ = 1/(3d)",
    "learner/adversarial": "Adversarial answers, τ = 1/(3d)",
    "coarse/exact": "Exact answers, τ = 1/√d",
    "coarse/adversarial": "Adversarial answers, τ = 1/√d",
    "sequential-reports": "Sequential local reports",
    "pan-private-stream": "Pan-private stream",
    "random-signs": "Random signs (Theorem 56)",
    "every-concept": "The concepts, in random order",
    "sqd-uniform": "Uniform points, coin labels",
    "sqd-all-hypotheses": "All hypotheses lose",
    "sqd-realizable": "SQD of realizable learning",
    "sqd-agnostic": "SQD of agnostic learning",
}
# The names that tell the curves of an experiment apart, of all its kinds: one name has one label.
SERIES: dict[str, str] = (
    MECHANISMS
    | FACTORIZATIONS
    | CALIBRATIONS
    | DIRECTIONS
    | RELEASES
    | APPROXIMATIONS
    | CENTRAL
    | PURE
    | SKETCHES
    | SELECTION
    | SHRINKAGE
    | LEARNING
    | QUERIES
)

WORST_CASE, STANDIN = "worst-case", "-standin"

METRICS: dict[str, str] = {"mse": "mean squared error {} per query"}

_WORKLOAD_FAMILIES = (
    (re.compile(r"at-most-(\d+)-way-(.+)"), "{1} (≤ {0}-way)"),
    (re.compile(r"(\d+)-way-(.+)"), "{0}-Way {1}"),
    (re.compile(r"conjunctions-(\d+)"), "Conjunctions (≤ {0})"),
)


# What a setting adds to a mechanism's label: nothing where it is what the mechanism does anyway.
_SETTINGS: dict[tuple[str, Any], str] = {
    ("objective", "average"): "",
    ("objective", "worst"): "worst case",
    ("effort", "standard"): "",
    ("effort", "best"): "best effort",
}


# A mechanism with settings, as `variant` writes it.
_VARIANT = re.compile(r"[a-z0-9-]+( [a-z_]+=[^ =]+)+")


def mechanism_label(name: str, options: Mapping[str, Any] | None = None) -> str:
    """Return what a reader calls a mechanism; settings that change its result are part of the label.

    Parameters
    ----------
    name
        A registered name, or what a table calls a mechanism with settings: ``optimised objective=worst``.
    options
        Settings beside those in the name.

    Returns
    -------
    str
        A plugin goes by the label that it gives, or by its name.

    Examples
    --------
    >>> import factormech as fm
    >>> fm.label("optimised", {"objective": "worst", "rows": 32})
    'Optimised (worst case, 32 outputs)'
    >>> fm.label("optimised objective=worst")
    'Optimised (worst case)'
    """
    name, *settings = name.split(" ") if _VARIANT.fullmatch(name) else [name]
    given = {option: value for option, _, value in (text.partition("=") for text in settings)} | dict(options or {})
    label = SERIES.get(name) or plugins.LABELS["mechanism"].get(name, name)
    said = [_setting(option, value) for option, value in sorted(given.items())]
    said = [text for text in said if text]
    return f"{label} ({', '.join(said)})" if said else label


def variant(name: str, options: Mapping[str, Any]) -> str:
    """Return what tables call a mechanism with settings: its name, and every setting that is not the solver's own.

    >>> from factormech.labels import variant
    >>> variant("optimised", {"objective": "worst"})
    'optimised objective=worst'
    """
    return " ".join([name, *(f"{option}={options[option]}" for option in sorted(options))])


def _setting(option: str, value: Any) -> str:
    if option == "rows":
        return f"{value} outputs"
    return _SETTINGS.get((option, value), f"{option} {value}")


def bound_label(name: str) -> str:
    """Return the label of a lower bound."""
    return BOUNDS.get(name, f"Lower bound ({name})")


def workload_label(name: str) -> str:
    """Return the label of a workload: by family, else its name in title case."""
    if name in WORKLOADS:
        return WORKLOADS[name]
    if name in plugins.LABELS["workload"]:
        return plugins.LABELS["workload"][name]
    if name.endswith("-01"):
        return workload_label(name.removesuffix("-01")) + " (0/1)"
    for pattern, form in _WORKLOAD_FAMILIES:
        match = pattern.fullmatch(name)
        if match:
            return form.format(*(part if part.isdigit() else _title(part) for part in match.groups()))
    return _title(name)


def norm_label(name: str, alpha: float | None = None) -> str:
    """Return the label of a norm, at an α if one is given."""
    order = re.fullmatch(r"gamma-p(\d+)", name)
    label = f"γ₍{_subscript(order[1])}₎(W)" if order else NORMS.get(name, name)
    return label if alpha is None else label.replace("α", f"{alpha:g}")


def factorization_label(name: str) -> str:
    """Return the label of a factorization."""
    return FACTORIZATIONS.get(name, name)


def value_label(column: str, value: Any) -> str:
    """Return the label of a value in a column of an experiment."""
    if not isinstance(value, str):
        return _number(value)
    if column in ("workload", "family", "concept_class", "set_class", "statistic"):
        return workload_label(value)
    if column == "data":
        return data_label(value)
    return norm_label(value) if column == "norm" else SERIES.get(value) or mechanism_label(value)


# What the size of a concept class or of a family of queries counts, and its symbol: a column of sizes, the column that
# says of what, and the label of all that are not named.
SIZED = {"class_size": ("concept_class", "bits d"), "size": ("family", "attributes d")}
SIZES = {"thresholds": "types T", "points": "types T", "prefix": "types T", "halfspaces": "side g"}


def size_label(column: str, subjects: Iterable[str]) -> str:
    """Return what a column of sizes counts for these classes or families.

    Examples
    --------
    >>> size_label("class_size", ["thresholds", "points"])
    'types T'
    >>> size_label("class_size", ["parities", "halfspaces"])
    'bits d or side g'
    """
    return " or ".join(dict.fromkeys(SIZES.get(name, SIZED[column][1]) for name in subjects))


def size_symbol(column: str, subjects: Iterable[str]) -> str:
    """Return the symbol of a size: "T"; "size" where classes or families count different things."""
    label = size_label(column, subjects)
    return "size" if " or " in label else label.split()[-1]


def percent(gap: float) -> str:
    """Return a relative gap as a reader wants it: three digits, and nothing of rounding."""
    if not math.isfinite(gap):
        return "nothing is proved"
    if gap < 1e-6:
        return "below 0.0001 %"
    return f"{100 * gap:.3g} %"


def capital(text: str) -> str:
    """A text with a capital at its start, if it starts with a word and not with a symbol."""
    return text[:1].upper() + text[1:] if re.match(r"[a-z]{2,}(?![a-z(_])|a (?!=)", text) else text


def order_label(p: float) -> str:
    """Return the label of an order of error."""
    if p == float("inf"):
        return "p = ∞ (largest)"
    return f"p = {p:g}" + (" (root of the mean square)" if p == 2 else "")


def data_label(name: str) -> str:
    """Return the label of a data set; that of a stand-in says so."""
    if name == WORST_CASE:
        return "Worst case"
    label = name.removesuffix(STANDIN).upper()
    return f"{label} (stand-in)" if name.endswith(STANDIN) else label


def standins(names: Iterable[str]) -> tuple[str, ...]:
    """Return the data sets among these that are synthetic."""
    return tuple(name for name in names if name.endswith(STANDIN))


def accuracy(metric: str, alpha: float | str) -> str:
    """Return the meaning of α, or of its letter; a metric without a text of its own goes by its name."""
    value = alpha if isinstance(alpha, str) else f"{alpha:g}"
    return METRICS.get(metric, metric.replace("{", "{{").replace("}", "}}") + " {}").format(value)


def _number(value: float) -> str:
    """A number in few characters: 512, 0.05, 1/6, 10⁻⁶, 2.5·10⁻⁷, ∞."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if 0.0 < abs(value) < 1.0 and len(repr(float(value))) > 12:
        simple = Fraction(value).limit_denominator(12)
        if float(simple) == value:
            return str(simple)
    mantissa, e, exponent = f"{value:.12g}".partition("e")
    power = "10" + "".join("⁻" if sign == "-" else "⁰¹²³⁴⁵⁶⁷⁸⁹"[int(sign)] for sign in str(int(exponent or 0)))
    return mantissa if not e else power if mantissa == "1" else f"{mantissa}·{power}"


def _subscript(digits: str) -> str:
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in digits)


def _title(name: str) -> str:
    # Not str.title: it would write "Bob'S" and lower the rest of "XOR".
    return " ".join(word[:1].upper() + word[1:] for word in re.split(r"[-_ ]+", name) if word)
