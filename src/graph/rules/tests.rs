//! What the rules find, in texts of several languages, and that any text is read.

use proptest::prelude::*;

use super::*;

fn mentions(content: &str) -> Vec<EntityMention> {
    RuleExtractor.mentions(&NamingText { content, ..NamingText::default() }, &mut || {})
}

fn norms(content: &str) -> Vec<String> {
    mentions(content).into_iter().map(|it| it.norm).collect()
}

fn check(content: &str, expected: &[&str]) {
    assert_eq!(norms(content), expected, "{content}");
}

#[test]
fn runs_of_capitals_are_names() {
    check("the Bank of England, and then London", &["bank of england", "london"]);
    check("the University of the Arts in lower case", &["university of the arts"]);
    check("a song by Simon & Garfunkel", &["simon garfunkel"]);
    check("as Alexander the Great did", &["alexander", "alexander the great", "great"]);
    check("he saw Gong in London", &["gong", "gong in london", "london"]);
    check(
        "it was the 1998 FIFA World Cup there",
        &["1998", "1998 fifa world cup", "fifa world cup"],
    );
    check("it was in June 1998 that", &["june", "1998"]);
    check("with J. K. Rowling and with J.R.R. Tolkien", &["j k rowling", "jrr tolkien"]);
    check("she read Jean-Paul Sartre there", &["jean paul sartre"]);
    check("they saw Hillage's band Gong", &["hillage", "gong"]);
    check("a port such as 5432, or 0815", &[]);
}

#[test]
fn a_name_of_another_is_two_names() {
    check("he met Steve Hillage of Gong.", &["steve hillage", "steve hillage of gong", "gong"]);
    check(
        "Yesterday Marta Lindqvist of Helix Dynamics met Tomas Vega of Borealis Foods.",
        &[
            "marta lindqvist",
            "marta lindqvist of helix dynamics",
            "helix dynamics",
            "tomas vega",
            "tomas vega of borealis foods",
            "borealis foods",
        ],
    );
    check(
        "it was King Charles III of England",
        &["king charles iii", "king charles iii of england", "england"],
    );
    check(
        "with Marta Lindqvist & Tomas Vega of the World Bank",
        &[
            "marta lindqvist",
            "marta lindqvist tomas vega of the world bank",
            "tomas vega",
            "tomas vega of the world bank",
            "world bank",
        ],
    );
    check(
        "Das ist der Vertrag, den ich mit Marta Lindqvist von Helix Dynamics nicht gemacht habe.",
        &["marta lindqvist", "marta lindqvist von helix dynamics", "helix dynamics"],
    );
    // One name, or one that says nothing without the other.
    for name in [
        "Bank of England",
        "University of Oxford",
        "Simon Fraser University of British Columbia",
        "Massachusetts Institute of Technology",
        "United States of America",
        "Leonardo da Vinci",
        "Ludwig van Beethoven",
        "Vasco da Gama",
        "Jean-Paul of Gong",
        "Anna Maria de la Cruz",
        "Dun & Bradstreet",
        "Procter Gamble & Sons",
    ] {
        check(&format!("they knew {name} there"), &[&normal_form(name)]);
    }
    let many = "Ada Berg of Gong Band ".repeat(20_000);
    assert!((2..10).contains(&mentions(&format!("it is {many}")).len()));
}

#[test]
fn names_keep_the_signs_that_they_are_written_with() {
    check("he knows C, C++ and C# well", &["c", "c++", "c++ and c#", "c#"]);
    check("We moved from .NET to F#.", &[".net", ".net to f#", "f#"]);
    check(
        "with Notepad++ and Visual C++ 2019",
        &["notepad++", "notepad++ and visual c++", "visual c++", "2019"],
    );
    check("it was Gong+Allen, or Gong -Allen", &["gong", "allen"]);
    check("they saw Gong .then they left", &["gong"]);
    let found = mentions("Wir nutzen C++ und .NET hier");
    let spans: Vec<_> = found.iter().map(|it| (it.norm.as_str(), it.span.clone())).collect();
    assert_eq!(spans, [("c++", Some(11..14)), (".net", Some(19..23))]);
}

#[test]
fn the_first_word_of_a_sentence_must_be_known() {
    check("Libraries open at nine.", &[]);
    check("Gong were a band. In 1970 Gong broke up.", &["gong", "1970", "1970 gong"]);
    check("Gong were a band. A gong is loud. They liked Gong.", &[]);
    check("Steve Hillage was born there.", &["steve hillage"]);
    check("NATO was founded. PostgreSQL is free.", &["nato", "postgresql"]);
    check("However, it was he. The band was good. I'm there. It is.", &[]);
    check("However, London is big.", &["london"]);
    check("In London they met. London is big.", &["london"]);
    check("The Beatles played.", &["beatles"]);
    check("The Beatles played. All liked the Beatles.", &["beatles"]);
    check("Later John Smith came.", &["john smith"]);
}

#[test]
fn a_title_stands_alone() {
    check("Gong. They are a band.", &["gong"]);
    check("They are a band. Gong. It is good.", &[]);
    check("it is\n\n# Gong\n\nThey are a band.", &["gong"]);
    let text = NamingText {
        context: Some("Gong (band) > Early years > Steve Hillage"),
        content: "he left Gong",
        names: &[],
    };
    let found = RuleExtractor.mentions(&text, &mut || {});
    let shown: Vec<_> =
        found.iter().map(|it| (it.norm.as_str(), it.count, it.span.clone())).collect();
    assert_eq!(shown, [("gong", 3, Some(8..12)), ("steve hillage", 1, None)]);
}

#[test]
fn spans_are_exact() {
    let content = "Über Łódź: in Łódź lebte Ana María Pérez; Ana María Pérez war's.";
    let found = mentions(content);
    let characters: Vec<char> = content.chars().collect();
    let written = |mention: &EntityMention| -> String {
        let span = mention.span.clone().expect("a place in the content");
        characters[span.start as usize..span.end as usize].iter().collect()
    };
    let shown: Vec<_> = found.iter().map(|it| (it.norm.as_str(), it.count, written(it))).collect();
    assert_eq!(shown, [("ana maria perez", 2, "Ana María Pérez".to_owned())]);
}

#[test]
fn short_forms_are_noted() {
    let alias = |content: &str| -> Vec<(String, Option<String>)> {
        mentions(content).into_iter().map(|it| (it.norm, it.alias_of)).collect()
    };
    let of = |norm: &str, alias: Option<&str>| (norm.to_owned(), alias.map(str::to_owned));
    assert_eq!(
        alias("the World Health Organization (WHO) says so; the WHO knows."),
        [of("world health organization", None), of("who", Some("world health organization"))]
    );
    assert_eq!(
        alias("the MIT (Massachusetts Institute of Technology) is old"),
        [
            of("mit", Some("massachusetts institute of technology")),
            of("massachusetts institute of technology", None)
        ]
    );
    let geneva = alias("In Geneva the World Health Organization (WHO) met.");
    assert!(geneva.contains(&of("who", Some("world health organization"))), "{geneva:?}");
    assert_eq!(
        alias("the Steve Hillage (NATO) thing"),
        [of("steve hillage", None), of("nato", None)]
    );
}

#[test]
fn german_nouns_are_no_names() {
    check(
        "Der Hund und die Katze sind im Haus, und Angela Merkel ist mit der NATO in der Stadt.",
        &["angela merkel", "nato"],
    );
    check(
        "Das ist die Rede, die Ursula von der Leyen im Jahr 2020 gehalten hat.",
        &["ursula von der leyen", "2020"],
    );
}

#[test]
fn scripts_without_capitals_have_titles_and_latin_names() {
    check(
        "《红楼梦》是曹雪芹写的，他用 PostgreSQL 和 1998 年。",
        &["红楼梦", "postgresql", "1998"],
    );
    check("夏目漱石の『こころ』を読む。", &["こころ"]);
    check("Лев Толстой написал роман в Москве.", &["лев толстой", "москве"]);
    check("وُلد في باريس عام 1962", &["1962"]);
}

#[test]
fn texts_in_one_case_have_no_names() {
    check("he met steve hillage in london", &[]);
    check("THIS IS ALL IN CAPITALS AND THAT IS NO NAME AT ALL, REALLY NOT", &[]);
    check("STEVE HILLAGE", &["steve hillage"]);
    check("", &[]);
}

#[test]
fn questions_are_read_generously() {
    let asked = |question: &str| -> Vec<String> {
        RuleExtractor.asked(question, &mut || {}).into_iter().map(|(norm, _)| norm).collect()
    };
    assert_eq!(asked("Who is the mayor of Paris?"), ["paris"]);
    assert_eq!(asked("Hillage was in which bands?"), ["hillage"]);
    assert_eq!(
        asked("Were Scott Derrickson and Ed Wood of the same nationality?"),
        ["scott derrickson and ed wood", "scott derrickson", "ed wood"]
    );
    assert_eq!(asked("Who founded La Paz?"), ["la paz", "paz"]);
    assert_eq!(asked("what is it?"), Vec::<String>::new());
    assert_eq!(RuleExtractor.asked("Is Łódź big?", &mut || {})[0].1, "Łódź");
}

#[test]
fn a_list_of_names_is_cut() {
    let names: Vec<String> = (0..200).map(|at| format!("the Xq{at}a,")).collect();
    assert_eq!(mentions(&names.join(" ")).len(), MOST_ENTITIES);
    let long: Vec<String> = (0..20).map(|at| format!("Na{at}me")).collect();
    check(&format!("a {}", long.join(" ")), &[]);
    check(&format!("a {}", "X".repeat(500)), &[]);
}

#[test]
fn it_can_be_interrupted() {
    let mut looks = 0;
    let content = "One is here. Two is there. ".repeat(100);
    RuleExtractor
        .mentions(&NamingText { content: &content, ..NamingText::default() }, &mut || looks += 1);
    assert!(looks > 100, "{looks}");
}

proptest! {
    #[test]
    fn any_text_is_read(content in any::<String>(), context in any::<Option<String>>()) {
        let text = NamingText { context: context.as_deref(), content: &content, names: &[] };
        let found = RuleExtractor.mentions(&text, &mut || {});
        let length = content.chars().count() as u32;
        prop_assert!(found.len() <= MOST_ENTITIES);
        for mention in &found {
            prop_assert!(!mention.norm.is_empty() && mention.norm.len() <= LONGEST && mention.count > 0);
            if let Some(span) = &mention.span {
                prop_assert!(span.start < span.end && span.end <= length);
            }
        }
    }

    #[test]
    fn what_stands_at_a_span_has_the_norm(
        words in prop::collection::vec(prop::sample::select(vec![
            "Steve", "Hillage", "of", "the", "Gong.", "(WHO)", "1998", "in", "U.S.", "《Ki》", "a,", "Ł.", "\n\n", "&", "x-Y",
            "C++", "F#,", ".NET", "A+B", "-5",
        ]), 0..40),
    ) {
        let content = words.join(" ");
        let characters: Vec<char> = content.chars().collect();
        for EntityMention { norm, span, .. } in mentions(&content) {
            let span = span.expect("there is no context");
            let written: String = characters[span.start as usize..span.end as usize].iter().collect();
            prop_assert_eq!(normal_form(&written), norm);
        }
    }
}
