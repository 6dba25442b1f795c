//! `privet party join` and `privet party status`: checks before and during a run.

use super::{Member, print_cost};
use crate::failure::Failure;
use crate::output;
use clap::Args;
use privet_data::Schema;
use privet_dp::gate::canonical;
use privet_learn::Erm;
use privet_learn::ratings::Complete;
use privet_learn::statistics::count::Count;
use privet_parties::tls::Connections;
use privet_parties::{Family, Folder, Party};
use std::path::{Path, PathBuf};

/// Check with every server that all agree: plan, schema and clock
#[derive(Args, Debug)]
#[command(
    long_about = "\
Greets every server of the agreement. Refused if a server holds another agreement, if the schemas of two parties
differ, if clocks are apart, if a certificate has expired, or if a party of this name has joined from
another folder. Says what taking part will spend, and under which conditions that holds. No record is read, and
nothing is spent. `privet party train` does the same first.",
    after_help = "Examples:\n  privet party join study/clinic --schema s.toml"
)]
pub struct Join {
    #[command(flatten)]
    member: Member,
    /// Your own copy of the schema, to be compared with everyone's [default: that of the agreement]
    #[arg(long, value_name = "SCHEMA")]
    schema: Option<PathBuf>,
}

impl Join {
    /// Checks with every server, and reports.
    pub fn run(self) -> Result<(), Failure> {
        let folder = self.member.open()?;
        match folder.agreement().family() {
            Family::Model => print_cost(&folder.agreement().plan::<Erm>()?),
            Family::Counts => print_cost(&folder.agreement().plan::<Count>()?),
            Family::Ratings => print_cost(&folder.agreement().plan::<Complete>()?),
        }
        let own = own_schema(&folder, self.schema.as_deref())?;
        let party = folder.party(&own, Connections::new(&folder)?)?;
        agree(&party, &own)?;
        let names: Vec<_> =
            party.agreement().servers.iter().map(|server| server.name.as_str()).collect();
        output::report(&format!(
            "{} and {} agree: {}\n",
            party.holder().name,
            names.join(", "),
            party.agreement().digest()
        ))
    }
}

/// The schema that a party compares with everyone's, in canonical JSON.
pub fn own_schema(folder: &Folder, schema: Option<&Path>) -> Result<String, Failure> {
    let own = match schema {
        None => folder.agreement().schema.clone(),
        Some(path) => serde_json::to_value(Schema::load(path)?)
            .map_err(|error| Failure::input(error.to_string()))?,
    };
    canonical(&own).map_err(|error| Failure::input(error.to_string()))
}

/// Joins every server; refuses a party whose schema is not the agreed one.
pub fn agree(party: &Party<Connections>, own: &str) -> Result<(), Failure> {
    party.join()?;
    let agreed = canonical(&party.agreement().schema);
    if agreed.map_err(|error| Failure::input(error.to_string()))? != own {
        return Err(Failure::input(format!(
            "the schema of {} is not that of the agreement: columns, bounds, categories and target must be the same",
            party.holder().name
        )));
    }
    Ok(())
}

/// How far a run is, and who is waited for
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  privet party status study/clinic")]
pub struct Status {
    #[command(flatten)]
    member: Member,
    /// As JSON
    #[arg(long)]
    json: bool,
}

impl Status {
    /// Queries every server.
    pub fn run(self) -> Result<(), Failure> {
        let folder = self.member.open()?;
        let party = folder.onlooker(Connections::new(&folder)?)?;
        let found = party.standing();
        if self.json {
            let each = found.iter().map(|(name, standing)| match standing {
                Ok(standing) => serde_json::json!({ "server": name, "standing": standing }),
                Err(error) => {
                    serde_json::json!({ "server": name, "unreachable": error.to_string() })
                }
            });
            return output::print_json(&serde_json::Value::Array(each.collect()));
        }
        let mut text = String::new();
        for (name, standing) in &found {
            text.push_str(&match standing {
                Err(error) => format!("{name}: {error}\n"),
                Ok(standing) => {
                    let mut line = format!("{name}: {} rounds opened", standing.opened);
                    if standing.complete {
                        line.push_str(", which is all");
                    }
                    if let Some((done, of)) = standing.drawing {
                        line.push_str(&format!("; servers have drawn the noise of {done} of {of}"));
                    }
                    line.push_str(&format!("; joined: {}", join_names(&standing.joined)));
                    if !standing.missing.is_empty() {
                        line.push_str(&format!("; waiting for {}", join_names(&standing.missing)));
                    }
                    if let Some(why) = &standing.ended {
                        line.push_str(&format!("; ended: {why}"));
                    }
                    line + "\n"
                }
            });
        }
        output::print(&text)
    }
}

fn join_names(names: &[String]) -> String {
    if names.is_empty() { "nobody".into() } else { names.join(", ") }
}
