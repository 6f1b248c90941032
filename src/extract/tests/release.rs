//! Release notes whose version stands elsewhere than in a heading of the chunk: in the path of its headings, on a line without a
//! sign, or above and below the changes, as in Debian's changelogs.

use super::*;

#[test]
fn a_version_in_the_path_alone_says_when_something_was_fixed() {
    let mut notes =
        passages(&["### Fixed\n\n- The clock shows the right hour.\n- Exports keep zeros."]);
    notes[0].heading = Some("Changelog > 2.3.0 (2024-11-05) > Fixed");
    let clock = "2.3.0 (2024-11-05): The clock shows the right hour. [1]";
    check_passages("When was the clock fixed?", &notes, clock);
    check_passages("Which version fixes the clock?", &notes, clock);
    check_passages(
        "Which hour does the clock show?",
        &notes,
        "The clock shows the right hour. [1]",
    );
    notes[0].heading = Some("Changelog > Fixed");
    check_passages("When was the clock fixed?", &notes, "The clock shows the right hour. [1]");
}

#[test]
fn all_that_was_fixed_in_a_version_of_the_path_is_quoted() {
    let mut notes = passages(&[
        "### Fixed\n\n- The clock shows the right hour.\n- Exports keep zeros.\n- Prints are straight.",
    ]);
    notes[0].heading = Some("Changelog > 2.3.0 (2024-11-05) > Fixed");
    let all =
        "- The clock shows the right hour.\n- Exports keep zeros.\n- Prints are straight. [1]";
    check_passages("What was fixed in 2.3.0?", &notes, all);
}

#[test]
fn each_section_is_shown_under_the_version_of_its_own_path() {
    let mut notes = passages(&[
        "### Added\n\n- A dark mode for the map.",
        "### Fixed\n\n- Bugs of the dark mode.",
    ]);
    notes[0].heading = Some("Changelog > 4.2.0 > Added");
    notes[1].heading = Some("Changelog > 4.1.3 > Fixed");
    let options =
        ExtractOptions { threshold: 0.0, margin: 99.0, close_margin: 99.0, ..Default::default() };
    let question = "Which version has the dark mode?";
    let found = extract(question, &notes, &mut WordHash::default(), &options).unwrap();
    assert!(found.answer.contains("4.2.0: A dark mode for the map. [1]"), "{}", found.answer);
    assert!(found.answer.contains("4.1.3: Bugs of the dark mode. [2]"), "{}", found.answer);
}

#[test]
fn a_line_without_a_sign_says_which_release_is_below_it() {
    let notes = "Version 4.8 (15 May 2024)\n\n- Adds a dark mode.\n- Exports keep zeros.\n\nVersion 4.7 (11 March 2024)\n\nFixed\n\n\
        - The clock shows the right hour.\n- Prints are straight.";
    let dark = "Version 4.8 (15 May 2024): Adds a dark mode. [1]";
    check("When was the dark mode added?", &[notes], dark);
    check("Which version has the dark mode?", &[notes], dark);
    let clock = "Version 4.7 (11 March 2024): The clock shows the right hour. [1]";
    check("When was the clock fixed?", &[notes], clock);
    let handbook = "Version 2.3 (1 May 2024)\n\nForms are handed in at the desk of the library.";
    let said = "Forms are handed in at the desk of the library. [1]";
    check("When are forms handed in at the desk?", &[handbook], said);
}

#[test]
fn an_entry_of_a_debian_changelog_is_dated_below() {
    let entry = |version: &str, changes: &str, day: &str| {
        format!(
            "pump ({version}) unstable; urgency=low\n\n{changes}\n\n -- Ada <ada@example.org>  {day} 21:07:44 +0100\n\n"
        )
    };
    let log = entry(
        "2.4.1-2",
        "  * Start after the network is up.\n  * Rebuild for the new hose.",
        "Sun, 18 Feb 2024",
    ) + &entry("2.4.1-1", "  * Refuse links in the spool.", "Fri, 02 Feb 2024");
    check(
        "When did it refuse links in the spool?",
        &[&log],
        "pump (2.4.1-1), Fri, 02 Feb 2024: Refuse links in the spool. [1]",
    );
    check(
        "Which version does start after the network is up?",
        &[&log],
        "pump (2.4.1-2), Sun, 18 Feb 2024: Start after the network is up. [1]",
    );
}
