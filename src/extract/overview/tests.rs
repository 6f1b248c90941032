use super::*;
use crate::extract::subject::subjects;
use crate::source::{ChunkSpan, Leaf, LeafQuote};

const LEAVE: &str =
    "# Leave\n\nEmployees have thirty days of leave a year. Leave is asked for a month ahead.";
const TRAVEL: &str =
    "# Travel\n\nEmployees book travel with the travel office. The office pays for trains.";
const CANTEEN: &str = "# Canteen\n\nThe canteen serves soup from noon. Employees pay by card.";

fn chunk(key: &str, no: i32, heading: &str, content: &str) -> Passage {
    Passage {
        chunk_id: i64::from(no) + 1,
        chunk_no: no,
        source_key: key.to_owned(),
        start_char: 100 * no,
        end_char: 100 * no + content.chars().count() as i32,
        heading: Some(heading.into()),
        ..crate::source::tests::passage(content)
    }
}

/// The sum of `documents` rows, which quotes a sentence of each of these chunks, in this order.
fn summary(id: i64, documents: u32, quotes: &[(&Passage, &str)]) -> Source {
    let leaf = |(no, (chunk, text)): (i64, &(&Passage, &str))| {
        let at = chunk.content.find(text).unwrap();
        let first = chunk.content[..at].chars().count() as u32;
        let chars = first..first + text.chars().count() as u32;
        let Passage { pipeline, chunk_id, source_key, chunk_no, start_char, end_char, .. } =
            (*chunk).clone();
        Leaf {
            span: ChunkSpan {
                pipeline,
                shard: None,
                chunk_id,
                source_key,
                chunk_no,
                start_char,
                end_char,
            },
            content: chunk.content.clone(),
            quoted: vec![LeafQuote { no, chars }],
        }
    };
    // The nearest chunk stands first, whatever the order of the sentences.
    let mut leaves: Vec<Leaf> = (1..).zip(quotes).map(leaf).collect();
    leaves.reverse();
    Source::Summary(Summary {
        summary_id: id,
        title: None,
        content: String::new(),
        similarity: None,
        leaves,
        documents,
        is_named: false,
    })
}

/// A handbook of three chapters, of which its summary quotes a sentence each.
fn handbook() -> Vec<Source> {
    let chapters = [("Leave", LEAVE), ("Travel", TRAVEL), ("Canteen", CANTEEN)];
    let chunks: Vec<Passage> =
        (0..).zip(chapters).map(|(no, (heading, text))| chunk("1", no, heading, text)).collect();
    let quotes = [
        (&chunks[0], "Employees have thirty days of leave a year."),
        (&chunks[1], "Employees book travel with the travel office."),
        (&chunks[2], "The canteen serves soup from noon."),
    ];
    let whole = summary(7, 1, &quotes);
    [whole].into_iter().chain(chunks.into_iter().map(Source::Chunk)).collect()
}

fn place_of<'a>(question: &str, sources: &'a [Source]) -> SubjectPlace<'a> {
    let subject = subjects(question).remove(0);
    place(&subject, sources, &["handbook".to_owned()], &|_| false)
}

fn texts_of(quotes: &[WholeQuote]) -> Vec<&str> {
    quotes.iter().map(|it| it.sentence.text.as_str()).collect()
}

#[test]
fn a_question_means_all_or_a_heading_or_what_is_mentioned() {
    let sources = handbook();
    let check = |question: &str, expected| {
        assert_eq!(place_of(question, &sources), expected, "{question}");
    };
    check("Summarise the handbook.", SubjectPlace::Everything);
    check("What are the main themes?", SubjectPlace::Everything);
    check("Fasse das Handbuch zusammen.", SubjectPlace::Everything);
    check("Summarise the rules on leave.", SubjectPlace::Sections(vec![(1, "Leave")]));
    check("Summarise the rules on travel.", SubjectPlace::Sections(vec![(2, "Travel")]));
    check("Summarise what is said of soup.", SubjectPlace::Mentioned);
    check("Summarise the rules on quantum physics", SubjectPlace::Unknown);
    check("Summarise the rules on parental leave.", SubjectPlace::Unknown);
}

#[test]
fn a_row_is_named_by_its_key_or_its_title() {
    let graph = chunk("graph.md", 0, "Graph > Entities", "An entity is a run of capitals.");
    let costs = chunk("costs.md", 1, "What it costs", "A token has a price that is kept.");
    let titled = Passage {
        context: Some("Annual report > Mills".into()),
        ..chunk("7", 2, "Mills", "Mills grind wheat by day.")
    };
    let of_costs = summary(3, 1, &[(&costs, "A token has a price that is kept.")]);
    let sources = [of_costs, Source::Chunk(graph), Source::Chunk(titled)];
    assert_eq!(place_of("Summarise graph.md", &sources), SubjectPlace::Row(1));
    assert_eq!(place_of("Summarise the page about costs", &sources), SubjectPlace::Row(0));
    let annual = subjects("Summarise the annual report.").remove(0);
    let place_where = |has_title| place(&annual, &sources, &[], &|_| has_title);
    assert_eq!(place_where(true), SubjectPlace::Row(2));
    assert_eq!(place_where(false), SubjectPlace::Mentioned);
    // What the database has found by the key is of the thing that has a word of it.
    let of_report = |id: i64, key: &str| {
        let chunk = chunk(key, 0, "Mills", "Mills grind wheat by day.");
        match summary(id, 1, &[(&chunk, "Mills grind wheat by day.")]) {
            Source::Summary(it) => Source::Summary(Summary { is_named: true, ..it }),
            other => other,
        }
    };
    let reports = [of_report(1, "7"), of_report(2, "8")];
    assert_eq!(place_of("Summarise report 8.", &reports), SubjectPlace::Row(1));
    let parts = [
        of_report(1, r#"{"no": 1, "book": "otter"}"#),
        of_report(2, r#"{"no": 2, "book": "otter"}"#),
    ];
    let compared = subjects("Compare otter 1 with otter 2.");
    let rows = compared.iter().map(|it| place(it, &parts, &[], &|_| false));
    assert_eq!(rows.collect::<Vec<_>>(), [SubjectPlace::Row(0), SubjectPlace::Row(1)]);
    // A heading of many rows is meant in each.
    let contracts: Vec<Source> = ["a", "b", "c", "d"]
        .into_iter()
        .map(|key| Source::Chunk(chunk(key, 0, "Contract > Termination", "It ends after a year.")))
        .collect();
    let path = "Contract > Termination";
    let expected = SubjectPlace::Sections(vec![(0, path), (1, path), (2, path)]);
    assert_eq!(place_of("Summarise the rules on termination.", &contracts), expected);
}

#[test]
fn a_summary_is_quoted_in_its_order() {
    let sources = handbook();
    let whole = of_everything(&sources);
    let expected = [
        "Employees have thirty days of leave a year.",
        "Employees book travel with the travel office.",
        "The canteen serves soup from noon.",
    ];
    assert_eq!(whole.iter().map(|it| texts_of(it)).collect::<Vec<_>>(), [expected]);
    assert!(whole[0].iter().all(|it| it.source == SourceId::Summary(7)));
    // A summary of several rows stands for all; else each row has its own, once.
    let other = chunk("2", 0, "Mill", "The mill grinds wheat by day.");
    let of_other = summary(8, 1, &[(&other, "The mill grinds wheat by day.")]);
    let (first, rest) = sources.split_first().unwrap();
    let both = [first.clone(), first.clone(), of_other, rest[0].clone()];
    assert_eq!(of_everything(&both).len(), 2);
    let of_all = summary(9, 2, &[(&other, "The mill grinds wheat by day.")]);
    assert_eq!(of_everything(&[of_all, first.clone()]).len(), 1);
    assert!(of_everything(rest).is_empty());
}

#[test]
fn a_quote_is_of_its_own_row() {
    let text = "Mills grind wheat by day. Rye is ground at night.";
    let (own, other) = (chunk("a", 0, "Mills", text), chunk("b", 0, "Mills", text));
    let Source::Summary(of_own) = summary(7, 1, &[(&own, "Rye is ground at night.")]) else {
        panic!("a summary is none");
    };
    let sentence_in = |source: Source| {
        let quote = of_summary(&of_own, MOST_SENTENCES).remove(0);
        quote.sentence_in(&source.originals()[0]).map(|it| it.chars)
    };
    assert_eq!(sentence_in(Source::Chunk(own.clone())), Some(26..49));
    assert_eq!(sentence_in(Source::Chunk(other)), None);
    // A larger chunk of the row has it at another place, and one that is cut has it not.
    let with_more = |start_char, content: &str| {
        Source::Chunk(Passage { start_char, content: content.to_owned(), ..own.clone() })
    };
    assert_eq!(sentence_in(with_more(26, "Rye is ground at night.")), Some(0..23));
    assert_eq!(sentence_in(with_more(0, "Mills grind wheat by day.")), None);
    assert_eq!(sentence_in(with_more(30, "is ground at night.")), None);
}

#[test]
fn a_section_is_quoted_without_its_code() {
    let first =
        chunk("1", 0, "Use", "A table is made first of all.\n\n```sql\nCREATE TABLE a (b text);");
    let length = first.content.chars().count() as i32;
    let second = Passage {
        start_char: length + 1,
        ..chunk(
            "1",
            1,
            "Use",
            "INSERT INTO a VALUES ('some words of it');\n```\n\nRows are added to it later.",
        )
    };
    let quotes = of_section(&[first, second], &mut || {});
    assert_eq!(texts_of(&quotes), ["A table is made first of all.", "Rows are added to it later."]);
    assert_ne!(quotes[0].source, quotes[1].source);
}

#[test]
fn what_is_mentioned_is_quoted_where_it_is() {
    let sources = handbook();
    let mentioned = |question: &str, sources: &[Source]| {
        let quotes = of_mentioned(&subjects(question).remove(0), sources, &mut || {});
        quotes.iter().map(|it| it.sentence.text.clone()).collect::<Vec<_>>()
    };
    let soup = mentioned("Summarise what is said of soup.", &sources);
    assert_eq!(soup, ["The canteen serves soup from noon."]);
    // A summary that speaks of it is given as it is.
    let employees = mentioned("Summarise the employee handbook.", &sources);
    assert_eq!(employees.len(), 3, "{employees:?}");
    assert!(mentioned("Summarise the rules on physics.", &sources).is_empty());
    let quotes =
        of_mentioned(&subjects("Summarise what is said of soup.").remove(0), &sources, &mut || {});
    assert!(!is_enough(&quotes) && is_enough(&of_everything(&sources)[0]));
}

#[test]
fn a_comparison_has_a_paragraph_for_each_thing() {
    let sources = handbook();
    let of = |at: usize| match &sources[at] {
        Source::Chunk(chunk) => of_section(std::slice::from_ref(chunk), &mut || {}),
        Source::Summary(_) | Source::Rows(_) => Vec::new(),
    };
    assert_eq!(compared(of(1), of(2)).len(), 2);
    assert!(compared(of(1), Vec::new()).is_empty() && compared(of(1), of(1)).is_empty());
    let whole = of_everything(&sources).remove(0);
    let longest = [whole.clone(), whole].concat();
    assert_eq!(compared(longest, of(1))[0].len(), 3);
}
