//! A stream from its first state to its last: begun, read to its end, suspended, resumed.

use super::Streaming;
use crate::failure::Failure;
use crate::lines_in::LinesIn;
use crate::{output, say};
use privet_data::write::{Destination, Existing};
use privet_data::{Dataset, Schema};
use privet_dp::continual::StateKey;
use privet_dp::gate::{GateError, Journal};
use privet_learn::pay::spend_whole;
use privet_learn::streams::Streamed;
use privet_learn::streams::live::{Live, SuspendedStream};
use privet_learn::{LearnError, Plan, Request};
use std::io::{BufReader, Read, Write};
use std::ops::Range;
use std::path::Path;

/// The output lines of a stream's releases.
pub(super) trait Lines<T: Streamed> {
    /// Receives the last release of an earlier call.
    fn out_already(&mut self, _values: &[f64]) {}

    /// Writes the release of a step, with the records of that step.
    fn write(
        &mut self,
        plan: &Plan<T>,
        records: Step<'_>,
        released: (u32, &[f64]),
        out: &mut dyn Write,
    ) -> std::io::Result<()>;
}

/// The input rows.
type Rows = LinesIn<BufReader<Box<dyn Read>>>;

impl Streaming {
    /// Runs a stream: begins one by `planned`, or resumes a suspended one.
    pub(super) fn carry_out<T: Streamed>(
        &self,
        again: &[(&str, bool)],
        planned: impl FnOnce() -> Result<Plan<T>, Failure>,
        lines: &mut impl Lines<T>,
    ) -> Result<(), Failure> {
        let key = self.key()?;
        match &self.state {
            None => self.run_whole(planned()?, lines),
            Some(path) => {
                let begun = if path.exists() {
                    let own =
                        [("horizon", self.horizon.is_some()), ("batch", self.batch.is_some())];
                    self.head.not_again(path, &[again, &own].concat())?;
                    self.releasing.place_beside(&self.inputs())?;
                    let suspended: SuspendedStream<T> = read_state(path)?;
                    let rows = self.rows(&suspended.request().schema)?;
                    self.releasing.paid_before(None, suspended.ledger_entry())?;
                    (suspended, rows)
                } else {
                    self.begin(path, &planned()?, key.as_ref())?
                };
                self.go_on(path, begun, key.as_ref(), lines)
            }
        }
    }

    /// The coming rows, with the header read: a schema that no stream can have, or names that do not
    /// fit, are refused before anything is paid.
    fn rows(&self, schema: &Schema) -> Result<Rows, Failure> {
        LinesIn::new(BufReader::with_capacity(1 << 16, self.input()?), schema)
    }

    /// Runs a stream to its end in one call.
    fn run_whole<T: Streamed>(
        &self,
        plan: Plan<T>,
        lines: &mut impl Lines<T>,
    ) -> Result<(), Failure> {
        let place = self.releasing.place_beside(&self.inputs())?;
        let spending = self.releasing.spending(None, "online, a stream")?;
        let mut rows = self.rows(plan.schema())?;
        let plan = spend_whole(plan, spending)?;
        let mut source = self.releasing.source()?;
        let (mut live, first) = Live::begin(&plan, source.as_mut())?;
        self.releasing.keep_beside(place, first)?;
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        let mut beyond = false;
        while let Some(data) = rows.next(live.batch(), |from| from.buffer().len())? {
            beyond = take_piece(&mut live, &data, &mut out, |slots, step, values, out| {
                lines.write(&plan, slots, (step, values), out)
            })?;
            if beyond {
                break;
            }
        }
        drop(out);
        if let Some(last) = live.released()? {
            self.releasing.replace(&last)?;
        }
        report_end(live.steps_left(), beyond);
        Ok(())
    }

    /// Opens a stream and writes its first state, before a row is read.
    fn begin<T: Streamed>(
        &self,
        path: &Path,
        plan: &Plan<T>,
        key: Option<&StateKey>,
    ) -> Result<(SuspendedStream<T>, Rows), Failure> {
        Live::can_be_put_aside(plan)?;
        output::refuse_existing("--state", path)?;
        let place = self.releasing.place_beside(&self.inputs())?;
        let spending = self.releasing.spending(None, "online, a stream")?;
        let rows = self.rows(plan.schema())?;
        let mut source = self.releasing.source()?;
        let mut journal = Journal::create(&output::journal_of(path))
            .map_err(|error| LearnError::from(GateError::from(error)))?;
        let paid = spend_whole(plan.clone(), spending);
        // Nothing was drawn, and nothing is reserved in it.
        let plan = paid.inspect_err(|_| drop(std::fs::remove_file(output::journal_of(path))))?;
        let (live, first) = Live::begin_kept(&plan, source.as_mut(), &mut journal)?;
        let suspended = live.suspend(key)?;
        write_state(path, &suspended)?;
        self.releasing.keep_beside(place, first)?;
        Ok((suspended, rows))
    }

    fn go_on<T: Streamed>(
        &self,
        path: &Path,
        (suspended, mut rows): (SuspendedStream<T>, Rows),
        key: Option<&StateKey>,
        lines: &mut impl Lines<T>,
    ) -> Result<(), Failure> {
        let batch = batch_of(suspended.request())?;
        let mut source = self.releasing.source()?;
        let mut journal = Journal::open(&output::journal_of(path))
            .map_err(|error| LearnError::from(GateError::from(error)))?
            .committing_ahead(self.commit);
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        // Resumed once a call and suspended at its end: the number of slots alone may determine where
        // sums are cut, never the length of the lines that hold the records.
        let kept = |next: &SuspendedStream<T>| write_state(path, next);
        let mut live = suspended.resume(key, source.as_mut(), &mut journal, kept)?;
        let (plan, mut beyond) = (live.plan().clone(), false);
        let steps = T::batch_and_steps(plan.facts()).1;
        if let Some(values) = live.taken_up_with() {
            lines.out_already(values);
        }
        if live.steps_left() < steps {
            say!(
                "step {} of {steps} is next; rows that were sent before, to a call that was killed among them, are not \
                 sent again",
                steps - live.steps_left() + 1
            );
        }
        while let Some(data) = rows.next(batch, |from| from.buffer().len())? {
            beyond = take_piece(&mut live, &data, &mut out, |slots, step, values, out| {
                lines.write(&plan, slots, (step, values), out)
            })?;
            if beyond {
                break;
            }
        }
        drop(out);
        let (last, left) = (live.released()?, live.steps_left());
        write_state(path, &live.suspend(key)?)?;
        if let Some(last) = last {
            self.releasing.replace(&last)?;
        }
        report_end(left, beyond);
        Ok(())
    }
}

fn batch_of<T: Streamed>(request: &Request<T>) -> Result<usize, Failure> {
    Ok(T::batch_and_steps(&T::facts(request)?).0 as usize)
}

/// The records of a step.
pub(super) struct Step<'a> {
    pub data: &'a Dataset,
    pub rows: Range<usize>,
}

/// Takes a piece of the stream; returns true if it had more rows than the stream has slots.
fn take_piece<T: Streamed>(
    live: &mut Live<'_, T>,
    data: &Dataset,
    out: &mut impl Write,
    mut show: impl FnMut(Step<'_>, u32, &[f64], &mut dyn Write) -> std::io::Result<()>,
) -> Result<bool, Failure> {
    let (mut failed, mut row, batch) = (None, 0, live.batch());
    let taken = live.take(data, |step, values| {
        let slots = Step { data, rows: row..(row + batch).min(data.rows()) };
        row = slots.rows.end;
        show(slots, step, values, out).map_err(|error| {
            failed = Some(error);
            LearnError::Gate(GateError::Unanswered)
        })
    });
    if let Some(error) = failed {
        return Err(Failure::stdout(error));
    }
    let beyond = taken? < data.rows();
    out.flush().map_err(Failure::stdout)?;
    Ok(beyond)
}

fn report_end(left: u32, beyond: bool) {
    if beyond {
        say!(
            "the horizon is reached: nothing is learnt from, and nothing released for, the rows beyond it; more of \
             them need another budget"
        );
    } else if left > 0 {
        say!("the stream ended before its horizon; the whole budget is spent all the same");
    }
}

fn read_state<T: Streamed>(path: &Path) -> Result<SuspendedStream<T>, Failure> {
    let shown = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| Failure::file(&shown, &error))?;
    let refused =
        |why: String| Failure::input(format!("{shown}: not a state of such a stream: {why}"));
    SuspendedStream::read(&bytes).map_err(refused)
}

fn write_state<T: Streamed>(path: &Path, suspended: &SuspendedStream<T>) -> Result<(), LearnError> {
    let text = serde_json::to_vec(suspended).map_err(|_| GateError::Malformed)?;
    Ok(Destination::open(path, Existing::Own)?.write(&text)?)
}
