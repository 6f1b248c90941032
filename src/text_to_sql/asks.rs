//! # asks: does this question want rows, documents, or both?
//!
//! ```text
//! (question, tables) → "How many orders are open?" wants rows;
//!                      "Which customers complained, and what did they spend?" wants both
//! ```
//!
//! A rule, and no call of a language model. A question wants rows where it asks for a figure (how many, the sum, the
//! highest, spent) and names a table, a column or a value of an enum, or has words of comments on them. It wants
//! documents, too, where it asks who says what (complained, mentions, a review). Everything else wants documents
//! alone. The phrases are those of the question's language; names of tables speak whatever language they do.

use super::lexical::named_in;
use super::table::TableDocument;
use crate::answer::strategy::WantedSources;
use crate::text::language::NaturalLanguage;
use crate::text::lexical_score::AskedWords;
use crate::text::phrase::Phrases;

/// How much the words of a question must name of the tables: about one name, or two words of comments.
const NAMED: f64 = 0.8;

/// Whether `question` asks for a figure. One that does not wants documents, whatever tables there are.
#[must_use]
pub fn asks_for_figure(question: &str) -> bool {
    Phrases { spaced: FIGURE, unspaced: FIGURE_UNSPACED }.stand_in(question)
}

/// Whether `question` asks for what somebody says.
#[must_use]
pub fn asks_who_says(question: &str) -> bool {
    Phrases { spaced: SAYING, unspaced: SAYING_UNSPACED }.stand_in(question)
}

/// What `question` wants where a query may read `tables`. `interrupt` is called between two of them.
#[must_use]
pub fn wanted(
    question: &str,
    tables: &[TableDocument],
    interrupt: &mut dyn FnMut(),
) -> WantedSources {
    if !asks_for_figure(question) || named_in(&AskedWords::of(question), tables, interrupt) < NAMED
    {
        return WantedSources::Documents;
    }
    match asks_who_says(question) {
        true => WantedSources::Both,
        false => WantedSources::Rows,
    }
}

/// Figures: how many, how much, sums, means, shares, comparisons, superlatives, money that was spent.
const FIGURE: &[(NaturalLanguage, &str)] = &[
    (
        NaturalLanguage::Arabic,
        "كم., عدد., مجموع, إجمالي, متوسط, نسبة, أعلى, أدنى, أكبر, أصغر, أكثر من, أقل من, أنفق",
    ),
    (
        NaturalLanguage::Dutch,
        "hoeveel, hoe vaak, aantal, totaal, totale, som van, gemiddeld, mediaan, percentage, hoogste, laagste, grootste, \
         kleinste, duurste, goedkoopste, de meeste, het meest., meer dan., minder dan., minstens., uitgegeven, omzet",
    ),
    (
        NaturalLanguage::English,
        "how many, how much, how often, number of., total., totals., sum of., count of., average, mean of., median, \
         percentage, percent., share of., highest, lowest, largest, smallest, biggest, cheapest, most expensive, \
         most often, the fewest, has the most, have the most, had the most, sold the most, with the most, more than., \
         less than., fewer than., at least., at most., spend, spent., revenue., turnover., per month, per year, per day",
    ),
    (
        NaturalLanguage::French,
        "combien, nombre de., nombre d, total., totaux., somme., moyenne, médiane, pourcentage, le plus de., le plus d, \
         le moins de., plus grand, plus élevé, plus cher, moins cher, plus de., moins de., au moins., dépens",
    ),
    (
        NaturalLanguage::German,
        "wie viel, wieviel, wie oft, anzahl, summe, insgesamt, gesamtbetrag, gesamtzahl, durchschnitt, mittelwert, median, \
         prozent, höchste, niedrigste, größte, kleinste, teuerste, billigste, günstigste, die meisten, am meisten, \
         die wenigsten, am wenigsten, mehr als., weniger als., mindestens, höchstens, umsatz, ausgegeben, pro monat, pro jahr",
    ),
    (
        NaturalLanguage::Italian,
        "quant, numero di., totale., somma., media., mediana, percentuale, più alto, più alta, più basso, più bassa, \
         maggior, più caro, più di., meno di., almeno., spes, spend",
    ),
    (
        NaturalLanguage::Korean,
        "몇, 얼마, 합계, 평균, 개수, 가장 많, 가장 적, 가장 높, 가장 낮, 최대, 최소, 지출",
    ),
    (
        NaturalLanguage::Polish,
        "ile., ilu., liczba., liczbę., suma., sumę., łącznie, średni, mediana, procent, najwyższ, najniższ, największ, \
         najmniejsz, najdroż, najtań, najwięcej, najmniej, więcej niż, mniej niż, co najmniej, wydał, wydali.",
    ),
    (
        NaturalLanguage::Portuguese,
        "quant, número de., total., soma., média., mediana, porcentagem, percentagem, mais alto, mais alta, mais baixo, \
         maior., menor., mais caro, mais de., menos de., pelo menos., gast",
    ),
    (
        NaturalLanguage::Russian,
        "сколько, количество, число., сумм, всего., итог, средн, медиан, процент, наибольш, наименьш, самый дорог, \
         больше всего, меньше всего, больше чем, меньше чем, не менее, не более, потратил, выручк",
    ),
    (
        NaturalLanguage::Spanish,
        "cuánt, número de., cantidad, total., suma., promedio, media de., mediana, porcentaje, más alto, más alta, \
         más bajo, mayor., menor., más caro, más de., menos de., al menos., gast",
    ),
    (
        NaturalLanguage::Turkish,
        "kaç, ne kadar, toplam, ortalama, sayısı, medyan, yüzde, en yüksek, en düşük, en çok, en az, en büyük, en küçük, \
         en pahalı, en ucuz, harca",
    ),
    (
        NaturalLanguage::Ukrainian,
        "скільки, кількість, сума., суму., суми., всього., усього., середн, медіан, відсот, найбільш, найменш, найдорож, \
         найдешев, витратил, виручк",
    ),
];

/// Figures, of scripts without spaces.
const FIGURE_UNSPACED: &[(NaturalLanguage, &str)] = &[
    (
        NaturalLanguage::Chinese,
        "多少, 几个, 幾個, 总数, 總數, 总额, 總額, 总共, 總共, 合计, 合計, 平均, 最高, 最低, 最大, 最小, 最多, 最少, 花费, 花費, 花了",
    ),
    (
        NaturalLanguage::Japanese,
        "いくつ, いくら, 何人, 何件, 何個, 何回, 合計, 総額, 総数, 平均, 最高, 最低, 最大, 最小, 最も多, 最も少, 一番多",
    ),
];

/// That somebody says something: complaints, mentions, reviews, opinions.
const SAYING: &[(NaturalLanguage, &str)] = &[
    (NaturalLanguage::Arabic, "اشتك, شكو, شكا, ذكر, كتب, مدح, انتقد, مراجع, تعليق, رأي"),
    (
        NaturalLanguage::Dutch,
        "klaag, klagen, klacht, geklaagd, vermeld, schreef, schreven, geschreven, kritie, recensie, beoordeling, mening, \
         opmerking, volgens., ontevreden, tevreden, beschr",
    ),
    (
        NaturalLanguage::English,
        "complain, mention, say about., says about., said about., wrote, written about., write about., describ, prais, \
         critici, review, feedback, opinion, according to., ask about., asked about., talk about., discuss, dissatisf, \
         unhappy, satisfied., angry.",
    ),
    (
        NaturalLanguage::French,
        "plain, plaign, mention, écri, disent., critiqu, avis., commentaire, selon., mécontent, satisfait, décri, réclam",
    ),
    (
        NaturalLanguage::German,
        "beschwer, beklag, reklam, erwähn, schreib, schrieb, geschrieben, gesagt, lob., lobt, loben, gelobt, kritisier, \
         bewertung, rezension, rückmeldung, kommentar, meinung, laut., unzufrieden, zufrieden, beschreib, beschrieb, berichtet",
    ),
    (
        NaturalLanguage::Italian,
        "lament, menzion, scritt, scriv, dicono., critic, opinion, comment, recension, secondo., insoddisfatt, soddisfatt, \
         descri, reclam",
    ),
    (NaturalLanguage::Korean, "불만, 불평, 언급, 칭찬, 비판, 리뷰, 후기, 의견, 댓글, 항의"),
    (
        NaturalLanguage::Polish,
        "skarż, skarg, narzeka, wspomin, wspomn, napisa, chwal, krytyk, opini, komentarz, recenzj, według., niezadowol, \
         zadowol, opis",
    ),
    (
        NaturalLanguage::Portuguese,
        "reclam, queix, mencion, escrev, disse, dizem., critic, opini, comentári, avaliaç, segundo., insatisfeit, \
         satisfeit, descrev",
    ),
    (
        NaturalLanguage::Russian,
        "жалов, пожалов, упомян, упомин, написал, пишут., хвал, критик, отзыв, мнени, комментар, недоволь, доволь, \
         описа, согласно.",
    ),
    (
        NaturalLanguage::Spanish,
        "quej, mencion, escrib, dijo., dijeron., dicen., critic, opini, comentario, reseña, según., descontent, satisfech, \
         describ, reclam",
    ),
    (
        NaturalLanguage::Turkish,
        "şikayet, şikâyet, bahset, yazdı, yazan, eleştir, yorum, görüş, memnun",
    ),
    (
        NaturalLanguage::Ukrainian,
        "скарж, поскарж, згад, написа, пишуть., хвал, критик, відгук, думк, коментар, незадовол, задовол, опис, згідно.",
    ),
];

/// That somebody says something, of scripts without spaces.
const SAYING_UNSPACED: &[(NaturalLanguage, &str)] = &[
    (
        NaturalLanguage::Chinese,
        "投诉, 投訴, 抱怨, 提到, 提及, 写道, 寫道, 评论, 評論, 评价, 評價, 反馈, 反饋, 意见, 意見, 批评, 批評, 表扬, 表揚",
    ),
    (
        NaturalLanguage::Japanese,
        "苦情, 不満, 述べ, 言及, 書い, 批判, 称賛, レビュー, 口コミ, 意見, コメント, クレーム",
    ),
];

#[cfg(test)]
mod tests {
    use super::super::table::tests::table;
    use super::*;

    /// A shop, whose tables have English names and comments in other languages.
    fn shop() -> Vec<TableDocument> {
        let mut tables = vec![
            table("customers", &["id", "name"]),
            table("orders", &["id", "customer", "total", "state"]),
        ];
        tables[0].comment = Some(
            "Kunden, clients, clientes, clienti, klanten, klienci, клиенты, 顧客, 客户".to_owned(),
        );
        tables[1].comment = Some("Bestellungen, commandes, pedidos, заказы, 注文".to_owned());
        tables[1].columns[3].labels = vec!["open".to_owned(), "shipped".to_owned()];
        tables
    }

    fn check(expected: WantedSources, questions: &[&str]) {
        for question in questions {
            assert_eq!(wanted(question, &shop(), &mut || {}), expected, "{question}");
        }
    }

    #[test]
    fn figures_of_tables_are_rows() {
        check(
            WantedSources::Rows,
            &[
                "How many orders are there?",
                "What has each customer spent?",
                "Which customer has the most orders?",
                "What is the average total?",
                "Which of the customers have more than two orders?",
                "Wie viele orders sind es?",
            ],
        );
    }

    #[test]
    fn figures_of_who_says_something_are_both() {
        check(
            WantedSources::Both,
            &[
                "Which customers complained about delivery, and what did they spend?",
                "How much was the total of orders whose review mentions scratches?",
                "Was haben die customers insgesamt ausgegeben, die sich über die Lieferung beschwert haben?",
            ],
        );
    }

    #[test]
    fn everything_else_is_in_documents() {
        check(
            WantedSources::Documents,
            &[
                "",
                "How many teeth does a mill wheel have?",
                "Which customers complained about delivery?",
                "How do customers return what they ordered?",
                "What is the most important thing for customers?",
                "Who is the country's oldest customer?",
                "How do I count on my customers?",
                "Wie gebe ich orders zurück?",
            ],
        );
        check(WantedSources::Documents, &[&"how ".repeat(100_000)]);
        assert_eq!(wanted("How many orders?", &[], &mut || {}), WantedSources::Documents);
    }

    #[test]
    fn figures_are_asked_for_in_many_languages() {
        for question in [
            "Combien de commandes y a-t-il ?",
            "¿Cuántos pedidos hay en la tienda?",
            "Quanti ordini ci sono?",
            "Quantos pedidos existem na loja?",
            "Hoeveel bestellingen zijn er?",
            "Ile zamówień jest w sklepie?",
            "Сколько заказов у клиентов?",
            "Скільки замовлень є у клієнтів?",
            "Kaç sipariş var?",
            "كم عدد الطلبات؟",
            "주문이 몇 개입니까?",
            "有多少订单？",
            "注文は何件ですか。",
        ] {
            assert!(asks_for_figure(question), "{question}");
            assert!(!asks_who_says(question), "{question}");
        }
        for question in [
            "Wer hat sich über die Lieferung beschwert?",
            "Quels clients se sont plaints de la livraison ?",
            "¿Qué clientes se quejaron de la entrega?",
            "Кто из клиентов жаловался на доставку?",
            "哪些客户抱怨送货？",
            "配達に不満を述べた顧客は誰ですか。",
        ] {
            assert!(asks_who_says(question), "{question}");
            assert!(!asks_for_figure(question), "{question}");
        }
    }

    #[test]
    fn a_look_for_interrupts_is_taken_at_each_table() {
        let tables: Vec<TableDocument> = (0..50).map(|_| table("orders", &["id"])).collect();
        let mut looks = 0;
        let _ = wanted("How many orders?", &tables, &mut || looks += 1);
        assert_eq!(looks, 50);
    }
}
