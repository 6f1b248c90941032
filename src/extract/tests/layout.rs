//! What becomes of markup, rows of tables, lists, headings and code.

use super::*;
use crate::extract::blocks::{BlockKind, blocks};
use crate::extract::units::units;

#[test]
fn markup_is_read() {
    let contents = ["## Returns\n\n- **Books**: within 30 days\n- Music: never, once opened\n"];
    check("Can music be returned?", &contents, "Music: never, once opened [1]");
    check(
        "What is the port of the server?",
        &[
            "| Setting | Default |\n|---|---|\n| host of the server | localhost |\n| port of the server | 5432 |",
        ],
        "Setting: port of the server, Default: 5432 [1]",
    );
    check(
        "How do I install the package?",
        &[
            "# Setup\nInstall the package with this command:\n\n```sh\nmake install\n```\nThen rest.",
        ],
        "Install the package with this command: [1]\n\n```sh\nmake install\n```",
    );
    check(
        "Which ways to pay are there?",
        &["There are three ways to pay:\n\n* by card\n* by invoice\n* in cash\n\nPrices hold tax."],
        "There are three ways to pay: by card; by invoice; in cash [1]",
    );
}

#[test]
fn what_says_where_an_answer_stands_is_none() {
    let contents = [
        "* [How do I search compressed files?](#compressed)\n* [Is there a configuration file?](faq.md#config)",
        "The flag -z searches compressed files.\n\n* [Compressed files](https://example.org)",
    ];
    check(
        "How do I search compressed files?",
        &contents,
        "The flag -z searches compressed files. [2]",
    );
}

#[test]
fn what_is_announced_is_there_or_the_announcement_goes() {
    let table = "These ports are open on the server:\n\n| port | for |\n|---|---|\n| 80 | pages |\n| 22 | keys |";
    check(
        "Which ports are open on the server?",
        &[table],
        "These ports are open on the server:\n- port: 80, for: pages\n- port: 22, for: keys [1]",
    );
    let contents =
        ["The museum opens at ten on weekdays.", "The museum opens at other hours on these days:"];
    let options =
        ExtractOptions { threshold: 0.0, margin: 99.0, close_margin: 99.0, ..Default::default() };
    let answer = answer("When does the museum open on weekdays?", &contents, &options).answer;
    assert_eq!(answer, "The museum opens at ten on weekdays. [1]");
}

#[test]
fn code_is_shown_once() {
    let contents = [
        "On Debian the pump is installed by this command:\n\n```sh\napt-get install pump\n```",
        "On Ubuntu, too, the pump is installed by a command:\n\n```\napt-get install pump\n```",
    ];
    let options =
        ExtractOptions { threshold: 0.0, margin: 99.0, close_margin: 99.0, ..Default::default() };
    let answer = answer("By which command is the pump installed?", &contents, &options).answer;
    assert_eq!(answer.matches("apt-get").count(), 1, "{answer}");
}

#[test]
fn tags_and_links_are_not_cut() {
    let content = "A path is declared in a <abbr title=\"A format. With braces.\">format string</abbr>. \
        It is [described elsewhere. At length](https://example.org/a.b). Numbers follow.";
    check("Where is a path declared?", &[content], "A path is declared in a format string. [1]");
    check(
        "Where is it described at length?",
        &[content],
        "It is described elsewhere. At length. [1]",
    );
    check(
        "Is a < b declared? Or b > a?",
        &["Here a < b is declared. Not b > a."],
        "Here a < b is declared. [1]",
    );
}

#[test]
fn the_best_passage_comes_first() {
    let contents = [
        "Keys of the museum hang in the hall.",
        "The museum opens at ten with the keys of the porter.",
    ];
    let options =
        ExtractOptions { threshold: 0.0, margin: 99.0, close_margin: 99.0, ..Default::default() };
    let answer = answer("When does the museum open?", &contents, &options).answer;
    assert!(answer.starts_with("The museum opens at ten"), "{answer}");
    assert!(answer.ends_with("in the hall. [1]"), "{answer}");
}

#[test]
fn a_row_comes_with_its_columns() {
    let prices = "Prices in euros.\n\n| Plan | Users | Price |\n|---|--:|---|\n| Free | 3 | 0 EUR |\n\
        | **Team** | 50 | 20 EUR |\n\n| City |\n|---|\n| Oslo |";
    check(
        "How much does the Team plan cost?",
        &[prices],
        "Plan: Team, Users: 50, Price: 20 EUR [1]",
    );
    let open = "name | port\n---- | ----\nragd | none\nserver | 5432\n\nAll of them are local.";
    check("What is the port of the server?", &[open], "name: server, port: 5432 [1]");
    let drawn = "+------+------+\n| name | port |\n+------+------+\n| ragd | none |\n| server | 5432 |\n+------+------+";
    check("What is the port of the server?", &[drawn], "name: server, port: 5432 [1]");
    // The rest of a table whose header is elsewhere.
    check(
        "What is the port of the server?",
        &["| ragd | none |\n| server | 5432 |"],
        "server, 5432 [1]",
    );
}

#[test]
fn rows_beside_the_one_that_is_asked_for_are_left_out() {
    let prices =
        "| Plan | Price |\n|---|---|\n| Free | 0 EUR |\n| Team | 20 EUR |\n| Enterprise | 90 EUR |";
    let options =
        ExtractOptions { threshold: 0.0, margin: 99.0, close_margin: 99.0, ..Default::default() };
    let of = |question| answer(question, &[prices], &options).answer;
    assert_eq!(of("What is the price of the Team plan?"), "Plan: Team, Price: 20 EUR [1]");
    assert_eq!(
        of("What is the price of each plan?"),
        "Plan: Free, Price: 0 EUR\nPlan: Team, Price: 20 EUR\nPlan: Enterprise, Price: 90 EUR [1]"
    );
}

#[test]
fn a_numbered_list_comes_whole() {
    let list = "To return an item:\n\n1. Open *My orders*.\n2. Choose the item and print the label.\n\
        3. Bring it to a shop.\n\nRefunds take a week.";
    check(
        "How do I print the label of an item?",
        &[list],
        "To return an item:\n1. Open My orders.\n2. Choose the item and print the label.\n3. Bring it to a shop. [1]",
    );
    check("How long do refunds take?", &[list], "Refunds take a week. [1]");
    let with_code = "1. Get it:\n   ```sh\n   git clone shop\n   ```\n2. Build the shop.";
    check(
        "How do I build the shop?",
        &[with_code],
        "1. Get it: [1]\n\n```sh\ngit clone shop\n```\n\n2. Build the shop. [1]",
    );
    let long: String = (1..100).map(|n| format!("{n}. Turn the knob {n} to the left.\n")).collect();
    check("Where is the knob 42 turned?", &[&long], "Turn the knob 42 to the left. [1]");
}

#[test]
fn a_title_is_no_part_of_the_sentence_below_it() {
    check(
        "Why does the charger become hot?",
        &["Charger hot\nThe USB-C charger becomes hot when it is covered."],
        "The USB-C charger becomes hot when it is covered. [1]",
    );
    check(
        "When is the support there?",
        &["Support hours\nMonday to Friday 9-18\nSaturday 10-14"],
        "Monday to Friday 9-18, Saturday 10-14 [1]",
    );
    check(
        "When does the museum open?",
        &[
            "<h1>The museum</h1><p>The <b>museum</b> opens at&nbsp;10&nbsp;am.</p><p>It is free.</p>",
        ],
        "The museum opens at 10 am. [1]",
    );
    check(
        "Where does the telescope stand?",
        &[
            "The telescope stands on a mountain in the desert that is hardly\nEver visited by clouds.",
        ],
        "The telescope stands on a mountain in the desert that is hardly Ever visited by clouds. [1]",
    );
}

#[test]
fn code_keeps_its_lines() {
    let content = "# Client\n\nConnect the client like this:\n\n```python\n# first\nimport shop\n\n\
        if shop.args[1]:\n    shop.connect()\n```\n\nDone.";
    check(
        "How do I connect the client?",
        &[content],
        "Connect the client like this: [1]\n\n```python\n# first\nimport shop\n\nif shop.args[1]:\n    \
         shop.connect()\n```",
    );
    check("shop connect", &["```\nshop.connect()\n```"], "```\nshop.connect()\n```\n\n[1]");
}

#[test]
fn markdown_stays_where_it_is_wanted() {
    let options = ExtractOptions {
        max_sentences: 1,
        threshold: 0.0,
        format: AnswerFormat::Markdown,
        ..Default::default()
    };
    let contents = ["Delivery takes **5 days**, see [the list](https://example.org/list)."];
    let of = |options| answer("How long does delivery take?", &contents, options).answer;
    assert_eq!(of(&options), format!("{} [1]", contents[0]));
    let plain = ExtractOptions { format: AnswerFormat::Plain, ..options };
    assert_eq!(of(&plain), "Delivery takes 5 days, see the list. [1]");
}

#[test]
fn what_an_option_does_is_quoted_with_its_name() {
    let page = "OPTIONS\n       -b, --beep\n              Beep if the command fails.\n\n       -q, --equexit <cycles>\n              \
                Exit when the output does not change for so many cycles.\n";
    check(
        "When does the program exit?",
        &[page],
        "-q, --equexit <cycles> Exit when the output does not change for so many cycles. [1]",
    );
    check("How do I have it beep?", &[page], "-b, --beep: Beep if the command fails. [1]");
}

#[test]
fn a_numbered_statement_stands_with_what_explains_it() {
    let page = " 4. squeeze() returns EMPTY.\n\n    Make sure that the length of the buffer is not zero.\n\n 5. Can it squeeze .Z files?\n\n    \
                No, sorry.  It has no code for them.\n";
    check(
        "Why does squeeze() return EMPTY?",
        &[page],
        "squeeze() returns EMPTY. Make sure that the length of the buffer is not zero. [1]",
    );
    check("Can it squeeze .Z files?", &[page], "Can it squeeze .Z files? No, sorry. [1]");
}

#[test]
fn a_list_is_quoted_whole_where_its_heading_is_what_is_asked_for() {
    let page = "## House rules\n\n- No running on the stairs.\n- Rings have to be taken off.\n- No food in the hall.\n\n## Prices\n\nA day costs 5 euros.";
    check(
        "What are the house rules?",
        &[page],
        "- No running on the stairs.\n- Rings have to be taken off.\n- No food in the hall. [1]",
    );
    check("Do the rules allow food in the hall?", &[page], "No food in the hall. [1]");
}

#[test]
fn a_list_or_a_table_is_quoted_whole_where_nothing_but_it_is_asked_for() {
    let page = "## Setup\n\n- Free the way.\n- Plug it in.\n- Turn it on.\n\n## Programs\n\n| Program | Time |\n|---|---|\n| Eco | 3 h |\n\
        | Short | 35 min |\n| Wool | 50 min |\n\n## Prices\n\nA wash costs 4 euros.";
    let programs =
        "Program: Eco, Time: 3 h\nProgram: Short, Time: 35 min\nProgram: Wool, Time: 50 min [1]";
    for question in
        ["Which programs are there?", "List all programs, please", "What are the programs?"]
    {
        check(question, &[page], programs);
    }
    check("How much time does the program Wool take?", &[page], "Program: Wool, Time: 50 min [1]");
    for question in ["What are the steps of the setup?", "List the steps of the setup"] {
        check(question, &[page], "- Free the way.\n- Plug it in.\n- Turn it on. [1]");
    }
}

#[test]
fn a_heading_that_says_when_is_quoted_with_what_it_says_that_of() {
    let notes = "## 4.2.0 (2024-11-05)\n\n- Adds a dark mode.\n- Exports keep zeros.\n\n## 4.1.3 (2024-08-19)\n\n\
        - Fixes the zone of reminders.";
    let dark = "4.2.0 (2024-11-05): Adds a dark mode. [1]";
    check("When was the dark mode added?", &[notes], dark);
    check("Which version has the dark mode?", &[notes], dark);
    check("What fixes the zone of reminders?", &[notes], "Fixes the zone of reminders. [1]");
    let dated = "## 4.2.0 (2024-11-05)\n\nThe dark mode was added in June 2023.";
    check("When was the dark mode added?", &[dated], "The dark mode was added in June 2023. [1]");
}

#[test]
fn an_option_that_the_heading_names_is_quoted_with_what_is_said_of_it() {
    let page = "## `--no-stash [name]`\n\nA backup is made by default. Leaves the copy of the state out.\n\n\
        ## `--quiet`\n\nSays less of what is done by the program.";
    let said = "Leaves the copy of the state out. [1]";
    let named = format!("--no-stash [name]: {said}");
    check("How do I leave the copy of the state out?", &[page], &named);
    check("Does --no-stash leave the copy of the state out?", &[page], said);
    let naming = "## `--no-stash`\n\nWith --no-stash there is no copy of the state.";
    let said = "With --no-stash there is no copy of the state. [1]";
    check("How do I leave the copy of the state out?", &[naming], said);
}

#[test]
fn pictures_with_links_are_no_evidence() {
    let badges = "[![npm version](https://example.org/b.svg)](https://example.org/c)\n\
        [![Backers of it](https://example.org/d.svg)](#backers)";
    assert_eq!(units(badges), []);
}

#[test]
fn the_name_of_a_picture_is_no_evidence() {
    assert_eq!(units("[the theme vertical-split]"), []);
    for text in
        ["[The clerk keeps the seal.]", "[mysqld]", "[--force --all]", "[Note: keep it dry]"]
    {
        assert_eq!(units(text).len(), 1, "{text}");
    }
    check(
        "Where is it said?",
        &["It is said [in another place]."],
        "It is said [in another place]. [1]",
    );
}

#[test]
fn words_are_whole_that_were_parted_at_the_end_of_a_line() {
    check(
        "How many threads does the compressor use?",
        &[
            "The com\u{2010}\n   pressor uses as many thr\u{ad}\n   eads as there are, in\u{2010}\n   and outside, with an ordi-\n   nary hyphen kept in its place.",
        ],
        "The compressor uses as many threads as there are, in\u{2010} and outside, with an ordi- nary hyphen kept in its place. [1]",
    );
}

#[test]
fn how_a_program_is_called_says_not_what_it_does() {
    let page = "SYNOPSIS\n       shrink [-a] [-o file] file\n\nDESCRIPTION\n       shrink makes files smaller on the disk.\n";
    check("What does shrink do?", &[page], "shrink makes files smaller on the disk. [1]");
}

#[test]
fn lines_are_told_apart() {
    let content = "Title\n=====\ntext\nmore\n\n> quoted\n- one\n  on\n2. two\n| a | b |\n|---|---|\n\
        | 1 | 2 |\n~~~\ncode\n\nmore\n~~~\n***\nend";
    let found = blocks(content);
    let found = found.iter().map(|block| (block.kind, &content[block.range.clone()]));
    assert_eq!(
        found.collect::<Vec<_>>(),
        [
            (BlockKind::Heading, "Title"),
            (BlockKind::Prose, "text\nmore"),
            (BlockKind::Prose, "quoted"),
            (BlockKind::Item, "one\n  on"),
            (BlockKind::Item, "two"),
            (BlockKind::Columns, "a | b"),
            (BlockKind::Row, "1 | 2"),
            (BlockKind::Code, "code\n\nmore"),
            (BlockKind::Prose, "end"),
        ]
    );
}

#[test]
fn a_chunk_may_begin_within_code_and_end_in_other() {
    let kinds = |content: &str| -> Vec<BlockKind> {
        blocks(content).iter().map(|block| block.kind).collect()
    };
    use BlockKind::{Code, Item, Prose};
    assert_eq!(kinds("a = 1\n}\n```\n\n- one\n- two"), [Code, Item, Item]);
    assert_eq!(kinds("```\n\ntext"), [Prose]);
    assert_eq!(kinds("a = 1\n```\n\ntext\n\n```\nb = 2"), [Code, Prose, Code]);
    assert_eq!(kinds("a = 1\n```\n\ntext\n\n```sh\nb\n```"), [Code, Prose, Code]);
    // Code that is whole, and code that goes on in the next chunk.
    assert_eq!(kinds("text\n```\n\na = 1\n```"), [Prose, Code]);
    assert_eq!(kinds("Run:\n\n```\na = 1"), [Prose, Code]);
    assert_eq!(kinds("Run:\n```\n\na = 1"), [Prose, Code]);
}

#[test]
fn front_matter_and_scripts_are_no_evidence() {
    let content = "---\ntitle: Pumps\nauthor: Ada\n---\n<script>\nlet pump = 1;\n</script>\n\n# Pumps\n\nThey lift water.";
    let found = blocks(content);
    let found = found.iter().map(|block| (block.kind, &content[block.range.clone()]));
    assert_eq!(
        found.collect::<Vec<_>>(),
        [(BlockKind::Heading, "Pumps"), (BlockKind::Prose, "They lift water.")]
    );
}

#[test]
fn text_without_sentences_is_cut_to_size() {
    let log = "an entry of the log without any end\n".repeat(200);
    let cut = units(&log);
    assert!(cut.len() > 5);
    assert!(cut.iter().all(|unit| unit.range().len() <= 800 && log[unit.range()].ends_with("end")));
    let endless = "好".repeat(5000);
    assert!(units(&endless).iter().all(|unit| unit.range().len() <= 800));
}

#[test]
fn a_table_too_long_to_be_quoted_whole_is_quoted_by_rows() {
    let rows = |count: usize| {
        let rows: String =
            (1..=count).map(|row| format!("| Program {row} | {row} min |\n")).collect();
        format!("## Programs\n\n| Program | Time |\n|---|---|\n{rows}")
    };
    let of_table = |content: &str| units(content).iter().filter(|it| it.bullets.is_some()).count();
    assert_eq!(of_table(&rows(10)), 10);
    // The end of it, which would be short enough, is not the table.
    assert_eq!(of_table(&rows(200)), 0);
}

#[test]
fn each_piece_is_shown_under_its_own_heading_where_one_is() {
    let notes = "## 4.2.0\n\n- Adds a dark mode for the map.\n\n## 4.1.3\n\n- Fixes 3 bugs of the dark mode.";
    let options =
        ExtractOptions { threshold: 0.0, margin: 99.0, close_margin: 99.0, ..Default::default() };
    let answer = answer("Which version has the dark mode?", &[notes], &options).answer;
    assert_eq!(
        answer,
        "4.2.0: Adds a dark mode for the map. 4.1.3: Fixes 3 bugs of the dark mode. [1]"
    );
    let locks = "## 2. Locks\n\nCall unlock at the end.";
    check("How do I release a lock?", &[locks], "Call unlock at the end. [1]");
}

#[test]
fn a_line_of_strong_emphasis_stands_above_what_follows() {
    let page = "**Lost keys**\n\nThe porter has a second set of the keys.\n\n** Noise (at night) **\n\nFrom ten on, music is off.";
    check("What about lost keys?", &[page], "The porter has a second set of the keys. [1]");
    let names = |content: &str| -> Vec<String> {
        units(content).iter().map(|unit| unit.shown(content)).collect()
    };
    assert_eq!(
        names(page),
        ["The porter has a second set of the keys.", "From ten on, music is off."]
    );
    // With what the asker tells before the question, and an answer that is quoted as in a mail.
    let asked = "**(12) I lost my keys at the lake. Is that bad?**\n\n> No. The porter has others.\n>\n> Ask at any hour.";
    assert_eq!(
        names(asked),
        [
            "(12) I lost my keys at the lake. Is that bad? No.",
            "The porter has others.",
            "Ask at any hour."
        ]
    );
    // A sentence, a fact and the last line say something themselves.
    for (content, first) in [
        ("**Never open the case.**\n\nIt is hot.", "Never open the case."),
        ("**Open: 9 to 17**\n\nIt is hot.", "Open: 9 to 17"),
        ("**Warning:** it is **hot**\n\nDo not touch it.", "Warning: it is hot"),
        ("**Lost keys**", "Lost keys"),
    ] {
        assert_eq!(names(content)[0], first);
    }
    assert_eq!(names("It is hot.\n\n**(3) It is lost. What now?**"), ["It is hot."]);
    assert_eq!(names("It is hot.\n\n**Dogs are not allowed**").len(), 2);
    let told = names("**We open at 9. Any questions?**\n\nIt is hot.");
    assert!(told[0].ends_with("We open at 9."), "{told:?}");
}

#[test]
fn an_option_between_signs_stands_above_what_it_does() {
    let page = "**-b** *count*, **--beats** *count*\n\nSends so many beats before it stops, ten by default.\n\n**-q**\n\nSays nothing.";
    let units: Vec<String> = units(page).iter().map(|unit| unit.shown(page)).collect();
    assert_eq!(
        units,
        [
            "-b count, --beats count: Sends so many beats before it stops, ten by default.",
            "-q: Says nothing."
        ]
    );
}
