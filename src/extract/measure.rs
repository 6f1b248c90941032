//! # measure: do two words name the same unit of measure?
//!
//! ```text
//! ("km", "kilometres") → yes;  ("Stunden", "8h") → yes;  ("mm", "km") → no
//! ```
//!
//! Who asks for kilometres finds "km" in the text, or the other way round, and who asks for euros "EUR". Words that are mostly
//! something else are left out: "second", "metro", "try", "كم".

use std::collections::HashMap;
use std::sync::LazyLock;

pub(super) use crate::text::number::is_currency_sign;
use crate::text::word_list::list_has;

/// Letters that Hebrew writes before a word without a space, such as "to" and "per".
const HEBREW_PREFIXES: [char; 7] = ['ב', 'ה', 'ו', 'כ', 'ל', 'מ', 'ש'];

/// Minutes where a number stands before it; elsewhere rather what is least.
const MINUTES_OR_LEAST: &str = "min";

/// Hours of Croatian where a number stands before it; elsewhere a hundred in Finnish, or what connects a disk.
const HOURS_OR_HUNDRED: &str = "sata";

/// Numbers of Croatian before hours: half, two, three, four, both.
const BEFORE_HOURS: &str = "pola dva tri četiri oba";

/// The word for the unit that `word` stands for where `before` stands before it, if it is mostly something else elsewhere:
/// "5 min", but not "min value". Both are in lower case.
pub(super) fn counted_unit(word: &str, before: &str) -> Option<&'static str> {
    let is_behind_number = before.ends_with(char::is_numeric);
    match word {
        MINUTES_OR_LEAST => (is_behind_number || before == "many").then_some("minute"),
        HOURS_OR_HUNDRED => (is_behind_number || list_has(BEFORE_HOURS, before)).then_some("sati"),
        _ => None,
    }
}

/// Whether `term` and `word`, in lower case, name the same unit. A word of a text may begin with the number: "8h".
pub(super) fn is_same_measure(term: &str, word: &str) -> bool {
    let of_term = measure(term);
    of_term.is_some()
        && ![term, word].contains(&MINUTES_OR_LEAST)
        && (of_term == measure(word)
            || without_number(word).is_some_and(|it| of_term == measure(it)))
}

/// Which of [`MEASURES`] and the [`CURRENCIES`] behind them a word names.
fn measure(word: &str) -> Option<usize> {
    let find = |it: &str| PLACES.get(it).copied();
    find(word).or_else(|| find(word.strip_prefix(HEBREW_PREFIXES)?))
}

/// What stands behind the number that `word` begins with, if it begins with one.
fn without_number(word: &str) -> Option<&str> {
    let rest = word.trim_start_matches(|c: char| c.is_numeric() || matches!(c, '.' | ','));
    (rest.len() < word.len()).then_some(rest)
}

/// Whether `word`, in lower case, names a currency.
pub(super) fn is_currency(word: &str) -> bool {
    measure(word).is_some_and(|it| it >= MEASURES.len())
}

static PLACES: LazyLock<HashMap<&str, usize>> = LazyLock::new(|| {
    let rows = MEASURES.iter().chain(CURRENCIES).enumerate();
    rows.flat_map(|(at, row)| row.split_ascii_whitespace().map(move |word| (word, at))).collect()
});

/// The words for each unit, in lower case; of Chinese and Japanese also pairs of characters, as they are compared.
const MEASURES: &[&str] = &[
    "km kms kilometer kilometers kilometern kilometre kilometres kilomètre kilomètres kilómetro kilómetros \
     chilometro chilometri quilómetro quilómetros quilômetro quilômetros kilometr kilometry kilometrów kilometrů kilometra \
     kilometru kilométer kilometri kilometriä kilometrit kilomeetrit kilometrai kilometrų kilometara \
     км километр километра километров километри километара кілометр кілометри кілометрів χλμ χιλιόμετρο χιλιόμετρα किमी किलोमीटर \
     كيلومتر كيلومترا كيلومترات کیلومتر ק\"מ ק״מ קילומטר קילומטרים 킬로미터 キロメートル 公里 千米",
    "m meter meters metern metre metres mètre mètres metros metri metr metry metrów metrů metara metriä méter \
     м метр метра метров метри метара метрів μέτρο μέτρα मीटर متر مترا أمتار מטר מטרים 미터 メートル 公尺",
    "cm centimeter centimeters centimetre centimetres zentimeter zentimetern centimètre centimètres centímetro centímetros \
     centimetro centimetri centymetr centymetry centymetrów centimetr centimetrů centimetara senttimetriä santimetre \
     см сантиметр сантиметра сантиметров сантиметри сантиметрів εκατοστά सेमी सेंटीमीटर سنتيمتر سنتيمترا סנטימטר ס\"מ ס״מ \
     센티미터 センチメートル センチ 厘米 公分",
    "mm millimeter millimeters millimetern millimetre millimetres millimètre millimètres milímetro milímetros millimetro \
     millimetri milimetr milimetry milimetrów milimetrů milimetara milimetre мм миллиметр миллиметра миллиметров милиметри \
     міліметр міліметрів χιλιοστά मिमी मिलीमीटर مليمتر מילימטר מ\"מ מ״מ 밀리미터 ミリメートル 毫米",
    "kg kgs kilo kilos kilogram kilograms kilogramm kilogramme kilogrammes kilogramo kilogramos quilo quilos quilograma \
     quilogramas chilo chilogrammo chilogrammi kilogramy kilogramów kilogramů kilograma kilogramman kilogrammaa \
     кг кило килограмм килограмма килограммов килограм килограма килограми кілограм кілограми кілограмів κιλό κιλά κιλού \
     किग्रा किलो किलोग्राम كغ كغم كجم كيلوغرام كيلوجرام کیلوگرم ק\"ג ק״ג קילוגרם קילוגרמים 킬로그램 キログラム 公斤 千克",
    "g gr gram grams gramm gramme grammes gramo gramos gramas grammo grammi gramy gramów gramů grama grammaa \
     гр грамм грамма граммов грам грама грами грамів γραμμάρια غرام جرام غراما גרם 그램 グラム 公克",
    "l liter liters litern litre litres litro litros litri litr litry litrów litrů litara litraa liitrit \
     л литр литра литров литри литара літр літри літрів λίτρο λίτρα लीटर لتر لترا ליטר ליטרים 리터 リットル 公升",
    "ml milliliter milliliters millilitern millilitre millilitres mililitro mililitros millilitri mililitr mililitrů mililitrów \
     мл миллилитр миллилитра миллилитров мілілітр मिली मिलीलीटर مليلتر מיליליטר מ\"ל מ״ל 밀리리터 ミリリットル 毫升",
    "h hr hrs hour hours std stunde stunden heure heures hora horas uur uren godz godzina godziny godzin hodin hodina \
     hodiny sati óra órát tunti tuntia tund tundi valanda valandos valandų timme timmar hores \
     ч час часа часов часове години година годин сат сата сати ώρα ώρες घंटा घंटे घंटों ساعة ساعات שעה שעות 시간 時間 小时 小時 giờ",
    "min mins minute minutes minuten minuta minuty minuto minutos minuti minuut minutter minutu minut minuuttia minutit \
     minučių dakika perc phút menit мин минута минуты минут минути минуту хвилина хвилини хвилин λεπτό λεπτά मिनट \
     دقيقة دقائق דקה דקות 分钟 分鐘",
    "sec secs seconds sek sekunde sekunden secondes segundos secondi seconden sekunda sekundy sekund sekuntia saniye giây detik \
     сек секунда секунды секунд секунди δευτερόλεπτα सेकंड ثانية ثوان ثواني שנייה שניות 秒钟 秒鐘",
    "kb kilobyte kilobytes кб килобайт килобайта килобайтов",
    "mb megabyte megabytes megabajt megabajtów mégaoctet mégaoctets мб мегабайт мегабайта мегабайтов मेगाबाइट 메가바이트 メガバイト",
    "gb gigabyte gigabytes gigabajt gigabajtów gigaoctet gigaoctets гб гигабайт гигабайта гигабайтов गीगाबाइट 기가바이트 ギガバイト",
    "tb terabyte terabytes terabajt terabajtów téraoctet téraoctets тб терабайт терабайта терабайтов 테라바이트 テラバイト",
];

/// The words for each currency, as in [`MEASURES`].
const CURRENCIES: &[&str] = &[
    "eur euro euros eura eurų eurot euroa ευρώ евро євро यूरो يورو یورو יורו אירו 유로 ユーロ 欧元 歐元",
    "usd dollar dollars dólar dólares dollari dolar dolara dolarów dolarů dollár \
     доллар доллара долларов долар долара доларів δολάρια डॉलर دولار دولارا دولارات דולר דולרים 달러 ドル 美元",
    "gbp sterling",
    "pln zł zloty złoty złote złotych злотых",
    "czk kč koruna koruny korun",
    "huf forint forintot forintba",
    "rub руб рубль рубля рублей рублів",
    "uah грн гривня гривні гривень гривен",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::words::each_word;

    #[test]
    fn a_unit_is_the_same_however_it_is_written() {
        for (term, word) in [
            ("km", "kilometres"),
            ("kilometer", "km"),
            ("kilometer", "5km"),
            ("kilometer", "2.5km"),
            ("kg", "kilogramm"),
            ("stunden", "h"),
            ("hours", "8h"),
            ("hour", "hours"),
            ("minutes", "5min"),
            ("euro", "eur"),
            ("euros", "20eur"),
            ("kilo", "kg"),
            ("километров", "км"),
            ("ק\"מ", "לקילומטר"),
            ("לקילומטר", "לק\"מ"),
            ("קילומטר", "ק״מ"),
            ("كيلوغرام", "كغ"),
            ("킬로미터", "5km"),
            ("キログラム", "kg"),
            ("公里", "km"),
            ("किलोमीटर", "किमी"),
            ("χιλιόμετρα", "χλμ"),
        ] {
            assert!(is_same_measure(term, word), "{term} {word}");
        }
    }

    #[test]
    fn other_units_and_other_words_are_not_the_same() {
        for (term, word) in [
            ("km", "mm"),
            ("kg", "g"),
            ("hours", "min"),
            ("minutes", "min"),
            ("min", "minute"),
            ("hours", "sat"),
            ("h", "8"),
            ("8h", "9h"),
            ("second", "sec"),
            ("metro", "m"),
            ("office", "offices"),
            ("לחם", "חם"),
            ("", ""),
            ("5", "5"),
        ] {
            assert!(!is_same_measure(term, word), "{term} {word}");
        }
    }

    #[test]
    fn what_is_counted_is_a_unit() {
        assert_eq!(counted_unit("min", "5"), Some("minute"));
        assert_eq!(counted_unit("min", "many"), Some("minute"));
        assert_eq!(counted_unit("min", "the"), None);
        assert_eq!(counted_unit("max", "5"), None);
        assert_eq!(counted_unit("sata", "24"), Some("sati"));
        assert_eq!(counted_unit("sata", "pola"), Some("sati"));
        for before in ["on", "many", "", "a"] {
            assert_eq!(counted_unit("sata", before), None, "{before}");
        }
        assert!(is_same_measure("sati", "h") && !is_same_measure("sata", "h"));
    }

    #[test]
    fn currencies_are_told_from_other_units() {
        for word in ["eur", "dollars", "zł", "рублей", "欧元", "לדולר"] {
            assert!(is_currency(word), "{word}");
        }
        for word in ["kg", "км", "stunden", "公里", "price", "5", ""] {
            assert!(!is_currency(word), "{word}");
        }
        assert!("$€£¥₽₴₹₩฿￥".chars().all(is_currency_sign));
        assert!(!"%#§m円".chars().any(is_currency_sign));
    }

    #[test]
    fn each_word_names_one_unit_and_is_one_word() {
        let rows = MEASURES.iter().chain(CURRENCIES);
        let words = rows.flat_map(|words| words.split_ascii_whitespace());
        let count = words.clone().count();
        for word in words {
            assert_eq!(word.to_lowercase(), word);
        }
        assert_eq!(PLACES.len(), count);
        let hebrew: Vec<String> = each_word("15 שקלים לק\"מ").map(|word| word.folded).collect();
        assert_eq!(hebrew.last().map(String::as_str), Some("לק\"מ"));
    }
}
