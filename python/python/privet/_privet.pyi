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
    "find_numpy",
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
The note of a certificate whose classes were taken from y.
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
        Opens an account for a data set known by its name.
        """
    @staticmethod
    def check_unit(name: str) -> None:
        """
        Refuses a text that cannot be the name of a unit column.
        """
    def history(self, /) -> str:
        """
        Every release, as JSON.
        """
    def quote(self, /, name: str, events: str, fits: SupportsIndex, whose: str, unit: str | None) -> tuple[float, bool]:
        """
        The share of the limit that `fits` releases of these events cost, and whether they fit. `whose`
        is the plan's definition of a unit, `unit` the meaning of identifiers without a name.
        """
    def show(self, /) -> str:
        """
        The budget spent and left on each data set, as JSON.
        """

@final
class OnlineStream:
    """
    A running stream. Its state without noise lives on a thread of its own, and nowhere else.
    """
    def __new__(cls, /, schema: Schema, horizon: SupportsIndex, *, epsilon: SupportsFloat | SupportsIndex | None, delta: SupportsFloat | SupportsIndex | None, neighbours: str, method: str, settings: SupportsGetItem[int, tuple[str, str]], batch: SupportsIndex, seed: SupportsIndex | None, prior_fits: SupportsGetItem[int, str] = ...) -> OnlineStream:
        """
        Plans and opens the stream; nothing is drawn yet.
        """
    @property
    def batch(self, /) -> int:
        """
        Number of records in a step.
        """
    def released(self, /) -> Released | None:
        """
        The newest model with its certificate; `None` if there is none since the last call.
        """
    def scores(self, /, features: Any) -> numpy.typing.NDArray[numpy.float64]:
        """
        The score ⟨x, θ⟩ of the newest model for each row; with several classes all rows of the first,
        then all of the second, …
        """
    def take(self, /, features: Any, labels: Any) -> tuple[int, int]:
        """
        Takes steps on rows: returns the number of rows taken, and of steps left.
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
        Makes the plan of a request of any family, as certificates carry it: JSON with its `task`,
        `schema`, `rows`, `budget`, `neighbours`, and the family's own fields.
        """
    def run(self, /, features: Any, labels: Any, units: Any | None, seed: SupportsIndex | None, paid: tuple[Ledger, str, str, str, bool, str | None] | None = None, *, public: Any | None = None, teach: Any | None = None) -> Released:
        """
        Runs it: one release. Votes label `public` rows, by teachers that `teach` trains where they are
        not built in.
        """
    def run_elsewhere(self, /, encode: Any, ask: Any, seed: SupportsIndex | None, paid: tuple[Ledger, str, str, str, bool, str | None] | None = None) -> Released:
        """
        Runs it on rows kept by other machines.
        """
    def run_on(self, /, records: Records, seed: SupportsIndex | None, paid: tuple[Ledger, str, str, str, bool, str | None] | None = None) -> Released:
        """
        Runs it on records that were read before.
        """
    def schema(self, /) -> Schema:
        """
        The schema by which rows are encoded for it.
        """
    def spread(self, /, public: Any, codes: SupportsGetItem[int, SupportsIndex]) -> numpy.typing.NDArray[numpy.int32]:
        """
        Spreads labels of public rows, class numbers or −1, among rows that resemble one another.
        """
    @property
    def task(self, /) -> str:
        """
        The name of the family.
        """
    def to_json(self, /, base_rate: SupportsFloat | SupportsIndex | None = None) -> str:
        """
        The decisions, as JSON; for linear models with the forecast at this share of the commonest class.
        """
    def told(self, /) -> str:
        """
        The description of the plan for workers that keep rows.
        """

@final
class Records:
    """
    Records with target and unit, read under a schema; only their number can be read from Python.
    """
    def __new__(cls, /, given: Any, schema: Schema, allow_empty: bool, any_storage: bool = True) -> Records:
        """
        From named columns, or from the file at a path.
        """
    @property
    def rows(self, /) -> int:
        """
        The number of records; private where neighbours add or remove records.
        """

@final
class Released:
    """
    A release of any family, with its certificate. Holds nothing else about the records.
    """
    def __reduce__(self, /) -> tuple[Any, tuple[Any]]: ...
    @property
    def after(self, /) -> list[int]:
        """
        The steps after which a value was released.
        """
    @property
    def by(self, /) -> str:
        """
        The counted column.
        """
    @property
    def candidate(self, /) -> int | None:
        """
        The index of the best candidate; `None` where no trial was made.
        """
    @property
    def cells(self, /) -> list[tuple[str, float]]:
        """
        Each category with its count, in declared order.
        """
    def centre(self, /) -> numpy.typing.NDArray[numpy.float64] | None:
        """
        The centre, subtracted from every encoded row, if there is one.
        """
    def certainty(self, /) -> str:
        """
        Each weight with the possible effect of the noise of privacy, as JSON.
        """
    def certificate(self, /) -> str:
        """
        The certificate as JSON.
        """
    def claim(self, /) -> str:
        """
        The claim of the certificate, as JSON: all of it but the request and the proof of its origin.
        """
    @property
    def codes(self, /) -> Incomplete:
        """
        The class index of each public row, −1 without a label.
        """
    def column_names(self, /) -> list[str]:
        """
        Names of the encoded columns.
        """
    @property
    def columns(self, /) -> list[int] | None:
        """
        Indices of the chosen encoded columns; `None` where no answer was stable enough.
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
        The noise distribution of counts.
        """
    @staticmethod
    def load(path: str | PathLike[str], *, sealed: bool = True) -> Released:
        """
        Reads its file.
        """
    @property
    def margin(self, /) -> float:
        """
        Half width of a 95 % interval of a count.
        """
    def model(self, /) -> Released | None:
        """
        The best trial's model, for prediction; it is saved and verified only as part of this release.
        """
    @property
    def names(self, /) -> list[str] | None:
        """
        Names of the chosen columns.
        """
    @property
    def noise(self, /) -> float:
        """
        The standard deviation of the noise on each count.
        """
    def numbers(self, /) -> list[float]:
        """
        All its noisy numbers.
        """
    def page(self, /) -> str:
        """
        The shape functions as a page of HTML.
        """
    def plan(self, /) -> str:
        """
        The plan that its public facts give, as JSON.
        """
    def predict(self, /, given: SupportsGetItem[int, tuple[str, SupportsFloat | SupportsIndex]]) -> list[float]:
        """
        The predicted ratings of one user for every item, in the order of the list.
        """
    def predict_codes(self, /, features: Any) -> numpy.typing.NDArray[numpy.uint32]:
        """
        The index of the most likely class of each row.
        """
    def predict_numbers(self, /, features: Any) -> numpy.typing.NDArray[numpy.float64]:
        """
        The predicted number of each row, in the target's own unit.
        """
    def predictions(self, /) -> numpy.typing.NDArray[Any]:
        """
        The class index of each query, or its number.
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
        The request as JSON.
        """
    def rows(self, /, features: Any) -> numpy.typing.NDArray[numpy.float64]:
        """
        The rows that the weights multiply: encoded, and centred where the model has a centre.
        """
    def save(self, /, path: str | PathLike[str], overwrite: bool) -> None:
        """
        Writes its file, whole or not at all, readable by its owner alone. Its budget is spent: if it
        cannot be written there it is written elsewhere, and the exception names the path.
        """
    def schema(self, /) -> Schema:
        """
        The schema of the request.
        """
    def scores(self, /, features: Any) -> numpy.typing.NDArray[numpy.float64]:
        """
        The score ⟨x, θ⟩ of each row and problem.
        """
    def shapes(self, /) -> str:
        """
        The shape function of each column, as JSON.
        """
    def summary(self, /) -> str:
        """
        The summary in a description, as JSON.
        """
    @property
    def task(self, /) -> str:
        """
        The name of the family.
        """
    def tensors(self, /) -> list[tuple[str, list[int], numpy.typing.NDArray[numpy.float32]]]:
        """
        The noisy weights of a network: name, shape and numbers of each tensor.
        """
    def threshold_for_share(self, /, share: SupportsFloat | SupportsIndex) -> tuple[float, float, float]:
        """
        The threshold exceeded by a fraction of the records, with its interval.
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
        As one SQL query.
        """
    @property
    def values(self, /) -> list[list[float]]:
        """
        The released values of each step: weights, or a count per category.
        """
    def verify(self, /) -> str:
        """
        Verifies it without data: returns the verdict as JSON.
        """
    @property
    def votes(self, /) -> Incomplete:
        """
        Noisy votes: a row for each query, a column for each class or end.
        """
    def weights(self, /) -> numpy.typing.NDArray[numpy.float64]:
        """
        A row of weights for each linear problem.
        """
    def worth(self, /) -> str:
        """
        The metrics in an evaluation, as JSON.
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
        The schema for counting records by a column.
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
        True if a score is a sum over columns for every row, whatever its norm.
        """
    @property
    def is_total(self, /) -> bool:
        """
        True if no record can make reading a table fail.
        """
    @property
    def labels(self, /) -> tuple[list[tuple[str, int]], int | None]:
        """
        Further labels with their class index, and the class index of unlisted labels.
        """
    def lines(self, /) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]] | None:
        """
        Slope and offset of each encoded column but the constant one, as a linear function of its
        feature; `None` where some are not linear.
        """
    @staticmethod
    def load(path: str | PathLike[str]) -> Schema:
        """
        From a TOML file, checked.
        """
    @property
    def network_inputs(self, /) -> int:
        """
        The number of inputs of a network: all encoded columns but the constant one.
        """
    @property
    def number_features(self, /) -> int | None:
        """
        The number of features of a table without names, read by position; `None` where there are other
        columns.
        """
    @staticmethod
    def of_numbers(json: str, names: SupportsGetItem[int, str], low: SupportsGetItem[int, SupportsFloat | SupportsIndex], high: SupportsGetItem[int, SupportsFloat | SupportsIndex], symmetric: bool) -> Schema:
        """
        From JSON without columns, with a column of numbers for each name; checked.
        """
    @property
    def radius(self, /) -> float:
        """
        Upper bound on the Euclidean norm of a row.
        """
    @property
    def score_factor(self, /) -> float:
        """
        The factor on encoded entries where scores are sums over columns (`rows = "fill"`); 1 elsewhere.
        """
    @property
    def target(self, /) -> str: ...
    @property
    def target_bounds(self, /) -> tuple[float, float] | None: ...
    def to_json(self, /) -> str:
        """
        The normal form, the same for equal schemas.
        """
    def to_toml(self, /) -> str: ...
    @property
    def unit(self, /) -> str | None:
        """
        The column of unit identifiers.
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
    Refuses an event for which no bound is known.
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
    The least type II error of an attacker at each type I error.
    """

def audit_counts(law: str, epsilon: SupportsFloat | SupportsIndex, delta: SupportsFloat | SupportsIndex, neighbours: str, max_records: SupportsIndex | None, runs: SupportsIndex, confidence: SupportsFloat | SupportsIndex, seed: SupportsIndex) -> str:
    """
    Audits counts by many runs on built-in neighbouring tables.
    """

def audit_learner(method: str, settings: SupportsGetItem[int, tuple[str, str]], epsilon: SupportsFloat | SupportsIndex, delta: SupportsFloat | SupportsIndex, neighbours: str, rows: SupportsIndex | None, runs: SupportsIndex, confidence: SupportsFloat | SupportsIndex, seed: SupportsIndex) -> str:
    """
    Audits a learner by many runs on built-in neighbouring tables.
    """

def audit_membership(model: Released, features: Any, labels: Any, others: tuple[Any, Any] | None, seed: SupportsIndex) -> str:
    """
    Infers membership in a model's training data. `others` are rows that it was not trained on, with
    their labels.
    """

def audit_one_run(method: str, settings: SupportsGetItem[int, tuple[str, str]], epsilon: SupportsFloat | SupportsIndex, delta: SupportsFloat | SupportsIndex, neighbours: str, canaries: SupportsIndex, confidence: SupportsFloat | SupportsIndex, seed: SupportsIndex) -> str:
    """
    Audits a learner by one run with many canaries.
    """

def cluster_answer(question: str, piece: SupportsIndex, bytes: SupportsGetItem[int, bytes | bytearray]) -> bytes:
    """
    Answers a query from these blocks, which are one piece.
    """

def cluster_cut(bytes: bytes, ranges: SupportsGetItem[int, tuple[SupportsIndex, SupportsIndex]]) -> list[bytes]:
    """
    Cuts ranges of rows out of a block, each a block of its own.
    """

def cluster_encode(columns: list, told: str) -> tuple[bytes, int, int, str]:
    """
    Encodes, clips and checks the rows of some columns by a plan's request: returns the bytes to keep,
    the number of rows, their checksum, and their public facts as JSON. All rows of a unit must be among
    them.
    """

def cluster_merge(question: str, columns: SupportsIndex, parts: SupportsGetItem[int, bytes | bytearray]) -> bytes:
    """
    Merges several answers to a query whose sums are exact.
    """

def cluster_print(bytes: bytes) -> tuple[int, int]:
    """
    The number of rows of a block, and its checksum.
    """

def cluster_rows(question: str, first: SupportsIndex, bytes: bytes) -> bytes:
    """
    The rows that a query names and this block holds; `first` is the index of the block's first row.
    """

def cluster_units(unit: Any, schema: Schema) -> list[int]:
    """
    A number for the unit of each row, equal for rows of one unit; 0 for a row without a unit.
    """

def command_line(arguments: SupportsGetItem[int, str]) -> int:
    """
    Runs the command line; the first argument is the program's name. It must run in the process that
    first called it: a fork does not copy its threads.
    """

def evaluate_exactly(model: Released, features: Any, labels: Any, threshold: SupportsFloat | SupportsIndex | None) -> str:
    """
    Evaluates a model without noise, as JSON: not private.
    """

def evaluate_privately(model: Released, features: Any, labels: Any, units: Any | None, rows: SupportsIndex, *, epsilon: SupportsFloat | SupportsIndex, delta: SupportsFloat | SupportsIndex | None, neighbours: str, threshold: SupportsFloat | SupportsIndex | None, declared_public: bool, seed: SupportsIndex | None, paid: tuple[Ledger, str, str, str, bool, str | None] | None) -> Released:
    """
    Evaluates a model in one noisy release, paid for by a ledger where one is given.
    """

def find_numpy() -> None:
    """
    Looks NumPy's table of functions up, before anything is spent: an exception of a signal in the middle of that, at the
    first array, would panic.
    """

def hold_signals() -> bool:
    """
    From now on the exception of a signal waits if a release was finished; returns true if it did so
    before.
    """

def learn_ratings(users: SupportsGetItem[int, SupportsGetItem[int, tuple[str, SupportsFloat | SupportsIndex]]], items: SupportsGetItem[int, str], bounds: tuple[SupportsFloat | SupportsIndex, SupportsFloat | SupportsIndex], most: SupportsIndex, n_users: SupportsIndex, *, unit: str | None, epsilon: SupportsFloat | SupportsIndex, delta: SupportsFloat | SupportsIndex, neighbours: str, invalid: str, method: str, settings: SupportsGetItem[int, tuple[str, str]], seed: SupportsIndex | None, paid: tuple[Ledger, str, str, str, bool, str | None] | None = None) -> Released:
    """
    Plans from public facts, and learns from users' ratings: for each a list of (item, rating).
    """

def let_signals_go() -> BaseException | None:
    """
    Ends `hold_signals`; returns the exception that waited, if any.
    """

def load(path: str | PathLike[str], *, sealed: bool = True) -> Released:
    """
    Reads a file of any family.
    """

def noise_discrete_gaussian(sigma: SupportsFloat | SupportsIndex, count: SupportsIndex, seed: SupportsIndex | None) -> numpy.typing.NDArray[numpy.int64]:
    """
    Draws from the discrete Gaussian distribution, P(k) ∝ e^(−k²/2σ²).
    """

def noise_discrete_laplace(scale: SupportsFloat | SupportsIndex, count: SupportsIndex, seed: SupportsIndex | None) -> numpy.typing.NDArray[numpy.int64]:
    """
    Draws from the discrete Laplace distribution, P(k) ∝ e^(−|k|/scale).
    """

def noise_exponential_choice(scores: numpy.typing.NDArray[numpy.int64], rate: SupportsFloat | SupportsIndex, seed: SupportsIndex | None) -> int:
    """
    Draws an index of integer scores with probability ∝ e^(rate·score), exactly.
    """

def noise_gaussian(scale: SupportsFloat | SupportsIndex, count: SupportsIndex, seed: SupportsIndex | None) -> tuple[numpy.typing.NDArray[numpy.float64], float]:
    """
    Draws from a discrete Gaussian on a fine grid; also returns the grid's step.
    """

def noise_l2_laplace(scale: SupportsFloat | SupportsIndex, dimension: SupportsIndex, seed: SupportsIndex | None) -> numpy.typing.NDArray[numpy.float64]:
    """
    Draws one vector with density ∝ e^(−‖b‖/scale).
    """

def offered() -> str:
    """
    What every family that is offered declares, as JSON: its verb, its words and its methods.
    """

def plan_answers(schema: Schema, questions: Any, rows: SupportsIndex, *, epsilon: SupportsFloat | SupportsIndex, delta: SupportsFloat | SupportsIndex | None, neighbours: str, within: SupportsFloat | SupportsIndex | None, votes: SupportsIndex | None, notes: SupportsGetItem[int, str], prior_fits: SupportsGetItem[int, str] = ...) -> Plan:
    """
    Makes the plan of answers from public facts and queries.
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
    Makes the plan of labels from public facts: `queries` public rows, or these. A teacher that is not
    built in is described in words.
    """

def plan_linear(schema: Schema, rows: SupportsIndex, *, epsilon: SupportsFloat | SupportsIndex | None, delta: SupportsFloat | SupportsIndex | None, neighbours: str, loss: str, width: SupportsFloat | SupportsIndex, quantile: SupportsFloat | SupportsIndex, rate_at_zero: SupportsFloat | SupportsIndex | None, method: str, settings: SupportsGetItem[int, tuple[str, str]], calibration: str, notes: SupportsGetItem[int, str], public: Any | None = None, prior_fits: SupportsGetItem[int, str] = ...) -> Plan:
    """
    Makes the plan of a linear model from public facts.
    """

def plan_network(schema: Schema, net: str, rows: SupportsIndex, *, epsilon: SupportsFloat | SupportsIndex | None, delta: SupportsFloat | SupportsIndex | None, neighbours: str, method: str, settings: SupportsGetItem[int, tuple[str, str]], seed: SupportsIndex, weights: Released | None, scale: SupportsFloat | SupportsIndex | None, shift: SupportsFloat | SupportsIndex | None, notes: SupportsGetItem[int, str], prior_fits: SupportsGetItem[int, str] = ...) -> Plan:
    """
    Makes the plan of a training from public facts; `net` is the description as JSON, `weights` a public
    network to start from.
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
    The threshold that follows from the costs of the two errors.
    """
