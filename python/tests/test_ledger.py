"""Fits that are paid for by a ledger."""

import copy
import json
import pickle
import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

import privet
from privet import Ledger, PrivacyError, PrivateLogisticRegression


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (1500, 3))
    return X, (X[:, 0] + 0.2 * rng.normal(size=1500) > 0).astype(int)


def estimator(epsilon=0.3, **more):
    return PrivateLogisticRegression(epsilon=epsilon, delta=1e-8, bounds=(-1, 1), classes=[0, 1], **more)


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger(tmp_path / "budget.ledger", dataset="riders", create=True)
    ledger.open(epsilon=1, delta=1e-6)
    return ledger


def states(ledger):
    return [entry["state"] for entry in ledger.history()]


def test_a_fit_is_paid_for_and_its_certificate_says_where(data, ledger, tmp_path):
    with ledger:
        clf = estimator().fit(*data, ledger=ledger)
        assert states(ledger) == ["settled"]
        assert 0 < ledger.left() < 1
        (shown,) = ledger.show()
        assert shown["dataset"] == "riders" and shown["releases"] == 1 and shown["epsilon_spent"] < 1
    fact = clf.certificate_.document["ledger"]
    assert fact["sequence"] >= 3 and len(fact["hash"]) == 64
    clf.save(tmp_path / "model.json")
    assert privet.verify(tmp_path / "model.json").valid
    assert "ledger" in json.loads((tmp_path / "model.json").read_text())["certificate"]
    assert "ledger" not in estimator().fit(*data).certificate_.document


def test_what_would_exceed_is_refused_with_its_price(data, ledger):
    fits = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", privet.RepeatedFitWarning)
        with pytest.raises(PrivacyError, match="it would exceed the budget of 'riders'.*costs.*is left"):
            for _ in range(100):
                estimator().fit(*data, ledger=ledger)
                fits += 1
    assert fits >= 3, "ten times 0.1 at least"
    assert states(ledger) == ["settled"] * fits
    with pytest.raises(PrivacyError, match="exceed"):
        estimator().fit(*data, ledger=ledger)


def test_what_has_no_price_is_refused(data, ledger):
    with pytest.raises(PrivacyError, match="seed"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator(random_state=0).fit(*data, ledger=ledger)
    with pytest.raises(PrivacyError, match="without privacy"):
        estimator(method="non-private", epsilon=None).fit(*data, ledger=ledger)
    with pytest.raises(PrivacyError, match="add-remove of one record"):
        estimator(neighbours="add-remove", n_rows=1500).fit(*data, ledger=ledger)
    with pytest.raises(TypeError, match="accepted is a privet.Ledger"):
        estimator().fit(*data, ledger="budget.ledger")
    assert ledger.left() == 1


def test_a_refusal_before_the_first_draw_is_void(data, ledger):
    X, y = data
    X = X.copy()
    X[3, 1] = np.nan
    with pytest.raises(ValueError):
        estimator(n_rows=1500).fit(X, y, ledger=ledger)
    assert set(states(ledger)) <= {"void"}
    assert ledger.left() == 1


def test_searches_pay_for_every_fit(data, ledger):
    plan = estimator().plan(n_rows=1200, n_features=3)
    assert ledger.affords(plan, 2) and not ledger.affords(plan, 100)
    assert ledger.price(plan, 4) == pytest.approx(4 * ledger.price(plan), rel=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cross_val_score(estimator(0.1), *data, cv=3, params={"ledger": ledger}, error_score="raise")
        assert states(ledger) == ["settled"] * 3
        search = GridSearchCV(estimator(), {"epsilon": [0.3, 0.5, 0.8]}, cv=3, error_score="raise")
        with pytest.raises(PrivacyError, match="it would exceed the budget.*costs"):
            search.fit(*data, ledger=ledger)
    assert ledger.show()[0]["share_spent"] <= 1


def test_the_only_release_may_take_the_whole_limit(data, tmp_path):
    ledger = Ledger(tmp_path / "b.ledger", dataset="riders", create=True, whole=True)
    ledger.open(epsilon=1, delta=1e-6)
    clf = PrivateLogisticRegression(epsilon=1, delta=1e-6, bounds=(-1, 1), classes=[0, 1])
    clf.fit(*data, ledger=ledger)
    assert ledger.left() == 0
    with pytest.raises(PrivacyError):
        estimator(1e-3).fit(*data, ledger=Ledger(ledger.path))


def test_names_and_files(data, tmp_path):
    with pytest.raises(FileNotFoundError):
        Ledger(tmp_path / "none")
    ledger = Ledger(tmp_path / "b.ledger", create=True)
    with pytest.raises(ValueError, match="dataset is missing"):
        ledger.open(epsilon=1, delta=0)
    with pytest.raises(ValueError, match="dataset is missing: the ledger has none"):
        estimator().fit(*data, ledger=ledger)
    named = Ledger(ledger.path, dataset="a")
    named.open(epsilon=1, delta=1e-6, filter="zcdp")
    with pytest.raises(ValueError, match="already"):
        named.open(epsilon=1, delta=1e-6)
    estimator().fit(*data, ledger=ledger)  # there is only one
    # The same rows are not another data set's.
    other = Ledger(ledger.path, dataset="b")
    other.open(epsilon=1, delta=1e-6)
    with pytest.raises(PrivacyError, match="'a'"):
        estimator().fit(*data, ledger=other)
    assert copy.deepcopy(named) is named
    assert pickle.loads(pickle.dumps(named)).show() == named.show()
    (tmp_path / "text").write_text("no ledger")
    with pytest.raises(ValueError, match="not a ledger"):
        Ledger(tmp_path / "text")


def test_threads_take_turns(data, ledger):
    def work():
        estimator(0.05).fit(*data, ledger=ledger)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert states(ledger) == ["settled"] * 4


def test_other_families_pay(data, ledger):
    schema = privet.Schema({"smokes": privet.binary("no", "yes")}, target="ill", classes=["no", "yes"])
    people = {"smokes": ["no"] * 80 + ["yes"] * 20, "ill": ["no", "yes"] * 50}
    found = privet.count(people, "smokes", schema=schema, epsilon=0.1, ledger=ledger)
    assert found.certificate.document["ledger"]["sequence"] > 0
    selector = privet.PrivateFeatureSelector(epsilon=0.1, delta=1e-8, size=1, bounds=(-1, 1), classes=[0, 1])
    selector.fit(*data, ledger=ledger)
    assert states(ledger) == ["settled", "settled"]


def grouped(**more):
    return estimator(0.1, max_records=2, n_rows=1500, **more)


def test_a_limit_on_people_pays_for_no_visits(data, tmp_path):
    X, y = data
    people, visits = np.arange(1500) // 4, np.arange(1500) // 2
    ledger = Ledger(tmp_path / "people.ledger", dataset="riders", unit="person", create=True)
    ledger.open(epsilon=3, delta=1e-6, max_records=2)
    assert ledger.show()[0]["whose"] == {"kind": "column", "column": "person"}
    with pytest.raises(PrivacyError, match='"visit".*"person"'):
        grouped().fit(X, y, groups=pd.Series(visits, name="visit"), ledger=ledger)
    # An array has no name: whoever names the ledger's unit says what it is.
    unnamed = Ledger(ledger.path, dataset="riders")
    with pytest.raises(PrivacyError, match="does not say whose"):
        grouped().fit(X, y, groups=visits, ledger=unnamed)
    assert states(ledger) == []
    grouped().fit(X, y, groups=people, ledger=ledger)
    clf = grouped().fit(X, y, groups=pd.Series(people, name="person"), ledger=unnamed)
    assert clf.certificate_.whose == {"kind": "column", "column": "person"}
    assert states(ledger) == ["settled", "settled"]


def test_users_of_ratings_are_whose_the_ledger_says(tmp_path):
    ratings = [(user, item, 3) for user in range(50) for item in range(3)]
    model = privet.PrivateRecommender(epsilon=1, items=range(3), bounds=(1, 5), n_users=50)
    ledger = Ledger(tmp_path / "r.ledger", dataset="ratings", create=True)
    ledger.open(epsilon=3, delta=1e-3, max_records=3)
    with pytest.raises(PrivacyError, match="does not say whose"):
        model.fit(ratings, ledger=ledger)
    model.fit(ratings, ledger=Ledger(ledger.path, dataset="ratings", unit="member"))
    assert model.certificate_.whose == {"kind": "not-said"}
    assert ledger.history()[0]["whose"] == {"kind": "column", "column": "member"}


def test_units_that_are_not_known_to_be_the_same_have_no_total(data):
    X, y = data

    def fit(groups):
        return grouped().fit(X, y, groups=groups)

    total = privet.account.total
    people = np.arange(1500) // 4
    named = [fit(pd.Series(people, name="person")) for _ in range(2)]
    assert 0 < total(named, delta=1e-6) < float("inf")
    visits = fit(pd.Series(np.arange(1500) // 2, name="visit"))
    with pytest.raises(PrivacyError, match="'person'.*'visit'.*same_unit=True"):
        total([named[0], visits], delta=1e-6)
    unnamed = [fit(people), fit(people)]
    with pytest.raises(PrivacyError, match="no name"):
        total(unnamed, delta=1e-6)
    stated = total([named[0], visits], delta=1e-6, same_unit=True)
    assert stated > 0 and any("same_unit=True" in condition for condition in stated.conditions)
    assert total(unnamed, delta=1e-6, same_unit=True).stated
    assert total(named, delta=1e-6, same_unit=True).stated == (), "nobody's word is needed"
    assert total(unnamed[:1], delta=1e-6) > 0, "one release is one"


def test_what_killed_runs_left_is_removed_and_said(data, tmp_path, capfd):
    left = tmp_path / ".privet-held-dead.part"
    left.write_text("a release")
    left.chmod(0o600)
    estimator().fit(*data).save(tmp_path / "model.json")
    assert not left.exists()
    assert str(left) in capfd.readouterr().err


VISITS = np.arange(1500) // 2


def test_groups_of_another_name_than_the_schemas_unit_are_refused(data, tmp_path):
    X, y = data
    visits = pd.Series(VISITS, name="visit")
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(ill=np.where(y, "yes", "no"))
    columns = {name: privet.number(-1, 1) for name in "abc"}
    schema = privet.Schema(columns, target="ill", classes=["no", "yes"], unit="patient", max_records=2)
    wards = {"ward": privet.binary("a", "b")}
    wards = privet.Schema(wards, target="ill", classes=["no", "yes"], unit="patient", max_records=2)
    table = frame.assign(ward="a")
    ledger = Ledger(tmp_path / "l", dataset="riders", unit="patient", create=True)
    ledger.open(epsilon=3, delta=1e-6, max_records=2)
    of_y = frame["ill"]

    def fit(**more):
        return PrivateLogisticRegression(epsilon=0.1, delta=1e-8, schema=schema, n_rows=1500).fit(frame, of_y, **more)

    fitted = fit(groups=VISITS)
    doors = {
        "fit": lambda groups: fit(groups=groups, ledger=ledger),
        "evaluate": lambda groups: privet.evaluate(
            fitted, frame, of_y, epsilon=0.1, n_rows=1500, groups=groups, ledger=ledger
        ),
        "count": lambda groups: privet.count(
            table, "ward", schema=wards, epsilon=0.1, n_rows=1500, groups=groups, ledger=ledger
        ),
        "describe": lambda groups: privet.describe(
            table, schema=wards, epsilon=0.1, n_rows=1500, groups=groups, ledger=ledger
        ),
    }
    for name, door in doors.items():
        for groups in (visits, pd.Index(visits), visits.astype(str)):
            with pytest.raises(ValueError, match="visit.*patient"):
                door(groups)
        assert states(ledger) == [], name
    # An array is what whoever hands it over says; the schema does.
    doors["count"](VISITS)
    doors["fit"](visits.rename("patient"))
    assert states(ledger) == ["settled", "settled"]


def test_how_identifiers_are_read_is_the_schemas(data, tmp_path):
    X, y = data
    ledger = Ledger(tmp_path / "l", dataset="riders", unit="patient", create=True)
    ledger.open(epsilon=3, delta=1e-6, max_records=2)
    clf = grouped().set_params(classes=[" yes", "no"])
    labels = np.where(y, " yes", "no")
    # The blank of a class counts, and so do those of identifiers: another unit than the limit's.
    with pytest.raises(PrivacyError, match="blanks included"):
        clf.fit(X, labels, groups=VISITS, ledger=ledger)
    said = Ledger(ledger.path, dataset="others", unit="patient")
    Ledger(ledger.path, dataset="others").open(epsilon=3, delta=1e-6, max_records=2)
    clf.fit(X, labels, groups=VISITS, ledger=said)
    assert said.history()[-1]["whose"] == {"kind": "column", "column": "patient", "trim": False}
    with pytest.raises(PrivacyError, match="blanks included"):
        grouped().fit(X, y, groups=VISITS, ledger=said)


def test_a_name_of_the_groups_and_one_of_the_ledger_are_one(data, tmp_path):
    X, y = data
    Ledger(tmp_path / "l", dataset="riders", create=True).open(epsilon=3, delta=1e-6, max_records=2)
    ledger = Ledger(tmp_path / "l", dataset="riders", unit="patient")
    with pytest.raises(PrivacyError, match='"visit".*"patient"'):
        grouped().fit(X, y, groups=pd.Series(VISITS, name="visit"), ledger=ledger)
    assert states(ledger) == []


@pytest.mark.parametrize("name", ["visit ", " visit", ("a", "visit"), "(visit)"])
def test_a_name_in_another_form_is_a_name(data, tmp_path, name):
    X, y = data
    ledger = Ledger(tmp_path / "l", dataset="riders", unit="patient", create=True)
    ledger.open(epsilon=3, delta=1e-6, max_records=2)
    with pytest.raises(ValueError, match="visit|brackets"):
        grouped().fit(X, y, groups=pd.Series(VISITS, name=name), ledger=ledger)
    model = privet.PrivateRecommender(epsilon=1, items=range(3), bounds=(1, 5), n_users=50)
    ratings = pd.DataFrame([(user, item, 3) for user in range(50) for item in range(3)], columns=[name, "i", "rating"])
    with pytest.raises(ValueError, match="visit|brackets"):
        model.fit(ratings, ledger=ledger)
    assert states(ledger) == []


def test_a_feature_is_not_called_as_the_groups_are(data):
    X, y = data
    frame = pd.DataFrame(X, columns=["a", "patient", "target"])
    for groups in (pd.Series(VISITS, name="patient"), frame["patient"].rank().astype(int)):
        with pytest.raises(ValueError, match="'patient'.*accepted is X without it"):
            grouped().fit(frame, y, groups=groups)
    clf = grouped().fit(frame[["a"]], y, groups=pd.Series(VISITS, name="target"))
    assert clf.certificate_.whose == {"kind": "column", "column": "target"}


def test_users_of_a_frame_are_its_first_column(tmp_path):
    ratings = [(f" {user % 50}" if user < 50 else str(user % 50), item, 3) for user in range(100) for item in range(3)]
    model = privet.PrivateRecommender(epsilon=1, items=range(3), bounds=(1, 5), n_users=50)
    ledger = Ledger(tmp_path / "r.ledger", dataset="ratings", unit="member", create=True)
    ledger.open(epsilon=3, delta=1e-3, max_records=3)
    for name in ("visit", "item"):
        with pytest.raises(PrivacyError, match=f'"{name}".*"member"'):
            model.fit(pd.DataFrame(ratings, columns=[name, "i", "rating"]), ledger=ledger)
    assert states(ledger) == []
    for name in ("member", "item", "rating"):
        fitted = model.fit(pd.DataFrame(ratings, columns=[name, "a", "b"]), ledger=ledger if name == "member" else None)
        assert fitted.certificate_.whose == {"kind": "column", "column": name}
        assert privet.verify(fitted).valid
    # Blanks do not count, as the certificate and the ledger say: these are fifty people.
    from privet.recommender import _by_user

    assert len(_by_user(ratings, total=False)) == 50
    assert _by_user([(" ", 1, 3), ("", 1, 3)], total=True) == []
    with pytest.raises(ValueError, match="rating 0"):
        _by_user([(" ", 1, 3)], total=False)


def test_what_is_no_unit_is_refused(tmp_path):
    for name in ("", " ", "\t", "(not named)", "a\nb"):
        with pytest.raises(ValueError, match="accepted"):
            Ledger(tmp_path / "l", dataset="riders", unit=name, create=True)
    ledger = Ledger(tmp_path / "l", dataset="riders", unit="patient", create=True)
    with pytest.raises(ValueError, match="max_records"):
        ledger.open(epsilon=1, delta=1e-6)
    assert ledger.show() == []


def test_a_price_is_of_the_limits_unit(tmp_path):
    schema = privet.Schema(
        {"a": privet.number(-1, 1)}, target="ill", classes=["no", "yes"], unit="visit", max_records=2
    )
    visits = PrivateLogisticRegression(epsilon=0.1, delta=1e-8, schema=schema).plan(n_rows=1500)
    ledger = Ledger(tmp_path / "l", dataset="riders", unit="patient", create=True)
    ledger.open(epsilon=3, delta=1e-6, max_records=2)
    unnamed = grouped().plan(n_rows=1500, n_features=3)
    assert ledger.affords(unnamed) and 0 < Ledger(ledger.path).price(unnamed) < 1
    for ask in (ledger.price, ledger.affords):
        with pytest.raises(PrivacyError, match='"visit".*"patient"'):
            ask(visits)
    with pytest.raises(PrivacyError, match='"visit".*"patient"'):
        Ledger(ledger.path, unit="visit").affords(unnamed)


def test_plans_say_whose_their_unit_is():
    def counted(unit):
        schema = privet.Schema(
            {"ward": privet.binary("a", "b")}, target="ill", classes=["no", "yes"], unit=unit, max_records=2
        )
        return privet.plan_count("ward", schema=schema, n_rows=100, epsilon=1)

    people = counted("person")
    assert people.whose == {"kind": "column", "column": "person"}
    assert 0 < privet.account.total([people, people], delta=1e-6) < float("inf")
    with pytest.raises(PrivacyError, match="'person'.*'visit'"):
        privet.account.total([people, counted("visit")], delta=1e-6)


def test_what_no_budget_pays_is_refused_whatever_the_records_hold(tmp_path):
    """Under a policy for bad records: the words of a refusal are the same for good tables and bad ones."""
    schema = privet.Schema({"a": privet.number(0, 1), "b": privet.category(["x", "y"])}, target="y", classes=["0", "1"], invalid="drop")
    good = {"a": [0.5] * 60, "b": ["x", "y"] * 30, "y": ["0", "1"] * 30}
    bad = {"a": [object(), *good["a"][1:]], "b": [None, [1], *good["b"][2:]], "y": ["secret", float("nan"), *good["y"][2:]]}
    with Ledger(tmp_path / "budget.ledger", dataset="few", create=True) as poor:
        poor.open(epsilon=0.001, delta=1e-4)
        before, words = poor.history(), {}
        for table in (good, bad):
            rows = [list(row) for row in zip(table["a"], table["b"], strict=True)]
            for name, call in {
                "fit": lambda rows=rows, y=table["y"]: PrivateLogisticRegression(epsilon=1, schema=schema).fit(rows, y, ledger=poor),
                "count": lambda table=table: privet.count(table, "b", schema=schema, epsilon=1, ledger=poor),
                "describe": lambda table=table: privet.describe(table, schema=schema, epsilon=1, delta=1e-6, ledger=poor),
                "tune": lambda rows=rows, y=table["y"]: privet.PrivateTuner(
                    [{"method": "gd", "steps": [5]}], schema=schema, epsilon=1
                ).fit(rows, y, ledger=poor),
            }.items():
                with pytest.raises(PrivacyError, match="would exceed the budget") as refused:
                    call()
                assert words.setdefault(name, str(refused.value)) == str(refused.value), name
        assert poor.history() == before
