"""The columns of all tables, each defined once.

A kind of study refers to a column by its name (:class:`factormech.experiments.base.Column`) and adds only rules of its
rows. Two kinds that mean the same thing have the same name; two things have two names. The page of all columns is
``docs/columns.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from factormech.errors import UnknownName

TEXT: Literal["text"] = "text"
INTEGER: Literal["integer"] = "integer"
NUMBER: Literal["number"] = "number"


@dataclass(frozen=True)
class Meaning:
    """What a column is, in whichever table it stands.

    Parameters
    ----------
    name
        The name in CSV files.
    type
        The type of the values.
    label
        What a reader calls it, as on an axis: "privacy budget ε".
    symbol
        The same in a few characters, as at the head of a column or in "ε = 0.5"; "" if the label is used.
    unit
        The unit, or what is counted; "" for pure numbers.
    description
        The meaning in a sentence.
    """

    name: str
    type: Literal["text", "integer", "number"]
    label: str
    symbol: str
    unit: str
    description: str


_ = Meaning
# fmt: off
MEANINGS = (
    _("accuracy", NUMBER, "accuracy 1/α", "1/α", "", "Inverse 1/α of the target error."),
    _("advantage", NUMBER, "distinguishing advantage", "", "", "Average total variation."),
    _("algorithm", TEXT, "algorithm", "", "", "Algorithm that asks the queries."),
    _("alpha", NUMBER, "target error α", "α", "", "Error or loss that is to be reached."),
    _("analytic_sigma", NUMBER, "analytic σ", "σ*", "",
      "Minimum σ of Gaussian noise that is (ε, δ)-private at sensitivity 1."),
    _("answer_gap", NUMBER, "difference of answers", "gap", "", "W_v·(λ_v − μ_v)."),
    _("average_variance", NUMBER, "average variance", "", "",
      "Of one user, summed over the queries, averaged over the types."),
    _("best_depth", NUMBER, "best depth", "", "", "Number of subspaces of minimum estimated cost, with these shares."),
    _("beyond", NUMBER, "runs beyond d", "", "", "Runs that met a law of which d is too small, and that failed."),
    _("bias_p_value", NUMBER, "p of the bias", "", "", "One-sided."),
    _("bias_ratio", NUMBER, "bias ratio", "", "", "Scaled squared error of the mean estimate over the exact error."),
    _("bias_share", NUMBER, "share of the error that is bias, a/α", "a/α", "",
      "Share of the error α that the factors may miss the workload by."),
    _("body", TEXT, "polytope", "", "",
      "Built-in workload of two or three linearly independent queries, with its domain size: prefix/3."),
    _("bound_method", TEXT, "proof of the bound", "", "", "How the lower bound is proved."),
    _("bound_name", TEXT, "bound", "", "", "Which lower bound it is."),
    _("bound_t", NUMBER, "t of the bound", "", "", "Half-gap of the pairs over α."),
    _("calibration", TEXT, "calibration", "", "", "Analytic, or classical (for ε below 1)."),
    _("cap", NUMBER, "cap NC*(ε')", "", "nats", "Information that N private reports cannot exceed; none for errors."),
    _("centres", INTEGER, "clusters", "", "", "Number of clusters."),
    _("certainty", TEXT, "certainty", "", "", "certified, or estimate (from below)."),
    _("certificate", TEXT, "certificate", "", "", "Certificate of the bound: trace, or weights of pairs."),
    _("certified_gap", NUMBER, "certified gap", "", "", "Average variance over the solver's own lower bound, less 1."),
    _("certified_users", INTEGER, "users needed", "N ≥", "users",
      "Users that every mechanism of the class needs, certified."),
    _("choice", TEXT, "choice", "", "", "Grid; best where the users are fewest, searched as well."),
    _("class_size", INTEGER, "size of the class", "d", "",
      "Size of the class: bits of a point, points of thresholds and of points, side of a grid."),
    _("closed_form", NUMBER, "closed form of κ", "", "", "Where there is one."),
    _("competitor", TEXT, "competitor", "", "", "The best of the others."),
    _("competitor_sample_complexity", NUMBER, "users of the competitor", "", "users",
      "Users that the competitor needs."),
    _("concept_class", TEXT, "concept class", "", "",
      "Name of a concept class, or `file:PATH` of a matrix of labels ±1."),
    _("concepts", INTEGER, "concepts |C|", "|C|", "", "Number of distinct concepts of the class."),
    _("coordinates", INTEGER, "coordinates d", "d", "", "Number of coordinates of a user's data."),
    _("correlation_error", NUMBER, "largest error of a correlation", "error", "",
      "Mean over the runs of the largest error of an answer."),
    _("crossover", NUMBER, "users where noise with projection is as bad as the γF factors", "crossover", "users",
      "Interpolated; empty where the curves do not cross."),
    _("data", TEXT, "data set", "", "", "Name of a data set; domain sizes must divide its 4096 bins."),
    _("data_family", TEXT, "family of the worst data found", "", "",
      "Family of data sets that has the worst data found."),
    _("delta", NUMBER, "failure probability δ", "δ", "", "Failure probability δ of (ε, δ)-privacy; 0 is pure privacy."),
    _("depth", INTEGER, "subspaces", "", "", "Number of subspaces; a body with fewer has a reason beyond its last."),
    _("directions", TEXT, "directions", "", "", "Unit directions: euclidean- or maximum-directions."),
    _("distance", NUMBER, "distance a", "a", "",
      "Largest absolute entry by which the factors miss the workload: the largest bias of an answer."),
    _("distortion", NUMBER, "E max distortion", "", "", "Of distances between vertices."),
    _("domain_size", INTEGER, "domain size n", "n", "user types", "Number of user types n."),
    _("draws", NUMBER, "draws", "", "", "How many draws a simulation took."),
    _("element", TEXT, "element", "", "", "Corner, facet (k corners each), ellipsoid or direction."),
    _("entry_error", NUMBER, "error α of every entry", "α", "",
      "Error that the factors may have at every entry of the matrix."),
    _("epsilon", NUMBER, "privacy budget ε", "ε", "", "Privacy budget ε."),
    _("error_constant", NUMBER, "error·Nε/2w(K)", "", "", "Error of a release over 2w(K)/Nε."),
    _("error_probability", NUMBER, "larger error probability", "error", "",
      "The larger of the probabilities of a miss and of a false alarm."),
    _("estimate", NUMBER, "estimate of the dimension", "SQD ≥", "",
      "1/V of the best law found; an estimate from below."),
    _("exact_error", NUMBER, "exact error", "", "",
      "Expectation of the error of the estimate as the mechanism gives it."),
    _("exact_l2", NUMBER, "exact E‖·‖²", "", "", "By formula, bias included."),
    _("exact_users", INTEGER, "users predicted at a = 0", "", "users",
      "Users that exact factors need, by the central limit."),
    _("excess", NUMBER, "expected excess loss", "L − L*", "", "Mean over the runs, worst law found."),
    _("excluded", TEXT, "excluded", "", "", "Mechanisms that do not compete."),
    _("factor", NUMBER, "E w(TK)/w(K) of Gaussian T", "cℓ", "", "The exact one."),
    _("factor_error", NUMBER, "error of the factors", "factors", "", "The error over σ m_p."),
    _("factorization", TEXT, "factorization", "", "", "The factorization."),
    _("factors", TEXT, "factors", "", "", "Shifted: of γ̂₂(W, a); approximate: of γ₂(W, a)."),
    _("false_alarm", NUMBER, "probability of a false alarm", "alarm", "", "On the worst fair coins found."),
    _("false_alarm_high", NUMBER, "upper end of alarms", "", "", "Clopper–Pearson, 99.5 %."),
    _("false_alarm_low", NUMBER, "lower end of alarms", "", "", "Clopper–Pearson, 99.5 %."),
    _("family", TEXT, "family", "", "", "Family of queries."),
    _("fewest_queries", NUMBER, "fewest queries", "", "queries", "Queries of the run with the fewest."),
    _("fewest_users", NUMBER, "fewest users", "", "users", "Users of the run with the fewest."),
    _("field", TEXT, "vector fields", "", "", "Constant, or square-root."),
    _("final_seconds", NUMBER, "final seconds", "", "s", "Seconds at the end."),
    _("final_variance", NUMBER, "final variance", "", "", "Average variance at the end."),
    _("first_probability", NUMBER, "λ_v(x)", "λ", "", "Probability of the type under λ_v."),
    _("flips", INTEGER, "answers turned over", "flips", "",
      "Answers in which a type differs from the centre of its cluster."),
    _("floor", NUMBER, "least possible", "", "", "By Grothendieck's inequality."),
    _("form", TEXT, "form", "", "", "One query: 1/V; sequential reports: 1/‖M‖ of the same pair."),
    _("frobenius_error", NUMBER, "error E‖·‖, Frobenius norm", "", "",
      "Expected error in Frobenius norm, on the worst data found."),
    _("gamma_2", NUMBER, "γ₂ of the factors", "γ₂", "", "The largest row norm of the ellipsoid."),
    _("gap", NUMBER, "gap", "", "", "Multiple of the lower bound that is to be reached."),
    _("gaussian_error", NUMBER, "predicted on these data", "", "", "Central limit, full covariance."),
    _("growth", NUMBER, "published growth", "", "", "As published, without a constant."),
    _("growth_scaled", NUMBER, "published growth, scaled", "", "",
      "The growth, or its root where it is of users, scaled to the lower bound at the largest size."),
    _("guaranteed_drawn", INTEGER, "users drawn (guaranteed)", "", "users",
      "Users drawn from a distribution with which the target is reached, proved for every distribution."),
    _("guaranteed_error", NUMBER, "guaranteed error", "", "",
      "Proved upper bound on the expected error, for all data."),
    _("guaranteed_loss", NUMBER, "guaranteed loss", "", "",
      "Loss that a run does not exceed, but for its failure probability."),
    _("guaranteed_queries", NUMBER, "guaranteed queries", "", "queries",
      "Queries that a run does not exceed, but for its failure probability; ∞ without a guarantee."),
    _("guaranteed_users", INTEGER, "users (guaranteed)", "", "users",
      "Users with which the target is reached, proved for this number of users."),
    _("half_delta", NUMBER, "largest δ of half the pure floor", "δ½", "",
      "Up to this δ, √V of the unit shift is at least half of that at δ = 0."),
    _("hard_types", INTEGER, "types of the hard instances", "m", "user types", "Size of the face; 0 without a bound."),
    _("high", NUMBER, "upper end", "", "", "Upper end of the confidence interval of the measured number."),
    _("improvement", NUMBER, "competitor over mechanism", "ratio", "",
      "Users that the competitor needs over those that the mechanism needs."),
    _("interval_high", NUMBER, "interval, high", "", "", "Of the exact error."),
    _("interval_low", NUMBER, "interval, low", "", "", "Of the exact error."),
    _("is_best", INTEGER, "whether ℓ is the best", "", "",
      "1, but 0 for numbers of rows ℓ that err more than another."),
    _("iterations", NUMBER, "iterations", "", "", "That were clocked, or told of."),
    _("jl_rows", INTEGER, "rows ℓ", "ℓ", "",
      "Rows of the random matrix of a Johnson–Lindenstrauss projection; 0 for mechanisms without one."),
    _("kind", TEXT, "kind", "", "", "Kind of the table."),
    _("known", TEXT, "what is known", "", "", "Where the known ends come from."),
    _("known_lower", NUMBER, "known, lower", "", "", "Closed form or published."),
    _("known_upper", NUMBER, "known, upper", "", "", "Closed form or published."),
    _("l2_deviations", NUMBER, "deviations", "", "", "Measured less exact squares, in standard errors."),
    _("l2_error", NUMBER, "error E‖·‖₂/√k", "", "",
      "Expected ℓ₂ error over √k, a mean of norms, on the worst data found."),
    _("largest_loss", NUMBER, "largest loss", "", "", "Largest loss over the runs."),
    _("largest_size", INTEGER, "largest size", "", "", "Of these."),
    _("learner", TEXT, "learner", "", "", "Learner, by the randomizer of its reports or by its tolerance and oracle."),
    _("learner_dimension", NUMBER, "dimension d of the learner", "d", "",
      "At least 1/V at all laws that the pilot runs met, certified."),
    _("least_noise", NUMBER, "least noise √V", "√V ≥", "",
      "Certified lower end of √V(ε, δ), the root mean square of noise that hides the shifts."),
    _("least_noise_upper", NUMBER, "least noise √V, from above", "√V ≤", "",
      "Root mean square of a noise that hides the shifts."),
    _("least_seconds", NUMBER, "least seconds", "", "s", "Shortest iteration."),
    _("least_users", NUMBER, "users needed", "", "users", "Users below which no protocol for the task exists, proved."),
    _("level", NUMBER, "level", "", "", "Probability that the interval misses, both sides together."),
    _("limit", NUMBER, "limit", "", "", "Proved upper bound for every mechanism, protocol or algorithm of the class."),
    _("local_slope", NUMBER, "local slope of ln N in ln 1/α", "", "", "Slope between the neighbouring values of 1/α."),
    _("logarithm", NUMBER, "ln(n)/π", "", "", "Growth of the factorization norms of the prefix workload."),
    _("long", INTEGER, "long queries", "", "", "How many are longer than the others."),
    _("loss", NUMBER, "expected loss", "L", "", "Mean over the runs, worst law found."),
    _("low", NUMBER, "lower end", "", "", "Lower end of the confidence interval of the measured number."),
    _("lower", NUMBER, "lower end", "", "",
      "Certified lower end of the quantity or norm of the row; information and divergences in nats."),
    _("lower_bound", NUMBER, "lower bound", "bound", "",
      "Lower bound on the error, variance or number of users of the row, for every mechanism of the bound's class."),
    _("lower_slope", NUMBER, "local slope of the lower bound", "", "", "Between the neighbours."),
    _("matrix", TEXT, "entries", "", "", "Entries of the random matrix: gaussian N(0, 1/ℓ), or signs ±1/√ℓ."),
    _("mean_queries", NUMBER, "queries", "", "queries", "Mean number of queries over the runs."),
    _("mean_squared_error", NUMBER, "mean squared error per query", "error", "",
      "Expected squared error per query, on the worst data or above it."),
    _("mean_users", NUMBER, "users", "", "users", "Mean number of users over the runs that learned."),
    _("measured_error", NUMBER, "measured error", "", "", "Mean of the errors over the trials."),
    _("measured_high", NUMBER, "upper end of the measured error", "", "",
      "Upper end of the confidence interval of the measured error."),
    _("measured_l2", NUMBER, "measured mean of ‖·‖²", "", "", "Mean of the measured squared errors."),
    _("measured_low", NUMBER, "lower end of the measured error", "", "",
      "Lower end of the confidence interval of the measured error."),
    _("measured_users", INTEGER, "users N", "N", "users", "Fewest users with which the target is reached, measured."),
    _("mechanism", TEXT, "mechanism", "", "", "Mechanism of the row; `lower-bound` where the row is a bound."),
    _("merged", INTEGER, "merged concepts", "", "", "Duplicates that were left out."),
    _("method", TEXT, "method", "", "", "How the numbers were computed."),
    _("metric", TEXT, "metric", "", "", "Error that is measured, or that α bounds."),
    _("miss", NUMBER, "probability of a miss", "miss", "", "On the worst law found."),
    _("miss_high", NUMBER, "upper end of misses", "", "", "Clopper–Pearson, 99.5 %."),
    _("miss_low", NUMBER, "lower end of misses", "", "", "Clopper–Pearson, 99.5 %."),
    _("model", TEXT, "model", "", "", "Model of privacy: a pan-private stream, or sequential reports."),
    _("most_queries", NUMBER, "most queries", "", "queries", "Queries of the run with the most."),
    _("most_users", NUMBER, "most users", "", "users", "Users of the run with the most."),
    _("needed_users", NUMBER, "users N", "N", "users", "Users that the task needs, predicted or measured."),
    _("net_size", NUMBER, "types in the net", "", "user types", "Types in the net that Coarse JL release chose."),
    _("non_interactive_limit", NUMBER, "limit of non-interactive protocols", "", "", "What none of them exceeds."),
    _("norm", TEXT, "norm", "", "", "Factorization norm of the row."),
    _("norm_product", NUMBER, "‖R‖‖A‖", "", "", "Of the factors, if any."),
    _("norm_value", NUMBER, "norm", "", "", "Upper end of the norm of the class."),
    _("number", INTEGER, "number", "", "", "Of a point of this element, from 0."),
    _("oracle", TEXT, "oracle", "", "", "Oracle that answers the queries."),
    _("order_p_error", NUMBER, "error of order p", "error", "",
      "(E‖·‖_p^p / k)^(1/p) for p < ∞, exact; E‖·‖_∞ for p = ∞, simulated."),
    _("origin", TEXT, "origin", "", "", "Digest of the part that the row comes from."),
    _("p", NUMBER, "order of error p", "p", "",
      "Order p of the error: of the mean of |error|^p over queries and noise; inf is the largest error."),
    _("p_value", NUMBER, "p", "", "", "Two-sided, of the deviation."),
    _("pan_private_bound", NUMBER, "lower bound for a pan-private stream", "N_pan", "users",
      "Fewer users do not refute at the guaranteed loss."),
    _("panel", TEXT, "panel", "", "", "What its panel of the figure shows."),
    _("part", TEXT, "sizes used", "", "", "`all` domain sizes, or the `upper-half`."),
    _("polytope_width", NUMBER, "least width κ", "κ", "", "Of the sensitivity polytope."),
    _("population", TEXT, "population", "", "", "Synthetic population that the users are drawn from."),
    _("predicted", NUMBER, "predicted bound", "", "", "Central-limit bound on the error or loss, for every law."),
    _("predicted_drawn", INTEGER, "users drawn (predicted)", "", "users",
      "Users drawn from a distribution with which the target is reached, by the central limit."),
    _("predicted_error", NUMBER, "predicted for every data set", "", "", "Central limit, union bound."),
    _("predicted_users", INTEGER, "users (predicted)", "N", "users",
      "Users with which the target is reached, by the central limit."),
    _("privacy_loss", NUMBER, "verified ε", "", "", "At most ε, rigorous."),
    _("processing", TEXT, "processing", "", "", "What was done to the estimate."),
    _("protocol", TEXT, "protocol", "", "", "Protocol of the local model."),
    _("quantity", TEXT, "quantity", "", "", "What the numbers of the row are."),
    _("queries", INTEGER, "queries k", "k", "queries", "Number of queries k."),
    _("queries_asked", INTEGER, "queries J", "J", "queries", "Number of correlational queries that are asked."),
    _("query", INTEGER, "query v", "v", "", "From 0."),
    _("ratio_high", NUMBER, "ratio, upper end", "", "", "Upper end of the interval of the ratio."),
    _("ratio_low", NUMBER, "ratio, lower end", "", "", "Lower end of the interval of the ratio."),
    _("ratio_to_analytic", NUMBER, "σ over the analytic σ", "", "", "At least 1."),
    _("ratio_to_bound", NUMBER, "ratio to the lower bound", "over bound", "",
      "Error, variance, noise or users of the row over the lower bound."),
    _("ratio_to_exact", NUMBER, "measured over exact", "ratio", "", "Measured error over the exact one."),
    _("ratio_to_least", NUMBER, "users over the least", "", "", "Predicted users over those of the best share."),
    _("ratio_to_unprocessed", NUMBER, "processed over unprocessed", "ratio", "",
      "Measured error over the exact one of the unprocessed estimate."),
    _("ratio_to_width", NUMBER, "distortion, and width, over w(K)", "", "",
      "Mean of the quantity over the Gaussian width w(K)."),
    _("reason", TEXT, "reason", "", "", "Why there are no numbers, where there are none."),
    _("refuter", TEXT, "refuter", "", "", "By the randomizer of its reports."),
    _("relation", TEXT, "neighbours", "", "", "Which data are neighbours."),
    _("relative_scale", NUMBER, "relative scale", "", "", "Of the law of the error of one trial."),
    _("relative_variance", NUMBER, "relative variance", "", "", "Of the error of one trial."),
    _("residual", NUMBER, "residual", "", "", "Root mean square of the logarithms from the line."),
    _("rms_error", NUMBER, "root mean square error per query", "error", "",
      "(E‖·‖₂²/k)^½, on the worst data (of a projection: the worst data found)."),
    _("root_lower_bound", NUMBER, "bound on the root mean square", "√V γ₂", "", "√V(ε, δ) γ₂, below (E‖·‖_∞²)^½."),
    _("root_mean_square", NUMBER, "root mean square of the largest error", "(E‖·‖_∞²)^½", "",
      "(E‖·‖_∞²)^½, simulated, for p = ∞."),
    _("row_factor", INTEGER, "rows of the start over domain size, m/n", "m/n", "",
      "Rows that the solver was allowed, over n."),
    _("rows", INTEGER, "rows m", "m", "outputs", "Outputs m of the strategy, where a solver chose them."),
    _("sample_complexity", NUMBER, "users N", "N", "users",
      "Users that the mechanism needs to reach the target error."),
    _("scaled_disjointness_bound", NUMBER, "lower bound by set disjointness", "", "",
      "Lower bound on protocols that are right on every law, in the units of scaled users."),
    _("scaled_error", NUMBER, "error times Nε", "", "", "Nε·E‖·‖₂/√k, over ladders and noise."),
    _("scaled_high", NUMBER, "upper end, scaled", "", "", "Upper end of the interval of scaled users."),
    _("scaled_logarithm", NUMBER, "σ mₚ ln(n)/π (p = ∞: σ ln(n)/π)", "σ mₚ ln(n)/π", "",
      "σ m_p ln(n)/π for p < ∞; σ ln(n)/π for p = ∞; σ of sensitivity 1."),
    _("scaled_low", NUMBER, "lower end, scaled", "", "", "Lower end of the interval of scaled users."),
    _("scaled_non_interactive_bound", NUMBER, "lower bound, non-interactive", "", "",
      "Lower bound on all non-interactive protocols, in the units of scaled users."),
    _("scaled_norm_lower", NUMBER, "Γ_p, from below", "Γ ≥", "", "Certified lower end of Γ_p = k^{1/p}γ₍ₚ₎."),
    _("scaled_norm_upper", NUMBER, "Γ_p, from above", "Γ ≤", "", "Certified upper end of Γ_p = k^{1/p}γ₍ₚ₎."),
    _("scaled_root_mean_square", NUMBER, "root mean square times Nε", "", "",
      "Nε times the root mean square error, which is at least the mean."),
    _("scaled_sequential_bound", NUMBER, "lower bound, sequential", "", "",
      "Lower bound on all sequential protocols, in the units of scaled users."),
    _("scaled_users", NUMBER, "N·g²/(c²d)", "", "", "Users in units of c²d/g²."),
    _("scaling", TEXT, "scaling", "", "", "Constant that the mean is multiplied by."),
    _("second_probability", NUMBER, "μ_v(x)", "μ", "", "Probability of the type under μ_v."),
    _("seconds", NUMBER, "seconds", "", "s",
      "Of the processor: the mean of an iteration, or until the gap was reached."),
    _("seed", INTEGER, "seed", "", "", "Seed of what is random, beside the seed of the whole project."),
    _("sensitivity", NUMBER, "sensitivity", "Δ", "", "At least the largest column norm of R."),
    _("sequential_bound", NUMBER, "lower bound for sequential reports", "N_seq", "users",
      "Fewer users do not refute at the guaranteed loss."),
    _("sequential_limit", NUMBER, "limit of every protocol", "", "", "What no sequential protocol exceeds."),
    _("set_size", NUMBER, "types in a set of the packing", "", "", "Of the best packing."),
    _("setting", TEXT, "setting", "", "", "Central, or local: the growth is of numbers of users."),
    _("shape", TEXT, "queries × types", "k × n", "", "Numbers of queries k and of user types n, as 16x256."),
    _("share", NUMBER, "share", "", "", "Share of the entropy of the sets, or of the runs in which the sets meet."),
    _("share_of_limit", NUMBER, "share of the limit", "", "", "The lower end over the limit."),
    _("shifts", TEXT, "shifts that are hidden", "", "", "Unit, or interval: all in [−1, 1]."),
    _("shown", TEXT, "shown", "", "", "What `users` is: predicted, or a lower bound on every protocol."),
    _("sigma", NUMBER, "noise σ", "σ", "", "Standard deviation of the Gaussian noise."),
    _("size", INTEGER, "size T or d", "", "", "Number of types T, or of attributes d."),
    _("sizes", INTEGER, "sizes", "", "", "How many have a number above 0."),
    _("skew", NUMBER, "skew: length of a long query over that of the others", "skew", "",
      "How many times as long the long queries are as the others."),
    _("slope", NUMBER, "slope", "", "", "Of log users against log domain size, least squares."),
    _("smallest_size", INTEGER, "smallest size", "", "", "Of these."),
    _("source", TEXT, "source", "", "", "The statement."),
    _("sparsity", NUMBER, "sparsity of the worst data found", "s", "",
      "User types, or directions, in the worst data found; empty where all data have one error."),
    _("spent_delta", NUMBER, "δ spent", "", "", "Least δ at this σ."),
    _("split", TEXT, "shares of ε", "shares", "", "Shares of ε: those of least E‖Z‖², or equal."),
    _("sq_dimension", NUMBER, "statistical-query dimension", "", "", "Lower end of the dimension."),
    _("standard_error", NUMBER, "standard error", "", "", "Of the measured error."),
    _("start", INTEGER, "start", "", "", "Which random start."),
    _("statistic", TEXT, "statistic", "", "", "What is released: second-moment or covariance."),
    _("status", TEXT, "status", "", "", "`ok`, or another label with a `reason`."),
    _("stopped", TEXT, "stopped", "", "", "Why the solver or the simulation stopped."),
    _("study", TEXT, "study", "", "", "Name of the study in the configuration."),
    _("subspace_noise", TEXT, "noise of a subspace", "", "",
      "Noise of the projected body, or projected noise of the body."),
    _("success", NUMBER, "share of successes", "", "", "Share of the runs that succeed."),
    _("success_high", NUMBER, "upper end of the share", "", "",
      "Upper end of the Clopper–Pearson interval of the share of successes."),
    _("success_low", NUMBER, "lower end of the share", "", "",
      "Lower end of the Clopper–Pearson interval of the share of successes."),
    _("target_share", NUMBER, "target share of successes", "", "", "Share of the runs that must succeed."),
    _("task", TEXT, "task", "", "", "What is done, and how."),
    _("theta", NUMBER, "θ", "θ", "", "What the concepts may lose."),
    _("tolerance", NUMBER, "tolerance τ", "τ", "", "Tolerance τ of the oracle."),
    _("total_error", NUMBER, "total error", "total", "", "(E‖·‖_p^p)^(1/p) for p < ∞; E‖·‖_∞ for p = ∞."),
    _("trace_bound", NUMBER, "trace bound", "", "", "‖W‖_*/√(kn)."),
    _("trace_lower", NUMBER, "trace bound", "", "", "√V·k^{1/p−½}n^{−½}‖W‖_{S₁}: Theorem 3."),
    _("trials", INTEGER, "trials", "", "", "Independent runs, or collections, at the point."),
    _("tried", INTEGER, "numbers of users tried", "", "", "How many numbers of users were simulated."),
    _("type", INTEGER, "type x", "x", "", "From 0."),
    _("upper", NUMBER, "upper end", "", "",
      "Certified upper end of the quantity or norm of the row; the lower end where nothing is certified."),
    _("users", INTEGER, "users N", "N", "users", "Number of users N."),
    _("users_per_query", NUMBER, "users per query", "", "users", "Users for the tolerance 1/(3d)."),
    _("users_times_epsilon", NUMBER, "users times privacy budget, Nε", "Nε", "users",
      "Product Nε, of a whole number of users N."),
    _("variance", NUMBER, "variance", "", "", "Of one user drawn from the data, summed over the queries."),
    _("violation", NUMBER, "violation", "", "", "Of the conditions of the optimum, relative."),
    _("weight", NUMBER, "weight of the pair", "π", "", "Π_v."),
    _("width", NUMBER, "Gaussian width w(K)", "w", "", "Within about 1 %."),
    _("width_lower", NUMBER, "lower end of κ", "κ ≥", "",
      "Certified lower end of the least width κ of the sensitivity polytope."),
    _("width_upper", NUMBER, "least width κ", "κ ≤", "",
      "Upper end of the least width κ of the sensitivity polytope: the width in a direction."),
    _("workload", TEXT, "workload", "", "", "Name of a workload, built-in or user-defined."),
    _("worst_answer_variance", NUMBER, "worst variance of an answer", "", "",
      "Largest variance of one answer, of one user."),
    _("worst_data", TEXT, "worst data found", "worst data", "", "Of these users."),
    _("worst_ratio", NUMBER, "worst variance over the same bound", "worst ratio", "",
      "Worst variance over the lower bound on the average variance."),
    _("worst_variance", NUMBER, "worst variance", "", "", "Of one user, summed over the queries, on the worst data."),
    _("x", NUMBER, "first query", "x", "", "A coordinate."),
    _("y", NUMBER, "second query", "y", "", "A coordinate."),
    _("z", NUMBER, "third query", "z", "", "A coordinate, of three queries."),
    _("z_score", NUMBER, "z", "z", "", "Deviation of the measured error over its exact standard deviation."),
)
# fmt: on
VOCABULARY = {meaning.name: meaning for meaning in MEANINGS}


def meaning(name: str) -> Meaning:
    """Return what the column of this name means.

    Parameters
    ----------
    name
        The name of a column.

    Returns
    -------
    Meaning
        Its type, label, symbol, unit and description.

    Raises
    ------
    UnknownName
        If no column has this name.

    Examples
    --------
    >>> meaning("users").label
    'users N'
    """
    if name not in VOCABULARY:
        raise UnknownName("column", name, list(VOCABULARY))
    return VOCABULARY[name]
