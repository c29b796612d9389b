"""The names that columns had before all kinds shared one vocabulary: older tables are read by them.

No kind has one of its older names as a new one, so that names can be replaced in any table, older or not.
"""

from __future__ import annotations

# Kind of table → name in older tables → name in the vocabulary.
# fmt: off
RENAMED: dict[str, dict[str, str]] = {
    "central-bounds": {
        "sigma": "analytic_sigma", "upper": "total_error", "lower": "lower_bound", "ratio": "ratio_to_bound",
        "norm_lower": "scaled_norm_lower", "norm_upper": "scaled_norm_upper",
    },
    "central-errors": {"error": "order_p_error", "total": "total_error"},
    "central-prefix": {"error": "order_p_error", "total": "total_error", "logarithm": "scaled_logarithm"},
    "channel-information": {"share": "share_of_limit"},
    "class-norms": {
        "alpha": "entry_error", "norm_of_class": "quantity", "value": "norm_value", "low": "lower", "high": "upper",
    },
    "coarse-jl": {
        "product": "users_times_epsilon", "error": "l2_error", "method": "bound_method", "rows": "jl_rows", "kept":
        "net_size",
    },
    "consistency": {"ratio": "ratio_to_unprocessed", "interval_low": "measured_low", "interval_high": "measured_high"},
    "correlational-queries": {
        "constant": "scaling", "queries": "queries_asked", "error": "correlation_error", "bound": "guaranteed_error",
    },
    "correlational-success": {"queries": "queries_asked"},
    "disjointness": {
        "gap": "mean_gap", "dimension": "coordinates", "value": "share", "least": "lower_bound", "most": "cap",
    },
    "every-protocol": {
        "error": "mean_squared_error", "ratio": "ratio_to_bound", "information": "certificate", "types": "hard_types",
    },
    "few-users": {"error": "rms_error", "guarantee": "guaranteed_error"},
    "full-parity": {"product": "users_times_epsilon", "error": "l2_error", "method": "bound_method"},
    "full-parity-users": {
        "users": "measured_users", "slope": "local_slope", "lower_bound": "certified_users", "method": "bound_method",
    },
    "gaussian-calibration": {"ratio": "ratio_to_analytic"},
    "hard-pairs": {"gap": "answer_gap", "first": "first_probability", "second": "second_probability"},
    "improvement": {"ratio": "improvement"},
    "initialisation": {"ratio": "ratio_to_bound"},
    "jl-distortion": {"rows": "jl_rows", "value": "ratio_to_width"},
    "learning-users": {
        "users": "needed_users", "promised": "target_share", "share": "success", "share_low": "success_low",
        "share_high": "success_high",
    },
    "local-approximation": {"ratio": "ratio_to_least", "share": "bias_share"},
    "local-error": {"measured": "measured_error"},
    "local-release": {
        "ratio": "ratio_to_bound", "worst_variance": "worst_answer_variance", "bound_formula": "bound_method",
    },
    "noise-floor": {
        "lower": "least_noise", "upper": "least_noise_upper", "gaussian_sigma": "analytic_sigma", "ratio":
        "ratio_to_bound",
    },
    "norms": {"alpha": "entry_error"},
    "optimality-gap": {"ratio": "ratio_to_bound"},
    "pan-private": {
        "dimension": "learner_dimension", "users": "mean_users", "least": "fewest_users", "most": "most_users",
        "promised": "guaranteed_users", "learned": "success", "learned_low": "success_low", "learned_high":
        "success_high", "needed": "target_share",
    },
    "polytope-width": {"lower": "width_lower", "upper": "width_upper"},
    "prefix-factorizations": {"order": "p", "error": "order_p_error", "ratio": "ratio_to_bound"},
    "published-bounds": {
        "sigma": "analytic_sigma", "upper": "total_error", "lower": "lower_bound", "ratio": "ratio_to_bound",
        "norm_lower": "scaled_norm_lower", "norm_upper": "scaled_norm_upper",
    },
    "pure-constants": {
        "product": "users_times_epsilon", "error": "l2_error", "method": "bound_method", "constant": "error_constant",
    },
    "pure-covariance": {"dimension": "coordinates", "product": "users_times_epsilon", "error": "frobenius_error"},
    "pure-marginals": {
        "product": "users_times_epsilon", "error": "l2_error", "method": "bound_method", "rows": "jl_rows", "kept":
        "net_size",
    },
    "pure-random-queries": {
        "product": "users_times_epsilon", "error": "l2_error", "method": "bound_method", "rows": "jl_rows", "best":
        "is_best", "family": "data_family",
    },
    "pure-skew": {"product": "users_times_epsilon", "error": "l2_error", "method": "bound_method", "rows": "jl_rows"},
    "query-complexity": {
        "dimension": "learner_dimension", "queries": "mean_queries", "least": "fewest_queries", "most":
        "most_queries", "promised": "guaranteed_queries", "learned": "success", "learned_low": "success_low",
        "learned_high": "success_high", "needed": "target_share", "loss": "largest_loss", "promised_loss":
        "guaranteed_loss",
    },
    "recursion-depths": {
        "form": "subspace_noise", "error": "scaled_error", "root_mean_square": "scaled_root_mean_square", "best":
        "best_depth",
    },
    "refutation": {"error": "error_probability"},
    "selection": {
        "gap": "mean_gap", "dimension": "coordinates", "users": "needed_users",
        "sequential_bound": "scaled_sequential_bound",
        "non_interactive_bound": "scaled_non_interactive_bound", "disjointness_bound": "scaled_disjointness_bound",
        "promised_users": "guaranteed_users",
    },
    "selection-success": {"gap": "mean_gap", "dimension": "coordinates"},
    "simulated-collection": {"ratio": "ratio_to_exact", "z": "z_score"},
    "sq-dimension": {"status": "certainty", "dimension": "sq_dimension", "high": "upper"},
}
# fmt: on
