//! Sentences of prose, and layout.

mod languages;

use proptest::prelude::*;

use super::*;

#[test]
fn names_of_programs_begin_sentences_in_small_letters() {
    check("Set `a`. `b` is off.", &["Set `a`.", "`b` is off."]);
    check(
        "It needs no key. llama.cpp runs models. max_jobs is 7. now() is later.",
        &["It needs no key.", "llama.cpp runs models.", "max_jobs is 7.", "now() is later."],
    );
    check("Lines wrap.\n`b` is off.", &["Lines wrap.", "`b` is off."]);
    // Within code, behind what is shortened, and before other small letters.
    for whole in [
        "Call `f. g` and `h. max_jobs i` now.",
        "Set it, e.g. `b` or `c`.",
        "At most incl. max_jobs and approx. `b`.",
        "The docs of Acme Inc. max_jobs is on.",
        "It is about. small letters.",
        "A file is text. rag_parse reads it.",
        "See p. max_ or x. a.b there.",
    ] {
        check(whole, &[whole]);
    }
}

#[test]
fn emphasis_ends_with_what_it_emphasizes() {
    check("**Size.** With it an index is small.", &["**Size.**", "With it an index is small."]);
    check("*It is so.* _And so._ Or not.", &["*It is so.*", "_And so._", "Or not."]);
    check("It is **so.** And __so.__", &["It is **so.**", "And __so.__"]);
    // What opens belongs to the next one, and so does what opens nothing.
    check("It is. **Size** matters.", &["It is.", "**Size** matters."]);
    check("It is.** Size matters.", &["It is.", "** Size matters."]);
    check("**Dr.** Smith came. **He** sat.", &["**Dr.** Smith came.", "**He** sat."]);
}

#[test]
fn stops_that_are_all_taken_back_take_no_time() {
    for piece in ["Dr.** Ab ", "A1.B", "(a. b) ", "Dr. ", "x. » ", "Abc u. Def "] {
        let text = piece.repeat(50_000);
        let covered: usize = sentences(&text).iter().map(Range::len).sum();
        assert!(covered <= text.len() && covered >= text.len() / 2, "{piece}");
    }
    let text = "a".repeat(300_000) + &" Abc u. Def".repeat(30_000);
    assert_eq!(sentences(&text).len(), 1);
}

#[test]
fn decimals_are_no_month_and_a_key_is_no_title() {
    check("It is on page 15. 3.5 million saw it.", &["It is on page 15.", "3.5 million saw it."]);
    check("Es ist am 15. 3. in Rom.", &["Es ist am 15. 3. in Rom."]);
    check(
        "Each row has an id. PostgreSQL sets it.",
        &["Each row has an id.", "PostgreSQL sets it."],
    );
}

/// The sentences of `text` are `expected`.
fn check(text: &str, expected: &[&str]) {
    let found: Vec<&str> = sentences(text).into_iter().map(|range| &text[range]).collect();
    assert_eq!(found, expected, "sentences of {text:?}");
}

#[test]
fn a_word_may_begin_with_a_full_stop() {
    check("Can it read .Z files? No.", &["Can it read .Z files?", "No."]);
    check("It needs .NET 8. Or more.", &["It needs .NET 8.", "Or more."]);
    check("It is so .Then it ends.", &["It is so .Then it ends."]);
}

#[test]
fn stops_and_quotes() {
    check("", &[]);
    check(" \n\t ", &[]);
    check("One", &["One"]);
    check("One. Two! Three?  Four", &["One.", "Two!", "Three?", "Four"]);
    check("He said \"Go.\" She went.", &["He said \"Go.\"", "She went."]);
    check("(Really.) Yes.", &["(Really.)", "Yes."]);
    check("\"Really?\" he asked. Yes.", &["\"Really?\" he asked.", "Yes."]);
    check("„Das ist gut.“ Er ging.", &["„Das ist gut.“", "Er ging."]);
    check("It ended.(Then more.)", &["It ended.", "(Then more.)"]);
    check("It ended.[12] Then more.", &["It ended.[12]", "Then more."]);
    check("It ended.[3, 4][5] Then.", &["It ended.[3, 4][5]", "Then."]);
    check("It ended.[Note 3] Then.", &["It ended.[Note 3]", "Then."]);
    check("他走了。[需要引证]好吗？", &["他走了。[需要引证]", "好吗？"]);
    check("Wait... What?!  No.", &["Wait...", "What?!", "No."]);
}

#[test]
fn abbreviations() {
    check("Dr. Smith met Prof. Jones. They spoke.", &["Dr. Smith met Prof. Jones.", "They spoke."]);
    check(
        "Use tools, e.g. Vim, i.e. Editors. Done.",
        &["Use tools, e.g. Vim, i.e. Editors.", "Done."],
    );
    check("Das gilt z. B. Montags. Gut.", &["Das gilt z. B. Montags.", "Gut."]);
    check("Das gilt z.B. Montags. Gut.", &["Das gilt z.B. Montags.", "Gut."]);
    check("The U.S. Navy came. It left.", &["The U.S. Navy came.", "It left."]);
    check(
        "He lives in the U.S. The weather is fine.",
        &["He lives in the U.S.", "The weather is fine."],
    );
    check("J. R. R. Tolkien wrote. He did.", &["J. R. R. Tolkien wrote.", "He did."]);
    check("Choose plan B. It is better.", &["Choose plan B.", "It is better."]);
    check("See No. 5 Main Street. Go.", &["See No. 5 Main Street.", "Go."]);
    check("See Fig. 3 and Eq. 4 Above. Go.", &["See Fig. 3 and Eq. 4 Above.", "Go."]);
    check("He said no. Then he left.", &["He said no.", "Then he left."]);
    check("Acme Inc. Chairman Bob spoke.", &["Acme Inc. Chairman Bob spoke."]);
    check(
        "She works for Acme Inc. The pay is good.",
        &["She works for Acme Inc.", "The pay is good."],
    );
    check("Pears, apples, etc. The end.", &["Pears, apples, etc.", "The end."]);
    check("On Jan. 5 Bob came. On Sept. 7 too.", &["On Jan. 5 Bob came.", "On Sept. 7 too."]);
    check("Am 3. Oktober feiern wir. Ja.", &["Am 3. Oktober feiern wir.", "Ja."]);
    check(
        "Smith et al. Found it (cf. Jones). Good.",
        &["Smith et al. Found it (cf. Jones).", "Good."],
    );
}

#[test]
fn abbreviations_of_other_languages() {
    check("Zabierz np. Kask. Gotowe.", &["Zabierz np. Kask.", "Gotowe."]);
    check("Sklep przy ul. Długiej. Tak.", &["Sklep przy ul. Długiej.", "Tak."]);
    check("Otwieramy o godz. 8 rano. Tak.", &["Otwieramy o godz. 8 rano.", "Tak."]);
    check("Neem bijv. Water mee. Ja.", &["Neem bijv. Water mee.", "Ja."]);
    check("Örn. Ankara büyüktür. Evet.", &["Örn. Ankara büyüktür.", "Evet."]);
    check("Pane, acqua ecc. I prezzi sono bassi.", &["Pane, acqua ecc.", "I prezzi sono bassi."]);
}

#[test]
fn addresses_and_titles_stay_whole() {
    for whole in [
        "Le siège est au 5 bd. Voltaire à Paris.",
        "Nuestra oficina está en la Avda. América 12 de Madrid.",
        "A loja fica na Av. Paulista 100, apto. 12.",
        "The office is at 40 King Street, Ste. 200, Apt. 5.",
        "Mağaza Merkez Mah. Bağdat Cad. 12, Gül Sok. 3.",
        "Biuro jest przy placu, lok. 12.",
        "Офис на просп. Мира, кв. 12, оф. 3.",
        "Офіс на вул. Шевченка, буд. 5.",
        "La calle tiene el núm. 12.",
        "Tél. 01 23 45 67 89.",
        "Onze accountant is mevr. Bakker, en dhr. De Wit en mw. Smit helpen.",
        "Il medico è il sig. Rossi di Roma.",
        "Ce sont MM. Dupont et Martin.",
        "La sede en EE. UU. está cerrada.",
        "Die Kaution beträgt max. 500 EUR.",
        "Det finns bl.a. Kaffe och t.ex. Te.",
        "Das gilt gem. § 5 Abs. 2.",
        "Khách mời là PGS. TS. Trần Anh.",
        "Mieszka na os. Piastów i waży ok. 5 kg.",
        "See invoice no. 5, tab. 3, app. 2.",
    ] {
        check(whole, &[whole]);
    }
    check(
        "Die Werkstatt ist in der Bahnhofstr. 12. Sie schließt um 18 Uhr.",
        &["Die Werkstatt ist in der Bahnhofstr. 12.", "Sie schließt um 18 Uhr."],
    );
}

#[test]
fn words_that_look_like_abbreviations_end_sentences() {
    check("His name is Max. 500 EUR is due.", &["His name is Max.", "500 EUR is due."]);
    check("Wait for 5 min. 20 MB remain.", &["Wait for 5 min.", "20 MB remain."]);
    check("It makes 300 MW. Siemens built it.", &["It makes 300 MW.", "Siemens built it."]);
    check("The gap is 5 MM. Dupont says so.", &["The gap is 5 MM.", "Dupont says so."]);
    check("It costs 5 CAD. Shipping is 3.", &["It costs 5 CAD.", "Shipping is 3."]);
    check("It is written in TS. React draws it.", &["It is written in TS.", "React draws it."]);
    check("Store it in MM. Redis reads it.", &["Store it in MM.", "Redis reads it."]);
    check("Edit the conf. PostgreSQL reads it.", &["Edit the conf.", "PostgreSQL reads it."]);
    check("It is part of the os. Linux has it.", &["It is part of the os.", "Linux has it."]);
    check("The answer is no. 3 Germans came.", &["The answer is no.", "3 Germans came."]);
    check("The answer is no. 3 people came.", &["The answer is no.", "3 people came."]);
    check("Is it on?\nHe said no. 12 lamps, too.", &["Is it on?", "He said no.", "12 lamps, too."]);
    check("The answer: no. 3 people came.", &["The answer: no.", "3 people came."]);
    for whole in [
        "It was no. 3 in the charts.",
        "This is no. 5 of 12.",
        "The firm is no. 1 worldwide and no. 2 at home.",
        "She was no. 2 seed.",
        "The bus is no. 12 towards Dulwich.",
        "It is no. 3 business in town.",
        "Screws must be no. 8 screws.",
        "See invoice no. 5 below.",
        "They live in no. 7 upstairs.",
        "The answer is no. 3rd place is free.",
        "The prime minister lives at no. 10 Downing Street.",
        "They play symphony no. 9 Choral and sonata no. 14 Moonlight.",
        "Rumahnya di Sudirman no. 5 Jakarta.",
    ] {
        check(whole, &[whole]);
    }
    check("Open the tab. 5 MB are left.", &["Open the tab.", "5 MB are left."]);
    check("Start the app. 5 MB are left.", &["Start the app.", "5 MB are left."]);
    check("All is ok. 5 MB are left.", &["All is ok.", "5 MB are left."]);
    check("This is a gem. 5 Stars.", &["This is a gem.", "5 Stars."]);
    check("Das gilt nicht. § 5 BGB gilt.", &["Das gilt nicht.", "§ 5 BGB gilt."]);
    check("Vive en EE. UU. El clima es bueno.", &["Vive en EE. UU.", "El clima es bueno."]);
}

#[test]
fn german_ordinals() {
    check("Die 2., 3. und 4. Armee kam. Ja.", &["Die 2., 3. und 4. Armee kam.", "Ja."]);
    check(
        "Im Laufe des 18. und 19. Jahrhunderts. Gut.",
        &["Im Laufe des 18. und 19. Jahrhunderts.", "Gut."],
    );
    check("Vom 4. Jahrtausend v. Chr. bis heute.", &["Vom 4. Jahrtausend v. Chr. bis heute."]);
    check("Er kam am 5. Dann ging er.", &["Er kam am 5.", "Dann ging er."]);
    check("Das sind 12. Mehr gibt es nicht.", &["Das sind 12.", "Mehr gibt es nicht."]);
    check("Es waren 584 Mio. EUR im Jahr. Gut.", &["Es waren 584 Mio. EUR im Jahr.", "Gut."]);
}

#[test]
fn initials_without_capitals() {
    check("قال بول ت. ويلسون ذلك. ثم ذهب.", &["قال بول ت. ويلسون ذلك.", "ثم ذهب."]);
    check("Это им. Ленина. Да.", &["Это им. Ленина.", "Да."]);
    check("Дж. Буш и А. С. Пушкин. Да.", &["Дж. Буш и А. С. Пушкин.", "Да."]);
    check("Jones et al. 1998 found it. Yes.", &["Jones et al. 1998 found it.", "Yes."]);
    check("Lefevre (c. 1455–1536) wrote. Yes.", &["Lefevre (c. 1455–1536) wrote.", "Yes."]);
}

#[test]
fn numbers_and_names() {
    check("Pi is 3.14 or 3,1. Yes.", &["Pi is 3.14 or 3,1.", "Yes."]);
    check("It was 2017. Then 2018.", &["It was 2017.", "Then 2018."]);
    check("Visit www.example.com. Then log in.", &["Visit www.example.com.", "Then log in."]);
    check("Call std::fmt.Display now.", &["Call std::fmt.Display now."]);
}

#[test]
fn numbers_with_letters_stay_whole() {
    check(
        "The VAT number of the company is NL8123.45.678.B01 since 2020. It is on each invoice.",
        &[
            "The VAT number of the company is NL8123.45.678.B01 since 2020.",
            "It is on each invoice.",
        ],
    );
    check("Order B2.E14 or 100.A7.22 now. Go.", &["Order B2.E14 or 100.A7.22 now.", "Go."]);
    check("It was 2017.Then it was 2018.", &["It was 2017.", "Then it was 2018."]);
}

#[test]
fn questions_are_told_by_their_signs() {
    for question in
        ["Is it so?", "什么？", "Τι είναι;", "社員証をなくしました。どうすればいいですか。"]
    {
        assert!(is_question(question), "{question}");
    }
    for other in
        ["It is so.", "A;", "二つのうちのどちらか。", "原因は明らか。", "これは答えです。", "か"]
    {
        assert!(!is_question(other), "{other}");
    }
}

#[test]
fn layout() {
    check("One line\ngoes on. Next\none.", &["One line\ngoes on.", "Next\none."]);
    check("One line\r\ngoes on. Next\r\none.", &["One line\r\ngoes on.", "Next\r\none."]);
    check("No stop\n\nNew one", &["No stop", "New one"]);
    check("No stop\r\n \r\nNew one", &["No stop", "New one"]);
    check("# Title\nBody text", &["# Title", "Body text"]);
    check("Title\n=====\nBody", &["Title", "=====", "Body"]);
    check("- one\n- two\n  more\n* three", &["- one", "- two\n  more", "* three"]);
    check("1. Install it. Run it.\n2. Done", &["1. Install it.", "Run it.", "2. Done"]);
    check("a. First\n\nIV. Fourth", &["a. First", "IV. Fourth"]);
    check("| a b | c |\n|---|---|\n| d | e |", &["| a b | c |", "|---|---|", "| d | e |"]);
}

#[test]
fn other_scripts() {
    check("今天很好。我们走吧！好吗？好", &["今天很好。", "我们走吧！", "好吗？", "好"]);
    check("他说：“你好。”然后走了。", &["他说：“你好。”", "然后走了。"]);
    check("終わり。「次」です。", &["終わり。", "「次」です。"]);
    check("كيف حالك؟ أنا بخير. شكرا", &["كيف حالك؟", "أنا بخير.", "شكرا"]);
    check("यह अच्छा है। वह गया।", &["यह अच्छा है।", "वह गया।"]);
    check("Это так. Он ушёл.", &["Это так.", "Он ушёл."]);
}

#[test]
fn text_without_capitals() {
    check(
        "the tax was $16 million. a loss of 2.5 percent, e.g. in may, followed.",
        &["the tax was $16 million.", "a loss of 2.5 percent, e.g. in may, followed."],
    );
    check("A list. Use pears etc. and go. Done", &["A list.", "Use pears etc. and go.", "Done"]);
}

#[test]
fn long_runs_take_linear_time() {
    for unit in [
        " ",
        ")",
        ".",
        ". ",
        "\u{301}",
        "?)",
        "1 ",
        "\"",
        "[",
        "a. ",
        "\n",
        "\r",
        "(",
        "(. ",
        "« ",
        "». ",
        ". »",
        "; ",
        "ς; ",
        "1. ",
        "2024. ",
        "А. ",
        "ก ",
        "และ ก ",
        "กกกกกกกกกกกกก ",
        "、」",
        ". 's A",
        "is no. 3 bs ",
        "Ab no. 3 bs ",
        " no. ",
    ] {
        let text = format!("End.{}", unit.repeat(2_000_000 / unit.len()));
        let start = std::time::Instant::now();
        sentences(&text);
        assert!(start.elapsed().as_secs() < 10, "{unit:?} took {:?}", start.elapsed());
    }
}

proptest! {
    #[test]
    fn a_line_can_be_looked_at_in_parts(
        line in "([a-zA-Zäß]{1,3}|[.!?…。]|[0-9]|[,;:\"'()\u{2019}]| |\u{301}|ا|中|가|e\\.g\\. ){0,60}",
        longest in 1..20usize,
    ) {
        let whole = cuts(&line, usize::MAX, &mut || {});
        prop_assert_eq!(cuts(&line, longest, &mut || {}), whole);
    }
}

proptest! {
    #[test]
    fn cover_the_text(text in "(\\PC|[.!?\"()\\[\\]“”。 \r\n\t#|-]|[a-zA-Z]{1,5}){0,60}") {
        let mut end = 0;
        for range in sentences(&text) {
            prop_assert!(text[end..range.start].chars().all(char::is_whitespace));
            prop_assert!(range.start < range.end);
            prop_assert_eq!(text[range.clone()].trim(), &text[range.clone()]);
            end = range.end;
        }
        prop_assert!(text[end..].trim().is_empty());
    }
}
