//! Release notes, questions with answers, chats, lists, clauses and price lists: texts that are read by their form.

use super::*;
use crate::extract::units::units;

#[test]
fn a_heading_that_is_shown_with_a_short_piece_is_shown_once() {
    let notes = "## 1.1.0 (2024-05-02)\n\n- Offline mode.\n- Faster search.";
    let options =
        ExtractOptions { threshold: 0.0, margin: 99.0, close_margin: 99.0, ..Default::default() };
    let answer = answer("In which version is search faster?", &[notes], &options).answer;
    assert_eq!(answer, "1.1.0 (2024-05-02): Offline mode. Faster search. [1]");
}

#[test]
fn a_version_two_headings_above_says_when_something_was_added() {
    let notes = "## [2.3.0] - 2024-11-05\n\n### Added\n\n- Dark mode for the editor.\n- Import of CSV files.\n\n\
        ## [2.2.0] - 2024-06-18\n\n### Added\n\n- Offline mode for the editor.\n\n### Removed\n\n- Support for old browsers.";
    let dark = "[2.3.0] - 2024-11-05: Dark mode for the editor. [1]";
    check("When was the dark mode added?", &[notes], dark);
    let offline = "[2.2.0] - 2024-06-18: Offline mode for the editor. [1]";
    check("Which version has the offline mode?", &[notes], offline);
    check("What is removed?", &[notes], "Support for old browsers. [1]");
}

#[test]
fn a_question_in_a_paragraph_hides_no_version_above_it() {
    let notes = "## 2.3.0 (2024-11-05)\n\nTired of bright screens? The editor has a dark mode now.\n\n\
        The import takes a minute.\n\n## 2.2.0 (2024-06-18)\n\nThe editor works offline.";
    let dark = "2.3.0 (2024-11-05): The editor has a dark mode now. [1]";
    check("When was the dark mode added?", &[notes], dark);
    check("Which version has the dark mode?", &[notes], dark);
    let import = "2.3.0 (2024-11-05): The import takes a minute. [1]";
    check("In which version does the import take a minute?", &[notes], import);
    let units = units(notes);
    let above = |said: &str| -> Vec<&str> {
        let found = units.iter().find(|it| it.shown(notes) == said).expect("a piece");
        found.above.iter().map(|it| &notes[it.clone()]).collect()
    };
    assert_eq!(above("The editor has a dark mode now."), ["2.3.0 (2024-11-05)"]);
    assert_eq!(above("The import takes a minute."), [""; 0]);
    assert_eq!(above("The editor works offline."), [""; 0]);
}

#[test]
fn what_who_asks_tells_is_no_answer() {
    let page = "Q: I lost my membership card. What should I do?\nA: Come to the front desk with your passport.\n\n\
        Q: The app crashes when I log in. How do I fix it?\nA: Delete the cache in the settings and restart the phone.";
    check("I lost my card, what now?", &[page], "Come to the front desk with your passport. [1]");
    let cache = "Delete the cache in the settings and restart the phone. [1]";
    check("The app crashes when I log in", &[page], cache);
    let asked = "**Frage:** Mein Drucker druckt nur leere Seiten. Woran liegt das?";
    let answered = "Meist ist die Patrone des Druckers leer.";
    for parting in ["\n", "\n\n"] {
        let page = format!("{asked}{parting}**Antwort:** {answered}");
        let found = units(&page);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].shown(&page), answered);
        let under = found[0].under.clone().map(|it| &page[it]);
        assert_eq!(under, Some("Mein Drucker druckt nur leere Seiten. Woran liegt das?"));
    }
}

#[test]
fn who_tells_first_in_a_chat_does_not_know_what_to_do() {
    let chat = "[14:20] Carlos: I want to cancel my subscription.\n\
        [14:21] Support (Ida): You can cancel it under Account > Plan.";
    let mut talk = passages(&[chat]);
    talk[0].is_beginning = true;
    let reply = "[14:21] Support (Ida): You can cancel it under Account > Plan. [1]";
    check_passages("How do I cancel my subscription?", &talk, reply);
    check(
        "Who wants to cancel the subscription?",
        &[chat],
        "[14:20] Carlos: I want to cancel my subscription. [1]",
    );
}

#[test]
fn a_chat_is_read_message_by_message_wherever_it_stands() {
    let messages = "Carlos [14:20]: I want to cancel my subscription\n\
        Ida [14:21]: you can cancel it under Account, Plan\nCarlos [14:22]: found it, thanks";
    let reply = "Ida [14:21]: you can cancel it under Account, Plan [1]";
    let question = "How do I cancel my subscription?";
    let below = format!("## From our support\n\nOn Monday:\n\n{messages}");
    check(question, &[&below], reply);
    check("thanks", &[&below], "Carlos [14:22]: found it, thanks [1]");
    let told = "Carlos [14:20]: I want to cancel my subscription [1]";
    check("Who wants to cancel the subscription?", &[&below], told);
    let whole = format!("We keep what is said.\n\n{messages}");
    let mut talk = passages(&[&whole]);
    // Before a passage that does not begin its document, somebody else may have written.
    check_passages(question, &talk, told);
    talk[0].is_beginning = true;
    check_passages(question, &talk, reply);
}

#[test]
fn a_row_is_told_by_its_number_in_words() {
    let table = "| Zimmer | Miete |\n|---|---|\n| 1 | 400 EUR |\n| 2 | 600 EUR |\n| 3 | 800 EUR |\n| 4 | 950 EUR |";
    let row = "Zimmer: 3, Miete: 800 EUR [1]";
    check("Was kostet die Miete für drei Zimmer?", &[table], row);
    check("Was kostet die Miete für 3 Zimmer?", &[table], row);
}

#[test]
fn sentences_without_spaces_are_joined_as_they_stand() {
    let options =
        ExtractOptions { threshold: 0.0, margin: 99.0, close_margin: 99.0, ..Default::default() };
    let question = "博物馆的开放时间是什么？";
    let first = "博物馆的开放时间是九点至十七点。";
    let second = "春节期间休息三天。";
    for joint in ["", " "] {
        let page = format!("{first}{joint}{second}");
        let expected = format!("{page} [1]");
        assert_eq!(answer(question, &[&page], &options).answer, expected, "{joint:?}");
    }
}

#[test]
fn names_in_a_list_are_quoted_all_or_one() {
    let page = "## What is in the box\n\n- Coffee machine\n- Water filter cartridge\n- Descaling tablets\n\
        - Hardness test strip\n- Measuring spoon";
    let options =
        ExtractOptions { threshold: 0.0, margin: 99.0, close_margin: 99.0, ..Default::default() };
    let of = |question, page| answer(question, &[page], &options).answer;
    assert_eq!(
        of("What comes in the box?", page),
        "What is in the box: Coffee machine; Water filter cartridge; Descaling tablets; Hardness test strip; Measuring spoon [1]"
    );
    let leave = "## Leave\n\n- own wedding of an employee: 5 days\n- wedding of a child: 2 days";
    assert_eq!(
        of("How many days for a wedding?", leave),
        "own wedding of an employee: 5 days; wedding of a child: 2 days [1]"
    );
}

#[test]
fn a_clause_that_says_how_much_is_quoted_without_the_others() {
    let rules = "§ 1. Membership\n\n1. Anyone who is 16 or older may become a member.\n\
        2. The fee is 80 euros per year.\n3. Members may leave at the end of a year with notice.";
    check("How much is the fee?", &[rules], "The fee is 80 euros per year. [1]");
    let all = "1. Anyone who is 16 or older may become a member.\n2. The fee is 80 euros per year.\n\
        3. Members may leave at the end of a year with notice. [1]";
    check("How do I become a member?", &[rules], all);
}

#[test]
fn lines_with_labels_are_quoted_one_by_one() {
    let courses = "Courses\n\nSeahorse (from age 5): Saturdays at ten, 95 EUR\nBronze badge: Mondays at five, 80 EUR\n\
        Crawl course: Tuesdays at six, 90 EUR";
    check(
        "What does the crawl course cost?",
        &[courses],
        "Crawl course: Tuesdays at six, 90 EUR [1]",
    );
    let invoice = "Subtotal: 8,155.00 euros\nVAT 21%: 1,712.55 euros\nTotal: 9,867.55 euros";
    check("How much is the VAT at 21%?", &[invoice], "VAT 21%: 1,712.55 euros [1]");
    let limits = "Maximum size of a file\n: 25 MB on Free\n\nMost users of a team\n: 5 on Free";
    check("Which size may a file have?", &[limits], "Maximum size of a file: 25 MB on Free [1]");
}
