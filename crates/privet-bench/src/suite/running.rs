//! A run in progress.

use super::ahead::RemainingWork;
use super::cells::{GridCell, Group, KnownResults, groups};
use super::estimate::{Measured, counted, duration_words, model};
use super::file::{Source, Suite};
use super::grid::Clip;
use super::journal::Journal;
use super::learner::Family;
use super::peer_job::PeerRuns;
use super::pool::{Job, run_all};
use super::public::Public;
use super::select::Selection;
use super::table::{Files, Rows, Size};
use super::{Outcome, RunObserver, RunOptions};
use crate::error::BenchError;
use crate::line::{Line, Stage};
use crate::race::RaceError;
use crate::race::environment::{Environment, Rival};
use crate::{head, memory};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The interval between progress messages.
const PAUSE: Duration = Duration::from_millis(500);

/// A run in progress.
pub(super) struct Running<'a> {
    suite: &'a Suite,
    wanted: Selection,
    options: &'a RunOptions,
    watch: &'a dyn RunObserver,
    journal: Journal,
    known: KnownResults,
    sizes: BTreeMap<String, Size>,
    measured: Measured,
    ahead: RemainingWork,
    outcome: Outcome,
    told: Option<Instant>,
}

impl<'a> Running<'a> {
    /// Opens the results and reports the remaining work.
    pub fn start(
        suite: &'a Suite,
        selection: Selection,
        options: &'a RunOptions,
        watch: &'a dyn RunObserver,
    ) -> Result<Self, BenchError> {
        let sources = suite.datasets.iter().filter(|source| selection.dataset(&source.name));
        let mut sizes = sources
            .map(|source| Ok((source.name.clone(), Size::of(source)?)))
            .collect::<Result<BTreeMap<_, _>, BenchError>>()?;
        let (journal, past) = Journal::open(&options.out, &suite.text, options.resume)?;
        if past.cut {
            watch.say("the last line of the results was cut: dropped, and to be measured again");
        }
        for line in &past.lines {
            if let Line::Run(run) = line
                && let Some(size) = sizes.get_mut(&run.cell.dataset)
            {
                size.rows = run.rows;
            }
        }
        let mut running = Self {
            known: KnownResults::of(&past.lines),
            suite,
            wanted: selection,
            options,
            watch,
            journal,
            sizes,
            measured: Measured::default(),
            ahead: RemainingWork::default(),
            outcome: Outcome::default(),
            told: None,
        };
        for line in &past.lines {
            if let Line::Run(run) = line {
                running.learn(line, run.seconds);
            }
        }
        running.write(&Line::Head(head::now(&suite.name)))?;
        for source in &suite.datasets {
            if let Some(size) = running.sizes.get(&source.name) {
                let groups = groups(suite, &running.wanted, source, size.rows);
                running.ahead.count(&source.name, &groups, &running.known, *size);
            }
        }
        let ahead = running.ahead.total(&running.measured);
        watch.say(&format!(
            "{}: {} on {}, {} of them to screen; about {} on {}{}",
            suite.name,
            counted(ahead.models(), "model"),
            counted(running.sizes.len() as u64, "data set"),
            ahead.screening,
            duration_words(ahead.seconds / options.threads as f64),
            counted(options.threads as u64, "core"),
            if past.lines.is_empty() { " (rough until the first are timed)" } else { "" },
        ));
        Ok(running)
    }

    /// Makes every missing model.
    pub fn finish(mut self) -> Result<Outcome, BenchError> {
        let peers = self.peers()?;
        for source in &self.suite.datasets {
            if !self.wanted.dataset(&source.name) {
                continue;
            }
            if let Err(error) = self.dataset(source, &peers) {
                // An invalid or missing data set does not affect the others.
                if !matches!(error, BenchError::Catalog(_) | BenchError::Data(_)) {
                    return Err(error);
                }
                let words = format!("{}: {error}", source.name);
                self.watch.say(&format!("left out {words}"));
                self.outcome.missing.push(words);
                self.sizes.remove(&source.name);
                self.ahead.forget(&source.name);
            }
        }
        match self.sizes.is_empty() {
            true => Err(BenchError::NoData { reasons: self.outcome.missing.join("\n") }),
            false => Ok(self.outcome),
        }
    }

    /// Runs `act` while the process may not end.
    fn guarded<T>(&self, act: impl Fn() -> T) -> T {
        let mut done = None;
        self.watch.writing(&mut || done = Some(act()));
        done.unwrap_or_else(act)
    }

    /// Adds a line to the results.
    fn write(&mut self, line: &Line) -> Result<(), BenchError> {
        let mut written = Ok(());
        self.watch.writing(&mut || written = self.journal.append(line));
        written
    }

    /// Records the time of a model; returns its modelled time.
    fn learn(&mut self, line: &Line, seconds: f64) -> f64 {
        let Line::Run(run) = line else { return 0.0 };
        let (dataset, entry) = (&run.cell.dataset, &run.cell.entry);
        let asked = self.suite.entries.iter().find(|known| known.name == *entry);
        let (Some(asked), Some(size)) = (asked, self.sizes.get(dataset)) else { return 0.0 };
        let modelled = model(asked, &run.cell.settings, *size);
        self.measured.add(dataset, entry, modelled, seconds);
        modelled
    }

    /// The environments of the requested peers. An unavailable one is left out with a message; it may be
    /// available another time.
    fn peers(&mut self) -> Result<Environment, BenchError> {
        let (suite, cache) = (self.suite, &self.options.cache);
        let sources: Vec<&Source> =
            suite.datasets.iter().filter(|source| self.wanted.dataset(&source.name)).collect();
        let wanted = suite.entries.iter().filter_map(|entry| {
            let peer = entry.learner.peer()?;
            let any = sources.iter().any(|source| self.wanted.entry(entry, source));
            any.then(|| (entry.name.clone(), peer.script().0))
        });
        let wanted: Vec<(String, Rival)> = wanted.collect();
        let mut rivals: Vec<Rival> = Vec::new();
        for (_, rival) in &wanted {
            if !rivals.contains(rival) {
                rivals.push(*rival);
            }
        }
        let made = Environment::make(cache, &self.options.python, &rivals);
        let (environment, why) = match made {
            Ok(environment) => (environment, String::new()),
            Err(BenchError::Race(
                none @ (RaceError::NoPeers { .. } | RaceError::NoPython { .. }),
            )) => (Environment::empty(cache), none.to_string()),
            Err(error) => return Err(error),
        };
        for (name, rival) in wanted.iter().filter(|(_, rival)| !environment.has(*rival)) {
            let known = environment.missing.iter().find(|(missing, _)| missing == rival);
            let why = known.map_or(why.as_str(), |(_, reason)| reason.as_str());
            let words = format!("{name}: {} cannot be had ({why})", rival.name());
            self.watch.say(&format!("left out {words}"));
            self.outcome.missing.push(words);
            self.wanted.leave_out(name);
        }
        for source in sources {
            if let Some(size) = self.sizes.get(&source.name) {
                let groups = groups(suite, &self.wanted, source, size.rows);
                self.ahead.count(&source.name, &groups, &self.known, *size);
            }
        }
        Ok(environment)
    }

    /// Runs all remaining work on one data set.
    fn dataset(&mut self, source: &Source, peers: &Environment) -> Result<(), BenchError> {
        let (options, name) = (self.options, source.name.as_str());
        let (files, base, size) = match self.suite.family {
            Family::Train | Family::Network => {
                let files =
                    self.guarded(|| Files::of(source, &options.originals, &options.cache))?;
                memory::start();
                let base = files.read(Clip::Schema)?;
                let size = Size {
                    rows: base.training.rows() as u64,
                    columns: base.training.features.columns() as u64,
                    classes: base.schema.classes().map_or(0, <[String]>::len) as u64,
                };
                (Some(files), Rows::Table(base), size)
            }
            Family::Complete => {
                let find = || Files::of(source, &options.originals, &options.cache);
                let base = match Files::made_up(source)? {
                    Some(made_up) => made_up,
                    None => self.guarded(find)?.ratings(source, &options.originals)?,
                };
                memory::start();
                let size = Size {
                    rows: base.all.rows() as u64,
                    columns: base.all.features.columns() as u64,
                    classes: 0,
                };
                (None, Rows::Ratings(Arc::new(base)), size)
            }
        };
        self.sizes.insert(name.into(), size);
        let (suite, wanted) = (self.suite, self.wanted.clone());
        let groups = groups(suite, &wanted, source, size.rows);
        let mut tables = vec![(Clip::Schema, base)];
        let mut publics = BTreeMap::new();
        let beside = PeerRuns::new(peers, &options.cache);
        for stage in [Stage::Screen, Stage::Final] {
            self.ahead.count(name, &groups, &self.known, size);
            let mut jobs = Vec::new();
            for group in &groups {
                for (place, runs) in self.open(group, stage) {
                    let rows = clipped(&mut tables, files.as_ref(), place)?;
                    let public = begins(&mut publics, place, options)?;
                    jobs.push(Job { place, stage, runs, rows, public, beside: &beside });
                }
            }
            // The longest first, so that no core is left with one at the end.
            let seconds = |job: &Job<'_>| {
                model(job.place.entry, &job.place.cell.settings, size) * job.runs.len() as f64
            };
            jobs.sort_by(|a, b| seconds(b).total_cmp(&seconds(a)));
            run_all(&jobs, options.threads, &mut |(line, busy)| self.take(&line, busy))?;
        }
        Ok(())
    }

    /// Receives a line from a worker.
    fn take(&mut self, line: &Line, busy: f64) -> Result<(), BenchError> {
        self.write(line)?;
        self.known.add(line);
        let modelled = self.learn(line, busy);
        match line {
            Line::Run(run) => {
                self.outcome.made += 1;
                self.ahead.subtract_model(run, modelled);
            }
            _ => self.outcome.refused += 1,
        }
        if self.told.is_none_or(|told| told.elapsed() > PAUSE) {
            let ahead = self.ahead.total(&self.measured);
            let (done, threads) = (self.outcome.made, self.options.threads as f64);
            self.watch.progress(done, done + ahead.models(), ahead.seconds / threads);
            self.told = Some(Instant::now());
        }
        Ok(())
    }

    /// The cells of a group with missing runs.
    fn open<'g, 'b>(
        &self,
        group: &'g Group<'b>,
        stage: Stage,
    ) -> Vec<(&'g GridCell<'b>, Vec<u32>)> {
        let places: Vec<&GridCell<'b>> = match stage {
            Stage::Screen => group.places.iter().filter(|place| place.entry.is_tuned()).collect(),
            Stage::Final => self.known.final_places(group),
        };
        let missing = places.into_iter().map(|place| {
            let count = if stage == Stage::Screen { place.entry.screen } else { group.runs };
            (place, self.known.missing(&place.cell, stage, count))
        });
        missing.filter(|(_, runs)| !runs.is_empty()).collect()
    }
}

/// The public set from which a place's networks begin, if there is one; read once.
fn begins(
    known: &mut BTreeMap<String, Arc<Public>>,
    place: &GridCell<'_>,
    options: &RunOptions,
) -> Result<Option<Arc<Public>>, BenchError> {
    let Some(name) = &place.entry.public else { return Ok(None) };
    if let Some(public) = known.get(name) {
        return Ok(Some(public.clone()));
    }
    let public = Arc::new(Public::of(name, options)?);
    known.insert(name.clone(), public.clone());
    Ok(Some(public))
}

/// The rows under the clip of a place, read once.
fn clipped(
    tables: &mut Vec<(Clip, Rows)>,
    files: Option<&Files>,
    place: &GridCell<'_>,
) -> Result<Rows, BenchError> {
    let clip = match Clip::of(&place.cell.settings) {
        Clip::Schema => Clip::of(&place.entry.fixed),
        other => other,
    };
    if let Some((_, rows)) = tables.iter().find(|(known, _)| *known == clip) {
        return Ok(rows.clone());
    }
    // Ratings have only one form, and no key that would request another.
    let files =
        files.ok_or_else(|| BenchError::NoData { reasons: "ratings as they are".into() })?;
    let rows = Rows::Table(files.read(clip)?);
    tables.push((clip, rows.clone()));
    Ok(rows)
}
