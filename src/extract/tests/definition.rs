//! Questions what something is, over made-up manuals that say it without the name.

use super::*;

const FRONT_MATTER: &str = "---\ntitle: shrink (Directive)\n---\n\nMakes responses smaller on their way.\n\n\
    ## Syntax\n\n```\nshrink [levels]\n```\n\nThe shrink directive may stand once in a site.";

const HEADINGS: &str = "# Directives\n\nThere are many.\n\n## shrink\n\nSyntax:\n\n```\nshrink [levels]\n```\n\n\
    Makes responses smaller on their way. It may stand once.\n\n## push\n\n\
    Sends files early. The push directive comes behind the shrink directive, whatever the shrink directive does.";

const OTHER: &str = "What the shrink directive can do depends on what the client does: the shrink directive does nothing \
    where the client takes no small responses.";

#[test]
fn the_first_sentence_under_a_heading_that_names_the_thing_is_its_definition() {
    for manual in [FRONT_MATTER, HEADINGS] {
        let mut manual = passages(&[OTHER, manual]);
        manual[1].is_beginning = true;
        for question in [
            "What does the shrink directive do?",
            "What is shrink?",
            "Was macht die Direktive shrink?",
            "À quoi sert la directive shrink ?",
            "¿Qué hace la directiva shrink?",
            "Что делает директива shrink?",
            "shrink 指令有什么用？",
        ] {
            check_passages(question, &manual, "Makes responses smaller on their way. [2]");
        }
    }
}

#[test]
fn the_title_of_a_row_names_what_its_text_begins_with() {
    let content = "Makes responses smaller on their way. The shrink command takes a level.";
    let mut row = passages(&[OTHER, content]);
    row[1].heading = Some("Commands > shrink");
    let question = "What does the shrink command do?";
    check_passages(question, &row, "The shrink command takes a level. [2]");
    row[1].is_beginning = true;
    check_passages(question, &row, "Makes responses smaller on their way. [2]");
}

#[test]
fn a_question_stands_above_its_answer() {
    let contents = [
        "## FAQ\n\n**What is a lease?**\n\nA right to a port for an hour. Without a lease, ports of leases stay closed.\n\n\
        Is it free? Yes.",
    ];
    check("What is a lease?", &contents, "A right to a port for an hour. [1]");
}

#[test]
fn other_questions_and_other_things_are_answered_as_ever() {
    let contents =
        ["## shrink\n\nMakes responses smaller.\n\nThe shrink directive was added in 2019."];
    let added = "The shrink directive was added in 2019. [1]";
    check("When was the shrink directive added?", &contents, added);
    let contents =
        ["## shrinking\n\nTakes long.\n\nThe shrink directive is a switch for shrinking."];
    let switch = "The shrink directive is a switch for shrinking. [1]";
    check("What is the shrink directive?", &contents, switch);
}

#[test]
fn text_is_evidence_for_reasons_and_code_is_not() {
    let contents = [
        "The search avoids work, so it is quick.",
        "Results:\n\n```\nwhy quick: search quick 0.1 s\nwhy quick: search quick 0.2 s\n```",
    ];
    check("Why is the search so quick?", &contents, "The search avoids work, so it is quick. [1]");
    let contents = ["Files are found by name. Example:\n\n```\nfind --name report\n```"];

    let options = ExtractOptions {
        max_sentences: 1,
        threshold: 0.0,
        format: AnswerFormat::Markdown,
        ..Default::default()
    };
    let found = answer("How do I find a report by --name?", &contents, &options);
    assert!(found.answer.contains("find --name report"), "{found:?}");
}

/// What is answered, whatever the confidence, with as many sentences as usual.
fn check_answer(question: &str, contents: &[&str], expected: &str) {
    let options = ExtractOptions { threshold: 0.0, ..Default::default() };
    assert_eq!(answer(question, contents, &options).answer, expected, "{question}");
}

const LEASE: &str = "## Lease\n\nGives a right to a port for an hour. It is free.";
const RENT: &str = "## Rent\n\nA rent is paid for a port each month. Boats are washed on Mondays.";

#[test]
fn two_things_that_no_sentence_compares_are_defined_one_after_the_other() {
    for question in [
        "What is the difference between a lease and a rent?",
        "Lease vs. rent",
        "Was ist der Unterschied zwischen lease und rent?",
    ] {
        let expected = "Lease: Gives a right to a port for an hour. [1] A rent is paid for a port each month. [2]";
        check_answer(question, &[LEASE, RENT], expected);
    }
    let both = format!("{LEASE}\n\n{RENT}");
    let question = "How does a rent differ from a lease?";
    let expected =
        "A rent is paid for a port each month. [1] Lease: Gives a right to a port for an hour. [1]";
    check_answer(question, &[&both], expected);
}

#[test]
fn a_sentence_that_compares_two_things_says_more_than_their_definitions() {
    let compared =
        "Unlike a rent, a lease is free: that is the difference between a lease and a rent.";
    let question = "What is the difference between a lease and a rent?";
    let found = answer(question, &[LEASE, RENT, compared], &Default::default());
    assert!(found.answer.starts_with("Unlike a rent"), "{found:?}");
}

#[test]
fn where_one_thing_is_not_there_a_comparison_is_answered_as_any_question() {
    let options = ExtractOptions { threshold: 0.0, ..Default::default() };
    let question = "What is the difference between a lease and a franchise?";
    let found = answer(question, &[LEASE, RENT], &options);
    assert!(!found.answer.contains("Lease: "), "{found:?}");
    let one = ExtractOptions { max_sentences: 1, threshold: 0.0, ..Default::default() };
    let found = answer("What is the difference between a lease and a rent?", &[LEASE, RENT], &one);
    assert_eq!(found.evidence.len(), 1, "{found:?}");
}

#[test]
fn what_is_announced_answers_and_not_the_announcement() {
    for (question, announced, step) in [
        (
            "How do I prime a pump?",
            "Let's look at how you prime a pump.",
            "Fill the pump with water before it is primed.",
        ),
        (
            "Wie entlüftet man eine Pumpe?",
            "Schauen wir uns an, wie man eine Pumpe entlüftet.",
            "Man entlüftet eine Pumpe, indem man sie mit Wasser füllt.",
        ),
        (
            "Comment amorcer une pompe ?",
            "Voyons comment amorcer une pompe.",
            "Amorcer une pompe se fait en la remplissant d'eau.",
        ),
    ] {
        let content = format!("{announced} {step} Water is dear.");
        check(question, &[&content], &format!("{step} [1]"));
    }
}

#[test]
fn an_announcement_takes_in_the_code_below_it() {
    let lines = "pump.fill()\npump.prime()\n".repeat(20);
    let content = format!("Let's see how to prime a pump.\n\n```\n{lines}```");
    let found = answer("How do I prime a pump?", &[&content], &Default::default());
    assert!(found.answer.contains("pump.prime()"), "{found:?}");
}
