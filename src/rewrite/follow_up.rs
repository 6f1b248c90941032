//! What is looked up for a question that follows another, where no language model writes it?
//!
//! ```text
//! (the question before, question) → the question with what it takes over
//! ```
//!
//! A question that only names something else ("What about the S200?") is the one before with that in its place, and so
//! is one that only has another word behind the preposition or article that the one before ends with ("And for
//! waste?"). One that leans on it ("And how long does its battery last?") gets the names in it, or its words where no
//! product code or the like says what it was about. What a question took over itself is handed on only as far as its
//! own words are few, so nothing piles up from turn to turn.
//!
//! A search is for words and meanings, and does not mind that what is looked up is no sentence.

use std::collections::HashSet;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::condense::PastTurn;
use super::unspaced::{UnspacedFrame, frame};
use crate::text::function_word::is_function_word_of;
use crate::text::language::{NaturalLanguage, is_function_word, language};
use crate::text::word_list::list_has;
use crate::text::words::{Word, each_word};

/// Words that a question takes over of those that the one before has taken over, less the own ones of that.
const HANDED_ON: usize = 4;

/// Words of its own that a question has at most that leans on the one before by that alone.
const FEW_WORDS: usize = 1;

/// Words of the longest noun that gives way to another, and words between "and" and one that does so.
const MOST_NOUNS: usize = 3;
const MOST_LEADING: usize = 2;

/// Words that stand for something said before.
const POINTING: &[(NaturalLanguage, &str)] = &[
    (
        NaturalLanguage::English,
        "he her hers him his it its one ones same she such that their theirs them then there these they this \
         those",
    ),
    (
        NaturalLanguage::German,
        "dafür damit darin dazu deren dessen dies diese diesem diesen dieser dieses dort er es ihm ihn ihr ihre \
         ihrem ihren ihrer sein seine seinem seinen seiner sie",
    ),
    (NaturalLanguage::French, "cela elle elles il ils leur leurs lui sa ses son"),
    (NaturalLanguage::Spanish, "ella ellas ellos eso esto le les su sus él"),
    (NaturalLanguage::Italian, "essa esse essi esso questo sua sue suo suoi"),
    (NaturalLanguage::Dutch, "daarmee daarvan die dit hij hun zij zijn"),
    (NaturalLanguage::Portuguese, "ela elas ele eles isso seu seus sua suas"),
    (
        NaturalLanguage::Polish,
        "on ona one oni ono jego jej ich im nim nią nimi niego niej nich go ją tego tej tych tym to ten ta te tam wtedy",
    ),
    (
        NaturalLanguage::Russian,
        "он она оно они его её ее их ему ей им ним ней ними нём нем него неё нее них это этот эта эти этого этой этому \
         этом этим этих там тогда такой такая",
    ),
    (
        NaturalLanguage::Ukrainian,
        "він вона воно вони його її їх йому їй їм ним нею ними ньому ній них нього неї це цей ця ці цього цієї цьому цим \
         цих там тоді",
    ),
    (
        NaturalLanguage::Turkish,
        "o onun ona onu onda ondan onlar onların bu bunun buna bunu bunlar orada",
    ),
];

/// Words that join a question to the one before it.
const JOINING: &str = "and but or und aber oder et mais ou y pero o e ma mas en maar of ale oraz и а но или і й та але чи peki";

/// Words that do so in one language and begin a question of its own in another.
const JOINING_IN_ONE: &[(NaturalLanguage, &str)] =
    &[(NaturalLanguage::Polish, "a i"), (NaturalLanguage::Turkish, "ya ve")];

/// How questions begin that only name something else.
const OPENINGS: [&str; 18] = [
    "a co z",
    "co z",
    "how about",
    "que dire de",
    "qu'en est il",
    "qué hay de",
    "qué pasa con",
    "was ist bei",
    "was ist mit",
    "what about",
    "what of",
    "wie ist es",
    "wie sieht es",
    "wie steht es",
    "що щодо",
    "як щодо",
    "что насчет",
    "что насчёт",
];

/// Verbs that questions are made with: without one, a question of function words says nothing of its own.
const VERBS: &str = "am is are was were do does did has have had can could may must should will would ist sind war \
    waren hat haben hatte kann können muss müssen darf soll wird werden gibt est sont était fait faut peut es son \
    está están hay è sono ha é são tem is zijn heeft kan jest są był była było były ma mają można trzeba есть был была было \
     были можно нужно надо є був була було були можна треба";

/// Words by which a question says that it asks the same again.
const REPEATING: &str = "again also apply applies else goes instead now same then too auch denn genauso gilt jetzt \
    nun sieht steht wieder aussi también anche ook também też także również тоже также насчёт насчет теж також щодо";

const ARTICLES: &str = "the a an der die das dem den des ein eine einem einen einer le la les l un une el los las \
    una il lo gli i de het een o os as um uma";

/// Prepositions before an article.
const PREPOSITIONS: &str = "about at by for from in of on to with without für mit ohne pour avec sans dans sur para con sin \
    en per senza su com sem em por voor met zonder op";

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
    /// How its language makes questions without spaces, where it writes none.
    unspaced: Option<&'static UnspacedFrame>,
}

/// `question` as it is looked up behind the last of `turns`: as it is, unless it leans on that.
#[must_use]
pub fn follow_up(turns: &[PastTurn], question: &str) -> String {
    let Some(last) = turns.last() else { return question.to_owned() };
    let spoken = language(question).or_else(|| language(&last.question));
    let own = ReadQuestion::read(question, spoken);
    let before = ReadQuestion::read(&last.question, spoken);
    let content = own.content(spoken);
    if own.names_something_else(&content, spoken)
        && let Some(text) = own.put_into(&before)
    {
        return text;
    }
    if let Some(text) = own.put_noun_into(&before, spoken) {
        return text;
    }
    if !own.leans(&content, spoken) {
        return question.to_owned();
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
        let mut words: Vec<(Range<usize>, Word)> = places.zip(each_word(text)).collect();
        let unspaced = frame(spoken);
        // No sentence begins with a capital there.
        if let Some((range, first)) = words.first_mut().filter(|_| unspaced.is_some()) {
            first.is_name |= text[range.clone()].starts_with(char::is_uppercase);
        }
        let mentions = mentions(text, &words, spoken);
        ReadQuestion { text, words, mentions, unspaced }
    }

    fn folded(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|(_, word)| word.folded.as_str())
    }

    /// The words that say something and name nothing.
    fn content(&self, spoken: Option<NaturalLanguage>) -> Vec<&str> {
        if let Some(frame) = self.unspaced {
            let named: Vec<Range<usize>> =
                self.mentions.iter().map(|it| it.range.clone()).collect();
            let said = frame.content(self.text, &named).into_iter();
            return said.map(|range| &self.text[range]).collect();
        }
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
        let folded: Vec<&str> = self.folded().collect();
        let is_framed = || match self.unspaced {
            Some(frame) => frame.closes(self.text) || self.mentions.len() == self.words.len(),
            None => {
                let text = folded.join(" ");
                OPENINGS.iter().any(|opening| text.starts_with(opening))
                    || !folded.iter().any(|word| list_has(VERBS, word))
            }
        };
        !self.mentions.is_empty()
            && content.is_empty()
            && (self.joins(spoken) || self.points(spoken).is_some() || is_framed())
    }

    fn leans(&self, content: &[&str], spoken: Option<NaturalLanguage>) -> bool {
        let is_short = content.len() + self.mentions.len() <= FEW_WORDS;
        let names_its_own = self.mentions.iter().any(|it| it.kind != MentionKind::Noun);
        let is_closed = self.unspaced.is_some_and(|it| it.closes(self.text));
        self.points(spoken).is_some()
            || self.joins(spoken)
            || (is_short || is_closed) && !names_its_own
    }

    fn joins(&self, spoken: Option<NaturalLanguage>) -> bool {
        if let Some(frame) = self.unspaced {
            return frame.joins(self.text);
        }
        self.folded().next().is_some_and(|word| is_joining(word, spoken))
    }

    /// Where the first word stands that stands for something said before.
    fn points(&self, spoken: Option<NaturalLanguage>) -> Option<usize> {
        if let Some(frame) = self.unspaced {
            return frame.points(self.text);
        }
        let spoken = spoken.unwrap_or(NaturalLanguage::English);
        let (_, list) = POINTING.iter().find(|(language, _)| *language == spoken)?;
        let word = self.words.iter().find(|(_, word)| list_has(list, &word.folded))?;
        Some(word.0.start)
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

    /// The question `before` with the noun of this one in the place of that at its end, where both stand behind the
    /// same preposition or article: "And for waste?" behind "What is the fine for noise?"; `None` for any other
    /// question. A thing with a name gives way only to one of the same kind ("the package Windows", "the package
    /// macOS").
    fn put_noun_into(
        &self,
        before: &ReadQuestion<'_>,
        spoken: Option<NaturalLanguage>,
    ) -> Option<String> {
        if self.unspaced.is_some() || !self.mentions.is_empty() || !self.joins(spoken) {
            return None;
        }
        let (own, own_lead) = self.noun_at_end(spoken)?;
        let (place, lead) = before.noun_at_end(spoken)?;
        let (nouns, old) = (&self.words[own.clone()], &before.words[place]);
        let is_of_kind = nouns.len() == 2 && old[0].1.folded == nouns[0].1.folded;
        let range = old[0].0.start..old[old.len() - 1].0.end;
        let is_named = before
            .mentions
            .iter()
            .any(|it| it.range.start < range.end && range.start < it.range.end);
        // "And" and the lead are all that stands before it.
        let is_bare = (2..=1 + MOST_LEADING).contains(&own.start)
            && self.is_led_from_first(own.start, spoken);
        if own_lead != lead || !is_bare || !is_of_kind && (is_named || nouns.len() > 1) {
            return None;
        }
        let name = &self.text[nouns[0].0.start..nouns[nouns.len() - 1].0.end];
        let mut text = before.text.to_owned();
        text.replace_range(range, name);
        Some(text)
    }

    /// Whether all words between the first and the one at `end` only make a question.
    fn is_led_from_first(&self, end: usize, spoken: Option<NaturalLanguage>) -> bool {
        self.words[1..end].iter().all(|(_, word)| is_frame(&word.folded, spoken))
    }

    /// Where among the words those stand that the question ends with and that say something, and the word that leads
    /// them: a preposition, or an article where there is none. "The" leads any noun and tells nothing.
    fn noun_at_end(&self, spoken: Option<NaturalLanguage>) -> Option<(Range<usize>, &str)> {
        let is_own = |(_, word): &&(Range<usize>, Word)| !is_frame(&word.folded, spoken);
        let nouns = self.words.iter().rev().take_while(is_own).count();
        let start = self.words.len() - nouns;
        let mut leading = self.words[..start].iter().rev().map(|(_, word)| word.folded.as_str());
        let next = leading.next().filter(|_| (1..=MOST_NOUNS).contains(&nouns))?;
        let further =
            leading.next().filter(|it| list_has(ARTICLES, next) && list_has(PREPOSITIONS, it));
        // "To" leads verbs, too, unless an article follows.
        let lead = Some(next).filter(|it| *it != "to");
        let lead = further.or(lead)?;
        let tells = lead != "the" && !list_has(VERBS, lead) && is_frame(lead, spoken);
        tells.then_some((start..self.words.len(), lead))
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
            if !list_has(ARTICLES, &word.folded) {
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
        if let Some(frame) = own.unspaced {
            let runs = frame.runs(text).into_iter().map(|range| text[range].to_owned());
            let runs =
                runs.filter(|it| !own.text.contains(it.as_str()) && known.insert(it.clone()));
            return runs.collect::<Vec<String>>();
        }
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
        || list_has(REPEATING, word)
        || is_joining(word, spoken)
}

fn is_joining(word: &str, spoken: Option<NaturalLanguage>) -> bool {
    let mut of_spoken = JOINING_IN_ONE.iter().filter(|(language, _)| Some(*language) == spoken);
    list_has(JOINING, word) || of_spoken.any(|(_, list)| list_has(list, word))
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
    fn what_follows_is_told_in_slavic_languages() {
        let before = "Сколько стоит клавиатура K100?";
        behind(before, "А S200?", "Сколько стоит клавиатура S200?");
        behind(before, "Что насчёт S200?", "Сколько стоит клавиатура S200?");
        behind(before, "И как долго работает её батарея?", "K100 И как долго работает её батарея?");
        let office = "Когда открывается контора в Бремене?";
        behind(office, "А в Берлине?", "Когда открывается контора в Берлине?");
        behind(office, "Кто ей владеет?", "открывается контора бремене Кто ей владеет?");
        behind("Скільки коштує K100?", "А S200?", "Скільки коштує S200?");
        behind("Ile kosztuje K100?", "A S200?", "Ile kosztuje S200?");
        behind("Ile kosztuje K100?", "Co z S200?", "Ile kosztuje S200?");
        behind(
            "Ile kosztuje K100?",
            "I jak długo działa bateria?",
            "K100 I jak długo działa bateria?",
        );
        behind("Gdzie jest biuro w Bremie?", "I w Berlinie?", "Gdzie jest biuro w Berlinie?");
        // What stands by itself in one language joins in another.
        behind(before, "Когда открывается контора?", "Когда открывается контора?");
        behind("How heavy is the K100?", "I need a printer today.", "I need a printer today.");
    }

    #[test]
    fn what_follows_is_told_in_chinese() {
        let before = "K100的保修期有多长？";
        for question in ["那S200呢？", "S200呢？", "S200怎么样？", "那么S200也一样吗？", "S200？"]
        {
            behind(before, question, "S200的保修期有多长？");
        }
        behind(before, "它的电池能用多久？", "K100 它的电池能用多久？");
        behind(before, "那电池呢？", "K100 那电池呢？");
        behind("PostgreSQL怎么备份？", "那MySQL呢？", "MySQL怎么备份？");
        let office = "不来梅的办公室什么时候开门？";
        behind(office, "那柏林呢？", "不来梅 办公室 时候开门 那柏林呢？");
        behind(office, "为什么？", "不来梅 办公室 时候开门 为什么？");
        // What stands alone.
        for question in
            ["S200是什么？", "其他产品的价格是多少？", "为什么天空是蓝色的呢？", "S200的保修期呢？"]
        {
            behind(before, question, question);
        }
    }

    #[test]
    fn what_follows_is_told_in_japanese() {
        let before = "K100の保証期間はどのくらいですか。";
        for question in [
            "S200はどうですか。",
            "では、S200は？",
            "S200の場合は？",
            "S200も同じですか。",
            "じゃあS200は？",
        ] {
            behind(before, question, "S200の保証期間はどのくらいですか。");
        }
        behind(before, "その電池はどのくらい持ちますか。", "K100 その電池はどのくらい持ちますか。");
        behind(before, "電池の寿命は？", "K100 電池の寿命は？");
        let office = "事務所はいつ開きますか。";
        behind(office, "なぜですか。", "事務所 開 なぜですか。");
        behind(office, "そこに駐車場はありますか。", "事務所 開 そこに駐車場はありますか。");
        for question in [
            "S200は何ですか。",
            "請求書はいつ送られますか。",
            "それぞれの部屋の値段はいくらですか。",
        ] {
            behind(before, question, question);
        }
    }

    #[test]
    fn what_follows_is_told_in_turkish() {
        let before = "K100 ne kadar?";
        for question in ["Peki S200?", "Ya S200?", "Peki ya S200?", "S200?"] {
            behind(before, question, "S200 ne kadar?");
        }
        behind(before, "Onun pili kaç saat dayanır?", "K100 Onun pili kaç saat dayanır?");
        behind(before, "Ve garanti süresi nedir?", "K100 Ve garanti süresi nedir?");
        behind("Ofis ne zaman açılır?", "Peki neden?", "ofis açılır Peki neden?");
        behind(before, "Ofis ne zaman açılır?", "Ofis ne zaman açılır?");
    }

    #[test]
    fn a_noun_takes_the_place_of_the_one_behind_the_same_word() {
        behind("Qual a multa por barulho?", "E por lixo?", "Qual a multa por lixo?");
        behind(
            "Quanto tempo se conserva o tiramisù?",
            "E o pesto?",
            "Quanto tempo se conserva o pesto?",
        );
        behind("Quanto si conserva il tiramisù?", "E il pesto?", "Quanto si conserva il pesto?");
        behind(
            "Quelle est la taille du paquet Windows ?",
            "Et du paquet macOS ?",
            "Quelle est la taille du paquet macOS ?",
        );
        behind("Ile wynosi kaucja za rower?", "A za narty?", "Ile wynosi kaucja za narty?");
        behind(
            "How much is the fine for noise?",
            "And for waste?",
            "How much is the fine for waste?",
        );
        behind(
            "How much is a ticket for the museum?",
            "And for the castle?",
            "How much is a ticket for the castle?",
        );
        // What stands behind another word, or is a part of what has a name.
        behind("How heavy is the laptop?", "And the battery?", "heavy laptop And the battery?");
        behind("Quanto custa o K100?", "E o preço?", "K100 E o preço?");
        behind("Qual a multa por barulho?", "E a piscina?", "multa barulho E a piscina?");
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
