//! `privet party init`: makes the plan that all agree on, and a folder for each member.

use crate::failure::Failure;
use crate::head::{FlagPresence, Head, head};
use crate::progress::Meter;
use crate::settings::{self, RequestFlags};
use crate::{output, say};
use clap::Args;
use privet_data::Schema;
use privet_dp::mechanism::shares::NoiseMode;
use privet_learn::ratings::Complete;
use privet_learn::statistics::count::Count;
use privet_learn::{Calibration, Method, Task, plan};
use privet_parties::authority::{self, Validity};
use privet_parties::{Agreement, Names};
use std::path::PathBuf;

/// Agree on a plan, and lay out a folder with keys for every party and server
#[derive(Args, Debug)]
#[command(
    long_about = "\
Makes the plan from public facts, and below FOLDER a folder for every party and server: its settings
(party.toml), the agreement, which is the same for all, a certificate and a secret key. Hand each folder to its
member by a way that nobody else can read, and delete yours: whoever has a member's key can stand in for it.
The key that signed the certificates is thrown away, so that nobody can be added later.

The noise: each of the K servers adds its own, and the privacy that is claimed holds as long as T of them
(--honest) neither tell what they know nor work together with whoever wants to find out. That makes the noise in
the model √(K/T) times as wide as if one trusted server had all tables; the plan takes that into account.

With --noise joint the 2 to 4 servers draw one noise together, in a secure computation, and none of them knows it: the
model carries a single draw, and one server that keeps to itself is enough, as long as all of them follow the
protocol: servers that cheat in the draw are not withstood. That takes a program of its own at every server (see
`privet party serve --help`), megabytes for every number and round, a little of delta, and trust in the computation,
which nobody is known to have audited.

With --ratings the schema is one of ratings, rows are people, and each person's ratings must all be held by one party.

One agreement is one run: it is spent, for every party, from its first round on.",
    after_help = "\
Examples:
  privet party init study --schema s.toml --epsilon 1 --party clinic=4000 --party hospital=9000 \\
      --server north=10.0.0.4:7001 --server south=10.0.1.4:7001
  privet party init wards --schema s.toml --epsilon 0.5 --delta 1e-6 --count-by ward \\
      --party clinic=4000 --party hospital=9000 --server a=10.0.0.4:7001 --server b=10.0.1.4:7001
  privet party init study --schema s.toml --epsilon 1 --delta 1e-6 --method ssp --loss squared --noise joint \\
      --party clinic=4000 --party hospital=9000 --server north=10.0.0.4:7001 --server south=10.0.1.4:7001"
)]
pub struct Init {
    /// Where to lay out the folders; made if it is not there
    folder: PathBuf,
    #[command(flatten)]
    head: Head<OfParties>,
    /// A party and how many rows it declares; several times
    #[arg(long = "party", value_name = "NAME=ROWS", value_parser = settings::assignment, required = true)]
    parties: Vec<(String, String)>,
    /// A server and where it is reached; at least two
    #[arg(long = "server", value_name = "NAME=HOST:PORT", value_parser = settings::assignment, required = true)]
    servers: Vec<(String, String)>,
    /// How many servers are trusted to keep what they know to themselves: at least 1, and fewer than
    /// there are
    #[arg(long, value_name = "T", default_value_t = 1)]
    honest: u32,
    #[arg(
        long, value_name = "MODE", default_value_t = NoiseMode::Shares,
        help = format!(
            "Who draws the noise: {} (every server its own, or all of them one together)", NoiseMode::ACCEPTED
        ),
    )]
    noise: NoiseMode,
    #[arg(
        long,
        value_name = "M",
        default_value = "auto",
        help = "Which learner: auto, gd, centred-gd or ssp, which ask for nothing but sums, or output, the mean of \
                everyone's own model"
    )]
    method: Method,
    /// Count the categories of this column instead of training
    #[arg(long, value_name = "COLUMN", conflicts_with = "method")]
    count_by: Option<String>,
    /// Complete ratings (by moments) instead; the schema is one of ratings, and rows are people
    #[arg(long, conflicts_with_all = ["method", "count_by", "loss"])]
    ratings: bool,
    #[command(flatten)]
    settings: RequestFlags,
    /// Seconds for which a round waits for whoever is missing, and a question for the whole of its answer
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    patience: u64,
    /// Days for which the certificates are valid
    #[arg(long, value_name = "DAYS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3650))]
    days: u32,
}

head! {
    OfParties {
        data: (FlagPresence::Never, ""),
        schema: (FlagPresence::Always, "The public schema of everyone's table (TOML)"),
        epsilon: (FlagPresence::Perhaps, ""),
        rows: (FlagPresence::Never, "rows", ""),
    }
}

impl Init {
    /// Refuses a request that cannot be planned; then writes.
    pub fn run(self) -> Result<(), Failure> {
        let schema = self.head.schema()?;
        output::room("FOLDER", &self.folder)?;
        let rows_of = |(name, rows): &(String, String)| match settings::rows(rows) {
            Ok(rows) => Ok((name.clone(), rows)),
            Err(why) => Err(Failure::input(format!("--party {name}={rows}: {why}"))),
        };
        let names = Names {
            parties: self.parties.iter().map(rows_of).collect::<Result<_, _>>()?,
            servers: self.servers.clone(),
        };
        names.check()?;
        let among = authority::among_with(&names, self.honest, self.noise)?;
        let total = names.parties.iter().try_fold(0_u64, |sum, (_, rows)| sum.checked_add(*rows));
        let rows = total.ok_or_else(|| Failure::input("--party: too many rows in all"))?;
        let meter = Meter::spinner("planning");
        let budget = || self.head.budget_for(rows);
        let neighbours = self.head.neighbours;
        let agreement = match &self.count_by {
            Some(by) => {
                let count = Count { by: by.clone(), times: None, law: None };
                let request = count.request(&schema, rows, neighbours)?;
                let request = request.with_budget(budget()?).shared_among(among);
                self.write_folders((&plan(&request)?, &schema), &names)?
            }
            None if self.ratings => {
                let request = Complete::default().request(schema.clone(), rows, neighbours);
                let request = request.with_budget(budget()?).shared_among(among);
                self.write_folders((&plan(&request)?, &schema), &names)?
            }
            None => {
                let (head, of) = (&self.head, (&schema, rows));
                let request = self.settings.request(head, of, &self.method, Calibration::Sound)?;
                self.write_folders((&plan(&request.shared_among(among))?, &schema), &names)?
            }
        };
        drop(meter);
        let folder = output::quote_for_shell(&self.folder);
        say!(
            "laid out {} folders below {folder}: hand each to its member, and delete yours",
            names.parties.len() + names.servers.len()
        );
        output::report(&format!("agreement {}\n", agreement.digest()))
    }

    fn write_folders<T: Task>(
        &self,
        (planned, schema): (&privet_learn::Plan<T>, &Schema),
        names: &Names,
    ) -> Result<Agreement, Failure> {
        super::print_cost(planned);
        let validity = Validity::days(self.days);
        Ok(authority::write_member_folders(
            &self.folder,
            (planned, schema),
            names,
            self.patience,
            validity,
        )?)
    }
}
