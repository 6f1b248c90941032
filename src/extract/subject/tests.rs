use super::key::{PossibleKey, possible_composite_keys, possible_keys, possible_numbers};
use super::*;

fn terms(question: &str) -> Vec<Vec<String>> {
    subjects(question).into_iter().map(|it| it.terms).collect()
}

fn one(question: &str) -> WholeSubject {
    subjects(question).remove(0)
}

#[test]
fn what_a_question_is_about_is_left_of_it() {
    for (question, expected) in [
        ("Summarise the rules on leave.", &["leave"][..]),
        ("Give me an overview of parental leave, please.", &["parental", "leave"]),
        ("Summarise the page about costs", &["costs"]),
        ("Summarise graph.md", &["graph"]),
        ("Summarise the rules on quantum physics", &["quantum", "physics"]),
        ("Fasse die Regeln zum Urlaub zusammen.", &["urlaub"]),
        ("Gib mir einen Überblick über die Reisekosten.", &["reisekosten"]),
        ("Résumez les règles sur les congés.", &["congés"]),
        ("Resume las reglas sobre vacaciones, por favor.", &["vacaciones"]),
        ("请总结关于休假的规定", &["休假"]),
        ("休暇の規則を要約してください", &["休暇"]),
    ] {
        assert_eq!(terms(question), [expected.to_vec()], "{question}");
    }
    for question in [
        "Summarise the handbook.",
        "Give me an overview.",
        "What are the main points?",
        "What are the main themes of the handbook?",
        "What are the main themes?",
        "Which topics do these texts cover?",
        "What is this all about?",
        "TL;DR",
        "Fasse das Handbuch zusammen.",
        "Worum geht es insgesamt?",
        "Welche Themen kommen vor?",
        "Was sind die wichtigsten Themen im Bericht?",
        "Pouvez-vous résumer ce document ?",
        "Quali sono i temi principali del testo?",
        "请总结这份文件",
    ] {
        assert!(one(question).is_all(), "{question}: {:?}", terms(question));
    }
}

#[test]
fn two_things_that_are_compared_are_two_subjects() {
    let compared = |one: &str, other: &str| vec![vec![one.to_owned()], vec![other.to_owned()]];
    assert_eq!(terms("Compare the rules on leave and travel."), compared("leave", "travel"));
    assert_eq!(terms("Was haben Miete und Pacht gemeinsam?"), compared("miete", "pacht"));
    assert_eq!(one("Compare the rules on leave and travel.").words(), "leave");
}

#[test]
fn a_heading_is_named_by_its_words() {
    let check = |question: &str, path: &str, expected: Option<(&str, bool)>| {
        let subject = one(question);
        let found = subject.heading_in(path).map(|it| (it.path, it.is_exact));
        assert_eq!(found, expected, "{question} {path}");
    };
    let leave = "Summarise the rules on leave.";
    check(leave, "Leave", Some(("Leave", true)));
    check(leave, "Handbook > Rules on leave > Days", Some(("Handbook > Rules on leave", true)));
    check(leave, "Handbook > Parental leave", Some(("Handbook > Parental leave", false)));
    check(leave, "Handbook > Travel", None);
    check(leave, "", None);
    let parental = "Summarise the rules on parental leave.";
    check(parental, "Leave > Parental > Days", Some(("Leave > Parental", false)));
    check(parental, "Leave > Sick", None);
    check("Summarise the permissions", "2. Permissions", Some(("2. Permissions", true)));
    check("Summarise the employers", "Employees", None);
    check("Fasse die Regeln zum Urlaub zusammen.", "Urlaub", Some(("Urlaub", true)));
    check(
        "Fasse die Regeln zum Urlaub zusammen.",
        "Urlaubsregelung",
        Some(("Urlaubsregelung", false)),
    );
    check("Summarise the handbook.", "Handbook", None);
}

#[test]
fn a_row_is_named_by_its_title_or_file() {
    let subject = one("Summarise the page about costs");
    assert!(subject.is_called("Costs") && subject.is_called("docs/costs.md"));
    assert!(!subject.is_called("Travel costs") && !subject.is_called("42"));
    assert!(one("Summarise graph.md").is_called("graph.md"));
    assert!(!one("Summarise the handbook.").is_called("handbook"));
    assert!(one("Summarise the stories.").is_table("story"));
    assert!(!one("Summarise the stories of Ghent.").is_table("story"));
    let of_ghent = one("Summarise the stories of Ghent.").apart_from(&["story".to_owned()]);
    assert!(of_ghent.is_in("Ghent has a mill.") && of_ghent.is_called("Stories of Ghent"));
    assert!(one("Summarise the stories.").apart_from(&["story".to_owned()]).is_table("story"));
}

#[test]
fn a_key_is_looked_up_as_it_is_written() {
    let keys = ["Summarise `graph.md", "graph.md", "summarise `graph.md"];
    assert_eq!(possible_keys("Summarise `graph.md`."), keys);
    assert!(
        possible_keys("Summarise Annual Report, please.").contains(&"Annual Report".to_owned())
    );
    assert!(possible_keys("Summarise the handbook.").is_empty());
    assert!(possible_keys("").is_empty());
    let names = ["report".to_owned()];
    assert_eq!(possible_numbers("Summarise report 7.", &names), [7]);
    assert!(possible_numbers("Summarise what happened in 1990.", &names).is_empty());
    assert!(possible_keys(&"word ".repeat(100_000)).len() < 600);
}

#[test]
fn a_number_is_a_key_where_the_table_is_named_before_it() {
    let check = |name: &str, question: &str, expected: &[i64]| {
        assert_eq!(possible_numbers(question, &[name.to_owned()]), expected, "{question}");
    };
    for question in [
        "Summarise ticket 7.",
        "Summarise ticket no. 7",
        "Summarise ticket No.7, please.",
        "Summarise ticket #7.",
        "Summarise ticket # 7.",
        "Summarise ticket number 7.",
        "What does the support ticket (no. 7) say?",
        "Was steht in Ticket Nr. 7?",
        "Was steht in Ticket Nr.: 7?",
        "Was steht in Ticket-Nr. 7?",
        "Fasse Ticketnummer 7 zusammen.",
        "Fasse Ticket Nummer 7 zusammen.",
        "Résumez le ticket n° 7.",
        "Résumez le ticket n°7.",
        "Résumez le ticket numéro 7.",
        "Resume el ticket número 7.",
        "Resume el ticket nº 7.",
        "Riassumi il ticket numero 7.",
        "Vat ticket nummer 7 samen.",
        "Streść ticket numer 7.",
        "Перескажи ticket номер 7.",
        "Перескажи ticket № 7.",
    ] {
        check("ticket", question, &[7]);
    }
    check("tickets", "What does ticket no. 7 say?", &[7]);
    check("support_tickets", "What does ticket number 7 say?", &[7]);
    check("tickets", "Was steht in Ticket Nr. 7?", &[7]);
    check("ticket", "Compare ticket no. 7 with ticket no. 12.", &[7, 12]);
    for question in [
        "There were no. 7 people came.",
        "What does chapter 7 of ticket prices say?",
        "What does chapter no. 7 of ticket prices say?",
        "Is there a ticket? No. 7 people came.",
        "Summarise the ticket. Number 7 is mine.",
        "Summarise the ticket, 7 sentences.",
        "Summarise the ticket in 7 sentences.",
        "Summarise tickets no older than 7 days.",
        "How many of the 7 tickets are open?",
        "Summarise number 7.",
        "Summarise item number 7 of the ticket.",
        "Was steht in Rechnung Nr. 7?",
        "Summarise ticket nowhere 7.",
        "Summarise ticket nr.",
        "",
    ] {
        check("ticket", question, &[]);
    }
}

#[test]
fn a_number_belongs_to_the_text_beside_it() {
    let names = ["part".to_owned()];
    let keys = |question: &str| possible_composite_keys(question, &names, true);
    for question in [
        "Summarise otter in 2 sentences.",
        "Summarise otter, 2 sentences.",
        "Summarise what happened to the otter in 1990.",
        "Summarise otter.",
        "",
    ] {
        assert!(keys(question).is_empty(), "{question}");
    }
    let check = |question: &str, expected: &[(&str, i64)]| {
        let found = keys(question);
        let numbers: Vec<Option<i64>> = found.iter().map(|it| it.number).collect();
        let expected_numbers: Vec<Option<i64>> = expected.iter().map(|it| Some(it.1)).collect();
        assert_eq!(numbers, expected_numbers, "{question}");
        for (key, (text, _)) in found.iter().zip(expected) {
            assert!(key.texts.iter().any(|it| it == text), "{question}: {key:?}");
            let mut others = ["otter", "heron", "Ghent"].iter().filter(|it| *it != text);
            assert!(others.all(|it| !key.texts.iter().any(|has| has == it)), "{question}");
        }
    };
    check("Summarise otter 2.", &[("otter", 2)]);
    check("Summarise otter 2 in 3 sentences.", &[("otter", 2)]);
    check("Summarise otter #2.", &[("otter", 2)]);
    check("Summarise heron no. 2.", &[("heron", 2)]);
    check("Summarise heron no.2 and otter n°1.", &[("heron", 2), ("otter", 1)]);
    check("Fasse Partnummer 1 von otter zusammen.", &[("otter", 1)]);
    check("Summarise part 1 of the otter.", &[("otter", 1)]);
    check("Summarise 1 of the otter.", &[("otter", 1)]);
    check("Fasse Nr. 3 aus otter zusammen.", &[("otter", 3)]);
    check("Summarise number 2 of Ghent, from 1990 (v2.1).", &[("Ghent", 2)]);
    check("Summarise otter 1 and heron number 2.", &[("otter", 1), ("heron", 2)]);
    check("Compare otter 1 with heron 2.", &[("otter", 1), ("heron", 2)]);
    check("Compare otter 1 and 2.", &[("otter", 1), ("otter", 2)]);
    let texts = possible_composite_keys("Compare otter north with heron south.", &names, false);
    let has = |key: &PossibleKey, text: &str| key.texts.iter().any(|it| it == text);
    assert!(has(&texts[0], "otter") && has(&texts[0], "north") && !has(&texts[0], "heron"));
    assert!(has(&texts[1], "heron") && has(&texts[1], "south") && !has(&texts[1], "north"));
}

#[test]
fn sentences_speak_of_a_subject_with_all_of_its_words() {
    let subject = one("Summarise the rules on parental leave.");
    assert!(subject.is_in("Parental leaves last a year.") && !subject.is_in("Leave lasts a week."));
    let known = |texts: &[&str]| subject.is_known_in(texts.iter().copied());
    assert!(known(&["Leave lasts a week.", "Parental duties"]) && !known(&["Leave lasts a week."]));
    assert!(one("Give me an overview.").is_known_in(std::iter::empty()));
    assert!(!one("Give me an overview.").is_in("An overview is given."));
}
