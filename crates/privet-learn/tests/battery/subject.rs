//! Subjects of the battery: requests with their plans, tables and releases.

use crate::common::{Case, RELATIONS};
use privet_core::{Budget, Neighbours};
use privet_data::ratings::{self, Layout, OwnRatings, Rated, RatingFacts};
use privet_data::{Dataset, Schema, read};
use privet_dp::noise::{FixedSeed, SystemRandom};
use privet_learn::file::{Seal, from_json, to_json};
use privet_learn::neighbours::Nearby;
use privet_learn::networks::{self, Network};
use privet_learn::ratings::{Complete, Method};
use privet_learn::selection::{SELECTORS, Select, Selector};
use privet_learn::statistics::count::Count;
use privet_learn::statistics::describe::Describe;
use privet_learn::statistics::evaluate::{Evaluate, Judgements, OutputKind};
use privet_learn::streams::tally::Tally;
use privet_learn::streams::{self, Online};
use privet_learn::tuning::{Law, Tune};
use privet_learn::votes::{AGGREGATORS, Aggregator, Vote};
use privet_learn::{
    BudgetOptions, Erm, FamilyVisitor, LearnError, METHODS, OfferedFamily, Plan, RegisteredMethod,
    Released, Request, RequestOptions, Task, each_offered, plan,
};
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

/// Few, since plans and not tables take the time.
pub const ROWS: usize = 150;

/// A request with its plan, a table for it and its release, read from a file.
pub struct Subject<T: Task> {
    method: &'static str,
    /// A unique name.
    pub name: String,
    /// The request as made.
    pub asked: Request<T>,
    pub plan: Plan<T>,
    pub data: Dataset,
    /// The file.
    pub text: String,
    pub released: Released<T>,
}

/// False of methods and families that the variable `LEARNER` leaves out (`make check LEARNER=NAME`).
pub fn wanted(name: &str) -> bool {
    let named = |names: String| names.is_empty() || names.split(',').any(|one| one == name);
    std::env::var("LEARNER").map_or(true, named)
}

/// Requests that are made of nothing but a family's declaration: every method that it lists, the words
/// that it needs at a value that they accept, under both relations, with δ as it is left out and δ > 0.
/// So whatever is offered is in the battery.
pub fn declared<F: OfferedFamily>() -> Vec<Subject<F>> {
    let schema = Schema::from_toml(CHOSEN).unwrap();
    let data = read::csv_bytes(choosable(ROWS).as_bytes(), &schema).unwrap();
    let mut all = Vec::new();
    let named = |name: &'static str| (name, F::Learner::by_name(name));
    let methods: Vec<_> = match F::Learner::ALL {
        [] => vec![(F::NAME, None)],
        methods => methods.iter().map(|info| named(info.name)).collect(),
    };
    for (name, method) in methods.into_iter().filter(|(name, _)| wanted(name)) {
        let before = all.len();
        for (neighbours, delta) in RELATIONS.into_iter().flat_map(|n| [(n, None), (n, Some(1e-6))])
        {
            let budget = BudgetOptions { epsilon: 8.0, delta, neighbours };
            let words = F::REQUEST_FIELDS.iter().filter(|word| word.is_needed());
            let words = words.map(|word| (word.name.into(), word.example().expect(word.name)));
            let asked =
                F::of_words(words.collect(), method.clone(), &budget, (&schema, ROWS as u64));
            match asked.and_then(|asked| plan(&asked).map(|_| asked)) {
                Ok(asked) => {
                    let given = if delta.is_some() { "declared with δ, " } else { "declared, " };
                    all.push(Subject::new(name, given, asked, data.clone()));
                }
                Err(LearnError::NotCovered { .. }) => {}
                Err(error) => panic!("{name} {neighbours} {delta:?}: {error}"),
            }
        }
        // A method that needs another table has it in the list of its family.
        assert!(all.len() > before || method.is_some(), "{name} covers neither relation");
    }
    all
}

/// Visits every family that is offered.
pub fn each_declared(visitor: &mut impl FamilyVisitor) {
    each_offered(visitor);
}

/// A kind of table: its name and its case.
type Form = (&'static str, fn(Case) -> Case);

const FORMS: [Form; 3] = [
    ("", |case| case),
    ("3 classes, ", |case| case.classes(3)),
    ("users of 2, ", |case| case.users(2)),
];

/// Every private method that can be requested, for every form of table, under both relations, with δ > 0
/// and δ = 0: planned, or refused because no theorem covers it; each is covered somewhere.
pub static MODELS: LazyLock<Vec<Subject<Erm>>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for info in METHODS.iter().filter(|info| info.name != "non-private" && wanted(info.name)) {
        let before = all.len();
        for (what, form) in FORMS {
            for (neighbours, delta) in RELATIONS.into_iter().flat_map(|n| [(n, 1e-6), (n, 0.0)]) {
                let case = Case::of(info.name).rows(ROWS as u64).neighbours(neighbours);
                let case = form(case.delta(delta));
                match plan(&case) {
                    Ok(_) => {
                        all.push(Subject::new(info.name, what, case.request(), case.data(5)));
                    }
                    Err(LearnError::NotCovered { .. }) => {}
                    Err(error) => panic!("{} {what}{neighbours} {delta}: {error}", info.name),
                }
            }
        }
        assert!(all.len() > before, "{} covers neither relation and no delta", info.name);
    }
    all
});

/// The baseline, to which fewer checks apply.
pub static PLAIN: LazyLock<Subject<Erm>> = LazyLock::new(|| {
    let case = Case::of("non-private").rows(ROWS as u64);
    Subject::new("non-private", "", case.request(), case.data(5))
});

const COUNTED: &str = "[clip]\nnorm = \"l2\"\nradius = 1.0\n\
     [target]\ncolumn = \"ill\"\nclasses = [\"no\", \"yes\"]\n\
     [[columns]]\nname = \"work\"\ntype = \"category\"\ncategories = [\"farm\", \"shop\"]\n\
     unknown = \"other\"\n";

/// Counts by the target and by a column, under both relations, with δ > 0 and δ = 0.
pub static COUNTS: LazyLock<Vec<Subject<Count>>> = LazyLock::new(|| {
    if !wanted(Count::NAME) {
        return vec![];
    }
    let schema = Schema::from_toml(COUNTED).unwrap();
    let mut all = Vec::new();
    for by in ["work", "ill"] {
        for (neighbours, delta) in RELATIONS.into_iter().flat_map(|n| [(n, 1e-6), (n, 0.0)]) {
            for times in [None, Some(500)] {
                let task = Count { by: by.into(), times, law: None };
                let asked = task.request(&schema, ROWS as u64, neighbours).unwrap();
                let asked = asked.with_budget(Budget::new(1.0, delta).unwrap());
                let what = format!("by {by}, {} times, ", times.unwrap_or(1));
                let data = counted(ROWS, &asked.schema);
                all.push(Subject::new(Count::NAME, &what, asked, data));
            }
        }
    }
    all
});

const DESCRIBED: &str = "[file]\nmissing_values = [\"?\"]\n[clip]\nnorm = \"l2\"\nradius = 1.0\n\
     [target]\ncolumn = \"ill\"\nclasses = [\"no\", \"yes\"]\n\
     [[columns]]\nname = \"work\"\ntype = \"category\"\ncategories = [\"farm\", \"shop\"]\n\
     unknown = \"other\"\n\
     [[columns]]\nname = \"age\"\ntype = \"number\"\nbounds = [0, 100]\nmissing = \"category\"\n\
     [[columns]]\nname = \"hours\"\ntype = \"number\"\nbounds = [0, 80]\n";

/// Descriptions with correlations and without, under both relations, with δ > 0 and δ = 0.
pub static DESCRIPTIONS: LazyLock<Vec<Subject<Describe>>> = LazyLock::new(|| {
    if !wanted(Describe::NAME) {
        return vec![];
    }
    let schema = Schema::from_toml(DESCRIBED).unwrap();
    let row = |row: usize| {
        let age = if row.is_multiple_of(9) { "?".into() } else { (row % 100).to_string() };
        let work = ["farm", "shop", "mine"][row % 5 % 3];
        format!("{work},{age},{},{}\n", row * 7 % 80, ["no", "yes"][row % 7 % 2])
    };
    let text = format!("work,age,hours,ill\n{}", (0..ROWS).map(row).collect::<String>());
    let mut all = Vec::new();
    for (neighbours, delta) in RELATIONS.into_iter().flat_map(|n| [(n, 1e-6), (n, 0.0)]) {
        for (what, correlations) in [("", None), ("no correlations, ", Some(false))] {
            let task = Describe { bins: Some(5), correlations, ..Describe::default() };
            let asked = task.request(&schema, ROWS as u64, neighbours, (1.0, Some(delta))).unwrap();
            let data = read::csv_bytes(text.as_bytes(), &asked.schema).unwrap();
            all.push(Subject::new(Describe::NAME, what, asked, data));
        }
    }
    all
});

/// Evaluations of a model of two classes, of three and of a number, under both relations, with δ > 0 and
/// δ = 0.
pub static EVALUATIONS: LazyLock<Vec<Subject<Evaluate>>> = LazyLock::new(|| {
    if !wanted(Evaluate::NAME) {
        return vec![];
    }
    let mut all = Vec::new();
    for (what, method, classes) in
        [("2 classes, ", "gd", 2), ("3 classes, ", "gd", 3), ("a number, ", "ssp", 1)]
    {
        let case = Case::of(method).classes(classes).rows(ROWS as u64);
        let (data, model) = (case.data(5), case.seeded(&case.data(6)));
        for (neighbours, delta) in RELATIONS.into_iter().flat_map(|n| [(n, 1e-6), (n, 0.0)]) {
            let task = Evaluate {
                model: "0a".repeat(32),
                says: OutputKind::of_model(&model),
                threshold: None,
                declared_public: false,
            };
            let budget = (1.0, Some(delta));
            let asked = task.request(&case.schema, ROWS as u64, neighbours, budget).unwrap();
            let form = Evaluate::facts(&asked).unwrap();
            let judged = Judgements::by_model(&model, &data, &form).unwrap().table(&form);
            all.push(Subject::new(Evaluate::NAME, what, asked, judged));
        }
    }
    all
});

/// Every selector under both relations, with δ > 0 and δ = 0; one column of two, so clear that
/// practically every draw of the noise gives an answer.
pub static SUPPORTS: LazyLock<Vec<Subject<Select>>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for info in SELECTORS.iter().filter(|info| wanted(info.name)) {
        let before = all.len();
        let numbers = info.name == "lasso-stability";
        for (neighbours, delta) in RELATIONS.into_iter().flat_map(|n| [(n, 1e-6), (n, 0.0)]) {
            let method = info.name.parse::<Selector>().unwrap();
            let (text, method, epsilon) = match numbers {
                // Few rows are stable only at a large budget.
                true => {
                    let lambda = (0.45 * ROWS as f64).to_string();
                    let text = CHOSEN.replace("classes = [\"no\", \"yes\"]", "bounds = [-1, 1]");
                    (text, method.with("lambda", &lambda).unwrap(), 100.0)
                }
                false => (CHOSEN.into(), method, 8.0),
            };
            let schema = Schema::from_toml(&text).unwrap();
            let task = Select { size: 1, method };
            let asked =
                task.request(&schema, ROWS as u64, neighbours, (epsilon, Some(delta))).unwrap();
            match plan(&asked) {
                Ok(_) => {
                    let rows = choosable(ROWS);
                    let rows = match numbers {
                        true => rows.replace("yes", "1").replace("no", "-1"),
                        false => rows,
                    };
                    let data = read::csv_bytes(rows.as_bytes(), &schema).unwrap();
                    all.push(Subject::new(info.name, "", asked, data));
                }
                Err(LearnError::NotCovered { .. }) => {}
                Err(error) => panic!("{} {neighbours} {delta}: {error}", info.name),
            }
        }
        assert!(all.len() > before, "{} covers neither relation and no delta", info.name);
    }
    all
});

const CHOSEN: &str = "bias = true\n[clip]\nnorm = \"l2\"\nradius = 1.0\n\
     [target]\ncolumn = \"y\"\nclasses = [\"no\", \"yes\"]\n\
     [[columns]]\nname = \"a\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n\
     [[columns]]\nname = \"b\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n";

/// Rows whose class is the sign of b; a is uninformative.
fn choosable(rows: usize) -> String {
    let row = |row: usize| {
        let (b, label) = [("0.7", "yes"), ("-0.7", "no")][row % 2];
        format!("{},{b},{label}\n", ["0.1", "-0.1", "0"][row % 3])
    };
    format!("a,b,y\n{}", (0..rows).map(row).collect::<String>())
}

/// A table to count in.
fn counted(rows: usize, schema: &Schema) -> Dataset {
    let row = |row: usize| {
        format!("{},{}\n", ["farm", "shop", "mine"][row % 5 % 3], ["no", "yes"][row % 7 % 2])
    };
    let text = format!("work,ill\n{}", (0..rows).map(row).collect::<String>());
    read::csv_bytes(text.as_bytes(), schema).unwrap()
}

/// Every method for ratings, under both relations.
pub static RATINGS: LazyLock<Vec<Subject<Complete>>> = LazyLock::new(|| {
    let items: Vec<String> = (0..12).map(|item| format!("film {item}")).collect();
    let facts = RatingFacts { layout: Layout::Triples, items, bounds: [1.0, 5.0], most: 10 };
    let schema = ratings::schema(&facts).unwrap();
    let mut all = Vec::new();
    for (info, neighbours) in privet_learn::ratings::METHODS
        .iter()
        .filter(|info| {
            info.private && (wanted(info.name) || wanted(&format!("complete-{}", info.name)))
        })
        .flat_map(|info| RELATIONS.map(|relation| (info, relation)))
    {
        let method: Method = info.name.parse().unwrap();
        let method = if info.name == "moments" {
            method.with("rank", "2").unwrap().with("core", "6").unwrap()
        } else {
            method
        };
        let asked = Complete::by(method).request(schema.clone(), ROWS as u64, neighbours);
        let asked = asked.with_budget(Budget::new(1.0, 1e-6).unwrap());
        let name: &'static str = format!("complete-{}", info.name).leak();
        all.push(Subject::new(name, "", asked, rated(&schema)));
    }
    for neighbours in RELATIONS {
        let offsets: Method = "moments".parse::<Method>().unwrap().with("rank", "0").unwrap();
        let feature = |item: usize| vec![if item < 6 { 1.0 } else { -1.0 }, 0.25];
        let features = (0..12).map(feature).collect();
        for (name, task) in [
            ("complete-top", Complete { top: Some(6), ..Complete::by(offsets.clone()) }),
            ("complete-features", Complete { features, ..Complete::by(offsets) }),
        ] {
            let asked = task.request(schema.clone(), ROWS as u64, neighbours);
            let asked = asked.with_budget(Budget::new(1.0, 1e-6).unwrap());
            all.push(Subject::new(name, "", asked, rated(&schema)));
        }
    }
    all
});

/// Tunings by each distribution of trials, with candidates that walk and ones that do not.
pub static TUNINGS: LazyLock<Vec<Subject<Tune>>> = LazyLock::new(|| {
    if !wanted(Tune::NAME) {
        return vec![];
    }
    let schema = Schema::from_toml(CHOSEN).unwrap();
    let mut all = Vec::new();
    for neighbours in RELATIONS {
        for (what, law, second) in
            [("poisson, ", Law::Poisson, "psgd"), ("logarithmic, ", Law::Logarithmic, "amp")]
        {
            let words = RequestOptions {
                epsilon: Some(2.0),
                delta: Some(1e-6),
                neighbours,
                ..RequestOptions::of("gd".parse().unwrap())
            };
            let gd: privet_learn::Method = "gd".parse().unwrap();
            let candidates = vec![gd.with("steps", "3").unwrap(), second.parse().unwrap()];
            let asked = Tune::request(&schema, ROWS as u64, &words, candidates).unwrap();
            // So many that a run without a trial is practically impossible.
            let task = Tune { law: Some(law), trials: Some(30.0), ..asked.task.clone() };
            let asked = Request { task, ..asked };
            let data = read::csv_bytes(choosable(ROWS).as_bytes(), &schema).unwrap();
            all.push(Subject::new(Tune::NAME, what, asked, data));
        }
    }
    all
});

/// Users who like one half of the films, or the other.
fn rated(schema: &Schema) -> Dataset {
    let rated = Rated::of(schema).unwrap();
    let user = |user: usize| {
        let mut own = OwnRatings::default();
        for item in (0..12).filter(|item| (user * 7 + item * 5) % 12 < 9) {
            let liked = (item < 6) == user.is_multiple_of(2);
            let rating = if liked { 4.0 } else { 2.0 } + ((user + item) % 3) as f64 * 0.5;
            own.and(item, rating, &rated);
        }
        own
    };
    ratings::table((0..ROWS).map(user).collect(), &rated)
}

/// Every online learner, with all its models kept, and one in batches.
pub static STREAMS: LazyLock<Vec<Subject<Online>>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for info in
        streams::METHODS.iter().filter(|info| info.name != "non-private" && wanted(info.name))
    {
        for (what, batch) in [("", 1), ("batches of 7, ", 7)] {
            let words = RequestOptions {
                epsilon: Some(1.0),
                delta: Some(1e-6),
                ..RequestOptions::of("gd".parse().unwrap())
            };
            let schema = Schema::from_toml(CHOSEN).unwrap();
            let method = info.name.parse().unwrap();
            let asked = Online::request(&schema, ROWS as u64, method, &words).unwrap();
            let task = asked.task.clone().in_batches(batch).keeping_models(10);
            let asked = Request { task, ..asked };
            match plan(&asked) {
                Ok(_) => {
                    let data = read::csv_bytes(choosable(ROWS).as_bytes(), &schema).unwrap();
                    all.push(Subject::new(info.name, what, asked, data));
                }
                Err(LearnError::NotCovered { .. }) => assert!(batch > 1, "{}", info.name),
                Err(error) => panic!("{} {what}: {error}", info.name),
            }
        }
    }
    if !wanted("ftrl") {
        return all;
    }
    let words = RequestOptions {
        epsilon: Some(1.0),
        delta: Some(1e-6),
        ..RequestOptions::of("gd".parse().unwrap())
    };
    let case = Case::of("gd").classes(3).rows(ROWS as u64);
    for loss in ["logistic", "huber-svm"] {
        let words = RequestOptions { loss: Some(loss.into()), ..words.clone() };
        let method = "ftrl".parse().unwrap();
        let asked = Online::request(&case.schema, ROWS as u64, method, &words).unwrap();
        let task = asked.task.clone().keeping_models(4);
        let what: &'static str = format!("3 classes, {loss}, ").leak();
        all.push(Subject::new("ftrl", what, Request { task, ..asked }, case.data(5)));
    }
    all
});

/// Running counts by the target and by a column.
pub static TALLIES: LazyLock<Vec<Subject<Tally>>> = LazyLock::new(|| {
    if !wanted(Tally::NAME) {
        return vec![];
    }
    let schema = Schema::from_toml(COUNTED).unwrap();
    let subject = |by: &str| {
        let asked =
            Tally { kept: Some(10), ..Tally::by(by) }.request(&schema, ROWS as u64).unwrap();
        let asked = asked.with_budget(Budget::new(1.0, 1e-6).unwrap());
        let data = counted(ROWS, &asked.schema);
        Subject::new(Tally::NAME, &format!("by {by}, "), asked, data)
    };
    ["work", "ill"].map(subject).into()
});

/// Aggregators whose event is that of the whole, (ε, δ), without a settled noise scale.
const UNSETTLED: [&str; 2] = ["agreed-gnmax", "estimated-sparse-vector"];

/// Every aggregator that settles a noise scale, under both relations, with teachers that almost agree,
/// so that practically every draw of the noise gives an answer.
pub static VOTES: LazyLock<Vec<Subject<Vote>>> = LazyLock::new(|| {
    let mut all = Vec::new();
    let schema = Schema::from_toml(CHOSEN).unwrap();
    let public = read::csv_bytes(choosable(12).as_bytes(), &schema).unwrap().features;
    for info in
        AGGREGATORS.iter().filter(|info| !UNSETTLED.contains(&info.name) && wanted(info.name))
    {
        for neighbours in RELATIONS {
            let aggregator: Aggregator = info.name.parse().unwrap();
            let aggregator = match info.name {
                "sparse-vector" => aggregator.with("cutoff", "2").unwrap(),
                _ => aggregator,
            };
            let task = Vote { aggregator, teachers: Some(20), ..Vote::of(&public) };
            let asked = task.request(&schema, ROWS as u64, neighbours, (60.0, Some(1e-6))).unwrap();
            let data = read::csv_bytes(choosable(ROWS).as_bytes(), &schema).unwrap();
            let ready = |plan: Plan<Vote>| plan.with_public(&public).unwrap();
            all.push(Subject::made(info.name, "", asked, data, ready));
        }
    }
    all
});

/// Answers by records near a few questions: classes and a number, both relations, records and users.
pub static ANSWERS: LazyLock<Vec<Subject<Nearby>>> = LazyLock::new(|| {
    if !wanted(Nearby::NAME) {
        return vec![];
    }
    let classes = "classes = [\"no\", \"yes\"]";
    let users = "[unit]\ncolumn = \"who\"\nmax_records = 2\n";
    let number = CHOSEN.replace(classes, "bounds = [0, 10]");
    let mut all = Vec::new();
    for (what, text) in [
        ("", CHOSEN.to_string()),
        ("a number, ", number),
        ("users of 2, ", format!("{CHOSEN}{users}")),
    ] {
        let schema = Schema::from_toml(&text).unwrap();
        let row = |(place, line): (usize, &str)| match place {
            _ if !what.starts_with("users") => format!("{line}\n"),
            0 => format!("{line},who\n"),
            _ => format!("{line},{}\n", place / 2),
        };
        let table: String = choosable(ROWS).lines().enumerate().map(row).collect();
        let table = match schema.classes() {
            Some(_) => table,
            None => table.replace(",yes\n", ",8\n").replace(",no\n", ",3\n"),
        };
        let data = read::csv_bytes(table.as_bytes(), &schema).unwrap();
        for neighbours in RELATIONS {
            let task = Nearby::of(&data.features.select(&[0, 1, 2, 7]));
            let budget = (1.0, Some(1e-6));
            let asked = task.request(&schema, ROWS as u64, neighbours, budget).unwrap();
            all.push(Subject::new(Nearby::NAME, what, asked, data.clone()));
        }
    }
    all
});

/// Every private training of a small network, under both relations; one in floating point, and one on
/// samples of a fixed size.
pub static NETWORKS: LazyLock<Vec<Subject<Network>>> = LazyLock::new(|| {
    let net = "{\"input\": {\"features\": 2}, \"layers\": [{\"kind\": \"linear\", \"out\": 3}, \
               {\"kind\": \"tanh\"}, {\"kind\": \"linear\", \"out\": 2}]}";
    let subject = |method: &'static str, what: &str, neighbours, settings: &[(&str, &str)]| {
        let own = method.parse::<networks::Method>().unwrap();
        let own =
            settings.iter().try_fold(own, |own, (name, value)| own.with(name, value)).unwrap();
        let schema = Schema::from_toml(CHOSEN).unwrap();
        let task = Network::new(serde_json::from_str(net).unwrap(), own);
        let asked = Request::new(schema.clone(), ROWS as u64, neighbours, task);
        let data = read::csv_bytes(choosable(ROWS).as_bytes(), &schema).unwrap();
        Subject::new(method, what, asked.with_budget(Budget::new(1.0, 1e-6).unwrap()), data)
    };
    let mut all = Vec::new();
    for info in networks::METHODS.iter().filter(|info| info.private && wanted(info.name)) {
        for neighbours in RELATIONS {
            // Correlated noise covers a row of the table that is exchanged, not one added or removed.
            if info.name != "dp-ftrl" || neighbours == Neighbours::ReplaceOne {
                all.push(subject(info.name, "", neighbours, &[("steps", "9")]));
            }
        }
    }
    let float = [("steps", "9"), ("sums", "float")];
    if wanted("dp-sgd") {
        all.push(subject("dp-sgd", "floats, ", Neighbours::AddRemove, &float));
    }
    let fixed = [("steps", "9"), ("sampling", "without-replacement"), ("batch", "20")];
    if wanted("dp-adam") {
        all.push(subject("dp-adam", "fixed size, ", Neighbours::ReplaceOne, &fixed));
    }
    all
});

impl<T: Task> Subject<T> {
    fn new(method: &'static str, what: &str, request: Request<T>, data: Dataset) -> Self {
        Self::made(method, what, request, data, |plan| plan)
    }

    /// The same if the plan is given something before it runs.
    fn made(
        method: &'static str,
        what: &str,
        request: Request<T>,
        data: Dataset,
        ready: impl FnOnce(Plan<T>) -> Plan<T>,
    ) -> Self {
        let kind = match request.budget {
            Some(budget) if budget.is_pure() => "pure",
            Some(_) => "approximate",
            None => "not private",
        };
        let name = format!("{method}, {what}{}, {kind}", request.neighbours);
        let plan = ready(plan(&request).unwrap());
        let release = plan
            .run(&data, &mut SystemRandom::new().unwrap(), &AtomicBool::new(false))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let text = to_json(&Released::<T>::from_release(release).unwrap(), None).unwrap();
        let released = from_json(text.as_bytes(), Seal::Required).unwrap();
        Self { method, name, asked: request, plan, data, text, released }
    }

    /// Name of the method, or of the task if it has only one.
    pub fn method(&self) -> &'static str {
        self.method
    }

    /// The same for the settled request: `auto` chooses another method.
    pub fn settled(&self) -> String {
        let summary = self.plan.request().task.summary();
        summary.strip_prefix("method ").unwrap_or(self.method).into()
    }

    /// The released numbers of a table with a fixed seed.
    pub fn seeded(&self, table: &dyn Table) -> Result<Vec<f64>, LearnError> {
        self.watched(table, &mut FixedSeed::new(11), &AtomicBool::new(false))
    }

    /// The same, with a monitor.
    pub fn watched(
        &self,
        table: &dyn Table,
        source: &mut FixedSeed,
        monitor: &dyn Monitor,
    ) -> Result<Vec<f64>, LearnError> {
        let release = self.plan.run(table, source, monitor)?;
        Ok(privet_learn::Artefact::numbers(release.value()))
    }

    /// True if the number of rows is public.
    pub fn counts_rows(&self) -> bool {
        self.asked.relation().count_is_public()
    }
}
