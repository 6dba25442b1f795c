//! `privet recommend`: predicts one user's ratings of items that she has not rated.

use crate::failure::Failure;
use crate::output::{self, number};
use crate::{say, sentences};
use clap::Args;
use privet_core::printable;
use privet_data::ratings::{self, OwnRatings, Rated};
use privet_learn::file::{self, Seal};
use privet_learn::ratings::{LocalState, joint};
use privet_learn::{Loaded, verify};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Recommend items to one user, from her own ratings and a model of `privet complete`
#[derive(Args, Debug)]
#[command(
    long_about = "\
Reads one user's own ratings and a model of `privet complete`, and lists the items that she has
not rated with the largest predicted ratings. Her ratings are read here and stay here: nothing of
them is written anywhere.

What is printed is made from her own ratings: it is for her eyes alone. The model's guarantee
covers what everyone else sees.",
    after_help = "\
Example:
  privet recommend films.json --user mine.csv --top 10
  # mine.csv: item,rating under that header, one a line"
)]
pub struct Recommend {
    /// The model file
    model: PathBuf,
    /// The user's own ratings: lines item,rating; a header is allowed
    #[arg(long, value_name = "FILE")]
    user: PathBuf,
    /// How many items
    #[arg(long, value_name = "K", default_value_t = 10)]
    top: usize,
    /// As JSON
    #[arg(long)]
    json: bool,
}

impl Recommend {
    /// Loads, reads, predicts, prints.
    pub fn run(self) -> Result<(), Failure> {
        let Loaded::Factors(released) = file::load_any(&self.model, Seal::Required)? else {
            return Err(Failure::input(format!(
                "{}: not a model of ratings; accepted is what `privet complete` wrote",
                self.model.display()
            )));
        };
        let schema = &released.request().schema;
        let rated = Rated::of(schema).map_err(|error| Failure::input(error.to_string()))?;
        let own = own_ratings(&self.user, &rated)?;
        let seen = own.items();
        let table = ratings::table(vec![own], &rated);
        let user = LocalState::of(&table.features, 0);
        // A user with more ratings than the cap has some left out: those items are not recommended
        // either.
        let wanted = self.top.saturating_add(seen.len());
        let (mut found, certificate) =
            joint::recommend_for_user(&released, user, wanted)?.into_parts();
        found.retain(|found| !seen.contains(&found.item));
        found.truncate(self.top);
        say!("made from this user's own ratings: for that user's eyes alone");
        // A claim is stated if it verifies.
        let guarantee = certificate.guarantee.filter(|_| verify(&released).valid);
        match &guarantee {
            Some(guarantee) => say!("towards everyone else: {}", sentences::guarantee(guarantee)),
            None => say!("the model's certificate proves nothing: rely on no guarantee"),
        }
        if self.json {
            let line = |found: &privet_learn::ratings::factors::Recommended| json!({ "item": rated.items[found.item], "rating": found.rating });
            let found: Vec<Value> = found.iter().map(line).collect();
            return output::print_json(&json!({ "recommended": found, "guarantee": guarantee }));
        }
        let mut rows = vec![vec!["item".to_string(), "predicted rating".into()]];
        for one in found {
            let item = printable(&rated.items[one.item]).into_owned();
            rows.push(vec![item, number((100.0 * one.rating).round() / 100.0)]);
        }
        output::print(&output::table(&rows))
    }
}

/// Reads lines `item,rating`.
fn own_ratings(path: &Path, rated: &Rated<'_>) -> Result<OwnRatings, Failure> {
    let bytes = privet_data::read::decompressed(path)?;
    let shown = path.display();
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::input(format!("{shown}: not text; a file in UTF-8 is accepted")))?;
    let places: HashMap<&str, usize> =
        rated.items.iter().enumerate().map(|(place, item)| (item.as_str(), place)).collect();
    let (mut own, mut seen) = (OwnRatings::default(), HashSet::new());
    for (place, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let refuse =
            |what: &str| Err(Failure::input(format!("{shown}, line {}: {what}", place + 1)));
        let Some((item, rating)) = line.rsplit_once(',') else {
            return refuse("accepted is item,rating");
        };
        let Ok(rating) = rating.trim().parse::<f64>() else {
            if place == 0 {
                continue;
            }
            return refuse("the rating is not a number");
        };
        if !(rated.low..=rated.high).contains(&rating) {
            let (low, high) = (number(rated.low), number(rated.high));
            return refuse(&format!("the rating is out of bounds; accepted is {low} to {high}"));
        }
        let Some(item) = places.get(item.trim()) else {
            return refuse("the item is not in the model's list of items");
        };
        if !seen.insert(*item) {
            return refuse("this item is rated twice; each item once is accepted");
        }
        own.and(*item, rating, rated);
    }
    Ok(own)
}
