"""The generated tables of ``docs/papers/*.md``: what the papers leave open, from the tables of the gallery.

Used by ``paper_numbers.py``. A block stands between ``<!-- numbers: NAME -->`` and ``<!-- end of numbers -->``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from factormech.labels import bound_label, data_label, mechanism_label, workload_label
from factormech.norms.symmetric_marginals import approximate_degree, approximate_norm
from factormech.tables.compare import improvement

OPTIMISED = "adaptive-pgd"
HADAMARDS = ("hadamard-table1", "hadamard")
WORST_CASE, STANDIN = "worst-case", "-standin"
BEST = "optimised"
OURS = (OPTIMISED, BEST)
END = "<!-- end of numbers -->"


def fill(page: str, name: str, body: str) -> str:
    """The page with a block filled; a page that has not exactly one such block is refused."""
    start = f"<!-- numbers: {name} -->"
    found = re.findall(re.escape(start) + r"\n.*?" + re.escape(END), page, flags=re.DOTALL)
    if len(found) != 1 or page.count(start) != 1:
        raise SystemExit(f"the page has {len(found)} blocks {name!r} for one")
    return page.replace(found[0], f"{start}\n{body}\n{END}")


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def number(value: float, digits: int = 3) -> str:
    """A ratio, or a dash where there is none."""
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def real(frame: pd.DataFrame) -> pd.DataFrame:
    """The table, if its data sets are the real ones: of stand-ins the paper says nothing."""
    made_up = sorted({name for name in frame["data"] if name.endswith(STANDIN)})
    if made_up:
        raise SystemExit(f"the table {frame['study'].iloc[0]} is of {', '.join(made_up)}: run `snakemake data` first")
    return frame


def needed_on_data(frame: pd.DataFrame) -> pd.DataFrame:
    """Sample complexities, mechanisms × data sets."""
    ok = real(frame)[frame["status"] == "ok"]
    return ok.pivot_table(index="mechanism", columns="data", values="sample_complexity", sort=False)


def over_best(frame: pd.DataFrame, mechanism: str) -> pd.DataFrame:
    """The starts of a mechanism with ``over_best``: worst-case variance over the best found on the workload."""
    ok = frame[(frame["status"] == "ok") & (frame["mechanism"] == mechanism)]
    best = ok.groupby("workload", sort=False)["worst_variance"].transform("min")
    return ok.assign(over_best=ok["worst_variance"] / best)


def medians(starts: pd.DataFrame) -> pd.DataFrame:
    """Median of ``over_best``, workloads × row factors."""
    return starts.pivot_table(index="workload", columns="row_factor", values="over_best", aggfunc="median", sort=False)


def iteration_slope(frame: pd.DataFrame) -> tuple[float, pd.Series]:
    """Slope of log(seconds) against log n over the larger half of the domain sizes, and the seconds by n."""
    single = frame[frame["quantity"] == "iteration"].sort_values("domain_size").set_index("domain_size")["seconds"]
    upper = single.iloc[len(single) // 2 :]
    return float(np.polyfit(np.log(upper.index.to_numpy(float)), np.log(upper.to_numpy()), 1)[0]), single


def gaps(frames: Sequence[pd.DataFrame]) -> str:
    """Median and largest average variance over the strongest bound: the two optimisers and the best of the others."""
    rows = []
    for frame in frames:
        axis = "ε" if len(set(frame["epsilon"])) > 1 else "n"
        ok = frame[frame["status"] == "ok"]
        for workload, part in ok.groupby("workload", sort=False):
            point = ["domain_size", "epsilon", *(["seed"] if "seed" in part else [])]
            others = part[~part["mechanism"].isin(OURS)].groupby(point)["ratio_to_bound"].min()
            columns = [part.loc[part["mechanism"] == m, "ratio_to_bound"] for m in OURS]
            told = [f"{number(c.median())} / {number(c.max())}" for c in (*columns, others)]
            rows.append([workload_label(str(workload)), axis, *told])
    return markdown(["workload", "over", *map(mechanism_label, OURS), "best of the others"], rows)


def worst_case(frames: Sequence[pd.DataFrame]) -> str:
    """Worst over average variance: what the relaxation of Problem 3.1 costs at most."""
    ok = pd.concat(frames)
    ok = ok[ok["status"] == "ok"].assign(share=lambda f: f["worst_variance"] / f["average_variance"])
    rows = []
    for workload, part in ok.groupby("workload", sort=False):
        columns = [part.loc[part["mechanism"] == m] for m in OURS]
        told = [f"{number(c['share'].max())} ({number(c['worst_ratio'].max())})" for c in columns]
        rows.append([workload_label(str(workload)), *told])
    return markdown(["workload", *map(mechanism_label, OURS)], rows)


def claims(frames: Sequence[pd.DataFrame]) -> str:
    """What the published optimiser gained on the best other, and what was left to gain, users over users."""
    gains = pd.concat([improvement(frame, OPTIMISED, [BEST]) for frame in frames])
    best = pd.concat([improvement(frame, BEST) for frame in frames])
    rows = []
    for workload, part in gains.groupby("workload", sort=False):
        ours = best.loc[best["workload"] == workload, "ratio_to_bound"]
        told = [(part["improvement"], 2), (part["ratio_to_bound"], 3), (ours, 3)]
        cells = (f"{number(column.median(), digits)} / {number(column.max(), digits)}" for column, digits in told)
        rows.append([workload_label(str(workload)), *cells])
    over = [f"{mechanism_label(m)} over the bound" for m in OURS]
    return markdown(["workload", f"best competitor over {mechanism_label(OPTIMISED)}", *over], rows)


def data(frame: pd.DataFrame) -> str:
    """Figure 3a: users needed, and what no mechanism made for the data goes below."""
    needed = needed_on_data(frame)
    bounds = real(frame).groupby("data")["lower_bound"].first()
    rows = []
    for name in needed.columns:
        column = needed[name]
        shown = [f"{column[OPTIMISED]:.0f}", f"{column[OPTIMISED] / needed[WORST_CASE][OPTIMISED]:.4f}"]
        shown += [f"{column[m]:.0f}" if m in column else "–" for m in (BEST, *HADAMARDS)]
        rows.append([data_label(str(name)), *shown, f"{bounds[name]:.4g}"])
    optimised = mechanism_label(OPTIMISED)
    header = ["data", optimised, "over its worst case", *map(mechanism_label, (BEST, *HADAMARDS)), "lower bound"]
    return markdown(header, rows)


def starts(frame: pd.DataFrame) -> str:
    """Figure 3b: medians over the best found, the largest spread of one m, and the best found over the bound."""
    rows, factors = [], sorted(frame["row_factor"].unique())
    for mechanism in dict.fromkeys(frame["mechanism"]):
        own = over_best(frame, mechanism)
        middle, by_rows = medians(own), own.groupby(["workload", "row_factor"])["over_best"]
        spread = (by_rows.max() / by_rows.min()).groupby("workload").max()
        least = own.groupby("workload")[["ratio_to_bound", "worst_ratio"]].min()
        for workload in middle.index:
            told = [number(middle.loc[workload].get(f, math.nan)) for f in factors]
            bound = f"{number(least['ratio_to_bound'][workload])} ({number(least['worst_ratio'][workload])})"
            rows.append([workload_label(workload), mechanism_label(mechanism), *told, number(spread[workload]), bound])
    header = ["workload", "mechanism", *(f"m = {f}n" for f in factors), "largest spread", "best over the bound"]
    return markdown(header, rows)


def times(frame: pd.DataFrame) -> str:
    """Figure 3c: seconds of an iteration, and how often and how soon a solver comes near the bound."""
    slope, single = iteration_slope(frame)
    told = ", ".join(f"{s:.3g} s at {n}" for n, s in single.items())
    rows = []
    to_gap = frame[(frame["quantity"] == "to-gap") & (frame["status"] != "unbounded")]
    for (mechanism, gap), part in to_gap.groupby(["mechanism", "gap"], sort=False):
        reached = part[part["status"] == "ok"]
        seconds = "–" if reached.empty else f"{reached['seconds'].median():.3g} / {reached['seconds'].max():.3g}"
        sizes = "–" if reached.empty else str(reached["domain_size"].max())
        rows.append([mechanism_label(str(mechanism)), f"{gap:g}", f"{len(reached)} of {len(part)}", sizes, seconds])
    header = ["mechanism", "within", "points reached", "largest n reached", "seconds, median / most"]
    return f"An iteration takes {told}; slope {slope:.2f} in the larger half.\n\n" + markdown(header, rows)


def consistency(frame: pd.DataFrame) -> str:
    """Error after non-negativity over the error before, with the fewest and the most users."""
    ok = real(frame)[frame["status"] == "ok"]
    ok = ok[ok["processing"] != "none"]
    ends = [ok["users"].min(), ok["users"].max()]
    table = ok[ok["users"].isin(ends)].pivot_table(
        index=["data", "mechanism"], columns=["users", "processing"], values="ratio_to_unprocessed", sort=False
    )
    kinds = list(dict.fromkeys(ok["processing"]))
    columns = [(users, kind) for users in ends for kind in kinds]
    words = {"nonnegative": "total free", "nonnegative-total": "total known"}
    rows = [
        [data_label(name), mechanism_label(mechanism), *(number(row.get(c, math.nan)) for c in columns)]
        for (name, mechanism), row in table.iterrows()
    ]
    return markdown(["data", "mechanism", *(f"{users} users, {words[kind]}" for users, kind in columns)], rows)


def slopes(frame: pd.DataFrame) -> str:
    """Figure 2: log-log slopes of the published optimiser and of the lower bounds, all sizes and the larger half."""
    ok = frame[frame["status"] == "ok"]
    who = {mechanism: mechanism_label(mechanism) for mechanism in OURS}
    who |= {name: bound_label(name) for name in dict.fromkeys(ok["bound_name"]) if name}
    own = ok.assign(who=ok["mechanism"].where(ok["bound_name"] == "", ok["bound_name"]))
    table = own.pivot_table(index="workload", columns=["who", "part"], values="slope", sort=False)
    rows = [
        [
            workload_label(str(workload)),
            *(" / ".join(number(row.get((w, p), math.nan), 2) for p in ("all", "upper-half")) for w in who),
        ]
        for workload, row in table.iterrows()
    ]
    return markdown(["workload", *who.values()], rows)


def prefix(frame: pd.DataFrame) -> str:
    """Theorem 5: what the optimum for prefix sums has beyond ln(n)/π, and where that goes if it goes on as it does."""
    best = frame[frame["factorization"] == "optimal"]
    sizes = sorted(best["domain_size"].unique())[-5:]
    rows = []
    for order, part in best.groupby("p"):
        beyond = (part["order_p_error"] - part["logarithm"]).set_axis(part["domain_size"])
        low, high = _limits(beyond)
        label = f"{order:g}".replace("inf", "∞")
        rows.append([label, *(f"{beyond[n]:.4f}" for n in sizes), f"{low:.3f} to {high:.3f}"])
    largest = frame[frame["domain_size"] == sizes[-1]]
    root = largest.loc[largest["factorization"] == "square-root", "ratio_to_bound"] - 1
    best = largest[largest["factorization"] == "optimal"]
    trace = (best["order_p_error"] / best["trace_bound"]).max() - 1
    told = (
        f"At the largest n the square root is {root.min():.1%} to {root.max():.1%} above the optimum, and the optimum "
        f"at most {trace:.1%} above the trace bound."
    )
    return markdown(["p", *(f"n = {n}" for n in sizes), "extrapolated"], rows) + f"\n\n{told}"


def _limits(beyond: pd.Series[float]) -> tuple[float, float]:
    """The range of limits of polynomials of degree one to three in 1/ln n, fitted to the last three to eight sizes."""
    x, y = 1 / np.log(beyond.index.to_numpy(dtype=float)), beyond.to_numpy()
    found = [np.polyfit(x[-m:], y[-m:], degree)[-1] for m in range(3, 9) for degree in range(1, 4) if m > degree]
    return min(found), max(found)


def marginals() -> str:
    """Corollary 6: γ₂(W, 1/6) of marginals of one width, from 2 to 256 attributes for each that a query reads."""
    rows = []
    for width in (1, 2, 3, 4, 9, 16):
        norms = [approximate_norm(width * 2**k, width, 1 / 6).upper for k in range(1, 9)]
        fit = np.polyfit(np.arange(8), np.log2(norms), 1)[0]
        last = math.log2(norms[-1] / norms[-2])
        shown = [f"{norms[k]:.4g}" for k in (0, 3, 7)]
        rows.append([str(width), *shown, f"{fit:.2f}", f"{last:.2f}", f"{approximate_degree(width, 1 / 6) / 2:g}"])
    header = [
        "w",
        *(f"d/w = {ratio}" for ratio in (2, 16, 256)),
        "exponent, fitted",
        "in the last octave",
        "half the degree",
    ]
    return markdown(header, rows)


def shifts(frame: pd.DataFrame) -> str:
    """Lemma 22: by how much γ₂(W, α) is above γ̂₂(W, α) at most."""
    ends = frame.pivot_table(index=["workload", "entry_error"], columns="norm", values=["lower", "upper"])
    above = ends["upper", "gamma-2-approximate"] - ends["lower", "gamma-2-shifted"]
    largest = above.groupby("workload", sort=False).max()
    return markdown(["workload", "at most"], [[workload_label(str(w)), f"{gap:.3f}"] for w, gap in largest.items()])


def parity_slopes(frame: pd.DataFrame) -> str:
    """Full parity: local slopes of ln n in ln(1/α), at the largest and the least α."""
    rows = []
    for (mechanism, n), part in frame.groupby(["mechanism", "domain_size"], sort=False):
        found = part.dropna(subset="local_slope").sort_values("accuracy")
        slopes_at = (f"{found['local_slope'].iloc[k]:.2f}" for k in (0, -1))
        rows.append([mechanism_label(str(mechanism)), str(n), *slopes_at])
    ends = (f"at 1/α = {end:g}" for end in (frame["accuracy"].min(), frame["accuracy"].max()))
    return markdown(["mechanism", "N", *ends], rows)


def pairs(frame: pd.DataFrame) -> str:
    """2-way marginals: users of two kinds of noise and of a projection, and the fewest of them over the bound."""
    shown = ["l2-ball", "trace", "trace-projection"]
    rows = []
    for (d, accuracy), part in frame.groupby(["coordinates", "accuracy"], sort=True):
        users = part.set_index("mechanism")["measured_users"]
        bound = int(part["certified_users"].iloc[0])
        numbers = [f"{users[name]:.0f}" for name in shown]
        rows.append([str(d), f"{accuracy:g}", *numbers, str(bound), f"{users.min() / bound:.0f}"])
    heads = ["d", "1/α", "noise of the ball", "of the trace body", "with projection", "bound", "fewest over bound"]
    return markdown(heads, rows)


def edges(frame: pd.DataFrame) -> str:
    """Random queries: at how many nε the best number of rows of JL release is the largest that was tried."""
    tried = frame[frame["mechanism"] == "jl"]
    rows = []
    for shape, part in tried.groupby("shape", sort=False):
        best = part[part["is_best"] == 1]
        last = int((best["jl_rows"] == part["jl_rows"].max()).sum())
        rows.append([str(shape), str(part["queries"].iloc[0]), str(part["jl_rows"].max()), f"{last} of {len(best)}"])
    return markdown(["shape", "queries", "largest ℓ tried", "the best ℓ is the largest"], rows)
