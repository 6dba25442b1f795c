//! Plan before data: from public facts to everything that decides the guarantee.

use crate::LearnError;
use crate::linear::Erm;
use crate::linear::certainty::WeightLaws;
use crate::release::allowance::scales;
use crate::release::bought;
use crate::release::note::Note;
use crate::release::request::{Calibration, Request};
use crate::release::rounding::near;
use crate::release::run;
use crate::release::settings::Shown;
use crate::release::task::{Planned, Task, Work};
use privet_core::{Budget, Neighbours, Unit};
use privet_data::Schema;
use privet_data::matrix::Matrix;
use privet_data::schema::Origin;
use privet_dp::account::{self, Event, Filter, Guarantee};
use privet_dp::gate::{Arithmetic, Entered, Purse, Release, Spend, Statement};
use privet_dp::mechanism::joint::{all_charged, taken_of_delta};
use privet_dp::mechanism::shares::{Among, NoiseMode, Together};
use privet_dp::noise::Source;
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;

/// Everything that decides the guarantee, fixed before any record is read.
#[derive(Debug, Clone)]
pub struct Plan<T: Task = Erm> {
    pub(crate) request: Request<T>,
    pub(crate) facts: T::Facts,
    pub(crate) work: Work<T>,
    pub(crate) events: Option<Event>,
    /// Within which events are chosen as it goes, where they are not planned.
    pub(crate) limit: Option<Filter>,
    pub(crate) guarantee: Option<Guarantee>,
    pub(crate) arithmetic: Arithmetic,
    pub(crate) notes: Vec<Note>,
    /// Where a ledger has spent it, for a stream that is carried out under a journal of its own.
    pub(crate) entered: Option<Entered>,
}

/// The note on a δ so large that it may be spent on giving a record away.
const LARGE_DELTA: &str = "delta is above 1 / rows: a mechanism that gives away a random record whole \
     could have it; take a delta far below that";

/// How far the scales that events state may be from those that a request says they are, in relation to
/// their size: they come of the same numbers, rounded.
const SAME_SCALE: f64 = 1e-9;

/// Makes the plan: a pure function of the request.
pub fn plan<T: Task>(request: &Request<T>) -> Result<Plan<T>, LearnError> {
    let request = &match request.schema.is_open() {
        true => Request { schema: T::encoding(request), ..request.clone() },
        false => request.clone(),
    };
    if request.neighbours == Neighbours::ReplaceLabel && !T::LABELS {
        return Err(LearnError::NotCovered {
            what: "protecting labels alone (replace-label) is offered for votes (`privet vote`)"
                .into(),
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
    bought::check(request)?;
    // Where a program filled the schema in, whoever relies on the guarantee should know from what.
    let origin = request.schema.origin().and_then(Origin::public_in_words);
    planned.notes.extend(origin.map(Note::from));
    planned.notes.extend(who_is_one(&request.schema).map(Note::from));
    planned.notes.extend(request.prior_fits_in_words().map(Note::from));
    let procedure = match &planned.work {
        Work::Private(procedure) => procedure.clone(),
        Work::Plain(_) if request.among.is_some() => {
            return Err(LearnError::NotCovered {
                what: "a method without privacy cannot be carried out among parties".into(),
                instead: "give a private method: auto, gd, centred-gd, ssp or output; of ratings moments",
            });
        }
        Work::Plain(_) => {
            return Ok(Plan {
                request: settled(request, planned.settled, None)?,
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
            instead: "give a delta above 0 and method auto, gd, centred-gd, ssp or output, of ratings moments, or \
                      count: they release nothing but sums under Gaussian noise",
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
    notes.extend(bought::total(&request.schema, &guarantee).map(Note::from));
    if budget.delta() * request.rows as f64 > 1.0 {
        notes.push(LARGE_DELTA.into());
    }
    let among = request.among.map(|among| among_whom(among, &events, &budget));
    notes.extend(among.map(Note::from));
    let otherwise = procedure.otherwise_among_parties().filter(|_| request.among.is_some());
    notes.extend(otherwise.map(Note::from));
    notes.extend(T::AT_ONE_PARTY.filter(|_| of_people).map(Note::from));
    Ok(Plan {
        request: settled(request, planned.settled, Some(&events))?,
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

/// Who is one user where identifiers are not told apart by their text, and what that leaves of the claim.
fn who_is_one(schema: &Schema) -> Option<String> {
    let spelling = schema.unit_column()?.spelling;
    spelling.merges().then(|| {
        format!(
            "with [unit] spelling = \"{spelling}\" a user is whoever shares an identifier under it. Of several who share \
             one, the claim covers each by herself: that she leaves, comes, or has other records. One who takes her place \
             under another shared identifier changes two users"
        )
    })
}

/// Refuses identifiers that merge people where only one of a removal and an addition is charged: one person's rows may do
/// both to the rows that are kept of the unit which she shares ([`Spelling`]).
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

/// How often a plan is made within what joint noise leaves of δ until it leaves that much.
const SETTLING: u32 = 8;

/// The plan whose Gaussian events meet the δ that is left once their own joint noise is charged: how much that is depends on
/// how many rounds of how many numbers they are, so it is looked for until one leads to itself. A settled request leads to
/// itself at once.
fn beside_joint_noise<T: Task>(
    request: &Request<T>,
    facts: &T::Facts,
    budget: Budget,
) -> Result<Planned<T>, LearnError> {
    let mut reserved = 0.0;
    for _ in 0..SETTLING {
        let left = Budget::new(budget.epsilon(), budget.delta() - reserved)?;
        let planned = T::plan(&Request { budget: Some(left), ..request.clone() }, facts)?;
        let Work::Private(procedure) = &planned.work else { return Ok(planned) };
        let events = all_charged(procedure.event()?, NoiseMode::Joint);
        let needed = taken_of_delta(&events, budget.epsilon());
        if needed == reserved {
            return Ok(planned);
        }
        // Half of δ may go to that: beyond, one draw saves less noise than the smaller δ costs.
        if needed > 0.5 * budget.delta() {
            return Err(LearnError::NotCovered {
                what: format!(
                    "noise that servers draw together takes {needed:.1e} of delta = {:e} for the rounds of this plan; at most \
                     half of it may go there",
                    budget.delta()
                ),
                instead: "give a larger delta, a method of fewer rounds (ssp, output, or steps), or noise shares",
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

/// Under which condition a claim among parties holds.
fn among_whom(among: Among, events: &Event, budget: &Budget) -> String {
    let Among { parties, servers, honest, noise } = among;
    if noise == NoiseMode::Joint {
        return format!(
            "among {parties} parties and {servers} servers, who draw the noise together and once: it holds towards everyone \
             who sees the model, and towards any of the parties together with all but one of the servers, which must keep \
             its shares and random bits secret, as long as all servers follow the protocol while they draw. Of servers that \
             cheat in it nothing is promised: the secure computation (polytune 0.2.0-alpha.4, which nobody is known to have \
             audited) is meant to withstand them, and as published does not. It rests on what that takes to be hard to \
             compute; {:.1e} of delta is set aside for it",
            taken_of_delta(events, budget.epsilon())
        );
    }
    let out = servers - honest;
    format!(
        "among {parties} parties and {servers} servers: it holds towards everyone who sees the model, and towards any \
         of the parties together with at most {out} of the servers; {honest} must keep shares and noise secret. For that the \
         released noise is {:.3} times as wide as what is charged",
        among.widening()
    )
}

pub(crate) fn no_budget<T: Task>(request: &Request<T>) -> LearnError {
    LearnError::NoBudget { what: request.task.summary() }
}

/// The request with every choice in it made, the scales of the noise included. Printed constants are no
/// choice.
fn settled<T: Task>(
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
            && request.noise.iter().zip(&needed).all(|(a, b)| near(*a, *b, SAME_SCALE));
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

/// What the certificate will state: for sound constants the budget, once the accountant confirms
/// it; for printed ones whatever the accountant proves.
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

/// The same where events are chosen as it goes: what their limit proves.
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
    /// What was asked for, with every choice made.
    pub fn request(&self) -> &Request<T> {
        &self.request
    }

    /// The schema by which records are to be encoded for it: a plan may decide how, where the schema that was
    /// asked with leaves it open. So the order is count, plan, encode.
    pub fn schema(&self) -> &Schema {
        &self.request.schema
    }

    /// The public facts.
    pub fn facts(&self) -> &T::Facts {
        &self.facts
    }

    /// The events that running it will execute; where they are chosen as it goes ([`Self::limit`]), one that costs as
    /// much.
    pub fn events(&self) -> Option<&Event> {
        self.events.as_ref()
    }

    /// The limit within which events are chosen as it goes; `None` where they are planned.
    pub fn limit(&self) -> Option<&Filter> {
        self.limit.as_ref()
    }

    /// What the certificate will claim.
    pub fn guarantee(&self) -> Option<&Guarantee> {
        self.guarantee.as_ref()
    }

    /// In which arithmetic.
    pub fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }

    /// Conditions and gaps.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// With one more condition in words, which the certificate will state: what the caller knows of how
    /// the public facts came about.
    pub fn noting(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into().into());
        self
    }

    /// With the rows of a public file, encoded by [`Self::schema`], that a plan which states some awaits. They are
    /// not protected.
    pub fn with_public(mut self, rows: &Matrix) -> Result<Self, LearnError> {
        let work = match &self.work {
            Work::Private(procedure) => {
                procedure.with_public(rows).map(|given| given.map(Work::Private))
            }
            Work::Plain(baseline) => baseline.with_public(rows).map(|given| given.map(Work::Plain)),
        };
        self.work = work.ok_or_else(|| LearnError::NotCovered {
            what: format!("{} has no use for public rows", self.request.task.summary()),
            instead: "leave them out, or give method dpsl-kt with public_rows and public_norm",
        })??;
        Ok(self)
    }

    /// The settled request, as a certificate carries it.
    pub(crate) fn written(&self) -> Result<serde_json::Value, LearnError> {
        serde_json::to_value(&self.request)
            .map_err(|_| LearnError::DataShape("the request cannot be written as JSON"))
    }

    /// What a certificate is to state.
    pub(crate) fn statement(&self, claim: Guarantee) -> Result<Statement, LearnError> {
        let notes = self.notes.iter().map(ToString::to_string).collect();
        let arithmetic = self.arithmetic;
        Ok(Statement { claim, arithmetic, notes, request: self.written()? })
    }

    /// The numbers a person wants to see.
    pub fn settings(&self) -> Shown {
        match &self.work {
            Work::Private(procedure) => procedure.settings(),
            Work::Plain(baseline) => baseline.settings(),
        }
    }

    /// Whether parties come to something else than one table would: what a mean of models loses depends on how they
    /// differ.
    pub(crate) fn is_otherwise_among_parties(&self) -> bool {
        let otherwise = match &self.work {
            Work::Private(procedure) => procedure.otherwise_among_parties().is_some(),
            Work::Plain(_) => false,
        };
        self.request.among.is_some() && otherwise
    }

    /// A bound on the standard deviation of what the noise of privacy adds to what is released, in every
    /// direction; `None` where none is known.
    pub fn weight_noise(&self) -> Option<f64> {
        match &self.work {
            Work::Private(procedure) => procedure.weight_noise(&self.facts),
            Work::Plain(_) => Some(0.0),
        }
    }

    /// The same for what was released, a bound nⱼ for each of so many columns: the noise in Σaⱼθⱼ has a variance of
    /// at most Σaⱼ²nⱼ².
    pub fn weight_noises(&self, found: &T::Artefact, columns: usize) -> Option<Vec<f64>> {
        let own = match &self.work {
            Work::Private(procedure) => procedure.weight_noises(&self.facts, found),
            Work::Plain(_) => None,
        };
        own.or_else(|| Some(vec![self.weight_noise()?; columns]))
    }

    /// The law of the noise in each released weight; `None` where nothing is known.
    pub fn weight_laws(&self, found: &T::Artefact) -> Option<WeightLaws> {
        match &self.work {
            Work::Private(procedure) => procedure.weight_laws(&self.facts, found),
            Work::Plain(_) => None,
        }
    }

    /// Refuses a table that it was not made for, as running it does: for whoever pays for a stream before it is begun.
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

    /// The same, paid for: everything is reserved with the purse before the data are looked at, and spent from the
    /// first draw on.
    pub fn run_with(
        &self,
        table: &dyn Table,
        source: &mut dyn Source,
        monitor: &dyn Monitor,
        purse: &mut dyn Purse,
    ) -> Result<Release<T::Artefact>, LearnError> {
        run::run(self, table, source, monitor, Some(purse), None)
    }

    /// The same as one of the parties of the request: `table` holds this one's rows, and `together` leads to the others.
    pub fn run_among(
        &self,
        table: &dyn Table,
        together: &dyn Together,
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

    /// What running it will spend, for whoever keeps account; refused where it has no price.
    pub fn spend(&self, source: &dyn Source) -> Result<Spend, LearnError> {
        run::payable(self, source)?;
        self.spending().ok_or(LearnError::DataShape("the plan states no events"))
    }

    /// What a session of it may spend; `None` where it spends nothing.
    pub(crate) fn spending(&self) -> Option<Spend> {
        match self.limit {
            Some(limit) => Some(Spend::Within(limit)),
            None => self.events.clone().map(Spend::Exactly),
        }
    }

    /// Where a ledger has spent it, if one did before it is carried out.
    pub fn entered(&self) -> Option<&Entered> {
        self.entered.as_ref()
    }

    /// Of which a ledger has spent the whole before it is carried out, as a stream is: its certificates say where.
    pub fn entered_in(self, entered: Entered) -> Self {
        Self { entered: Some(entered), ..self }
    }
}
