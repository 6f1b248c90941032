//! # antecedent: does this sentence stand without the one before it?
//!
//! ```text
//! "This means that …" → no: who reads it alone cannot know what "this" is
//! ```

use super::ExtractPassage;
use super::candidates::{Candidates, ParsedQuestion, UnitCandidate};
use super::choice::ChosenUnit;
use super::identifier::has_word;
use crate::text::language::NaturalLanguage;
use crate::text::phrase::Phrases;
use crate::text::word_list::list_has;
use crate::text::words::Word;

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
    if STATEMENTS.begin(&candidate.reading) {
        Antecedent::Statement
    } else if SUBJECTS.begin(&candidate.reading) {
        Antecedent::Subject
    } else {
        Antecedent::Nothing
    }
}

/// `chosen`, in reading order, without an "It" that reads as something else: behind a sentence of another place,
/// or at the beginning of an answer, where it is what is asked for, or a name of a program that is not asked
/// about, or where a number or product code is asked about that its passage does not name and another does. The
/// sentence before comes with it if there is one, of the best piece in the place of the least of the others where
/// there are `most` already. Else the piece goes, unless it is all there is.
pub(super) fn with_subjects<'a>(
    candidates: &'a Candidates<'_>,
    passages: &[ExtractPassage],
    mut chosen: Vec<ChosenUnit<'a>>,
    most: usize,
) -> Vec<ChosenUnit<'a>> {
    let misleads = |at: &usize| misleads(candidates, passages, &chosen, *at);
    let Some(at) = (0..chosen.len()).find(misleads) else {
        return chosen;
    };
    let ChosenUnit { passage, first, score, .. } = chosen[at];
    let has_before =
        candidates.all[first].unit.follows && first > candidates.of_passage[passage].start;
    let is_best = chosen.iter().all(|it| it.score <= score);
    if !has_before || !is_best && chosen.len() >= most {
        if chosen.len() > 1 {
            chosen.remove(at);
        }
        return chosen;
    }
    let before = first - 1;
    chosen.insert(at, ChosenUnit { score, ..ChosenUnit::of(candidates, before) });
    let others = (0..chosen.len()).filter(|other| ![at, at + 1].contains(other));
    let least = others.min_by(|a, b| chosen[*a].score.total_cmp(&chosen[*b].score));
    if let Some(least) = least.filter(|_| chosen.len() > most) {
        chosen.remove(least);
    }
    chosen
}

/// Whether the subject of a chosen piece reads as another one.
fn misleads(
    candidates: &Candidates,
    passages: &[ExtractPassage],
    chosen: &[ChosenUnit],
    at: usize,
) -> bool {
    let ChosenUnit { passage, first, .. } = chosen[at];
    if antecedent(&candidates.all[first]) != Antecedent::Subject {
        return false;
    }
    match at.checked_sub(1).map(|before| &chosen[before]) {
        Some(before) => before.passage != passage,
        None if asks_for_subject(candidates.question) => true,
        None if stands_for_name(candidates, passages[passage].content, first) => true,
        None => {
            let held = &candidates.passage_credits;
            let terms = candidates.question.terms.iter().enumerate();
            let mut named = terms.filter(|(_, term)| term.is_number).map(|(term, _)| term);
            let is_of_others =
                |term: usize| held[passage][term] < 1.0 && held.iter().any(|it| it[term] >= 1.0);
            named.any(is_of_others)
        }
    }
}

/// Whether the sentence before the candidate `index` begins with code that the question does not name: "It" is that.
fn stands_for_name(candidates: &Candidates, content: &str, index: usize) -> bool {
    let UnitCandidate { passage, unit, .. } = &candidates.all[index];
    let has_before = unit.follows && index > candidates.of_passage[*passage].start;
    let before = index.checked_sub(1).filter(|_| has_before);
    let Some(before) = before.map(|it| &content[candidates.all[it].unit.range()]) else {
        return false;
    };
    let name = before.strip_prefix('`').and_then(|it| it.split('`').next());
    let asked = candidates.question.text.to_lowercase();
    name.is_some_and(|it| !has_word(&asked, &it.to_lowercase()))
}

/// Whether it is someone or something that is asked for, and nothing else is named that a pronoun could stand for: to
/// "Which process holds the model?", "It holds the model" is no answer.
fn asks_for_subject(question: &ParsedQuestion) -> bool {
    let asks = |word: &Word| list_has(ASKING_FOR_SUBJECTS, &word.folded);
    question.words.first().is_some_and(asks)
        && !question.terms.iter().any(|it| it.is_name || it.is_number)
}

const ASKING_FOR_SUBJECTS: &str = "who which wer welcher welche welches qui quel quelle quién quien cuál cual quem qual \
    chi quale welke kto który która które кто какой какая какое который 谁 哪个";

/// Words that stand for someone or something named before, each in its language: "On" and "Il" begin other sentences elsewhere.
const SUBJECTS: Phrases = Phrases {
    spaced: &[
        (NaturalLanguage::English, "it., its., they., their., he., his., she., her."),
        (NaturalLanguage::German, "er., sie., es., seine., ihre."),
        (NaturalLanguage::French, "il., ils., elle., elles., lui., leur."),
        (NaturalLanguage::Spanish, "él., ella., ellos., ellas."),
        (NaturalLanguage::Portuguese, "ele., ela., eles., elas."),
        (NaturalLanguage::Italian, "egli., ella., esso., essa., essi., esse., lui., lei., loro."),
        (NaturalLanguage::Dutch, "hij., zij., ze."),
        (NaturalLanguage::Polish, "on., ona., ono., oni., jego., jej., ich."),
        (NaturalLanguage::Russian, "он., она., оно., они., его., её., ее., их."),
        (NaturalLanguage::Ukrainian, "він., вона., воно., вони., його., її., їх."),
        (NaturalLanguage::Turkish, "o., onlar., onun., onların."),
        (NaturalLanguage::Greek, "αυτός., αυτή., αυτό., αυτοί."),
        (NaturalLanguage::Hindi, "वह., वे., उसका., उसकी., उसके., उनका., उनकी., उनके."),
        (NaturalLanguage::Arabic, "هو., هي., هم., هما."),
    ],
    unspaced: &[
        (NaturalLanguage::Chinese, "它, 他, 她"),
        (NaturalLanguage::Japanese, "彼, それら"),
    ],
};

/// Words that take up what was said before.
const STATEMENTS: Phrases = Phrases {
    spaced: &[
        (
            NaturalLanguage::English,
            "this., that., these., those., such., thus., therefore., hence., otherwise., however., instead., consequently., then., so., also., but., or., and.",
        ),
        (
            NaturalLanguage::German,
            "dies., dieser., diese., dieses., dadurch., deshalb., daher., darum., dabei., damit., dann., sonst., stattdessen., jedoch., und., oder.",
        ),
        (
            NaturalLanguage::French,
            "cela., ceci., cette., ces., donc., sinon., alors., cependant., et., ou., ni.",
        ),
        (
            NaturalLanguage::Spanish,
            "esto., eso., este., esta., estos., estas., así., entonces., y., o., ni.",
        ),
        (NaturalLanguage::Portuguese, "isso., isto., este., esta., assim., então., e., ou."),
        (
            NaturalLanguage::Italian,
            "questo., questa., questi., queste., ciò., quindi., e., ed., o.",
        ),
        (NaturalLanguage::Dutch, "dit., deze., dus., daarom., en., of."),
        (NaturalLanguage::Polish, "to., ten., ta., te., więc., dlatego., zatem., i., ale."),
        (NaturalLanguage::Russian, "это., этот., эта., эти., поэтому., иначе., тогда., и., или."),
        (NaturalLanguage::Ukrainian, "це., цей., ця., ці., тому., інакше., тоді., і., або."),
        (NaturalLanguage::Turkish, "bu., bunlar., bunun., böylece., ancak., ve."),
        (NaturalLanguage::Greek, "αυτό., επομένως., αλλιώς., και., ή."),
        (NaturalLanguage::Hindi, "यह., ये., इस., इससे., इसलिए., इसके."),
        (NaturalLanguage::Arabic, "هذا., هذه., ذلك., لذلك., ولذلك."),
    ],
    unspaced: &[
        (NaturalLanguage::Chinese, "这, 因此, 否则"),
        (NaturalLanguage::Japanese, "これ, この, その, そのため, したがって"),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::ExtractPassage;
    use crate::extract::candidates::Candidates;

    #[test]
    fn first_words_tell() {
        let content = "This means a restart. It takes long. The rest waits. Dadurch dauert es.";
        let passage = ExtractPassage::of(1, content);
        let question = ParsedQuestion::read("How long?");
        let candidates = Candidates::read(&question, &[passage]);
        let found: Vec<Antecedent> = candidates.all.iter().map(antecedent).collect();
        use Antecedent::{Nothing, Statement, Subject};
        assert_eq!(found, [Statement, Subject, Nothing, Statement]);
    }

    #[test]
    fn a_word_takes_up_in_its_language_alone() {
        let taken = |content: &str| {
            let passage = ExtractPassage::of(1, content);
            let question = ParsedQuestion::read("How?");
            let candidates = Candidates::read(&question, &[passage]);
            antecedent(&candidates.all[0])
        };
        for content in [
            "On clear nights the dome is open.",
            "Il cancello si chiude alle otto.",
            "O pedido é feito por escrito.",
            "Het water is in de winter afgesloten.",
        ] {
            assert_eq!(taken(content), Antecedent::Nothing, "{content}");
        }
        for content in [
            "Ona jest bardzo ciężka.",
            "Он тяжёлый.",
            "Ela é muito pesada.",
            "वह बहुत भारी है।",
            "Onun ağırlığı ne kadar bilinmez.",
        ] {
            assert_eq!(taken(content), Antecedent::Subject, "{content}");
        }
        for content in ["इसलिए दरवाज़ा बंद है।", "そのためドアは閉まっています。", "لذلك يُغلق الباب."]
        {
            assert_eq!(taken(content), Antecedent::Statement, "{content}");
        }
    }

    /// The texts of what is left of the candidates `chosen` of two products.
    fn left(question: &str, chosen: &[usize]) -> Vec<String> {
        let passage = ExtractPassage::of;
        let passages = [
            passage(1, "The K100 is flat. Its battery lasts 80 hours."),
            passage(2, "The S200 is high. It runs on two batteries, which last six months."),
            passage(3, "It has no battery."),
        ];
        let question = ParsedQuestion::read(question);
        let candidates = Candidates::read(&question, &passages);
        let unit = |first: &usize| ChosenUnit {
            score: 9.0 - *first as f32,
            ..ChosenUnit::of(&candidates, *first)
        };
        let chosen = chosen.iter().map(unit).collect();
        let left = with_subjects(&candidates, &passages, chosen, 2);
        left.iter().map(|it| candidates.all[it.first].reading.clone()).collect()
    }

    #[test]
    fn it_does_not_read_as_another_thing() {
        let asked = "How long does the battery of the K100 last?";
        let its = "Its battery lasts 80 hours.";
        let (high, runs) =
            ("The S200 is high.", "It runs on two batteries, which last six months.");
        assert_eq!(left(asked, &[1]), [its]);
        assert_eq!(left(asked, &[1, 3]), [its]);
        assert_eq!(left(asked, &[3]), [high, runs]);
        assert_eq!(left("How long does the battery last?", &[3]), [runs]);
        assert_eq!(left(asked, &[1, 4]), [its]);
        assert_eq!(left(asked, &[4]), ["It has no battery."]);
        assert_eq!(left(asked, &[2, 3]), [high, runs]);
    }

    #[test]
    fn who_is_asked_for_is_named() {
        let (high, runs) =
            ("The S200 is high.", "It runs on two batteries, which last six months.");
        assert_eq!(left("Which product runs on two batteries?", &[3]), [high, runs]);
        assert_eq!(left("Which batteries does the S200 have?", &[3]), [runs]);
        assert_eq!(left("How many batteries are there?", &[3]), [runs]);
        assert_eq!(left("Which product has no battery?", &[4]), ["It has no battery."]);
    }
}
