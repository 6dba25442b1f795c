//! `privet keygen`: makes a signing key.

use crate::failure::Failure;
use crate::{output, say};
use clap::Args;
use privet_dp::gate::public_key;
use privet_dp::noise::{Source, SystemRandom};
use std::path::PathBuf;
use zeroize::Zeroizing;

/// Make a key with which your organisation vouches for its models
#[derive(Args, Debug)]
#[command(
    long_about = "\
Makes an ed25519 key. The secret goes into the file, readable by its owner alone; the public key is
printed, for those who verify your models.

A certificate proves itself, except that its holder really ran this program on the data. Signing
says: we did.",
    after_help = "\
Examples:
  privet keygen --out hospital.key
  privet train table.csv --schema s.toml --epsilon 1 --out model.json --sign hospital.key
  privet verify model.json --signer PUBLIC-KEY"
)]
pub struct Keygen {
    /// File for the secret key; must not exist yet
    #[arg(long, value_name = "KEYFILE")]
    out: PathBuf,
}

impl Keygen {
    /// Draws the key, writes it, prints the public key.
    pub fn run(self) -> Result<(), Failure> {
        let exists = || {
            Failure::input(format!(
                "--out {}: exists already; a key is never overwritten, give another name",
                self.out.display()
            ))
        };
        if self.out.is_file() {
            return Err(exists());
        }
        let mut out = output::open(&self.out, false, &[])?;
        if out.is_standard() {
            return Err(Failure::input(
                "--out -: standard output is for the public key; the name of a file is accepted",
            ));
        }
        let mut secret = Zeroizing::new([0_u8; 32]);
        SystemRandom::new()
            .map_err(|error| Failure::Environment(error.to_string()))?
            .fill_bytes(secret.as_mut_slice());
        let digits: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        let text = Zeroizing::new(format!("{digits}\n"));
        drop(Zeroizing::new(digits));
        output::write(&mut out, &self.out, text.as_bytes())?;
        say!(
            "secret key in {}{}: keep it; the public key is",
            self.out.display(),
            output::mode(out.file().is_some())
        );
        output::print(&format!("{}\n", public_key(&secret)))
    }
}
