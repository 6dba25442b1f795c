//! Initial weights of a network, learnt without privacy from another data set that is taken as public.
//!
//! The layers are those of the entry, none of them frozen, trained by `non-private` with the settings
//! below; the entry's training then begins from these weights, and keeps those of its frozen layers.

use super::RunOptions;
use super::file::Source;
use super::grid::Clip;
use super::table::{Files, Table};
use crate::error::BenchError;
use privet_core::Neighbours;
use privet_data::matrix::{DenseMatrix, Matrix};
use privet_dp::noise::SystemRandom;
use privet_learn::networks::{InitialSource, Method, Network, TrainedNetwork};
use privet_learn::{Plan, Request, plan};
use privet_nn::{Description, Layer};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// The settings of the public training: five passes over sixty thousand records.
const SETTINGS: [(&str, &str); 5] = [
    ("batch", "128"),
    ("steps", "2344"),
    ("rate", "0.05"),
    ("momentum", "0.9"),
    ("averaged", "0.1"),
];

/// The beginning of a training, and its weights in one row.
type Begun = (InitialSource, Arc<Matrix>);

/// A public data set, and the networks learnt from it.
#[derive(Debug)]
pub struct Public {
    table: Arc<Table>,
    begun: Mutex<Vec<(Description, Begun)>>,
}

impl Public {
    /// A set of the catalog.
    pub fn of(name: &str, options: &RunOptions) -> Result<Self, BenchError> {
        let source = Source::of_catalog(name);
        let files = Files::of(&source, &options.originals, &options.cache)?;
        Ok(Self { table: files.read(Clip::Schema)?, begun: Mutex::default() })
    }

    /// The initial weights of a network; learnt once.
    pub fn begin(&self, net: &Description, stop: &AtomicBool) -> Result<Begun, BenchError> {
        let mut begun = self.begun.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some((_, known)) = begun.iter().find(|(known, _)| known == net) {
            return Ok(known.clone());
        }
        let learnt = self.train_public(&thawed(net), stop)?;
        let (begin, weights) = InitialSource::file(net, &learnt)?;
        let columns = weights.len();
        let row = Arc::new(Matrix::Dense(DenseMatrix::new(weights, 1, columns)));
        begun.push((net.clone(), (begin.clone(), row.clone())));
        Ok((begin, row))
    }

    fn train_public(
        &self,
        net: &Description,
        stop: &AtomicBool,
    ) -> Result<TrainedNetwork, BenchError> {
        let one = |method: Method, (key, value): (&str, &str)| method.with(key, value);
        let method = SETTINGS.into_iter().try_fold("non-private".parse::<Method>()?, one)?;
        let rows = self.table.training.rows() as u64;
        let task = Network::new(net.clone(), method);
        let request = Request::new(self.table.schema.clone(), rows, Neighbours::ReplaceOne, task);
        let planned: Plan<Network> = plan(&request)?;
        let mut source = SystemRandom::new()?;
        let release = planned.run(&self.table.training, &mut source, stop)?;
        Ok(TrainedNetwork::from_release(release)?)
    }
}

/// The same layers, all of them trained.
fn thawed(net: &Description) -> Description {
    let mut net = net.clone();
    for layer in &mut net.layers {
        if let Layer::Linear { frozen, .. }
        | Layer::Conv { frozen, .. }
        | Layer::GroupNorm { frozen, .. } = layer
        {
            *frozen = false;
        }
    }
    net
}
