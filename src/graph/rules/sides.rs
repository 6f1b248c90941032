//! Which names stand beside a word such as "of"?
//!
//! "Steve Hillage of Gong" are two, and "Bank of England" is one: what the word in front of "of" is called alone says
//! nothing.

use crate::text::language::NaturalLanguage;
use crate::text::word_list::list_has;

/// Words that need what stands behind an "of", in lower case.
const HEADS: &str = "\
    academy academies administration adventures agency alliance ambassador archbishop archdiocese archives army art arts \
    assembly association award awards bank battle bay best bishop board book books branch bureau \
    cabinet canton capital captain cathedral center centre ceo chair chairman chairwoman chamber champion championship \
    championships chief church city club coast code college commander commission committee commonwealth community company \
    confederation conference congress conservatory consul convention corps council count county court crown cup \
    dean declaration defence defense department diocese director directors district division dominion duchess duchy duke \
    earl edge editor embassy emirate emperor empire end executive \
    faculty federation festival fleet force forces fort foundation founder front \
    gallery game games governor government group guardian guild gulf \
    hall head heir hills history home hospital house \
    institute institution island islands isle isles journal judge king kingdom knight knights \
    land law leader leaders league legend legion library line list lodge lord lords \
    manager master mayor member members minister ministry mosque mother mountain mountains movement museum music mystery \
    nation navy office officer order orchestra \
    parish park parliament part party patriarch people peoples player pope port power premier president prince princes \
    princess principality prix prize professor prophet protectorate province queen \
    region register republic republics reservation rest review riding rights rim river royal \
    school schools science sciences sea season seat secretary senate series settlers sheriff siege society song songs \
    sons speaker state states statue story stories strait street studies study sultan sultanate supreme synod \
    temple territories territory theater theatre times tower town treasurer treaty tribe tribes tribunal \
    union university valley viceroy village voice \
    war wars work works world writers year";

/// Whether a word, in lower case, is the head of a name that goes on behind an "of".
pub fn is_head(word: &str) -> bool {
    list_has(HEADS, word)
}

/// Whether a small word of a text in this language can say that one is of another.
pub fn means_of(word: &str, language: Option<NaturalLanguage>) -> bool {
    let of_language: &[&str] = match language {
        Some(NaturalLanguage::German) => &["von"],
        Some(NaturalLanguage::Dutch) => &["van"],
        Some(NaturalLanguage::French) => &["de", "du"],
        Some(NaturalLanguage::Spanish) => &["de", "del"],
        Some(NaturalLanguage::Italian) => &["di", "del"],
        Some(NaturalLanguage::Portuguese) => &["de", "da", "do"],
        _ => &[],
    };
    word == "of" || of_language.contains(&word)
}
