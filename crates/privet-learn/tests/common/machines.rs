//! Machines that keep rows, in this process.

use privet_data::{Dataset, block};
use privet_optim::sum::{
    QueryMessage, RecordsError, Remote, RemoteQuery, RemoteRows, RowMachines, answer_query,
    merge_answers, pieces, rows_at,
};
use std::sync::Mutex;

/// Changes answers in transit.
type Meddle = Box<dyn Fn(&mut Vec<Vec<u8>>) + Send + Sync>;

/// Machines with a block each: queries are sent as text, answers returned as bytes.
pub struct Machines {
    blocks: Vec<Vec<u8>>,
    /// Change to the parts of every answer.
    meddle: Meddle,
    asked: Mutex<usize>,
}

impl Machines {
    /// Number of queries made.
    pub fn asked(&self) -> usize {
        *self.asked.lock().unwrap()
    }

    fn rows(&self) -> Dataset {
        block::from_bytes(&self.blocks).unwrap()
    }
}

impl RowMachines for Machines {
    fn ask(&self, query: &QueryMessage) -> Result<Vec<Vec<u8>>, RecordsError> {
        *self.asked.lock().unwrap() += 1;
        let query = QueryMessage::read(query.text()).unwrap();
        let mut parts = Vec::new();
        match query.query() {
            RemoteQuery::Inner { rows, pieces: count, .. } => {
                let all = self.rows();
                for piece in 0..*count {
                    let places: Vec<usize> = pieces::rows_of(piece, *count, *rows).collect();
                    parts.push(answer_query(&query, piece, &all.select(&places))?);
                }
            }
            RemoteQuery::Rows { .. } => {
                let mut first = 0;
                for bytes in &self.blocks {
                    let rows = block::from_bytes(&[bytes]).unwrap();
                    parts.push(rows_at(&query, first, &rows)?);
                    first += rows.rows();
                }
            }
            _ => {
                // Last machine first, all but one combined in transit.
                for bytes in self.blocks.iter().rev() {
                    parts.push(answer_query(&query, 0, &block::from_bytes(&[bytes]).unwrap())?);
                }
                let columns = self.rows().features.columns();
                let first = parts.pop().unwrap();
                parts = match parts.is_empty() {
                    true => vec![first],
                    false => vec![merge_answers(&query, columns, &parts)?, first],
                };
            }
        }
        (self.meddle)(&mut parts);
        Ok(parts)
    }
}

/// A table distributed over `machines` machines.
pub fn remote_rows(
    data: &Dataset,
    machines: usize,
    meddle: impl Fn(&mut Vec<Vec<u8>>) + Send + Sync + 'static,
) -> Remote<Machines> {
    let some = |machine| {
        let places: Vec<usize> = pieces::rows_of(machine, machines, data.rows()).collect();
        data.select(&places)
    };
    let each: Vec<Dataset> = (0..machines).map(some).collect();
    let kept: Vec<RemoteRows> = each.iter().map(|rows| RemoteRows::of(rows).unwrap()).collect();
    let blocks = each.iter().map(block::to_bytes).collect();
    let machines = Machines { blocks, meddle: Box::new(meddle), asked: Mutex::new(0) };
    Remote::new(machines, RemoteRows::of_all(&kept).unwrap())
}
