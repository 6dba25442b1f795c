//! Sessions: events are compared before noise is drawn, walks receive noisy answers alone, and a
//! suspended state is resumed once.

use privet_core::{Neighbours, Unit};
use privet_dp::account::{self, Event, Filter, filter::Law};
use privet_dp::gate::{
    Arithmetic, Certificate, GateError, Journal, Next, Private, Purse, PurseError, RunningWalk,
    Session, Spend, Statement, Suspended, Walk,
};
use privet_dp::mechanism::Gaussian;
use privet_dp::noise::{FixedSeed, SystemRandom};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::path::{Path, PathBuf};

fn gaussian(noise_scale: f64) -> Gaussian {
    Gaussian {
        neighbours: Neighbours::AddRemove,
        unit: Unit::Record,
        sensitivity: 1.0,
        noise_scale,
        coordinates: 1,
    }
}

fn up_to(count: u32) -> Event {
    Event::UpTo { count, event: Box::new(gaussian(4.0).event().unwrap()) }
}

/// Queries the same sum repeatedly, and releases each answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Counting {
    heard: Vec<f64>,
    most: usize,
}

impl Walk for Counting {
    type Start = usize;
    type Query = usize;
    type Answer = Vec<f64>;
    type Artefact = f64;

    fn begin(most: usize) -> Self {
        Self { heard: vec![], most }
    }

    fn next(&mut self, answer: Option<Vec<f64>>) -> Next<usize, f64> {
        match answer {
            Some(answer) => {
                self.heard.push(answer[0]);
                Next::Release(answer[0])
            }
            None if self.heard.len() < self.most => Next::Ask(self.heard.len()),
            None => Next::End,
        }
    }
}

fn step(
    session: &mut Session<'_>,
    walk: &mut RunningWalk<Counting>,
) -> Result<Option<f64>, GateError> {
    let noisy =
        session.walk(walk, |_, session| gaussian(4.0).run(Private::new(vec![100.0]), session))?;
    let Some(noisy) = noisy else { return Ok(None) };
    let claim = account::guarantee(&up_to(5), 1e-6)?;
    let release = session.emit(noisy, Statement::new(claim, Arithmetic::Finite, json!({})))?;
    Ok(Some(*release.value()))
}

#[test]
fn a_wrong_event_is_refused_before_its_noise_is_drawn() {
    let mut source = FixedSeed::new(1);
    let mut session = Session::start(up_to(5), &mut source);
    let refused = gaussian(3.9).run(Private::new(vec![1.0]), &mut session);
    assert_eq!(refused.err(), Some(GateError::NotAsPlanned));
    assert!(!session.has_spent(), "nothing was drawn");
    gaussian(4.0).run(Private::new(vec![1.0]), &mut session).unwrap();
    assert!(session.has_spent());
}

#[test]
fn at_most_what_was_planned_is_answered_and_fewer_settle() {
    let mut source = SystemRandom::new().unwrap();
    let mut session = Session::start_walking(up_to(2), json!(9), &mut source);
    let claim = account::guarantee(&up_to(2), 1e-6).unwrap();
    let mut walk = session.begin::<Counting>().unwrap();
    assert_eq!(session.begin::<Counting>().err(), Some(GateError::NotAsPlanned), "once");
    let mut ask = |session: &mut Session<'_>| {
        session.walk(&mut walk, |_, session| gaussian(4.0).run(Private::new(vec![7.0]), session))
    };
    let first = ask(&mut session).unwrap().unwrap();
    ask(&mut session).unwrap().unwrap();
    assert_eq!(ask(&mut session).err(), Some(GateError::NotAsPlanned));
    let release =
        session.settle(first, Statement::new(claim, Arithmetic::Finite, json!({}))).unwrap();
    assert_eq!(release.certificate().recheck().unwrap(), Some(claim));

    let mut source = SystemRandom::new().unwrap();
    let session = Session::start(up_to(2), &mut source);
    assert!(session.abort(Statement::new(claim, Arithmetic::Finite, json!({}))).unwrap().is_none());
    let mut source = SystemRandom::new().unwrap();
    let mut session = Session::start(up_to(2), &mut source);
    gaussian(4.0).run(Private::new(vec![7.0]), &mut session).unwrap();
    let spent =
        session.abort(Statement::new(claim, Arithmetic::Finite, json!({}))).unwrap().unwrap();
    assert_eq!(spent.recheck().unwrap(), Some(claim), "all of the plan is spent");
}

#[test]
fn a_filter_admits_what_fits_and_its_certificate_states_the_limit() {
    let filter = Filter {
        neighbours: Neighbours::AddRemove,
        unit: Unit::Record,
        limit: Law::Gaussian { mu: 0.5 },
        distance: 1e-20,
        leak: 0.0,
    };
    let claim = filter.guarantee(1e-6).unwrap();
    let mut source = SystemRandom::new().unwrap();
    let mut session =
        Session::open(Spend::Within(filter), &mut source, Box::leak(Box::new(()))).unwrap();
    // 3·(1/4)² = 0.1875, then 0.0625 are left: one more of σ = 5 fits, and no more of σ = 4.
    for _ in 0..3 {
        gaussian(4.0).run(Private::new(vec![1.0]), &mut session).unwrap();
    }
    let last = gaussian(5.0).run(Private::new(vec![1.0]), &mut session).unwrap();
    let refused = gaussian(4.0).run(Private::new(vec![1.0]), &mut session).err();
    assert_eq!(refused, Some(GateError::Account(account::AccountError::Exhausted)));
    let release =
        session.settle(last, Statement::new(claim, Arithmetic::Finite, json!({}))).unwrap();
    let certificate = release.certificate().clone();
    assert_eq!(certificate.recheck().unwrap(), Some(claim));
    assert_eq!(certificate.filter, Some(filter));

    // A limit that is edited, events that exceed it, or a smaller claim are found.
    let mut forged = certificate.clone();
    forged.filter = Some(Filter { limit: Law::Gaussian { mu: 0.4 }, ..filter });
    assert!(forged.recheck().is_err());
    let mut forged = certificate.clone();
    if let Some(guarantee) = &mut forged.guarantee {
        guarantee.epsilon *= 0.9;
    }
    assert!(forged.recheck().is_err());
}

/// The files on disk: the state and its journal.
struct Disk {
    state: PathBuf,
    journal: PathBuf,
}

impl Disk {
    fn new(folder: &Path) -> Self {
        Self { state: folder.join("state.json"), journal: folder.join("journal") }
    }

    fn keep(&self, state: &Suspended<Counting>) -> Result<(), PurseError> {
        let text = serde_json::to_vec(state).unwrap();
        let beside = self.state.with_extension("new");
        std::fs::write(&beside, text).unwrap();
        std::fs::rename(&beside, &self.state).unwrap();
        Ok(())
    }

    fn begin(&self) {
        let mut journal = Journal::create(&self.journal).unwrap();
        let mut source = SystemRandom::new().unwrap();
        let spend = Spend::Exactly(up_to(5));
        let mut session =
            Session::open_walking(spend, json!(9), &mut source, &mut journal).unwrap();
        let walk = session.begin::<Counting>().unwrap();
        self.keep(&session.suspend(walk, 0).unwrap()).unwrap();
    }

    /// One process: resumes the state, gets one answer, suspends it. `ends` is the number of its writes
    /// after which it is killed.
    fn go_on(&self, ends: Option<u32>) -> Result<Option<f64>, GateError> {
        let state: Suspended<Counting> =
            serde_json::from_slice(&std::fs::read(&self.state).unwrap()).unwrap();
        let mut journal = Dying { inner: Journal::open(&self.journal)?, left: ends };
        let mut left = ends;
        let mut source = SystemRandom::new().unwrap();
        let (mut session, mut walk) = state.resume(&mut source, &mut journal, |state| {
            Dying::write(&mut left)?;
            self.keep(state)
        })?;
        let answer = step(&mut session, &mut walk)?;
        let generation = self.generation();
        self.keep(&session.suspend(walk, generation)?)?;
        Ok(answer)
    }

    fn generation(&self) -> u64 {
        let state: Suspended<Counting> =
            serde_json::from_slice(&std::fs::read(&self.state).unwrap()).unwrap();
        state.generation()
    }

    fn draws(&self) -> u64 {
        Journal::open(&self.journal).unwrap().draws()
    }
}

/// A journal whose process is killed before one of its writes, or in the middle of it.
struct Dying {
    inner: Journal,
    left: Option<u32>,
}

impl Dying {
    fn write(left: &mut Option<u32>) -> Result<(), PurseError> {
        match left {
            Some(0) => Err(PurseError::NotKept("killed".into())),
            Some(writes) => {
                *writes -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl Purse for Dying {
    fn reserve(&mut self, spend: &Spend) -> Result<(), PurseError> {
        self.inner.reserve(spend)
    }
    fn drawn(&mut self, index: u64) -> Result<(), PurseError> {
        Self::write(&mut self.left)?;
        self.inner.drawn(index)
    }
    fn put_aside(&mut self, generation: u64, digest: &str) -> Result<(), PurseError> {
        Self::write(&mut self.left)?;
        self.inner.put_aside(generation, digest)
    }
    fn check_resumable(
        &self,
        spend: &Spend,
        generation: u64,
        draws: u64,
        digest: &str,
    ) -> Result<(), PurseError> {
        self.inner.check_resumable(spend, generation, draws, digest)
    }
    fn record_resumption(&mut self, generation: u64) -> Result<u64, PurseError> {
        Self::write(&mut self.left)?;
        self.inner.record_resumption(generation)
    }
    fn record_settlement(&mut self, certificate: &Certificate) -> Result<(), PurseError> {
        self.inner.record_settlement(certificate)
    }
    fn void(&mut self, reason: &'static str) -> Result<(), PurseError> {
        self.inner.void(reason)
    }
}

#[test]
fn a_session_is_taken_up_by_other_processes_until_its_budget_is_spent() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::new(folder.path());
    disk.begin();
    let answers: Vec<f64> = (0..5).map(|_| disk.go_on(None).unwrap().unwrap()).collect();
    assert!(answers.windows(2).all(|pair| pair[0] != pair[1]), "each answer has its own noise");
    assert_eq!(disk.go_on(None).err(), Some(GateError::NotAsPlanned));
    assert_eq!(disk.draws(), 5);
}

/// At whichever of its writes a process is killed, and however often, five draws are made at most, each
/// was committed before it was made, and the session can be resumed until they are spent.
#[test]
fn killed_at_every_write_it_goes_on_and_never_draws_more_than_planned() {
    for ends in 0..4 {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::new(folder.path());
        disk.begin();
        let mut answers = 0;
        for round in 0..12 {
            let killed = (round % 2 == 0).then_some(ends);
            let before = disk.draws();
            let outcome = disk.go_on(killed);
            answers += u32::from(matches!(outcome, Ok(Some(_))));
            assert!(disk.draws() <= 5);
            assert!(disk.draws() >= before);
        }
        assert!(answers >= 1, "killed after {ends} writes");
        assert!(u64::from(answers) <= disk.draws());
    }
}

#[test]
fn a_line_cut_short_announces_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::new(folder.path());
    disk.begin();
    disk.go_on(None).unwrap();
    let whole = std::fs::read(&disk.journal).unwrap();
    for cut in 1..=whole.len() {
        std::fs::write(&disk.journal, &whole[..cut]).unwrap();
        // It is read by its whole lines, or refused; never as more.
        if let Ok(journal) = Journal::open(&disk.journal) {
            assert!(journal.draws() <= 1, "cut at {cut}");
        }
    }
    std::fs::write(&disk.journal, b"privet-session-1\ndraw 3\n").unwrap();
    assert!(Journal::open(&disk.journal).is_err());
}

#[test]
fn a_copy_or_an_older_copy_is_refused_once_the_original_went_on() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::new(folder.path());
    disk.begin();
    let first = std::fs::read(&disk.state).unwrap();
    disk.go_on(None).unwrap();
    let newest = std::fs::read(&disk.state).unwrap();
    for (copy, older) in [(&first, true), (&newest, false)] {
        std::fs::write(&disk.state, copy).unwrap();
        let outcome = disk.go_on(None);
        if older {
            let refused = matches!(outcome, Err(GateError::Purse(PurseError::Stale { .. })));
            assert!(refused, "{outcome:?}");
            assert_eq!(std::fs::read(&disk.state).unwrap(), *copy, "a refusal changes nothing");
        } else {
            outcome.unwrap();
        }
    }
    // The newest was resumed: its copy is stale now.
    std::fs::write(&disk.state, &newest).unwrap();
    assert!(matches!(disk.go_on(None), Err(GateError::Purse(PurseError::Stale { .. }))));
    assert_eq!(disk.draws(), 2);
}

#[test]
fn a_state_of_another_session_and_a_second_holder_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::new(folder.path());
    disk.begin();
    let mut state: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&disk.state).unwrap()).unwrap();
    state["spend"] = serde_json::to_value(Spend::Exactly(up_to(50))).unwrap();
    std::fs::write(&disk.state, state.to_string()).unwrap();
    assert!(matches!(disk.go_on(None), Err(GateError::Purse(PurseError::Refused(_)))));

    let _held = Journal::open(&disk.journal).unwrap();
    assert!(matches!(Journal::open(&disk.journal), Err(PurseError::InUse(_))));
}

/// A walk of one session cannot continue in another, nor one without a start begin.
#[test]
fn a_walk_belongs_to_its_session() {
    let (mut one, mut two) = (FixedSeed::new(1), FixedSeed::new(2));
    let mut first = Session::start_walking(up_to(2), json!(3), &mut one);
    let mut second = Session::start(up_to(2), &mut two);
    let mut walk = first.begin::<Counting>().unwrap();
    let outcome =
        second.walk(&mut walk, |_, session| gaussian(4.0).run(Private::new(vec![7.0]), session));
    assert_eq!(outcome.err(), Some(GateError::Foreign));
    assert!(!second.has_spent());
    assert_eq!(second.begin::<Counting>().err(), Some(GateError::NotAsPlanned));
    let mut odd = Session::start_walking(up_to(2), json!("nine"), &mut two);
    assert_eq!(odd.begin::<Counting>().err(), Some(GateError::Malformed));
}
