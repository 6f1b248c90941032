//! All sources in one call, each cut to its share: a sentence more of the first is not worth the
//! whole of the last.

use super::compact::answer_from;
use super::{AnswerStrategy, Desk, StrategyResult};
use crate::context::step::Numbered;
use crate::error::Result;
use crate::prompt::messages::PromptSource;
use crate::text::sentence::sentences;

/// Tokens of all sources together.
const TOKENS: u32 = 2000;

/// Characters of a token, about.
const CHARACTERS: usize = 4;

/// `simple_summarize`.
pub static STRATEGY: AnswerStrategy = AnswerStrategy {
    name: "simple_summarize",
    description: "answers from all sources in one call, each cut to its share of source_tokens \
        (2000)",
    calls: "1",
    options: &["source_tokens"],
    is_for_extractive: false,
    reads_in_groups: true,
    answer,
};

fn answer(desk: &mut Desk<'_>) -> Result<StrategyResult> {
    let sources = desk.found()?;
    let mut room = desk.options.source_tokens.unwrap_or(TOKENS) as usize * CHARACTERS;
    let mut cut = shared(sources.clone(), room);
    // The window may have room for less.
    while room > 0 && !desk.can_show(&cut)? {
        room = room * 3 / 4;
        cut = shared(sources.clone(), room);
    }
    answer_from(desk, &cut)
}

/// The sources in `room` characters: what short ones leave goes to long ones.
fn shared(sources: Vec<Numbered>, mut room: usize) -> Vec<Numbered> {
    let mut by_length: Vec<usize> = (0..sources.len()).collect();
    let length = |at: usize| sources[at].source.content.chars().count();
    by_length.sort_by_key(|at| length(*at));
    let mut shares = vec![0; sources.len()];
    for (done, at) in by_length.into_iter().enumerate() {
        let share = room / (shares.len() - done);
        shares[at] = share.min(length(at));
        room -= shares[at];
    }
    let cut = |(one, share): (Numbered, usize)| {
        let content = beginning(&one.source.content, share);
        Numbered { source: PromptSource { content, ..one.source }, ..one }
    };
    sources.into_iter().zip(shares).map(cut).collect()
}

/// The first sentences of `text` that have at most `most` characters; of a first sentence that
/// is longer, its beginning.
fn beginning(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    let fits = sentences(text).into_iter().map(|range| range.end).take_while(|at| *at <= end);
    text[..fits.last().unwrap_or(end)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn source(content: &str) -> Numbered {
        let source = PromptSource { content: content.to_owned(), ..PromptSource::default() };
        Numbered { number: 1, source }
    }

    fn contents(texts: &[&str], room: usize) -> Vec<String> {
        let sources = texts.iter().map(|text| source(text)).collect();
        shared(sources, room).into_iter().map(|one| one.source.content).collect()
    }

    #[test]
    fn sources_are_cut_at_sentences() {
        let long = "One is here. Two is there. Three is away.";
        assert_eq!(contents(&[long, "Short."], 34), ["One is here. Two is there.", "Short."]);
        assert_eq!(contents(&[long, long], 30), ["One is here.", "One is here."]);
        assert_eq!(contents(&[long], 5), ["One i"]);
        assert_eq!(contents(&[long], 500), [long]);
        assert!(contents(&[], 500).is_empty());
    }

    proptest! {
        #[test]
        fn what_is_left_begins_each_source(texts in proptest::collection::vec("\\PC{0,40}", 0..5), room in 0usize..99) {
            let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
            let cut = contents(&borrowed, room);
            prop_assert!(cut.iter().map(|text| text.chars().count()).sum::<usize>() <= room);
            for (cut, text) in cut.iter().zip(&texts) {
                prop_assert!(text.starts_with(cut.as_str()));
            }
        }
    }
}
