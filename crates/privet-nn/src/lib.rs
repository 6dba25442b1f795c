//! Small networks whose gradients are clipped example by example.

mod batch;
mod clip;
mod description;
mod error;
mod exact;
mod kernel;
mod layer;
mod loss;
mod net;
mod predict;
mod sum;
mod tape;
mod workspace;

pub use batch::{Batch, Targets};
pub use description::{Description, Input, Layer, Loss};
pub use error::NetError;
pub use exact::{ExactSum, grid};
pub use net::{Net, Tensor};
pub use sum::ClippedSum;
pub use workspace::Workspace;
