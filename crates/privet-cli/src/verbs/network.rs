//! `privet train --model`: networks.

use crate::failure::Failure;
use crate::progress::Meter;
use crate::releasing::{Releasing, read_table, rows_needed};
use crate::settings::RequestFlags;
use crate::spending::Spending;
use clap::Args;
use privet_data::Schema;
use privet_data::matrix::{DenseMatrix, Matrix};
use privet_learn::file::{self, Seal};
use privet_learn::nonconvex::checkpoint::Checkpointed;
use privet_learn::nonconvex::{self, Begin, Method, Network, TrainedNetwork};
use privet_learn::{self as learn, Calibration, Loaded, Plan, Released, Request, Task};
use privet_nn::{Description, Net};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// What a network needs besides the flags of every training.
#[derive(Args, Debug, Clone)]
pub struct NetworkFlags {
    /// Train the network that this file describes (TOML: input, layers, loss) instead of a linear model
    #[arg(long, value_name = "NET")]
    pub model: Option<PathBuf>,
    /// Begin from the weights of this network file, trained on PUBLIC records alone: they are not protected
    #[arg(long, value_name = "FILE", requires = "model")]
    weights: Option<PathBuf>,
    /// Seed of the weights at the start; public, and no secret of the noise [default: 0]
    #[arg(long, value_name = "SEED", requires = "model", conflicts_with = "weights")]
    weights_seed: Option<u64>,
    /// Put the training aside in this file now and then, and go on from it where it is there: nothing in it
    /// is un-noised. FILE.journal beside it sees to it that no noise is spent twice: never go on from copies
    /// of both
    #[arg(long, value_name = "FILE", requires = "model")]
    checkpoint: Option<PathBuf>,
    /// How many steps apart
    #[arg(long, value_name = "STEPS", requires = "checkpoint", default_value_t = 100)]
    every: u32,
    /// What a row's entries are multiplied by before the network sees them [default: 1]
    #[arg(long, value_name = "X", requires = "model", allow_hyphen_values = true)]
    input_scale: Option<f64>,
    /// What is added to them then [default: 0]
    #[arg(long, value_name = "X", requires = "model", allow_hyphen_values = true)]
    input_shift: Option<f64>,
}

/// Everything that a training of a network is told.
pub struct Told<'a> {
    pub data: &'a Path,
    pub schema_path: &'a Path,
    pub rows: Option<u64>,
    pub method: &'a str,
    pub flags: &'a NetworkFlags,
    pub settings: &'a RequestFlags,
    pub calibration: Calibration,
    pub releasing: &'a Releasing,
}

/// The description in a file.
fn described(path: &Path) -> Result<Description, Failure> {
    let refused = |why: String| Failure::input(format!("--model {}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
    let description: Description =
        toml::from_str(&text).map_err(|error| refused(error.to_string().trim_end().into()))?;
    Net::new(&description).map_err(|error| refused(error.to_string()))?;
    Ok(description)
}

/// The weights of a network file, which must be those of such a network, and what a request says of them.
fn public_weights(path: &Path, description: &Description) -> Result<(Begin, Vec<f32>), Failure> {
    let refused = |why: String| Failure::input(format!("--weights {}: {why}", path.display()));
    let Loaded::Network(network) = file::load_any(path, Seal::Required)? else {
        return Err(refused("accepted is the file of a network".into()));
    };
    Begin::file(description, &network).map_err(|error| refused(error.to_string()))
}

/// Refuses flags that are of linear models.
fn only_of_networks(settings: &RequestFlags) -> Result<(), Failure> {
    let given = [
        ("--loss", settings.loss.is_some()),
        ("--huber-width", settings.huber_width.is_some()),
        ("--quantile", settings.quantile.is_some()),
        ("--rate-at-zero", settings.rate_at_zero.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((flag, _)) => Err(Failure::input(format!(
            "{flag}: a network's loss stands in its description (loss = \"cross-entropy\", \"logistic\" or \
             \"squared\")"
        ))),
    }
}

/// A training that goes on, paid for whole when it began, or one that is yet to be paid for.
enum Start {
    Found(Box<Checkpointed>, Box<Spending>),
    Fresh(Box<Spending>),
}

/// Trains, and writes what was released.
pub fn train(model: &Path, told: &Told<'_>) -> Result<(), Failure> {
    only_of_networks(told.settings)?;
    let description = described(model)?;
    let flags = told.flags;
    let public =
        flags.weights.as_deref().map(|path| public_weights(path, &description)).transpose()?;
    let (begin, weights) = public.unzip();
    let begin = begin.or(flags.weights_seed.map(Begin::Seed));
    let method: Method =
        if told.method == "auto" { Method::default() } else { told.method.parse()? };
    let task = Network {
        begin,
        scale: flags.input_scale,
        shift: flags.input_shift,
        ..Network::new(description, method)
    };
    let schema = Schema::load(told.schema_path)?;
    let relation = told.settings.relation(&schema);
    if told.rows.is_none() && !relation.count_is_public() {
        return Err(rows_needed(relation));
    }
    let plan = |rows: u64| -> Result<Plan<Network>, Failure> {
        let _meter = Meter::spinner("planning");
        let words = told.settings.words("auto".parse()?, told.calibration);
        let request: Request<Network> = task.clone().request(&schema, rows, &words)?;
        let planned = learn::plan(&request)?;
        Ok(match &weights {
            Some(weights) => planned.with_public(&one_row(weights))?,
            None => planned,
        })
    };
    if flags.checkpoint.is_some() && !task.method.is_private() {
        return Err(Failure::input(format!(
            "--checkpoint: method {} spends no budget and keeps no state; leave it out",
            task.method
        )));
    }
    let declared = told.rows.map(plan).transpose()?;
    let inputs = [Some(told.data), Some(told.schema_path), Some(model), flags.weights.as_deref()];
    let inputs: Vec<&Path> = inputs.into_iter().flatten().collect();
    let place = told.releasing.place(&inputs)?;
    let doing = format!("train {}", task.method);
    let mut start = match flags.checkpoint.as_deref().filter(|path| path.exists()) {
        Some(path) => {
            let found = Checkpointed::read(path, weights.as_deref())?;
            let paid = told.releasing.paid_before(Some(told.data), found.entered())?;
            Start::Found(Box::new(found), Box::new(paid))
        }
        None => Start::Fresh(Box::new(told.releasing.spending(Some(told.data), &doing)?)),
    };
    if let (Start::Fresh(spending), Some(planned)) = (&mut start, &declared) {
        spending.reserve(planned)?;
    }
    let data = read_table(told.data, &schema.linear(), relation)?;
    let planned = match declared {
        Some(planned) => planned,
        None => plan(data.rows() as u64)?,
    };
    match &mut start {
        Start::Fresh(spending) => {
            spending.reserve(&planned)?;
            spending.recognise(told.data, Some(&schema))?;
        }
        Start::Found(_, paid) => paid.recognise(told.data, Some(&schema))?,
    }
    let mut source = told.releasing.source()?;
    let never = AtomicBool::new(false);
    let meter = Meter::spinner("training");
    let network = match (start, &flags.checkpoint) {
        (Start::Found(found, _), _) => {
            found.is_of(&planned)?;
            found.finish(&data, flags.every, source.as_mut(), &never)?
        }
        (Start::Fresh(spending), Some(path)) => {
            // Whatever can be refused is refused before all of it is spent.
            let ready = Checkpointed::ready(&planned, weights.as_deref(), path, &data)?;
            let planned = spending.spend_whole(planned)?;
            let begun = ready.begin(&planned, source.as_mut())?;
            begun.finish(&data, flags.every, source.as_mut(), &never)?
        }
        (Start::Fresh(spending), None) => {
            TrainedNetwork::from_release(spending.run(&planned, &data, source.as_mut(), &never)?)?
        }
    };
    drop(meter);
    told.releasing.keep(place, &network, "model", (String::new(), as_json(&network)))
}

/// Weights as public rows are handed over: in one row.
fn one_row(weights: &[f32]) -> Matrix {
    Matrix::Dense(DenseMatrix::new(weights.to_vec(), 1, weights.len()))
}

/// What is known of the network besides its claim. Never anything read from the records.
fn as_json(network: &Released<Network>) -> Value {
    let request = network.request();
    let settings = learn::plan(request).ok().map(|plan| plan.settings());
    json!({
        "task": Network::NAME,
        "method": request.task.method.to_string(),
        "rows": request.rows,
        "neighbours": request.neighbours,
        "unit": request.schema.unit(),
        "settings": settings,
    })
}

/// What a network is, in words.
pub fn purpose(network: &Released<Network>) -> String {
    let request = network.request();
    let what = match request.schema.classes() {
        Some(classes) => format!("one of {} classes", classes.len()),
        None => "a number".into(),
    };
    let layers = request.task.net.layers.len();
    format!("A network of {layers} layers that predicts {what}; method {}.", request.task.method)
}

/// Its tensors, a line each.
pub fn tensors(network: &Released<Network>) -> String {
    let line = |tensor: &nonconvex::Tensor| {
        let sides: Vec<String> = tensor.shape.iter().map(usize::to_string).collect();
        format!("  {}  {}\n", tensor.name, sides.join(" × "))
    };
    network.artefact().tensors.iter().map(line).collect()
}
