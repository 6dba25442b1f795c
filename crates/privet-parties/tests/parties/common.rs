//! A small table divided among three parties, and two servers.

use privet_core::{Budget, Neighbours};
use privet_data::{Dataset, Schema, read};
use privet_dp::gate::PlannedDraws;
use privet_dp::noise::{FixedSeed, Source, SystemRandom};
use privet_learn::linear::model::Model;
use privet_learn::statistics::count::Count;
use privet_learn::{Erm, LearnError, Method, Plan, Released, Request, Task, plan};
use privet_optim::loss::Loss;
use privet_parties::{
    Agreement, InProcessServers, Names, PartiesError, Party, PartyRequest, ServerReply, Transport,
    authority,
};
use std::sync::atomic::AtomicBool;

pub const SCHEMA: &str = r#"
bias = true
[clip]
norm = "l2"
radius = 1.0
[target]
column = "y"
classes = ["no", "yes"]
[[columns]]
name = "a"
type = "number"
bounds = [-1, 1]
scale = "symmetric"
[[columns]]
name = "b"
type = "number"
bounds = [-1, 1]
scale = "symmetric"
"#;

/// The number of rows of each party.
pub const ROWS: [usize; 3] = [1500, 200, 2300];

pub fn schema() -> Schema {
    Schema::from_toml(SCHEMA).unwrap()
}

pub fn csv(rows: usize, seed: u64) -> String {
    let mut source = FixedSeed::new(seed);
    let mut uniform = || 2.0 * (source.below(1 << 40) as f64 / (1_u64 << 40) as f64) - 1.0;
    let mut text = String::from("a,b,y\n");
    for _ in 0..rows {
        let (a, b, e) = (uniform(), uniform(), uniform());
        let label = if 2.0 * a - b + 0.3 * e > 0.0 { "yes" } else { "no" };
        text.push_str(&format!("{a},{b},{label}\n"));
    }
    text
}

pub fn tables<T: Task>(planned: &Plan<T>) -> Vec<Dataset> {
    let table = |(seed, rows): (usize, &usize)| {
        read::csv_bytes(csv(*rows, seed as u64).as_bytes(), planned.schema()).unwrap()
    };
    ROWS.iter().enumerate().map(table).collect()
}

pub fn names(servers: u32) -> Names {
    let rows =
        |place: usize| (["clinic", "hospital", "ward"][place].to_string(), ROWS[place] as u64);
    let server = |place: u32| (format!("server-{place}"), format!("127.0.0.1:{}", 7001 + place));
    Names { parties: (0..3).map(rows).collect(), servers: (0..servers).map(server).collect() }
}

pub fn request(method: &str, loss: Loss, names: &Names, honest: u32) -> Request {
    let task = Erm { loss, method: method.parse::<Method>().unwrap() };
    let rows = ROWS.iter().sum::<usize>() as u64;
    Request::new(schema(), rows, Neighbours::ReplaceOne, task)
        .with_budget(Budget::new(2.0, 1e-6).unwrap())
        .shared_among(authority::count_members(names, honest).unwrap())
}

/// Agreement for a short run of gd among three parties and two servers, without certificates.
pub fn agreed(patience: u64) -> (Plan, Agreement) {
    let names = names(2);
    let request = request("gd", Loss::Logistic, &names, 1).with("steps", "3").unwrap();
    let planned = plan(&request).unwrap();
    let agreement =
        authority::without_certificates((&planned, &schema()), &names, patience).unwrap();
    (planned, agreement)
}

/// Receives a row.
type Each<'a> = &'a mut dyn FnMut(&[u8]);

/// Passes the rows of a party's table to its folder, which recognises the table by them.
pub fn rows(table: &str) -> impl FnOnce(Each<'_>) -> Result<(), PartiesError> + use<'_> {
    move |each| {
        table.lines().for_each(|line| each(line.as_bytes()));
        Ok(())
    }
}

/// Runs one party.
pub fn take_part<T: Task, L: Transport>(
    planned: &Plan<T>,
    table: &Dataset,
    party: &Party<L>,
) -> Result<Released<T>, LearnError> {
    let mut source = SystemRandom::new().unwrap();
    let release = planned.run_among(table, party, &mut source, &AtomicBool::new(false), None)?;
    party.finish();
    Released::from_release(release)
}

/// Runs all parties, each in a thread, with servers in this process.
pub fn all_together<T: Task>(planned: &Plan<T>, agreement: &Agreement) -> Vec<Released<T>> {
    all_with(planned, agreement, &tables(planned))
}

/// Runs all parties with these tables.
pub fn all_with<T: Task>(
    planned: &Plan<T>,
    agreement: &Agreement,
    tables: &[Dataset],
) -> Vec<Released<T>> {
    let room = InProcessServers::new(agreement).unwrap();
    let released = std::thread::scope(|scope| {
        let runs: Vec<_> = tables
            .iter()
            .enumerate()
            .map(|(place, table)| {
                let room = room.clone();
                scope.spawn(move || {
                    let name = &agreement.parties[place].name;
                    let party =
                        Party::new(agreement.clone(), name, SCHEMA, room.line(place)).unwrap();
                    party.join().unwrap();
                    take_part(planned, table, &party).unwrap()
                })
            })
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert!(room.servers().iter().all(|server| server.is_over() && server.end_reason().is_none()));
    released
}

/// Share of rows predicted right.
pub fn accuracy(model: &Model, table: &Dataset) -> f64 {
    let weights = &model.artefact().weights[0];
    let centre = model.artefact().centre.clone().unwrap_or_else(|| vec![0.0; weights.len()]);
    let privet_data::Target::Class { codes, .. } = &table.target else { panic!("no classes") };
    let right = (0..table.rows()).filter(|row| {
        let features = table.features.dense_row(*row);
        let score: f64 = features
            .iter()
            .zip(weights.iter().zip(&centre))
            .map(|(x, (w, m))| (f64::from(*x) - m) * w)
            .sum();
        (score > 0.0) == (codes[*row] == 1)
    });
    right.count() as f64 / table.rows() as f64
}

/// True if the release's file passes verification.
pub fn verified<T: Task>(released: &Released<T>) -> bool {
    let text = privet_learn::file::to_json(released, None).unwrap();
    let read =
        privet_learn::file::any_from_json(text.as_bytes(), privet_learn::file::Seal::Required);
    read.unwrap().verify().valid
}

/// Counts by class among three parties: one round, which is the last.
pub fn counting(names: &Names) -> Plan<Count> {
    let count = Count { by: "y".into(), times: None, law: None };
    let rows = ROWS.iter().sum::<usize>() as u64;
    let request = count.request(&schema(), rows, Neighbours::ReplaceOne).unwrap();
    let request = request.with_budget(Budget::new(1.0, 1e-6).unwrap());
    plan(&request.shared_among(authority::count_members(names, 1).unwrap())).unwrap()
}

/// SHA-256 of the first round's charge, as parties state it.
pub fn first_leaf(agreement: &Agreement) -> String {
    privet_parties::leaf(PlannedDraws::of(&agreement.events().unwrap()).next().unwrap())
}

/// A transport implemented by a function.
pub struct Through<F>(pub F);

impl<F> Transport for Through<F>
where
    F: FnMut(usize, &PartyRequest, &[u128]) -> Result<(ServerReply, Vec<u128>), PartiesError>
        + Send,
{
    fn ask(
        &mut self,
        server: usize,
        ask: &PartyRequest,
        body: &[u128],
    ) -> Result<(ServerReply, Vec<u128>), PartiesError> {
        (self.0)(server, ask, body)
    }
}
