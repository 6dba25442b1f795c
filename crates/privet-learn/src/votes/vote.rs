//! The votes of black boxes: chunks, teachers, ballots, and an aggregator that names the majority
//! classes.
//!
//! **Theorem.** Whatever the teachers are, the release is (ε, δ)-private for the records that they learn
//! from.
//!
//! *Proof.* Fix the coins of the chunks. Between neighbours one chunk's rows differ ([`super::chunks`]),
//! so one teacher's ballot does, and each query's votes move by one from a class to another
//! ([`super::ballots`]); queries are public. The aggregator is private for such votes, for any coins;
//! the release is a mixture over coins, with the same weights under both. Teachers with coins of their
//! own are further mixtures. ∎
//!
//! - *One run for all queries* (Thakkar 2019, Algorithm 11 calls the oracle for each): all of them
//!   together spend the budget of one run; a run for each would spend as many times that.
//! - *Labels alone* (`replace-label`; Thakkar 2019, §5.5): neighbours differ in the labels of one unit,
//!   which are in one chunk. Then the rows voted on may be those of the records themselves: their
//!   features are public.
//! - Facts of private rows (an empty chunk, one class, fewer rows than teachers) are votes, never
//!   errors.

use super::aggregate::{Aggregate, NamedClasses, UnderWay};
use super::ballots::Ballots;
use super::choosing::ChosenRows;
use super::chunks::chunks;
use super::teacher::{Teach, TrainingData};
use super::{Labels, NO_LABEL, Teacher, Vote};
use crate::linear::facts::Facts;
use crate::release::admit;
use crate::release::ask::ask;
use crate::release::note::Condition;
use crate::release::settings::PlanNumbers;
use crate::release::task::Procedure;
use crate::release::watch::StepWatch;
use crate::{LearnError, Plan};
use privet_data::matrix::Matrix;
use privet_dp::account::Event;
use privet_dp::gate::{GateError, Next, Noisy, Session, Walk};
use privet_optim::solver::{Monitor, SolveError};
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Note on every certificate.
pub(super) const PUBLIC_ROWS_NOTE: Condition = Condition::new(
    "public-rows-unprotected",
    "the rows that were voted on were taken for public: nothing is promised to those in them",
);

/// Note on a certificate of label privacy.
pub(super) const LABELS_ALONE: Condition = Condition::new(
    "labels-alone",
    "labels alone are protected: which records there are, and everything else of \
     them, was taken for public",
);

/// Note on a certificate of teachers from outside.
pub(super) const OUTSIDE_TEACHERS_NOTE: Condition = Condition::new(
    "outside-teachers",
    "the teachers were programs of the holder's: it is assumed that each \
     learnt from its own part of the records alone, and that none met a limit of time, memory or disk \
     because of what the others did",
);

/// Upper limit on the number of entries of public rows.
const ENTRIES: usize = 400_000_000;

/// A plan; a vote once it has public rows.
#[derive(Debug, Clone)]
pub(crate) struct VotePlan {
    queries: u64,
    teachers: u32,
    classes: usize,
    columns: usize,
    stream: bool,
    /// Digest of the public rows, if the request states it.
    public: Option<String>,
    teach: Option<Arc<dyn Teach>>,
    aggregate: Arc<dyn Aggregate>,
    /// Public rows: those to be labelled, and all.
    rows: Option<[Matrix; 2]>,
    /// Number of public rows that are not to be labelled.
    beside: u64,
    /// Number of rounds of active choice, if rows are chosen.
    choose: Option<u32>,
}

/// State of a run: all votes, if rows are chosen among them, and the aggregator's state.
#[derive(Default)]
pub(super) struct RunState {
    votes: Option<Ballots>,
    under_way: UnderWay,
}

impl VotePlan {
    /// Voting of a settled task.
    pub fn new(task: &Vote, facts: &Facts, classes: usize, aggregate: Arc<dyn Aggregate>) -> Self {
        let teach: Option<Arc<dyn Teach>> = match &task.teacher {
            Teacher::Outside { .. } => None,
            built_in => Some(Arc::new(built_in.clone())),
        };
        Self {
            queries: task.queries,
            teachers: task.teachers.unwrap_or(1),
            classes,
            columns: facts.columns,
            stream: task.stream,
            public: task.public.clone(),
            teach,
            aggregate,
            rows: None,
            beside: task.beside,
            choose: task.choose,
        }
    }

    /// Returns the voting with its public rows: all of them or, for a stream, a batch.
    fn with_batch(&self, rows: &Matrix) -> Result<Self, LearnError> {
        let found = rows.rows() as u64;
        let planned = self.queries + self.beside;
        let fits = if self.stream { found <= planned } else { found == planned };
        if !fits {
            return Err(LearnError::NotCovered {
                what: format!("{found} public rows, where the plan is for {planned}"),
                instead: "give as many rows as the plan says, or a stream at most as many",
            });
        }
        if rows.columns() != self.columns {
            return Err(LearnError::DataShape(
                "the public rows have other columns than the records",
            ));
        }
        if self.public.as_ref().is_some_and(|stated| *stated != super::public::digest(rows)) {
            return Err(LearnError::NotCovered {
                what: "other public rows than the plan, which goes into the certificate, states"
                    .into(),
                instead: "give the rows that the plan was made for, in their order",
            });
        }
        if rows.rows().saturating_mul(rows.columns()) > ENTRIES {
            return Err(LearnError::NotCovered {
                what: format!("{found} public rows of {} encoded columns", rows.columns()),
                instead: "give fewer public rows: at most 400,000,000 entries are accepted",
            });
        }
        let asked = match (self.beside, self.choose) {
            // The rows to be labelled are not known yet: every teacher votes on all of them.
            (0, _) | (_, Some(_)) => rows.clone(),
            _ => rows.select(&(0..self.queries as usize).collect::<Vec<_>>()),
        };
        Ok(Self { rows: Some([asked, rows.clone()]), ..self.clone() })
    }

    /// Returns the teachers; an error if they are still missing.
    fn teacher(&self) -> Result<&Arc<dyn Teach>, LearnError> {
        self.teach.as_ref().ok_or_else(|| LearnError::InvalidRequest {
            name: "teachers",
            what: "are missing: the plan is for teachers from outside; hand them over before it is carried out".into(),
        })
    }

    /// Counts the votes on all rows. The counts are private: for the aggregator alone.
    fn ballots(
        &self,
        facts: &Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        watch: &StepWatch<'_>,
    ) -> Result<Ballots, LearnError> {
        let absent = || {
            LearnError::InvalidRequest {
            name: "public rows",
            what: "are missing: the plan is for labels of public rows; hand them over before it is carried out".into(),
        }
        };
        let [queries, public] = self.rows.as_ref().ok_or_else(absent)?;
        let teach = self.teacher()?;
        let data = admit::in_memory(table, "vote", "subsets of the rows")?;
        let chunks = chunks(facts, data, self.teachers, session);
        let training_data =
            TrainingData { data, chunks: &chunks, queries, public, classes: self.classes };
        let ballots = teach.ballots(&training_data, &|| watch.step());
        let ballots = ballots.ok_or(LearnError::Solve(SolveError::Stopped))?;
        // An implementation of `Teach` may return fewer ballots: the missing ones count as failed.
        let missing = chunks.len().saturating_sub(ballots.len());
        let taken = ballots.into_iter().take(chunks.len());
        let all: Vec<_> = taken.chain(std::iter::repeat_n(None, missing)).collect();
        Ok(Ballots::count(&all, queries.rows(), self.classes))
    }

    /// Answers one batch of a run.
    pub fn answer_batch(
        &self,
        batch: &Batch,
        polled: &mut RunState,
        (facts, table): (&Facts, &dyn Table),
        session: &mut Session<'_>,
        watch: &StepWatch<'_>,
    ) -> Result<Noisy<NamedClasses>, LearnError> {
        let all = match polled.votes.take() {
            Some(votes) => votes,
            None => self.ballots(facts, table, session, watch)?,
        };
        let asked = match &batch.places {
            None => all,
            Some(places) => {
                let of = |place: &u64| all.0.get(*place as usize).cloned();
                let asked = places.iter().map(of).collect::<Option<_>>();
                let asked = Ballots(asked.ok_or(GateError::Malformed)?);
                polled.votes = Some(all);
                asked
            }
        };
        self.aggregate.name(asked, batch.asked, &mut polled.under_way, session)
    }
}

/// A batch of queries: the number of earlier ones, and the indices of its rows if they were chosen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Batch {
    asked: u64,
    places: Option<Vec<u64>>,
}

/// The public walk: named classes alone, and public rows if it chooses among them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VoteWalk {
    /// Number of queries in all, m̃.
    pub queries: u64,
    /// True if there is a single batch.
    pub whole: bool,
    /// Number of queries made.
    pub asked: u64,
    /// Number of queries without an answer.
    pub unanswered: u64,
    /// State of the active choice of rows, if they are chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choosing: Option<ChosenRows>,
}

impl VoteWalk {
    pub fn of(task: &Vote) -> Self {
        let (queries, whole) = (task.queries, !task.stream);
        Self { queries, whole, asked: 0, unanswered: 0, choosing: None }
    }
}

fn class_codes(named: &[Option<u32>]) -> Vec<i32> {
    named.iter().map(|class| class.map_or(NO_LABEL, |class| class as i32)).collect()
}

impl Walk for VoteWalk {
    type Start = Self;
    type Query = Batch;
    type Answer = NamedClasses;
    type Artefact = Labels;

    fn begin(start: Self) -> Self {
        start
    }

    fn next(&mut self, answer: Option<NamedClasses>) -> Next<Batch, Labels> {
        if let Some(choosing) = &mut self.choosing {
            answer.into_iter().for_each(|named| choosing.hear(named.classes));
            let asked = choosing.queried_rows();
            return match choosing.next() {
                Some(places) => Next::Ask(Batch { asked, places: Some(places) }),
                None => {
                    let (places, named) = choosing.answers_so_far();
                    Next::Release(Labels {
                        first: 0,
                        labels: class_codes(&named),
                        cutoff: None,
                        places,
                    })
                }
            };
        }
        let Some(NamedClasses { classes: mut named, cutoff }) = answer else {
            return Next::Ask(Batch { asked: self.asked, places: None });
        };
        if self.whole {
            // No answer at all means no class for each.
            named.resize(self.queries as usize, None);
        }
        let labels = class_codes(&named);
        let first = self.asked;
        self.asked += labels.len() as u64;
        self.unanswered += named.iter().filter(|class| class.is_none()).count() as u64;
        Next::Release(Labels { first, labels, cutoff, places: Vec::new() })
    }
}

impl Procedure<Vote> for VotePlan {
    fn event(&self) -> Result<Event, LearnError> {
        self.aggregate.event()
    }

    fn settings(&self) -> PlanNumbers {
        let own = self.aggregate.settings();
        let shown = [("queries", self.queries as f64), ("teachers", f64::from(self.teachers))];
        PlanNumbers::of(own.iter().chain(shown))
    }

    fn refuses(&self, found: &Labels) -> Option<&'static str> {
        // A batch of a stream continues earlier ones: it has at most the whole stream's allowance.
        let cutoffs = self.aggregate.cutoffs();
        let known = match found.cutoff {
            Some(cutoff) => cutoffs.contains(&cutoff),
            None => cutoffs.is_empty(),
        };
        if !known {
            return Some("the number of unstable questions that ended it is none of those planned");
        }
        self.aggregate.refuses(&NamedClasses { classes: found.classes(), cutoff: found.cutoff })
    }

    fn walk(&self) -> Option<serde_json::Value> {
        let (queries, whole) = (self.queries, !self.stream);
        let rows = self.choose.zip(self.rows.as_ref());
        let choosing =
            rows.map(|(rounds, [_, all])| ChosenRows::of(all, rounds, queries, self.classes));
        serde_json::to_value(VoteWalk { queries, whole, asked: 0, unanswered: 0, choosing }).ok()
    }

    fn with_public(&self, rows: &Matrix) -> Option<Result<Arc<dyn Procedure<Vote>>, LearnError>> {
        Some(self.with_batch(rows).map(|voting| Arc::new(voting) as Arc<dyn Procedure<Vote>>))
    }

    fn run(
        &self,
        facts: &Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<Labels>, LearnError> {
        let watch = StepWatch::new(monitor);
        let mut polled = RunState::default();
        ask::<VoteWalk>(session, &watch, |batch, session| {
            self.answer_batch(batch, &mut polled, (facts, table), session, &watch)
        })
    }
}

/// Rebuilds the voting of a settled plan.
pub(super) fn voting(of: &Plan<Vote>) -> Result<VotePlan, LearnError> {
    let (request, facts) = (of.request(), of.facts());
    let budget = request.budget.ok_or_else(|| crate::release::plan::no_budget(request))?;
    let classes = super::classes(request)?;
    let wanted = super::PlanInput {
        facts,
        budget: crate::Allowance::new(budget, &request.noise),
        calibration: request.calibration,
        questions: request.task.queries,
        classes,
        teachers: request.task.teachers,
    };
    let decision = request.task.aggregator.plan(&wanted)?;
    Ok(VotePlan::new(&request.task, facts, classes, decision.aggregate))
}

/// Returns a voting with public rows, and with teachers if they are not built in.
pub(super) fn with_public_rows(
    of: &Plan<Vote>,
    rows: &Matrix,
    teach: Option<Arc<dyn Teach>>,
) -> Result<VotePlan, LearnError> {
    let mut voting = voting(of)?.with_batch(rows)?;
    if teach.is_some() && voting.teach.is_some() {
        return Err(LearnError::InvalidRequest {
            name: "teachers",
            what: format!(
                "from outside are given, where the plan, which goes into the certificate, is for {} \
                 teachers; leave them out, or make another plan",
                of.request().task.teacher.name()
            ),
        });
    }
    voting.teach = teach.or(voting.teach);
    voting.teacher()?;
    Ok(voting)
}

/// Adds to the plan the public rows to be voted on, encoded by its schema, and teachers if they are not
/// built in.
pub fn with_rows_and_teachers(
    of: Plan<Vote>,
    rows: &Matrix,
    teach: Option<Arc<dyn Teach>>,
) -> Result<Plan<Vote>, LearnError> {
    let asking = with_public_rows(&of, rows, teach)?;
    Ok(of.with_procedure(Arc::new(asking)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan;
    use privet_core::Neighbours;
    use privet_data::{Dataset, Schema, read};
    use privet_dp::noise::FixedSeed;
    use proptest::prelude::*;
    use std::sync::atomic::AtomicBool;

    const SCHEMA: &str = "bias = true\n[clip]\nnorm = \"l2\"\nradius = 1.0\n\
         [target]\ncolumn = \"y\"\nclasses = [\"a\", \"b\", \"c\"]\n\
         [[columns]]\nname = \"x\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n";

    fn table(rows: &[(f64, u32)]) -> Dataset {
        let line = |(x, y): &(f64, u32)| format!("{x},{}\n", ["a", "b", "c"][*y as usize]);
        let text = format!("x,y\n{}", rows.iter().map(line).collect::<String>());
        read::csv_bytes(text.as_bytes(), &Schema::from_toml(SCHEMA).unwrap()).unwrap()
    }

    fn counted(
        neighbours: Neighbours,
        (teacher, chosen): (&Teacher, bool),
        data: &Dataset,
        declared: u64,
    ) -> Ballots {
        let schema = Schema::from_toml(SCHEMA).unwrap();
        // With chosen rows, two of the three are labelled, and all are voted on.
        let task = match chosen {
            true => Vote {
                choose: Some(2),
                beside: 1,
                aggregator: "gnmax".parse().unwrap(),
                ..Vote::on(2)
            },
            false => Vote::on(3),
        };
        let task = Vote { teachers: Some(7), teacher: teacher.clone(), ..task };
        let request = task.request(&schema, declared, neighbours, (1.0, Some(1e-6))).unwrap();
        let planned = plan(&request).unwrap();
        let queries = table(&[(-0.5, 0), (0.1, 0), (0.9, 0)]).features;
        let voting = with_public_rows(&planned, &queries, None).unwrap();
        let mut source = FixedSeed::new(9);
        let mut session = Session::start(planned.events().unwrap().clone(), &mut source);
        let quiet = AtomicBool::new(false);
        voting.ballots(planned.facts(), data, &mut session, &StepWatch::new(&quiet)).unwrap()
    }

    /// The certificate names the teachers: a plan for built-in teachers takes no others, a plan for
    /// others requires them.
    #[test]
    fn teachers_are_those_of_the_plan() {
        let schema = Schema::from_toml(SCHEMA).unwrap();
        let queries = table(&[(-0.5, 0), (0.1, 0), (0.9, 0)]).features;
        let other: Arc<dyn Teach> = Arc::new(Teacher::by_name("nearest").unwrap());
        for (teacher, teach, name) in [
            (Teacher::by_name("tree").unwrap(), Some(other), "tree"),
            (Teacher::Outside { what: "a test".into() }, None, "missing"),
        ] {
            let task = Vote { teachers: Some(7), teacher, stream: true, ..Vote::on(3) };
            let request = task.request(&schema, 40, Neighbours::AddRemove, (1.0, Some(1e-6)));
            let planned = plan(&request.unwrap()).unwrap();
            let error = with_public_rows(&planned, &queries, teach).unwrap_err().to_string();
            assert!(error.contains("teachers") && error.contains(name), "{error}");
        }
    }

    /// A batch of a stream, too, has no answers after the number of unanswered queries that ends it.
    #[test]
    fn a_batch_with_answers_after_its_end_is_refused() {
        let schema = Schema::from_toml(SCHEMA).unwrap();
        let aggregator = super::super::Aggregator::default().with("cutoff", "2").unwrap();
        let task = Vote { teachers: Some(7), stream: true, aggregator, ..Vote::on(9) };
        let request = task.request(&schema, 40, Neighbours::AddRemove, (1.0, Some(1e-6)));
        let voting = voting(&plan(&request.unwrap()).unwrap()).unwrap();
        let refuses = |labels: &[i32]| {
            voting
                .refuses(&Labels {
                    first: 3,
                    labels: labels.to_vec(),
                    cutoff: None,
                    places: vec![],
                })
                .is_some()
        };
        assert!(refuses(&[1, -1, -1, 2]));
        assert!(!refuses(&[1, -1, 2, -1, -1]));
    }

    /// A null record is in a chunk for the coins alone: no teacher learns from it.
    #[test]
    fn null_records_are_no_lessons() {
        let schema = Schema::from_toml(SCHEMA).unwrap();
        let mut data = table(&[(0.1, 0), (0.2, 1), (0.3, 2), (0.4, 1)]);
        data.report.null_rows = vec![1, 3];
        let request = Vote::on(3).request(&schema, 4, Neighbours::ReplaceOne, (1.0, Some(1e-6)));
        let planned = plan(&request.unwrap()).unwrap();
        let mut source = FixedSeed::new(2);
        let mut session = Session::start(planned.events().unwrap().clone(), &mut source);
        let mut rows = chunks(planned.facts(), &data, 2, &mut session).concat();
        rows.sort_unstable();
        assert_eq!(rows, [0, 2]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        /// Under the same coins for the records that neighbours share, one record moves one vote of each
        /// query: exchanged for any other, or added at the end; for every learner.
        #[test]
        fn one_record_moves_one_vote(
            rows in proptest::collection::vec((-1.0..1.0_f64, 0_u32..3), 8..60),
            place: prop::sample::Index,
            other in (prop::sample::select(vec![-1.0, 0.0, 1.0, 0.3]), 0_u32..3),
            learner in 0_usize..6,
            chosen: bool,
        ) {
            let names = ["logistic", "tree", "forest", "nearest", "least-squares", "propagation"];
            let teacher = Teacher::by_name(names[learner]).unwrap();
            let one = table(&rows);
            let declared = rows.len() as u64;
            let mut changed = rows.clone();
            *place.get_mut(&mut changed) = other;
            let more = table(&[&rows[..], &[other]].concat());
            let pairs = [
                (Neighbours::ReplaceOne, table(&changed)),
                (Neighbours::AddRemove, table(&changed)),
                (Neighbours::AddRemove, more),
            ];
            for (neighbours, two) in pairs {
                let a = counted(neighbours, (&teacher, chosen), &one, declared);
                let b = counted(neighbours, (&teacher, chosen), &two, declared);
                prop_assert_eq!(a.0.len(), 3);
                for (a, b) in a.0.iter().zip(&b.0) {
                    let moved: u32 = a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).sum();
                    prop_assert!(moved <= 2 && a.iter().sum::<u32>() == 7, "{a:?} {b:?}");
                }
            }
        }
    }
}
