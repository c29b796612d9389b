"""Protocols of selection against slow oracles and closed forms, their bounds against enumeration, the studies."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from factormech.arrays import FloatArray
from factormech.bounds.hard.divergence import kappa
from factormech.errors import BadValue, UnknownName
from factormech.learning.information import largest_capacity
from factormech.learning.selection import lower_bounds, protocols, sample_size
from factormech.learning.selection.protocols import Reports, loss_factor, of_means, planted, report_probability
from factormech.learning.selection.sample_size import successes, users_for_success
from factormech.numerics.intervals import clopper_pearson
from factormech.plots import registry as figures
from factormech.studies import registry
from tests.figure_checks import assert_no_overlaps, said
from tests.studies import quick
from tests.tiers import every

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parents[2]
STUDIES = ("selection", "selection-success", "disjointness", "channel-information")
MASK = 2**64 - 1


def splitmix(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def bit(reports: Reports, r: int, j: int, k: int) -> tuple[int, int]:
    """The k-th report on coordinate j of a run, and its party, in Python's integers."""
    golden = 0x9E3779B97F4A7C15
    key = splitmix(int(reports.keys[r]) ^ splitmix((j + 1) * golden & MASK))
    z = splitmix((key + (k + 1) * golden) & MASK)
    party = z & 1
    return int((z >> 11) * 2.0**-53 < reports.probability[r, j, party]), party


def moss_plays(reports: Reports, r: int, n: int) -> list[int]:
    d = reports.dimension
    count, ones = [0] * d, [0] * d
    for _ in range(n):
        index = [
            math.inf if s == 0 else o / s + math.sqrt(max(math.log(n / (d * s)), 0.0) / s)
            for s, o in zip(count, ones, strict=True)
        ]
        j = index.index(max(index))
        ones[j] += bit(reports, r, j, count[j])[0]
        count[j] += 1
    return count


def exact_success(n: int, d: int, gap: float, epsilon: float) -> float:
    """Of one coordinate per user, n a multiple of d: ties go to the first, the best is anywhere."""
    each = n // d
    k = np.arange(each + 1)
    low, high = report_probability(np.array([0.5, 0.5 + gap]), epsilon)
    own, upto, below = binom.pmf(k, each, high), binom.cdf(k, each, low), binom.cdf(k - 1, each, low)
    places = sum(below**i * upto ** (d - 1 - i) for i in range(d)) / d
    return float(own @ places)


@pytest.mark.parametrize(("d", "n"), [(5, 300), (8, 300), (3, 64), (2, 7), (7, 5)])
def test_moss_plays_the_largest_index(d: int, n: int) -> None:
    reports = planted(d, 0.3, 2.0, 3, np.random.default_rng(0))
    done = protocols.run("moss-most-played", reports, n)
    for r in range(3):
        expected = moss_plays(reports, r, n)
        assert done.plays[r].sum(axis=1).tolist() == expected
        assert done.choice[r] == np.argmax(expected)


@pytest.mark.slow
def test_all_protocols_meet_the_same_reports_and_ask_every_user_once() -> None:
    reports = planted(6, 0.25, 1.0, 4, np.random.default_rng(1))
    for name in protocols.names():
        validation = protocols.Validation(2, 20) if protocols.protocol(name).validated else None
        done = protocols.run(name, reports, 301, validation)
        again = protocols.run(name, reports, 301, validation)
        assert (done.plays.sum(axis=(1, 2)) == 301).all()
        assert (done.ones <= done.plays).all()
        assert (done.ones == again.ones).all()
        if validation is None:
            for r, j in itertools.product(range(2), range(6)):
                drawn = [bit(reports, r, j, k) for k in range(int(done.plays[r, j].sum()))]
                assert done.ones[r, j].tolist() == [sum(b for b, side in drawn if side == s) for s in (0, 1)]


def test_success_without_interaction_is_the_exact_one() -> None:
    runs = 20_000
    reports = planted(4, 0.2, 1.0, runs, np.random.default_rng(2))
    for n in (40, 400):
        low, high = clopper_pearson(successes("one-coordinate", reports, n), runs, 1e-6)
        assert low <= exact_success(n, 4, 0.2, 1.0) <= high
        assert high - low < 0.04


def test_a_uniform_user_is_one_of_them_and_validation_helps() -> None:
    reports = planted(8, 0.25, 1.0, 1000, np.random.default_rng(3))
    done = protocols.run("moss-uniform", reports, 800)
    shares = np.take_along_axis(done.plays.sum(axis=2), reports.best[:, None], axis=1).mean() / 800
    low, high = clopper_pearson(int((done.choice == reports.best).sum()), 1000, 1e-6)
    assert low <= shares <= high
    validation = protocols.validation_for(0.25, 1.0, 1 / 3)
    assert validation.repetitions == 3
    assert validation.reports == math.ceil(2 * loss_factor(1.0) ** 2 * math.log(36) / 0.25**2)
    assert successes("moss-validated", reports, 8000, validation) > successes("moss-uniform", reports, 8000)


def test_halving_finds_what_is_certain() -> None:
    means = np.zeros((50, 7))
    best = np.arange(50) % 7
    means[np.arange(50), best] = 1.0
    reports = of_means(means, 12.0, best, np.random.default_rng(0))
    for name in ("sequential-halving", "moss-most-played", "one-coordinate"):
        assert successes(name, reports, 210) == 50


def test_the_search_finds_the_crossing() -> None:
    reports = planted(4, 0.25, 1.0, 1500, np.random.default_rng(5))
    found = users_for_success("one-coordinate", reports, 50.0)
    low, high = (exact_success(4 * round(n / 4), 4, 0.25, 1.0) for n in (found.low, found.high))
    assert low < 2 / 3 < high
    assert found.low < found.users < found.high < 2.0 * found.low
    assert exact_success(4 * round(found.users / 4), 4, 0.25, 1.0) == pytest.approx(2 / 3, abs=0.05)
    far = users_for_success("one-coordinate", reports, 3000.0)
    assert far.users == pytest.approx(found.users, rel=0.1)


def test_intervals_of_proportions_have_their_tails() -> None:
    low, high = clopper_pearson(7, 20, 0.01)
    assert binom.cdf(7, 20, high) == pytest.approx(0.005)
    assert binom.sf(6, 20, low) == pytest.approx(0.005)
    assert clopper_pearson(0, 20, 0.01)[0] == 0.0
    assert clopper_pearson(20, 20, 0.01)[1] == 1.0


def staircases(epsilon: float, d: int, rng: np.random.Generator) -> FloatArray:
    """A random ε-LDP matrix on {0,1}^d: subset selection with sets that may be of any shape, and their complements."""
    high = rng.integers(2, size=(4, 2**d)).astype(bool)
    high = np.vstack([high, ~high])
    weights = np.tile(rng.dirichlet(np.ones(4)), 2)[:, None]
    return np.asarray(weights * np.where(high, math.exp(epsilon), 1.0) / (1.0 + math.exp(epsilon)))


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_one_report_of_planted_laws_tells_no_more_than_proved(epsilon: float) -> None:
    rng = np.random.default_rng(4)
    x = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
    every = [x[:, list(s)].prod(axis=1) for w in (1, 2, 3) for s in itertools.combinations(range(3), w)]
    families = (x.T, np.array(every))
    best = 0.0
    for psi, theta in itertools.product(families, (0.2, 0.9)):
        caps = [lower_bounds.planted_information(len(psi), theta, epsilon, interactive=i) for i in (True, False)]
        # One function in its most telling form, randomized response, a lopsided matrix, random ones.
        lopsided = np.where(x.sum(axis=1) == 3.0, math.exp(epsilon), 1.0)
        lopsided = np.vstack([lopsided, lopsided.max() + 1.0 - lopsided]) / (lopsided.max() + 1.0)
        dictator = np.where(np.vstack([psi[0], -psi[0]]) > 0.0, math.exp(epsilon), 1.0) / (1.0 + math.exp(epsilon))
        response = np.where(np.eye(8) > 0.0, math.exp(epsilon), 1.0) / (math.exp(epsilon) + 7.0)
        for Q in (dictator, response, lopsided, *(staircases(epsilon, 3, rng) for _ in range(30))):
            rho = Q.mean(axis=1)
            p = rho + theta * (psi @ Q.T) / 8.0
            first = float((rho * np.log(rho / p)).sum(axis=1).mean())
            second = float((p * np.log(p / rho)).sum(axis=1).mean())
            assert first <= caps[0]
            assert second <= caps[1]
            best = max(best, first / caps[0])
    # Near 1, so that smaller constants would fail.
    assert best > (0.8 if epsilon < 1.0 else 0.6)


def test_constants_of_planted_laws_are_the_least_that_their_proof_allows() -> None:
    for theta, epsilon in itertools.product((1e-4, 0.3, 0.9), (0.2, 3.0)):
        w = math.tanh(0.5 * epsilon) * theta
        u = w * np.concatenate([np.linspace(-1.0, -0.2, 401), np.linspace(0.2, 1.0, 401)])
        unit = theta**2 * math.sinh(0.5 * epsilon) ** 2 / 5.0
        for interactive, excess in ((True, u - np.log1p(u)), (False, (1.0 + u) * np.log1p(u) - u)):
            found = lower_bounds.planted_information(5, theta, epsilon, interactive=interactive) / unit
            assert found == pytest.approx(float((excess / u**2).max()), rel=1e-5)


def test_no_test_of_few_users_passes_the_limit_on_success() -> None:
    """d = 2, every ordered pair of deterministic questions and all transcripts, best decision."""
    epsilon, gap = 1.0, 0.5
    high, low = report_probability(np.array([1.0, 0.5]), epsilon)
    for n in (1, 3, 6):
        best = 0.0
        for asked in itertools.product(range(2), repeat=n):
            law = np.zeros((2, 2**n))
            for v, (t, y) in itertools.product(range(2), enumerate(itertools.product(range(2), repeat=n))):
                ones = [high if v == j else low for j in asked]
                law[v, t] = math.prod(p if b else 1.0 - p for p, b in zip(ones, y, strict=True))
            best = max(best, float(law.max(axis=0).sum()) / 2.0)
        limit = lower_bounds.largest_success(n, 2, 2.0 * gap, epsilon, interactive=False)
        assert 0.5 < best <= limit <= lower_bounds.largest_success(n, 2, 2.0 * gap, epsilon, interactive=True)


def test_lower_bounds_are_larger_than_those_with_the_published_method() -> None:
    for d, g, epsilon in itertools.product((8, 128), (0.05, 0.25), (0.5, 1.0, 3.0)):
        older = kappa(epsilon) * math.expm1(epsilon) ** 2 * g**2 / d
        sequential = lower_bounds.users_to_select(d, g, epsilon, interactive=True)
        assert sequential > lower_bounds.binary_divergence(1 / d, 2 / 3) / older
        other = lower_bounds.users_to_select(d, g, epsilon, interactive=False)
        assert other > (2 / 3 * math.log(d) - math.log(2.0)) / older
        assert other > sequential
    N, alpha = math.comb(10, 3), 0.1
    older = kappa(1.0) * math.expm1(1.0) ** 2 * alpha**2 / (4.0 * N)
    parities = lower_bounds.users_for_parities(10, 3, alpha, 1.0)
    assert parities > (2 / 3 * math.log(N) - math.log(2.0)) / older
    assert lower_bounds.users_for_parities(10, 3, alpha, 1.0, task="release") == pytest.approx(parities / 4, rel=0.1)


def test_limits_invert_each_other() -> None:
    n = lower_bounds.users_to_select(16, 0.1, 1.0, interactive=True, success=0.9)
    assert lower_bounds.largest_success(math.ceil(n), 16, 0.2, 1.0, interactive=True) == pytest.approx(0.9, abs=2e-3)
    n = math.ceil(lower_bounds.users_for_disjointness(64, 0.1, 1.0, success=0.75))
    assert lower_bounds.least_failure(n, 64, 0.1, 1.0) == pytest.approx(0.25, abs=2e-2)
    assert lower_bounds.least_failure(10**6, 64, 0.1, 1.0) == 0.0


def test_hellinger_is_below_the_information_of_a_fair_bit() -> None:
    rng = np.random.default_rng(6)
    for p, q in rng.dirichlet(np.full(5, 0.4), size=(300, 2)):
        mean = 0.5 * (p + q)
        bits = 0.5 * sum(float((a * np.log2(np.maximum(a, 1e-300) / mean)).sum()) for a in (p, q))
        assert bits >= 1.0 - float(np.sqrt(p * q).sum()) - 1e-12


def test_information_of_a_transcript_is_the_enumerated_one() -> None:
    """Two coordinates, the first held by party 1, the second by party 0; four users, asked for 0, 1, 0, 1."""
    gap, epsilon = 0.4, 1.5
    p = report_probability(np.array([0.0, 2.0 * gap]), epsilon)
    holder, asked = np.array([[1, 0]]), (0, 1, 0, 1)
    exact = mean = 0.0
    for coins in itertools.product(range(2), repeat=4):
        joint = np.zeros((4, 16))
        for (s, v), (t, y) in itertools.product(
            enumerate(itertools.product(range(2), repeat=2)), enumerate(itertools.product(range(2), repeat=4))
        ):
            held = [p[v[j] if coins[i] == holder[0, j] else 0] for i, j in enumerate(asked)]
            joint[s, t] = 0.25 * math.prod(h if b else 1.0 - h for h, b in zip(held, y, strict=True))
            plays, ones = np.zeros((1, 2, 2), dtype=np.int64), np.zeros((1, 2, 2), dtype=np.int64)
            for i, j in enumerate(asked):
                plays[0, j, coins[i]] += 1
                ones[0, j, coins[i]] += y[i]
            sets = sample_size.HardSets(np.zeros((1, 2, 2), dtype=np.int64), holder)
            done = protocols.Run(np.zeros(1, dtype=np.int64), plays, ones)
            mean += joint[s, t] / 16.0 * float(sample_size.told(sets, done, gap, epsilon).sum())
        marginal = joint.sum(axis=0) * 0.25
        exact += float((joint * np.log(joint / marginal)).sum()) / 16.0
    assert mean == pytest.approx(exact, rel=1e-12)
    assert exact <= 4.0 * largest_capacity(lower_bounds.mixed_epsilon(2.0 * gap, epsilon))


def test_parties_never_err_on_disjoint_sets() -> None:
    rng = np.random.default_rng(8)
    sets = sample_size.hard_sets(6, 200, rng, meeting=False)
    assert not sets.common.any()
    reports = sample_size.reports_of(sets, 0.5, 1.0, rng)
    assert sample_size.missed("sequential-halving", sets, reports, 100, 1e-3).value == 0.0
    meeting = sample_size.hard_sets(6, 200, rng, meeting=True)
    assert (meeting.common.sum(axis=1) == 1).all()
    found = sample_size.missed("moss-most-played", meeting, sample_size.reports_of(meeting, 0.5, 6.0, rng), 400, 1e-3)
    assert found.low <= found.value < 0.1
    with pytest.raises(BadValue, match="disjoint"):
        sample_size.information("moss-most-played", meeting, reports, 9, 0.5, 1.0, 1e-3)


def test_bad_input_is_refused() -> None:
    rng = np.random.default_rng(0)
    reports = planted(4, 0.5, 1.0, 2, rng)
    with pytest.raises(UnknownName, match="moss-uniform"):
        protocols.run("moss-unifrom", reports, 10)
    with pytest.raises(BadValue, match="gap"):
        planted(4, 0.6, 1.0, 2, rng)
    with pytest.raises(BadValue, match="validation"):
        protocols.run("moss-validated", reports, 10)
    with pytest.raises(BadValue, match="fresh reports"):
        protocols.run("moss-validated", reports, 10, protocols.Validation(3, 20))
    with pytest.raises(BadValue, match="success"):
        lower_bounds.users_to_select(4, 0.1, 1.0, interactive=True, success=0.2)
    with pytest.raises(BadValue, match="width"):
        lower_bounds.users_for_parities(3, 3, 0.1, 1.0)
    with pytest.raises(BadValue, match="runs"):
        users_for_success("one-coordinate", reports, 50.0)


@pytest.mark.parametrize("name", every(2, STUDIES))
def test_quick_studies_obey_their_rules_and_can_be_drawn(name: str) -> None:
    frame = quick(name)
    kind = registry.experiment(name)
    measured = frame[frame["reason"] == ""] if "reason" in frame else frame
    assert len(measured)
    assert all(kind.check(row) is None for row in measured.to_dict("records"))
    figure = figures.draw(name, frame)
    assert_no_overlaps(figure)
    assert said("Title", "", frame)


@pytest.mark.parametrize(
    ("name", "column", "value"),
    [
        ("selection", "high", 1e-3),
        ("selection-success", "limit", 0.01),
        ("disjointness", "lower_bound", 1.01),
        ("channel-information", "limit", 1e-9),
    ],
)
def test_rows_that_contradict_a_bound_are_refused(name: str, column: str, value: float) -> None:
    row = quick(name).iloc[0].to_dict() | {column: value}
    if name == "selection":
        row |= {"needed_users": 1e-3, "low": 1e-3}
    assert registry.experiment(name).check(row) is not None


def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = ROOT / "docs" / "selection.md"
    names: dict[str, object] = {}
    for code in re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL):
        exec(compile(code, page.name, "exec"), names)  # noqa: S102
    printed = capsys.readouterr().out.splitlines()
    assert printed[:2] == ["moss-most-played True", "one-coordinate True"]
    assert printed[2:] == ["0.9545 0.9545 0.5", "4.0 4.0", "True"]
