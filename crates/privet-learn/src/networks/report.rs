//! What is said of a trained network.

use super::{Network, Tensor};
use crate::release::family::Family;
use crate::release::released::Released;
use crate::release::report::{Part, Report, Section, release_json};
use crate::release::task::Task;
use serde_json::json;

impl Family for Network {
    const VERB: &'static str = "train";
    const NOUN: &'static str = "model";
    const AT_ONCE: bool = false;
    const TELLS_SETTINGS: bool = true;

    fn report(network: &Released<Self>) -> Report {
        let request = network.request();
        let what = match request.schema.classes() {
            Some(classes) => format!("one of {} classes", classes.len()),
            None => "a number".into(),
        };
        let (layers, method) = (request.task.net.layers.len(), &request.task.method);
        let line = |tensor: &Tensor| {
            let sides: Vec<String> = tensor.shape.iter().map(usize::to_string).collect();
            format!("  {}  {}\n", tensor.name, sides.join(" × "))
        };
        let tensors = network.artefact().tensors.iter().map(line).collect();
        Report::new(
            format!("A network of {layers} layers that predicts {what}; method {method}."),
            vec![Section::new("Tensors", [Part::Lines(tensors)])],
            release_json(request, json!({ "task": Self::NAME, "method": method.to_string() })),
        )
    }
}
