//! How much of what there is can one call show?
//!
//! ```text
//! (sources, what was written before, room) → as much of both as the call can read
//! ```
//!
//! An answer that is written in several calls may stand on more than one of them can read. The
//! sources are shared out among the calls then ([`group`]), and what a call shows is held against
//! its room once more before it is made ([`fitted`]), whatever put it together.

use super::budget::{Room, none_fits, shares};
use super::excerpt::{whole_sentences, whole_words};
use super::step::{Material, Numbered, note_as_sent};
use crate::error::Result;
use crate::prompt::messages::{PromptSource, as_sent};
use crate::prompt::tokens::Counter;

/// The first of `sources` that fit into `room` together, `most` of them at most, and how many these
/// are. A very first one that is too long by itself is cut; where not a word of it fits, it is
/// counted and left out.
pub fn group(
    sources: &[Numbered],
    most: usize,
    room: Option<usize>,
    counter: &mut dyn Counter,
) -> Result<(Vec<Numbered>, usize)> {
    let sources = &sources[..most.min(sources.len())];
    let (Some(room), Some(first)) = (room, sources.first()) else {
        return Ok((sources.to_vec(), sources.len()));
    };
    match number_of_fitting(&sizes(sources, counter)?, room) {
        0 => Ok((shortened(first, room, true, counter)?.into_iter().collect(), 1)),
        number => Ok((sources[..number].to_vec(), number)),
    }
}

/// The texts, written before, that can be shown together, as [`group`] chooses sources: at least
/// two, where there are two, each cut to half of the room if need be.
pub fn note_group(
    notes: &[String],
    most: usize,
    room: Option<usize>,
    counter: &mut dyn Counter,
) -> Result<Vec<String>> {
    let notes = &notes[..most.max(2).min(notes.len())];
    let Some(room) = room else { return Ok(notes.to_vec()) };
    let sizes = note_sizes(notes, counter)?;
    match number_of_fitting(&sizes, room) {
        0 | 1 => shortened_notes(&notes[..notes.len().min(2)], room, counter),
        number => Ok(notes[..number].to_vec()),
    }
}

/// Sources and notes of `material`, as much of them as fit into `room`: of the notes the beginnings,
/// where they take more than half, and of the sources the first. An error where there are sources
/// and nothing of them fits.
pub fn fitted(
    material: &Material<'_>,
    room: &Room,
    counter: &mut dyn Counter,
) -> Result<(Vec<Numbered>, Vec<String>)> {
    if *room == Room::default() {
        return Ok((material.sources.to_vec(), material.notes.to_vec()));
    }
    let sources: usize = sizes(material.sources, counter)?.iter().sum();
    let mut notes = material.notes.to_vec();
    if let Some(all) = room.all.filter(|_| !notes.is_empty()) {
        let beside_all = all.saturating_sub(sources);
        notes = shortened_notes(&notes, beside_all.max(all / 2), counter)?;
        notes.retain(|note| !note.is_empty());
    }
    let taken: usize = note_sizes(&notes, counter)?.iter().sum();
    let sources = match room.beside(taken) {
        Some(room) if sources > room => first(material.sources, room, counter)?,
        _ => material.sources.to_vec(),
    };
    Ok((sources, notes))
}

/// The tokens of notes as they are sent.
pub fn note_sizes(notes: &[String], counter: &mut dyn Counter) -> Result<Vec<usize>> {
    let sent = (1..).zip(notes).map(|(number, note)| note_as_sent(number, note));
    counter.count(&sent.collect::<Vec<_>>())
}

/// The tokens of sources as they are sent.
pub fn sizes(sources: &[Numbered], counter: &mut dyn Counter) -> Result<Vec<usize>> {
    let sent = sources.iter().map(|one| as_sent(one.number, &one.source));
    counter.count(&sent.collect::<Vec<_>>())
}

/// The first of `sources` whole, as long as they fit, and of the next one the beginning.
fn first(sources: &[Numbered], room: usize, counter: &mut dyn Counter) -> Result<Vec<Numbered>> {
    let sizes = sizes(sources, counter)?;
    let number = number_of_fitting(&sizes, room);
    let left = room - sizes[..number].iter().sum::<usize>();
    let mut kept = sources[..number].to_vec();
    if let Some(next) = sources.get(number) {
        kept.extend(shortened(next, left, number == 0, counter)?);
    }
    if kept.is_empty() { Err(none_fits(room)) } else { Ok(kept) }
}

/// How many of the first things of these `sizes` fit together.
fn number_of_fitting(sizes: &[usize], room: usize) -> usize {
    let sums = sizes.iter().scan(0, |sum, size| {
        *sum += size;
        Some(*sum)
    });
    sums.take_while(|sum| *sum <= room).count()
}

/// The beginning of a source; within a sentence only if it may be `cut_at_word`.
fn shortened(
    one: &Numbered,
    room: usize,
    cut_at_word: bool,
    counter: &mut dyn Counter,
) -> Result<Option<Numbered>> {
    let with = |content: String| {
        // There is no room for it twice.
        let source = PromptSource { content, repeats: false, ..one.source.clone() };
        Numbered { number: one.number, source }
    };
    let mut fits = |content: &String| {
        let cut = with(content.clone());
        Ok(sizes(&[cut], &mut *counter)?.iter().sum::<usize>() <= room)
    };
    let content = match whole_sentences(&one.source.content, &mut fits)? {
        None if cut_at_word => whole_words(&one.source.content, &mut fits)?,
        cut => cut,
    };
    Ok(content.map(with))
}

/// All notes in `room` together: those that need less than their share leave the rest to longer ones.
/// Of one whose share has not room for a word nothing is left.
fn shortened_notes(
    notes: &[String],
    room: usize,
    counter: &mut dyn Counter,
) -> Result<Vec<String>> {
    let sizes = note_sizes(notes, counter)?;
    if sizes.iter().sum::<usize>() <= room {
        return Ok(notes.to_vec());
    }
    let mut cut = Vec::with_capacity(notes.len());
    for ((note, size), share) in notes.iter().zip(&sizes).zip(shares(&sizes, room)) {
        let mut fits = |text: &String| {
            let size = note_sizes(std::slice::from_ref(text), &mut *counter)?;
            Ok(size.iter().sum::<usize>() <= share)
        };
        let beginning = match *size <= share {
            true => Some(note.clone()),
            false => match whole_sentences(note, &mut fits)? {
                None => whole_words(note, &mut fits)?,
                cut => cut,
            },
        };
        cut.push(beginning.unwrap_or_default());
    }
    Ok(cut)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::prompt::tokens::tests::Words;

    fn numbered(texts: &[String]) -> Vec<Numbered> {
        let source =
            |content: &String| PromptSource { content: content.clone(), ..PromptSource::default() };
        (1..).zip(texts).map(|(number, text)| Numbered { number, source: source(text) }).collect()
    }

    fn sum(sources: &[Numbered], notes: &[String]) -> usize {
        let sources = sizes(sources, &mut Words).unwrap().into_iter();
        sources.chain(note_sizes(notes, &mut Words).unwrap()).sum()
    }

    #[test]
    fn nothing_is_cut_without_a_limit() {
        let sources = numbered(&["One.".to_owned(), "Two.".to_owned()]);
        let group = group(&sources, 9, None, &mut Words).unwrap();
        assert_eq!(group, (sources.clone(), 2));
        let notes = ["A.".to_owned(), "B.".to_owned()];
        assert_eq!(note_group(&notes, 9, None, &mut Words).unwrap(), notes);
        let material = Material { sources: &sources, notes: &notes, ..Material::default() };
        let all = fitted(&material, &Room::default(), &mut Words).unwrap();
        assert_eq!(all, (sources.clone(), notes.to_vec()));
    }

    #[test]
    fn one_sentence_is_cut_at_a_word_and_less_is_left_out() {
        let sources = numbered(&[format!("{}end.", "word ".repeat(50))]);
        let (cut, number) = group(&sources, 4, Some(15), &mut Words).unwrap();
        assert_eq!((cut[0].source.content.as_str(), number), ("word word word word [...]", 1));
        assert_eq!(group(&sources, 4, Some(9), &mut Words).unwrap(), (Vec::new(), 1));
        assert_eq!(group(&[], 4, Some(9), &mut Words).unwrap(), (Vec::new(), 0));
    }

    #[test]
    fn two_notes_are_shown_however_long_they_are() {
        let notes = vec!["Yes it is. ".repeat(30); 3];
        let group = note_group(&notes, 1, Some(60), &mut Words).unwrap();
        assert_eq!(group.len(), 2);
        assert!(sum(&[], &group) <= 60 && group.iter().all(|note| note.starts_with("Yes it is.")));
    }

    proptest! {
        #[test]
        fn what_is_shown_fits(
            texts in prop::collection::vec("((one|two|three)[ .\n]{1,2}){1,20}", 0..6),
            notes in prop::collection::vec("((four|five)[ .]{1,2}){1,20}", 0..4),
            room in 0_usize..=150,
            most in 1_usize..5,
        ) {
            let sources = numbered(&texts);
            let mut rest = sources.as_slice();
            while !rest.is_empty() {
                let (group, number) = group(rest, most, Some(room), &mut Words).unwrap();
                prop_assert!(sum(&group, &[]) <= room && (1..=most).contains(&number));
                let numbers = group.iter().map(|one| one.number);
                prop_assert!(numbers.eq(rest.iter().map(|one| one.number).take(group.len())));
                prop_assert!(group.len() == number || (group.is_empty() && number == 1));
                rest = &rest[number..];
            }
            let material = Material { sources: &sources, notes: &notes, ..Material::default() };
            let limit = Room { sources: Some(room), all: Some(room) };
            let Ok((shown, told)) = fitted(&material, &limit, &mut Words) else { return Ok(()) };
            prop_assert!(sum(&shown, &told) <= room);
        }
    }
}
