//! The tables of a suite that stand beside its plots: all numbers, certified ε, refusals, costs.

use super::aggregate::{Group, Summary, grouped};
use super::compare::{heading, score};
use super::document::{Cell, Table, Tone};
use super::words::{Measure, bytes, fixed, seconds, short, thousands};
use privet_learn::Calibration;

/// Every mean that is plotted.
pub fn numbers(group: &Group) -> Table {
    let mut table = Table::new(
        format!("All numbers of {}: {} by ε", group.dataset, Measure(&group.measure).axis()),
        &["entry", "constants"],
    );
    let epsilons = group.epsilons();
    for epsilon in &epsilons {
        table.column(short(*epsilon), true);
    }
    for series in &group.series {
        let mut row: Vec<Cell> =
            vec![series.entry.as_str().into(), series.calibration.to_string().into()];
        row.extend(epsilons.iter().map(|epsilon| {
            series.at(Some(*epsilon)).map_or_else(Cell::default, |point| score(point).into())
        }));
        table.rows.push(row);
    }
    for plain in &group.plain {
        let mut row: Vec<Cell> = vec![plain.cell.entry.as_str().into(), "not private".into()];
        row.extend(epsilons.iter().map(|_| Cell::default()));
        if let Some(last) = row.last_mut() {
            *last = score(plain).into();
        }
        table.rows.push(row);
    }
    table
}

/// The ε that certificates prove for printed constants, beside the ε that the papers claim.
pub fn certified(group: &Group) -> Table {
    let mut table = Table::new(
        "Certified ε of printed constants, by the ε that is claimed (marked where the claim is not proved)",
        &["entry"],
    );
    let epsilons = group.epsilons();
    for epsilon in &epsilons {
        table.column(format!("claimed {}", short(*epsilon)), true);
    }
    for series in group.series.iter().filter(|series| series.calibration == Calibration::Printed) {
        let cells = epsilons.iter().map(|epsilon| match series.at(Some(*epsilon)) {
            Some(point) => {
                let tone = if point.exceeds_claim() { Tone::Warning } else { Tone::Plain };
                Cell::new(point.certified.map_or_else(|| "none".into(), short), tone)
            }
            None => Cell::default(),
        });
        table.rows.push(std::iter::once(series.entry.as_str().into()).chain(cells).collect());
    }
    table
}

/// What learners would not take, in their own words.
pub fn refusals(group: &Group) -> Table {
    let mut table = Table::new(
        format!("Refused on {}: {} cells", group.dataset, group.refused.len()),
        &["entry", "constants", "ε", "#cells", "reason"],
    );
    let alike = grouped(&group.refused, |one| {
        (one.cell.entry.clone(), one.cell.calibration.to_string(), one.reason.clone())
    });
    for ((entry, calibration, reason), cells) in alike {
        let mut epsilons: Vec<f64> = cells.iter().filter_map(|one| one.cell.epsilon).collect();
        epsilons.sort_by(f64::total_cmp);
        epsilons.dedup();
        let words: Vec<String> = epsilons.iter().map(|epsilon| short(*epsilon)).collect();
        table.rows.push(vec![
            entry.into(),
            calibration.into(),
            words.join(", ").into(),
            cells.len().to_string().into(),
            reason.into(),
        ]);
    }
    table
}

/// Seconds of training by data set and entry, and the largest memory.
pub fn costs(groups: &[Group]) -> Table {
    let mut table = Table::new(
        "Mean seconds of training (planning apart; all ε, the points that count), and the largest peak \
         memory of the process",
        &["data set", "#records", "#columns"],
    );
    let mut names: Vec<(String, Calibration)> = Vec::new();
    let series = groups.iter().flat_map(|group| &group.series);
    for one in series.map(|series| (series.entry.clone(), series.calibration)) {
        if !names.contains(&one) {
            names.push(one);
        }
    }
    let both = names.iter().any(|(_, one)| *one == Calibration::Printed);
    names.sort_by_key(|(_, calibration)| *calibration == Calibration::Printed);
    for (name, calibration) in &names {
        let printed = both && *calibration == Calibration::Printed;
        table.column(if printed { format!("{name}, printed") } else { name.clone() }, true);
    }
    table.column("without privacy", true);
    table.column("memory", true);
    for group in groups {
        let Some(any) = group.any() else { continue };
        let mean = |points: &[Summary]| {
            let total: f64 = points.iter().map(|point| point.seconds * point.runs as f64).sum();
            let runs: usize = points.iter().map(|point| point.runs).sum();
            if runs > 0 { seconds(total / runs as f64) } else { String::new() }
        };
        let mut row: Vec<Cell> = vec![
            heading(group, groups).into(),
            thousands(any.rows).into(),
            thousands(any.columns).into(),
        ];
        for (name, calibration) in &names {
            let found = group
                .series
                .iter()
                .find(|series| series.entry == *name && series.calibration == *calibration);
            row.push(found.map_or_else(Cell::default, |series| mean(&series.points).into()));
        }
        row.push(mean(&group.plain).into());
        let points = group.series.iter().flat_map(|series| &series.points).chain(&group.plain);
        let memory = points.filter_map(|point| point.peak_memory).max();
        row.push(memory.map_or_else(|| fixed(f64::NAN, 0), |memory| bytes(memory as f64)).into());
        table.rows.push(row);
    }
    table
}
