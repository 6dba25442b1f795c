# Read off the extension by `make stub`; not to be edited.
"""
The compiled part of `privet`; see the Python modules for documentation.
"""

from _typeshed import Incomplete, SupportsGetItem
import numpy
import numpy.typing
from os import PathLike
from typing import Any, Final, SupportsFloat, SupportsIndex, final

__all__ = [
    "Ledger",
    "NOTE_CLASSES",
    "OnlineStream",
    "Plan",
    "PrivacyError",
    "Records",
    "Released",
    "Schema",
    "__version__",
    "account_bracket",
    "account_calibrate",
    "account_check",
    "account_delta",
    "account_epsilon",
    "account_trade_off",
    "audit_counts",
    "audit_learner",
    "audit_membership",
    "audit_one_run",
    "cluster_answer",
    "cluster_cut",
    "cluster_encode",
    "cluster_merge",
    "cluster_print",
    "cluster_rows",
    "cluster_units",
    "command_line",
    "evaluate_exactly",
    "evaluate_privately",
    "hold_signals",
    "learn_ratings",
    "let_signals_go",
    "load",
    "noise_discrete_gaussian",
    "noise_discrete_laplace",
    "noise_exponential_choice",
    "noise_gaussian",
    "noise_l2_laplace",
    "offered",
    "plan_answers",
    "plan_counts",
    "plan_description",
    "plan_labels",
    "plan_linear",
    "plan_network",
    "plan_offered",
    "plan_selection",
    "plan_tuning",
    "threshold_by_cost",
]


class PrivacyError(ValueError):
    """
    Refused on privacy grounds: no proof covers what was asked for, or a certificate does not hold.
    """

NOTE_CLASSES: Final[str]
"""
What a certificate says where classes were taken from y.
"""

__version__: Final[str]

@final
class Ledger:
    """
    An open ledger.
    """
    def __new__(cls, /, path: str | PathLike[str], create: bool, who: str) -> Ledger:
        """
        Opens the ledger of a file, or makes one.
        """
    def add(self, /, name: str, *, epsilon: SupportsFloat | SupportsIndex, delta: SupportsFloat | SupportsIndex, neighbours: str, max_records: SupportsIndex | None, unit: str | None, filter: str | None, order: SupportsFloat | SupportsIndex | None, who: str, purpose: str) -> None:
        """
        Opens a data set that is known by its name.
        """
    @staticmethod
    def check_unit(name: str) -> None:
        """
        Refuses what is no name of a column that says whose a record is.
        """
    def history(self, /) -> str:
        """
        Every release, as JSON.
        """
    def quote(self, /, name: str, events: str, fits: SupportsIndex, whose: str, unit: str | None) -> tuple[float, bool]:
        """
        The share of the limit that so many releases of these events cost, and whether they fit. `whose` is who a unit
        is as the plan says it, `unit` what identifiers are that come without a name.
        """
    def show(self, /) -> str:
        """
        What was spent on each data set and what is left, as JSON.
        """

@final
class OnlineStream:
    """
    A stream under way. Its un-noised half lives on a thread of its own, and nowhere else.
    """
    def __new__(cls, /, schema: Schema, horizon: SupportsIndex, *, epsilon: SupportsFloat | SupportsIndex | None, delta: SupportsFloat | SupportsIndex | None, neighbours: str, method: str, settings: SupportsGetItem[int, tuple[str, str]], batch: SupportsIndex, seed: SupportsIndex | None, prior_fits: SupportsGetItem[int, str] = ...) -> OnlineStream:
        """
        Plans and opens the stream; nothing is drawn yet.
        """
    @property
    def batch(self, /) -> int:
        """
        Records that make a step.
        """
    def released(self, /) -> Released | None:
        """
        The newest model with its certificate; `None` if there is none since the last call.
        """
    def scores(self, /, features: Any) -> numpy.typing.NDArray[numpy.float64]:
        """
        ⟨x, θ⟩ of the newest model for each row; of several classes all rows of the first, then all of the second, …
        """
    def take(self, /, features: Any, labels: Any) -> tuple[int, int]:
        """
        Takes steps from rows: how many rows were taken, and how many steps are left.
        """
    @property
    def weights(self, /) -> list[float]:
        """
        The newest weights.
        """

@final
class Plan:
    """
    Everything that decides a guarantee, fixed before any record is read.
    """
    @staticmethod
    def of(request: str) -> Plan:
        """
        Makes the plan of a request as certificates carry it, of whatever family: JSON with its `task`, `schema`, `rows`,
        `budget`, `neighbours`, and the words of the family.
        """
    def run(self, /, features: Any, labels: Any, units: Any | None, seed: SupportsIndex | None, paid: tuple[Ledger, str, str, str, bool, str | None] | None = None, *, public: Any | None = None, teach: Any | None = None) -> Released:
        """
        Carries it out: one release. Votes are on `public` rows, of teachers that `teach` trains where they are not built in.
        """
    def run_elsewhere(self, /, encode: Any, ask: Any, seed: SupportsIndex | None, paid: tuple[Ledger, str, str, str, bool, str | None] | None = None) -> Released:
        """
        Carries it out on rows that other machines keep.
        """
    def run_on(self, /, records: Records, seed: SupportsIndex | None, paid: tuple[Ledger, str, str, str, bool, str | None] | None = None) -> Released:
        """
        The same on records that were read before.
        """
    def schema(self, /) -> Schema:
        """
        The schema by which it has rows encoded.
        """
    def spread(self, /, public: Any, codes: SupportsGetItem[int, SupportsIndex]) -> numpy.typing.NDArray[numpy.int32]:
        """
        Labels of public rows, numbers of classes or −1, spread among those rows that resemble one another.
        """
    @property
    def task(self, /) -> str:
        """
        The word for its family.
        """
    def to_json(self, /, base_rate: SupportsFloat | SupportsIndex | None = None) -> str:
        """
        What was decided, as JSON, of linear models with what is expected for this share of the commonest class.
        """
    def told(self, /) -> str:
        """
        What workers that keep rows are told of it.
        """

@final
class Records:
    """
    Records with target and unit, read under a schema; nothing of them can be seen but how many there are.
    """
    def __new__(cls, /, given: Any, schema: Schema, allow_empty: bool, any_storage: bool = True) -> Records:
        """
        From named columns, or from the file at a path.
        """
    @property
    def rows(self, /) -> int:
        """
        How many there are; for whoever may know it.
        """

@final
class Released:
    """
    What was released, of any family, with its certificate. Holds nothing else of the records.
    """
    def __reduce__(self, /) -> tuple[Any, tuple[Any]]: ...
    @property
    def after(self, /) -> list[int]:
        """
        After which steps something was kept.
        """
    @property
    def by(self, /) -> str:
        """
        The counted column.
        """
    @property
    def candidate(self, /) -> int | None:
        """
        Which candidate was best, counted from 0; `None` where no trial was made.
        """
    @property
    def cells(self, /) -> list[tuple[str, float]]:
        """
        Each category with its count, in declared order.
        """
    def centre(self, /) -> numpy.typing.NDArray[numpy.float64] | None:
        """
        What is taken from every encoded row before it is weighed, if anything is.
        """
    def certainty(self, /) -> str:
        """
        Each weight with what the noise of privacy may have done to it, as JSON.
        """
    def certificate(self, /) -> str:
        """
        The certificate as JSON.
        """
    def claim(self, /) -> str:
        """
        What the certificate claims, as JSON: all of it but the request and the proof of its origin.
        """
    @property
    def codes(self, /) -> Incomplete:
        """
        The number of the class of each public row, −1 where it has none.
        """
    def column_names(self, /) -> list[str]:
        """
        Names of the encoded columns.
        """
    @property
    def columns(self, /) -> list[int] | None:
        """
        Places of the chosen encoded columns; `None` where no answer was stable enough.
        """
    @staticmethod
    def from_bytes(bytes: bytes, *, sealed: bool = True) -> Released:
        """
        Reads it from the bytes of its file.
        """
    @property
    def items(self, /) -> list[str]:
        """
        The public list of items.
        """
    @property
    def law(self, /) -> str | None:
        """
        The law of the noise of counts.
        """
    @staticmethod
    def load(path: str | PathLike[str], *, sealed: bool = True) -> Released:
        """
        Reads its file.
        """
    @property
    def margin(self, /) -> float:
        """
        How far a count is from the truth at most, in 95 of 100 cases.
        """
    def model(self, /) -> Released | None:
        """
        The best trial's model, to predict with; it is saved and verified as part of this alone.
        """
    @property
    def names(self, /) -> list[str] | None:
        """
        Their names.
        """
    @property
    def noise(self, /) -> float:
        """
        The standard deviation of the noise on each count.
        """
    def numbers(self, /) -> list[float]:
        """
        All its noised numbers.
        """
    def page(self, /) -> str:
        """
        The same as a page of HTML.
        """
    def plan(self, /) -> str:
        """
        The plan that its public facts give, as JSON.
        """
    def predict(self, /, given: SupportsGetItem[int, tuple[str, SupportsFloat | SupportsIndex]]) -> list[float]:
        """
        What one user is predicted to say of every item, in the order of the list.
        """
    def predict_codes(self, /, features: Any) -> numpy.typing.NDArray[numpy.uint32]:
        """
        The most likely class of each row, by its place among the classes.
        """
    def predict_numbers(self, /, features: Any) -> numpy.typing.NDArray[numpy.float64]:
        """
        The predicted number of each row, in the target's own unit.
        """
    def predictions(self, /) -> numpy.typing.NDArray[Any]:
        """
        The class of each question by its place in the schema, or its number.
        """
    def probabilities(self, /, features: Any) -> numpy.typing.NDArray[numpy.float64] | None:
        """
        A probability for each row and class; of a linear model `None` unless the loss is logistic.
        """
    def report(self, /) -> str:
        """
        What its family reports of it, as JSON: a sentence, and sections of prose, lines and tables.
        """
    def request(self, /) -> str:
        """
        What was asked for, as JSON.
        """
    def rows(self, /, features: Any) -> numpy.typing.NDArray[numpy.float64]:
        """
        Rows as the weights meet them: encoded, and centred where the model has a centre.
        """
    def save(self, /, path: str | PathLike[str], overwrite: bool) -> None:
        """
        Writes its file, whole or not at all, readable by its owner alone. It was paid for: if it cannot be
        put there it is put elsewhere, and the exception says where.
        """
    def schema(self, /) -> Schema:
        """
        The schema that was asked for.
        """
    def scores(self, /, features: Any) -> numpy.typing.NDArray[numpy.float64]:
        """
        ⟨x, θ⟩ for each row and problem.
        """
    def shapes(self, /) -> str:
        """
        What it says of each column, as JSON.
        """
    def summary(self, /) -> str:
        """
        What a description says of the table, as JSON.
        """
    @property
    def task(self, /) -> str:
        """
        The word for its family.
        """
    def tensors(self, /) -> list[tuple[str, list[int], numpy.typing.NDArray[numpy.float32]]]:
        """
        The noised weights of a network: name, shape and numbers of each tensor.
        """
    def threshold_for_share(self, /, share: SupportsFloat | SupportsIndex) -> tuple[float, float, float]:
        """
        The threshold above which a share of the records lies, with its interval.
        """
    def to_bytes(self, /) -> bytes:
        """
        The bytes of its file.
        """
    def to_csv(self, /) -> str:
        """
        Encoded columns with their weights, as CSV.
        """
    def to_json(self, /) -> str:
        """
        The text of its file.
        """
    def to_onnx(self, /) -> bytes:
        """
        As an ONNX file.
        """
    def to_sql(self, /, table: str, id: str | None) -> str:
        """
        As one query of SQL.
        """
    @property
    def values(self, /) -> list[list[float]]:
        """
        The numbers of each: weights, or a count a category.
        """
    def verify(self, /) -> str:
        """
        Checks it without data: the verdict as JSON.
        """
    @property
    def votes(self, /) -> Incomplete:
        """
        Noised votes: a row for each question, a column for each class or end.
        """
    def weights(self, /) -> numpy.typing.NDArray[numpy.float64]:
        """
        A row of weights for each linear problem.
        """
    def worth(self, /) -> str:
        """
        What an evaluation says of the model, as JSON.
        """

@final
class Schema:
    """
    Checked public facts about a table.
    """
    def __new__(cls, /, json: str) -> Schema:
        """
        From JSON, checked.
        """
    def __reduce__(self, /) -> tuple[Any, tuple[str]]: ...
    @property
    def bias(self, /) -> float | None:
        """
        The value of the constant column.
        """
    @property
    def classes(self, /) -> list[str] | None: ...
    def counting(self, /, by: str) -> Schema:
        """
        The schema under which records are counted by a column.
        """
    def encode(self, /, features: Any) -> numpy.typing.NDArray[numpy.float32]:
        """
        Encoded, clipped rows as a `float32` array.
        """
    @property
    def encoded_columns(self, /) -> list[str]:
        """
        Names of the encoded columns.
        """
    @property
    def features(self, /) -> list[str]:
        """
        Names of the columns that are features.
        """
    @staticmethod
    def from_toml(text: str) -> Schema:
        """
        From TOML, checked.
        """
    @property
    def is_additive(self, /) -> bool:
        """
        Whether a score is a sum over columns for every row, whatever its length.
        """
    @property
    def is_total(self, /) -> bool:
        """
        Whether no record can make the reading of a table fail.
        """
    @property
    def labels(self, /) -> tuple[list[tuple[str, int]], int | None]:
        """
        Further labels with the place of their class, and the place of all that are not listed.
        """
    def lines(self, /) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]] | None:
        """
        Slope and offset of each encoded column but the constant one as a line of its feature; `None`
        where some are none.
        """
    @staticmethod
    def load(path: str | PathLike[str]) -> Schema:
        """
        From a TOML file, checked.
        """
    @property
    def network_inputs(self, /) -> int:
        """
        How many numbers a network sees of a row: all encoded columns but the constant one.
        """
    @property
    def number_features(self, /) -> int | None:
        """
        How many features a table without names has: numbers read by position; `None` where there are
        others.
        """
    @staticmethod
    def of_numbers(json: str, names: SupportsGetItem[int, str], low: SupportsGetItem[int, SupportsFloat | SupportsIndex], high: SupportsGetItem[int, SupportsFloat | SupportsIndex], symmetric: bool) -> Schema:
        """
        From JSON without columns, and a column of numbers for each name; checked.
        """
    @property
    def radius(self, /) -> float:
        """
        The length of the longest row.
        """
    @property
    def score_factor(self, /) -> float:
        """
        What encoded entries are multiplied by where scores are sums over columns (`rows = "fill"`); 1
        elsewhere.
        """
    @property
    def target(self, /) -> str: ...
    @property
    def target_bounds(self, /) -> tuple[float, float] | None: ...
    def to_json(self, /) -> str:
        """
        The one form of equal schemas.
        """
    def to_toml(self, /) -> str: ...
    @property
    def unit(self, /) -> str | None:
        """
        The column that says whose a row is.
        """

def account_bracket(json: str, epsilon: SupportsFloat | SupportsIndex) -> tuple[float, float]:
    """
    Certified lower and upper bounds on δ at ε.
    """

def account_calibrate(event_for: Any, epsilon: SupportsFloat | SupportsIndex, delta: SupportsFloat | SupportsIndex, low: SupportsFloat | SupportsIndex, high: SupportsFloat | SupportsIndex) -> float:
    """
    The smallest noise scale between `low` and `high` whose event meets the budget; `event_for` maps a
    scale to an event's JSON.
    """

def account_check(json: str) -> None:
    """
    Refuses an event that no bound is known for.
    """

def account_delta(json: str, epsilon: SupportsFloat | SupportsIndex) -> float:
    """
    An upper bound on δ at ε.
    """

def account_epsilon(json: str, delta: SupportsFloat | SupportsIndex) -> float:
    """
    An upper bound on ε at δ.
    """

def account_trade_off(json: str, alphas: SupportsGetItem[int, SupportsFloat | SupportsIndex]) -> list[float]:
    """
    The least second error of an attacker, for each first error.
    """

def audit_counts(law: str, epsilon: SupportsFloat | SupportsIndex, delta: SupportsFloat | SupportsIndex, neighbours: str, max_records: SupportsIndex | None, runs: SupportsIndex, confidence: SupportsFloat | SupportsIndex, seed: SupportsIndex) -> str:
    """
    Many runs of counts on built-in neighbours.
    """

def audit_learner(method: str, settings: SupportsGetItem[int, tuple[str, str]], epsilon: SupportsFloat | SupportsIndex, delta: SupportsFloat | SupportsIndex, neighbours: str, rows: SupportsIndex | None, runs: SupportsIndex, confidence: SupportsFloat | SupportsIndex, seed: SupportsIndex) -> str:
    """
    Many runs of a learner on built-in neighbours.
    """

def audit_membership(model: Released, features: Any, labels: Any, others: tuple[Any, Any] | None, seed: SupportsIndex) -> str:
    """
    Who was a model trained on? `others` are rows that it was not trained on, with their labels.
    """

def audit_one_run(method: str, settings: SupportsGetItem[int, tuple[str, str]], epsilon: SupportsFloat | SupportsIndex, delta: SupportsFloat | SupportsIndex, neighbours: str, canaries: SupportsIndex, confidence: SupportsFloat | SupportsIndex, seed: SupportsIndex) -> str:
    """
    One run of a learner with many canaries.
    """

def cluster_answer(question: str, piece: SupportsIndex, bytes: SupportsGetItem[int, bytes | bytearray]) -> bytes:
    """
    The answer for the rows of these blocks, which are one piece.
    """

def cluster_cut(bytes: bytes, ranges: SupportsGetItem[int, tuple[SupportsIndex, SupportsIndex]]) -> list[bytes]:
    """
    Some ranges of a block's rows, each a block.
    """

def cluster_encode(columns: list, told: str) -> tuple[bytes, int, int, str]:
    """
    Encodes, clips and admits the rows of some columns by a plan's request: the bytes that are kept, how many
    rows they are, their checksum, and what is known of them as JSON. All rows of a unit must be among them.
    """

def cluster_merge(question: str, columns: SupportsIndex, parts: SupportsGetItem[int, bytes | bytearray]) -> bytes:
    """
    Several answers to a question whose sums are exact, as one.
    """

def cluster_print(bytes: bytes) -> tuple[int, int]:
    """
    How many rows a block has, and its checksum.
    """

def cluster_rows(question: str, first: SupportsIndex, bytes: bytes) -> bytes:
    """
    Those of the rows that a question names that are in this block, of which the first is at `first`.
    """

def cluster_units(unit: Any, schema: Schema) -> list[int]:
    """
    A number for whose each row is: equal for the rows of one unit. A row of nobody has 0.
    """

def command_line(arguments: SupportsGetItem[int, str]) -> int:
    """
    Runs the command line; the first argument is the program's name. It is a program of one process: its threads are not
    taken along by a fork.
    """

def evaluate_exactly(model: Released, features: Any, labels: Any, threshold: SupportsFloat | SupportsIndex | None) -> str:
    """
    Without noise, as JSON: not private.
    """

def evaluate_privately(model: Released, features: Any, labels: Any, units: Any | None, rows: SupportsIndex, *, epsilon: SupportsFloat | SupportsIndex, delta: SupportsFloat | SupportsIndex | None, neighbours: str, threshold: SupportsFloat | SupportsIndex | None, declared_public: bool, seed: SupportsIndex | None, paid: tuple[Ledger, str, str, str, bool, str | None] | None) -> Released:
    """
    In one noised release, paid for by a ledger where one is given.
    """

def hold_signals() -> bool:
    """
    From here on the exception of a signal waits where a release was finished; whether it did before.
    """

def learn_ratings(users: SupportsGetItem[int, SupportsGetItem[int, tuple[str, SupportsFloat | SupportsIndex]]], items: SupportsGetItem[int, str], bounds: tuple[SupportsFloat | SupportsIndex, SupportsFloat | SupportsIndex], most: SupportsIndex, n_users: SupportsIndex, *, unit: str | None, epsilon: SupportsFloat | SupportsIndex, delta: SupportsFloat | SupportsIndex, neighbours: str, invalid: str, method: str, settings: SupportsGetItem[int, tuple[str, str]], seed: SupportsIndex | None, paid: tuple[Ledger, str, str, str, bool, str | None] | None = None) -> Released:
    """
    Plans from public facts, and learns from users' ratings: for each a list of (item, rating).
    """

def let_signals_go() -> BaseException | None:
    """
    The end of that: the exception that waited, if one did.
    """

def load(path: str | PathLike[str], *, sealed: bool = True) -> Released:
    """
    Reads a file of any family.
    """

def noise_discrete_gaussian(sigma: SupportsFloat | SupportsIndex, count: SupportsIndex, seed: SupportsIndex | None) -> numpy.typing.NDArray[numpy.int64]:
    """
    P(k) ∝ e^(−k²/2σ²).
    """

def noise_discrete_laplace(scale: SupportsFloat | SupportsIndex, count: SupportsIndex, seed: SupportsIndex | None) -> numpy.typing.NDArray[numpy.int64]:
    """
    P(k) ∝ e^(−|k|/scale).
    """

def noise_exponential_choice(scores: numpy.typing.NDArray[numpy.int64], rate: SupportsFloat | SupportsIndex, seed: SupportsIndex | None) -> int:
    """
    A place among integer scores with probability ∝ e^(rate·score), exactly.
    """

def noise_gaussian(scale: SupportsFloat | SupportsIndex, count: SupportsIndex, seed: SupportsIndex | None) -> tuple[numpy.typing.NDArray[numpy.float64], float]:
    """
    A discrete Gaussian on a fine grid; also returns the grid's step.
    """

def noise_l2_laplace(scale: SupportsFloat | SupportsIndex, dimension: SupportsIndex, seed: SupportsIndex | None) -> numpy.typing.NDArray[numpy.float64]:
    """
    One vector, density ∝ e^(−‖b‖/scale).
    """

def offered() -> str:
    """
    What every family that is offered declares, as JSON: its verb, its words and its methods.
    """

def plan_answers(schema: Schema, questions: Any, rows: SupportsIndex, *, epsilon: SupportsFloat | SupportsIndex, delta: SupportsFloat | SupportsIndex | None, neighbours: str, within: SupportsFloat | SupportsIndex | None, votes: SupportsIndex | None, notes: SupportsGetItem[int, str], prior_fits: SupportsGetItem[int, str] = ...) -> Plan:
    """
    Makes the plan of answers from public facts and questions.
    """

def plan_counts(schema: Schema, by: str, rows: SupportsIndex, *, epsilon: SupportsFloat | SupportsIndex, delta: SupportsFloat | SupportsIndex, neighbours: str, law: str | None) -> Plan:
    """
    Makes the plan of counts from public facts.
    """

def plan_description(schema: Schema, rows: SupportsIndex, *, columns: SupportsGetItem[int, str] | None, bins: SupportsIndex | None, correlations: bool | None, epsilon: SupportsFloat | SupportsIndex, delta: SupportsFloat | SupportsIndex | None, neighbours: str) -> Plan:
    """
    Makes the plan of a description from public facts.
    """

def plan_labels(schema: Schema, queries: SupportsIndex, rows: SupportsIndex, *, epsilon: SupportsFloat | SupportsIndex, delta: SupportsFloat | SupportsIndex | None, neighbours: str, teachers: SupportsIndex | None, teacher: str | None, what: str, teach: SupportsGetItem[int, tuple[str, str]], aggregator: str, settings: SupportsGetItem[int, tuple[str, str]], ask: SupportsIndex | None, choose: SupportsIndex | None, public: Any | None, notes: SupportsGetItem[int, str], prior_fits: SupportsGetItem[int, str] = ...) -> Plan:
    """
    Makes the plan of labels from public facts: `queries` public rows, or these. A teacher that is not built in is told in
    words.
    """

def plan_linear(schema: Schema, rows: SupportsIndex, *, epsilon: SupportsFloat | SupportsIndex | None, delta: SupportsFloat | SupportsIndex | None, neighbours: str, loss: str, width: SupportsFloat | SupportsIndex, quantile: SupportsFloat | SupportsIndex, rate_at_zero: SupportsFloat | SupportsIndex | None, method: str, settings: SupportsGetItem[int, tuple[str, str]], calibration: str, notes: SupportsGetItem[int, str], public: Any | None = None, prior_fits: SupportsGetItem[int, str] = ...) -> Plan:
    """
    Makes the plan of a linear model from public facts.
    """

def plan_network(schema: Schema, net: str, rows: SupportsIndex, *, epsilon: SupportsFloat | SupportsIndex | None, delta: SupportsFloat | SupportsIndex | None, neighbours: str, method: str, settings: SupportsGetItem[int, tuple[str, str]], seed: SupportsIndex, weights: Released | None, scale: SupportsFloat | SupportsIndex | None, shift: SupportsFloat | SupportsIndex | None, notes: SupportsGetItem[int, str], prior_fits: SupportsGetItem[int, str] = ...) -> Plan:
    """
    Makes the plan of a training from public facts; `net` is the description as JSON, `weights` a public network to begin
    from.
    """

def plan_offered(verb: str, schema: Schema, rows: SupportsIndex, *, epsilon: SupportsFloat | SupportsIndex, delta: SupportsFloat | SupportsIndex | None, neighbours: str, words: SupportsGetItem[int, tuple[str, str]], method: str | None, settings: SupportsGetItem[int, tuple[str, str]], prior_fits: SupportsGetItem[int, str] = ...) -> Plan:
    """
    Makes the plan of a family that is offered, from its words as they are written and other public facts.
    """

def plan_selection(schema: Schema, size: SupportsIndex, rows: SupportsIndex, *, epsilon: SupportsFloat | SupportsIndex, delta: SupportsFloat | SupportsIndex | None, neighbours: str, method: str, settings: SupportsGetItem[int, tuple[str, str]], notes: SupportsGetItem[int, str], prior_fits: SupportsGetItem[int, str] = ...) -> Plan:
    """
    Makes the plan of a choice of columns from public facts.
    """

def plan_tuning(schema: Schema, rows: SupportsIndex, candidates: SupportsGetItem[int, tuple[str, SupportsGetItem[int, tuple[str, SupportsGetItem[int, str]]]]], *, epsilon: SupportsFloat | SupportsIndex, delta: SupportsFloat | SupportsIndex | None, neighbours: str, loss: str | None, trials: SupportsFloat | SupportsIndex | None, law: str | None, prior_fits: SupportsGetItem[int, str] = ...) -> Plan:
    """
    Makes the plan of a tuning from public facts.
    """

def threshold_by_cost(missed: SupportsFloat | SupportsIndex, false_alarm: SupportsFloat | SupportsIndex) -> float:
    """
    The threshold that follows from what errors cost.
    """
