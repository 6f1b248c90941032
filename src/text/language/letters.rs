//! Which letters does a language write?
//!
//! A letter that a language has not says more than a small word that it shares: nobody writes "megsérült" in German.

use super::NaturalLanguage;

/// The letters beyond a to z that a language of the Latin script writes, those of words that it has borrowed
/// and kept the spelling of included.
pub(super) const LATIN: &[(NaturalLanguage, &str)] = &[
    (NaturalLanguage::English, "àâäåæçèéêëîïñôöøœüû"),
    (NaturalLanguage::German, "äöüßàçèêëï"),
    (NaturalLanguage::French, "àâæçéèêëîïôœùûüÿ"),
    (NaturalLanguage::Spanish, "áéíóúüñ"),
    (NaturalLanguage::Italian, "àèéìîòù"),
    (NaturalLanguage::Portuguese, "áâãàçéêíóôõúü"),
    (NaturalLanguage::Dutch, "éèêëïöüç"),
    (NaturalLanguage::Polish, "ąćęłńóśźż"),
    (NaturalLanguage::Turkish, "çğıöşüâîû"),
    (NaturalLanguage::Danish, "æøåé"),
    (NaturalLanguage::Norwegian, "æøåéèêòóô"),
    (NaturalLanguage::Swedish, "åäöéàü"),
    (NaturalLanguage::Hungarian, "áéíóöőúüű"),
    (NaturalLanguage::Finnish, "äöåšž"),
    (NaturalLanguage::Czech, "áčďéěíňóřšťúůýž"),
    (NaturalLanguage::Romanian, "ăâîșțşţ"),
    (
        NaturalLanguage::Vietnamese,
        "àáạảãâầấậẩẫăằắặẳẵèéẹẻẽêềếệểễìíịỉĩòóọỏõôồốộổỗơờớợởỡùúụủũưừứựửữỳýỵỷỹđ",
    ),
    (NaturalLanguage::Croatian, "čćđšž"),
    (NaturalLanguage::Indonesian, "é"),
    (NaturalLanguage::Catalan, "àçèéíïòóúü"),
    (NaturalLanguage::Estonian, "äõöüšž"),
    (NaturalLanguage::Lithuanian, "ąčęėįšųūž"),
];

/// The letters of the languages of the Cyrillic script.
pub(super) const CYRILLIC: &[(NaturalLanguage, &str)] = &[
    (NaturalLanguage::Russian, "абвгдеёжзийклмнопрстуфхцчшщъыьэюя"),
    (NaturalLanguage::Ukrainian, "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя"),
    (NaturalLanguage::Bulgarian, "абвгдежзийклмнопрстуфхцчшщъьюя"),
    (NaturalLanguage::Serbian, "абвгдђежзијклљмнњопрстћуфхцчџш"),
];

/// By language, how its words are spelled and, of languages that spell theirs so, too, how theirs are besides:
/// Estonian has "õ", Azerbaijani "ı", and Vietnamese "ã", "ă" and "đ".
pub(super) const SPELLINGS: &[(NaturalLanguage, &str, &str)] = &[
    (NaturalLanguage::Polish, "ą ę ł ż", "ė į ų ū"),
    (NaturalLanguage::Portuguese, "ão ões ãe", "ă đ ơ ư ạ ả ấ ầ ế ề ệ ị ọ ộ ớ ờ ợ ủ ứ ừ ự ä ö ü"),
    (NaturalLanguage::Turkish, "ı ğ", "ə"),
    (NaturalLanguage::Danish, "å", "ä ö"),
    (NaturalLanguage::Norwegian, "å", "ä ö"),
    (NaturalLanguage::Swedish, "å", "æ ø"),
    (NaturalLanguage::Hungarian, "ő ű", ""),
    (NaturalLanguage::Finnish, "ää yö öö", "å õ ü"),
    (NaturalLanguage::Czech, "ě ř ů", "ľ ĺ ŕ ô"),
    (NaturalLanguage::Romanian, "ț ţ ă", "ơ ư đ ạ ả ấ ầ ế ề ệ ị ọ ộ ớ ờ ợ ủ ứ ừ ự à á ằ ắ"),
    (NaturalLanguage::Vietnamese, "ơ ư ạ ả ấ ầ ậ ế ề ệ ể ị ọ ộ ố ồ ớ ờ ợ ủ ứ ừ ự ụ", ""),
    (NaturalLanguage::Croatian, "ć", "ą ę ł ż ś ź ń ó"),
    (NaturalLanguage::Estonian, "õ", "ã á é í ó ê ạ ả ấ ầ ế ề ệ ị ọ ộ ớ ờ ợ ủ ứ ừ ự đ"),
    (NaturalLanguage::Lithuanian, "ė į ų", "ł ż"),
    (
        NaturalLanguage::Bulgarian,
        "ъб ъв ъг ъд ъж ъз ък ъл ъм ън ъп ър ъс ът ъх ъц ъч ъш ъщ",
        "ы э ё",
    ),
    (NaturalLanguage::Ukrainian, "і ї є ґ", "ў ы э"),
    (NaturalLanguage::Russian, "ы э ё", "і ў"),
    (NaturalLanguage::Serbian, "ј љ њ ћ ђ џ", "ѓ ќ ѕ"),
];
