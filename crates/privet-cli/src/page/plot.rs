//! One shape as a picture: a curve with its band, bars, or a heat map.

use super::svg::{Scale, escape, escape_cut, open, signed_number, text, three_digits};
use privet_data::encode::{Axis, AxisKind, Level};
use privet_learn::linear::additive::{BAND, Shape};
use std::fmt::Write as _;

/// Number of categories drawn; further ones are counted.
const BARS: usize = 24;

/// The label of a level.
pub(super) fn level(level: &Level) -> String {
    match level {
        Level::At(value) => three_digits(*value),
        Level::Text(text) => text.clone(),
        Level::Bucket(bucket) => format!("#{bucket}"),
        Level::Other => "(other)".into(),
        Level::Unlisted => "(not listed)".into(),
        Level::Missing => "(missing)".into(),
    }
}

/// The effects of one problem, at each level.
pub(super) struct ProblemEffects<'a> {
    pub shape: &'a Shape,
    pub problem: usize,
}

impl ProblemEffects<'_> {
    fn effect(&self, place: usize) -> f64 {
        self.shape.effects[self.problem][place]
    }

    /// Half the width of the band.
    fn half(&self, place: usize) -> Option<f64> {
        self.shape.noise.as_ref().map(|noise| BAND * noise[place])
    }

    /// True if the effect is outside its band; without a band, if it is not 0.
    fn is_sure(&self, place: usize) -> bool {
        self.effect(place).abs() > self.half(place).unwrap_or(0.0)
    }

    /// The lower and upper ends of all bands, of all problems, so that their pictures have one scale.
    fn extent(&self) -> impl Iterator<Item = f64> {
        let ends = |place: usize, effect: f64| {
            let half = self.half(place).unwrap_or(0.0);
            [effect - half, effect + half]
        };
        let all = self.shape.effects.iter();
        all.flat_map(move |effects| {
            effects.iter().enumerate().flat_map(move |(at, e)| ends(at, *e))
        })
    }

    /// The picture as SVG.
    pub(super) fn svg(&self, label: &str) -> String {
        match &self.shape.axes[..] {
            [axis] if axis.kind == AxisKind::Straight || axis.kind == AxisKind::Curved => {
                self.curve(axis, label)
            }
            [axis] => self.bars(axis, label),
            [first, second] => self.heat(first, second, label),
            _ => String::new(),
        }
    }

    fn curve(&self, axis: &Axis, label: &str) -> String {
        const WIDTH: f64 = 440.0;
        const HEIGHT: f64 = 210.0;
        const LEFT: f64 = 46.0;
        const BOTTOM: f64 = 182.0;
        let grid: Vec<f64> = axis.levels.iter().filter_map(at).collect();
        let missing = axis.levels.iter().position(|level| *level == Level::Missing);
        let right = if missing.is_some() { WIDTH - 70.0 } else { WIDTH - 12.0 };
        let up = Scale::around_zero(self.extent(), BOTTOM, 8.0);
        let shares = positions(axis, grid.len());
        let across = |share: f64| LEFT + share * (right - LEFT);
        let mut svg = open(WIDTH, HEIGHT, label);
        for tick in up.ticks(5.0) {
            let y = up.at(tick);
            let _ = write!(svg, "<path class=\"rule\" d=\"M{LEFT} {y:.1}H{:.1}\"/>", WIDTH - 12.0);
            text(&mut svg, (LEFT - 6.0, y + 4.0), "end", "", &three_digits(tick));
        }
        let points = |offset: &dyn Fn(usize) -> f64| -> Vec<String> {
            let point = |(place, share): (usize, &f64)| {
                format!("{:.1} {:.1}", across(*share), up.at(self.effect(place) + offset(place)))
            };
            shares.iter().enumerate().map(point).collect()
        };
        if self.shape.noise.is_some() {
            let half = |place: usize| self.half(place).unwrap_or(0.0);
            let (above, mut below) = (points(&half), points(&|place| -half(place)));
            below.reverse();
            let _ = write!(
                svg,
                "<path class=\"band\" d=\"M{}L{}Z\"/>",
                above.join("L"),
                below.join("L")
            );
        }
        let zero = up.at(0.0);
        let _ = write!(svg, "<path class=\"zero\" d=\"M{LEFT} {zero:.1}H{:.1}\"/>", WIDTH - 12.0);
        let line = points(&|_| 0.0);
        let _ = write!(svg, "<path class=\"line\" d=\"M{}\"/>", line.join("L"));
        if axis.kind == AxisKind::Straight && grid.len() <= 40 {
            for (place, share) in shares.iter().enumerate() {
                let (x, y) = (across(*share), up.at(self.effect(place)));
                let title = format!("{}: {}", three_digits(grid[place]), self.in_words(place));
                let _ = write!(
                    svg,
                    "<circle class=\"knot\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.4\"><title>{title}</title></circle>"
                );
            }
        }
        let mut last = f64::NEG_INFINITY;
        for tick in value_ticks(&grid, &shares) {
            let (x, words) = (across(share_of(tick, &grid, &shares)), three_digits(tick));
            let half = 3.5 * words.chars().count() as f64;
            if x - half < last + 6.0 {
                continue;
            }
            last = x + half;
            let _ = write!(svg, "<path class=\"axis\" d=\"M{x:.1} {BOTTOM}v4\"/>");
            text(&mut svg, (x, BOTTOM + 17.0), "middle", "", &words);
        }
        let _ = write!(svg, "<path class=\"axis\" d=\"M{LEFT} {BOTTOM}H{right:.1}\"/>");
        if let Some(place) = missing {
            let x = WIDTH - 40.0;
            self.whisker(&mut svg, place, |value| (x, up.at(value)));
            let y = up.at(self.effect(place));
            let _ = write!(svg, "<circle class=\"knot\" cx=\"{x}\" cy=\"{y:.1}\" r=\"4\"/>");
            text(&mut svg, (x, BOTTOM + 17.0), "middle", "", "missing");
        }
        svg + "</svg>"
    }

    fn bars(&self, axis: &Axis, label: &str) -> String {
        const NAMES: f64 = 150.0;
        const WIDTH: f64 = 440.0;
        const ROW: f64 = 19.0;
        let order = bar_order(self.shape, axis);
        let height = order.len() as f64 * ROW + 26.0;
        let along = Scale::around_zero(self.extent(), NAMES + 8.0, WIDTH - 12.0);
        let mut svg = open(WIDTH, height, label);
        for tick in along.ticks(5.0) {
            let x = along.at(tick);
            let _ = write!(svg, "<path class=\"rule\" d=\"M{x:.1} 2V{:.1}\"/>", height - 20.0);
            text(&mut svg, (x, height - 6.0), "middle", "", &three_digits(tick));
        }
        let zero = along.at(0.0);
        for (row, place) in order.iter().enumerate() {
            let (y, effect) = (2.0 + row as f64 * ROW, self.effect(*place));
            let x = along.at(effect);
            let class = if effect >= 0.0 { "up" } else { "down" };
            let faint = if self.is_sure(*place) { "" } else { " faint" };
            let words =
                escape(&format!("{}: {}", level(&axis.levels[*place]), self.in_words(*place)));
            let _ = write!(
                svg,
                "<rect class=\"{class}{faint}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\">\
                 <title>{words}</title></rect>",
                zero.min(x),
                y + 3.0,
                (x - zero).abs(),
                ROW - 6.0
            );
            let middle = y + ROW / 2.0;
            self.whisker(&mut svg, *place, |value| (along.at(value), middle));
            let name = escape_cut(&level(&axis.levels[*place]), 22);
            text(&mut svg, (NAMES, middle + 4.0), "end", "name", &name);
        }
        let _ = write!(svg, "<path class=\"axis\" d=\"M{zero:.1} 2V{:.1}\"/>", height - 20.0);
        svg + "</svg>"
    }

    fn heat(&self, first: &Axis, second: &Axis, label: &str) -> String {
        const NAMES: f64 = 110.0;
        const CELL: f64 = 46.0;
        const TOP: f64 = 22.0;
        let (rows, columns) = (first.levels.len(), second.levels.len());
        let cell = if columns > 12 { 24.0 } else { CELL };
        let tall = if rows > 12 { 18.0 } else { 26.0 };
        let (width, height) =
            (NAMES + columns as f64 * cell + 8.0, TOP + rows as f64 * tall + 36.0);
        let effects = self.shape.effects.iter().flatten();
        let largest = effects.fold(0.0_f64, |most, effect| most.max(effect.abs()));
        let mut svg = open(width, height, label);
        text(&mut svg, (NAMES - 6.0, 14.0), "end", "name", &escape_cut(&first.column, 16));
        for (i, own) in first.levels.iter().enumerate() {
            let y = TOP + i as f64 * tall;
            text(
                &mut svg,
                (NAMES - 6.0, y + tall / 2.0 + 4.0),
                "end",
                "",
                &escape_cut(&level(own), 15),
            );
            for (j, other) in second.levels.iter().enumerate() {
                let (place, x) = (i * columns + j, NAMES + j as f64 * cell);
                let words = format!("{}, {}: {}", level(own), level(other), self.in_words(place));
                let _ = write!(
                    svg,
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{cell:.1}\" height=\"{tall:.1}\" \
                     style=\"fill:{}\"><title>{}</title></rect>",
                    colour(self.effect(place) / largest.max(f64::MIN_POSITIVE)),
                    escape(&words)
                );
                if cell == CELL {
                    let class = if self.is_sure(place) { "sure" } else { "" };
                    let middle = (x + cell / 2.0, y + tall / 2.0 + 4.0);
                    text(
                        &mut svg,
                        middle,
                        "middle",
                        class,
                        &three_digits(two_decimals(self.effect(place))),
                    );
                }
            }
        }
        for (j, other) in second.levels.iter().enumerate() {
            if cell < CELL && j % 4 != 0 {
                continue;
            }
            let middle = (NAMES + (j as f64 + 0.5) * cell, height - 22.0);
            text(&mut svg, middle, "middle", "", &escape_cut(&level(other), 9));
        }
        let middle = (NAMES + columns as f64 * cell / 2.0, height - 6.0);
        text(&mut svg, middle, "middle", "name", &escape_cut(&second.column, 30));
        svg + "</svg>"
    }

    /// The band of one level, as a line with ends.
    fn whisker(&self, svg: &mut String, place: usize, at: impl Fn(f64) -> (f64, f64)) {
        let Some(half) = self.half(place).filter(|half| *half > 0.0) else { return };
        let ((a, b), (c, d)) = (at(self.effect(place) - half), at(self.effect(place) + half));
        let cap = if (b - d).abs() < 0.5 { "m0-4v8" } else { "m-4 0h8" };
        let _ = write!(
            svg,
            "<path class=\"whisker\" d=\"M{a:.1} {b:.1}L{c:.1} {d:.1}M{a:.1} {b:.1}{cap}M{c:.1} {d:.1}{cap}\"/>"
        );
    }

    /// The effect with its band.
    pub(super) fn in_words(&self, place: usize) -> String {
        match self.half(place) {
            Some(half) => format!("{} ± {}", signed_number(self.effect(place)), three_digits(half)),
            None => signed_number(self.effect(place)),
        }
    }
}

/// The number of a level.
pub(super) fn at(level: &Level) -> Option<f64> {
    match level {
        Level::At(value) => Some(*value),
        _ => None,
    }
}

/// Positions of a number's levels, from 0 to 1, in the coordinate in which its knots are evenly spaced:
/// the weights are half the distances of its neighbours there.
fn positions(axis: &Axis, count: usize) -> Vec<f64> {
    let mut places = vec![0.0; count];
    for place in 1..count {
        places[place] = match place {
            1 => 2.0 * axis.weights[0],
            _ => places[place - 2] + 2.0 * axis.weights[place - 1],
        };
    }
    let last = places.last().copied().unwrap_or(0.0);
    places.iter().map(|place| if last > 0.0 { place / last } else { 0.5 }).collect()
}

/// The position of a value between levels.
fn share_of(value: f64, grid: &[f64], shares: &[f64]) -> f64 {
    let right = grid.partition_point(|level| *level < value).clamp(1, grid.len() - 1);
    let width = grid[right] - grid[right - 1];
    let share = ((value - grid[right - 1]) / width).clamp(0.0, 1.0);
    shares[right - 1] + share * (shares[right] - shares[right - 1])
}

/// Values for ticks: round ones, where the coordinate is the number itself; else the bounds and powers
/// of ten.
fn value_ticks(grid: &[f64], shares: &[f64]) -> Vec<f64> {
    let (low, high) = (grid[0], grid[grid.len() - 1]);
    let middle = share_of((low + high) / 2.0, grid, shares);
    if (middle - 0.5).abs() < 0.02 {
        return Scale { low, high, from: 0.0, to: 1.0 }.ticks(6.0);
    }
    let powers = (-9..=15).map(|power| 10_f64.powi(power));
    let inner = powers.filter(|value| low < *value && *value < high);
    std::iter::once(low).chain(inner).chain([high]).collect()
}

/// Levels in the order of their bars, the largest effect first (of several problems the largest
/// magnitude); at most [`BARS`], those of the largest magnitude.
pub(super) fn bar_order(shape: &Shape, axis: &Axis) -> Vec<usize> {
    let most = |place: usize| {
        let of = |effects: &Vec<f64>| effects[place];
        match shape.effects.len() {
            1 => of(&shape.effects[0]),
            _ => shape.effects.iter().map(|effects| of(effects).abs()).fold(0.0, f64::max),
        }
    };
    let mut order: Vec<usize> = (0..axis.levels.len()).collect();
    order.sort_by(|a, b| most(*b).total_cmp(&most(*a)));
    if order.len() > BARS {
        // Only the levels of the largest magnitude are drawn.
        order.sort_by(|a, b| most(*b).abs().total_cmp(&most(*a).abs()));
        order.truncate(BARS);
        order.sort_by(|a, b| most(*b).total_cmp(&most(*a)));
    }
    order
}

/// The number of categories that are not drawn.
pub(super) fn not_drawn(axis: &Axis) -> usize {
    match axis.kind {
        AxisKind::Category => axis.levels.len().saturating_sub(BARS),
        _ => 0,
    }
}

/// A number rounded to two decimals, for a cell.
fn two_decimals(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// A colour between orange (−1), white (0) and blue (1).
fn colour(share: f64) -> String {
    let (end, share) = match share >= 0.0 {
        true => ([88.0, 146.0, 205.0], share.min(1.0)),
        false => ([222.0, 144.0, 92.0], (-share).min(1.0)),
    };
    let mixed = end.map(|part: f64| (255.0 + share * (part - 255.0)).round() as u8);
    format!("rgb({},{},{})", mixed[0], mixed[1], mixed[2])
}
