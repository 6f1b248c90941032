//! By which words does a text say that a name of a person is near?

use std::collections::HashMap;
use std::sync::LazyLock;

use super::boundary::{ends_at, words};

/// Words beside which a name stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cue {
    /// In small letters, with single spaces.
    pub words: &'static str,
    /// Where the name stands.
    pub kind: CueKind,
}

/// Where the name stands of which a cue speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CueKind {
    /// Behind it: `Mrs. Miller`.
    Title,
    /// Behind it and a colon, where it begins a line or a member: `Surname: Miller`.
    Field,
    /// So does a field that is as often the name of something else: the name must have two words.
    OpenField,
    /// Behind it: `my name is Ann`.
    Saying,
    /// Behind it, where it begins a line, and before a comma or the end of the line: `Dear Ann,`.
    Salutation,
    /// In the line below it, alone: `Best regards,` and `Ann Miller`; or behind it and a comma, where the line ends. In German
    /// there is no comma.
    SignOff,
    /// Before it: `王先生`.
    Suffix,
}

#[rustfmt::skip]
const TITLES: &[&str] = &[
    "mr", "mrs", "ms", "miss", "mx", "dr", "prof", "professor", "sir", "madam", "lady", "lord", "rev",
    "herr", "herrn", "frau", "fräulein", "mme", "mlle", "m", "monsieur", "madame", "mademoiselle", "maître",
    "sr", "sra", "srta", "señor", "señora", "señorita", "dª", "senhor", "senhora", "doutor", "doutora", "sig", "sig.ra",
    "signor", "signora", "signorina", "dott", "dott.ssa", "dottor", "dottoressa", "dhr", "mevr", "mw", "mevrouw",
    "meneer", "pani", "fru", "fröken", "hr", "rouva", "bay", "bayan", "господин", "госпожа", "г-н", "г-жа", "пан", "пані",
    "κύριος", "κυρία", "domnul", "doamna", "pán", "paní", "gospodin", "gospođa",
];

#[rustfmt::skip]
const FIELDS: &[&str] = &[
    "full name", "full_name", "fullname", "first name", "first_name", "firstname", "given name", "last name", "last_name",
    "lastname", "surname", "family name", "maiden name", "patient", "patient name", "customer name", "employee name",
    "contact person", "applicant", "account holder", "vorname", "nachname", "familienname", "geburtsname", "kontoinhaber",
    "kontoinhaberin", "ansprechpartner", "ansprechpartnerin", "patientin", "sachbearbeiter", "sachbearbeiterin", "prénom",
    "nom de famille", "nom complet", "apellido", "apellidos", "nombre completo", "paciente", "sobrenome", "nome completo",
    "cognome", "paziente", "voornaam", "achternaam", "imię", "nazwisko", "imię i nazwisko", "förnamn", "efternamn",
    "fornavn", "etternavn", "etunimi", "sukunimi", "soyadı", "имя", "фамилия", "отчество", "фио", "прізвище",
    "ім'я", "όνομα", "επώνυμο", "姓名", "氏名", "名前", "이름", "성명", "الاسم", "שם",
];

#[rustfmt::skip]
const OPEN_FIELDS: &[&str] = &[
    "name", "contact", "customer", "client", "employee", "author", "owner", "signed", "signed by", "attn", "kunde",
    "kundin", "mitarbeiter", "mitarbeiterin", "verfasser", "autor", "nom", "cliente", "nombre", "nome", "naam",
    "klant", "klient", "namn", "navn", "nimi", "jméno", "nume", "név", "autore", "auteur", "from", "to", "cc",
];

#[rustfmt::skip]
const SAYINGS: &[&str] = &[
    "my name is", "his name is", "her name is", "mein name ist", "ich heiße", "je m'appelle", "je m’appelle", "mon nom est",
    "me llamo", "mi nombre es", "meu nome é", "me chamo", "mi chiamo", "il mio nome è", "mijn naam is", "ik heet",
    "nazywam się", "mam na imię", "jag heter", "jeg heter", "jeg hedder", "nimeni on", "меня зовут", "мене звати",
    "me numesc", "jmenuji se", "我叫", "我的名字是", "私の名前は",
];

#[rustfmt::skip]
const SALUTATIONS: &[&str] = &[
    "dear", "liebe", "lieber", "cher", "chère", "estimado", "estimada", "querido", "querida", "caro", "cara", "gentile",
    "prezado", "prezada", "beste", "geachte", "drogi", "droga", "szanowny", "kära", "käre", "kjære", "kære", "hyvä",
    "sayın", "дорогой", "дорогая", "уважаемый", "уважаемая", "milý", "milá",
];

#[rustfmt::skip]
const SIGN_OFFS: &[&str] = &[
    "best regards", "kind regards", "warm regards", "regards", "sincerely", "yours sincerely", "sincerely yours",
    "yours faithfully", "yours truly", "best wishes", "all the best", "respectfully", "cheers", "mit freundlichen grüßen",
    "mit freundlichem gruß", "mit besten grüßen", "mit herzlichen grüßen", "freundliche grüße", "viele grüße", "beste grüße",
    "herzliche grüße", "liebe grüße", "schöne grüße", "mit freundlichen grüssen", "mit freundlichem gruss",
    "freundliche grüsse", "viele grüsse", "beste grüsse", "herzliche grüsse", "liebe grüsse", "hochachtungsvoll",
    "cordialement", "bien cordialement", "bien à vous", "amicalement", "salutations distinguées", "sincères salutations",
    "meilleures salutations", "cordiales salutations", "atentamente", "un saludo", "un cordial saludo", "saludos",
    "saludos cordiales", "cordialmente", "un abrazo", "atenciosamente",
    "cumprimentos", "cordiali saluti", "distinti saluti", "met vriendelijke groet", "groeten", "z poważaniem",
    "med vänliga hälsningar", "vänliga hälsningar", "med vennlig hilsen", "med venlig hilsen", "ystävällisin terveisin",
    "saygılarımla", "с уважением", "з повагою",
];

const SUFFIXES: &[&str] = &["先生", "女士", "小姐", "さん", "さま", "様", "氏", "씨"];

/// Where a name stands, by the first word of what says so.
static CUES: LazyLock<HashMap<&str, Vec<Cue>>> = LazyLock::new(|| {
    let lists = [
        (CueKind::Title, TITLES),
        (CueKind::Field, FIELDS),
        (CueKind::OpenField, OPEN_FIELDS),
        (CueKind::Saying, SAYINGS),
        (CueKind::Salutation, SALUTATIONS),
        (CueKind::SignOff, SIGN_OFFS),
        (CueKind::Suffix, SUFFIXES),
    ];
    let mut cues: HashMap<&str, Vec<Cue>> = HashMap::new();
    for (kind, list) in lists {
        for cue in list.iter().map(|words| Cue { words, kind }) {
            let (_, first) = words(cue.words, &mut || {}).next().unwrap_or((0, cue.words));
            cues.entry(first).or_default().push(cue);
        }
    }
    // Of two that begin alike, the longer one says more.
    cues.values_mut().for_each(|all| all.sort_by_key(|cue| std::cmp::Reverse(cue.words.len())));
    cues
});

/// The last words of closings of German, behind which no comma stands.
const WITHOUT_COMMA: [&str; 6] = ["grüßen", "gruß", "grüße", "grüssen", "gruss", "grüsse"];

impl Cue {
    /// Whether a name may follow without a comma.
    pub fn needs_no_comma(&self) -> bool {
        let last = self.words.rsplit(' ').next().unwrap_or_default();
        WITHOUT_COMMA.contains(&last)
    }
}

/// The cue whose first word is `word`, at the byte `at` of `text`, and the byte behind it.
pub fn cue_at(text: &str, at: usize, word: &str) -> Option<(Cue, usize)> {
    // The longest first word of a cue has 25 bytes.
    let known = if word.len() > 32 { None } else { CUES.get(word.to_lowercase().as_str()) }?;
    known.iter().find_map(|cue| Some((*cue, behind(text, at, cue.words)?)))
}

/// The byte behind `words`, if they stand at the byte `at`, in letters of any size.
fn behind(text: &str, at: usize, words: &str) -> Option<usize> {
    let mut expected = words.chars();
    let mut end = at;
    for c in text[at..].chars() {
        let Some(next) = expected.as_str().chars().next() else { break };
        let is_space = next == ' ' && matches!(c, ' ' | '\u{a0}');
        if !is_space && !c.to_lowercase().eq([next]) {
            return None;
        }
        expected.next();
        end += c.len_utf8();
    }
    let is_whole = expected.as_str().is_empty() && ends_at(text, end);
    is_whole.then_some(end)
}

/// Whether `word` is a title, with or without its full stop.
pub fn is_title(word: &str) -> bool {
    TITLES.contains(&word.trim_end_matches('.').to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_cue_is_taken() {
        let check = |text: &str, words: &str, kind: CueKind| {
            let (_, first) = crate::redact::boundary::words(text, &mut || {}).next().unwrap();
            let (cue, end) = cue_at(text, 0, first).unwrap();
            assert_eq!((cue.words, cue.kind, end), (words, kind, words.len()), "{text}");
        };
        check("Mein Name ist X", "mein name ist", CueKind::Saying);
        check("liebe grüße", "liebe grüße", CueKind::SignOff);
        check("Liebe Ann", "liebe", CueKind::Salutation);
        check("姓名：", "姓名", CueKind::Field);
        check("Je m'appelle", "je m'appelle", CueKind::Saying);
        assert_eq!(cue_at("mrx", 0, "mrx"), None);
        assert_eq!(cue_at("my nam", 0, "my"), None);
        assert!(is_title("Dr.") && !is_title("Ann"));
    }

    #[test]
    fn cues_are_in_small_letters() {
        for cue in CUES.values().flatten() {
            assert_eq!(cue.words, cue.words.to_lowercase());
        }
    }
}
