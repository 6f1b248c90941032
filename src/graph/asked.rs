//! Which entities does a question name, of those that there are?
//!
//! ```text
//! (what its capitals say, all its phrases, which of them there are) → entities
//! ```
//!
//! Capitals say where a name stands, and not always where it ends: in "Compare Ada Berg Ben Cole" there are two. In small
//! letters they say nothing. So any phrase may be a name if something in the graph has it, but for words such as "who",
//! and for what is part of a longer one that has been found: "Ada Berg" is not about every Berg.

use super::paths::NamedEntity;
use crate::text::function_word::is_function_word_of;
use crate::text::language::language;

/// What `question` names of what `is_known`: of the names that an extractor has found all, and of the phrases of the
/// question the longest.
#[must_use]
pub fn named(
    question: &str,
    (names, mut phrases): (Vec<NamedEntity>, Vec<NamedEntity>),
    is_known: impl Fn(&str) -> bool,
) -> Vec<NamedEntity> {
    let mut found: Vec<NamedEntity> = names.into_iter().filter(|it| is_known(&it.norm)).collect();
    let language = language(question);
    let is_name = |it: &NamedEntity| !is_function_word_of(&it.name.to_lowercase(), language);
    phrases.retain(|it| is_known(&it.norm) && is_name(it));
    phrases.sort_by_key(|it| std::cmp::Reverse(it.norm.split(' ').count()));
    for phrase in phrases {
        if !found.iter().any(|it| is_within(&phrase.norm, &it.norm)) {
            found.push(phrase);
        }
    }
    found
}

/// Whether the words of a normal form are among those of another, one after the other.
fn is_within(norm: &str, other: &str) -> bool {
    format!(" {other} ").contains(&format!(" {norm} "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::EntityExtractor;
    use crate::graph::relations::phrases;
    use crate::graph::rules::RuleExtractor;

    fn check(question: &str, known: &[&str], expected: &[&str]) {
        let asked = RuleExtractor.asked(question, &mut || {}).into_iter();
        let names = asked.map(|(norm, name)| NamedEntity { norm, name }).collect();
        let found = named(question, (names, phrases(question)), |norm| known.contains(&norm));
        let norms: Vec<&str> = found.iter().map(|it| it.norm.as_str()).collect();
        assert_eq!(norms, expected, "{question}");
    }

    #[test]
    fn names_are_found_in_small_letters_and_side_by_side() {
        let known = ["ingrid solberg", "rashid khan", "solberg", "who", "how"];
        let both = ["ingrid solberg", "rashid khan"];
        check("how is ingrid solberg connected with rashid khan?", &known, &both);
        check("Compare Ingrid Solberg Rashid Khan", &known, &both);
        check("Compare Rashid Khan Ingrid Solberg", &known, &["rashid khan", "ingrid solberg"]);
        check("who is solberg?", &known, &["solberg"]);
        check("What does WHO say of Solberg?", &known, &["who", "solberg"]);
        check("nobody knows", &known, &[]);
        check("", &known, &[]);
        check("who uses c++ and c?", &["c++", "c"], &["c++", "c"]);
    }

    #[test]
    fn what_capitals_say_stays() {
        let known = ["scott derrickson and ed wood", "scott derrickson", "ed wood", "wood"];
        let all = ["scott derrickson and ed wood", "scott derrickson", "ed wood"];
        check("Were Scott Derrickson and Ed Wood of one nationality?", &known, &all);
    }
}
