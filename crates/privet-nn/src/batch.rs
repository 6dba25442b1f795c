//! A batch of examples: borrowed, never copied whole.

use crate::error::NetError;
use crate::net::Net;

/// Targets of a batch's examples.
#[derive(Clone, Copy)]
pub enum Targets<'a> {
    /// One class per example, from 0. A class that the network does not have contributes nothing.
    Classes(&'a [u32]),
    /// As many numbers per example as the network has outputs.
    Values(&'a [f32]),
}

/// Examples: all rows of a table, or some of them, in the order given.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    inputs: &'a [f32],
    targets: Targets<'a>,
    rows: Option<&'a [u32]>,
}

/// Shows nothing of the examples.
impl std::fmt::Debug for Batch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Batch(…)")
    }
}

impl<'a> Batch<'a> {
    /// Every row of a table: inputs row by row (an image pixel by pixel, the channels of a pixel
    /// together), and targets.
    pub fn all(inputs: &'a [f32], targets: Targets<'a>) -> Self {
        Self { inputs, targets, rows: None }
    }

    /// The rows of a table with these indices, repeated as often as they occur.
    pub fn chosen(inputs: &'a [f32], targets: Targets<'a>, rows: &'a [u32]) -> Self {
        Self { inputs, targets, rows: Some(rows) }
    }

    /// Row of the table for an example.
    pub(crate) fn row(&self, index: usize) -> usize {
        self.rows.map_or(index, |rows| rows[index] as usize)
    }

    pub(crate) fn input(&self, index: usize, width: usize) -> &'a [f32] {
        let row = self.row(index);
        &self.inputs[row * width..(row + 1) * width]
    }

    pub(crate) fn targets(&self) -> Targets<'a> {
        self.targets
    }

    /// Number of examples, after checking the batch's shape against the network's.
    pub(crate) fn examples(&self, net: &Net) -> Result<usize, NetError> {
        let width = net.inputs();
        let refuse = |problem: String| Err(NetError::Batch(problem));
        if !self.inputs.len().is_multiple_of(width) {
            return refuse(format!(
                "{} numbers are no whole number of examples of {width} each",
                self.inputs.len()
            ));
        }
        let table = self.inputs.len() / width;
        let (given, each) = match (self.targets, net.takes_classes()) {
            (Targets::Classes(classes), true) => (classes.len(), 1),
            (Targets::Values(values), false) => (values.len(), net.outputs()),
            (_, true) => {
                return refuse("cross-entropy wants a class an example, not numbers".into());
            }
            (_, false) => return refuse("this loss wants numbers to predict, not classes".into()),
        };
        if given != table * each {
            return refuse(format!(
                "{given} targets were given for {table} examples; accepted is {each} an example"
            ));
        }
        if let Some(rows) = self.rows {
            if rows.iter().any(|&row| row as usize >= table) {
                return refuse(format!(
                    "a row was chosen that a table of {table} rows does not have"
                ));
            }
            return Ok(rows.len());
        }
        Ok(table)
    }
}
