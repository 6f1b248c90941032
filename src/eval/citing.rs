//! Do citations hold what is cited, and is each of them needed?
//!
//! As ALCE measures it (Gao et al., "Enabling Large Language Models to Generate Text with
//! Citations", EMNLP 2023), with the comparison of words ([`crate::verify`]) in the place of a
//! model of natural language inference.
//!
//! * Recall: the share of the claims that what they cite supports, taken together.
//! * Precision: the share of the citations that matter: their claim is supported, and either the
//!   cited text supports it alone or the others do not without it.

use crate::verify::{Verdict, verify};

/// Recall and precision of the citations of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Citing {
    /// Share of the claims that what they cite supports.
    pub recall: f64,
    /// Share of the citations that matter; 0 where nothing is cited.
    pub precision: f64,
}

/// How `answer` cites `contexts` ("[2]" is the second); `None` where it claims nothing.
///
/// `interrupt` is called for each claim, and may unwind.
pub fn citing(answer: &str, contexts: &[&str], interrupt: &mut dyn FnMut()) -> Option<Citing> {
    let claims = verify(answer, contexts, interrupt);
    let (mut held, mut matter, mut all) = (0, 0, 0);
    for claim in &claims {
        let mut cited = claim.cited.clone();
        cited.sort_unstable();
        cited.dedup();
        let texts: Vec<&str> = cited.iter().map(|at| contexts[*at]).collect();
        all += texts.len();
        if says(&texts, &claim.text, interrupt) {
            held += 1;
            matter +=
                (0..texts.len()).filter(|at| matters(*at, &texts, &claim.text, interrupt)).count();
        }
    }
    let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
    (!claims.is_empty())
        .then(|| Citing { recall: share(held, claims.len()), precision: share(matter, all) })
}

/// Whether a claim that `texts` support needs the one at `at`, or is supported by it alone.
fn matters(at: usize, texts: &[&str], claim: &str, interrupt: &mut dyn FnMut()) -> bool {
    let mut others = texts.to_vec();
    let alone = others.remove(at);
    says(&[alone], claim, interrupt) || !says(&others, claim, interrupt)
}

fn says(texts: &[&str], claim: &str, interrupt: &mut dyn FnMut()) -> bool {
    let claims = if texts.is_empty() { Vec::new() } else { verify(claim, texts, interrupt) };
    !claims.is_empty() && claims.iter().all(|claim| claim.verdict == Verdict::Supported)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXTS: [&str; 3] = [
        "The mill grinds rye all winter.",
        "The inn serves soup on Sundays.",
        "Ink is black and paper is white.",
    ];

    fn check(answer: &str, expected: Option<(f64, f64)>) {
        let found = citing(answer, &CONTEXTS, &mut || {});
        assert_eq!(found.map(|it| (it.recall, it.precision)), expected, "{answer}");
    }

    #[test]
    fn what_is_cited_must_say_it() {
        check("The mill grinds rye [1]. The inn serves soup [2].", Some((1.0, 1.0)));
        check("The mill grinds rye [1]. The inn serves soup [3].", Some((0.5, 0.5)));
        check("The mill grinds rye [1]. The inn serves soup.", Some((0.5, 1.0)));
        check("The mill grinds rye.", Some((0.0, 0.0)));
        check("The mill grinds rye [9].", Some((0.0, 0.0)));
        check("", None);
    }

    #[test]
    fn what_adds_nothing_does_not_matter() {
        check("The mill grinds rye [1][3].", Some((1.0, 0.5)));
        check("The mill grinds rye [1, 1].", Some((1.0, 1.0)));
        let both = "The mill grinds rye all winter and the inn serves soup on Sundays [1][2].";
        check(both, Some((1.0, 1.0)));
    }
}
