"""diffprivlib's logistic regression on rows that privet handed over.

    python diffprivlib_rows.py FOLDER

`data_norm` is the schema's radius, to which the rows are clipped already. A question has ε and settings by the
package's own names; whatever it does not name is the package's default. δ is 0 whatever is asked.
"""

from importlib.metadata import version

from rows import Rows
from serving import serve

from diffprivlib.models import LogisticRegression


def main():
    rows = Rows()
    radius = rows.facts["radius"]

    def answer(question):
        model = LogisticRegression(epsilon=question["epsilon"], data_norm=radius, **question["settings"])
        return rows.judged(model)

    serve({"diffprivlib": version("diffprivlib")}, answer)


if __name__ == "__main__":
    main()
