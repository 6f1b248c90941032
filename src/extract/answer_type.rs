//! # asked: what kind of thing does the question ask for?
//!
//! ```text
//! (question's words) → a time, a number, a name, or anything
//! ```
//!
//! A sentence without a number cannot say how many. That tells neighbours of equal wording
//! apart, and it is all that is read from a question word. Where none is known nothing is
//! expected, so a question in a language without question words here is answered by wording and meaning
//! alone. Scripts without capitals have no names that can be told.

use crate::text::words::Word;

/// The kind of answer that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerType {
    /// A year, a date, a day of the week.
    Time,
    /// A number, in digits or words.
    Number,
    /// A person or a place, which many languages write with a capital.
    Name,
    /// Anything: the question does not tell.
    Anything,
}

/// Reads the question's words; the first phrase of the table that it holds decides.
pub(super) fn asked(question: &[Word]) -> AnswerType {
    let holds = |phrase: &str| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        question
            .windows(phrase.len())
            .any(|window| window.iter().map(|word| word.folded.as_str()).eq(phrase.iter().copied()))
    };
    PHRASES
        .iter()
        .find(|(_, phrases)| phrases.iter().any(|phrase| holds(phrase)))
        .map_or(AnswerType::Anything, |(asked, _)| *asked)
}

impl AnswerType {
    /// Whether `sentence` holds something of this kind that the question does not;
    /// `None` where anything would do.
    pub(super) fn is_held_by(self, sentence: &[Word], question: &[Word]) -> Option<bool> {
        let kind: fn(&Word) -> bool = match self {
            AnswerType::Time => is_time,
            AnswerType::Number => |word| word.is_number || is_one_of(NUMBERS, word),
            AnswerType::Name => |word| word.is_name,
            AnswerType::Anything => return None,
        };
        if self == AnswerType::Name && question.iter().all(|word| !is_cased(word)) {
            return None;
        }
        let is_new = |word: &Word| question.iter().all(|other| other.folded != word.folded);
        Some(sentence.iter().any(|word| kind(word) && is_new(word)))
    }
}

/// Whether it is written in a script that has capitals.
fn is_cased(word: &Word) -> bool {
    word.folded.chars().any(char::is_lowercase)
}

/// A year, the name of a month or day, or a number with an ending ("19th", "1980s").
pub(super) fn is_time(word: &Word) -> bool {
    let letters = word.folded.trim_start_matches(char::is_numeric);
    let digits = word.folded.chars().take_while(|c| c.is_numeric()).count();
    let ending = letters;
    (digits == 4 && ending.is_empty())
        || (digits > 0 && ["s", "st", "nd", "rd", "th", "er", "년", "월"].contains(&ending))
        || is_one_of(DAYS, word)
}

/// Whether `word` stands for a version.
pub(super) fn is_version(word: &Word) -> bool {
    VERSIONS.split(' ').any(|it| it == word.folded)
}

fn is_one_of(list: &[&str], word: &Word) -> bool {
    list.contains(&word.folded.as_str())
}

/// Words for versions, which headings of release notes name.
const VERSIONS: &str = "version versions versión versiones versione versioni versão versões versie wersja wersji \
    sürüm sürümde sürümü версия версии версию версій версії संस्करण";

/// Phrases are words with a space between; of Chinese, Japanese and Thai, characters.
#[rustfmt::skip]
const PHRASES: &[(AnswerType, &[&str])] = &[
    (AnswerType::Time, &[
        "when", "year", "date", "century", "decade", "month", "what day", "which day",
        "wann", "welchem jahr", "welches jahr", "welchem monat", "welchem tag", "welchem datum",
        "quand", "quelle année", "quelle date", "quel mois", "quel jour",
        "cuándo", "qué año", "qué fecha", "qué mes", "qué día",
        "quando", "che anno", "que ano", "quale anno", "que dia", "wanneer", "welk jaar",
        "kiedy", "którym roku", "ne zaman", "hangi yıl", "hangi yılda", "khi nào", "năm nào", "când", "ce an",
        "когда", "каком году", "какой год", "каком веке", "какого числа", "коли", "якому році",
        "πότε", "ποια χρονιά", "ποιο έτος", "कब", "किस वर्ष", "किस साल", "언제", "몇 년", "몇 년도",
        "متى", "أي عام", "اي عام", "أي سنة", "أي تاريخ",
        "何 时", "什 么 时 候", "哪 年", "哪 一 年", "哪 天", "几 月", "几 号", "い つ", "何 年", "何 月", "何 日",
        "เ มื่ อ ใ ด", "เ มื่ อ ไ ห ร่",
    ]),
    (AnswerType::Number, &[
        "how many", "how much", "how old", "how long", "how far", "how tall", "how large",
        "how big", "how high", "how often", "what number", "what percent", "what percentage",
        "what age", "wie viele", "wie viel", "wieviel", "wieviele", "wie alt", "wie lange", "wie hoch", "wie weit",
        "wie groß", "wie oft", "wie lang", "wie schnell", "wie schwer", "combien", "quel âge", "quel pourcentage",
        "cuánto", "cuánta", "cuántos", "cuántas", "qué porcentaje", "quanto", "quanta", "quanti", "quante",
        "quantos", "quantas", "hoeveel", "hoe lang", "hoe oud", "hoe groot", "ile", "ilu", "kaç", "bao nhiêu", "mấy",
        "câte", "câți", "cât", "câtă", "сколько", "скільки", "какой процент",
        "πόσο", "πόσα", "πόσοι", "πόσες", "πόση", "कितने", "कितनी", "कितना", "몇", "얼마", "얼마나",
        "كم", "多 少", "多 大", "多 长", "多 高", "多 远", "多 久", "几", "い く つ", "い く ら", "何 人", "何 個", "何 回", "何 歳",
        "何 パーセント",
    ]),
    (AnswerType::Name, &[
        "who", "whom", "whose", "where", "quién", "quiénes", "dónde", "où", "кто", "кого", "кому", "кем", "где",
        "куда", "откуда", "хто", "де", "kto", "kogo", "gdzie", "nerede", "quem", "onde",
        "waar", "ποιος", "ποια", "πού",
    ]),
];

#[rustfmt::skip]
const NUMBERS: &[&str] = &[
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "twenty", "thirty", "forty", "fifty", "sixty", "hundred", "hundreds", "thousand",
    "thousands", "million", "millions", "billion", "dozen", "half", "third", "quarter", "twice",
    "once", "first", "second", "fourth", "fifth", "several", "many",
    "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf", "zwanzig", "dreißig",
    "hundert", "tausend", "millionen", "milliarden", "hälfte", "drittel", "viertel", "einmal", "zweimal",
    "deux", "trois", "quatre", "cinq", "sept", "huit", "neuf", "dix", "onze", "douze", "vingt", "trente", "cent",
    "mille", "moitié", "tiers", "quart", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez",
    "veinte", "treinta", "cien", "mil", "millones", "mitad", "due", "tre", "quattro", "cinque", "sei", "sette", "otto",
    "nove", "dieci", "cento", "metà", "milioni", "dois", "três", "quatro", "sete", "oito", "dez", "metade", "milhões",
    "twee", "drie", "vijf", "zes", "zeven", "negen", "tien", "honderd", "duizend", "miljoen", "helft",
    "два", "две", "двух", "три", "трёх", "трех", "четыре", "четырех", "пять", "пяти", "шесть", "шести", "семь",
    "восемь", "девять", "десять", "сто", "тысяча", "тысячи", "тысяч", "миллион", "миллиона", "миллионов", "половина",
    "половину", "дважды", "треть", "первый", "второй",
    "اثنان", "اثنين", "ثلاثة", "ثلاث", "أربعة", "أربع", "خمسة", "خمس", "ستة", "ست", "سبعة", "سبع", "ثمانية", "تسعة",
    "عشرة", "عشر", "عشرين", "مائة", "مئة", "ألف", "آلاف", "مليون", "ملايين", "مليار", "نصف", "ثلث", "ربع",
    "dwa", "dwie", "dwóch", "trzy", "trzech", "cztery", "czterech", "pięć", "pięciu", "sześć", "sześciu", "siedem", "siedmiu",
    "osiem", "ośmiu", "dziewięć", "dziesięć", "dziesięciu", "dwanaście", "szesnaście", "szesnastu", "dwadzieścia", "sto", "tysiąc",
    "tysięcy", "milion", "połowa", "połowę", "iki", "üç", "dört", "beş", "altı", "yedi", "sekiz", "dokuz", "yirmi", "otuz",
    "yüz", "milyon", "yarısı", "दो", "तीन", "चार", "पाँच", "पांच", "छह", "सात", "आठ", "नौ", "दस", "बीस", "सौ", "हज़ार", "लाख", "आधा",
    "sedici", "quindici", "dodici", "venti", "trenta", "mila", "vinte", "trinta", "cem", "twaalf", "twintig", "dertig", "acht",
    "δύο", "τρεις", "τρία", "τέσσερις", "πέντε", "έξι", "επτά", "οκτώ", "εννέα", "δέκα", "είκοσι", "εκατό", "χίλια",
    "二", "两", "三", "四", "五", "六", "七", "八", "九", "十", "百", "千", "万", "亿", "億", "半",
];

#[rustfmt::skip]
const DAYS: &[&str] = &[
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december", "monday", "tuesday", "wednesday", "thursday", "friday",
    "saturday", "sunday",
    "januar", "jänner", "februar", "märz", "mai", "juni", "juli", "oktober", "dezember", "montag", "dienstag",
    "mittwoch", "donnerstag", "freitag", "samstag", "sonntag", "jahrhundert", "jahrhunderts",
    "janvier", "février", "avril", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre",
    "siècle", "enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre",
    "noviembre", "diciembre", "siglo", "gennaio", "febbraio", "aprile", "maggio", "giugno", "luglio", "settembre",
    "ottobre", "dicembre", "secolo", "janeiro", "fevereiro", "março", "maio", "junho", "julho", "setembro", "outubro",
    "novembro", "dezembro", "século", "januari", "februari", "maart", "mei", "augustus", "eeuw",
    "января", "февраля", "марта", "апреля", "мая", "июня", "июля", "августа", "сентября", "октября", "ноября",
    "декабря", "году", "года", "год", "годах", "веке", "века", "век",
    "stycznia", "lutego", "kwietnia", "maja", "czerwca", "lipca", "sierpnia", "września", "października", "listopada",
    "grudnia", "roku", "rok", "wieku", "ocak", "şubat", "nisan", "mayıs", "haziran", "temmuz", "ağustos", "eylül",
    "ekim", "kasım", "aralık", "yılında", "yılı", "जनवरी", "फ़रवरी", "फरवरी", "मार्च", "अप्रैल", "मई", "जून", "जुलाई", "अगस्त", "सितंबर",
    "अक्टूबर", "नवंबर", "दिसंबर", "साल", "वर्ष",
    "lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche", "lunes", "martes", "miércoles", "jueves",
    "viernes", "sábado", "domingo", "lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato", "domenica",
    "maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag", "zondag", "poniedziałek", "wtorek", "środa",
    "środę", "czwartek", "piątek", "sobota", "sobotę", "niedziela", "niedzielę", "pazartesi", "salı", "çarşamba", "perşembe",
    "cuma", "cumartesi", "सोमवार", "मंगलवार", "बुधवार", "गुरुवार", "शुक्रवार", "शनिवार", "रविवार",
    "يناير", "فبراير", "مارس", "أبريل", "مايو", "يونيو", "يوليو", "أغسطس", "سبتمبر", "أكتوبر", "نوفمبر", "ديسمبر",
    "عام", "سنة", "القرن", "年", "月", "世", "년", "월", "세기",
];
