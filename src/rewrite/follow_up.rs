//! What is looked up for a question that follows another, where no language model writes it?
//!
//! ```text
//! (the question before, question) → the question with what it takes over
//! ```
//!
//! A question that only names something else ("What about the S200?") is the one before with that in its
//! place. One that leans on it ("And how long does its battery last?") gets the names in it, or its words where
//! no product code or the like says what it was about. What a question took over itself is handed on only as
//! far as its own words are few, so nothing piles up from turn to turn.
//!
//! "The second one" is called by the name that it has in the list of the last answer. Where no spaces part words, the question before is
//! taken over as it is.
//!
//! A search is for words and meanings, and does not mind that what is looked up is no sentence.

use std::collections::HashSet;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::condense::PastTurn;
use super::follow_up_words::{
    ARTICLES, JOINING, JOINING_OF, OPENINGS, POINTING, PREPOSITIONS, REPEATING, UNSPACED_ENDS,
    UNSPACED_JOINING, UNSPACED_POINTING, VERBS,
};
use super::listed_item::{only_row, with_named_item};
use crate::text::function_word::{is_function_character, is_function_word_of};
use crate::text::language::{NaturalLanguage, is_function_word, language};
use crate::text::words::{Word, credit, each_word};

/// Words that a question takes over of those that the one before has taken over, less the own ones of that.
const HANDED_ON: usize = 4;

/// Words of its own that a question has at most that leans on the one before by that alone.
const FEW_WORDS: usize = 1;

/// And with a word for the number of an item: "What does the third cost?"
const FEW_WITH_ORDINAL: usize = 2;

/// Verbs behind which "there" is no place.
const EXISTING: &str = "is are was were be";

/// Most words of what a row is about.
const LONGEST_SUBJECT: usize = 3;

/// Most words behind a preposition that are exchanged.
const LONGEST_PHRASE: usize = 2;

/// Characters of the question before that are taken over where no spaces part words.
const MOST_UNSPACED: usize = 60;

/// What a question names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MentionKind {
    /// A word with a capital letter.
    Name,
    /// Such a word in a language in which all nouns have one.
    Noun,
    /// A number: a year, an amount.
    Number,
    /// What has digits and letters, with the names beside it: "K100", "Galaxy S200".
    Code,
}

/// A thing that is named in a question.
#[derive(Clone, Debug)]
struct Mention {
    range: Range<usize>,
    kind: MentionKind,
    /// The word before it that is no article, if there is one.
    lead: Option<String>,
}

/// A question, read word by word.
struct ReadQuestion<'a> {
    text: &'a str,
    words: Vec<(Range<usize>, Word)>,
    mentions: Vec<Mention>,
}

/// `question` as it is looked up behind the last of `turns`: as it is, unless it leans on that.
#[must_use]
pub fn follow_up(turns: &[PastTurn], question: &str) -> String {
    let Some(last) = turns.last() else { return question.to_owned() };
    let spoken = language(question).or_else(|| language(&last.question));
    let own = ReadQuestion::read(question, spoken);
    let before = ReadQuestion::read(&last.question, spoken);
    let content = own.content(spoken);
    let is_about_last = own.joins(spoken) || own.points(spoken).is_some();
    if (is_about_last || content.len() <= FEW_WITH_ORDINAL)
        && let Some(named) = with_named_item(question, &last.answer)
    {
        return named;
    }
    if let Some(text) = own.subject_put_into(&before, (&last.answer, is_about_last), spoken) {
        return text;
    }
    if own.names_something_else(&content, spoken)
        && let Some(text) = own.put_into(&before)
    {
        return text;
    }
    if let Some(text) = own.phrase_put_into(&before, spoken) {
        return text;
    }
    if !own.leans(&content, spoken) {
        return question.to_owned();
    }
    if is_unspaced(spoken) && !before.has_code() {
        return format!("{} {question}", behind_earlier(last));
    }
    let is_bare = content.is_empty() && own.mentions.is_empty();
    let taken = match is_bare || !before.has_code() {
        true => words_of(last, &own, spoken),
        false => own.mentions_of(&before, spoken),
    };
    taken.into_iter().chain([question.to_owned()]).collect::<Vec<_>>().join(" ")
}

impl<'a> ReadQuestion<'a> {
    fn read(text: &'a str, spoken: Option<NaturalLanguage>) -> ReadQuestion<'a> {
        let places = text.unicode_word_indices().map(|(start, word)| start..start + word.len());
        let words: Vec<(Range<usize>, Word)> = places.zip(each_word(text)).collect();
        let mentions = mentions(text, &words, spoken);
        ReadQuestion { text, words, mentions }
    }

    fn folded(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|(_, word)| word.folded.as_str())
    }

    /// The words that say something and name nothing.
    fn content(&self, spoken: Option<NaturalLanguage>) -> Vec<&str> {
        let is_named = |range: &Range<usize>| {
            self.mentions
                .iter()
                .any(|it| it.range.start <= range.start && range.end <= it.range.end)
        };
        let words = self.words.iter().filter(|(range, _)| !is_named(range));
        words.map(|(_, word)| word.folded.as_str()).filter(|word| !is_frame(word, spoken)).collect()
    }

    /// Whether it has nothing of its own but names, and is no question by itself, as "What is the S200?" is.
    fn names_something_else(&self, content: &[&str], spoken: Option<NaturalLanguage>) -> bool {
        let begins = self.begins_with_opening();
        !self.mentions.is_empty()
            && content.is_empty()
            && (begins
                || self.joins(spoken)
                || self.points(spoken).is_some()
                || !self.folded().any(|word| is_one_of(VERBS, word)))
    }

    fn begins_with_opening(&self) -> bool {
        let text = self.folded().collect::<Vec<_>>().join(" ");
        OPENINGS.iter().any(|opening| text.starts_with(opening))
    }

    fn leans(&self, content: &[&str], spoken: Option<NaturalLanguage>) -> bool {
        // Characters are no words.
        let few = if is_unspaced(spoken) { 0 } else { FEW_WORDS };
        let is_short = content.len() + self.mentions.len() <= few;
        let names_its_own = self.mentions.iter().any(|it| it.kind != MentionKind::Noun);
        self.points(spoken).is_some() || self.joins(spoken) || is_short && !names_its_own
    }

    fn joins(&self, spoken: Option<NaturalLanguage>) -> bool {
        if is_unspaced(spoken) {
            let asked = self.text.trim().trim_end_matches(['?', '？', '。']);
            return UNSPACED_JOINING.iter().any(|it| asked.starts_with(it))
                || UNSPACED_ENDS.iter().any(|it| asked.ends_with(it));
        }
        self.folded().next().is_some_and(|word| is_joining(word, spoken))
    }

    /// Where the first word stands that stands for something said before.
    fn points(&self, spoken: Option<NaturalLanguage>) -> Option<usize> {
        if is_unspaced(spoken) {
            return UNSPACED_POINTING.iter().filter_map(|it| self.text.find(it)).min();
        }
        let spoken = spoken.unwrap_or(NaturalLanguage::English);
        let (_, list) = POINTING.iter().find(|(language, _)| *language == spoken)?;
        // "Are there rooms?" asks whether some exist, and not what is at a place.
        let exists = |at: usize| {
            let before = at.checked_sub(1).map(|it| self.words[it].1.folded.as_str());
            self.words[at].1.folded == "there" && before.is_some_and(|it| is_one_of(EXISTING, it))
        };
        let points = |at: &usize| is_one_of(list, &self.words[*at].1.folded) && !exists(*at);
        let at = (0..self.words.len()).find(points)?;
        Some(self.words[at].0.start)
    }

    fn has_code(&self) -> bool {
        self.mentions.iter().any(|it| it.kind == MentionKind::Code)
    }

    fn slice(&self, mention: &Mention) -> &'a str {
        &self.text[mention.range.clone()]
    }

    /// The question `before` with what this one names in the place of what is named there; `None` where there
    /// is no place for something.
    fn put_into(&self, before: &ReadQuestion<'_>) -> Option<String> {
        let mut places: Vec<(Range<usize>, &str)> = Vec::new();
        for mention in &self.mentions {
            let free = |it: &&Mention| places.iter().all(|(range, _)| *range != it.range);
            let place = mention.place_among(before.mentions.iter().filter(free))?;
            places.push((before.exchanged(place, self.slice(mention)), self.slice(mention)));
        }
        places.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        let mut text = before.text.to_owned();
        places.into_iter().for_each(|(range, name)| text.replace_range(range, name));
        Some(text)
    }

    /// The question `before` with what this one speaks of in the place of what the row that answered it is about; `None` where it was
    /// another answer, where that is not named in the question, and where this one speaks of something in the row.
    fn subject_put_into(
        &self,
        before: &ReadQuestion<'_>,
        (answer, is_about_last): (&str, bool),
        spoken: Option<NaturalLanguage>,
    ) -> Option<String> {
        let (row, subject) = only_row(answer)?;
        let is_like = |word: &Word, text: &str| {
            let mut words = each_word(text);
            words.any(|other| credit(&word.folded, &other.folded) > 0.0)
        };
        let is_said = |at: &usize| !is_frame(&self.words[*at].1.folded, spoken);
        let said: Vec<usize> = (0..self.words.len()).filter(is_said).collect();
        let (&first, &last) = (said.first()?, said.last()?);
        let mut words_before = (0..first).rev().map(|at| self.words[at].1.folded.as_str());
        let lead = words_before.find(|word| !is_one_of(ARTICLES, word));
        let is_adjunct =
            lead.is_some_and(|word| is_one_of(PREPOSITIONS, word)) && !self.begins_with_opening();
        let is_more = self.folded().any(|word| is_one_of(VERBS, word)) && !is_about_last;
        let is_of_row = said.iter().any(|at| is_like(&self.words[*at].1, &row));
        if said.len() > LONGEST_SUBJECT || is_more || is_adjunct || is_of_row {
            return None;
        }
        let is_subject = |at: &usize| {
            let word = &before.words[*at].1;
            !is_frame(&word.folded, spoken) && is_like(word, &subject)
        };
        let mut places = (0..before.words.len()).filter(is_subject);
        let start = places.next()?;
        let end = places.next_back().unwrap_or(start);
        let place = before.words[start].0.start..before.words[end].0.end;
        let own = self.words[first].0.start..self.words[last].0.end;
        let mut text = before.text.to_owned();
        (end - start < LONGEST_SUBJECT).then(|| {
            text.replace_range(place, &self.text[own]);
            text
        })
    }

    /// The question `before` with the words behind a preposition ("And in winter?") in the place of those behind the same one ("in
    /// summer"); `None` where this question says more, or that one has no such place or a name there.
    fn phrase_put_into(
        &self,
        before: &ReadQuestion<'_>,
        spoken: Option<NaturalLanguage>,
    ) -> Option<String> {
        let is_more = self.folded().any(|word| is_one_of(VERBS, word)) && !self.joins(spoken);
        if !self.mentions.is_empty() || is_more {
            return None;
        }
        let (lead, own) = self.phrases(spoken).into_iter().next()?;
        let own = &self.text[own];
        let is_all = self.content(spoken).len() == own.split_whitespace().count();
        let mut places = before.phrases(spoken).into_iter();
        let (_, place) = places.find(|(other, _)| *other == lead).filter(|_| is_all)?;
        let overlaps = |it: &Mention| it.range.start < place.end && place.start < it.range.end;
        if before.mentions.iter().any(overlaps) {
            return None;
        }
        let mut text = before.text.to_owned();
        text.replace_range(place, own);
        Some(text)
    }

    /// The prepositions that stand before one or two words that say something, articles between them left out, and these words.
    fn phrases(&self, spoken: Option<NaturalLanguage>) -> Vec<(&str, Range<usize>)> {
        let mut phrases = Vec::new();
        let says = |word: &&(Range<usize>, Word)| !is_frame(&word.1.folded, spoken);
        for (at, (_, lead)) in self.words.iter().enumerate() {
            if !is_one_of(PREPOSITIONS, &lead.folded) {
                continue;
            }
            let behind = self.words[at + 1..].iter();
            let behind = behind.skip_while(|(_, it)| is_one_of(ARTICLES, &it.folded));
            let said: Vec<_> = behind.take_while(says).take(LONGEST_PHRASE).collect();
            if let (Some(first), Some(last)) = (said.first(), said.last()) {
                phrases.push((lead.folded.as_str(), first.0.start..last.0.end));
            }
        }
        phrases
    }

    /// What of the mention `place` gives way to `name`: "S300" takes the place of the code in "Galaxy S200".
    fn exchanged(&self, place: &Mention, name: &str) -> Range<usize> {
        let is_code_alone = name.split_whitespace().count() == 1 && name.contains(char::is_numeric);
        let words = self
            .words
            .iter()
            .filter(|(range, _)| place.range.start <= range.start && range.end <= place.range.end);
        let code =
            words.filter(|(_, word)| word.is_number).map(|(range, _)| range.clone()).next_back();
        match code {
            Some(code) if is_code_alone && self.slice(place).contains(char::is_whitespace) => code,
            _ => place.range.clone(),
        }
    }

    /// What `before` names, without what this question names in its place.
    fn mentions_of(
        &self,
        before: &ReadQuestion<'_>,
        spoken: Option<NaturalLanguage>,
    ) -> Vec<String> {
        let first = self.mentions.iter().map(|it| it.range.start).min().unwrap_or(usize::MAX);
        let is_meant = self.points(spoken).is_some_and(|place| place < first);
        let is_replaced =
            |it: &Mention| !is_meant && self.mentions.iter().any(|own| own.kind == it.kind);
        let own: HashSet<&str> = self.mentions.iter().map(|it| self.slice(it)).collect();
        let taken = before.mentions.iter().filter(|it| it.kind != MentionKind::Noun);
        let taken = taken.filter(|it| !is_replaced(it) && !own.contains(before.slice(it)));
        taken.map(|it| before.slice(it).to_owned()).collect()
    }
}

impl Mention {
    /// The one of `others` whose place this takes: of the same kind, behind the same word if there is one.
    fn place_among<'m>(&self, others: impl Iterator<Item = &'m Mention>) -> Option<&'m Mention> {
        let others: Vec<&Mention> = others.collect();
        let same: Vec<&&Mention> = others.iter().filter(|it| it.kind == self.kind).collect();
        let behind_same = same.iter().find(|it| it.lead.is_some() && it.lead == self.lead);
        let is_thing = |it: &&&Mention| matches!(it.kind, MentionKind::Name | MentionKind::Code);
        match (behind_same, self.kind) {
            (Some(found), _) => Some(found),
            // Any noun is none: "And the battery?" is no question about another product.
            (None, MentionKind::Noun) => None,
            (None, _) if !same.is_empty() => same.first().map(|it| **it),
            (None, MentionKind::Number) => None,
            (None, _) => match others.iter().filter(is_thing).collect::<Vec<_>>().as_slice() {
                [only] => Some(**only),
                _ => None,
            },
        }
    }
}

/// What is named in `text`; what stands beside each other is one.
fn mentions(
    text: &str,
    words: &[(Range<usize>, Word)],
    spoken: Option<NaturalLanguage>,
) -> Vec<Mention> {
    let mut mentions: Vec<Mention> = Vec::new();
    let mut lead: Option<String> = None;
    for (range, word) in words {
        let is_name = word.is_name && !is_frame(&word.folded, spoken);
        if !is_name && !word.is_number {
            if !is_one_of(ARTICLES, &word.folded) {
                lead = Some(word.folded.clone());
            }
            continue;
        }
        let kind = kind_of(word, spoken);
        match mentions.last_mut() {
            Some(last) if matches!(&text[last.range.end..range.start], "" | " " | "-" | ".") => {
                last.kind = last.kind.beside(kind);
                last.range.end = range.end;
            }
            _ => mentions.push(Mention { range: range.clone(), kind, lead: lead.clone() }),
        }
    }
    mentions
}

fn kind_of(word: &Word, spoken: Option<NaturalLanguage>) -> MentionKind {
    match word.is_number {
        true if word.folded.contains(char::is_alphabetic) => MentionKind::Code,
        true => MentionKind::Number,
        false if spoken == Some(NaturalLanguage::German) => MentionKind::Noun,
        false => MentionKind::Name,
    }
}

impl MentionKind {
    /// What two words beside each other are: a name with a number is the code of something.
    fn beside(self, other: MentionKind) -> MentionKind {
        if self == other { self } else { MentionKind::Code }
    }
}

/// The words of the question before, its own first, and of those that it had taken over as many as it has
/// room for; without those that `own` has.
fn words_of(
    last: &PastTurn,
    own: &ReadQuestion<'_>,
    spoken: Option<NaturalLanguage>,
) -> Vec<String> {
    let asked = last.asked.trim();
    let taken = last.question.trim_end().strip_suffix(asked).filter(|_| !asked.is_empty());
    let (asked, taken) = match taken {
        Some(taken) => (asked, taken),
        None => (last.question.as_str(), ""),
    };
    let mut known: HashSet<String> = own.folded().map(str::to_owned).collect();
    let mut of = |text: &str| {
        let words = each_word(text).map(|word| word.folded);
        let words = words.filter(|word| !is_frame(word, spoken) && known.insert(word.clone()));
        words.collect::<Vec<String>>()
    };
    let mut words = of(asked);
    let room = HANDED_ON.saturating_sub(words.len());
    words.extend(of(taken).into_iter().take(room));
    words
}

/// Whether a word only makes a question of what it stands beside.
fn is_frame(word: &str, spoken: Option<NaturalLanguage>) -> bool {
    is_function_word(NaturalLanguage::English, word)
        || spoken.is_some_and(|spoken| is_function_word(spoken, word))
        || !word.is_ascii() && is_function_word_of(word, spoken)
        || is_unspaced(spoken) && word.chars().all(is_function_character)
        || is_one_of(REPEATING, word)
        || is_joining(word, spoken)
}

fn is_joining(word: &str, spoken: Option<NaturalLanguage>) -> bool {
    let mut of = JOINING_OF.iter().filter(|(language, _)| spoken == Some(*language));
    is_one_of(JOINING, word) || of.any(|(_, list)| is_one_of(list, word))
}

/// Whether a language writes no spaces between words.
fn is_unspaced(spoken: Option<NaturalLanguage>) -> bool {
    matches!(spoken, Some(NaturalLanguage::Chinese | NaturalLanguage::Japanese))
}

/// The last question as it was asked, behind the beginning of what it took over, without its mark.
fn behind_earlier(last: &PastTurn) -> String {
    let asked = last.asked.trim();
    let taken = last.question.trim().strip_suffix(asked).unwrap_or_default().trim();
    let taken = if asked.is_empty() { last.question.as_str() } else { taken };
    let short = |text: &str| -> String {
        let marks = ['?', '？', '。', ' '];
        text.trim_end_matches(marks).chars().take(MOST_UNSPACED).collect()
    };
    let words = [short(taken.split(' ').next().unwrap_or_default()), short(asked)];
    words.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ")
}

fn is_one_of(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|it| it == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is looked up for each question of a conversation.
    fn check(turns: &[(&str, &str)]) {
        let mut past: Vec<PastTurn> = Vec::new();
        for (asked, expected) in turns {
            let standalone = follow_up(&past, asked);
            assert_eq!(&standalone, expected, "{asked}");
            past.push(PastTurn {
                asked: (*asked).to_owned(),
                question: standalone,
                answer: String::new(),
            });
        }
    }

    /// What is looked up for `question` behind `before`.
    fn behind(before: &str, question: &str, expected: &str) {
        check(&[(before, before), (question, expected)]);
    }

    #[test]
    fn a_name_takes_the_place_of_the_one_before() {
        check(&[
            ("How long is the warranty of the K100?", "How long is the warranty of the K100?"),
            ("And how long does its battery last?", "K100 And how long does its battery last?"),
            ("what about the S200?", "S200 And how long does its battery last?"),
            ("And the K100?", "K100 And how long does its battery last?"),
        ]);
        check(&[
            (
                "Wie lange ist die Garantie der Tastatur K100?",
                "Wie lange ist die Garantie der Tastatur K100?",
            ),
            ("Und wie lange hält ihr Akku?", "Tastatur K100 Und wie lange hält ihr Akku?"),
            ("Und beim S200?", "Tastatur S200 Und wie lange hält ihr Akku?"),
            ("Was ist mit der K100?", "Tastatur K100 Und wie lange hält ihr Akku?"),
        ]);
        let office = "When does the office in Bremen open in 2024?";
        behind(office, "And in Berlin?", "When does the office in Berlin open in 2024?");
        behind(office, "And in 2025?", "When does the office in Bremen open in 2025?");
        behind(
            office,
            "What about New York in 2025?",
            "When does the office in New York open in 2025?",
        );
        behind(
            "Wann öffnet das Büro in Bremen?",
            "Und in Berlin?",
            "Wann öffnet das Büro in Berlin?",
        );
        behind("Combien coûte le K100 ?", "Et le S200 ?", "Combien coûte le S200 ?");
        behind("How heavy is the K100?", "Is it the same for the S200?", "How heavy is the S200?");
        behind("How heavy is the Galaxy S200?", "And the S300?", "How heavy is the Galaxy S300?");
        behind("How heavy is the K100?", "And the Falcon?", "How heavy is the Falcon?");
    }

    #[test]
    fn what_is_asked_about_the_same_gets_its_name() {
        let before = "How long is the warranty of the K100?";
        behind(before, "And the price?", "K100 And the price?");
        behind(before, "Does it work with the S200?", "K100 Does it work with the S200?");
        behind(before, "And is the S200 louder than usual?", "And is the S200 louder than usual?");
        behind("Was kostet die K100?", "Und der Akku?", "K100 Und der Akku?");
    }

    #[test]
    fn what_stands_behind_a_preposition_takes_the_place_of_what_stood_there() {
        behind(
            "When does the ferry run in summer?",
            "and in winter?",
            "When does the ferry run in winter?",
        );
        behind(
            "How much is a ticket for adults?",
            "And for small children?",
            "How much is a ticket for small children?",
        );
        behind(
            "À quelle heure ouvre le musée en automne ?",
            "Et en hiver ?",
            "À quelle heure ouvre le musée en hiver ?",
        );
        behind(
            "Сколько стоит билет для взрослых?",
            "А для детей?",
            "Сколько стоит билет для детей?",
        );
        behind(
            "Ile kosztuje bilet dla dorosłych?",
            "A dla dzieci?",
            "Ile kosztuje bilet dla dzieci?",
        );
        behind(
            "How much is a ticket for adults?",
            "But how do I cancel for free?",
            "ticket adults But how do I cancel for free?",
        );
        // Another preposition has no place there, and a season none in that of a town.
        behind("How much is a ticket for adults?", "And at night?", "ticket adults And at night?");
        behind(
            "When does the office in Bremen open?",
            "And in winter?",
            "office bremen open And in winter?",
        );
    }

    #[test]
    fn other_scripts_have_follow_ups_too() {
        behind("Сколько стоит K100?", "А S200?", "Сколько стоит S200?");
        behind("K100 की कीमत क्या है?", "और S200?", "S200 की कीमत क्या है?");
        behind("K100 kaç kilo?", "Peki S200?", "S200 kaç kilo?");
        behind("K100的保修期是多久？", "那S200呢？", "S200的保修期是多久？");
        behind("夏天几点开门？", "冬天呢？", "夏天几点开门 冬天呢？");
        behind("夏は何時に開きますか？", "冬は？", "夏は何時に開きますか 冬は？");
        behind("夏天几点开门？", "这里有停车场吗？", "这里有停车场吗？");
        check(&[
            ("保修期是多久？", "保修期是多久？"),
            ("它包括电池吗？", "保修期是多久 它包括电池吗？"),
            ("那屏幕呢？", "保修期是多久 它包括电池吗 那屏幕呢？"),
        ]);
    }

    #[test]
    fn what_a_row_is_about_gives_way_to_what_is_named_instead() {
        let behind_row = |asked: &str, question: &str| {
            let answer = "Room: Elm, Beds: 2, High season: 80 EUR [1]".to_owned();
            let turn = PastTurn { asked: asked.to_owned(), question: asked.to_owned(), answer };
            follow_up(&[turn], question)
        };
        let asked = "how much is the elm room in high season";
        let oak = "how much is the oak room in high season";
        for question in ["and the oak?", "what about oak", "and how much is the oak?", "oak?"] {
            assert_eq!(behind_row(asked, question), oak, "{question}");
        }
        // What is in the row, or the time, is no other room.
        for question in
            ["and how many beds?", "and in december?", "Which rooms have a view of the lake?"]
        {
            let text = behind_row(asked, question);
            assert!(text.contains("elm") || text == question, "{text}");
        }
        let german = behind_row("Was kostet das Zimmer Elm?", "Und Oak?");
        assert_eq!(german, "Was kostet das Zimmer Oak?");
    }

    #[test]
    fn an_item_of_the_last_answer_is_called_by_its_name() {
        let turn = PastTurn {
            asked: "Which plans are there?".to_owned(),
            question: "Which plans are there?".to_owned(),
            answer: "Plan: Free, Price: 0 EUR\nPlan: Team, Price: 20 EUR [1]".to_owned(),
        };
        let question = follow_up(&[turn], "And how much is the second one?");
        assert_eq!(question, "And how much is the Team one?");
    }

    #[test]
    fn what_leans_gets_the_words_of_the_one_before() {
        let before = "How are invoices paid?";
        for (question, expected) in [
            ("When are they sent?", "invoices paid When are they sent?"),
            ("And when?", "invoices paid And when?"),
            ("Why?", "invoices paid Why?"),
            ("Are these invoices free?", "paid Are these invoices free?"),
        ] {
            behind(before, question, expected);
        }
        behind("Wie werden Rechnungen bezahlt?", "Und wann?", "rechnungen bezahlt Und wann?");
    }

    #[test]
    fn what_stands_alone_is_looked_up_as_it_is() {
        let before = "How long is the warranty of the K100?";
        for question in [
            "What is the S200?",
            "Who is Anna Smith?",
            "When does the office open in winter?",
            "How long is the warranty of the S200?",
            "Which rooms and halls are there?",
        ] {
            behind(before, question, question);
        }
        behind("Was kostet die K100?", "Wer leitet die Werkstatt?", "Wer leitet die Werkstatt?");
        assert_eq!(follow_up(&[], "Why is it so?"), "Why is it so?");
    }

    #[test]
    fn words_do_not_pile_up() {
        let questions = [
            "How are invoices paid?",
            "Who sends them reminders?",
            "When do they arrive?",
            "Where are they stored?",
            "Who deletes them?",
            "Which law says that?",
            "Is it strict?",
        ];
        let mut past: Vec<PastTurn> = Vec::new();
        for asked in questions {
            let question = follow_up(&past, asked);
            let taken = each_word(&question).count() - each_word(asked).count();
            assert!(taken <= HANDED_ON, "{question}");
            past.push(PastTurn { asked: asked.to_owned(), question, answer: String::new() });
        }
    }

    #[test]
    fn any_text_is_read() {
        let odd = [
            "",
            " ",
            "?!",
            "K100",
            "ÄÖ 1.5-2 x",
            "S\u{301}200?",
            "\u{1F600} And\u{0}?",
            "And A-1.B-2 C",
        ];
        for before in odd {
            for question in odd {
                let turn = PastTurn {
                    asked: before.to_owned(),
                    question: before.to_owned(),
                    answer: String::new(),
                };
                assert!(!follow_up(&[turn], question).is_empty() || question.is_empty());
            }
        }
    }
}
