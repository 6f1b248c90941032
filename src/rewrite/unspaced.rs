//! # unspaced: how does a question follow another in Chinese and in Japanese?
//!
//! ```text
//! "那S200呢？", "S200はどうですか。" → names something else;  "它有多重？", "その重さは？" → leans on the one before
//! ```
//!
//! Words are not parted there, so the frame of a question is told by the phrases that it begins and ends with, and what it says by
//! the runs of characters that are no function words. Of a word of Chinese characters the place in another question cannot be
//! told: only names in Latin letters and numbers take each other's place.

use std::ops::Range;

use crate::text::function_word::is_function_character;
use crate::text::language::NaturalLanguage;

/// Characters of the longest pieces that a run is counted in: most words have two.
const WORD: usize = 2;

/// The phrases with which a language makes questions that follow another, each list separated by spaces.
pub(super) struct UnspacedFrame {
    /// Which begin such a question.
    joining: &'static str,
    /// Which end one that only names something.
    closing: &'static str,
    /// Which stand for something said before.
    pointing: &'static str,
    /// Words in which those are something else.
    not_pointing: &'static str,
    /// Which say that the same is asked again.
    repeating: &'static str,
    /// By which a question asks, so that its end alone does not make it follow another.
    asking: &'static str,
}

const CHINESE: UnspacedFrame = UnspacedFrame {
    joining: "那么 那麼 那 还有 還有 另外 而且 但是 可是 不过 不過 并且 並且 换成 換成 如果是 至于 至於",
    closing: "呢 怎么样 怎麼樣 怎样 怎樣 如何 也一样吗 也一樣嗎 一样吗 一樣嗎 也是吗 也是嗎 也是这样吗 也是這樣嗎 的话 的話",
    pointing: "它 他 她 这个 這個 那个 那個 这些 這些 那些 这种 這種 那种 那種 那里 那裡 其 此 上述",
    not_pointing: "其他 其它 其中 其实 其實 其余 尤其 极其 吉他 他人 因此 此外 如此 彼此 那不勒斯",
    repeating: "一样 一樣 这样 這樣 同样 同樣 也 又 的话 的話 如果 换 換",
    asking: "什么 什麼 谁 誰 哪 怎 几 幾 多 为何 為何 吗 嗎 何时 何時",
};

const JAPANESE: UnspacedFrame = UnspacedFrame {
    joining: "では じゃあ じゃ、 それでは それじゃ それなら あとは あと、 そして しかし ちなみに また、 でも、 で、",
    closing: "はどうですか はどうでしょうか はどうなりますか はどうなの はどう はいかがですか はいかがでしょうか は の場合は \
        ならどうですか だとどうですか も同じですか も同様ですか もそうですか もですか",
    pointing: "それ その そこ そちら これ この ここ こちら あれ あの あそこ 彼 同社 同氏",
    not_pointing: "それぞれ そのまま その他 そのほか これまで これから それ以外 彼岸",
    repeating: "の場合 場合 同じ 同様",
    asking: "何 誰 いつ どこ なぜ どれ どの どんな いくつ いくら か",
};

/// The frame of questions in `language`, if it writes no spaces.
pub(super) fn frame(language: Option<NaturalLanguage>) -> Option<&'static UnspacedFrame> {
    match language? {
        NaturalLanguage::Chinese => Some(&CHINESE),
        NaturalLanguage::Japanese => Some(&JAPANESE),
        _ => None,
    }
}

impl UnspacedFrame {
    /// Whether `question` begins as one that goes on.
    pub fn joins(&self, question: &str) -> bool {
        let is_pointing =
            || self.not_pointing.split_whitespace().any(|it| question.starts_with(it));
        self.joining.split_whitespace().any(|it| question.trim_start().starts_with(it))
            && !is_pointing()
    }

    /// Whether `question` ends as one that only names something, and does not ask besides.
    pub fn closes(&self, question: &str) -> bool {
        let said = question.trim_end_matches(|c: char| !c.is_alphanumeric());
        let closings = self.closing.split_whitespace().filter_map(|it| said.strip_suffix(it));
        let shortest = closings.min_by_key(|rest| rest.len());
        let asks = |rest: &str| self.asking.split_whitespace().any(|it| rest.contains(it));
        shortest.is_some_and(|rest| !asks(rest))
    }

    /// Where the first phrase stands that stands for something said before.
    pub fn points(&self, question: &str) -> Option<usize> {
        let question = without(question, self.not_pointing);
        self.pointing.split_whitespace().filter_map(|it| question.find(it)).min()
    }

    /// The places in `question` of what it says, in pieces of a word's length, without the phrases of the frame and what stands
    /// at one of `named`.
    pub fn content(&self, question: &str, named: &[Range<usize>]) -> Vec<Range<usize>> {
        let runs = self.runs(question).into_iter();
        let runs =
            runs.filter(|run| !named.iter().any(|it| it.start < run.end && run.start < it.end));
        runs.flat_map(|run| pieces(question, run)).collect()
    }

    /// The places of the runs of characters that say something.
    pub fn runs(&self, question: &str) -> Vec<Range<usize>> {
        let mut bare = question.to_owned();
        let said = question.trim_end_matches(|c: char| !c.is_alphanumeric());
        let ending = self
            .closing
            .split_whitespace()
            .filter(|it| said.ends_with(it))
            .max_by_key(|it| it.len());
        let beginning = self
            .joining
            .split_whitespace()
            .filter(|it| question.starts_with(it))
            .max_by_key(|it| it.len());
        if let Some(ending) = ending {
            bare.replace_range(said.len() - ending.len()..said.len(), &blank(ending));
        }
        if let Some(beginning) = beginning.filter(|_| self.joins(question)) {
            bare.replace_range(..beginning.len(), &blank(beginning));
        }
        let bare = without(&bare, self.repeating);
        // What is spelled otherwise than the phrase holds it.
        let kept = without(question, self.not_pointing);
        let bare = if kept == question { without(&bare, self.pointing) } else { bare };
        let says = |c: char| c.is_alphanumeric() && !is_function_character(c);
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (at, sign) in bare.char_indices().filter(|(_, sign)| says(*sign)) {
            let end = at + sign.len_utf8();
            match runs.last_mut() {
                Some(last) if last.end == at => last.end = end,
                _ => runs.push(at..end),
            }
        }
        runs
    }
}

/// `text` with spaces in the place of `phrases`, of as many bytes.
fn without(text: &str, phrases: &str) -> String {
    let mut phrases: Vec<&str> = phrases.split_whitespace().collect();
    phrases.sort_by_key(|it| std::cmp::Reverse(it.len()));
    phrases.into_iter().fold(text.to_owned(), |text, phrase| text.replace(phrase, &blank(phrase)))
}

fn blank(phrase: &str) -> String {
    " ".repeat(phrase.len())
}

fn pieces(text: &str, run: Range<usize>) -> Vec<Range<usize>> {
    let places: Vec<usize> =
        text[run.clone()].char_indices().map(|(at, _)| run.start + at).collect();
    let ends = places.iter().skip(WORD).step_by(WORD).copied().chain([run.end]);
    places.iter().step_by(WORD).copied().zip(ends).map(|(start, end)| start..end).collect()
}
