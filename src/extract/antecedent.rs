//! # antecedent: does this sentence stand without the one before it?
//!
//! ```text
//! "This means that …" → no: who reads it alone cannot know what "this" is
//! ```

use super::candidates::UnitCandidate;
use crate::text::words::each_word;

/// What a sentence takes up of those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Antecedent {
    /// None: it stands by itself.
    Nothing,
    /// Someone or something, by a pronoun: "It", "their". Who asked for it knows what is meant, unless
    /// another sentence stands between.
    Subject,
    /// What was said: "This means", "Otherwise".
    Statement,
}

/// What the first word of `candidate` takes up.
pub(super) fn antecedent(candidate: &UnitCandidate) -> Antecedent {
    let is_one_of = |list: &str, word: &str| list.split(' ').any(|it| it == word);
    match each_word(&candidate.reading).next() {
        Some(first) if is_one_of(STATEMENTS, &first.folded) => Antecedent::Statement,
        Some(first) if is_one_of(SUBJECTS, &first.folded) => Antecedent::Subject,
        _ => Antecedent::Nothing,
    }
}

const SUBJECTS: &str = "it its they their he his she her er sie es seine ihre il ils elle elles lui leur él ella \
    ellos ellas ele ela eles elas egli esso essi hij zij het on ona ono oni он она оно они его её их 它 他 她 它们 他们";

const STATEMENTS: &str = "this that these those such thus therefore hence otherwise however instead consequently \
    then so also but dies dieser diese dieses dadurch deshalb daher darum dabei damit dann sonst stattdessen jedoch \
    cela ceci cette donc sinon alors cependant esto eso este esta estos así entonces isso isto assim então questo \
    questa quindi dit deze dus daarom это этот эта эти поэтому иначе тогда 这 这些 因此 否则";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::ExtractPassage;
    use crate::extract::candidates::{Candidates, ParsedQuestion};

    #[test]
    fn first_words_tell() {
        let passage = ExtractPassage {
            number: 1,
            content: "This means a restart. It takes long. The rest waits. Dadurch dauert es.",
            heading: None,
            dense_similarity: None,
        };
        let question = ParsedQuestion::read("How long?");
        let candidates = Candidates::read(&question, &[passage]);
        let found: Vec<Antecedent> = candidates.all.iter().map(antecedent).collect();
        use Antecedent::{Nothing, Statement, Subject};
        assert_eq!(found, [Statement, Subject, Nothing, Statement]);
    }
}
