//! What manuals say in many places: where something is said, what a name stands for, and the same once more.

use super::*;
use crate::extract::units::units;

#[test]
fn what_says_where_it_is_said_is_no_answer() {
    let question = "How much memory does the pump daemon need?";
    let reference = "A job is never lost.\n\n[operations.md](operations.md) says how much memory the pump daemon needs.";
    let said = "# Memory\n\nThe pump daemon takes 150 MB of memory.";
    check(question, &[reference, said], "The pump daemon takes 150 MB of memory. [2]");
    let behind = "No job is lost. pumpd is restarted, at most 7. [operations.md](operations.md) says how much memory the pump daemon needs.";
    check(question, &[behind, said], "The pump daemon takes 150 MB of memory. [2]");
    let list = "* [docs/memory.md](docs/memory.md): how much memory the pump daemon needs\n\
        * [docs/faq.md](docs/faq.md): other questions";
    check(question, &[list, said], "The pump daemon takes 150 MB of memory. [2]");
    let table = "| from | page |\n|---|---|\n| memory of the pump daemon | [memory.md](memory.md) |\n| jobs | [jobs.md](jobs.md) |";
    check(question, &[table, said], "The pump daemon takes 150 MB of memory. [2]");
    let refers = |question: &str, content: &str| {
        let question = ParsedQuestion::read(question);
        let candidates = Candidates::read(&question, &passages(&[content]));
        candidates.all.iter().any(|it| it.announcement.is_some())
    };
    assert!(refers(question, reference));
    // Where it is said may be what is asked, and a list of pages, too.
    assert!(!refers("Where is the memory of the pump daemon described?", reference));
    assert!(!refers("泵守护程序的内存在哪里说明？", "[内存](memory.md)介绍泵守护程序的内存。"));
    assert!(!refers("What are the pages?", &format!("# Pages\n\n{list}")));
}

#[test]
fn the_row_of_the_setting_that_is_named_answers() {
    let table = "# Settings\n\n| setting | default | meaning |\n|---|---|---|\n\
        | `pump.buffer_limit` | 40 | nearest jobs that a walk finds |\n\
        | `pump.value_limit` | 7 | default value of a job |";
    let other =
        "The option graph controls the walk. The default value is the value auto, by default.";
    let row =
        "setting: pump.buffer_limit, default: 40, meaning: nearest jobs that a walk finds [2]";
    for question in [
        "What is the default value of buffer_limit?",
        "What is the default value of pump.buffer_limit?",
    ] {
        check(question, &[other, table], row);
    }
}

#[test]
fn what_is_said_on_several_pages_is_quoted_once() {
    let quoted = |pages: &[&str]| {
        let options = ExtractOptions {
            threshold: 0.0,
            margin: 99.0,
            close_margin: 99.0,
            ..Default::default()
        };
        answer("How do I remove a pump with its hoses?", pages, &options).answer
    };
    let first = "To remove a pump with its hoses, call drop_pump.";
    let again = "Call drop_pump to remove a pump with the hoses.";
    let other = "Call stop_pump to remove a pump with the hoses.";
    let denied = "Do not call drop_pump to remove a pump with the hoses.";
    assert_eq!(quoted(&[first, again]), format!("{first} [1]"));
    assert_eq!(quoted(&[first, other]), format!("{first} [1] {other} [2]"));
    assert_eq!(quoted(&[first, denied]), format!("{first} [1] {denied} [2]"));
}

#[test]
fn a_window_is_no_windows() {
    let page = "The window of the pump is cleaned by hand. It runs on Linux.";
    let held = |question: &str| {
        let question = ParsedQuestion::read(question);
        let candidates = Candidates::read(&question, &passages(&[page]));
        candidates.passage_credits[0].iter().filter(|it| **it > 0.0).count()
    };
    assert_eq!(held("Does the pump have Windows?"), 1);
    assert_eq!(held("Does the pump have windows?"), 2);
}

#[test]
fn an_example_is_quoted_with_a_sentence_for_those_who_ask_how() {
    let page = "# Pauses\n\nA pump is paused for seven minutes. The rest waits.\n\n```sh\npump --mode soft\n```";
    let said = "A pump is paused for seven minutes.";
    let with = |question: &str| {
        let options = ExtractOptions { max_sentences: 1, threshold: 0.0, ..Default::default() };
        answer(question, &[page], &options).answer
    };
    assert_eq!(with("How long is a pump paused?"), format!("{said} [1]"));
    let last = "# Pauses\n\nA pump is paused for seven minutes.\n\n```sh\npump --mode soft\n```";
    let of = |question: &str| {
        let question = ParsedQuestion::read(question);
        let candidates = Candidates::read(&question, &passages(&[last]));
        candidates.all.iter().map(|it| it.unit.parts.len()).collect::<Vec<_>>()
    };
    for question in [
        "How long is a pump paused?",
        "What happens to the pump?",
        "What does a pump do with a pause?",
    ] {
        assert_eq!(of(question), [1, 1], "{question}");
    }
    for question in [
        "How do I pause a pump?",
        "What do I do to pause a pump?",
        "How long is a pump paused by this command?",
        "Is a pump paused?",
    ] {
        assert_eq!(of(question), [2], "{question}");
    }
    let announced = "A pump is paused for seven minutes:\n\n```sh\npump --mode soft\n```";
    let question = ParsedQuestion::read("How long is a pump paused?");
    assert_eq!(Candidates::read(&question, &passages(&[announced])).all.len(), 1);
}

#[test]
fn a_sentence_that_goes_on_in_a_list_is_quoted_with_it() {
    let page = "The guard stops the pump with a signal if\n\n* it is dry, or\n* its valve is shut.\n\nIt waits an hour.";
    check(
        "When does the guard stop the pump with a signal?",
        &[page],
        "The guard stops the pump with a signal if\n- it is dry, or\n- its valve is shut. [1]",
    );
    let parts = |text: &str| units(text)[0].parts.len();
    for (text, expected) in [
        ("It waits for `dry`,\n\n* and\n* for shut", 3),
        ("It waits.\n\n* and\n* for shut", 1),
        ("ปั๊มหยุดทำงาน\n\n* และ\n* ปิด", 1),
    ] {
        assert_eq!(parts(text), expected, "{text}");
    }
}

#[test]
fn items_that_say_where_it_is_said_are_left_out_of_a_list() {
    let page = "The pump daemon takes memory for:\n\n* its jobs, 150 MB\n* [hoses.md](hoses.md) describes its hoses";
    let question = "How much memory does the pump daemon take?";
    check(question, &[page], "The pump daemon takes memory for: its jobs, 150 MB [1]");
    let parts = |question: &str, page: &str| {
        let question = ParsedQuestion::read(question);
        let candidates = Candidates::read(&question, &passages(&[page]));
        (candidates.all[0].unit.parts.len(), candidates.all[0].announcement.is_some())
    };
    assert_eq!(parts("Where does the daemon take memory?", page), (3, false));
    let pages = "The memory of the pump daemon:\n\n* [jobs.md](jobs.md) describes its jobs\n* [hoses.md](hoses.md) describes its hoses";
    assert_eq!(parts(question, pages), (3, true));
    assert_eq!(parts("What is the memory of the pump daemon?", pages), (3, false));
}

#[test]
fn further_pieces_are_about_what_is_named() {
    let named = "The setting max_jobs limits the jobs of a pump.";
    let other = "All jobs of a pump have limits.";
    let options =
        ExtractOptions { threshold: 0.0, margin: 99.0, close_margin: 99.0, ..Default::default() };
    let quoted = |question: &str| answer(question, &[named, other], &options).answer;
    assert_eq!(quoted("How does max_jobs limit the jobs of a pump?"), format!("{named} [1]"));
    assert_eq!(quoted("How are the jobs of a pump limited?").matches('[').count(), 2);
}

#[test]
fn the_best_piece_brings_what_it_takes_up() {
    let page = "The list shows questions without an answer. These are the pages to write next. Some pages to write are long.";
    let options =
        ExtractOptions { threshold: 0.0, margin: 99.0, close_margin: 99.0, ..Default::default() };
    let quoted = |most: usize| {
        let options = ExtractOptions { max_sentences: most, ..options };
        answer("Which pages are the next to write?", &[page], &options).answer
    };
    assert_eq!(
        quoted(2),
        "The list shows questions without an answer. These are the pages to write next. [1]"
    );
    assert_eq!(quoted(3), format!("{page} [1]"));
}

#[test]
fn it_is_named_where_it_is_a_name_of_a_program() {
    let page =
        "* `jobs` is the number of jobs. It is 0 for a pump that waits only if no motor runs.";
    let alone = "It is 0 for a pump that waits only if no motor runs. [1]";
    check(
        "How often does a pump wait for a motor?",
        &[page],
        &format!("jobs is the number of jobs. {alone}"),
    );
    check("Is `jobs` 0 for a pump that waits?", &[page], alone);
    let short = "* `mot` is a number. It is 0 for a pump that waits only if no motor runs.";
    let question = "How often does a pump wait for a motor?";
    check(question, &[short], &format!("mot is a number. {alone}"));
}

#[test]
fn who_asks_which_option_is_told_a_name() {
    let lacking = |question: &str, page: &str| {
        let question = ParsedQuestion::read(question);
        let candidates = Candidates::read(&question, &passages(&[page]));
        candidates.all.iter().map(|it| it.lacked_name.is_some()).collect::<Vec<_>>()
    };
    let page = "Who removes the pump needs a key.\n\nThe pump goes with `tidy`.\n\n--wipe removes the pump.";
    let told = [true, false, false];
    for question in [
        "Which option removes the pump?",
        "With what command is the pump removed?",
        "Welcher Schalter entfernt die Pumpe?",
        "哪个选项删除泵？",
        "Ποια εντολή αφαιρεί την αντλία;",
        "أي خيار يزيل المضخة؟",
        "कौन सा विकल्प पंप हटाता है?",
        "어떤 명령으로 펌프를 제거하나요?",
    ] {
        assert_eq!(lacking(question, page), told, "{question}");
    }
    let named = "What option does --wipe need with `tidy` to remove the pump?";
    assert_eq!(lacking(named, page), [false; 3], "no name is new");
    for question in ["Who removes the pump?", "Which pump is removed?", "Does the option go?"] {
        let anything = lacking(question, page);
        assert_ne!(anything, told, "{question}");
    }
    let article = "The heart has a function in the body. It moves the blood.";
    assert_eq!(lacking("Which function has the heart?", article), [false; 2]);
    let code = "Remove the pump like this:\n\n```sh\ntidy\n```\n\nIt is gone.";
    assert_eq!(lacking("Which command removes the pump?", code), [false, true]);
    let short = "The pump goes at once.\n\nType `rs` for the pump.";
    assert_eq!(lacking("Which command restarts the pump?", short), [true, false]);
    assert_eq!(lacking("Which command is `rs` for the pump?", short), [false; 2]);
    let headed = "## --wipe\n\nRemoves the pump.";
    assert_eq!(lacking("Which option removes the pump?", headed), [false]);
}
