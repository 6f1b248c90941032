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

use crate::text::script::is_without_case;
use crate::text::word_list::list_has;
use crate::text::words::Word;

/// The kind of answer that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerType {
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
pub(crate) fn asked(question: &[Word]) -> AnswerType {
    let holds = |phrase: &str| {
        let (phrase, places) = match phrase.strip_prefix('^') {
            Some(beginning) => (beginning, 1),
            None => (phrase, question.len()),
        };
        let phrase: Vec<&str> = phrase.split(' ').collect();
        let fits = |(word, it): (&Word, &&str)| match it.strip_suffix('*') {
            Some(beginning) => word.folded.starts_with(beginning),
            None => word.folded == **it,
        };
        let mut windows = question.windows(phrase.len()).take(places);
        windows.any(|window| window.iter().zip(&phrase).all(fits))
    };
    PHRASES
        .iter()
        .find(|(_, phrases)| phrases.iter().any(|phrase| holds(phrase)))
        .map_or(AnswerType::Anything, |(asked, _)| *asked)
}

impl AnswerType {
    /// Whether `sentence` holds something of this kind that the question does not;
    /// `None` where anything would do, and where a script without capitals does not tell.
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
        let is_held = sentence.iter().any(|word| kind(word) && is_new(word));
        let may_hide = self == AnswerType::Name
            && sentence.iter().any(|word| word.folded.contains(is_without_case));
        (is_held || !may_hide).then_some(is_held)
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

/// Whether `word` is a number, in digits or words, or says when something is.
pub(crate) fn is_number_or_time(word: &Word) -> bool {
    word.is_number || is_time(word) || is_one_of(NUMBERS, word)
}

/// Whether `word` stands for a version.
pub(super) fn is_version(word: &Word) -> bool {
    list_has(VERSIONS, &word.folded)
}

fn is_one_of(list: &[&str], word: &Word) -> bool {
    list.contains(&word.folded.as_str())
}

/// Words for versions, which headings of release notes name.
const VERSIONS: &str = "version versions versión versiones versione versioni versão versões versie wersja wersji \
    sürüm sürümde sürümü версия версии версию версій версії संस्करण";

/// Phrases are words with a space between; of Chinese, Japanese and Thai, characters. Of a word before an asterisk, the
/// beginning is enough, as Korean writes particles and verbs behind it. One behind a caret asks only where it begins the
/// question: elsewhere "when" joins clauses.
///
/// A word that asks for anything, such as "what" and "why", is in none of them: `text::function_word` has all words that ask.
#[rustfmt::skip]
const PHRASES: &[(AnswerType, &[&str])] = &[
    // How long something lasts, and how many days or a date, where a phrase for a time is part of it.
    (AnswerType::Number, &[
        "何 日 間", "何 日 か か", "何 年 間", "何 月 分", "며칠*", "몇 일*", "몇 년 동안", "몇 달*",
    ]),
    (AnswerType::Time, &[
        "when", "year", "date", "century", "decade", "month", "what day", "which day",
        "wann", "welchem jahr", "welches jahr", "welchem monat", "welchem tag", "welcher tag", "welchen tag", "welchem datum",
        "welches datum",
        "quand", "quelle année", "quelle date", "quel mois", "quel jour",
        "cuándo", "^cuando", "qué año", "qué fecha", "qué mes", "qué día",
        "quando", "che anno", "che giorno", "che mese", "quale giorno", "quale data", "que ano", "quale anno", "que dia", "que mês",
        "que data", "qual data", "wanneer", "welk jaar", "welke dag", "welke datum", "welke maand",
        "kiedy", "którym roku", "którego dnia", "jakiego dnia", "jaka data", "ne zaman", "hangi yıl", "hangi yılda", "hangi tarih",
        "hangi tarihte", "hangi gün", "hangi ay", "khi nào", "năm nào", "bao giờ", "lúc nào", "ngày nào", "tháng nào",
        "când", "ce an", "ce dată", "ce zi", "ce lună",
        "когда", "каком году", "какой год", "какой день", "каком веке", "какого числа", "какая дата", "коли", "якому році",
        "якого числа", "який день", "яка дата", "кога", "коя дата", "кой ден", "коя година", "^када",
        "πότε", "ποια χρονιά", "ποιο έτος", "ποια ημερομηνία", "ποια μέρα", "कब", "कबसे", "कबतक", "किस वर्ष", "किस साल", "किस तारीख",
        "किस दिन", "किस महीने", "कौन सा दिन", "언제*", "몇 년", "몇 년도*", "몇 년에*", "몇년도*", "몇월*", "몇 월*",
        "متى", "أي عام", "اي عام", "أي سنة", "أي تاريخ", "أي يوم", "اي يوم", "أي شهر",
        "何 时", "什 么 时 候", "啥 时", "哪 年", "哪 一 年", "哪 天", "哪 一 天", "哪 个 月", "几 月", "几 号",
        "い つ", "何 年", "何 月", "何 日", "何 曜",
        "เ มื่ อ ใ ด", "เ มื่ อ ไ ห ร่", "เ มื่ อ ไ ร", "วั น ไ ห น",
        "mikor", "mikortól", "mikorra", "mikorig", "melyik évben", "melyik nap", "melyik napon", "hányadikán",
        "milloin", "minä vuonna", "minä päivänä", "kdy", "jaké datum", "kterém roce", "který den", "kterého dne",
        "^kada", "kojeg datuma", "koje godine", "kojeg dana", "kapan", "tanggal berapa", "tahun berapa", "hari apa", "bulan apa",
        "^quan", "quin any", "quina data", "quin dia", "quin mes", "millal", "mis aastal", "mis päeval", "mis kuupäeval",
        "kuriais metais", "kurią dieną", "מתי", "איזה תאריך", "באיזה תאריך", "באיזו שנה", "באיזה יום",
        "hvornår", "^når", "^när", "hvilket år", "hvilken dato", "hvilken dag", "vilket år", "vilket datum", "vilken dag",
    ]),
    (AnswerType::Number, &[
        "how many", "how much", "how old", "how long", "how far", "how tall", "how large",
        "how big", "how high", "how often", "how soon", "how fast", "how heavy", "how wide", "how deep", "what time", "what number",
        "what percent", "what percentage", "what age", "wie viele", "wie viel", "wieviel", "wieviele", "wie alt", "wie lange",
        "wie hoch", "wie weit", "wie groß", "wie oft", "wie lang", "wie schnell", "wie schwer", "wie teuer", "wie spät", "wie breit",
        "wie tief", "welche uhrzeit", "combien", "quel âge", "quel pourcentage", "quelle heure", "quel prix",
        "cuánto", "cuánta", "cuántos", "cuántas", "cuanto", "cuanta", "cuantos", "cuantas", "qué porcentaje", "qué hora", "que hora",
        "quanto", "quanta", "quanti", "quante", "che ora", "che ore", "quantos", "quantas", "que horas", "hoeveel", "hoe veel",
        "hoelang", "hoe lang", "hoe oud", "hoe groot", "hoe laat", "hoe ver", "hoe hoog", "hoe vaak", "hoe snel", "hoe zwaar", "hoe duur",
        "ile", "ilu", "jak długo", "jak często", "jak daleko", "której godzinie", "która godzina",
        "kaç", "kaça", "kaçta", "kaçtan", "kaçar", "kaçıncı", "ne kadar", "bao nhiêu", "bao lâu", "bao xa", "mấy",
        "câte", "câți", "cât", "câtă", "cate", "cati", "ce oră",
        "сколько", "скольки", "скольких", "как долго", "как часто", "как далеко", "который час", "котором часу", "какой процент",
        "какая цена", "скільки", "як довго", "як часто", "котрій годині", "котра година", "колко", "колико",
        "πόσο", "πόσα", "πόσοι", "πόσες", "πόση", "πόσος", "πόσους", "τι ώρα", "ποσο", "ποσα", "ποσοι", "ποσες",
        "कितने", "कितनी", "कितना", "몇*", "얼마*", "كم", "بكم", "أي ساعة", "اي ساعة",
        "多 少", "多 大", "多 长", "多 高", "多 远", "多 久", "多 快", "多 重", "多 宽", "多 深", "几",
        "い く つ", "い く ら", "ど の く ら い", "ど の ぐ ら い", "ど れ く ら い", "ど れ ぐ ら い", "何 時", "何 分", "何 人", "何 個", "何 回",
        "何 歳", "何 円", "何 名", "何 本", "何 枚", "何 件", "何 台", "何 度", "何 泊", "何 階", "何 割", "何 パーセント",
        "กี่", "เ ท่ า ไ ห ร่", "เ ท่ า ไ ร",
        "hány", "hányan", "hányszor", "hánykor", "hányat", "mennyi", "mennyit", "mennyibe", "mennyien", "mennyiért", "meddig", "mekkora",
        "milyen hosszú", "milyen gyakran", "montako", "kuinka monta", "kuinka paljon", "kuinka kauan", "kuinka usein",
        "kuinka pitkä", "kuinka vanha", "paljonko", "miten paljon", "miten kauan", "kauanko", "moneltako", "monelta", "mihin aikaan",
        "kolik", "kolikrát", "jak dlouho", "jak často", "jak daleko", "koliko", "kolika", "berapa", "seberapa",
        "quant", "quants", "quantes", "quina hora", "quin preu", "mitu", "kui palju", "kui kaua", "kui tihti", "kui sageli", "mis kell",
        "kiek", "kelintą", "kaip ilgai", "kaip dažnai", "כמה", "בכמה", "באיזו שעה", "איזו שעה",
        "hvor mange", "hvor meget", "hvor mye", "hvor længe", "hvor lenge", "hvor lang", "hvor langt", "hvor ofte", "hvor gammel",
        "hvor stor", "hvor stort", "hur många", "hur mycket", "hur länge", "hur lång", "hur långt", "hur ofta", "hur gammal", "hur stor",
        "hur dags", "چند", "چقدر",
    ]),
    (AnswerType::Name, &[
        "who", "whom", "whose", "where", "quién", "quiénes", "dónde", "où", "кто", "кого", "кому", "кем", "где",
        "куда", "откуда", "хто", "де", "kto", "kogo", "gdzie", "nerede", "quem", "onde",
        "waar", "ποιος", "ποια", "πού", "къде", "hol", "kik", "kinek", "kuka", "kenen", "missä", "kdo", "kde", "tko", "gdje", "gde",
        "siapa", "dimana", "di mana", "kes", "kus", "cine", "unde", "hvem", "vem",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::words::words;

    const AMOUNTS: &[&str] = &[
        "연차가 며칠이에요?",
        "며칠에 만나요?",
        "회의는 몇 시에 시작해요?",
        "몇시에 열어요?",
        "배송비가 얼마예요?",
        "何時に開きますか？",
        "何日間休めますか？",
        "いくらですか？",
        "どのくらいかかりますか？",
        "多少钱？",
        "几点开门？",
        "要多久？",
        "Во сколько открывается?",
        "Сколько стоит билет?",
        "Ile trwa dostawa?",
        "Jak długo trwa dostawa?",
        "Combien de temps dure la visite ?",
        "À quelle heure ouvre le musée ?",
        "¿Cuánto dura la garantía?",
        "¿A qué hora abre?",
        "Wie lang ist die Frist?",
        "Wieviel kostet das?",
        "كم يوم إجازة لدي؟",
        "بكم هذا؟",
        "छुट्टी कितने दिन की है?",
        "Saat kaçta açılıyor?",
        "Ne kadar sürer?",
        "What time does it open?",
        "Mennyibe kerül?",
        "Montako päivää?",
        "Kolik to stojí?",
        "Koliko košta?",
        "Колко струва?",
        "Berapa lama?",
        "Quant costa?",
        "Kui palju see maksab?",
        "Kiek kainuoja?",
        "Hur länge?",
        "כמה זה עולה?",
        "เปิดกี่โมง",
        "ราคาเท่าไหร่",
        "Bao lâu?",
    ];

    const TIMES: &[&str] = &[
        "언제까지 신청해요?",
        "몇 년도에 지었어요?",
        "いつまでですか？",
        "何日に届きますか？",
        "几月几号开会？",
        "Какого числа зарплата?",
        "متى تفتح المكتبة؟",
        "पुस्तकालय कब खुलता है?",
        "Ne zaman açılıyor?",
        "Cuando abre?",
        "Mikor nyit?",
        "Milloin se aukeaa?",
        "Kdy otevírá?",
        "Kada se otvara?",
        "Кога отваря?",
        "Kapan buka?",
        "Quan obre?",
        "Millal avatakse?",
        "Hvornår åbner det?",
        "När öppnar det?",
        "מתי פתוח?",
    ];

    #[test]
    fn a_sentence_in_a_script_without_capitals_may_hold_a_name() {
        let question = words("Who runs the mill?");
        for (sentence, expected) in [
            ("ผู้จัดการโรงสีคือสมชาย", None),
            ("磨坊由张伟管理。", None),
            ("يدير أحمد المطحنة.", None),
            ("ผู้จัดการโรงสีคือ Anna", Some(true)),
            ("It is run by Anna.", Some(true)),
            ("The mill is old.", Some(false)),
            ("Её ведёт завод.", Some(false)),
        ] {
            let sentence = words(sentence);
            assert_eq!(AnswerType::Name.is_held_by(&sentence, &question), expected, "{sentence:?}");
        }
        let thai = words("ห้องสมุดปิดวันเสาร์");
        assert_eq!(AnswerType::Number.is_held_by(&thai, &question), Some(false));
    }

    #[test]
    fn question_words_tell_what_is_asked_for() {
        for (expected, questions) in [
            (AnswerType::Number, AMOUNTS),
            (AnswerType::Time, TIMES),
            (AnswerType::Name, &["Kuka johtaa yritystä?", "Kdo je ředitel?", "Къде е офисът?"]),
            (
                AnswerType::Anything,
                &[
                    "Hva gjør jeg når det regner?",
                    "¿Qué hago cuando llueve?",
                    "Vad gör jag när det regnar?",
                    "연차가 있어요?",
                    "Come si monta il kit?",
                    "",
                ],
            ),
        ] {
            for question in questions {
                assert_eq!(asked(&words(question)), expected, "{question}");
            }
        }
    }
}
