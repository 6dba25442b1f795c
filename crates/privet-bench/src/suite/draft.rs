//! Parses and checks a suite's text; errors name the line and the accepted values.

use super::file::{Delta, Entry, Source, Suite};
use super::grid::{self, Point, Value};
use super::learner::{Family, HATS, INPUT_SCALE, INPUT_SHIFT, Learner};
use super::nets;
use super::peer::Peer;
use super::target;
use crate::error::BenchError;
use privet_catalog as catalog;
use privet_core::{DELTA, EPSILON, Neighbours};
use privet_data::schema::{self, RADIUS};
use privet_learn::Calibration;
use privet_optim::loss::Loss;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct SuiteDraft {
    name: String,
    title: String,
    #[serde(default)]
    task: Family,
    loss: Option<LossDraft>,
    epsilons: Spanned<Vec<f64>>,
    delta: Spanned<DeltaDraft>,
    #[serde(default = "replace_one")]
    neighbours: Neighbours,
    runs: Spanned<u32>,
    datasets: Vec<Spanned<SourceDraft>>,
    methods: Vec<Spanned<EntryDraft>>,
    #[serde(default)]
    targets: Vec<Spanned<target::TargetDraft>>,
}

fn replace_one() -> Neighbours {
    Neighbours::ReplaceOne
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum LossDraft {
    Logistic,
    HuberSvm,
    Squared,
}

impl LossDraft {
    fn loss(self) -> Loss {
        match self {
            Self::Logistic => Loss::Logistic,
            // As in the papers.
            Self::HuberSvm => Loss::HuberSvm { h: 0.1 },
            Self::Squared => Loss::SQUARED,
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "`delta` must be a number, or \"1/n^2\"")]
enum DeltaDraft {
    Number(f64),
    Word(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct SourceDraft {
    name: String,
    schema: Option<PathBuf>,
    train: Option<PathBuf>,
    test: Option<PathBuf>,
    epsilons: Option<Vec<f64>>,
    tuned_epsilons: Option<Vec<f64>>,
    methods: Option<Vec<String>>,
    delta: Option<DeltaDraft>,
    held_out: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct EntryDraft {
    name: String,
    label: Option<String>,
    method: Option<String>,
    peer: Option<String>,
    #[serde(default)]
    set: BTreeMap<String, Value>,
    #[serde(default)]
    item_features: bool,
    net: Option<String>,
    public: Option<String>,
    loss: Option<LossDraft>,
    epsilons: Option<Vec<f64>>,
    delta: Option<DeltaDraft>,
    neighbours: Option<Neighbours>,
    #[serde(default = "default_calibrations")]
    calibrations: Vec<Calibration>,
    published: Option<String>,
    #[serde(default)]
    grid: BTreeMap<String, Vec<Value>>,
    #[serde(default = "default_one")]
    screen: u32,
    #[serde(default = "five")]
    keep: usize,
    datasets: Option<Vec<String>>,
}

fn default_calibrations() -> Vec<Calibration> {
    vec![Calibration::Sound]
}

fn default_one() -> u32 {
    1
}

fn five() -> usize {
    5
}

/// A suite from its text; `file` is for errors, and paths are relative to `folder`.
pub fn parse(text: &str, file: &str, folder: &Path) -> Result<Suite, BenchError> {
    let check = Check { text, file };
    let draft: SuiteDraft = toml::from_str(text)
        .map_err(|error| check.refusal(error.span().map(|span| span.start), error.message()))?;
    let epsilons = check.epsilons(draft.epsilons.get_ref(), draft.epsilons.span().start)?;
    let delta = check.delta(draft.delta.get_ref(), draft.delta.span().start)?;
    if *draft.runs.get_ref() == 0 {
        return Err(
            check.refusal(Some(draft.runs.span().start), "runs: accepted is a number from 1")
        );
    }
    let datasets = draft
        .datasets
        .iter()
        .map(|source| check.source(source.get_ref(), source.span().start, (folder, draft.task)))
        .collect::<Result<Vec<_>, _>>()?;
    let names: Vec<&str> = datasets.iter().map(|source| source.name.as_str()).collect();
    check.different(&names, "data set")?;
    let loss = match (draft.task, draft.loss) {
        (Family::Train, Some(loss)) => loss.loss(),
        (Family::Complete | Family::Network, None) => Loss::SQUARED,
        (Family::Train, None) => {
            return Err(check.refusal(
                None,
                "missing field `loss`; it is left out with task = \"complete\" or \"network\" alone",
            ));
        }
        (Family::Complete | Family::Network, Some(_)) => {
            let why = "with task = \"complete\" or \"network\" there is no loss: leave it out";
            return Err(check.refusal(None, why));
        }
    };
    let neighbours = draft.neighbours;
    let usual =
        MethodDefaults { family: draft.task, loss, epsilons, delta, neighbours, datasets: &names };
    let entries = draft
        .methods
        .iter()
        .map(|entry| check.entry(entry.get_ref(), entry.span().start, &usual))
        .collect::<Result<Vec<_>, _>>()?;
    let methods: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    check.different(&methods, "method")?;
    for (source, draft) in datasets.iter().zip(&draft.datasets) {
        let odd = |name: &&String| !methods.contains(&name.as_str());
        if let Some(name) = source.methods.iter().flatten().find(odd) {
            let why = format!("method '{name}': this suite has {}", methods.join(", "));
            return Err(check.refusal(Some(draft.span().start), why));
        }
    }
    if entries.is_empty() || names.is_empty() {
        return Err(check.refusal(None, "accepted is one of [[datasets]] and [[methods]] or more"));
    }
    let (name, title, text) = (draft.name, draft.title, text.to_owned());
    let (runs, family) = (draft.runs.into_inner(), draft.task);
    let mut suite = Suite { name, title, family, runs, datasets, entries, targets: vec![], text };
    for draft in &draft.targets {
        let refused = |why| check.refusal(Some(draft.span().start), format!("target: {why}"));
        let target = draft.get_ref().check(&suite).map_err(refused)?;
        suite.targets.push(target);
    }
    Ok(suite)
}

/// The default fraction of held-out ratings.
const HELD_OUT: f64 = 0.1;

/// The defaults of a method.
struct MethodDefaults<'a> {
    family: Family,
    loss: Loss,
    epsilons: Vec<f64>,
    delta: Delta,
    neighbours: Neighbours,
    datasets: &'a [&'a str],
}

/// Checks a draft; errors name the line.
struct Check<'a> {
    text: &'a str,
    file: &'a str,
}

impl Check<'_> {
    fn refusal(&self, start: Option<usize>, why: impl std::fmt::Display) -> BenchError {
        let line =
            |start: usize| 1 + self.text.bytes().take(start).filter(|byte| *byte == b'\n').count();
        let file = match start {
            Some(start) => format!("{}, line {}", self.file, line(start)),
            None => self.file.to_owned(),
        };
        BenchError::Suite { file, why: why.to_string() }
    }

    fn different(&self, names: &[&str], what: &str) -> Result<(), BenchError> {
        let mut seen = BTreeSet::new();
        match names.iter().find(|name| !seen.insert(**name)) {
            Some(name) => Err(self.refusal(None, format!("two {what}s are called '{name}'"))),
            None => Ok(()),
        }
    }

    fn epsilons(&self, epsilons: &[f64], start: usize) -> Result<Vec<f64>, BenchError> {
        for epsilon in epsilons {
            EPSILON.check(*epsilon).map_err(|error| self.refusal(Some(start), error))?;
        }
        match epsilons {
            [] => {
                Err(self.refusal(Some(start), format!("epsilons: accepted is a list of {EPSILON}")))
            }
            _ => Ok(epsilons.to_vec()),
        }
    }

    fn delta(&self, delta: &DeltaDraft, start: usize) -> Result<Delta, BenchError> {
        match delta {
            DeltaDraft::Number(delta) => match DELTA.check(*delta) {
                Ok(delta) => Ok(Delta::Fixed(delta)),
                Err(error) => Err(self.refusal(Some(start), error)),
            },
            DeltaDraft::Word(word) if word == "1/n^2" => Ok(Delta::InverseSquare),
            DeltaDraft::Word(word) => Err(self.refusal(
                Some(start),
                format!("delta '{word}': accepted is \"1/n^2\", or {DELTA}"),
            )),
        }
    }

    fn source(
        &self,
        draft: &SourceDraft,
        start: usize,
        (folder, family): (&Path, Family),
    ) -> Result<Source, BenchError> {
        let SourceDraft { name, schema, train, test, .. } = draft;
        let safe = |c: char| c.is_alphanumeric() || "-_.".contains(c);
        if name.is_empty() || name.starts_with('.') || !name.chars().all(safe) {
            let words =
                format!("data set '{name}': accepted are letters, digits, '-', '_' and '.'");
            return Err(self.refusal(Some(start), words));
        }
        let own = match (schema, train, test) {
            (Some(schema), Some(train), Some(test)) => {
                Some([schema, train, test].map(|path| folder.join(path)))
            }
            (None, None, None) => {
                let entry =
                    catalog::find(name).map_err(|error| self.refusal(Some(start), error))?;
                if entry.is_ratings() != (family == Family::Complete) {
                    let words = format!(
                        "data set '{name}': accepted are sets of ratings with task = \"complete\", and others without"
                    );
                    return Err(self.refusal(Some(start), words));
                }
                None
            }
            _ => {
                let words = format!(
                    "data set '{name}': accepted is a name of the catalog alone, or schema, train and \
                     test together"
                );
                return Err(self.refusal(Some(start), words));
            }
        };
        let checked = |epsilons: &Option<Vec<f64>>| match epsilons {
            Some(epsilons) if !epsilons.is_empty() => self.epsilons(epsilons, start).map(Some),
            other => Ok(other.clone()),
        };
        let held_out = draft.held_out.unwrap_or(HELD_OUT);
        if !(held_out > 0.0 && held_out < 1.0)
            || (family != Family::Complete && draft.held_out.is_some())
        {
            let words = format!(
                "data set '{name}': held-out is of ratings (task = \"complete\"), a share above 0 and below 1"
            );
            return Err(self.refusal(Some(start), words));
        }
        let delta = draft.delta.as_ref().map(|delta| self.delta(delta, start)).transpose()?;
        Ok(Source {
            delta,
            held_out,
            name: name.clone(),
            own,
            epsilons: checked(&draft.epsilons)?,
            tuned_epsilons: checked(&draft.tuned_epsilons)?,
            methods: draft.methods.clone(),
        })
    }

    fn entry(
        &self,
        draft: &EntryDraft,
        start: usize,
        usual: &MethodDefaults<'_>,
    ) -> Result<Entry, BenchError> {
        let refused = |why: &dyn std::fmt::Display| {
            self.refusal(Some(start), format!("method '{}': {why}", draft.name))
        };
        let learner = match (&draft.method, &draft.peer) {
            (Some(method), None) => {
                usual.family.learner(method).map_err(|error| refused(&error))?
            }
            (None, Some(_)) if usual.family != Family::Train => {
                return Err(refused(&"peers learn linear models; accepted is a method"));
            }
            (None, Some(peer)) => {
                let peer: Peer = peer.parse().map_err(|error: String| refused(&error))?;
                self.check_peer(draft, peer, usual).map_err(|why| refused(&why))?;
                Learner::Peer(peer)
            }
            _ => return Err(refused(&"accepted is a method or a peer, one of them")),
        };
        let net = match (usual.family, &draft.net) {
            (Family::Network, Some(name)) => Some(nets::find(name).map_err(|why| refused(&why))?),
            (Family::Network, None) => {
                return Err(refused(&"net: accepted is the name of a network"));
            }
            (_, Some(_)) => {
                return Err(refused(&"net: accepted with task = \"network\" alone"));
            }
            (_, None) => None,
        };
        if let Some(name) = &draft.public {
            if usual.family != Family::Network {
                return Err(refused(&"public: accepted with task = \"network\" alone"));
            }
            catalog::find(name).map_err(|error| refused(&format!("public: {error}")))?;
        }
        let neighbours = learner.peer().map(Peer::neighbours).or(draft.neighbours);
        let fixed: Point =
            draft.set.iter().map(|(key, value)| (key.clone(), value.to_string())).collect();
        let points = grid::points(&draft.grid);
        let first =
            draft.grid.iter().flat_map(|(key, values)| values.iter().map(move |v| (key, v)));
        for (key, value) in draft.set.iter().chain(first) {
            match &learner {
                Learner::Peer(peer) => peer.setting(key, value),
                ours => self.setting(ours, key, value),
            }
            .map_err(|why| refused(&why))?;
        }
        if draft.screen == 0 || draft.keep == 0 || points.is_empty() {
            return Err(refused(
                &"accepted are screen and keep from 1, and a value or more of each key",
            ));
        }
        if draft.calibrations.is_empty() {
            return Err(refused(&format!("calibrations: accepted are {}", Calibration::ACCEPTED)));
        }
        let odd = |name: &&String| !usual.datasets.contains(&name.as_str());
        if let Some(name) = draft.datasets.iter().flatten().find(odd) {
            let accepted = usual.datasets.join(", ");
            return Err(refused(&format!("data set '{name}': this suite has {accepted}")));
        }
        Ok(Entry {
            name: draft.name.clone(),
            label: draft.label.clone().unwrap_or_else(|| draft.name.clone()),
            learner,
            fixed,
            item_features: draft.item_features,
            net,
            public: draft.public.clone(),
            loss: draft.loss.map_or(usual.loss, LossDraft::loss),
            epsilons: match &draft.epsilons {
                Some(epsilons) => self.epsilons(epsilons, start)?,
                None => usual.epsilons.clone(),
            },
            delta: match &draft.delta {
                Some(delta) => self.delta(delta, start)?,
                None => usual.delta,
            },
            neighbours: neighbours.unwrap_or(usual.neighbours),
            calibrations: draft.calibrations.clone(),
            published: draft.published.clone(),
            points,
            screen: draft.screen,
            keep: draft.keep,
            datasets: draft.datasets.clone(),
        })
    }

    /// Refuses settings that a peer fixes itself.
    fn check_peer(
        &self,
        draft: &EntryDraft,
        peer: Peer,
        usual: &MethodDefaults<'_>,
    ) -> Result<(), String> {
        let own = peer.neighbours();
        if draft.neighbours.is_some_and(|asked| asked != own) {
            return Err(format!(
                "neighbours: accepted is \"{own}\", which the peer's noise is for"
            ));
        }
        if draft.loss.map_or(usual.loss, LossDraft::loss) != Loss::Logistic {
            return Err("loss: accepted is \"logistic\", which the peer minimises".into());
        }
        match draft.calibrations[..] {
            [Calibration::Sound] => Ok(()),
            _ => {
                Err("calibrations: a peer has constants of its own; accepted is to leave it out"
                    .into())
            }
        }
    }

    /// Refuses a key that the method does not have, and a value that the key does not accept.
    fn setting(&self, method: &Learner, key: &str, value: &Value) -> Result<(), String> {
        let keys = method.keys();
        if !keys.contains(&key) {
            return Err(format!("'{key}': accepted are {}", keys.join(", ")));
        }
        let point = Point::from([(key.to_owned(), value.to_string())]);
        if let grid::Clip::Other(_, radius) = grid::Clip::of(&point) {
            return RADIUS.check(radius).map(|_| ()).map_err(|error| format!("{key}: {error}"));
        }
        if ["row-norm", "entry-bound"].contains(&key) {
            return Err(format!("{key} '{value}': accepted is {RADIUS}"));
        }
        if key == HATS {
            let number = value.to_string().parse::<f64>().unwrap_or(f64::NAN);
            let whole = schema::HATS.check(number).is_ok_and(|number| number.fract() == 0.0);
            return whole.then_some(()).ok_or_else(|| {
                format!("{key} '{value}': accepted is a whole number, {}", schema::HATS)
            });
        }
        if [INPUT_SCALE, INPUT_SHIFT].contains(&key) && value.to_string().parse::<f64>().is_err() {
            return Err(format!("{key} '{value}': accepted is a number"));
        }
        method.with(&point, 1).map(|_| ()).map_err(|error| error.to_string())
    }
}
