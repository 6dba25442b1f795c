//! `privet demo`: all steps, with the commands shown as they are run.

use crate::cli::Cli;
use crate::failure::Failure;
use crate::usable::UsableModel;
use crate::verbs::evaluate::accuracy;
use crate::{census, output, say};
use clap::{Args, Parser};
use privet_core::Neighbours;
use privet_data::read::{Purpose, ReadOptions, read};
use privet_data::{Schema, Target};
use privet_dp::noise::FixedSeed;
use privet_learn::linear::model::Model;
use privet_learn::{Calibration, Erm, Method, Request, plan};
use privet_optim::loss::Loss;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

const TRAIN_ROWS: usize = 20_000;
const TEST_ROWS: usize = 5_000;

/// See it all once, on an invented census (a few seconds)
#[derive(Args, Debug)]
#[command(
    long_about = "\
Invents a census of 25,000 people, then plans, trains, evaluates and verifies a private model of who
earns much. Every command is shown before it is run, so that you can repeat and vary it. Leaves
train.csv, test.csv, schema.toml and model.json in DIR.",
    after_help = "Example:\n  privet demo --out demo"
)]
pub struct Demo {
    /// Folder for the files; made if need be
    #[arg(long, value_name = "DIR", default_value = "demo")]
    out: PathBuf,
    /// Overwrite files of those names that are there
    #[arg(long)]
    force: bool,
}

impl Demo {
    /// Generates the table, then runs the commands it shows.
    pub fn run(self) -> Result<(), Failure> {
        output::folder("--out", &self.out)?;
        let file = |name: &str| self.out.join(name);
        let (train, test) = (file("train.csv"), file("test.csv"));
        let (schema, model) = (file("schema.toml"), file("model.json"));
        let open = |path: &Path| output::open(path, self.force, &[]);
        let write = |path: &Path, text: &str| {
            open(path).and_then(|mut out| output::write(&mut out, path, text.as_bytes()))
        };
        // Checks all of them before the first is written.
        for path in [&train, &test, &schema, &model] {
            open(path)?;
        }
        say!("An invented census: {TRAIN_ROWS} people to learn from, {TEST_ROWS} to try it on.");
        write(&train, &census::table(TRAIN_ROWS, 2026))?;
        write(&test, &census::table(TEST_ROWS, 2027))?;
        write(&schema, census::SCHEMA)?;
        say!("Its schema, {}, holds all that may be known without looking.", schema.display());

        let [schema, train, test, model] = [&schema, &train, &test, &model].map(PathBuf::as_path);
        let plan = ["plan", "--schema", "@", "--rows", "20000", "--epsilon", "1"];
        show("What would a budget of ε = 1 buy? No record is read for this.", &plan, &[schema])?;
        show(
            "The same by every method that there is.",
            &[&plan[..], &["--method", "all"]].concat(),
            &[schema],
        )?;
        let mut words = vec!["train", "@", "--schema", "@", "--epsilon", "1", "--out", "@"];
        words.extend(self.force.then_some("--force"));
        step(
            "Train. The noise is fixed by the plan; the records decide only the result.",
            &words,
            &[train, schema, model],
        )?;
        show("How good is it on people it has not seen?", &["evaluate", "@", "@"], &[model, test])?;
        compare(train, schema, test)?;
        step("Anyone can check the certificate, without the data.", &["verify", "@"], &[model])?;
        say!("\nNow yours:  privet inspect {}", output::quote_for_shell(model));
        say!(
            "            privet predict {} {}",
            output::quote_for_shell(model),
            output::quote_for_shell(test)
        );
        say!("and your own table: docs/guide.md");
        Ok(())
    }
}

/// Measures the cost of the noise: trains the same model without noise, which is not written.
fn compare(train: &Path, schema: &Path, test: &Path) -> Result<(), Failure> {
    let schema = Schema::load(schema)?.linear();
    let learn = read(train, &schema, &ReadOptions::default())?;
    let request = Request {
        rows: learn.rows() as u64,
        schema: schema.clone(),
        budget: None,
        neighbours: Neighbours::ReplaceOne,
        calibration: Calibration::Sound,
        noise: vec![],
        among: None,
        prior_fits: vec![],
        task: Erm { loss: Loss::Logistic, method: Method::NonPrivate(Default::default()) },
    };
    let never = AtomicBool::new(false);
    let release = plan(&request)?.run(&learn, &mut FixedSeed::new(0), &never)?;
    let data =
        read(test, &schema, &ReadOptions { purpose: Purpose::Evaluate, ..ReadOptions::default() })?;
    let accuracy = accuracy(&UsableModel::Linear(Box::new(Model::from_release(release)?)), &data)?;
    say!(
        "(without any noise it would be {}; always saying \"low\": {})",
        output::number(accuracy),
        output::number(share_of_first(&data.target))
    );
    Ok(())
}

fn share_of_first(target: &Target) -> f64 {
    match target {
        Target::Class { codes, .. } => {
            codes.iter().filter(|code| **code == 0).count() as f64 / codes.len().max(1) as f64
        }
        Target::Number(_) => 0.0,
    }
}

/// As [`step`], for a command that only prints: skipped where only errors are printed.
fn show(why: &str, words: &[&str], paths: &[&Path]) -> Result<(), Failure> {
    if output::is_said("") { step(why, words, paths) } else { Ok(()) }
}

/// Shows a command line and runs it; each "@" stands for the next path.
fn step(why: &str, words: &[&str], paths: &[&Path]) -> Result<(), Failure> {
    let mut paths = paths.iter();
    let mut shown = String::from("$ privet");
    let mut line: Vec<std::ffi::OsString> = vec!["privet".into()];
    for word in words {
        let path = if *word == "@" { paths.next() } else { None };
        match path {
            Some(path) => {
                shown.push_str(&format!(" {}", output::quote_for_shell(path)));
                line.push(path.into());
            }
            None => {
                shown.push_str(&format!(" {word}"));
                line.push((*word).into());
            }
        }
    }
    say!("\n{why}\n{shown}");
    run(line)
}

fn run(line: Vec<std::ffi::OsString>) -> Result<(), Failure> {
    match Cli::try_parse_from(line) {
        Ok(cli) => cli.command.run(),
        Err(error) => Err(Failure::input(error.to_string())),
    }
}
