"""Recommendations: what is learnt, protected, written, read and refused."""

import pytest

import privet
from privet import PrivateRecommender, verify

RATINGS = [
    (user, item, 5 if (item < 6) == (user % 2 == 0) else 2)
    for user in range(600)
    for item in range(12)
    if (user + item) % 3
]
FACTS = {"items": range(12), "bounds": (1, 5), "n_users": 600, "epsilon": 8}


def test_tastes_are_recommended(tmp_path):
    with pytest.warns(privet.NotPrivateWarning):
        model = PrivateRecommender(**FACTS, settings={"rank": 2, "core": 12}, random_state=1).fit(RATINGS)
    own = {0: 5, 1: 5, 2: 5, 9: 1, 10: 1}
    found = [item for item, _ in model.recommend(own, k=3)]
    assert set(found) == {"3", "4", "5"}
    assert set(model.predict(own)) == {str(item) for item in range(12)}
    assert all(1 <= rating <= 5 for rating in model.predict(own).values())


@pytest.mark.parametrize("method", ["moments", "frank-wolfe", "oja", "pgd", "svd"])
def test_it_is_verified_written_and_read(method, tmp_path):
    model = PrivateRecommender(**FACTS, method=method).fit(RATINGS)
    assert model.certificate_.epsilon == 8
    assert any("for that person alone" in note for note in model.certificate_.notes)
    assert verify(model).valid
    model.save(tmp_path / "films.json")
    assert verify(tmp_path / "films.json").valid
    again = privet.load(tmp_path / "films.json")
    assert isinstance(again, PrivateRecommender)
    assert again.predict([(0, 5)]) == model.predict([(0, 5)])


def test_what_is_missing_or_wrong_is_refused():
    def refused(words, ratings=RATINGS, **changed):
        with pytest.raises((ValueError, privet.PrivacyError), match=words):
            PrivateRecommender(**(FACTS | changed)).fit(ratings)

    refused("epsilon is missing", epsilon=None)
    refused("items are missing", items=None)
    refused("n_users is missing", n_users=None)
    refused("not a method", method="no-such")
    refused("delta", delta=0.0)
    refused("rank", settings={"rank": 99})
    refused("rating 0 is not", ratings=[("a", "b")])
    refused("rating 0 is not", ratings=[("a", "b", "good")])
    refused("rating 0 is not", ratings=[(0.5, 1, 3)])


def test_one_user_with_very_many_ratings_counts_as_one():
    many = [("one", place % 12, 3) for place in range(100_000)]
    model = PrivateRecommender(**FACTS, max_ratings=5).fit(many)
    assert verify(model).valid


def test_a_rating_that_is_none_is_left_out_or_refused_without_its_words():
    odd = [("a", "b"), None, ("secret 42", 3, "secret 42"), (0.5, 1, 3), (1, 1, float("nan")), (1, 1, None)]
    assert verify(PrivateRecommender(**FACTS, invalid="drop").fit([*odd, *RATINGS])).valid
    for triple in odd:
        with pytest.raises(ValueError, match="rating 0 is not") as refused:
            PrivateRecommender(**FACTS).fit([triple, *RATINGS])
        assert refused.value.__context__ is None and "secret" not in str(refused.value)
    with pytest.raises(ValueError, match="'refuse' and 'drop'"):
        PrivateRecommender(**FACTS, invalid="keep").fit(RATINGS)
