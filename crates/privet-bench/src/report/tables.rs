//! The tables of a suite that stand beside its plots: all numbers, certified ε, refusals, costs.

use super::aggregate::{Group, Series, Summary, ascending, grouped, same_epsilon};
use super::compare::{heading, score};
use super::document::{Cell, Rows, Table, Tone};
use super::formatting::{Measure, bytes, fixed, thousands, three_digits};
use crate::line::Refused;
use crate::suite::Peer;
use privet_learn::Calibration;

/// Every plotted mean; those without privacy stand under the largest ε.
pub fn numbers(group: &Group) -> Rows<(&str, String, &[Summary])> {
    let series = group.series.iter().map(|series| {
        let constants = constants(&series.method, series.calibration);
        (series.entry.as_str(), constants, series.points.as_slice())
    });
    let plain = group.plain.iter().map(|plain| {
        (plain.cell.entry.as_str(), "not private".to_string(), std::slice::from_ref(plain))
    });
    let caption =
        format!("All numbers of {}: {} by ε", group.dataset, Measure(&group.measure).axis());
    let mut table = Table::of(caption, series.chain(plain))
        .text_column("entry", |(entry, ..)| *entry)
        .text_column("constants", |(_, constants, _)| constants.clone());
    let epsilons = group.epsilons();
    for epsilon in &epsilons {
        let here = |point: &&Summary| {
            let at = point.cell.epsilon.or(epsilons.last().copied());
            same_epsilon(at, Some(*epsilon))
        };
        table = table.numbers(three_digits(*epsilon), |(.., points)| {
            points.iter().find(here).map(score).unwrap_or_default()
        });
    }
    table
}

/// The constants of a learner.
fn constants(method: &str, calibration: Calibration) -> String {
    match Peer::by_name(method) {
        Some(_) => "the peer's own".into(),
        None => calibration.to_string(),
    }
}

/// The ε that certificates prove for printed constants, beside the ε claimed by the papers.
pub fn certified(group: &Group) -> Rows<&Series> {
    let printed = |series: &&Series| series.calibration == Calibration::Printed;
    let mut table = Table::of(
        "Certified ε of printed constants, by the ε that is claimed (marked where the claim is not proved)",
        group.series.iter().filter(printed),
    )
    .text_column("entry", |series| series.entry.as_str());
    for epsilon in group.epsilons() {
        table = table.numbers(format!("claimed {}", three_digits(epsilon)), |series| {
            let told = |point: &Summary| {
                let tone = if point.exceeds_claim() { Tone::Warning } else { Tone::Plain };
                Cell::new(point.certified.map_or_else(|| "none".into(), three_digits), tone)
            };
            series.at(Some(epsilon)).map(told).unwrap_or_default()
        });
    }
    table
}

/// Refusals of learners, with their messages.
pub fn refusals(group: &Group) -> Rows<Vec<&Refused>> {
    let alike = grouped(&group.refused, |one| {
        (one.cell.entry.clone(), one.cell.calibration.to_string(), one.reason.clone())
    });
    let alike = alike.into_iter().map(|(_, cells)| cells);
    Table::of(format!("Refused on {}: {} cells", group.dataset, group.refused.len()), alike)
        .text_column("entry", |cells| cells[0].cell.entry.as_str())
        .text_column("constants", |cells| {
            constants(&cells[0].cell.method, cells[0].cell.calibration)
        })
        .text_column("ε", |cells| {
            let epsilons = ascending(cells.iter().filter_map(|one| one.cell.epsilon));
            epsilons.into_iter().map(three_digits).collect::<Vec<_>>().join(", ")
        })
        .numbers("cells", |cells| cells.len().to_string())
        .text_column("reason", |cells| cells[0].reason.as_str())
}

/// The number of queries that voters answered, beside the guarantee of a theorem.
pub fn answered_table(groups: &[Group]) -> Rows<(&Group, &Summary)> {
    let asked = groups.iter().flat_map(|group| group.points().map(move |point| (group, point)));
    let bound = |summary: &Summary| summary.questions.map(|questions| questions.bound);
    Table::of(
        "Questions to teachers, and how many were answered; εn/V, V the numbers of a linear classifier, is what answers \
         are promised up to where teachers can be right about everything, but for logarithms and constants \
         (Thakkar 2019, Theorem 12)",
        asked.filter(|(_, point)| point.answered.is_some()),
    )
    .text_column("data set", |(group, _)| heading(group, groups))
    .text_column("entry", |(_, point)| point.cell.entry.as_str())
    .numbers("ε", |(_, point)| point.cell.epsilon.map(three_digits).unwrap_or_default())
    .numbers("asked", |(_, point)| point.questions.map(|one| thousands(one.asked)).unwrap_or_default())
    .numbers("answered", |(_, point)| match point.answered {
        Some((mean, Some(error))) => format!("{} ± {}", fixed(mean, 1), fixed(error, 1)),
        Some((mean, None)) => fixed(mean, 0),
        None => String::new(),
    })
    .numbers("εn/V", |(_, point)| bound(point).map(|bound| fixed(bound, 0)).unwrap_or_default())
    .text_column("planned", |(_, point)| {
        point.chosen.keys().cloned().collect::<Vec<_>>().join("; ")
    })
    .numbers("accuracy", |(_, point)| score(point))
}

/// Seconds of training by data set and entry, and the largest memory.
pub fn costs(groups: &[Group]) -> Rows<(&Group, &Summary)> {
    let measured = groups.iter().filter_map(|group| Some((group, group.any()?)));
    let mut table = Table::of(
        "Mean seconds of training (planning apart; all ε, the points that count), and the largest peak \
         memory of the process",
        measured,
    )
    .text_column("data set", |(group, _)| heading(group, groups))
    .numbers("records", |(_, any)| thousands(any.rows))
    .numbers("columns", |(_, any)| thousands(any.columns));
    for wanted in [Calibration::Sound, Calibration::Printed] {
        let series = groups.iter().flat_map(|group| &group.series);
        let of = series.filter(|series| series.calibration == wanted);
        for (name, _) in grouped(of, |series| series.entry.clone()) {
            let printed = if wanted == Calibration::Printed { ", printed" } else { "" };
            table = table.numbers(format!("{name}{printed}"), |(group, _)| {
                let mut series = group.series.iter();
                let found = series.find(|one| one.entry == name && one.calibration == wanted);
                found.map(|series| mean_seconds(&series.points)).unwrap_or_default()
            });
        }
    }
    table.numbers("without privacy", |(group, _)| mean_seconds(&group.plain)).numbers(
        "memory",
        |(group, _)| {
            let memory = group.points().filter_map(|point| point.peak_memory).max();
            memory.map_or_else(|| fixed(f64::NAN, 0), |memory| bytes(memory as f64))
        },
    )
}

fn mean_seconds(points: &[Summary]) -> String {
    let total: f64 = points.iter().map(|point| point.seconds * point.runs as f64).sum();
    let runs: usize = points.iter().map(|point| point.runs).sum();
    if runs > 0 { three_digits(total / runs as f64) } else { String::new() }
}
