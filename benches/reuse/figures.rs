//! Precision and recall, as tables.

use std::collections::BTreeSet;
use std::time::Duration;

use pg_rag::answer::reuse::QuestionLikeness;
use pg_rag::embed::calibration::QuestionThresholds;

use crate::baseline;
use crate::pairs::MeasuredPair;

/// Cosines of the table, in hundredths.
const HUNDREDTHS: [u16; 12] = [80, 85, 90, 92, 93, 94, 95, 96, 97, 98, 99, 100];

/// What a rule reuses of some pairs.
#[derive(Clone, Copy, Default)]
struct Reused {
    /// Of pairs that mean the same, and of others.
    right: usize,
    wrong: usize,
    /// Pairs that mean the same.
    same: usize,
}

/// How many pairs there are of which kind.
pub fn print_size(pairs: &[MeasuredPair]) {
    let domains: BTreeSet<&str> = pairs.iter().map(|it| it.pair.domain.as_str()).collect();
    println!("\n{} pairs about {} subjects", pairs.len(), domains.len());
    for held_out in [false, true] {
        let half: Vec<&MeasuredPair> = half(pairs, held_out).collect();
        let same = half.iter().filter(|it| it.pair.same).count();
        println!("{}: {same} the same, {} others", name(held_out), half.len() - same);
    }
}

/// Precision and recall from several cosines on.
pub fn print_by_cosine(pairs: &[MeasuredPair]) {
    for held_out in [false, true] {
        println!("\n{}, precision and recall", name(held_out));
        println!(
            "{:>6} {:>15} {:>15} {:>15} {:>15}",
            "cosine", "alone", "baseline", "same words", "other words"
        );
        for hundredths in HUNDREDTHS {
            let cosine = f32::from(hundredths) / 100.0;
            let of = |suits: fn(&MeasuredPair) -> bool| {
                Reused::by(half(pairs, held_out), |it| it.cosine >= cosine && suits(it)).shown()
            };
            println!(
                "{cosine:6.2} {:>15} {:>15} {:>15} {:>15}",
                of(|_| true),
                of(|it| it.suits_baseline),
                of(|it| it.likeness == QuestionLikeness::SameWords),
                of(|it| it.likeness == QuestionLikeness::OtherWords)
            );
        }
    }
}

/// The baseline and the rule with `thresholds`, side by side.
pub fn print_rules(pairs: &[MeasuredPair], thresholds: &QuestionThresholds) {
    println!("\n{:32} {:>10} {:>10} {:>10} {:>10}", "", "reused", "wrong", "precision", "recall");
    for held_out in [false, true] {
        let rows = [
            (
                "baseline",
                Reused::by(half(pairs, held_out), |it| {
                    it.suits_baseline && it.cosine >= baseline::COSINE
                }),
            ),
            ("rule", Reused::by(half(pairs, held_out), |it| is_reused(it, thresholds))),
        ];
        for (rule, reused) in rows {
            println!(
                "{:32} {:10} {:10} {:10.3} {:10.3}",
                format!("{}, {rule}", name(held_out)),
                reused.right + reused.wrong,
                reused.wrong,
                reused.precision(),
                reused.recall()
            );
        }
    }
}

/// Precision and recall of the rule by language, of both halves together.
pub fn print_languages(pairs: &[MeasuredPair], thresholds: &QuestionThresholds) {
    let mut languages: Vec<&str> = Vec::new();
    for pair in pairs {
        if !languages.contains(&pair.pair.language()) {
            languages.push(pair.pair.language());
        }
    }
    println!("\n{:8} {:>6} {:>15}", "language", "pairs", "rule");
    for language in languages {
        let own = || pairs.iter().filter(move |it| it.pair.language() == language);
        let reused = Reused::by(own(), |it| is_reused(it, thresholds));
        println!("{language:8} {:6} {:>15}", own().count(), reused.shown());
    }
}

/// Pairs of other questions for which the rule reuses an answer.
pub fn print_wrong(pairs: &[MeasuredPair], thresholds: &QuestionThresholds) {
    print_pairs("wrongly the same", pairs, |it| !it.pair.same && is_reused(it, thresholds));
}

/// Pairs that mean the same and for which it does not.
pub fn print_missed(pairs: &[MeasuredPair], thresholds: &QuestionThresholds) {
    print_pairs("missed", pairs, |it| it.pair.same && !is_reused(it, thresholds));
}

/// How long words are compared.
pub fn print_time(pairs: &[MeasuredPair]) {
    let mut took: Vec<Duration> = pairs.iter().map(|it| it.took).collect();
    took.sort_unstable();
    let [median, longest] = [took.len() / 2, took.len().saturating_sub(1)]
        .map(|at| took.get(at).copied().unwrap_or_default().as_micros());
    println!("\nthe words of a pair are compared in {median} µs, at most {longest} µs");
}

fn print_pairs(title: &str, pairs: &[MeasuredPair], is_shown: impl Fn(&MeasuredPair) -> bool) {
    let shown: Vec<&MeasuredPair> = pairs.iter().filter(|it| is_shown(it)).collect();
    println!("\n{title}: {}", shown.len());
    for MeasuredPair { pair, cosine, likeness, .. } in shown {
        println!("  {} {cosine:.4} {likeness:?} {} | {}", pair.id, pair.first, pair.second);
    }
}

fn is_reused(pair: &MeasuredPair, thresholds: &QuestionThresholds) -> bool {
    pair.likeness.allows(pair.cosine, thresholds)
}

fn half(pairs: &[MeasuredPair], held_out: bool) -> impl Iterator<Item = &MeasuredPair> {
    pairs.iter().filter(move |it| it.pair.held_out == held_out)
}

fn name(held_out: bool) -> &'static str {
    if held_out { "held out" } else { "fitted to" }
}

impl Reused {
    fn by<'a>(
        pairs: impl Iterator<Item = &'a MeasuredPair>,
        is_reused: impl Fn(&MeasuredPair) -> bool,
    ) -> Reused {
        pairs.fold(Reused::default(), |sum, it| {
            let reused = is_reused(it);
            Reused {
                right: sum.right + usize::from(reused && it.pair.same),
                wrong: sum.wrong + usize::from(reused && !it.pair.same),
                same: sum.same + usize::from(it.pair.same),
            }
        })
    }

    /// 1 where nothing is reused: then nothing is wrong.
    fn precision(self) -> f64 {
        match self.right + self.wrong {
            0 => 1.0,
            all => self.right as f64 / all as f64,
        }
    }

    fn recall(self) -> f64 {
        self.right as f64 / self.same.max(1) as f64
    }

    fn shown(self) -> String {
        format!("{:.3} {:.3}", self.precision(), self.recall())
    }
}
