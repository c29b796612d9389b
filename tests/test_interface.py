"""The public interface: what ``import factormech`` offers is listed, light, documented, and one protocol."""

from __future__ import annotations

import ast
import doctest
import inspect
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import factormech as fm
from factormech import plugins, questions
from factormech.labels import NORM_ALIASES, variant
from factormech.mechanisms.base import FAMILIES

pytestmark = pytest.mark.heavy

INIT = Path(fm.__file__)
PUBLIC = [name for name in fm.__all__ if name != "__version__"]
BUDGETS = {"local": {}, "central": {"delta": 1e-6}, "pure": {}}
CONCRETE = [(family, name.replace("{p}", "4")) for family in FAMILIES for name in fm.mechanisms(family)]
OPTIONS = {"approximate": {"alpha": 0.1}}


# The names ----------------------------------------------------------------------------------------------------------


def test_type_checkers_see_the_names_that_are_there() -> None:
    guarded = next(node for node in ast.parse(INIT.read_text()).body if isinstance(node, ast.If))
    seen = {alias.asname for node in guarded.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen == set(PUBLIC)
    assert set(PUBLIC) <= set(dir(fm))
    assert 25 <= len(PUBLIC) <= 40


def test_importing_loads_nothing_heavy_and_unknown_names_are_refused() -> None:
    code = "import sys, factormech; print([m for m in ('numpy', 'pandas', 'scipy', 'h5py') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = fm.nonsense


@pytest.mark.slow
def test_lists_are_lists_whatever_was_imported_before() -> None:
    lists = "fm.norms()[0], fm.workloads()[2], fm.mechanisms()[1]"
    code = f"import factormech.norms.registry, factormech as fm; print({lists})"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == ["gamma-2", "prefix", "rappor"]


@pytest.mark.parametrize("name", PUBLIC)
def test_every_name_has_a_docstring_with_its_sections_and_an_example_that_runs(name: str) -> None:
    found = getattr(fm, name)
    if inspect.ismodule(found):  # it can be called, for the list of what it holds
        found = getattr(questions, name)
    text = inspect.getdoc(found) or ""
    if inspect.isfunction(found):
        assert re.search(r"^Returns\n---", text, re.MULTILINE), text
        for section in ("Parameters", "Raises") if inspect.signature(found).parameters and name != "label" else ():
            assert re.search(rf"^{section}\n---", text, re.MULTILINE), text
    own = [one for one in doctest.DocTestFinder().find(found, name) if one.name.split(".")[0] == name]
    assert any(one.examples for one in own)
    loaded = plugins.loaded()
    try:
        for one in own:
            result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(one)
            assert result.failed == 0
    finally:
        for plugin in set(map(id, plugins.loaded())) - set(map(id, loaded)):
            plugins.unload(next(each for each in plugins.loaded() if id(each) == plugin))


# Workloads ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def ages() -> pd.DataFrame:
    return pd.DataFrame(
        [[1, 0, 0], [1, 1, 0]], index=["young", "below 65"], columns=["<18", "18-64", "65+"], dtype=float
    )


def test_a_data_frame_keeps_its_names_to_the_end(ages: pd.DataFrame) -> None:
    W = fm.workload(ages, name="ages")
    counts = pd.Series({"65+": 30, "<18": 10, "18-64": 20})
    assert fm.answer(W, counts).to_dict() == {"young": 10.0, "below 65": 30.0}
    fitted = fm.mechanism("randomized-response", epsilon=1.0).fit(W)
    assert fitted.errors.index.tolist() == ["<18", "18-64", "65+"]
    released = fitted.simulate(counts, seed=1)
    assert released["truth"].to_dict() == {"young": 10.0, "below 65": 30.0}
    assert fm.mechanism("gamma-2", 1.0, 1e-6).fit(W).errors.index.tolist() == ["young", "below 65"]
    both = fm.union(W, fm.workload(ages.iloc[:1] * 2.0))
    assert fm.answer(both, counts).index.tolist() == ["young", "below 65", "young"]
    squared = fm.product(W, W)
    assert fm.answer(squared, np.arange(9)).index[1] == ("young", "below 65")
    with pytest.raises(fm.BadValue, match="name each user type once"):
        fm.answer(W, counts.rename({"65+": "old"}))


def test_any_frame_of_the_interchange_protocol_is_a_workload(ages: pd.DataFrame) -> None:
    class Other:
        def __init__(self, frame: pd.DataFrame) -> None:
            self._frame = frame

        def __dataframe__(self, *arguments: object, **named: object) -> object:
            return self._frame.__dataframe__(*arguments, **named)

    W = fm.workload(Other(ages.reset_index(drop=True)))
    assert np.array_equal(W.matrix(), ages.to_numpy())
    assert W.type_names == ("<18", "18-64", "65+")


def test_a_column_of_texts_names_the_queries(ages: pd.DataFrame) -> None:
    """As in a CSV file: the same names from a column as from the index."""
    W = fm.workload(ages.rename_axis("query").reset_index())
    assert (W.query_names, W.type_names) == (tuple(ages.index), tuple(ages.columns))
    assert np.array_equal(W.matrix(), ages.to_numpy())


def test_workloads_come_from_names_matrices_files_and_workloads(tmp_path: Path) -> None:
    import scipy.sparse

    W = fm.workload("prefix", 4)
    np.savetxt(tmp_path / "mine.csv", W.matrix(), delimiter=",")
    for same in (W, W.matrix(), W.matrix().tolist(), scipy.sparse.csr_array(W.matrix()), tmp_path / "mine.csv"):
        assert np.array_equal(fm.workload(same).matrix(), W.matrix())
    assert fm.workload(str(tmp_path / "mine.csv")).name == "mine"
    assert fm.workload("{k}-way-marginals", 8, k=2).name == "2-way-marginals"
    drawn = [fm.workload("random-signs", 8, seed=seed).matrix() for seed in (0, 0, 1)]
    assert np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])


def test_equal_workloads_have_equal_specs_and_others_have_others() -> None:
    W = fm.workload("prefix", 4)
    assert fm.workload(W.matrix()).spec() == fm.workload(W.matrix()).spec()
    others = [
        W,
        fm.workload(W.matrix()),
        fm.workload(2 * W.matrix()),
        fm.union(W, fm.workload("total", 4), name="prefix"),
        fm.product(fm.workload("prefix", 2), fm.workload("prefix", 2), name="prefix"),
        fm.workload("random-signs", 4),
        fm.workload("random-signs", 4, seed=1),
        fm.workload("random-signs", 4, root_seed=1),
    ]
    assert len({each.spec() for each in others}) == len(others)


WRONG = {
    "parts in a list": (lambda: fm.union([fm.workload("prefix", 4)]), r"a list': must be workloads, one .*\*parts"),
    "a matrix as a factor": (lambda: fm.product(np.eye(2)), "ndarray': must be workloads"),
    "no size": (lambda: fm.workload("prefix"), "n = None"),
    "another size": (lambda: fm.workload(np.eye(3), 4), "be 3"),
    "a typo": (lambda: fm.workload("prefx", 8), "did you mean 'prefix'"),
    "text in a frame": (lambda: fm.workload(pd.DataFrame({"a": ["x"]})), "set_index"),
    "a type twice": (lambda: fm.workload(pd.DataFrame([[1, 2]], columns=["a", "a"])), "rename one"),
    "data of another domain": (lambda: fm.answer(fm.workload("prefix", 3), [1, 2]), "be 3 numbers"),
    "half a user": (lambda: fitted("randomized-response").simulate([1, 2, 3.5, 4]), r"data\[2\] = 3.5"),
    "a mechanism's typo": (lambda: fm.mechanism("hadamrd", 1.0), "did you mean 'hadamard'"),
    "a δ without need": (lambda: fm.mechanism("hadamard", 1.0, 1e-6), "leave it out"),
    "no δ": (lambda: fm.mechanism("gamma-2", 1.0), "delta=1e-9"),
    "a setting of another": (lambda: fm.mechanism("optimised", 1.0, objektive="worst"), "objective, effort, rows"),
    "a setting out of range": (lambda: fm.mechanism("optimised", 1.0, objective="best"), "average, worst"),
    "two targets": (lambda: fitted("hadamard").users(rmse=0.1, alpha=0.1), "one of them"),
    "no target": (lambda: fm.plan(fm.workload("prefix", 4), 1.0), "one of them"),
    "a target of nothing": (lambda: fitted("hadamard").users(rmse=0.0), "rmse = 0.0"),
    "constant queries": (lambda: fm.plan(fm.workload("total", 4), 1.0, rmse=0.01), "need no users"),
    "what constants reach": (lambda: fm.plan(fm.workload("histogram", 4), 1.0, rmse=0.5), "rmse = 0.5"),
    "the norm's α": (lambda: fm.norm(fm.workload("prefix", 4), "gamma-f", alpha=0.1), "leave it out"),
    "no norm": (lambda: fm.norm(fm.workload("prefix", 4), "gama2"), "did you mean"),
    "no file for a fixed mechanism": (lambda: fitted("hadamard").save("Q.h5"), "have a solver"),
    "no point": (lambda: fm.sweep(["prefix"], epsilon=[], n=[4]), "epsilon"),
    "nothing to compare": (lambda: fm.compare(fm.workload("prefix", 4), 1.0, []), "at least one"),
}


def fitted(name: str, n: int = 4) -> fm.Fitted:
    return fm.mechanism(name, epsilon=1.0).fit(fm.workload("prefix", n))


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_with_its_remedy(case: str) -> None:
    call, words = WRONG[case]
    with pytest.raises(fm.BadValue, match=words):
        call()


# The protocol -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("family", "name"), CONCRETE)
def test_every_mechanism_obeys_the_one_protocol(family: str, name: str) -> None:
    W = fm.workload("prefix", 4)
    made = fm.mechanism(name, epsilon=1.0, **BUDGETS[family], **OPTIONS.get(name, {}))
    one, again = made.fit(W), made.fit(W)
    assert (made.family, one.spec) == (family, again.spec)
    assert one.mechanism.label in repr(one)
    assert "prefix" in one._repr_html_()
    if not one.available:
        assert one.guarantee is None
        assert math.isnan(one.users(rmse=0.1))
        return
    assert one.guarantee.epsilon <= 1.0
    if name == "approximate":  # its error depends on the number of users, by its bias
        return
    assert np.array_equal(one.errors, again.errors)
    assert one.worst_variance >= one.average_variance > 0.0
    total = one.errors["variance"].max() if family == "local" else one.errors["variance"].sum()
    assert one.worst_variance == pytest.approx(total, rel=1e-12)
    assert one.users(rmse=0.1) == one.users(alpha=0.1**2) == max(math.ceil(one.sample_complexity(0.1**2)), 1)
    # The bound is on mechanisms of this guarantee; what is projected may be better on data that are not the worst.
    if one.guarantee.pure or family == "central":
        assert not one.gap < 0.0
    released = one.simulate([5, 0, 2, 1], seed=3)
    assert released["truth"].tolist() == [5.0, 5.0, 7.0, 8.0]
    pd.testing.assert_frame_equal(released, again.simulate([5, 0, 2, 1], seed=3))


@pytest.mark.parametrize("name", ["subset-selection", "gamma-f", "laplace", "k-norm"])
def test_with_the_users_that_a_target_needs_the_measured_error_is_the_target(name: str) -> None:
    """The mean squared error per query of the shares, over repeated releases, is α for the worst data."""
    delta = 1e-6 if name == "gamma-f" else None
    one = fm.mechanism(name, epsilon=1.0, delta=delta).fit(fm.workload("prefix", 4))
    alpha = 0.01
    users = round(one.sample_complexity(alpha))
    worst = int(one.errors["variance"].argmax()) if one.mechanism.family == "local" else 0
    counts = np.zeros(4)
    counts[worst] = users
    trials = 400
    errors = [one.simulate(counts, seed=seed).eval("estimate - truth").to_numpy() / users for seed in range(trials)]
    squares = np.mean(np.square(errors), axis=1)
    # Six standard errors: one false alarm in a thousand million, if the mean is normal. N is a whole number.
    assert abs(squares.mean() / alpha - 1.0) < 6.0 * squares.std() / alpha / math.sqrt(trials) + 2.0 / users


def test_standard_errors_are_those_of_the_releases() -> None:
    for name, delta in (("rappor", None), ("gamma-2", 1e-6)):
        one = fm.mechanism(name, epsilon=1.0, delta=delta).fit(fm.workload("histogram", 4))
        draws = [one.simulate([40, 30, 20, 10], seed=seed) for seed in range(400)]
        off = np.array([(draw["estimate"] - draw["truth"]) / draw["standard_error"] for draw in draws])
        assert np.all(np.abs(off.mean(axis=0)) < 5.0 / math.sqrt(400))
        assert np.all(np.abs(np.square(off).mean(axis=0) - 1.0) < 6.0 * math.sqrt(2.0 / 400))


def test_a_mechanism_that_cannot_run_says_why_as_a_value() -> None:
    one = fm.mechanism("binary-tree", epsilon=1.0, delta=1e-9).fit(fm.workload("histogram", 6))
    assert one.unavailable == "it is for prefix sums and ranges only"
    assert math.isnan(one.worst_variance)
    assert "unavailable" in one.summary()
    with pytest.raises(fm.BadValue, match="prefix sums"):
        one.simulate([1] * 6)
    refused = fm.mechanism("fourier-3", epsilon=1.0).fit(fm.workload("parities", 16))
    assert "row space" in refused.unavailable
    assert math.isnan(refused.users(rmse=0.1))


def test_a_saved_strategy_is_read_again(tmp_path: Path) -> None:
    W = fm.workload(fm.workload("prefix", 4).matrix(), name="mine")
    one = fm.mechanism("optimized", epsilon=1.0).fit(W)
    found = fm.load(one.save(tmp_path / "Q.h5"))
    assert np.array_equal(found["queries"], W.matrix())
    assert all(np.array_equal(found[key], value) for key, value in one.solution.datasets.items())


# Questions ----------------------------------------------------------------------------------------------------------


def test_a_comparison_has_the_columns_of_the_tables_and_can_be_drawn() -> None:
    from factormech.tables import kinds

    table = fm.compare(fm.workload("prefix", 8), epsilon=1.0)
    kinds.check(table)
    assert kinds.kind_of(table) == "sample-complexity"
    assert set(table["mechanism"]) == {*fm.mechanisms("local"), "lower-bound", "optimised objective=worst"} - {
        "optimised"
    }
    ok = table[table["status"] == "ok"]
    assert ok["sample_complexity"].is_monotonic_increasing
    for name, worst in zip(ok["mechanism"], ok["worst_variance"], strict=True):
        options = {"objective": "worst"} if name.startswith("optimised") else {}
        assert fm.mechanism(name.split()[0], 1.0, **options).fit(fm.workload("prefix", 8)).worst_variance == worst


def test_strategies_of_different_settings_have_different_names_labels_and_looks() -> None:
    from factormech.plots.style import mechanism_styles

    worst = fm.mechanism("optimised", 1.0, objective="worst")
    table = fm.compare(fm.workload("prefix", 4), 1.0, ["optimised", worst])
    names = [name for name in table["mechanism"] if name != "lower-bound"]
    assert sorted(names) == ["optimised", "optimised objective=worst"]
    styles = mechanism_styles(names)
    assert {style.label for style in styles.values()} == {"Optimised", "Optimised (worst case)"}
    assert len({(style.colour, style.marker, style.line) for style in styles.values()}) == 2
    assert variant("optimised", {}) == "optimised"


def test_mechanisms_of_all_families_stand_in_one_table() -> None:
    table = fm.compare(fm.workload("prefix", 4), 1.0, ["rappor", "gamma-2", "laplace"], delta=1e-6)
    rows = table.set_index("mechanism")
    assert rows.loc[["gamma-2", "laplace"], "lower_bound"].isna().all()
    assert rows.loc["rappor", "lower_bound"] > 0.0
    assert rows.loc["laplace", "worst_variance"] == pytest.approx(2.0 * 3 * 3**2)  # 3 queries that differ, of norm 3


@pytest.mark.slow
def test_a_sweep_is_its_comparisons_and_can_be_drawn() -> None:
    table = fm.sweep(["prefix", "histogram"], [0.5, 1.0], ["rappor", "hadamard"], n=[4, 8])
    part = table.query("workload == 'histogram' and domain_size == 8 and epsilon == 0.5").reset_index(drop=True)
    pd.testing.assert_frame_equal(part, fm.compare(fm.workload("histogram", 8), 0.5, ["rappor", "hadamard"]))
    figure = fm.plot(table.query("epsilon == 0.5"))
    assert any(len(axes.lines) >= 2 for axes in figure.axes)
    titles = [axes.get_title() for axes in fm.plot(table).axes]
    assert titles == [f"{name}, n = {n}" for name in ("Prefix", "Histogram") for n in (4, 8)]
    chosen = fm.plot(table, figure={"x": "epsilon", "panels": ["mechanism"], "series": ["workload", "domain_size"]})
    assert [axes.get_title() for axes in chosen.axes] == ["RAPPOR", "Hadamard (block)"]
    with pytest.raises(fm.BadValue, match=r"figure\.x = 'eps'"):
        fm.plot(table, figure={"x": "eps"})


@pytest.mark.slow
def test_a_plan_is_what_its_mechanism_says() -> None:
    W = fm.workload("prefix", 4)
    found = fm.plan(W, 1.0, rmse=0.05)
    best = fm.mechanism(found.best.mechanism, 1.0, **found.best.options).fit(W)
    assert best.users(rmse=0.05) == found.best.users
    assert best.lower_bound == found.variance_bound == fm.lower_bound(W, 1.0)
    assert fm.lower_bound(W, 1.0, rmse=0.05) == pytest.approx(found.lower_bound, rel=1e-12)
    assert found.table["users"].iloc[0] == found.best.users
    assert f"{found.best.users:,} users" in repr(found)
    linf = fm.plan(W, 1.0, alpha=0.1, metric="linf")
    assert linf.lower_bound <= linf.best.users


def test_norms_go_by_every_name() -> None:
    W = fm.workload("prefix", 4)
    for alias in ("gamma2", "gammaF", "margin"):
        assert NORM_ALIASES[alias] in fm.norms()
    assert fm.norm(W, "gamma2").upper == fm.norm(W, "gamma-2").upper == fm.norm("prefix", "gamma-2", n=4).upper
    assert fm.norm(W, "gamma-p4").upper == pytest.approx(fm.norm(W, "gammap", p=4).upper, rel=1e-6)
    assert fm.norm(W, "gamma2", alpha=0.1).upper == fm.norm(W, "gamma-2-approximate", alpha=0.1).upper


# Answers as people look at them ---------------------------------------------------------------------------------------


def test_answers_say_workload_budget_guarantee_error_and_gap(ages: pd.DataFrame) -> None:
    W = fm.workload(ages, name="ages")
    fitted = fm.fit(W, "optimised", 1.0, objective="worst")
    planned = fm.plan(W, 1.0, rmse=0.05)
    for answer in (fitted, planned):
        for said in (repr(answer), answer._repr_html_()):
            assert "ages, 2 queries over 3 user types" in said
            assert "ε = 1" in said
            assert "users" in said
            assert "gap" in said
            assert "object at 0x" not in said
    assert "<table>" in planned._repr_html_()
    assert "5 percentage points" in repr(planned)


def test_one_call_fits_and_one_simulates(ages: pd.DataFrame) -> None:
    counts = [100, 200, 300]
    fitted = fm.mechanism("rappor", 1.0).fit(fm.workload(ages))
    assert fm.fit(ages, "rappor", 1.0).spec == fitted.spec
    pd.testing.assert_frame_equal(fm.simulate(ages, counts, "rappor", 1.0, seed=3), fitted.simulate(counts, seed=3))
    frame = pd.DataFrame({"type": ["65+", "<18", "18-64"], "count": [300, 100, 200]})
    pd.testing.assert_frame_equal(fm.simulate(ages, frame, "rappor", 1.0, seed=3), fitted.simulate(counts, seed=3))
    assert fm.fit(ages, "gamma-2", 1.0, 1e-6).mechanism.delta == 1e-6
    with pytest.raises(fm.BadValue, match=r"call mechanism\.fit"):
        fm.fit(ages, fm.mechanism("rappor", 1.0), 1.0)


def test_the_reconstruction_is_what_the_variances_are_of() -> None:
    W = fm.workload(np.random.default_rng(5).integers(0, 2, size=(6, 5)).astype(float))
    for name, options in (("optimised", {"objective": "worst"}), ("hadamard", {}), ("rappor", {})):
        fitted = fm.fit(W, name, 1.0, **options)
        Q, V = fitted.matrix, fitted.reconstruction
        if Q is None:
            assert V is None
            continue
        np.testing.assert_allclose(V @ Q, W.matrix(), atol=1e-9)
        variance = (V**2).sum(axis=0) @ Q - (W.matrix() ** 2).sum(axis=0)
        np.testing.assert_allclose(variance, fitted.errors["variance"], rtol=1e-9)


@pytest.mark.slow
def test_answers_are_drawn(tmp_path: Path, ages: pd.DataFrame) -> None:
    planned, fitted = fm.plan(ages, 1.0, rmse=0.05), fm.fit(ages, "rappor", 1.0)
    axes = planned.plot(tmp_path / "plan.svg").axes[0]
    shown = [one for one in planned.mechanisms if one.status == "ok"]
    points = {y: x for line in axes.lines[:2] for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)}
    assert [points[row] for row in range(len(shown))] == [one.users for one in shown]
    assert [label.get_text() for label in axes.get_yticklabels()] == [one.label for one in shown]
    assert axes.lines[2].get_xdata()[0] == planned.lower_bound
    heights = [bar.get_height() for bar in fm.plot(fitted, tmp_path / "errors.png").axes[0].patches]
    assert heights == fitted.errors["variance"].tolist()
    assert [label.get_text() for label in fitted.plot().axes[0].get_xticklabels()] == ["<18", "18-64", "65+"]
    assert all((tmp_path / name).stat().st_size > 1000 for name in ("plan.svg", "errors.png"))
    assert fm.fit(fm.workload("prefix", 64), "rappor", 1.0).plot().axes[0].lines
    with pytest.raises(fm.BadValue, match="prefix sums and ranges only"):
        fm.fit(ages, "binary-tree", 1.0, 1e-6).plot()


def test_a_study_is_found_by_name(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[1]
    schema = root / "workflow" / "schemas" / "config.schema.yaml"
    found = fm.study("mckenna2020-figure-1", root / "config.yaml", quick=True)
    assert (found.paper, found.item) == ("mckenna2020", "Figure 1")
    assert "not made yet" in repr(found) or found.table_path.is_file()
    mine = tmp_path / "config.yaml"
    mine.write_text(
        "studies:\n  mine:\n    paper: me\n    artefact: it\n    kind: sample-complexity\n    title: Mine\n"
        "    grid: {workload: [prefix], domain_size: [4], epsilon: [1.0]}\n    mechanisms: [rappor]\n"
    )
    with pytest.raises(fm.BadValue, match="snakemake mine"):
        _ = fm.study("mine", mine, schema=schema).table
    table = fm.compare(fm.workload("prefix", 4), 1.0, ["rappor"])
    path = tmp_path / "results" / "tables" / "mine.csv"
    path.parent.mkdir(parents=True)
    table.to_csv(path, index=False)
    made = fm.study("mine", mine, schema=schema)
    assert made.table["mechanism"].tolist() == ["rappor", "lower-bound"]
    assert "<th>title</th><td>Mine</td>" in made._repr_html_()
    assert made.plot().axes
    with pytest.raises(fm.UnknownName, match="did you mean 'mine'"):
        fm.study("mne", mine, schema=schema)


@pytest.mark.parametrize(
    ("name", "delta"), [("optimised", None), ("gamma-f", 1e-6), ("gaussian-projection", 1e-6), ("k-norm", None)]
)
def test_a_strategy_is_a_line(name: str, delta: float | None) -> None:
    budget = {"epsilon": 1.0} | ({} if delta is None else {"delta": delta})
    said = repr(fm.mechanism(name, **budget).fit(fm.workload("prefix", 8)).strategy)
    assert re.fullmatch(r"<\w+.{10,100}8 (user )?types, ε = 1(, δ = 1e-06)?>", said)
