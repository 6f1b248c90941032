//! # nli: does a model of natural language inference find each claim in what was read?
//!
//! ```text
//! (claims, probability that each context entails each claim) → claims with its verdicts
//! ```
//!
//! Such a model reads a context and a claim together and says how likely the one follows from the
//! other. It knows synonyms, which words alone do not show, but points at no sentence: the evidence
//! is what the comparison of words has found, if that is in the same context, or else the
//! whole context.

use super::{Claim, ContextEvidence, Verdict};

/// Probability from which a claim counts as supported.
const SUPPORTED: f64 = 0.5;

/// `claims` with the verdicts of a model. `entailed[context][claim]` is the probability that it
/// finds for them; contexts that a claim does not cite don't count, if it cites.
///
/// A claim that no context entails is contradicted where the comparison of words says so.
pub fn decided(claims: &[Claim], entailed: &[Vec<f32>], contexts: &[&str]) -> Vec<Claim> {
    let decide = |(number, claim): (usize, &Claim)| {
        let may_count = |at: &usize| claim.cited.is_empty() || claim.cited.contains(at);
        let found = entailed.iter().map(|of_context| of_context.get(number).copied());
        let found = found.enumerate().filter(|(at, _)| may_count(at));
        let best = found
            .filter_map(|(at, probability)| Some((at, f64::from(probability?))))
            .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        decide(claim, best, contexts)
    };
    claims.iter().enumerate().map(decide).collect()
}

fn decide(claim: &Claim, best: Option<(usize, f64)>, contexts: &[&str]) -> Claim {
    let mut decided = claim.clone();
    let (context, probability) = best.unwrap_or((0, 0.0));
    decided.score = probability;
    if probability >= SUPPORTED {
        decided.verdict = Verdict::Supported;
        let is_there = claim.evidence.as_ref().is_some_and(|it| it.context == context);
        if !is_there && let Some(text) = contexts.get(context) {
            decided.evidence = Some(ContextEvidence { context, chars: 0..text.chars().count() });
        }
    } else if claim.verdict == Verdict::Supported {
        decided.verdict = Verdict::Unsupported;
    }
    decided
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::verify;

    const CONTEXTS: [&str; 2] = ["The tower was built in 1889.", "It stands in Paris."];

    fn check(answer: &str, entailed: [f32; 2], expected: (Verdict, f64, Option<usize>)) {
        let claims = verify(answer, &CONTEXTS, &mut || {});
        let entailed = entailed.map(|probability| vec![probability]);
        let decided = decided(&claims, &entailed, &CONTEXTS).remove(0);
        let context = decided.evidence.as_ref().map(|it| it.context);
        assert_eq!((decided.verdict, decided.score, context), expected, "{answer}");
    }

    #[test]
    fn the_best_context_decides() {
        check("Its home is France.", [0.25, 0.75], (Verdict::Supported, 0.75, Some(1)));
        check("The tower was built in 1889.", [0.25, 0.0], (Verdict::Unsupported, 0.25, Some(0)));
        check("The tower was built in 1925.", [0.25, 0.0], (Verdict::Contradicted, 0.25, Some(0)));
        check("Its home is France [1].", [0.25, 0.75], (Verdict::Unsupported, 0.25, None));
    }

    #[test]
    fn the_evidence_is_a_sentence_or_all() {
        let claims = verify("The tower was built in 1889.", &CONTEXTS, &mut || {});
        let chars = |entailed: [f32; 2]| {
            let entailed = entailed.map(|probability| vec![probability]);
            decided(&claims, &entailed, &CONTEXTS)[0].evidence.clone().unwrap().chars
        };
        assert_eq!((chars([0.9, 0.1]), chars([0.1, 0.9])), (0..28, 0..19));
    }

    #[test]
    fn without_contexts_nothing_is_supported() {
        let claims = verify("The tower was built in 1889.", &[], &mut || {});
        let decided = decided(&claims, &[], &[]);
        assert_eq!((decided[0].verdict, decided[0].score), (Verdict::Unsupported, 0.0));
    }
}
