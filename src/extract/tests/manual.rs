//! What manuals say in many places: where something is said, what a name stands for, and the same once more.

use super::*;

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
