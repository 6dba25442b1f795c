//! Plots as inline SVG: lines with error bars over a logarithmic axis, as reports of benchmarks have them.
//!
//! Colours come from the page's style (classes `s0` … `s7` and `ink`), so that they follow the reader's
//! light or dark scheme; lines differ in the shape of their marks as well, for readers who cannot tell
//! colours apart. Every mark carries its numbers as a tooltip.

use super::numbers::{fixed, power, three_digits};
use super::svg::{entities as escape, round_step};
use std::fmt::Write as _;

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 290.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 44.0;
/// Distance between marks with the same x.
const DODGE: f64 = 2.5;
/// Number of colours, and of shapes of marks.
const STYLES: usize = 8;

/// One or several panels with a common legend.
#[derive(Debug, Clone)]
pub struct Figure {
    /// The caption.
    pub caption: String,
    /// The panels, side by side where there is room.
    pub panels: Vec<Panel>,
    /// Names of the lines.
    pub legend: Vec<(Style, String)>,
}

/// The style of a line, in the order of a legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Style {
    /// The main line.
    Ink,
    /// One of many: its colour and shape, and its index among lines of that colour. All but the first
    /// are dashed, with hollow marks.
    Series(usize, usize),
    /// A level without a budget, dashed.
    Level,
    /// A published number: a bar beside the marks.
    Published,
}

/// One plot.
#[derive(Debug, Clone)]
pub struct Panel {
    /// The title above the plot.
    pub title: String,
    /// The text alternative.
    pub label: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines.
    pub lines: Vec<PlotLine>,
    /// A dashed horizontal line, with its tooltip.
    pub level: Option<(f64, String)>,
    /// Published numbers: x, y, style of the line they belong to, tooltip.
    pub bars: Vec<(f64, f64, Style, String)>,
}

/// A line.
#[derive(Debug, Clone)]
pub struct PlotLine {
    /// The style.
    pub style: Style,
    /// The points.
    pub points: Vec<PlotPoint>,
}

/// A point of a line.
#[derive(Debug, Clone)]
pub struct PlotPoint {
    /// The horizontal value.
    pub x: f64,
    /// The vertical value.
    pub y: f64,
    /// Half the height of the error bar.
    pub error: Option<f64>,
    /// The tooltip.
    pub title: String,
}

/// An axis with its ticks.
#[derive(Debug, Clone)]
pub struct Axis {
    name: String,
    logarithmic: bool,
    low: f64,
    high: f64,
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// Over values that span orders of magnitude, a tick at each if they are few and at powers of ten
    /// otherwise. Values without a logarithm are ignored.
    pub fn logarithmic(name: impl Into<String>, values: &[f64]) -> Self {
        let mut known: Vec<f64> =
            values.iter().copied().filter(|value| *value > 0.0 && value.is_finite()).collect();
        known.sort_by(f64::total_cmp);
        known.dedup_by(|a, b| (*a / *b).ln().abs() < 1e-6);
        let (low, high) = match (known.first(), known.last()) {
            (Some(low), Some(high)) => (low.log10(), high.log10()),
            _ => (0.0, 1.0),
        };
        // A single value gets room on both sides.
        let pad = if high - low < 1e-6 { 0.5 } else { 0.06 * (high - low) };
        let spread = known.windows(2).all(|pair| (pair[1] / pair[0]).log10() > (high - low) / 9.0);
        let ticks = if known.len() <= 8 && spread {
            known.iter().map(|value| (value.log10(), tick(*value))).collect()
        } else {
            let step = ((high - low) / 6.0).ceil().max(1.0) as usize;
            let (first, last) = ((low - pad).ceil() as i32, (high + pad).floor() as i32);
            let decades = (first..=last).step_by(step);
            decades.map(|power| (f64::from(power), tick(10_f64.powi(power)))).collect()
        };
        Self { name: name.into(), logarithmic: true, low: low - pad, high: high + pad, ticks }
    }

    /// Over values of one size, ticks at round numbers.
    pub fn linear(name: impl Into<String>, values: &[f64]) -> Self {
        let known = values.iter().copied().filter(|value| value.is_finite());
        let (low, high) = known.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let pad = if high - low < 1e-9 {
            0.5_f64.min(0.1 * high.abs().max(0.1))
        } else {
            0.06 * (high - low)
        };
        let (low, high) = (low - pad, high + pad);
        let step = round_step((high - low) / 6.0);
        let digits = (-step.log10().floor()).max(0.0) as usize;
        let first = (low / step).ceil() as i64;
        let last = (high / step).floor() as i64;
        let ticks = (first..=last).map(|count| {
            let value = count as f64 * step;
            (value, fixed(value, digits))
        });
        Self { name: name.into(), logarithmic: false, low, high, ticks: ticks.collect() }
    }

    fn place(&self, value: f64) -> f64 {
        self.share(if self.logarithmic { value.log10() } else { value })
    }

    /// The position of a tick, from 0 to 1.
    fn share(&self, tick: f64) -> f64 {
        (tick - self.low) / (self.high - self.low)
    }
}

/// A tick's label: numbers far from 1 as powers of ten.
fn tick(value: f64) -> String {
    if (1e-4..1e4).contains(&value) { three_digits(value) } else { power(value) }
}

impl Style {
    fn class(self) -> String {
        match self {
            Self::Ink => "ink".into(),
            Self::Series(colour, _) => format!("s{}", colour % STYLES),
            Self::Level | Self::Published => "level".into(),
        }
    }

    fn dash(self) -> &'static str {
        match self {
            Self::Series(_, 1) => " stroke-dasharray=\"5 3\"",
            Self::Series(_, 2) => " stroke-dasharray=\"2 3\"",
            Self::Series(_, 3..) => " stroke-dasharray=\"7 2 2 2\"",
            _ => "",
        }
    }

    /// A mark, centred.
    fn mark(self, x: f64, y: f64) -> String {
        let class = self.class();
        let kind = if matches!(self, Self::Series(_, 1..)) { "open" } else { "mark" };
        let circle = |radius: &str| {
            format!("<circle class=\"{class} {kind}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>")
        };
        let path = |kind: &str, moves: &str| {
            format!("<path class=\"{class} {kind}\" d=\"M{x:.1} {y:.1}{moves}\"/>")
        };
        let Self::Series(colour, _) = self else {
            return match self {
                Self::Ink => circle("4"),
                Self::Published => path("cross", "m-5 0h10"),
                _ => String::new(),
            };
        };
        match colour % STYLES {
            0 => circle("3.2"),
            1 => path(kind, "m-3-3h6v6h-6z"),
            2 => path(kind, "m0-4l4 7h-8z"),
            3 => path(kind, "m0-4.4l4.4 4.4-4.4 4.4-4.4-4.4z"),
            4 => path(kind, "m0 4l4-7h-8z"),
            5 => path("cross", "m-3.2-3.2l6.4 6.4m0-6.4l-6.4 6.4"),
            6 => path("cross", "m-4 0h8m-4-4v8"),
            _ => path(kind, "m-1.8-4h3.6l2.6 2.6v2.8l-2.6 2.6h-3.6l-2.6-2.6v-2.8z"),
        }
    }

    /// The sample in a legend.
    pub fn sample(self) -> String {
        let line = match self {
            Self::Published => "<path class=\"level bar\" d=\"M9 7h10\"/>".into(),
            Self::Level => "<path class=\"level dashed\" d=\"M1 7h26\"/>".into(),
            style => format!(
                "<path class=\"{} line\"{} d=\"M1 7h26\"/>{}",
                style.class(),
                style.dash(),
                style.mark(14.0, 7.0)
            ),
        };
        format!(
            "<svg class=\"sample\" width=\"28\" height=\"14\" viewBox=\"0 0 28 14\" aria-hidden=\"true\">{line}</svg>"
        )
    }
}

impl Panel {
    /// The plot as an element of a page.
    pub fn svg(&self) -> String {
        let mut svg = format!(
            "<svg class=\"plot\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\">",
            escape(&self.label)
        );
        self.frame(&mut svg);
        if let Some((value, title)) = &self.level {
            let y = self.up(*value);
            let _ = write!(
                svg,
                "<g><title>{}</title><path class=\"level dashed\" d=\"M{LEFT} {y:.1}H{:.1}\"/></g>",
                escape(title),
                WIDTH - RIGHT
            );
        }
        let middle = (self.lines.len() as f64 - 1.0) / 2.0;
        for (x, y, style, title) in &self.bars {
            // To the left of all marks at that x.
            let x = self.right(*x) - (middle + 1.0) * DODGE - 9.0;
            let y = self.up(*y);
            let _ = write!(
                svg,
                "<g class=\"published\"><title>{}</title><path class=\"{} bar\" d=\"M{x:.1} {y:.1}h10\"/></g>",
                escape(title),
                style.class()
            );
        }
        for (place, line) in self.lines.iter().enumerate() {
            self.line(line, (place as f64 - middle) * DODGE, &mut svg);
        }
        svg.push_str("</svg>");
        svg
    }

    fn right(&self, value: f64) -> f64 {
        LEFT + self.x.place(value) * (WIDTH - LEFT - RIGHT)
    }

    fn up(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - self.y.place(value) * (HEIGHT - TOP - BOTTOM)
    }

    fn frame(&self, svg: &mut String) {
        let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        let _ = write!(
            svg,
            "<text class=\"panel\" x=\"{LEFT}\" y=\"15\">{}</text>",
            escape(&self.title)
        );
        for (tick, words) in &self.y.ticks {
            let y = bottom - self.y.share(*tick) * (bottom - TOP);
            let _ = write!(
                svg,
                "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{right:.1}\"/>\
                 <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 6.0,
                y + 3.8,
                escape(words)
            );
        }
        for (tick, words) in &self.x.ticks {
            let x = LEFT + self.x.share(*tick) * (right - LEFT);
            let _ = write!(
                svg,
                "<path class=\"axis\" d=\"M{x:.1} {bottom}v4\"/>\
                 <text class=\"tick\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                bottom + 16.0,
                escape(words)
            );
        }
        let _ = write!(
            svg,
            "<path class=\"axis\" d=\"M{LEFT} {bottom}H{right:.1}\"/>\
             <text class=\"name\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text class=\"name\" text-anchor=\"end\" x=\"{right:.1}\" y=\"15\">{}</text>",
            f64::midpoint(LEFT, right),
            HEIGHT - 8.0,
            escape(&self.x.name),
            escape(&self.y.name)
        );
    }

    fn line(&self, line: &PlotLine, shift: f64, svg: &mut String) {
        let class = line.style.class();
        let points: Vec<(f64, f64, &PlotPoint)> = line
            .points
            .iter()
            .map(|point| (self.right(point.x) + shift, self.up(point.y), point))
            .filter(|(x, y, _)| x.is_finite() && y.is_finite())
            .collect();
        if points.len() > 1 {
            let path: Vec<String> =
                points.iter().map(|(x, y, _)| format!("{x:.1} {y:.1}")).collect();
            let (dash, path) = (line.style.dash(), path.join("L"));
            let _ = write!(svg, "<path class=\"{class} line\"{dash} d=\"M{path}\"/>");
        }
        for (x, y, point) in points {
            let _ = write!(svg, "<g class=\"point\"><title>{}</title>", escape(&point.title));
            let error = point.error.filter(|error| *error > 0.0);
            let ends = error.map(|error| (self.up(point.y - error), self.up(point.y + error)));
            if let Some((low, high)) = ends.filter(|(low, high)| (low + high).is_finite()) {
                let bar = format!("M{x:.1} {low:.1}V{high:.1}");
                let _ = write!(svg, "<path class=\"{class} error\" d=\"{bar}\"/>");
            }
            svg.push_str(&line.style.mark(x, y));
            svg.push_str("</g>");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_ticks_inside() {
        let axis = Axis::linear("y", &[62.3, 84.8]);
        let words: Vec<&str> = axis.ticks.iter().map(|(_, words)| words.as_str()).collect();
        assert_eq!(words, ["65", "70", "75", "80", "85"]);
        assert!((0.0..1.0).contains(&axis.place(62.3)) && axis.place(84.8) < 1.0);
        let epsilons: Vec<f64> =
            (-4..=2).map(|power| 10_f64.powf(f64::from(power) / 2.0)).collect();
        let axis = Axis::logarithmic("ε", &epsilons);
        let words: Vec<&str> = axis.ticks.iter().map(|(_, words)| words.as_str()).collect();
        assert_eq!(words, ["0.01", "0.0316", "0.1", "0.316", "1", "3.16", "10"]);
    }

    #[test]
    fn odd_values_make_no_odd_axes() {
        for values in [&[][..], &[f64::NAN], &[0.0], &[-1.0, f64::INFINITY], &[3.0]] {
            for axis in [Axis::linear("y", values), Axis::logarithmic("x", values)] {
                assert!(axis.low < axis.high && axis.ticks.len() < 20, "{values:?}: {axis:?}");
            }
        }
    }

    #[test]
    fn a_panel_draws_its_points_and_skips_what_is_none() {
        let point = |x, y| PlotPoint { x, y, error: Some(1.0), title: "<t>".into() };
        let panel = Panel {
            title: "sound".into(),
            label: "a \"plot\"".into(),
            x: Axis::logarithmic("ε", &[0.1, 1.0]),
            y: Axis::linear("%", &[50.0, 90.0]),
            lines: vec![PlotLine {
                style: Style::Series(1, 0),
                points: vec![
                    point(0.1, 60.0),
                    point(1.0, 80.0),
                    point(0.0, 70.0),
                    point(1.0, f64::NAN),
                ],
            }],
            level: Some((85.0, "without".into())),
            bars: vec![(0.1, 70.0, Style::Series(1, 0), "published".into())],
        };
        let svg = panel.svg();
        assert_eq!(svg.matches("class=\"point\"").count(), 2);
        assert_eq!(svg.matches("s1 error").count(), 2);
        assert!(svg.contains("aria-label=\"a &quot;plot&quot;\"") && !svg.contains("<t>"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}
