//! Logistic and conditional logit models, fitted by gradient descent.

/// Steps of the descent, and how far each goes at first.
const STEPS: usize = 400;
const RATE: f64 = 0.05;

/// What keeps weights of standardised signals small, so that signals that tell the same share theirs.
const PENALTY: f64 = 1e-3;

/// Alternatives of which one or more are right.
pub struct Choice<const N: usize> {
    pub signals: Vec<[f32; N]>,
    pub is_right: Vec<bool>,
    pub weight: f64,
}

/// A case that is so or not.
#[derive(Clone)]
pub struct Case<const N: usize> {
    pub signals: [f32; N],
    pub is_so: bool,
    pub weight: f64,
}

/// Weights with which the right alternatives are likely: of the log odds of each.
pub fn fit_choices<const N: usize>(choices: &[Choice<N>]) -> [f32; N] {
    let scale = Scale::of(choices.iter().flat_map(|choice| &choice.signals));
    let whole: f64 = choices.iter().map(|choice| choice.weight).sum();
    let scaled: Vec<Vec<[f64; N]>> =
        choices.iter().map(|it| it.signals.iter().map(|it| scale.scaled(it)).collect()).collect();
    let weights = descend(N, |weights, gradient| {
        for (choice, scaled) in choices.iter().zip(&scaled) {
            let scores: Vec<f64> = scaled.iter().map(|it| dot(weights, it)).collect();
            let all = softmax(&scores, |_| true);
            let right = softmax(&scores, |at| choice.is_right[at]);
            for (at, signals) in scaled.iter().enumerate() {
                add(gradient, choice.weight / whole * (all[at] - right[at]), signals);
            }
        }
    });
    scale.unscaled(&weights).0
}

/// Intercept and weights of the log odds that a case is so, if that was as likely as not.
pub fn fit_cases<const N: usize>(cases: &[Case<N>]) -> (f32, [f32; N]) {
    let scale = Scale::of(cases.iter().map(|case| &case.signals));
    let mass = |is_so: bool| -> f64 {
        cases.iter().filter(|case| case.is_so == is_so).map(|case| case.weight).sum()
    };
    let (so, not) = (mass(true), mass(false));
    let scaled: Vec<[f64; N]> = cases.iter().map(|case| scale.scaled(&case.signals)).collect();
    let weights = descend(N + 1, |weights, gradient| {
        for (case, signals) in cases.iter().zip(&scaled) {
            let odds = dot(&weights[..N], signals) + weights[N];
            let error = 1.0 / (1.0 + (-odds).exp()) - f64::from(u8::from(case.is_so));
            let slope = error * case.weight / if case.is_so { so } else { not } / 2.0;
            add(&mut gradient[..N], slope, signals);
            gradient[N] += slope;
        }
    });
    let (unscaled, shift) = scale.unscaled(&weights[..N]);
    ((weights[N] - shift) as f32, unscaled)
}

/// Least squares, as an intercept and weights.
pub fn fit_values<const N: usize>(cases: &[([f32; N], f32)]) -> (f32, [f32; N]) {
    let scale = Scale::of(cases.iter().map(|case| &case.0));
    let count = cases.len().max(1) as f64;
    let scaled: Vec<[f64; N]> = cases.iter().map(|case| scale.scaled(&case.0)).collect();
    let weights = descend(N + 1, |weights, gradient| {
        for ((_, value), signals) in cases.iter().zip(&scaled) {
            let error = dot(&weights[..N], signals) + weights[N] - f64::from(*value);
            add(&mut gradient[..N], error / count, signals);
            gradient[N] += error / count;
        }
    });
    let (unscaled, shift) = scale.unscaled(&weights[..N]);
    ((weights[N] - shift) as f32, unscaled)
}

/// The minimum of a function by its gradient, as Adam finds it.
fn descend(count: usize, mut gradient_at: impl FnMut(&[f64], &mut [f64])) -> Vec<f64> {
    let (mut weights, mut first, mut second) =
        (vec![0.0; count], vec![0.0; count], vec![0.0; count]);
    for step in 1..=STEPS {
        let mut gradient: Vec<f64> = weights.iter().map(|weight| weight * PENALTY).collect();
        gradient_at(&weights, &mut gradient);
        let rate = RATE * (1.0 - step as f64 / (STEPS + 1) as f64);
        for at in 0..count {
            first[at] = 0.9 * first[at] + 0.1 * gradient[at];
            second[at] = 0.999 * second[at] + 0.001 * gradient[at] * gradient[at];
            let mean = first[at] / (1.0 - 0.9f64.powi(step as i32));
            let spread: f64 = second[at] / (1.0 - 0.999f64.powi(step as i32));
            weights[at] -= rate * mean / (spread.sqrt() + 1e-9);
        }
    }
    weights
}

/// Mean and standard deviation of each signal.
struct Scale<const N: usize> {
    means: [f64; N],
    deviations: [f64; N],
}

impl<const N: usize> Scale<N> {
    fn of<'a>(signals: impl Iterator<Item = &'a [f32; N]> + Clone) -> Scale<N> {
        let count = signals.clone().count().max(1) as f64;
        let mut means = [0.0; N];
        signals.clone().for_each(|it| add_f32(&mut means, it));
        means.iter_mut().for_each(|mean| *mean /= count);
        let mut squares = [0.0; N];
        for it in signals {
            for at in 0..N {
                squares[at] += (f64::from(it[at]) - means[at]).powi(2);
            }
        }
        // One that is always the same tells nothing, and would be divided by nothing.
        let deviations = squares.map(|sum| if sum > 1e-12 { (sum / count).sqrt() } else { 1e9 });
        Scale { means, deviations }
    }

    fn scaled(&self, signals: &[f32; N]) -> [f64; N] {
        std::array::from_fn(|at| (f64::from(signals[at]) - self.means[at]) / self.deviations[at])
    }

    /// Weights of the signals as they are, and what the means of all add up to with them.
    fn unscaled(&self, weights: &[f64]) -> ([f32; N], f64) {
        let own: [f64; N] = std::array::from_fn(|at| weights[at] / self.deviations[at]);
        (own.map(|weight| weight as f32), dot(&own, &self.means))
    }
}

/// Probabilities of those for which `is` holds.
fn softmax(scores: &[f64], is: impl Fn(usize) -> bool) -> Vec<f64> {
    let of = |at: usize| if is(at) { scores[at] } else { f64::NEG_INFINITY };
    let most = (0..scores.len()).map(of).fold(f64::NEG_INFINITY, f64::max);
    let odds: Vec<f64> = (0..scores.len()).map(|at| (of(at) - most).exp()).collect();
    let whole: f64 = odds.iter().sum();
    odds.iter().map(|it| it / whole).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(sum: &mut [f64], weight: f64, values: &[f64]) {
    sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
}

fn add_f32(sum: &mut [f64], values: &[f32]) {
    sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += f64::from(*value));
}
