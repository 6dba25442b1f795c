"""The accountant, the samplers and the auditor."""

import copy
import json
import math

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import privet
from privet import PrivateLogisticRegression, account, audit, noise


def test_events_compose():
    one = account.gaussian(1.0, 2.0)
    assert (4 * one).epsilon(1e-6) == pytest.approx(account.gaussian(2.0, 2.0).epsilon(1e-6), rel=1e-9)
    assert (one + one).epsilon(1e-6) == pytest.approx((2 * one).epsilon(1e-6), rel=1e-9)
    assert (account.pure(0.25) + account.pure(0.5)).epsilon(0.0) == pytest.approx(0.75)
    assert account.pure(1.0).delta(1.0) < 1e-300
    assert account.approximate(1.0, 1e-6).epsilon(1e-7) == math.inf
    low, high = one.bracket(1.0)
    assert 0 < low <= one.delta(1.0) <= high * (1 + 1e-12)
    assert one == account.gaussian(1.0, 2.0) and one != account.gaussian(1.0, 3.0)
    assert one.trade_off(0.1) < 0.9


def test_the_gaussian_curve_is_the_known_one():
    """Balle & Wang 2018, Theorem 8, by SciPy."""
    from scipy.stats import norm

    for scale, epsilon in ((1.0, 1.0), (3.0, 0.5), (0.5, 4.0)):
        a, b = 1 / (2 * scale), epsilon * scale
        expected = norm.cdf(a - b) - math.exp(epsilon) * norm.cdf(-a - b)
        assert account.gaussian(1.0, scale).delta(epsilon) == pytest.approx(expected, rel=1e-6)


def test_calibration_ends_on_the_safe_side():
    def event(scale):
        return 10 * account.gaussian(2.0, scale)

    scale = account.calibrate(event, epsilon=0.5, delta=1e-6)
    assert event(scale).delta(0.5) <= 1e-6 < event(0.999 * scale).delta(0.5)

    def raises(scale):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        account.calibrate(raises, epsilon=0.5, delta=1e-6)
    with pytest.raises(ValueError, match="still exceeds"):
        account.calibrate(event, epsilon=0.5, delta=1e-6, search=(0.1, 1.0))


def test_bad_events_are_refused():
    with pytest.raises(ValueError, match="noise_scale = -1"):
        account.gaussian(1.0, -1.0)
    with pytest.raises(ValueError, match="rate = 2"):
        account.sampled_gaussian(2.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="replace-one and for|for replace-one"):
        account.pure(1.0) + account.pure(1.0, neighbours="add-remove")
    with pytest.raises(ValueError):
        account.pure(1.0).epsilon(2.0)
    with pytest.raises(ValueError):
        0 * account.pure(1.0)
    with pytest.raises(ValueError):
        account.Event({"use": {}})


def test_counts_are_whole_numbers():
    event = account.pure(1.0)
    for count in (2.7, np.float64(2.7), True, "2", -1, math.inf, math.nan):
        with pytest.raises(ValueError, match="count is .*; a whole number from 1 is accepted"):
            count * event
    assert 3 * event == np.int64(3) * event == event * 3.0
    for records in (0, -1, 1.5, None):
        with pytest.raises(ValueError, match="max_records is .*; a whole number from 1 is accepted"):
            account.gaussian(1.0, 1.0, max_records=records)
    assert account.pure(1.0, max_records=np.int64(2)) == account.pure(1.0, max_records=2)


def test_trade_offs_are_never_rounded_up():
    """Next to alpha = 1 the curve of pure epsilon is (1 - alpha) e^-epsilon, far below 1e-15."""
    alpha = 1 - 2.0**-50
    for epsilon in (0.5, 1.0, 3.0):
        beta = account.pure(epsilon).trade_off(alpha)
        assert beta <= (1 - alpha) * math.exp(-epsilon) * (1 + 1e-9)


@pytest.mark.filterwarnings("ignore::privet.NotPrivateWarning")
def test_what_is_not_private_has_no_event(table):
    X, y = table
    given = {"epsilon": 1.0, "bounds": (-1, 1), "classes": [0, 1]}
    private = privet.PrivateLogisticRegression(**given).fit(X, y)
    seeded = privet.PrivateLogisticRegression(**given, random_state=1).fit(X, y)
    plain = privet.PrivateLogisticRegression(**(given | {"epsilon": None}), method="non-private").fit(X, y)
    assert account.of(private).epsilon(private.certificate_.delta) <= 1.0
    for released in (seeded, seeded.certificate_, plain, plain.certificate_, plain.plan_):
        with pytest.raises(ValueError, match="NOT PRIVATE"):
            account.of(released)
        assert account.total([private, released], delta=1e-6) == math.inf
    assert account.total([], delta=1e-6) == 0.0
    with pytest.raises(NotFittedError):
        account.of(privet.PrivateLogisticRegression(**given))
    with pytest.raises(TypeError, match="it is a float; accepted are a plan"):
        account.total([private, 1.0], delta=1e-6)


def _certificate(model, **changes):
    """The same certificate with other words in its document."""
    twin = copy.copy(model.certificate_)
    document = json.loads(json.dumps(twin.document))
    for path, value in changes.items():
        *outer, last = path.split("__")
        place = document
        for key in outer:
            place = place[key]
        place[last] = value
    object.__setattr__(twin, "document", document)
    return twin


def test_what_was_decided_on_the_way_counts_as_its_limit(table):
    """Events that a run came to under a filter prove nothing by themselves: the claim is what counts."""
    X, y = table
    model = PrivateLogisticRegression(epsilon=2, bounds=(-1, 1), classes=[0, 1]).fit(X, y)
    few = account.gaussian(1.0, 100.0).tree
    filtered = _certificate(model, filter={"limit": {}}, events=few)
    assert account.of(filtered).epsilon(model.certificate_.delta) >= 2.0 - 1e-6
    assert account.total([filtered], delta=model.certificate_.delta) >= 2.0 - 1e-6


def test_what_bounds_cost_is_in_the_total_once(table):
    X, y = table
    model = PrivateLogisticRegression(epsilon=1, bounds=(-1, 1), classes=[0, 1]).fit(X, y)
    paid = {"certificate": "d" * 64, "events": json.dumps(account.pure(3.0).tree)}
    bought = _certificate(model, request__schema__origin={"paid": paid})
    other = _certificate(model, request__schema__origin={"paid": paid})
    description = _certificate(model, digest="d" * 64, events=account.pure(3.0).tree)
    delta = model.certificate_.delta
    alone = account.total([bought], delta=delta)
    assert 3.0 < alone <= 4.0 + 1e-6
    assert account.total([bought, other], delta=3 * delta) < account.total([bought, other, bought], delta=3 * delta)
    assert account.total([bought, other], delta=2 * delta) <= 5.0 + 1e-6
    assert abs(account.total([bought, description], delta=delta) - alone) < 1e-9


def test_samplers_have_their_moments():
    """Means and variances within 8 standard errors: false failure below 1e-14 each."""
    count = 200_000
    for drawn, variance in (
        (noise.discrete_gaussian(5.0, size=count), 25.0),
        (noise.gaussian(2.0, size=count), 4.0),
        (noise.discrete_laplace(3.0, size=count), 1 / (2 * math.sinh(1 / 6) ** 2)),
    ):
        error = 8 * math.sqrt(variance / count)
        assert abs(drawn.mean()) < error
        fourth = 6 if variance not in (25.0, 4.0) else 3
        assert abs(drawn.var() / variance - 1) < 8 * math.sqrt((fourth - 1) / count)
    assert noise.discrete_laplace(1.0, size=(2, 3)).shape == (2, 3)
    assert isinstance(noise.discrete_laplace(1.0), int)
    step = noise.grid_step(2.0)
    assert np.all(noise.gaussian(2.0, size=100) % step == 0)


def test_samplers_repeat_only_when_asked():
    with pytest.warns(privet.NotPrivateWarning):
        a, b = noise.l2_laplace(1.0, 4, random_state=1), noise.l2_laplace(1.0, 4, random_state=1)
    assert np.array_equal(a, b)
    assert not np.array_equal(noise.l2_laplace(1.0, 4), noise.l2_laplace(1.0, 4))
    with pytest.raises(ValueError, match="sigma"):
        noise.discrete_gaussian(-1.0)
    with pytest.raises(ValueError, match="size is -3"):
        noise.discrete_gaussian(1.0, size=-3)
    with pytest.raises(ValueError, match="whole numbers"):
        noise.exponential_choice([0.5, 1.0], rate=1.0)
    with pytest.raises(ValueError, match="candidate"):
        noise.exponential_choice(np.zeros(0, dtype=int), rate=1.0)


def test_the_auditor_finds_what_there_is():
    found = audit.learner("output", epsilon=1.0, runs=1000)
    assert not found.refuted and 0 <= found.epsilon_lower <= found.epsilon_claimed == 1.0
    assert found.details["runs"] == 1000
    assert not audit.one_run("output", epsilon=1.0, canaries=100).refuted
    with pytest.raises(ValueError, match="claims no privacy"):
        audit.learner("non-private", epsilon=1.0, runs=100)
    with pytest.raises(ValueError):
        audit.learner("output", epsilon=1.0, runs=1)
    with pytest.raises(ValueError, match="runs is -1; a whole number from 1"):
        audit.learner("output", epsilon=1.0, runs=-1)
    with pytest.raises(ValueError, match="canaries is 0.5; a whole number from 1"):
        audit.one_run("output", epsilon=1.0, canaries=0.5)


def test_membership_inference_on_a_model_without_privacy_is_told(table):
    X, y = table
    model = privet.PrivateLogisticRegression(epsilon=1.0, bounds=(-1, 1), classes=[0, 1]).fit(X[:1000], y[:1000])
    found = audit.membership(model, X[:1000], y[:1000], holdout=(X[1000:], y[1000:]))
    assert 0.4 < found.auc < 0.6 and (found.members, found.non_members_from) == (1000, "holdout")
    assert audit.membership(model, X[:1000], y[:1000]).non_members_from == "stand-ins"
