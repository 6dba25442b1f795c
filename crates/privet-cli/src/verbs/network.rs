//! `privet train --model`: trains networks.

use crate::failure::Failure;
use crate::head::HeadArguments;
use crate::order::{MadeRelease, ReadyPlan};
use crate::output;
use crate::progress::Meter;
use crate::releasing::{Releasing, read_table};
use crate::settings::RequestFlags;
use clap::Args;
use privet_data::matrix::{DenseMatrix, Matrix};
use privet_learn::file::{self, Seal};
use privet_learn::networks::checkpoint::Checkpointed;
use privet_learn::networks::{InitialSource, Method, Network};
use privet_learn::{self as learn, Calibration, Loaded, Plan, Request};
use privet_nn::{Description, Net};
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

/// The arguments of a training of a network.
pub struct NetworkTraining<'a> {
    pub head: &'a HeadArguments,
    pub method: &'a str,
    pub flags: &'a NetworkFlags,
    pub settings: &'a RequestFlags,
    pub calibration: Calibration,
    pub releasing: &'a Releasing,
}

/// Reads the description of a network from a file.
fn read_description(path: &Path) -> Result<Description, Failure> {
    let refused = |why: String| Failure::input(format!("--model {}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
    let description: Description =
        toml::from_str(&text).map_err(|error| refused(error.to_string().trim_end().into()))?;
    Net::new(&description).map_err(|error| refused(error.to_string()))?;
    Ok(description)
}

/// Weights from a file of the same network, and their description for the request.
fn public_weights(
    path: &Path,
    description: &Description,
) -> Result<(InitialSource, Vec<f32>), Failure> {
    let refused = |why: String| Failure::input(format!("--weights {}: {why}", path.display()));
    let Loaded::Network(network) = file::load_any(path, Seal::Required)? else {
        return Err(refused("accepted is the file of a network".into()));
    };
    InitialSource::file(description, &network).map_err(|error| refused(error.to_string()))
}

/// Refuses flags that apply only to linear models.
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

/// Trains a network and writes its release.
pub fn train(model: &Path, told: &NetworkTraining<'_>) -> Result<(), Failure> {
    only_of_networks(told.settings)?;
    let description = read_description(model)?;
    let flags = told.flags;
    let public =
        flags.weights.as_deref().map(|path| public_weights(path, &description)).transpose()?;
    let (begin, weights) = public.unzip();
    let begin = begin.or(flags.weights_seed.map(InitialSource::Seed));
    let method: Method =
        if told.method == "auto" { Method::default() } else { told.method.parse()? };
    let task = Network {
        begin,
        scale: flags.input_scale,
        shift: flags.input_shift,
        ..Network::new(description, method)
    };
    let schema = told.head.schema()?;
    let (relation, table) = (told.head.relation(&schema), told.head.table(&schema)?);
    let plan = |rows: u64| -> Result<Plan<Network>, Failure> {
        let _meter = Meter::spinner("planning");
        let words = told.settings.request_options(told.head, "auto".parse()?, told.calibration);
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
    let more = [Some(model), flags.weights.as_deref(), flags.checkpoint.as_deref()];
    let inputs = told.head.inputs(&more);
    let doing = format!("train {}", task.method);
    let found = match flags.checkpoint.as_deref() {
        Some(path) if path.exists() => Some(Checkpointed::read(path, weights.as_deref())?),
        _ => None,
    };
    let read = |_: &Plan<Network>| read_table(told.head.data(), &schema.linear(), relation);
    let (place, found, data) = match (found, &flags.checkpoint) {
        (Some(found), _) => {
            let (place, paid) = told.releasing.go_on(table, &inputs, found.ledger_entry(), plan)?;
            found.is_of(paid.plan())?;
            let data = paid.read(read)?;
            (place, Found::Begun(Box::new(found)), data)
        }
        (None, checkpoint) => {
            let (place, reserved) = match checkpoint {
                Some(path) => {
                    output::refuse_existing("--checkpoint", path)?;
                    let put_aside = |rows| {
                        let planned = plan(rows)?;
                        Checkpointed::can_be_put_aside(&planned, weights.as_deref())?;
                        Ok(planned)
                    };
                    told.releasing.reserve(table, &inputs, &doing, put_aside)?
                }
                None => told.releasing.reserve(table, &inputs, &doing, plan)?,
            };
            let (ready, data) = reserved.read(read)?;
            (place, Found::Nothing(Box::new(ready)), data)
        }
    };
    let mut source = told.releasing.source()?;
    let never = AtomicBool::new(false);
    let meter = Meter::spinner("training");
    let training = match (found, &flags.checkpoint) {
        (Found::Begun(found), _) => *found,
        (Found::Nothing(ready), Some(path)) => {
            // Refuses everything it can before the whole cost is spent.
            let begins = Checkpointed::ready(ready.plan(), weights.as_deref(), path, &data)?;
            let planned = ready.spend_whole(&data)?;
            begins.begin(&planned, source.as_mut())?
        }
        (Found::Nothing(ready), None) => {
            let made = ready.draw(&data, source.as_mut(), &never)?;
            drop(meter);
            return told.releasing.keep(place, made);
        }
    };
    let finished = training.finish(&data, flags.every, source.as_mut(), &never)?;
    drop(meter);
    // If killed before the file exists, the same command resumes and gives the same network.
    let network = finished.network().clone();
    told.releasing
        .keep(place, MadeRelease::settled_by(network, move || Ok(finished.settle().map(drop)?)))
}

/// Where a training stands.
enum Found {
    /// A checkpoint goes on, which was paid for when it was begun.
    Begun(Box<Checkpointed>),
    /// It begins, and its price is reserved.
    Nothing(Box<ReadyPlan<Network>>),
}

/// Weights in the form of public rows: one row.
fn one_row(weights: &[f32]) -> Matrix {
    Matrix::Dense(DenseMatrix::new(weights.to_vec(), 1, weights.len()))
}
