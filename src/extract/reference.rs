//! # reference: does this only say where something is said?
//!
//! ```text
//! "[operations.md](operations.md) says how much memory it needs.", "See [Returns](returns.md)." → yes: the answer is there
//! ```
//!
//! Such a sentence repeats the words of the question and answers nothing but where. It is told by the link, the file name or the
//! numbered section that it begins with, or that little more than "see" stands before. What stands behind a link is told by its first word: a
//! page "describes", and a program does other things.

use std::ops::Range;

use super::part::PartKind;
use crate::text::word_list::list_has;
use crate::text::words::{Word, each_word, words};

/// Endings of the names of files that hold text for readers.
const PAGES: [&str; 5] = [".md", ".mdx", ".rst", ".adoc", ".html"];

/// Words before a link of a sentence that has nothing to say but "see".
const MOST_BEFORE: usize = 3;

/// Words before a link of a sentence that begins with "for".
const MOST_BEFORE_TOPIC: usize = 12;

/// What sections of manuals do, and those of contracts and laws don't, which cover or show what they are about.
const DESCRIBING: &str = "describes describe explains explain beschreibt beschreiben erklärt erläutert décrit décrivent explique \
    expliquent describe describen explica explican descreve descrevem explicam descrive descrivono spiega spiegano beschrijft \
    opisuje wyjaśnia описывает описывают объясняет описує пояснює περιγράφει εξηγεί";

/// What parts of a text with numbers are called.
const SECTIONS: &str = "section sections chapter chapters appendix abschnitt abschnitte abschnitten kapitel kapiteln anhang \
    chapitre chapitres annexe sección capítulo apéndice sezione capitolo appendice seção capítulo apêndice paragraaf hoofdstuk \
    bijlage sekcja sekcji rozdział rozdziale rozdziału dodatek раздел раздела разделе разделу глава главы главе главу приложение \
    приложении розділ розділі розділу bölüm bölüme bölümde κεφάλαιο ενότητα";

/// What pages do besides, and hardly anything else: the word behind a link.
const SAYING: &str = "lists says documents discusses covers shows behandelt zeigt détaille présente detalla muestra detalha mostra \
    illustra elenca toont przedstawia pokazuje рассказывает показывает показує";

/// What stands behind a link in languages without spaces.
const UNSPACED_SAYING: [&str; 18] = [
    "介绍",
    "介紹",
    "说明",
    "說明",
    "描述",
    "解释",
    "解釋",
    "列出",
    "を参照",
    "をご参照",
    "をご覧",
    "を見て",
    "に記載",
    "で説明",
    "に説明",
    "를 참조",
    "을 참조",
    "를 참고",
];

/// What sends readers elsewhere, before a link.
const POINTING: &str = "see read consult refer siehe vgl lesen voir consultez consulter lire véase vea ver consulte consulta veja \
    vedi vedere consultare leggi zie raadpleeg zobacz patrz см смотрите читайте див дивіться bkz bakınız δείτε \
    finden trouverez encontrará encontrarás troverà troverai vindt znajdziesz найдёте найдете";

/// What may stand before that.
const POLITE: &str = "please bitte si prosimy пожалуйста lütfen";

/// What sends readers elsewhere in languages without spaces.
const UNSPACED_POINTING: [&str; 12] = [
    "见",
    "参见",
    "请参见",
    "参阅",
    "请参阅",
    "详见",
    "請參閱",
    "參見",
    "詳見",
    "詳しくは",
    "詳細は",
    "詳細については",
];

/// What a sentence begins with that names what is said elsewhere: "For the options, see …".
const TOPICS: &str = "for more further details für weitere mehr details pour plus para más mais per ulteriori voor meer \
    szczegóły więcej dla для подробнее докладніше için";

/// Words that ask where.
const WHERE: &str = "where wo où dónde donde onde dove waar gdzie где де nerede πού कहाँ أين 어디";

/// What asks where in languages that write no spaces.
const UNSPACED_WHERE: [&str; 6] = ["哪里", "哪裡", "哪儿", "何处", "どこ", "どちら"];

/// Whether a question, which has `words`, asks where: what says where something is said answers it.
pub(super) fn asks_where(words: &[Word], text: &str) -> bool {
    words.iter().any(|word| is_of(WHERE, word)) || UNSPACED_WHERE.iter().any(|it| text.contains(it))
}

/// Whether `text`, of a piece of `kind`, says of something nothing but where it is said.
pub(super) fn is_reference(text: &str, kind: &PartKind) -> bool {
    match kind {
        PartKind::Code(_) => false,
        PartKind::Row(..) => is_row_of_contents(text),
        PartKind::Sentence | PartKind::Lines | PartKind::Item(_) => {
            PageLink::first_in(text).is_some_and(|link| link.is_all_there_is())
        }
    }
}

/// Whether an item of a list is a link and no more, to a place in its own document or with a question for its name:
/// it says where an answer stands.
pub(super) fn is_navigation(item: &str) -> bool {
    let link = item.strip_prefix('[').and_then(|it| it.trim_end_matches('.').strip_suffix(')'));
    let parts = link.and_then(|link| link.split_once("]("));
    parts.is_some_and(|(name, address)| {
        let is_one = !name.contains(['[', ']']) && !address.contains(['(', ')', ' ']);
        is_one && (address.starts_with('#') || name.ends_with(['?', '？', '؟']))
    })
}

/// Whether a row has two cells, of which one is nothing but a page.
fn is_row_of_contents(row: &str) -> bool {
    let cells: Vec<&str> = row.split('|').map(str::trim).filter(|cell| !cell.is_empty()).collect();
    let is_page = |cell: &&str| {
        PageLink::first_in(cell)
            .is_some_and(|it| it.is_page() && it.before.is_empty() && it.behind.is_empty())
    };
    cells.len() == 2 && cells.iter().any(is_page)
}

/// The first link or name of a page in a text.
#[derive(Debug)]
struct PageLink<'a> {
    before: &'a str,
    name: &'a str,
    /// Of a name without a link, the name.
    address: &'a str,
    behind: &'a str,
    /// Whether it is no link but a section with its number.
    is_section: bool,
}

impl<'a> PageLink<'a> {
    fn first_in(text: &'a str) -> Option<PageLink<'a>> {
        let signs = ['*', '_', '`', ' ', '\n'];
        let text = text.trim_matches(signs);
        let link = text.find("](").and_then(|middle| {
            let start = text[..middle].rfind('[')?;
            let address = &text[middle + 2..];
            let length = address.find(')')?;
            Some((start, middle, length))
        });
        if let Some((start, middle, length)) = link {
            return Some(PageLink {
                before: text[..start].trim_end_matches(signs),
                name: text[start + 1..middle].trim_matches(signs),
                address: &text[middle + 2..middle + 2 + length],
                behind: text[middle + 3 + length..].trim_start_matches(signs),
                is_section: false,
            });
        }
        let mut words = text.split_whitespace().map(|word| word.trim_matches(is_beside_name));
        let page = words.find(|word| is_page(word)).map(|name| {
            let start = name.as_ptr().addr() - text.as_ptr().addr();
            start..start + name.len()
        });
        let section = if page.is_none() { numbered_section(text) } else { None };
        let is_section = section.is_some();
        let name = page.or(section)?;
        Some(PageLink {
            before: text[..name.start].trim_end_matches(signs),
            name: &text[name.clone()],
            address: &text[name.clone()],
            behind: text[name.end..].trim_start_matches(signs),
            is_section,
        })
    }

    fn is_all_there_is(&self) -> bool {
        match self.before.is_empty() {
            true => self.is_subject(),
            false => self.is_pointed_at(),
        }
    }

    /// Whether the sentence says of the link that it is a page about something: "[Upgrades](upgrades.md) describes …",
    /// "docs/faq.md: what is often asked".
    fn is_subject(&self) -> bool {
        let is_told = self.behind.starts_with([':', '：', '–', '—', '-']) && self.is_page();
        let is_named = is_page(self.name);
        let first = each_word(self.behind).next();
        let does = |list: &str| first.as_ref().is_some_and(|it| is_of(list, it));
        let is_described = does(DESCRIBING);
        let is_saying = is_described
            || does(SAYING)
            || UNSPACED_SAYING.iter().any(|it| self.behind.starts_with(it));
        is_told
            || (is_named || self.is_page() && !is_code(self.name)) && is_saying
            || self.is_section && is_described
            || {
                let has = ["has the ", "has a ", "has an ", "contains the ", "tells ", "gives "];
                is_named && has.iter().any(|it| self.behind.starts_with(it))
            }
    }

    /// Whether what stands before it sends readers there and says no more.
    fn is_pointed_at(&self) -> bool {
        let before = words(self.before);
        let points = |it: Option<&Word>| it.is_some_and(|it| is_of(POINTING, it));
        let is_topic = before.first().is_some_and(|it| is_of(TOPICS, it));
        let is_polite = before.first().is_some_and(|it| is_of(POLITE, it));
        let sends = match is_topic {
            true => before.iter().rev().take(MOST_BEFORE).any(|it| points(Some(it))),
            false => points(before.get(usize::from(is_polite))),
        };
        let most = if is_topic { MOST_BEFORE_TOPIC } else { MOST_BEFORE };
        sends && before.len() <= most && !self.before.contains([';', ':'])
            || UNSPACED_POINTING.contains(&self.before)
    }

    /// Whether it leads to a page beside the one where it stands.
    fn is_page(&self) -> bool {
        let path = self.address.split('#').next().unwrap_or_default();
        !self.address.contains("://") && is_page(path)
    }
}

/// Whether `name` is that of a file for readers.
fn is_page(name: &str) -> bool {
    let stem = PAGES.iter().find_map(|ending| name.strip_suffix(ending));
    stem.is_some_and(|it| it.contains(char::is_alphanumeric) && !it.contains(char::is_whitespace))
}

/// The first section that `text` names by its number: "section 4.2".
fn numbered_section(text: &str) -> Option<Range<usize>> {
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let words = || text.split_whitespace();
    words().zip(words().skip(1)).find_map(|(name, number)| {
        let name = name.trim_start_matches(is_beside_name);
        let number = number.trim_end_matches(is_beside_name);
        let is_found = is_number(number) && list_has(SECTIONS, &name.to_lowercase());
        let start = name.as_ptr().addr() - text.as_ptr().addr();
        let end = number.as_ptr().addr() - text.as_ptr().addr() + number.len();
        is_found.then_some(start..end)
    })
}

/// Whether `name` is one of a program: what that "shows" is no page.
fn is_code(name: &str) -> bool {
    name.contains(['_', '(', '`', '=']) || name.starts_with('-')
}

fn is_beside_name(c: char) -> bool {
    matches!(c, '`' | '"' | '\'' | '(' | ')' | ',' | ';' | ':' | '.' | '*' | '“' | '”' | '„')
}

fn is_of(list: &str, word: &Word) -> bool {
    list_has(list, &word.folded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::cell::CellBoundary;

    #[test]
    fn what_only_says_where_something_is_said_refers() {
        for text in [
            "[operations.md](operations.md) says how much memory ragd needs.",
            "[Upgrades](operations.md#upgrades) describes what to do before.",
            "operations.md has the details.",
            "`docs/faq.md` lists what is often asked.",
            "[docs/faq.md](docs/faq.md): what is often asked.",
            "**[Django](drivers/django.md)** – a framework",
            "See [Returns](returns.md).",
            "See also the [list of fees](https://example.org/fees) for members.",
            "For the options of a pipeline, see [pipelines.md](pipelines.md).",
            "Siehe [Rückgabe](rueckgabe.md).",
            "Für Einzelheiten siehe [Rückgabe](rueckgabe.md).",
            "[Rückgabe](rueckgabe.md) beschreibt, wie Bücher zurückgegeben werden.",
            "Voir [les retours](retours.md).",
            "[Les retours](retours.md) explique comment rendre un livre.",
            "Véase [Devoluciones](devoluciones.md).",
            "Vedi [i resi](resi.md).",
            "Veja [as devoluções](devolucoes.md).",
            "Zie [retourneren](retour.md).",
            "Zobacz [zwroty](zwroty.md).",
            "См. [возврат](return.md).",
            "[Возврат](return.md) описывает, как вернуть книгу.",
            "请参阅[退货](return.md)。",
            "[退货](return.md)介绍如何退书。",
            "詳しくは[返品](return.md)を参照してください。",
            "See Section 4.2.",
            "For the options of a pump, see chapter 3, “Pumps”.",
            "Section 5 describes what a pump needs.",
            "Weitere Einzelheiten finden Sie in Abschnitt 9, „Pumpen“.",
            "[返品](return.md)をご覧ください。",
        ] {
            assert!(is_reference(text, &PartKind::Sentence), "{text}");
        }
        for row in ["Django | [drivers/django.md](drivers/django.md)", "Go | [Go](go.md)"] {
            assert!(is_reference(row, &PartKind::Row(None, CellBoundary::Bar)), "{row}");
        }
    }

    #[test]
    fn what_says_something_refers_to_nothing_alone() {
        for text in [
            "",
            "Books are returned by mail ([list of fees](fees.md)).",
            "[`rag_explain`](reference.md#rag_explain) shows the steps of an answer.",
            "[rag_explain](reference.md#rag_explain) lists the steps of an answer.",
            "[Paris](https://example.org/paris) is the capital of France.",
            "[Paris](/wiki/Paris): the capital of France",
            "[Shrink](shrink.md) makes files smaller.",
            "Programs that use HTTP need no driver: see [server.md](server.md).",
            "You see a [list of fees](fees.md) and pay one of them at the desk.",
            "We ask you to read the [rules](rules.md) before you come.",
            "See a doctor within two days.",
            "The program writes report.html and closes.",
            "Pumps of section 4 are red.",
            "Rooms in section 4 see the lake.",
            "Section 5 is closed in winter.",
            "The pump is described in section 4: it is red.",
            "The maximum pressure is 3 bar, see section 4.",
            "Returns are free within 14 days (see section 4).",
            "The pump (see section 4) must be filled with water.",
            "Section 3 covers water damage up to 5,000 euros.",
            "Section 5 says that a tenant may leave after a month.",
        ] {
            assert!(!is_reference(text, &PartKind::Sentence), "{text}");
        }
        for row in ["Django | [drivers/django.md](d.md) | 5.2", "Django | works with [it](d.md)"] {
            assert!(!is_reference(row, &PartKind::Row(None, CellBoundary::Bar)), "{row}");
        }
        assert!(!is_reference("See [it](it.md)", &PartKind::Code(None)));
    }
}
