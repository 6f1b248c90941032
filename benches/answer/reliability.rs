//! Is confidence a probability, and what does a threshold refuse? As tables in Markdown.

/// Least confidences of the table of thresholds.
const THRESHOLDS: [f32; 10] = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// Bins of confidence in the reliability table, all of one width.
const BINS: usize = 10;

/// Whether what is searched answers a question.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Answerability {
    /// A passage does.
    Answerable,
    /// No longer: the passages that do were taken away.
    Removed,
    /// It never did.
    Absent,
}

/// An answer that was judged.
#[derive(Clone, Copy)]
pub struct JudgedAnswer {
    pub answerability: Answerability,
    pub confidence: f32,
    /// Whether it says what was asked for; of one that is refused, whether it would.
    pub is_right: bool,
}

/// Answers of like confidence, as sums of their weights.
#[derive(Clone, Copy, Default)]
struct ConfidenceBin {
    questions: usize,
    weight: f64,
    confidence: f64,
    answerable: f64,
    right: f64,
}

/// Prints both tables for the answers to the questions of `name`.
pub fn print(name: &str, answers: &[JudgedAnswer]) {
    let count = |of: Answerability| answers.iter().filter(|it| it.answerability == of).count();
    let [answerable, removed, absent] =
        [Answerability::Answerable, Answerability::Removed, Answerability::Absent].map(count);
    println!(
        "\nconfidence, {name}: {answerable} answerable questions, {removed} without their passage, {absent} that nothing answers"
    );
    print_reliability(answers);
    print_thresholds(answers);
}

/// The expected calibration error is that of the confidence as the probability that the question can be answered, and that
/// the answer is right.
fn print_reliability(answers: &[JudgedAnswer]) {
    let bins = bins(answers);
    println!("\n| confidence | questions | share | mean confidence | answerable | right |");
    println!("|---|---|---|---|---|---|");
    for (at, bin) in bins.iter().enumerate() {
        let [from, to] = [at, at + 1].map(|it| it as f64 / BINS as f64);
        let means = [bin.confidence, bin.answerable, bin.right].map(|it| cell(it, bin.weight));
        println!(
            "| {from:.1} to {to:.1} | {} | {:.3} | {} |",
            bin.questions,
            bin.weight,
            means.join(" | ")
        );
    }
    let error = |of: fn(&ConfidenceBin) -> f64| {
        bins.iter().map(|bin| (of(bin) - bin.confidence).abs()).sum::<f64>()
    };
    println!(
        "\nExpected calibration error: answerable {:.3}, right {:.3}; answerable questions have half of the weight.",
        error(|bin| bin.answerable),
        error(|bin| bin.right)
    );
}

fn print_thresholds(answers: &[JudgedAnswer]) {
    println!(
        "\n| min_confidence | answerable: answered | of these right | passage removed: refused | nothing answers: refused |"
    );
    println!("|---|---|---|---|---|");
    for threshold in THRESHOLDS {
        let of = |it: Answerability| answers.iter().filter(move |one| one.answerability == it);
        let is_given = |one: &JudgedAnswer| one.confidence >= threshold;
        let given = of(Answerability::Answerable).filter(|one| is_given(one));
        let cells = [
            share(of(Answerability::Answerable), is_given),
            share(given, |one| one.is_right),
            share(of(Answerability::Removed), |one| !is_given(one)),
            share(of(Answerability::Absent), |one| !is_given(one)),
        ];
        println!("| {threshold} | {} |", cells.join(" | "));
    }
}

fn bins(answers: &[JudgedAnswer]) -> [ConfidenceBin; BINS] {
    let answerable = answers.iter().filter(|it| it.is_answerable()).count();
    let others = answers.len() - answerable;
    let kinds = usize::from(answerable > 0) + usize::from(others > 0);
    let mut bins = [ConfidenceBin::default(); BINS];
    for answer in answers {
        // A set may have any number of questions that cannot be answered. Both kinds count alike, so that sets can be
        // compared, and because the confidence is fitted to as many of one as of the other.
        let of_kind = if answer.is_answerable() { answerable } else { others };
        let weight = 1.0 / (kinds * of_kind) as f64;
        let bin = &mut bins[((answer.confidence * BINS as f32) as usize).min(BINS - 1)];
        bin.questions += 1;
        bin.weight += weight;
        bin.confidence += weight * f64::from(answer.confidence);
        bin.answerable += if answer.is_answerable() { weight } else { 0.0 };
        bin.right += if answer.is_right { weight } else { 0.0 };
    }
    bins
}

/// The share of `answers` for which `is` holds, as a cell of a table.
fn share<'a>(
    answers: impl Iterator<Item = &'a JudgedAnswer>,
    is: impl Fn(&JudgedAnswer) -> bool,
) -> String {
    let (mut part, mut whole) = (0_u32, 0_u32);
    for answer in answers {
        whole += 1;
        part += u32::from(is(answer));
    }
    cell(f64::from(part), f64::from(whole))
}

/// A quotient as a cell of a table, which is empty where nothing is divided.
fn cell(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{:.3}", part / whole) } else { String::new() }
}

impl JudgedAnswer {
    fn is_answerable(&self) -> bool {
        self.answerability == Answerability::Answerable
    }
}
