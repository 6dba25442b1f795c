"""InterpretML's differentially private explainable boosting machine on rows that privet handed over.

    python dp_ebm.py FOLDER

Types and bounds of columns are those of the schema, so that it asks the rows for neither. A question has ε, δ
and settings by the package's own names; whatever it does not name is the package's default.
"""

from importlib.metadata import version

from rows import Rows
from serving import serve

from interpret.privacy import DPExplainableBoostingClassifier


def main():
    rows = Rows()
    facts = rows.facts
    bounds = {place: tuple(pair) for place, pair in enumerate(facts["bounds"]) if pair is not None}

    def answer(question):
        return rows.judged(
            DPExplainableBoostingClassifier(
                feature_types=facts["types"],
                privacy_bounds=bounds,
                epsilon=question["epsilon"],
                delta=question["delta"],
                **question["settings"],
            )
        )

    serve({"interpret-core": version("interpret-core")}, answer)


if __name__ == "__main__":
    main()
