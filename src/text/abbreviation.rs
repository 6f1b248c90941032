//! Does this full stop end a sentence?
//!
//! UAX #29 proposes an end; here the word before the stop and the word after it are looked
//! at. Words in more than one list of languages are kept where a wrong answer costs least:
//! two sentences taken for one make a longer quotation, one taken for two a broken one.

/// Longest word looked at, in bytes; longer ones are neither abbreviations nor starters.
const LONGEST_WORD: usize = 32;

/// White space and word that follow a stop are looked for in so many bytes.
const LONGEST_GAP: usize = 128;

/// Abbreviations with a capital, always followed by a name.
const TITLES: &[&str] = &[
    "adm", "capt", "cmdr", "col", "cpl", "dipl", "dr", "dra", "drs", "fr", "frl", "gen", "gov",
    "hon", "hr", "ing", "lt", "maj", "med", "messrs", "mlle", "mme", "mr", "mrs", "ms", "mt", "mx",
    "pres", "prof", "pvt", "rep", "rev", "sen", "sgt", "sra", "srta", "дж",
];

/// Words that are shortened before what they stand for, of which a text in small letters does not tell whether they end a
/// sentence.
const SHORTENED: &[&str] =
    &["abbr", "def", "env", "etc", "incl", "max", "min", "opt", "resp", "usw", "vars"];

/// Never the last word of a sentence.
const CONNECTIVES: &[&str] = &[
    "approx", "bzw", "ca", "cf", "d.h", "e.g", "eg", "esp", "evtl", "exkl", "ggf", "i.d.r", "i.e",
    "ie", "inkl", "p.ej", "p.ex", "s.o", "s.u", "sog", "u.u", "vgl", "viz", "vs", "z.b", "z.t",
    "bijv", "d.w.z", "m.in", "m.b.t", "np", "o.a", "p.es", "tj", "tzn", "tzw", "örn", "dott",
    "inż", "mgr", "ul", "ст", "т.е", "т.к", "акад", "им", "напр", "проф", "рис", "св", "см", "ср",
    "табл", "тов", "ул", "avda", "bl.a", "dhr", "f.eks", "mevr", "t.ex", "вул",
];

/// Titles before names of persons, as they are spelled: "MW" and "mm" are units.
const NAMED: &[&str] = &["MM", "Mw", "Sig", "mw", "sig"];

/// Parts of addresses before a name or a number, as they are spelled: "CAD" is something else.
const STREETS: &[&str] = &["Av", "Bd", "Cad", "Mah", "Sok", "bd", "просп"];

/// Limits before a number, in small letters unless they begin a sentence: "Max" is also a name.
const LIMITS: &[&str] = &["max", "maks", "min", "máx", "mín"];

/// Before the sign of a section.
const BEFORE_SECTIONS: &[&str] = &["gem", "i.v.m", "lt", "s"];

/// Abbreviations before a number.
const NUMBERED: &[&str] = &[
    "abb", "abs", "godz", "poz", "wyd", "al", "anm", "app", "apr", "art", "aug", "bd", "c", "ch",
    "chap", "dec", "eq", "eqs", "ex", "feb", "fig", "figs", "jan", "jul", "jun", "kap", "lfd",
    "mar", "n", "no", "nos", "nov", "nr", "nrn", "oct", "okt", "p", "par", "pp", "ref", "refs",
    "rn", "s", "sec", "sect", "sep", "sept", "st", "tab", "tel", "v", "ver", "vol", "vols", "ziff",
    "apt", "apto", "kl", "lok", "núm", "ste", "tlf", "tél", "буд", "кв", "оф", "тел",
];

/// Inside a sentence as well as at its end: the next word decides.
const EITHER: &[&str] = &[
    "al", "ecc", "enz", "itd", "itp", "ave", "blvd", "bros", "co", "corp", "dept", "est", "inc",
    "jr", "llc", "ltd", "mio", "mrd", "rd", "sr", "st", "str", "tsd", "univ", "в", "вв", "г", "гг",
    "др", "млн", "млрд", "руб", "тыс",
];

/// With what must follow them: "v. Chr.".
const PAIRS: &[(&str, &str)] =
    &[("ee", "uu"), ("n", "chr"), ("v", "chr"), ("н", "э"), ("т", "д"), ("т", "п")];

/// Before an ordinal number in German.
const BEFORE_ORDINALS: &[&str] = &[
    "ab", "am", "als", "beim", "bis", "dem", "den", "der", "des", "die", "das", "im", "ins", "ihr",
    "ihre", "ihrem", "ihren", "ihrer", "mein", "meinem", "sein", "seine", "seinem", "seinen",
    "seiner", "seit", "und", "vom", "zum", "zur",
];

/// Words that rarely are anything but the beginning of a sentence when they have a capital.
const STARTERS: &[&str] = &[
    // English
    "a", "after", "all", "also", "although", "an", "and", "as", "at", "because", "before", "both",
    "but", "by", "during", "each", "every", "finally", "for", "from", "he", "her", "his", "how",
    "however", "i", "if", "in", "it", "its", "many", "most", "my", "no", "not", "on", "once",
    "one", "only", "or", "our", "she", "since", "so", "some", "such", "that", "the", "their",
    "then", "there", "these", "they", "this", "those", "though", "thus", "to", "under", "until",
    "we", "what", "when", "where", "which", "while", "who", "why", "with", "yet", "you", "your",
    // German
    "aber", "alle", "am", "auch", "auf", "bei", "da", "daher", "danach", "dann", "das", "dem",
    "den", "der", "des", "doch", "die", "dies", "diese", "dieser", "dieses", "ein", "eine",
    "einer", "er", "es", "für", "ich", "ihr", "im", "ist", "mit", "nach", "nun", "nur", "seine",
    "sie", "sind", "und", "von", "was", "wenn", "wie", "wir", "zu", "zum",
    "zur", // French, Spanish, Portuguese, Italian
    "c'est", "ce", "ces", "cette", "dans", "el", "elle", "ella", "en", "esta", "este", "et", "il",
    "ils", "j'ai", "je", "la", "las", "le", "les", "lo", "los", "mais", "nous", "o", "os", "para",
    "por", "pour", "se", "si", "sur", "un", "una", "une", "uno", "y", // Russian
    "в", "и", "на", "но", "он", "она", "они", "с", "это", "я",
];

/// Names of months that follow an ordinal number in languages that write it with a stop.
const MONTHS: &[&str] = &[
    "januar",
    "jänner",
    "februar",
    "märz",
    "april",
    "mai",
    "juni",
    "juli",
    "august",
    "september",
    "oktober",
    "november",
    "dezember",
    "jahrhundert",
    "jahrhunderte",
    "jahrhunderten",
    "jahrhunderts",
    "jahrtausend",
    "jahrtausende",
    "jahrtausends",
    "jahrzehnt",
    "jahrzehnts",
    "jh",
    "jhd",
    "quartal",
    "klasse",
    "auflage",
];

/// Whether a sentence ends between `before`, the sentence so far, and `after`, which follows.
///
/// `caseless` says that capitals are missing from the text and mean nothing here.
pub(crate) fn is_end(before: &str, after: &str, caseless: bool) -> bool {
    let written = before.trim_end();
    let core = written.trim_end_matches(is_closing);
    let quoted = core.len() < written.len();
    // A long gap is layout; looking through it from each end proposed would be quadratic.
    let next = after[..after.floor_char_boundary(LONGEST_GAP)].trim_start();
    match core.chars().next_back() {
        // ".zip" and ".NET" begin with their full stop.
        Some('.') if begins_word(before, after) || stands_in_number(before, after) => false,
        Some('!' | '?') => !(quoted && !caseless && next.starts_with(char::is_lowercase)),
        Some('.') if !quoted => is_full_stop(core, next, caseless),
        _ => true,
    }
}

/// Whether `before`, up to a full stop, ends with a word that is mostly shortened by it, or with a single letter.
pub(super) fn is_shortened(before: &str) -> bool {
    let word = last_word(before).unwrap_or_default();
    is_single_letter(word) || SHORTENED.contains(&fold(word).as_str())
}

/// Whether the full stop that `before` ends with stands right before a letter of `after`, and behind a space.
fn begins_word(before: &str, after: &str) -> bool {
    before.ends_with(" .") && after.starts_with(char::is_alphanumeric)
}

/// Whether the full stop that `before` ends with parts a digit from a letter of `after`, as in "NL8123.B01", and does
/// not lack the space before the next sentence.
fn stands_in_number(before: &str, after: &str) -> bool {
    let stem = before.strip_suffix('.').unwrap_or_default();
    let letters = after.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let number = stem.split_whitespace().next_back().unwrap_or_default();
    // "In 1990.Beyoncé" lacks a space; "5.4.0.Final" and "B2.Rev" do not.
    let is_code = number.contains(|c: char| c == '.' || c.is_alphabetic());
    let is_word = letters.chars().nth(1).is_some_and(char::is_lowercase);
    stem.ends_with(|c: char| c.is_ascii_digit())
        && after.starts_with(char::is_uppercase)
        && (!is_word || is_code && !is_starter(letters))
}

/// [`is_end`] where `core` ends with a full stop.
fn is_full_stop(core: &str, next: &str, caseless: bool) -> bool {
    let Some(word) = last_word(core) else { return true };
    let stem = &word[..word.len() - 1];
    if stem.is_empty() || stem.ends_with('.') {
        return true;
    }
    if word.len() == core.len() && is_enumerator(stem) {
        return false;
    }
    let follower = first_word(next);
    let is_initial = is_single_letter(stem) && stem.chars().all(is_of_arabic_or_hebrew);
    let before = last_word(core[..core.len() - word.len()].trim_end()).unwrap_or("");
    let ordinal = is_ordinal(stem) && is_german_ordinal(before, follower);
    !(is_fixed(stem)
        || is_initial
        || ordinal
        || goes_on(stem, before, follower)
        || (caseless && fold(stem) == "etc"))
}

/// Letters that have no capitals. A word of one of them is a name's initial.
fn is_of_arabic_or_hebrew(letter: char) -> bool {
    matches!(letter, '\u{5d0}'..='\u{5ea}' | '\u{620}'..='\u{64a}')
}

/// Whether a number between these words is an ordinal one: "die 4. Armee", "des 18. und 19.
/// Jahrhunderts".
fn is_german_ordinal(before: &str, follower: &str) -> bool {
    let leads = BEFORE_ORDINALS.contains(&fold(before).as_str()) || before.ends_with(".,");
    leads && follower.starts_with(char::is_uppercase) && !is_starter(follower)
}

/// Titles and connectives: whatever follows, the sentence goes on.
fn is_fixed(stem: &str) -> bool {
    let folded = fold(stem);
    let last = folded.rsplit('-').next().unwrap_or(&folded);
    CONNECTIVES.contains(&folded.as_str())
        || (TITLES.contains(&last) && stem.starts_with(char::is_uppercase))
}

/// Whether a sentence goes on from the abbreviation `stem`, which stands behind the word `before`, to the word
/// `follower`.
fn goes_on(stem: &str, before: &str, follower: &str) -> bool {
    let folded = fold(stem);
    if follower.starts_with(char::is_numeric) {
        return is_numbered(stem, before);
    }
    if follower.starts_with('§') {
        return BEFORE_SECTIONS.contains(&folded.as_str());
    }
    if is_ordinal(stem) {
        return MONTHS.contains(&fold(follower).as_str());
    }
    let is_title = NAMED.contains(&stem) && !before.ends_with(char::is_numeric);
    if is_title || STREETS.contains(&stem) {
        return follower.starts_with(char::is_uppercase) && !is_starter(follower);
    }
    let pair = (folded.as_str(), fold(follower.trim_end_matches(['.', ',', ';', ')'])));
    if PAIRS.iter().any(|(first, second)| pair.0 == *first && pair.1 == *second) {
        return true;
    }
    if is_single_letter(stem) && is_initial(follower) {
        return true;
    }
    (is_acronym(stem) || EITHER.contains(&folded.as_str())) && !is_starter(follower)
}

/// Whether a number behind `stem` belongs to it: "Tél. 01", "Bahnhofstr. 12", "max. 500", but not that behind "5 min.".
fn is_numbered(stem: &str, before: &str) -> bool {
    let folded = fold(stem);
    let is_limit = LIMITS.contains(&folded.as_str())
        && (before.is_empty() || stem == folded)
        && !before.ends_with(char::is_numeric);
    let is_street = STREETS.contains(&stem) || folded.ends_with("str");
    NUMBERED.contains(&folded.as_str()) || is_street || is_limit
}

/// "B" of "B. Smith", or "U.S", "Ph.D": letters with stops between, at least one a capital.
fn is_acronym(stem: &str) -> bool {
    let mut parts = stem.split('.');
    let short = parts.all(|part| (1..=2).contains(&part.chars().count()));
    let dotted = stem.contains('.') || is_single_letter(stem);
    short
        && dotted
        && stem.starts_with(char::is_uppercase)
        && stem.chars().all(|c| c == '.' || c.is_alphabetic())
}

/// A word that is one letter and a full stop, as in "J." or "B.".
fn is_initial(word: &str) -> bool {
    word.strip_suffix('.').is_some_and(is_single_letter)
}

/// Whether it is exactly one letter.
fn is_single_letter(stem: &str) -> bool {
    let mut characters = stem.chars();
    characters.next().is_some_and(char::is_alphabetic) && characters.next().is_none()
}

/// The number or letter before a list item: "1", "2.3", "a", "IV".
fn is_enumerator(stem: &str) -> bool {
    let numbers = stem.split('.').all(|part| {
        (1..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    });
    let roman = stem.len() <= 5 && stem.bytes().all(|b| b"ivxlcIVXLC".contains(&b));
    numbers || roman || is_single_letter(stem)
}

/// A number of one or two digits.
fn is_ordinal(stem: &str) -> bool {
    stem.len() <= 2 && stem.bytes().all(|byte| byte.is_ascii_digit())
}

/// A word from [`STARTERS`], and not an abbreviation itself.
fn is_starter(word: &str) -> bool {
    let word = word.trim_end_matches([',', ';', ':']);
    STARTERS.contains(&fold(word).as_str())
}

/// The last word of `text`, without the brackets, quotes and signs of emphasis before it.
fn last_word(text: &str) -> Option<&str> {
    let from = text.floor_char_boundary(text.len().saturating_sub(LONGEST_WORD));
    let tail = &text[from..];
    let word = match tail.rfind(char::is_whitespace) {
        Some(at) => tail[at..].trim_start(),
        None if from > 0 => return None,
        None => tail,
    };
    Some(word.trim_start_matches(stands_before_words))
}

/// The first word of `text`, without the brackets, quotes and signs of emphasis before it.
fn first_word(text: &str) -> &str {
    let text = text.trim_start_matches(stands_before_words);
    let head = &text[..text.floor_char_boundary(LONGEST_WORD)];
    head.split(char::is_whitespace).next().unwrap_or("")
}

fn stands_before_words(character: char) -> bool {
    is_opening(character) || matches!(character, '"' | '\'' | '*' | '_')
}

/// Brackets and quotes that only ever open; “ and ‘ do so where they touch what follows.
pub(super) fn is_opening(character: char) -> bool {
    matches!(
        character,
        '(' | '['
            | '{'
            | '“'
            | '‘'
            | '„'
            | '‚'
            | '«'
            | '‹'
            | '¿'
            | '¡'
            | '（'
            | '［'
            | '｛'
            | '「'
            | '『'
            | '【'
            | '〔'
            | '〈'
            | '《'
    )
}

/// For comparison with the lists.
fn fold(word: &str) -> String {
    word.to_lowercase()
}

/// Quotes and brackets that may stand between a stop and the end of its sentence.
fn is_closing(character: char) -> bool {
    matches!(
        character,
        ')' | ']'
            | '}'
            | '"'
            | '\''
            | '”'
            | '’'
            | '“'
            | '‘'
            | '»'
            | '›'
            | '）'
            | '］'
            | '｝'
            | '」'
            | '』'
            | '】'
            | '〕'
            | '〉'
            | '》'
            | '*'
            | '_'
            | '`'
    )
}
