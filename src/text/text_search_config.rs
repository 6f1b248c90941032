//! # text_search_config: which text search configuration do these texts want?
//!
//! ```text
//! ["Wie viele Urlaubstage habe ich?", "Der Antrag wird im Portal gestellt."] → "german"
//! ```
//!
//! A configuration knows the inflections of one language, which is worth much where a language has many of them: nDCG@10 of a
//! lexical search of the Russian part of XQuAD is 0.846 with `english` and 0.922 with `russian`.

use super::language::{NaturalLanguage, language};

/// The configuration of texts that don't tell, or tell of a language that PostgreSQL has none for.
pub const DEFAULT_CONFIG: &str = "english";

/// Of how many of ten texts whose language is known it must be one language that decides.
const OF_TEN: usize = 6;

/// The name of the text search configuration, of those that come with the latest PostgreSQL, for the language of most of
/// `texts`; [`DEFAULT_CONFIG`] where no language is that of six in ten.
#[must_use]
pub fn config_of<'a>(texts: impl IntoIterator<Item = &'a str>) -> &'static str {
    let languages: Vec<NaturalLanguage> = texts.into_iter().filter_map(language).collect();
    let count = |wanted: NaturalLanguage| languages.iter().filter(|it| **it == wanted).count();
    let most = languages.iter().copied().max_by_key(|it| count(*it));
    let decides = |it: &NaturalLanguage| 10 * count(*it) >= OF_TEN * languages.len();
    most.filter(decides).and_then(config).unwrap_or(DEFAULT_CONFIG)
}

/// The configuration for words as they are.
pub const UNSTEMMED: &str = "simple";

fn config(language: NaturalLanguage) -> Option<&'static str> {
    match language {
        NaturalLanguage::Arabic => Some("arabic"),
        NaturalLanguage::Catalan => Some("catalan"),
        // It takes Croatian and Bosnian for what they are, and either script.
        NaturalLanguage::Croatian | NaturalLanguage::Serbian => Some("serbian"),
        NaturalLanguage::Danish => Some("danish"),
        NaturalLanguage::Dutch => Some("dutch"),
        NaturalLanguage::English => Some("english"),
        NaturalLanguage::Estonian => Some("estonian"),
        NaturalLanguage::Finnish => Some("finnish"),
        NaturalLanguage::French => Some("french"),
        NaturalLanguage::German => Some("german"),
        NaturalLanguage::Greek => Some("greek"),
        NaturalLanguage::Hindi => Some("hindi"),
        NaturalLanguage::Hungarian => Some("hungarian"),
        NaturalLanguage::Indonesian => Some("indonesian"),
        NaturalLanguage::Italian => Some("italian"),
        NaturalLanguage::Lithuanian => Some("lithuanian"),
        NaturalLanguage::Norwegian => Some("norwegian"),
        NaturalLanguage::Portuguese => Some("portuguese"),
        NaturalLanguage::Romanian => Some("romanian"),
        NaturalLanguage::Russian => Some("russian"),
        NaturalLanguage::Spanish => Some("spanish"),
        NaturalLanguage::Swedish => Some("swedish"),
        NaturalLanguage::Turkish => Some("turkish"),
        // PostgreSQL has none for these, and their words are spelled with letters that another one would make stems of.
        NaturalLanguage::Czech | NaturalLanguage::Vietnamese => Some(UNSTEMMED),
        // What is not segmented by spaces needs none, and PostgreSQL has none of the others, whose words the default one
        // leaves mostly as they are.
        NaturalLanguage::Bulgarian
        | NaturalLanguage::Chinese
        | NaturalLanguage::Hebrew
        | NaturalLanguage::Japanese
        | NaturalLanguage::Korean
        | NaturalLanguage::Polish
        | NaturalLanguage::Thai
        | NaturalLanguage::Ukrainian => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GERMAN: &str = "Der Antrag wird im Portal gestellt und von der Leitung geprüft.";
    const ENGLISH: &str = "The pump is heavy, and it has to be moved with a crane.";
    const RUSSIAN: &str = "Насос тяжёлый, и его нужно перемещать краном.";
    const FRENCH: &str = "La pompe est lourde, et il faut la déplacer avec une grue.";
    const SWEDISH: &str = "Pumpen är tung och måste flyttas med en kran.";
    const CODE: &str = "SELECT 1";
    const HUNGARIAN: &str =
        "A csomagot tizennégy napon belül lehet visszaküldeni, ha nem használták.";
    const FINNISH: &str = "Työntekijällä on oikeus lomapäivään, jos hän on ollut töissä kuukauden.";
    const CZECH: &str = "Zboží můžete vrátit do čtrnácti dnů, pokud nebylo použito.";
    const ESTONIAN: &str =
        "Kauba võib tagastada neljateistkümne päeva jooksul, kui seda ei ole kasutatud.";
    const CROATIAN: &str = "Proizvod se može vratiti u roku od četrnaest dana ako nije korišten.";

    #[test]
    fn most_texts_decide() {
        for (expected, texts) in [
            ("german", &[GERMAN] as &[&str]),
            ("russian", &[RUSSIAN]),
            ("swedish", &[SWEDISH]),
            ("hungarian", &[HUNGARIAN, HUNGARIAN, CODE]),
            ("finnish", &[FINNISH]),
            ("estonian", &[ESTONIAN]),
            ("serbian", &[CROATIAN]),
            ("simple", &[CZECH]),
            ("french", &[FRENCH, CODE, "", FRENCH]),
            ("german", &[GERMAN, ENGLISH, GERMAN]),
            ("english", &[ENGLISH, ENGLISH, GERMAN]),
        ] {
            assert_eq!(config_of(texts.iter().copied()), expected, "{texts:?}");
        }
    }

    #[test]
    fn texts_that_do_not_tell_are_as_english_ones() {
        for texts in
            [&[] as &[&str], &[CODE, ""], &[GERMAN, FRENCH], &["水泵很重，必须用起重机移动。"]]
        {
            assert_eq!(config_of(texts.iter().copied()), DEFAULT_CONFIG, "{texts:?}");
        }
        let long = "der die das ".repeat(1_000_000);
        assert_eq!(config_of([long.as_str()]), "german");
    }
}
