//! Theorems 1–5 and AMP against the exact output densities, in one and two dimensions.
//!
//! The rest of the data set is a quadratic ½θᵀAθ + ⟨pull,θ⟩ with A ⪰ λI, which is all that the theorems
//! use of it. The release has density N(b_D(θ); 0, σ²I)·det H_D(θ) with b_D = −(Aθ + pull + ℓ′x) and
//! H_D = A + ℓ″xxᵀ; the true δ(ε) = E(1 − e^ε·p_{D′}/p_D)₊ under b ~ N(0,σ²I) is integrated on a grid,
//! without the log-ratio formula that the theorems start from. Configurations are drawn at random and
//! then climbed towards the largest ratio of truth to bound.

use privet_core::{Neighbours, Unit};
use privet_dp::account::{
    self, Cost, Event, LossShape, ObjectiveCost, ObjectiveNoise, OutputNoise, Sign, gaussian,
};

type Vector = [f64; 2];

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

#[derive(Debug, Clone, Copy)]
enum Loss {
    Logistic,
    HuberSvm { width: f64 },
    HuberRegression { width: f64 },
}

impl Loss {
    /// (ℓ′, ℓ″) at u for label y; all have L = 1.
    fn at(self, u: f64, y: f64) -> (f64, f64) {
        match self {
            Self::Logistic => {
                let sign = y.signum();
                let p = 1.0 / (1.0 + (sign * u).exp());
                (-sign * p, p * (1.0 - p))
            }
            Self::HuberSvm { width } => {
                let sign = y.signum();
                let gap = 1.0 + width - sign * u;
                let p = (gap / (2.0 * width)).clamp(0.0, 1.0);
                (-sign * p, if p > 0.0 && p < 1.0 { 0.5 / width } else { 0.0 })
            }
            Self::HuberRegression { width } => {
                let r = (u - y) / width;
                (r.clamp(-1.0, 1.0), if r.abs() < 1.0 { 1.0 / width } else { 0.0 })
            }
        }
    }

    /// Points at which ℓ″ jumps.
    fn edges(self, y: f64) -> Vec<f64> {
        match self {
            Self::Logistic => vec![],
            Self::HuberSvm { width } => {
                vec![y.signum() * (1.0 - width), y.signum() * (1.0 + width)]
            }
            Self::HuberRegression { width } => vec![y - width, y + width],
        }
    }

    fn shape(self) -> LossShape {
        let (curvature, sign, logistic) = match self {
            Self::Logistic => (0.25, Sign::Fixed, true),
            Self::HuberSvm { width } => (0.5 / width, Sign::Fixed, false),
            Self::HuberRegression { width } => (1.0 / width, Sign::Any, false),
        };
        LossShape { lipschitz: 1.0, curvature, sign, logistic }
    }
}

#[derive(Debug, Clone, Copy)]
struct Record {
    x: Vector,
    y: f64,
}

/// Two neighbouring problems; `None` for an absent record.
#[derive(Debug, Clone, Copy)]
struct Problem {
    loss: Loss,
    ridge: f64,
    sigma: f64,
    /// Curvature of the rest along a direction, on top of λI.
    extra: f64,
    turn: f64,
    pull: Vector,
    with: Option<Record>,
    without: Option<Record>,
    planar: bool,
}

impl Problem {
    fn matrix(&self) -> [f64; 3] {
        let (s, c) = if self.planar { self.turn.sin_cos() } else { (0.0, 1.0) };
        [self.ridge + self.extra * c * c, self.extra * s * c, self.ridge + self.extra * s * s]
    }

    /// (b_D(θ), det H_D(θ)).
    fn field(&self, record: Option<Record>, theta: Vector) -> (Vector, f64) {
        let [a, b, d] = self.matrix();
        let mut field = [
            -(a * theta[0] + b * theta[1] + self.pull[0]),
            -(b * theta[0] + d * theta[1] + self.pull[1]),
        ];
        let mut hessian = [a, b, d];
        if let Some(Record { x, y }) = record {
            let (slope, bend) = self.loss.at(dot(x, theta), y);
            field = [field[0] - slope * x[0], field[1] - slope * x[1]];
            hessian = [a + bend * x[0] * x[0], b + bend * x[0] * x[1], d + bend * x[1] * x[1]];
        }
        (field, hessian[0] * hessian[2] - hessian[1] * hessian[1])
    }

    /// θ with b_D(θ) = b: one scalar monotone equation for u = ⟨x,θ⟩.
    fn minimiser(&self, record: Option<Record>, b: Vector) -> Vector {
        let [a, off, d] = self.matrix();
        let determinant = a * d - off * off;
        let solve = |v: Vector| {
            [(d * v[0] - off * v[1]) / determinant, (a * v[1] - off * v[0]) / determinant]
        };
        let free = solve([-(b[0] + self.pull[0]), -(b[1] + self.pull[1])]);
        let Some(Record { x, y }) = record else { return free };
        let direction = solve(x);
        let (start, q) = (dot(x, free), dot(x, direction));
        // u = start − ℓ′(u)·q, |ℓ′| ≤ 1.
        let (mut low, mut high) = (start - q, start + q);
        let mut u = start;
        for _ in 0..80 {
            let (slope, bend) = self.loss.at(u, y);
            let value = u - start + slope * q;
            if value > 0.0 {
                high = u
            } else {
                low = u
            }
            let newton = u - value / (1.0 + bend * q);
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - u).abs() <= 1e-14 * (1.0 + u.abs()) {
                u = next;
                break;
            }
            u = next;
        }
        let slope = self.loss.at(u, y).0;
        [free[0] - slope * direction[0], free[1] - slope * direction[1]]
    }

    /// ln p_D(θ) − ln p_{D′}(θ) at the minimiser for this b.
    fn loss_at(&self, from: Option<Record>, to: Option<Record>, b: Vector) -> f64 {
        let theta = self.minimiser(from, b);
        let (here, volume) = self.field(from, theta);
        let (there, other) = self.field(to, theta);
        (dot(there, there) - dot(here, here)) / (2.0 * self.sigma * self.sigma)
            + (volume / other).ln()
    }

    /// The true δ(ε): in the plane by trapezia with `nodes` points a side, on the line by
    /// midpoints between the jumps of the densities.
    fn truth(&self, forward: bool, epsilon: f64, nodes: i32) -> f64 {
        let (from, to) =
            if forward { (self.with, self.without) } else { (self.without, self.with) };
        let reach = if self.planar { 7.0 } else { 8.5 };
        let density = |z: f64| (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let term = |b: Vector| {
            let loss = self.loss_at(from, to, b);
            if loss > epsilon { -(epsilon - loss).exp_m1() } else { 0.0 }
        };
        if self.planar {
            let step = 2.0 * reach / f64::from(nodes);
            let at = |k: i32| -reach + step * f64::from(k);
            let weights: Vec<f64> = (0..=nodes).map(|k| density(at(k)) * step).collect();
            let mut sum = 0.0;
            for i in 0..=nodes {
                for j in 0..=nodes {
                    let b = [self.sigma * at(i), self.sigma * at(j)];
                    sum += weights[i as usize] * weights[j as usize] * term(b);
                }
            }
            return sum;
        }
        let mut cuts = vec![-reach, reach];
        for record in [from, to].into_iter().flatten() {
            for u in self.loss.edges(record.y) {
                let (b, _) = self.field(from, [u / record.x[0], 0.0]);
                cuts.push((b[0] / self.sigma).clamp(-reach, reach));
            }
        }
        cuts.sort_by(f64::total_cmp);
        cuts.windows(2)
            .map(|piece| {
                let width = piece[1] - piece[0];
                let points = (f64::from(nodes) * width / (2.0 * reach)).ceil().max(50.0);
                let step = width / points;
                (0..points as i32)
                    .map(|k| piece[0] + step * (f64::from(k) + 0.5))
                    .map(|z| density(z) * step * term([self.sigma * z, 0.0]))
                    .sum::<f64>()
            })
            .sum()
    }

    fn neighbours(&self) -> Neighbours {
        if self.without.is_some() { Neighbours::ReplaceOne } else { Neighbours::AddRemove }
    }

    fn objective(&self) -> ObjectiveCost {
        ObjectiveCost {
            loss: self.loss.shape(),
            radius: 1.0,
            ridge: self.ridge,
            noise: ObjectiveNoise::Gaussian { noise_scale: self.sigma, grid: None },
        }
    }

    fn event(&self) -> Event {
        let cost = Cost::Objective(self.objective());
        Event::Use { neighbours: self.neighbours(), unit: Unit::Record, cost }
    }

    /// Largest truth/bound over the directions.
    fn ratio(&self, epsilon: f64, nodes: i32) -> f64 {
        let bound = account::delta(&self.event(), epsilon).unwrap();
        let forward = self.truth(true, epsilon, nodes);
        let backward = self.truth(false, epsilon, nodes);
        forward.max(backward) / bound
    }
}

/// SplitMix64, so that a failure can be repeated.
struct Dice(u64);

impl Dice {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    fn log(&mut self, low: f64, high: f64) -> f64 {
        self.between(low.ln(), high.ln()).exp()
    }

    fn coin(&mut self) -> bool {
        self.unit() < 0.5
    }
}

fn record(dice: &mut Dice, planar: bool) -> Record {
    let length = if dice.unit() < 0.7 { 1.0 } else { dice.unit() };
    let angle = dice.between(0.0, std::f64::consts::TAU);
    let x = if planar {
        [length * angle.cos(), length * angle.sin()]
    } else {
        [if dice.coin() { length } else { -length }, 0.0]
    };
    Record { x, y: if dice.coin() { 1.0 } else { -1.0 } * dice.log(0.01, 10.0) }
}

fn problem(dice: &mut Dice, kind: usize, replace: bool, planar: bool) -> (Problem, f64) {
    let loss = match kind {
        0 => Loss::Logistic,
        1 => Loss::HuberSvm { width: dice.log(0.02, 1.0) },
        _ => Loss::HuberRegression { width: dice.log(0.02, 2.0) },
    };
    let sigma = dice.log(0.3, 12.0);
    let ridge = match dice.unit() {
        // Where the logistic theorems change, and anywhere.
        part if part < 0.25 => 2.0 * sigma * sigma,
        _ => dice.log(0.01, 400.0),
    };
    let scale = dice.log(0.1, 100.0);
    let problem = Problem {
        loss,
        ridge,
        sigma,
        extra: if dice.coin() { 0.0 } else { dice.log(0.1, 10.0) * ridge },
        turn: dice.between(0.0, 3.2),
        pull: [scale * dice.between(-1.0, 1.0), scale * dice.between(-1.0, 1.0)],
        with: Some(record(dice, planar)),
        without: replace.then(|| record(dice, planar)),
        planar,
    };
    let mu = if replace { 2.0 } else { 1.0 } / sigma;
    let determinant = (loss.shape().curvature / ridge).ln_1p();
    let share = if dice.coin() { 0.0 } else { dice.unit() };
    let epsilon = gaussian::epsilon(dice.log(1e-6, 0.4), mu) + share * determinant;
    (problem, epsilon)
}

/// A small random change, for climbing.
fn nudged(dice: &mut Dice, problem: Problem, size: f64) -> Problem {
    let mut next = problem;
    let mut shift =
        |value: &mut f64| *value += size * dice.between(-1.0, 1.0) * (1.0 + value.abs());
    shift(&mut next.pull[0]);
    shift(&mut next.turn);
    if next.planar {
        shift(&mut next.pull[1]);
    }
    for record in [&mut next.with, &mut next.without].into_iter().flatten() {
        let label = record.y;
        shift(&mut record.y);
        if record.y * label <= 0.0 {
            record.y = label;
        }
        if next.planar {
            shift(&mut record.x[0]);
            shift(&mut record.x[1]);
            let norm = dot(record.x, record.x).sqrt();
            if norm > 1.0 || size > 0.1 {
                record.x = [record.x[0] / norm, record.x[1] / norm];
            }
        }
    }
    next
}

/// The largest ratio found from `starts` random problems with `climbs` nudges each.
fn search(seed: u64, planar: bool, starts: usize, climbs: usize, nodes: i32) -> f64 {
    let mut dice = Dice(seed);
    let mut largest: f64 = 0.0;
    for start in 0..starts {
        let replace = planar || dice.coin();
        let (mut best, epsilon) = problem(&mut dice, start % 3, replace, planar);
        let mut ratio = best.ratio(epsilon, nodes);
        for climb in 0..climbs {
            let next = nudged(&mut dice, best, if climb % 2 == 0 { 0.5 } else { 0.05 });
            let actual = next.ratio(epsilon, nodes);
            if actual > ratio {
                (best, ratio) = (next, actual);
            }
        }
        // Attained bounds sit at 1: look closer before complaining.
        if ratio > 0.999 {
            let finer = if planar { 2 * nodes } else { 16 * nodes };
            ratio = best.ratio(epsilon, finer);
        }
        let tolerance = if planar { 2e-3 } else { 2e-5 };
        assert!(ratio <= 1.0 + tolerance, "{ratio} at ε = {epsilon} for {best:?}");
        largest = largest.max(ratio);
    }
    largest
}

#[test]
fn no_line_exceeds_the_bounds() {
    let largest = search(1, false, 240, 8, 1500);
    // The search is effective: it finds that attained bounds are attained.
    assert!(largest > 0.99, "{largest}");
}

#[test]
fn no_plane_exceeds_the_bounds() {
    let largest = search(2, true, 30, 5, 100);
    assert!(largest > 0.5, "{largest}");
}

#[test]
#[ignore = "minutes: a wider search"]
fn a_wider_search_finds_no_excess() {
    for seed in 10..14 {
        println!("line {}", search(seed, false, 3000, 30, 3000));
        println!("plane {}", search(seed, true, 300, 20, 200));
    }
}

/// AMP in one dimension: the optimiser errs by ±r as an adversary chooses.
#[test]
fn no_adversarial_optimiser_exceeds_the_bound_of_amp() {
    let mut dice = Dice(3);
    for trial in 0..30 {
        let replace = dice.coin();
        let (problem, _) = problem(&mut dice, trial % 3, replace, false);
        let radius = dice.log(0.01, 1.0) * problem.sigma / problem.ridge;
        let nu = dice.log(0.02, 1.0);
        let tau = 2.0 * radius / nu;
        let period = dice.log(2.0, 40.0) * radius;
        let shift = |adversary: usize, sign: f64, theta: f64| match adversary {
            0 => sign * radius,
            1 => -sign * radius,
            _ => sign * radius * (theta / period * std::f64::consts::TAU).sin().signum(),
        };
        let cost = Cost::ApproximateMinima {
            objective: problem.objective(),
            output_sensitivity: 2.0 * radius,
            output: OutputNoise::Gaussian { noise_scale: tau, grid: None },
        };
        let event = Event::Use { neighbours: problem.neighbours(), unit: Unit::Record, cost };
        let mu = (if replace { 2.0 } else { 1.0 } / problem.sigma).hypot(nu);
        let epsilon = gaussian::epsilon(dice.log(1e-4, 0.3), mu);
        let bound = account::delta(&event, epsilon).unwrap();
        for (from, to) in [(problem.with, problem.without), (problem.without, problem.with)] {
            // Atoms of θ* at equal steps of the noise under each data set.
            let atoms = |record: Option<Record>| -> Vec<(f64, f64)> {
                (-240..=240)
                    .map(|k| f64::from(k) / 32.0)
                    .map(|z| {
                        let theta = problem.minimiser(record, [problem.sigma * z, 0.0])[0];
                        (theta, (-z * z / 2.0).exp() / 32.0 / (2.0 * std::f64::consts::PI).sqrt())
                    })
                    .collect()
            };
            let (here, there) = (atoms(from), atoms(to));
            let spread = here.first().unwrap().0 - here.last().unwrap().0;
            // Too coarse for the output noise: such a mixture is another mechanism.
            if spread / 480.0 > tau {
                continue;
            }
            for adversary in 0..3 {
                let density = |atoms: &[(f64, f64)], sign: f64, out: f64| -> f64 {
                    atoms
                        .iter()
                        .map(|(theta, mass)| {
                            let z = (out - theta - shift(adversary, sign, *theta)) / tau;
                            if z.abs() < 9.0 { mass * (-z * z / 2.0).exp() } else { 0.0 }
                        })
                        .sum()
                };
                let low = here.last().unwrap().0 - 6.0 * tau - radius;
                let high = here.first().unwrap().0 + 6.0 * tau + radius;
                let nodes = 400;
                let step = (high - low) / f64::from(nodes);
                let truth: f64 = (0..=nodes)
                    .map(|k| low + step * f64::from(k))
                    .map(|out| {
                        let gap =
                            density(&here, 1.0, out) - epsilon.exp() * density(&there, -1.0, out);
                        gap.max(0.0) * step / tau / (2.0 * std::f64::consts::PI).sqrt()
                    })
                    .sum();
                assert!(truth <= bound * 1.01 + 1e-9, "{truth} {bound} for {problem:?}");
            }
        }
    }
}
