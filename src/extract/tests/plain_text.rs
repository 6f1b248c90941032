//! Tables, prices, configuration, mails and times in text without markup.

use super::*;
use crate::extract::units::units;

#[test]
fn rows_of_aligned_columns_come_with_the_names_of_these() {
    let bill = "Item             Total        Share\nWater        4,812.00 €     240.60 €\n\
        Garbage      3,990.40 €     312.11 €\nGarden       1,870.00 €      93.50 €";
    check(
        "How much is my share of the garbage?",
        &[bill],
        "Item: Garbage; Total: 3,990.40 €; Share: 312.11 € [1]",
    );
    let csv = "name;stock;price\nlamp;12;8 EUR\nclock;7;25 EUR";
    let row = "name: clock, stock: 7, price: 25 EUR [1]";
    check("What is the price of the clock?", &[csv], row);
    check("What is the price of the clock?", &[&csv.replace(';', ",")], row);
    check("What is the price of the clock?", &[&csv.replace(';', "\t")], row);
}

#[test]
fn cells_of_html_come_with_the_names_of_their_columns() {
    let page = "<h2>Skis</h2>\n<table>\n<tr><th>Article</th><th>One day</th><th>Week</th></tr>\n\
        <tr><td>Helmet</td><td>4 EUR</td><td>16 EUR</td></tr>\n\
        <tr><td><b>Boots</b></td><td>10&nbsp;EUR</td><td>44 EUR</td></tr>\n</table>\n<p>The helmet is free for children.</p>";
    let row = "Article: Boots, One day: 10 EUR, Week: 44 EUR [1]";
    check("How much are the boots for a week?", &[page], row);
    check("Is the helmet free for children?", &[page], "The helmet is free for children. [1]");
}

#[test]
fn rows_of_two_tables_below_each_other_are_not_mixed() {
    let row = |name: &str| format!("<tr><td>{name}</td><td>5</td></tr>");
    let head = "<tr><th>Name</th><th>Count</th></tr>";
    let table = |one: &str, other: &str| format!("<table>{head}{}{}</table>", row(one), row(other));
    let page = format!("{}\n{}", table("Lamp", "Clock"), table("Pump", "Hose"));
    let whole: Vec<String> = units(&page)
        .iter()
        .filter_map(|it| it.bullets.as_ref())
        .map(|it| page[it.range()].to_owned())
        .collect();
    assert_eq!(whole.len(), 4);
    assert!(whole[..2].iter().all(|it| it.contains("Lamp") && !it.contains("Pump")), "{whole:?}");
    assert!(whole[2..].iter().all(|it| it.contains("Hose") && !it.contains("Lamp")), "{whole:?}");
}

#[test]
fn lines_with_dots_and_signs_of_equality_are_quoted_one_by_one() {
    let tyres = "All four tyres, with balance:\nR13-R14 ........ 1800 EUR\nR15-R16 ........ 2200 EUR\nOff-roaders on request";
    check("How much do tyres of R15 cost?", &[tyres], "R15-R16: 2200 EUR [1]");
    let settings = "[session]\nidle_timeout = 45\ncookie_age = 30";
    check("How high is the cookie_age?", &[settings], "cookie_age = 30 [1]");
    let sheet = "Capacity about 238 l\nWidth of the case: 70 cm\nVoltage of the case: 230 V";
    check("What is the width of the case?", &[sheet], "Width of the case: 70 cm [1]");
}

#[test]
fn a_quotation_begins_without_a_blank_line_and_is_quoted_without_its_signs() {
    let mail = "Thank you, we send new ones on Monday.\n> Three of the six glasses were\n> broken when the box came.\nBest wishes from all of us";
    let shown: Vec<String> = units(mail).iter().map(|it| it.shown(mail)).collect();
    assert_eq!(
        shown,
        [
            "Thank you, we send new ones on Monday.",
            "Three of the six glasses were broken when the box came.",
            "Best wishes from all of us"
        ]
    );
    let wrapped = "> Three of the six glasses\n> were broken when the box\n> came.";
    assert_eq!(
        units(wrapped)[0].shown(wrapped),
        "Three of the six glasses were broken when the box came."
    );
    let lazy = "> Three of the six glasses were\nbroken when the box came.";
    assert_eq!(units(lazy).len(), 1);
    let compared = "The ferry stops in winds of\n> 40 knots.";
    assert_eq!(units(compared).len(), 1);
}

#[test]
fn dates_and_times_in_digits_answer_when() {
    for (question, other, said) in [
        (
            "When does the shop open?",
            "The shop opens with fresh coffee.",
            "The shop opens at 14:30.",
        ),
        (
            "When did the shop open?",
            "The shop opened with fresh coffee.",
            "The shop opened on 05.11.2024.",
        ),
        (
            "Wann öffnet der Laden?",
            "Der Laden öffnet mit frischem Kaffee.",
            "Der Laden öffnet um 9 Uhr.",
        ),
    ] {
        check(question, &[&format!("{other} {said}")], &format!("{said} [1]"));
    }
}

#[test]
fn what_stands_below_a_release_in_a_quotation_is_read_without_its_signs() {
    let mail = "> 2.3.0 (2024-11-05)\n> Äa\n> Wir öffnen um neun.\n\n> 2.2.0 (2024-05-01)\n> Es gab mehr Platz für alle.";
    let said: Vec<String> = units(mail).iter().map(|it| it.shown(mail)).collect();
    assert_eq!(said, ["Wir öffnen um neun.", "Es gab mehr Platz für alle."]);
}
