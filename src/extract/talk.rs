//! # talk: who writes what in this chat, and who began it?
//!
//! ```text
//! "[14:20] Anna: I lost my card" above "[14:21] Ida: come to us" → two messages, of which Anna's opens the chat
//! "Anna, [12.05.2024 14:20]" above "I lost my card" → one message
//! ```
//!
//! A message says something of its own, and few of them end with a full stop. Who writes first tells what others are to answer,
//! which repeats the words of whoever asks the same and does not say what to do.

use std::ops::Range;

use super::blocks::{BlockKind, TextBlock, trim};
use super::title::is_heading;
use crate::text::length::is_within;

/// Turns of a chat, wherever it stands. At the beginning, two are enough where each line is a message.
const FEWEST_TURNS: usize = 3;
const FEWEST_AT_BEGINNING: usize = 2;

/// Longest name of who writes, by its [`length`](crate::text::length).
const LONGEST_WRITER: usize = 40;

/// Numbers of a date with a time, without those that may be left out: the year and the seconds.
const FEWEST_NUMBERS: usize = 4;

/// What lines of chats begin with that were exported for languages written from right to left, too.
const LEFT_TO_RIGHT: char = '\u{200E}';

/// Where a chat begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChatStart {
    /// Below a heading: nothing of it is missing.
    Section,
    /// Elsewhere in the passage, before which the rest of it may have been cut off.
    Passage,
}

/// A message of a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChatMessage {
    /// Where it lies in the content, in bytes, with its time and its writer.
    pub range: Range<usize>,
    /// Where the chat begins, if it is of the first turn.
    pub opens: Option<ChatStart>,
}

/// Lines of a paragraph that belong together.
struct WrittenLines<'a> {
    range: Range<usize>,
    /// Who has written them: nobody what stands above the first message, and the empty name what the chat itself notes.
    writer: Option<&'a str>,
}

impl<'a> WrittenLines<'a> {
    /// Who has written them, if anybody has.
    fn person(&self) -> Option<&'a str> {
        self.writer.filter(|it| !it.is_empty())
    }
}

/// For each of `blocks`, its messages if it is a paragraph of a chat, in order and with what stands above the first of them; none for
/// another block.
pub(super) fn messages(content: &str, blocks: &[TextBlock]) -> Vec<Vec<ChatMessage>> {
    let written: Vec<_> = blocks.iter().map(|it| written_lines(content, it)).collect();
    let mut found: Vec<Vec<ChatMessage>> = vec![Vec::new(); blocks.len()];
    let beginning = blocks.iter().position(|it| !is_title(content, it));
    let (mut start, mut is_first, mut at) = (ChatStart::Passage, true, 0);
    while at < blocks.len() {
        if blocks[at].kind == BlockKind::Heading {
            (start, is_first) = (ChatStart::Section, true);
        }
        if written[at].is_empty() {
            at += 1;
            continue;
        }
        let goes_on = |it: &&Vec<WrittenLines>| it.first().is_some_and(|it| it.writer.is_some());
        let end = at + 1 + written[at + 1..].iter().take_while(goes_on).count();
        let lines = content[blocks[at].range.clone()].lines().count();
        let is_strict = beginning == Some(at) && persons(&written[at..=at]).count() == lines;
        let least = if is_strict { FEWEST_AT_BEGINNING } else { FEWEST_TURNS };
        if turns(&written[at..end]) >= least {
            let paragraphs = in_turns(&written[at..end], is_first.then_some(start));
            found[at..end].iter_mut().zip(paragraphs).for_each(|(own, it)| *own = it);
        }
        // What comes next in this section goes on with the chat.
        (is_first, at) = (false, end);
    }
    found
}

/// Whether a block names what stands below it.
fn is_title(content: &str, block: &TextBlock) -> bool {
    match block.kind {
        BlockKind::Heading => true,
        BlockKind::Prose => is_heading(content, &block.range),
        _ => false,
    }
}

/// Who has written the messages of some paragraphs, one after the other.
fn persons<'a>(written: &[Vec<WrittenLines<'a>>]) -> impl Iterator<Item = &'a str> {
    written.iter().flatten().filter_map(WrittenLines::person)
}

fn turns(written: &[Vec<WrittenLines>]) -> usize {
    let mut persons: Vec<&str> = persons(written).collect();
    persons.dedup();
    persons.len()
}

/// The messages of the paragraphs of a chat, of which those that the first one writes before another does open it.
fn in_turns(written: &[Vec<WrittenLines>], opens: Option<ChatStart>) -> Vec<Vec<ChatMessage>> {
    let first = persons(written).next();
    let mut is_open = true;
    let mut message = |it: &WrittenLines| {
        is_open &= it.person().is_none() || it.person() == first;
        let opens = opens.filter(|_| is_open && it.person().is_some());
        ChatMessage { range: it.range.clone(), opens }
    };
    written.iter().map(|it| it.iter().map(&mut message).collect()).collect()
}

/// The lines of a paragraph, by who has written them; none where nobody is named.
fn written_lines<'a>(content: &'a str, block: &TextBlock) -> Vec<WrittenLines<'a>> {
    if block.kind != BlockKind::Prose {
        return Vec::new();
    }
    let mut written: Vec<WrittenLines> = Vec::new();
    let mut start = block.range.start;
    for line in content[block.range.clone()].split_inclusive('\n') {
        let range = trim(content, start..start + line.len());
        start += line.len();
        match (writer(line), written.last_mut()) {
            (None, Some(last)) => last.range.end = range.end,
            (writer, _) => written.push(WrittenLines { range, writer }),
        }
    }
    let is_talk = written.iter().any(|it| it.person().is_some());
    if is_talk { written } else { Vec::new() }
}

/// Who has written what begins with `line`, by the time before or behind the name; empty where the chat itself notes something.
fn writer(line: &str) -> Option<&str> {
    let line =
        line.trim_start_matches(|c: char| c.is_whitespace() || [LEFT_TO_RIGHT, '>'].contains(&c));
    // "[14:20] Anna: …", "[14:20] <anna> …"
    if let Some((time, said)) = line.strip_prefix('[').and_then(|it| it.split_once(']')) {
        return is_time(time).then(|| name(said).unwrap_or_default());
    }
    // "14.11.23, 19:02 - Anna: …"
    let dated = line.split_once(" - ").or_else(|| line.split_once(" – "));
    if let Some((_, said)) = dated.filter(|it| is_date_with_time(it.0)) {
        return Some(name(said).unwrap_or_default());
    }
    // "14:20 <anna> …"
    if let Some((time, said)) = line.split_once(' ')
        && said.starts_with('<')
    {
        return name(said).filter(|_| is_time(time));
    }
    // "Anna, [12.05.2024 14:20]" above what she writes
    let above = line.trim_end().strip_suffix(']').and_then(|it| it.rsplit_once('['));
    if let Some((named, _)) = above.filter(|it| is_date_with_time(it.1)) {
        return Some(named.trim_end().trim_end_matches(',')).filter(|it| is_name(it));
    }
    // "Anna [14:20]: …"
    let (named, rest) = line.split_once('[')?;
    let (time, said) = rest.split_once(']')?;
    let is_writer = said.starts_with([':', '：']) && is_time(time) && is_name(named.trim());
    is_writer.then(|| named.trim())
}

/// The name that `said` begins with, before a colon or in angle brackets, in which a sign may show a rank.
fn name(said: &str) -> Option<&str> {
    let said = said.trim_start();
    let name = match said.strip_prefix('<') {
        Some(rest) => rest.split_once('>')?.0.trim_start_matches(['@', '+', '%', '&', '~']),
        None => said.split_once([':', '：'])?.0,
    };
    Some(name.trim()).filter(|it| is_name(it))
}

/// Whether a person, or the telephone of one, may be called so.
fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphanumeric() || c == '+')
        && is_within(name, LONGEST_WRITER)
        && (name.contains(char::is_alphabetic) || name.starts_with('+'))
        && !name.contains(['!', '?', ',', '。', '，', '？'])
}

/// Whether `text` is the time of a day, be it with a date.
fn is_time(text: &str) -> bool {
    let is_of_time = |c: char| c.is_ascii_digit() || " \u{A0}\u{202F}:.-/,AMPamp".contains(c);
    let begins = text.starts_with(|c: char| c.is_ascii_digit());
    begins && text.contains(':') && text.chars().all(is_of_time)
}

/// Whether `text` is a date with a time, and not the time of an item of a programme.
fn is_date_with_time(text: &str) -> bool {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|it| !it.is_empty());
    is_time(text) && numbers.nth(FEWEST_NUMBERS - 1).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::blocks::blocks;

    /// The messages of all paragraphs, each with where the chat begins that it opens.
    fn read(content: &str) -> Vec<(&str, Option<ChatStart>)> {
        let messages = messages(content, &blocks(content));
        messages.into_iter().flatten().map(|it| (&content[it.range], it.opens)).collect()
    }

    fn opening(content: &str) -> Vec<Option<ChatStart>> {
        read(content).into_iter().map(|it| it.1).collect()
    }

    const PASSAGE: Option<ChatStart> = Some(ChatStart::Passage);
    const SECTION: Option<ChatStart> = Some(ChatStart::Section);

    #[test]
    fn who_writes_is_told_beside_a_time() {
        for (line, name) in [
            ("[14:20] Anna: I lost it.", "Anna"),
            ("[3/2/25, 10:14:08] Pili 4ºB: Hola", "Pili 4ºB"),
            ("[08:12] 502陈姐：在哪里办？", "502陈姐"),
            ("\u{200E}[14:20] +49 170 000 00: hi", "+49 170 000 00"),
            ("> [14:20] Support (Ida): Come to us.", "Support (Ida)"),
            ("[14:20] <@moth> no", "moth"),
            ("14:20 <moth_> no: never", "moth_"),
            ("maya [09:12]: morning", "maya"),
            ("Костя (уч. 7), [12.05.2024 11:40]", "Костя (уч. 7)"),
            ("[14:20] Александра Константиновна: да", "Александра Константиновна"),
            ("Anna [5/12/24, 2:20 PM]", "Anna"),
            ("14.11.23, 19:02 - Sabine (Jonas): Hallo", "Sabine (Jonas)"),
            ("5/12/24, 2:20\u{202F}PM – Bev: ok", "Bev"),
            ("[14:20] *** gull has joined", ""),
            ("02/06/2024, 08:51 - Messages are encrypted.", ""),
        ] {
            assert_eq!(writer(line), Some(name), "{line}");
        }
        for line in [
            "",
            "[1] Carlos: I want to.",
            "[Carlos]: I want to.",
            "[12:30]",
            "09:00 - Welcome: coffee in the hall",
            "Opening: [14:20]",
            "Really, Anna [14:20]: no",
            "Anna, [14:20]",
            "Well, Anna, [12.05.2024 11:40]",
            "Moved to [12.05.2024 11:40].",
            "At 14:20 <b>Anna</b> left.",
            "https://example.org - see [9:41]",
        ] {
            let named = writer(line).filter(|it| !it.is_empty());
            assert_eq!(named, None, "{line}");
        }
    }

    #[test]
    fn three_turns_make_a_chat_wherever_they_stand() {
        let chat =
            "ana [9:01]: hi\nana [9:01]: the door\nis stuck\nbo [9:02]: push it\nana [9:04]: thx";
        let messages = [
            "ana [9:01]: hi",
            "ana [9:01]: the door\nis stuck",
            "bo [9:02]: push it",
            "ana [9:04]: thx",
        ];
        let opens = |start| vec![start, start, None, None];
        assert_eq!(read(chat).iter().map(|it| it.0).collect::<Vec<_>>(), messages);
        assert_eq!(opening(chat), opens(PASSAGE));
        assert_eq!(opening(&format!("It was so.\n\n{chat}")), opens(PASSAGE));
        assert_eq!(opening(&format!("## Doors\n\n{chat}")), opens(SECTION));
        assert_eq!(opening(&format!("## Doors\n\nOn Monday:\n\n{chat}")), opens(SECTION));
        let titled = format!("Our chat\n{chat}");
        assert_eq!(read(&titled)[0], ("Our chat", None));
        assert_eq!(opening(&titled)[1..], opens(PASSAGE));
        let parted = chat.replace("\nbo", "\n\nbo").replace("\nana [9:04]", "\n\nana [9:04]");
        assert_eq!(opening(&parted), opens(PASSAGE));
    }

    #[test]
    fn who_writes_may_stand_above_the_message() {
        let chat = "Ana, [12.05.2024 9:01]\nThe door is stuck.\nHelp\n\nBo, [12.05.2024 9:02]\npush it\n\n\
            Ana, [12.05.2024 9:04]\nthanks";
        let messages = [
            ("Ana, [12.05.2024 9:01]\nThe door is stuck.\nHelp", PASSAGE),
            ("Bo, [12.05.2024 9:02]\npush it", None),
            ("Ana, [12.05.2024 9:04]\nthanks", None),
        ];
        assert_eq!(read(chat), messages);
        assert_eq!(read(&chat.replace("\n\n", "\n")), messages);
    }

    #[test]
    fn what_goes_on_with_a_chat_opens_none() {
        let chat = "ana [9:01]: hi\nbo [9:02]: push it\nana [9:04]: thx";
        let again = format!("## Doors\n\n{chat}\n\nThe rest of what she wrote.\n\n{chat}");
        assert_eq!(opening(&again), [SECTION, None, None, None, None, None]);
        let sections = format!("## Doors\n\n{chat}\n\n## Windows\n\n{chat}");
        assert_eq!(opening(&sections), [SECTION, None, None, SECTION, None, None]);
        let begun = format!("bo [8:59]: back in a minute\n\nAnd so on.\n\n{chat}");
        assert_eq!(opening(&begun), [None, None, None]);
    }

    #[test]
    fn two_turns_make_a_chat_at_the_beginning_alone() {
        let chat = "[14:20] Carlos: I want to cancel.\n[14:20] Carlos: Now.\n[14:21] Support (Ida): You can.";
        assert_eq!(opening(chat), [PASSAGE, PASSAGE, None]);
        assert_eq!(opening(&format!("# A chat\n\n{chat}")), [SECTION, SECTION, None]);
        assert_eq!(opening(&format!("A chat\n\n{chat}")), [PASSAGE, PASSAGE, None]);
        for other in [
            format!("It was so.\n\n{chat}"),
            format!("{chat}\nAt once."),
            "[14:20] Carlos: I want to.\n[14:20] Carlos: Now.".to_owned(),
            "[1] Carlos: I want to.\n[2] Ida: You can.".to_owned(),
            "Opening: [14:20]\nClosing: [18:00]".to_owned(),
            "09:00 - Welcome: tea\n10:00 - Talks: pumps\n11:00 - Panel: wells".to_owned(),
            "We met at [14:20] Anna: her idea. Then [15:00] Bo: his. Then [16:00] Anna: hers."
                .to_owned(),
            String::new(),
        ] {
            assert!(opening(&other).is_empty(), "{other}");
        }
    }
}
