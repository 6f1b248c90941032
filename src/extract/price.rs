//! # price: is a price asked of a row that has none?
//!
//! ```text
//! "What does the DH-12 cost?" and "Model: DH-12, Weight: 2.3 kg, Voltage: 18 V" → yes: the row answers something else
//! ```
//!
//! A row that names the thing resembles the question whatever it says of it, and a reader prefers it to running text. So
//! an answer is withheld where the best piece is a row, or an item or a line that is no sentence, and nothing speaks of
//! money: neither its passage nor what is quoted beside it.
//!
//! A doubt speaks for the piece. Menus have bare numbers below "Small" and "Large", so a number is a price unless it is a
//! time, counts something else or is part of a name; in a named column of a passage that speaks of no money, decimals tell
//! it from a count. "What does a full scan cost?" asks for time; a text that tells it mostly says "cost", too.

#[cfg(test)]
mod tests;

use super::ExtractPassage;
use super::answer_type::{AnswerType, is_number_or_time, is_time};
use super::candidates::{Candidates, ParsedQuestion};
use super::choice::ChosenUnit;
use super::identifier::identifiers;
use super::measure::{is_currency, is_currency_sign};
use super::part::{PartKind, UnitPart};
use super::unit::Unit;
use super::when::{SPACES, WrittenNumber, tells_times};
use super::wrapping::ends_with_sentence;
use crate::text::language::NaturalLanguage;
use crate::text::number::with_ascii_digits;
use crate::text::phrase::Phrases;
use crate::text::script::is_without_case;
use crate::text::word_list::list_has;
use crate::text::words::{Word, in_small_letters, words};

/// What is left of the confidence where a price is asked for and nothing speaks of money.
const PRICELESS: f32 = 0.1;

/// The part of a confidence that is left: all of it unless a price is asked for, the `best` candidate is a row or the
/// like, and neither its passage nor any `chosen` piece may tell a price.
pub(super) fn told_share(
    candidates: &Candidates,
    best: usize,
    chosen: &[ChosenUnit],
    passages: &[ExtractPassage],
) -> f32 {
    let candidate = &candidates.all[best];
    let passage = &passages[candidate.passage];
    if !is_row_or_line(&candidate.unit, passage.content) || !asks_for_price(candidates.question) {
        return 1.0;
    }
    let question = &candidates.question.text;
    let may_tell =
        |it: &ChosenUnit| may_tell_price(it.unit, passages[it.passage].content, question);
    let is_told = speaks_of_money(passage.heading.unwrap_or_default())
        || speaks_of_money(passage.content)
        || chosen.iter().any(may_tell);
    if is_told { 1.0 } else { PRICELESS }
}

/// Whether `question` asks what something costs in money, and neither who nor when besides.
fn asks_for_price(question: &ParsedQuestion) -> bool {
    let text = &question.text;
    let is_asked = ASKED.stand_in(text) || HOW_MUCH.stand_in(text) && COSTS.stand_in(text);
    is_asked
        && !matches!(question.asked, AnswerType::Name | AnswerType::Time)
        && !question.words.iter().any(|it| list_has(OTHER_COSTS, &it.folded))
        && identifiers(text).next().is_none()
}

fn is_row_or_line(unit: &Unit, content: &str) -> bool {
    unit.parts.last().is_some_and(|part| match part.kind {
        PartKind::Row(..) => true,
        PartKind::Item(_) | PartKind::Lines => !ends_with_sentence(&content[part.range.clone()]),
        PartKind::Sentence | PartKind::Code(_) => false,
    })
}

/// Whether `text` has a currency, or a word for prices or for what is free of charge.
fn speaks_of_money(text: &str) -> bool {
    let text = in_small_letters(text);
    let mut words = text.split(|c: char| !c.is_alphabetic()).filter(|it| !it.is_empty());
    text.contains(is_currency_sign)
        || PRICES.split(", ").any(|it| text.contains(it))
        || words.any(|it| is_currency(it) || list_has(MONEY, it))
}

/// Whether `unit` has a word for money, a percentage, a number in words, or one in digits that may be an amount and is
/// not the `question`'s own.
fn may_tell_price(unit: &Unit, content: &str, question: &str) -> bool {
    let reading = unit.reading(content);
    let is_in_column = |part: &UnitPart| matches!(part.kind, PartKind::Row(Some(_), _));
    let is_in_columns = unit.parts.iter().any(is_in_column);
    let is_in_words = |it: &Word| !it.is_number && is_number_or_time(it) && !is_time(it);
    let digits = with_ascii_digits(&reading);
    let are_times = tells_times(&digits);
    let may_be_amount = |it: &WrittenNumber| {
        let has_decimals = has_decimals(it);
        // "8.00 - 9.50" may be two prices.
        let is_sure_time = is_in_columns || are_times || !has_decimals || it.is_hour();
        let is_time = is_sure_time && (it.is_time_of_day() || are_times && it.digits.contains('.'));
        let is_date = it.is_day() && !it.digits.contains('/');
        let is_other = is_time || is_date || is_of_name(it) || counts_something(it);
        let is_plain = has_decimals || !is_in_columns;
        has_cents_sign(it) || !is_other && is_plain && !it.stands_in(question)
    };
    reading.contains(['%', '٪', '％'])
        || speaks_of_money(&reading)
        || words(&reading).iter().any(is_in_words)
        || WrittenNumber::all(&digits).any(|it| may_be_amount(&it))
}

/// Whether `number` ends with one decimal or two. Only points are part of its digits.
fn has_decimals(number: &WrittenNumber) -> bool {
    let whole = number.before.strip_suffix(COMMAS);
    let decimals = match whole.is_some_and(|it| it.ends_with(|c: char| c.is_ascii_digit())) {
        true => Some(number.digits),
        false => number.digits.rsplit_once('.').map(|(_, decimals)| decimals),
    };
    decimals.is_some_and(|it| matches!(it.len(), 1 | 2))
}

/// Whether a dash stands for the cents of `number`, or a letter right behind it for pence: "20,-", "40p".
fn has_cents_sign(number: &WrittenNumber) -> bool {
    let cents = number.behind.strip_prefix([',', '.']).unwrap_or_default();
    let pence = number.behind.strip_prefix('p');
    cents.starts_with(['-', '–', '—'])
        || pence.is_some_and(|it| !it.starts_with(char::is_alphanumeric))
}

/// Whether `number` is part of a name or numbers something: "DH-12", "#5".
fn is_of_name(number: &WrittenNumber) -> bool {
    let before = number.before.strip_suffix('-').unwrap_or(number.before);
    before.ends_with(|c: char| c.is_alphabetic() && !is_without_case(c) || "#№".contains(c))
}

/// Whether a word behind `number` says what it counts, or the number goes on there.
fn counts_something(number: &WrittenNumber) -> bool {
    let is_number = |it: &str| it.starts_with(|c: char| c.is_ascii_digit());
    let behind = number.behind.trim_start_matches(SPACES);
    let goes_on = number.behind.strip_prefix(COMMAS).is_some_and(is_number);
    let other_end = behind.strip_prefix(BETWEEN).map(|it| it.trim_start_matches(SPACES));
    let word = behind.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let is_of_amount = word.starts_with(POWERS) || list_has(BEHIND_AMOUNTS, &word.to_lowercase());
    let is_sign = || behind.starts_with(|c: char| matches!(c, '°' | '℃' | '\u{3300}'..='\u{33FF}'));
    goes_on || other_end.is_some_and(is_number) || !word.is_empty() && !is_of_amount || is_sign()
}

/// Signs within a number, and between the ends of a range or the sides of a thing.
const COMMAS: [char; 5] = [',', '٫', '٬', '\'', '’'];
const BETWEEN: [char; 8] = ['-', '–', '—', '~', '～', '〜', '×', 'x'];

/// What stands behind an amount of money: the rest of it, and for what it is paid.
const POWERS: [char; 10] = ['十', '百', '千', '万', '萬', '億', '亿', '백', '천', '만'];
const BEHIND_AMOUNTS: &str = "k p c ct tsd mio tys mln mil тыс тис млн per for each apiece pp pro je für st par pour la le à \
    por para al cada a all alla voor för til za od na за на от başına";

/// Words of questions about what is spent beside money.
const OTHER_COSTS: &str = "time memory cpu performance latency energy effort zeit speicher leistung energie mühe temps mémoire \
    énergie tiempo memoria energía tempo tijd geheugen energi tid czasu pamięci времени памяти часу";

/// How a price is asked for, in the present: what something cost in the past is also what was lost by it.
#[rustfmt::skip]
const ASKED: Phrases = Phrases {
    spaced: &[
        (NaturalLanguage::English, "what is the price., what are the prices., what the price., what price., what is the fee., \
            what is the fare., how expensive is., how expensive are."),
        (NaturalLanguage::German, "was kostet., was kosten., wie viel kostet., wie viel kosten., wieviel kostet., wieviel kosten., \
            wie teuer ist., wie teuer sind., wie hoch ist der preis., wie hoch ist die gebühr., was ist der preis."),
        (NaturalLanguage::French, "combien coûte., combien coûtent., combien coute., combien coutent., combien ça coûte., \
            que coûte., que coûtent., quel est le prix d, quels sont les prix., quel est le tarif., quels sont les tarifs."),
        (NaturalLanguage::Spanish, "cuánto cuesta., cuánto cuestan., cuanto cuesta., cuanto cuestan., cuánto vale un, \
            cuánto vale alquilar., cuánto vale comprar., cuál es el precio., cuáles son los precios., qué precio tiene."),
        (NaturalLanguage::Italian, "quanto costa., quanto costano., qual è il prezzo., quali sono i prezzi."),
        (NaturalLanguage::Portuguese, "quanto custa., quanto custam., qual é o preço., qual o preço., quais são os preços."),
        (NaturalLanguage::Dutch, "wat kost., wat kosten., hoeveel kost., hoeveel kosten., hoe duur is., wat is de prijs."),
        (NaturalLanguage::Danish, "hvad koster., hvor meget koster."), (NaturalLanguage::Norwegian, "hva koster., hvor mye koster."),
        (NaturalLanguage::Swedish, "vad kostar., hur mycket kostar., vad är priset."), (NaturalLanguage::Czech, "kolik stojí."),
        (NaturalLanguage::Polish, "ile kosztuje., ile kosztują., jaka jest cena., jakie są ceny."),
        (NaturalLanguage::Hungarian, "mennyibe kerül., mennyibe kerülnek."), (NaturalLanguage::Lithuanian, "kiek kainuoja."),
        (NaturalLanguage::Romanian, "cât costă., cat costa., care este prețul."), (NaturalLanguage::Catalan, "quant costa."),
        (NaturalLanguage::Croatian, "koliko košta., koja je cijena."), (NaturalLanguage::Serbian, "колико кошта., која је цена."),
        (NaturalLanguage::Russian, "сколько стоит., сколько стоят., почём., почем., какая цена., какова цена., какова стоимость."),
        (NaturalLanguage::Ukrainian, "скільки коштує., яка ціна."), (NaturalLanguage::Bulgarian, "колко струва., каква е цената."),
        (NaturalLanguage::Greek, "πόσο κοστίζει., πόσο κοστίζουν."), (NaturalLanguage::Indonesian, "berapa harga, harganya berapa."),
        (NaturalLanguage::Vietnamese, "giá bao nhiêu., bao nhiêu tiền."), (NaturalLanguage::Turkish, "kaç para., kaç lira., fiyatı ne"),
        (NaturalLanguage::Hindi, "कीमत क्या., कीमत कितनी., दाम क्या., दाम कितना., शुल्क कितना., किराया कितना."),
        (NaturalLanguage::Arabic, "كم سعر., كم السعر., كم ثمن, كم تكلف, كم يكلف, ما سعر., ما هو سعر., ما ثمن, بكم."),
        (NaturalLanguage::Hebrew, "כמה עולה., כמה עולים., כמה עולות., כמה זה עולה., מה המחיר., מה מחיר."),
        (NaturalLanguage::Korean, "가격이 얼마, 가격은 얼마, 요금이 얼마, 요금은 얼마, 값이 얼마, 값은 얼마, 비용이 얼마, 비용은 얼마"),
    ],
    unspaced: &[
        (NaturalLanguage::Chinese, "多少钱, 多少錢, 几块钱, 价格是多少, 價格是多少, 价格多少, 售价是多少, 票价是多少, 费用是多少"),
        (NaturalLanguage::Japanese, "値段はいくら, 価格はいくら, 料金はいくら, 費用はいくら, おいくら, 何円"),
        (NaturalLanguage::Thai, "ราคาเท่าไหร่, ราคาเท่าไร, ราคาเท่าใด, กี่บาท"),
    ],
};

/// Words that ask for a price, and those that stand behind the thing in such a question.
#[rustfmt::skip]
const HOW_MUCH: Phrases = Phrases {
    spaced: &[
        (NaturalLanguage::English, "how much do, how much will., how much would., what do, what will., what would."),
        (NaturalLanguage::Finnish, "paljonko., mitä., mikä on."), (NaturalLanguage::Hungarian, "mennyi., mi."),
        (NaturalLanguage::Estonian, "kui palju."),
    ],
    unspaced: &[],
};
#[rustfmt::skip]
const COSTS: Phrases = Phrases {
    spaced: &[
        (NaturalLanguage::English, "cost."), (NaturalLanguage::Finnish, "maksaa., maksavat., hinta."),
        (NaturalLanguage::Hungarian, "ára."), (NaturalLanguage::Estonian, "maksab., maksavad."),
    ],
    unspaced: &[],
};

/// What speaks of prices or of what is free of charge, in lower case, within words, too.
const PRICES: &str = "price, pricing, cost, charge, discount, tariff, n/c, includ, inclus, preis, gebühr, kost, entgelt, \
    miet, verleih, beitrag, betrag, beträg, pfand, ermäßig, eintritt, kaution, rabatt, gratis, umsonst, inbegriffen, \
    zuschlag, pauschal, bezahl, zahlung, prix, coût, tarif, gratuit, payant, paiement, caution, compris, offert, \
    supplément, forfait, cotisation, precio, pago, pagament, descuent, incluid, alquiler, cuota, prezz, compreso, compresa, \
    noleggio, listino, cauzion, preço, grátis, incluí, taxa, alugue, prijs, prijz, tarief, tarieven, inbegrepen, huur, \
    toeslag, betaal, pris, avgift, gebyr, hyra, inkluder, ingår, betal, hinta, hinna, maksu, maksa, ilmai, sisält, koszt, \
    opłat, płatn, za darmo, stawk, kaucj, poplat, vstupné, zdarma, ceník, ingyen, díjmentes, fizet, preț, preţ, taxă, \
    cijen, besplat, стоимост, стоит, тариф, бесплат, безплат, прайс, прейскурант, оплат, плата, платн, скидк, взнос, залог, \
    вартіст, безкоштов, коштує, fiyat, ücret, bedava, dahil, bedel, ödeme, τιμή, τιμη, τιμές, τιμοκ, κόστ, κοστ, δωρε, \
    miễn phí, harga, biaya, ongkos, preu, tasuta, nemokam, kain, mokest, entrée libre, entrada libre, entrada livre, \
    ingresso libero, wstęp wolny, fri entr, вход свобод, вхід вільн, 价, 價, 値段, 费, 費, 免, 料金, 送料, 手数料, 無料, 金额, 金額, 税, 钱, 錢, \
    块, 塊, 元, 円, 圆, 圓, 가격, 요금, 비용, 무료, 포함, 원, ราคา, ค่า, ฟรี, บาท, कीमत, दाम, शुल्क, किराया, मुफ्त, मुफ़्त, रुप, سعر, أسعار, \
    ثمن, تكلف, رسوم, مجان, ريال, درهم, جنيه, دينار, ليرة, أجرة, מחיר, עלות, תשלום, חינם, תעריף, ש\"ח, ש״ח, שקל";

/// Words by themselves that speak of money, in lower case, and what price lists have in the place of an amount.
const MONEY: &str = "fee fees fare fares rate rates fine fines penalty penalties amount amounts money cash payment payments \
    payable bill billed billing rent rental hire points credits tokens coins toll ticket tickets menu plan plans admission \
    deposit subscription tax vat pay paid pays free nothing complimentary donation request menú menü speisekarte frei inkl \
    frais spese spende anfrage demande richiesta consultar aanvraag importe importes valor valores custo custos custa \
    custam importo quota montant loyer cout desconto descontos sconto sconti bedrag beløb beløp belopp kwota tutar kira \
    сумма сума такса таксата запрос דמי cena ceny cen cenu cenie cenę cennik pret цена цены цене цени цену цената цените \
    ціна ціни ціну руб р ár ára árak díj díja díjak giá phí tiền hind hinnad chf sek nok dkk kr krona kronor krone kroner \
    cent cents ct cts centimes pence franc francs franken sfr peso pesos real reais rand yen yuan won baht rupee rupees \
    rupiah rp đồng đ vnd ft shekel shekels tl lira liraya lei leu ron leva лв лева din dinara aed sar rm rs रु रू nis ils \
    ευρω inr cny jpy krw thb cad aud mxn brl zar rsd sgd hkd myr idr pound pounds";
