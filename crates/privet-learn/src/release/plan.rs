//! Plan before data: from public facts to everything that decides the guarantee.

use crate::LearnError;
use crate::families::label_verbs;
use crate::release::allowance::scales;
use crate::release::note::{Condition, Note};
use crate::release::private_estimates;
use crate::release::request::{Calibration, Request};
use crate::release::rounding::nearly_equal;
use crate::release::run;
use crate::release::settings::PlanNumbers;
use crate::release::task::{FamilyPlan, Procedure, SumNoiseBound, Task, Work};
use crate::release::weight_noise::WeightNoise;
use privet_core::{Budget, Neighbours, Unit};
use privet_data::Schema;
use privet_data::matrix::Matrix;
use privet_data::schema::Origin;
use privet_dp::account::{self, Event, Filter, Guarantee};
use privet_dp::gate::{Arithmetic, LedgerEntry, Purse, Release, Spend, Statement};
use privet_dp::mechanism::joint::{all_charged, taken_of_delta};
use privet_dp::mechanism::shares::{NoiseMode, Participants, PartyChannel};
use privet_dp::noise::Source;
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use std::sync::Arc;

/// Everything that decides the guarantee, fixed before any record is read.
#[derive(Debug, Clone)]
pub struct Plan<T: Task> {
    pub(in crate::release) request: Request<T>,
    pub(in crate::release) facts: T::Facts,
    pub(in crate::release) work: Work<T>,
    pub(in crate::release) events: Option<Event>,
    /// The limit on events that are chosen adaptively, where they are not planned.
    pub(in crate::release) limit: Option<Filter>,
    pub(in crate::release) guarantee: Option<Guarantee>,
    pub(in crate::release) arithmetic: Arithmetic,
    pub(in crate::release) notes: Vec<Note>,
    /// The ledger entry that has already spent it, for a stream that keeps a journal of its own.
    pub(in crate::release) entered: Option<LedgerEntry>,
}

/// The note on a δ so large that it may be spent on giving a record away.
const LARGE_DELTA: Condition = Condition::new(
    "delta-above-one-in-rows",
    "delta is above 1 / rows: a mechanism that gives away a random record whole \
     could have it; take a delta far below that",
);

/// Relative tolerance between the scales that events state and those of the request: the same numbers,
/// rounded.
const SAME_SCALE: f64 = 1e-9;

/// Makes the plan: a pure function of the request.
pub fn plan<T: Task>(request: &Request<T>) -> Result<Plan<T>, LearnError> {
    let request = &match request.schema.is_open() {
        true => Request { schema: T::encoding(request), ..request.clone() },
        false => request.clone(),
    };
    if request.neighbours == Neighbours::ReplaceLabel && !T::LABELS {
        return Err(LearnError::NotCovered {
            what: format!(
                "protecting labels alone (replace-label) is offered by {}",
                label_verbs()
            ),
            instead: "give neighbours replace-one or add-remove, which protect whole records",
        });
    }
    check_spelling(request)?;
    request.check_prior_fits()?;
    request.among.map(|among| among.check()).transpose()?;
    let of_people = request.among.is_some() && request.schema.unit() != Unit::Record;
    if of_people && T::AT_ONE_PARTY.is_none() {
        return Err(LearnError::NotCovered {
            what: "one person's rows may lie at several parties, who cannot count them together"
                .into(),
            instead: "leave [unit] out of the schema: then each row is protected, at whichever party it is",
        });
    }
    let facts = T::facts(request)?;
    let noise = request.among.map(|among| among.noise).unwrap_or_default();
    let mut planned = match (noise, request.calibration, request.budget) {
        (NoiseMode::Joint, Calibration::Sound, Some(budget)) if !budget.is_pure() => {
            beside_joint_noise(request, &facts, budget)?
        }
        _ => T::plan(request, &facts)?,
    };
    private_estimates::check(request)?;
    // A guarantee under a schema that a program filled in names the source.
    planned.notes.extend(request.schema.origin().and_then(from_public_table));
    planned.notes.extend(who_is_one(&request.schema));
    planned.notes.extend(request.prior_fits_stated());
    let procedure = match &planned.work {
        Work::Private(procedure) => procedure.clone(),
        Work::Plain(_) if request.among.is_some() => {
            return Err(LearnError::NotCovered {
                what: "a method without privacy cannot be carried out among parties".into(),
                instead: T::AMONG_PARTIES,
            });
        }
        Work::Plain(_) => {
            return Ok(Plan {
                request: settle_request(request, planned.settled, None)?,
                facts,
                work: planned.work,
                events: None,
                limit: None,
                guarantee: None,
                arithmetic: planned.arithmetic,
                notes: planned.notes,
                entered: None,
            });
        }
    };
    procedure.check(&facts)?;
    if request.among.is_some() && !procedure.among_parties() {
        return Err(LearnError::NotCovered {
            what: format!("{} cannot be carried out among parties", planned.settled.summary()),
            instead: T::AMONG_PARTIES,
        });
    }
    let events = all_charged(procedure.event()?, noise);
    let budget = request.budget.ok_or_else(|| no_budget(request))?;
    let limit = procedure.limit();
    let guarantee = match &limit {
        None => claim(&events, &budget, request)?,
        Some(limit) => claim_within(limit, &budget, request)?,
    };
    let mut notes = planned.notes;
    notes.extend(private_estimates::total(&request.schema, &guarantee));
    if budget.delta() * request.rows as f64 > 1.0 {
        notes.push(LARGE_DELTA.into());
    }
    let among = request.among.map(|among| among_whom(among, &events, &budget));
    notes.extend(among);
    let otherwise = procedure.otherwise_among_parties().filter(|_| request.among.is_some());
    notes.extend(otherwise.map(Note::from));
    notes.extend(T::AT_ONE_PARTY.filter(|_| of_people).map(Note::from));
    Ok(Plan {
        request: settle_request(request, planned.settled, Some(&events))?,
        facts,
        work: planned.work,
        events: Some(events),
        limit,
        guarantee: Some(guarantee),
        arithmetic: planned.arithmetic,
        notes,
        entered: None,
    })
}

/// States who is one user where identifiers are not compared as text, and what the claim still covers.
fn who_is_one(schema: &Schema) -> Option<Note> {
    let spelling = schema.unit_column()?.spelling;
    spelling.merges().then(|| MERGED_IDENTIFIERS.with(&[("spelling", &spelling)]))
}

const MERGED_IDENTIFIERS: Condition = Condition::new(
    "merged-identifiers",
    "with [unit] spelling = \"{spelling}\" a user is whoever shares an identifier under it. Of several who share \
     one, the claim covers each by herself: that she leaves, comes, or has other records. One who takes her place \
     under another shared identifier changes two users",
);

/// States the public table from which a program filled in the schema. Quoted: it is the schema's word,
/// and must not pass for ours.
fn from_public_table(origin: &Origin) -> Option<Note> {
    let (public, digest) = (origin.public.as_ref()?, origin.sha256.as_ref()?);
    let public = privet_core::printable(public).replace('"', "'");
    Some(FROM_PUBLIC_TABLE.with(&[("public", &public), ("sha256", digest)]))
}

const FROM_PUBLIC_TABLE: Condition = Condition::new(
    "schema-from-public-table",
    "bounds and categories were filled in from a table marked public, which the schema calls \"{public}\" (SHA-256 \
     {sha256})",
);

/// Refuses identifiers that merge people where only one of a removal and an addition is charged: one
/// person's rows may do both to the kept rows of the unit that she shares ([`Spelling`]).
fn check_spelling<T: Task>(request: &Request<T>) -> Result<(), LearnError> {
    let spelling = request.schema.unit_column().map(|unit| unit.spelling).unwrap_or_default();
    if !spelling.merges() || request.neighbours.of_records() == Neighbours::ReplaceOne {
        return Ok(());
    }
    Err(LearnError::NotCovered {
        what: format!(
            "with [unit] spelling = \"{spelling}\" several people may share an identifier, and where one of them leaves, \
             rows of the others take the place of hers: {} charges for one of the two",
            request.neighbours
        ),
        instead: "give neighbours replace-one, which charges for both, or spelling = \"text\"",
    })
}

/// Upper bound on the attempts to plan within the δ that joint noise leaves.
const MOST_SETTLING_ATTEMPTS: u32 = 8;

/// The plan whose Gaussian events meet the δ that remains once their own joint noise is charged. That
/// charge depends on the number and length of their rounds, so the search repeats until a reserve
/// reproduces itself. A settled request does so at once.
fn beside_joint_noise<T: Task>(
    request: &Request<T>,
    facts: &T::Facts,
    budget: Budget,
) -> Result<FamilyPlan<T>, LearnError> {
    let mut reserved = 0.0;
    for _ in 0..MOST_SETTLING_ATTEMPTS {
        let left = Budget::new(budget.epsilon(), budget.delta() - reserved)?;
        let planned = T::plan(&Request { budget: Some(left), ..request.clone() }, facts)?;
        let Work::Private(procedure) = &planned.work else { return Ok(planned) };
        let events = all_charged(procedure.event()?, NoiseMode::Joint);
        let needed = taken_of_delta(&events, budget.epsilon());
        if needed == reserved {
            return Ok(planned);
        }
        // At most half of δ goes there: beyond, one draw saves less noise than the smaller δ costs.
        if needed > 0.5 * budget.delta() {
            return Err(LearnError::NotCovered {
                what: format!(
                    "noise that servers draw together takes {needed:.1e} of delta = {:e} for the rounds of this plan; at most \
                     half of it may go there",
                    budget.delta()
                ),
                instead: "give a larger delta, a method or settings of fewer rounds, or noise shares",
            });
        }
        reserved = needed;
    }
    Err(LearnError::NotCovered {
        what: "the number of rounds depends on what noise that servers draw together takes of delta, and does not settle"
            .into(),
        instead: "give the number of steps, or noise shares",
    })
}

/// The condition under which a claim among parties holds.
fn among_whom(among: Participants, events: &Event, budget: &Budget) -> Note {
    let Participants { parties, servers, honest, noise } = among;
    if noise == NoiseMode::Joint {
        let taken = format!("{:.1e}", taken_of_delta(events, budget.epsilon()));
        return AMONG_JOINT.with(&[
            ("parties", &parties),
            ("servers", &servers),
            ("taken", &taken),
        ]);
    }
    let (out, widening) = (servers - honest, format!("{:.3}", among.widening()));
    AMONG_SHARES.with(&[
        ("parties", &parties),
        ("servers", &servers),
        ("out", &out),
        ("honest", &honest),
        ("widening", &widening),
    ])
}

const AMONG_JOINT: Condition = Condition::new(
    "among-parties-joint-noise",
    "among {parties} parties and {servers} servers, who draw the noise together and once: it holds towards everyone \
     who sees the model, and towards any of the parties together with all but one of the servers, which must keep \
     its shares and random bits secret, as long as all servers follow the protocol while they draw. Of servers that \
     cheat in it nothing is promised: the secure computation (polytune 0.2.0-alpha.4, which nobody is known to have \
     audited) is meant to withstand them, and as published does not. It rests on what that takes to be hard to \
     compute; {taken} of delta is set aside for it",
);
const AMONG_SHARES: Condition = Condition::new(
    "among-parties",
    "among {parties} parties and {servers} servers: it holds towards everyone who sees the model, and towards any \
     of the parties together with at most {out} of the servers; {honest} must keep shares and noise secret. For that the \
     released noise is {widening} times as wide as what is charged",
);

pub(crate) fn no_budget<T: Task>(request: &Request<T>) -> LearnError {
    LearnError::NoBudget { what: request.task.summary() }
}

/// The request with every choice made, the scales of the noise included. Printed constants are no
/// choice.
fn settle_request<T: Task>(
    request: &Request<T>,
    task: T,
    events: Option<&Event>,
) -> Result<Request<T>, LearnError> {
    let needed = match (request.calibration, events) {
        (Calibration::Sound, Some(events)) => scales(events),
        _ => Vec::new(),
    };
    let noise = if request.noise.is_empty() {
        needed
    } else {
        let same = request.noise.len() == needed.len()
            && request.noise.iter().zip(&needed).all(|(a, b)| nearly_equal(*a, *b, SAME_SCALE));
        if !same {
            return Err(LearnError::NotCovered {
                what: "the noise that the request says is settled is not what its plan adds".into(),
                instead: "leave out the noise: it follows from the budget",
            });
        }
        request.noise.clone()
    };
    let task = match request.calibration {
        Calibration::Sound => task,
        Calibration::Printed => request.task.clone(),
    };
    Ok(Request { task, noise, ..request.clone() })
}

/// The claim of the certificate: for sound constants the budget, once the accountant confirms it; for
/// printed ones the bound that the accountant proves.
fn claim<T: Task>(
    events: &Event,
    budget: &Budget,
    request: &Request<T>,
) -> Result<Guarantee, LearnError> {
    let met = if budget.is_pure() {
        account::epsilon(events, 0.0)? <= budget.epsilon()
    } else {
        account::meets(events, *budget)?
    };
    match request.calibration {
        Calibration::Sound if met => {
            let (neighbours, unit) = account::relation(events)?;
            let (epsilon, delta) = (budget.epsilon(), budget.delta());
            Ok(Guarantee::new(neighbours, unit, epsilon, delta))
        }
        Calibration::Sound => Err(not_met(request)),
        Calibration::Printed => Ok(account::guarantee(events, budget.delta())?),
    }
}

/// The claim where events are chosen adaptively: the guarantee that their limit proves.
fn claim_within<T: Task>(
    limit: &Filter,
    budget: &Budget,
    request: &Request<T>,
) -> Result<Guarantee, LearnError> {
    match limit.delta(budget.epsilon())? <= budget.delta() {
        true => {
            let (epsilon, delta) = (budget.epsilon(), budget.delta());
            Ok(Guarantee::new(limit.neighbours, limit.unit, epsilon, delta))
        }
        false => Err(not_met(request)),
    }
}

fn not_met<T: Task>(request: &Request<T>) -> LearnError {
    match request.noise.is_empty() {
        false => LearnError::NotCovered {
            what: "the noise that the request says is settled does not prove its budget".into(),
            instead: "leave out the noise: it follows from the budget",
        },
        true => LearnError::NotCovered {
            what: "the accountant does not confirm the budget asked for".into(),
            instead: "this is a defect of the planner: please report it",
        },
    }
}

impl<T: Task> Plan<T> {
    /// The request, with every choice made.
    pub fn request(&self) -> &Request<T> {
        &self.request
    }

    /// The schema by which records are to be encoded for it: a plan may decide how, where the request's
    /// schema leaves it open. So the order is count, plan, encode.
    pub fn schema(&self) -> &Schema {
        &self.request.schema
    }

    /// The public facts.
    pub fn facts(&self) -> &T::Facts {
        &self.facts
    }

    /// The events that running it will execute; where they are chosen adaptively ([`Self::limit`]), one
    /// that costs as much.
    pub fn events(&self) -> Option<&Event> {
        self.events.as_ref()
    }

    /// The limit on events that are chosen adaptively; `None` where they are planned.
    pub fn limit(&self) -> Option<&Filter> {
        self.limit.as_ref()
    }

    /// The guarantee that the certificate will claim.
    pub fn guarantee(&self) -> Option<&Guarantee> {
        self.guarantee.as_ref()
    }

    /// With the claim of a certificate that is the plan's up to rounding, and the notes that state it.
    pub(in crate::release) fn claiming(mut self, claim: Guarantee) -> Self {
        let stating = private_estimates::total(&self.request.schema, &claim);
        if let Some(stating) = stating {
            let is_same = |note: &&mut Note| private_estimates::is_total(note);
            if let Some(note) = self.notes.iter_mut().find(is_same) {
                *note = stating;
            }
        }
        Self { guarantee: Some(claim), ..self }
    }

    /// The arithmetic for which the guarantee is proved.
    pub fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }

    /// The procedure, private or not.
    pub(crate) fn work(&self) -> &Work<T> {
        &self.work
    }

    /// With another procedure for the same work; the plan's events must cover its release as well.
    pub(crate) fn with_procedure(self, procedure: Arc<dyn Procedure<T>>) -> Self {
        Self { work: Work::Private(procedure), ..self }
    }

    /// Conditions and known gaps of the guarantee.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// With one more note in the caller's words, which the certificate will state: the origin of the
    /// public facts.
    pub fn noting(mut self, note: impl Into<String>) -> Self {
        self.notes.push(Note::expectation(note));
        self
    }

    /// With the rows of a public file, encoded by [`Self::schema`], for a plan whose request declares
    /// some. They are not protected.
    pub fn with_public(mut self, rows: &Matrix) -> Result<Self, LearnError> {
        let work = match &self.work {
            Work::Private(procedure) => {
                procedure.with_public(rows).map(|given| given.map(Work::Private))
            }
            Work::Plain(baseline) => baseline.with_public(rows).map(|given| given.map(Work::Plain)),
        };
        self.work = work.ok_or_else(|| LearnError::NotCovered {
            what: format!("{} has no use for public rows", self.request.task.summary()),
            instead: "leave them out, or give a method whose settings declare public rows",
        })??;
        Ok(self)
    }

    /// The settled request, as a certificate carries it.
    pub(crate) fn settled_json(&self) -> Result<serde_json::Value, LearnError> {
        serde_json::to_value(&self.request)
            .map_err(|_| LearnError::DataShape("the request cannot be written as JSON"))
    }

    /// The statement for the certificate.
    pub(crate) fn statement(&self, claim: Guarantee) -> Result<Statement, LearnError> {
        let notes = self.notes.iter().map(ToString::to_string).collect();
        let conditions = self.notes.iter().filter_map(Note::condition).cloned().collect();
        let arithmetic = self.arithmetic;
        Ok(Statement { claim, arithmetic, notes, conditions, request: self.settled_json()? })
    }

    /// The main numbers of the plan, for people.
    pub fn settings(&self) -> PlanNumbers {
        match &self.work {
            Work::Private(procedure) => procedure.settings(),
            Work::Plain(baseline) => baseline.settings(),
        }
    }

    /// True if parties release something else than one table would: the loss of a mean of models depends
    /// on how they differ.
    pub(crate) fn is_otherwise_among_parties(&self) -> bool {
        let otherwise = match &self.work {
            Work::Private(procedure) => procedure.otherwise_among_parties().is_some(),
            Work::Plain(_) => false,
        };
        self.request.among.is_some() && otherwise
    }

    /// Upper bound on the standard deviation of the noise in the release, in every direction; `None`
    /// where none is known.
    pub fn weight_noise(&self) -> Option<f64> {
        match &self.work {
            Work::Private(procedure) => procedure.weight_noise(&self.facts),
            Work::Plain(_) => Some(0.0),
        }
    }

    /// Upper bounds nⱼ on the standard deviation of the noise in this release, one per column: the noise
    /// in Σaⱼθⱼ has a variance of at most Σaⱼ²nⱼ².
    pub fn weight_noises(&self, found: &T::Artefact, columns: usize) -> Option<Vec<f64>> {
        let own = match &self.work {
            Work::Private(procedure) => procedure.weight_noises(&self.facts, found),
            Work::Plain(_) => None,
        };
        own.or_else(|| Some(vec![self.weight_noise()?; columns]))
    }

    /// Upper bounds on the standard deviation of the noise in weighted sums of this release's numbers, by
    /// their indices, where they share their noise; `None` where [`Self::weight_noises`] says it.
    pub fn sum_noise<'a>(&'a self, found: &'a T::Artefact) -> Option<SumNoiseBound<'a>> {
        match &self.work {
            Work::Private(procedure) => procedure.sum_noise(&self.facts, found),
            Work::Plain(_) => None,
        }
    }

    /// The distribution of the noise in each released weight; `None` where nothing is known.
    pub fn weight_laws(&self, found: &T::Artefact) -> Option<WeightNoise> {
        match &self.work {
            Work::Private(procedure) => procedure.weight_laws(&self.facts, found),
            Work::Plain(_) => None,
        }
    }

    /// Refuses a table that does not fit the plan, as running it does: for a caller that pays for a
    /// stream before it begins.
    pub fn admit(&self, table: &dyn Table) -> Result<(), LearnError> {
        T::admit(&self.facts, table)
    }

    /// Executes the plan on data.
    pub fn run(
        &self,
        table: &dyn Table,
        source: &mut dyn Source,
        monitor: &dyn Monitor,
    ) -> Result<Release<T::Artefact>, LearnError> {
        run::run(self, table, source, monitor, None, None)
    }

    /// Executes the plan and pays: everything is reserved with the purse once the data are admitted, if
    /// it was not before they were read ([`crate::order`]), and spent from the first draw on.
    pub fn run_with(
        &self,
        table: &dyn Table,
        source: &mut dyn Source,
        monitor: &dyn Monitor,
        purse: &mut dyn Purse,
    ) -> Result<Release<T::Artefact>, LearnError> {
        run::run(self, table, source, monitor, Some(purse), None)
    }

    /// Executes the plan as one of the parties of the request: `table` holds this party's rows, and
    /// `together` connects to the others.
    pub fn run_among(
        &self,
        table: &dyn Table,
        together: &dyn PartyChannel,
        source: &mut dyn Source,
        monitor: &dyn Monitor,
        purse: Option<&mut dyn Purse>,
    ) -> Result<Release<T::Artefact>, LearnError> {
        let Some(among) = self.request.among else {
            return Err(LearnError::NotCovered {
                what: "the plan is for one table, not for parties".into(),
                instead: "give the request the number of parties and servers",
            });
        };
        let part = run::PartOf::of(self.request.relation(), self.request.rows, table, together);
        run::run(self, &part, source, monitor, purse, Some((among, together)))
    }

    /// The spending of a run, for a ledger; refused where the plan has no price.
    pub fn spend(&self, source: &dyn Source) -> Result<Spend, LearnError> {
        run::payable(self, source.origin())?;
        self.spending().ok_or(LearnError::DataShape("the plan states no events"))
    }

    /// The spending of a session of it; `None` for a plan without privacy.
    pub(crate) fn spending(&self) -> Option<Spend> {
        match self.limit {
            Some(limit) => Some(Spend::Within(limit)),
            None => self.events.clone().map(Spend::Exactly),
        }
    }

    /// The ledger entry that has spent it before the run, if there is one.
    pub fn ledger_entry(&self) -> Option<&LedgerEntry> {
        self.entered.as_ref()
    }

    /// With the ledger entry that has spent the whole of it before the run, as for a stream: its
    /// certificates name the entry.
    pub fn entered_in(self, entered: LedgerEntry) -> Self {
        Self { entered: Some(entered), ..self }
    }
}
