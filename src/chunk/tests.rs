//! What holds for every method, tokenizer and text.

use proptest::prelude::*;

use super::{ChunkingMethod, *};
use toys::{TOYS, Toy};

mod properties;
mod toys;

const WORDS: &Toy = &TOYS[1];

/// Options of a method; the overlap as far as its chunks have room for one.
fn of(info: &MethodInfo, max_tokens: u32, overlap: u32) -> ChunkingOptions {
    let options = ChunkingOptions { by: info.method, max_tokens, overlap, ..Default::default() };
    ChunkingOptions { overlap: overlap.min(options.longest() - 1), ..options }
}

// Examples

/// With at most `max` words, `document` becomes `expected`: headings and contents.
fn check(name: &str, max: u32, overlap: u32, document: &str, expected: &[(Option<&str>, &str)]) {
    let by = CHUNKING_METHODS.iter().find(|info| info.name == name).unwrap().method;
    let options = ChunkingOptions { by, max_tokens: max + 2, overlap, ..Default::default() };
    let chunks = chunk(document, &options, WORDS).unwrap();
    let found: Vec<_> = chunks.iter().map(|c| (c.heading.as_deref(), c.content.as_str())).collect();
    assert_eq!(found, expected, "{name} of {document:?}");
    assert_invariants(document, &options, WORDS, &chunks).unwrap();
}

/// [`check`] where no chunk has a heading.
fn check_plain(name: &str, max: u32, overlap: u32, document: &str, expected: &[&str]) {
    let expected: Vec<_> = expected.iter().map(|&content| (None, content)).collect();
    check(name, max, overlap, document, &expected);
}

#[test]
fn nothing_to_cut() {
    for info in CHUNKING_METHODS {
        check_plain(info.name, 6, 0, "", &[]);
        check_plain(info.name, 6, 2, " \r\n\t\u{3000}", &[]);
        let heading = (info.name == "page").then_some("page 1");
        check(info.name, 6, 2, "  short \n", &[(heading, "short")]);
    }
}

#[test]
fn fixed() {
    check_plain("fixed", 6, 0, "a b c d. e\n\nf g h", &["a b c d. e\n\nf", "g h"]);
    check_plain("fixed", 6, 2, "a b c d e f g h i j k", &["a b c d e f", "e f g h i j", "i j k"]);
}

#[test]
fn sentence() {
    check_plain("sentence", 6, 0, "A b c. D e. F g. H i.", &["A b c. D e.", "F g. H i."]);
    check_plain("sentence", 6, 0, "A b. C d e f g h i j. K l.", &["A b. C d e f", "g h i j. K l."]);
    check_plain("sentence", 6, 2, "A b c. D e. F g. H i.", &["A b c. D e.", "D e. F g. H i."]);
    check_plain("sentence", 6, 1, "A b c. D e. F g. H i.", &["A b c. D e.", "e. F g. H i."]);
}

#[test]
fn recursive() {
    check_plain("recursive", 6, 0, "A b.\n\nC d.\n\nE f g.", &["A b.\n\nC d.", "E f g."]);
    check_plain("recursive", 6, 0, "A b.\n\nC d e f g h.", &["A b.", "C d e f g h."]);
    check_plain("recursive", 6, 0, "a b c d\ne f g\nh i", &["a b c d", "e f g\nh i"]);
    check_plain("recursive", 6, 0, "a b c d e f g h i", &["a b c d e f", "g h i"]);
    check_plain("recursive", 6, 0, "A b c d. E f g. H.", &["A b c d.", "E f g. H."]);
}

#[test]
fn markdown() {
    check(
        "markdown",
        8,
        0,
        "Intro.\n\n# A\n\none two\n\nthree\n\n## B\n\nfour",
        &[
            (None, "Intro."),
            (Some("A"), "# A\n\none two\n\nthree"),
            (Some("A > B"), "## B\n\nfour"),
        ],
    );
    check(
        "markdown",
        8,
        0,
        "# A\n\none two three\n\n```sql\nSELECT 1;\nSELECT 2;\n```\n\nend",
        &[
            (Some("A"), "# A\n\none two three"),
            (Some("A"), "```sql\nSELECT 1;\nSELECT 2;\n```\n\nend"),
        ],
    );
    check(
        "markdown",
        8,
        0,
        "# L\n\n- one two\n- three four\n- five six\n",
        &[(Some("L"), "# L\n\n- one two\n- three four"), (Some("L"), "- five six")],
    );
    check(
        "markdown",
        12,
        0,
        "| a | b |\n|---|---|\n| c | d |\n| e | f |\n",
        &[(None, "| a | b |\n|---|---|\n| c | d |"), (None, "| e | f |")],
    );
    check(
        "markdown",
        6,
        2,
        "# A\n\nb c. D e. F g. H i.\n\n# J\n\nk",
        &[(Some("A"), "# A\n\nb c. D e."), (Some("A"), "D e. F g. H i."), (Some("J"), "# J\n\nk")],
    );
}

#[test]
fn page() {
    check(
        "page",
        6,
        2,
        "A b c. D e.\n\n\u{c}\u{c}F g. H i j k l m.\u{c}",
        &[
            (Some("page 1"), "A b c. D e."),
            (Some("page 3"), "F g."),
            (Some("page 3"), "g. H i j k l"),
            (Some("page 3"), "k l m."),
        ],
    );
}

#[test]
#[cfg(feature = "code")]
fn code() {
    let document = "import os\n\nclass A:\n    def f(self):\n        a = 1\n        b = 2\n\n    def g(self):\n        return 3\n\ndef h():\n    pass\n\ndef i():\n    pass\n";
    check(
        "code",
        8,
        0,
        document,
        &[
            (None, "import os\n\nclass A:\n    def f(self):"),
            (Some("class A > def f"), "a = 1\n        b = 2"),
            (
                Some("class A > def g, def h"),
                "def g(self):\n        return 3\n\ndef h():\n    pass",
            ),
            (Some("def i"), "def i():\n    pass"),
        ],
    );
}

#[test]
fn hierarchical() {
    let document = "A b c. D e f.\n\nG h i. J k l. M n o.\n\nP q.";
    let settings = MethodSettings { child_tokens: Some(8), ..MethodSettings::default() };
    let options = ChunkingOptions {
        by: ChunkingMethod::Hierarchical,
        max_tokens: 14,
        overlap: 3,
        late: false,
        settings,
    };
    let chunks = chunk(document, &options, WORDS).unwrap();
    let characters: Vec<char> = document.chars().collect();
    let text = |(start, end): (u32, u32)| -> String {
        characters[start as usize..end as usize].iter().collect()
    };
    let found: Vec<_> =
        chunks.iter().map(|c| (c.content.as_str(), text(c.parent.unwrap()))).collect();
    let parents = ["A b c. D e f.", "G h i. J k l. M n o.\n\nP q."].map(str::to_owned);
    let [first, second] = &parents;
    assert_eq!(
        found,
        [
            ("A b c. D e f.", first.clone()),
            ("G h i. J k l.", second.clone()),
            ("J k l. M n o.", second.clone()),
            ("M n o.\n\nP q.", second.clone()),
        ]
    );
    assert_invariants(document, &options, WORDS, &chunks).unwrap();
}

#[test]
fn semantic() {
    let document = "A b c. D e f. G h i. J k l.";
    let check = |distances: [f32; 3], expected: &[&str]| {
        let options = ChunkingOptions {
            by: ChunkingMethod::Semantic,
            settings: MethodSettings { min_tokens: Some(1), ..MethodSettings::default() },
            ..Default::default()
        };
        let findings = Findings { distances: Some(distances.to_vec()), plan: None };
        let chunks =
            chunk_knowing(document, findings, &options, WORDS, &mut WordMemo::default()).unwrap();
        let found: Vec<_> = chunks.iter().map(|c| c.content.as_str()).collect();
        assert_eq!(found, expected);
    };
    check([0.1, 0.5, 0.2], &["A b c. D e f.", "G h i. J k l."]);
    check([0.7, 0.5, 0.2], &["A b c.", "D e f. G h i. J k l."]);
    check([0.1, 0.1, 0.1], &[document]);
}

#[test]
fn findings_about_another_document() {
    let check = |findings: Findings, expected: &str| {
        let options = ChunkingOptions { by: ChunkingMethod::Semantic, ..Default::default() };
        let memo = &mut WordMemo::default();
        let error = chunk_knowing("A b. É d.", findings, &options, WORDS, memo).unwrap_err();
        assert_eq!((error.kind(), error.message()), (ErrorKind::Internal, expected));
    };
    check(
        Findings { distances: Some(vec![0.1, 0.2]), plan: None },
        "2 distances between 2 sentences",
    );
    for level in [vec![100], vec![6], vec![4, 1]] {
        let mut plan = plan("A b. É d.", &ChunkingOptions::default());
        plan.levels = vec![level];
        check(
            Findings { distances: None, plan: Some(plan) },
            "plan of chunks is of another document",
        );
    }
}

#[test]
fn the_heading_stays_with_its_text() {
    check(
        "markdown",
        6,
        0,
        "# A b\n\nOne two three. Four five six.",
        &[(Some("A b"), "# A b\n\nOne two three."), (Some("A b"), "Four five six.")],
    );
}

#[test]
fn lines_may_end_with_carriage_returns() {
    let document = "# Post\r\rIt comes at ten.\r\r## Parcels\rThey are here.\r- one\r- two\r";
    check(
        "auto",
        20,
        0,
        document,
        &[
            (Some("Post"), "# Post\r\rIt comes at ten."),
            (Some("Post > Parcels"), "## Parcels\rThey are here.\r- one\r- two"),
        ],
    );
}

// Errors

#[test]
fn values_out_of_range() {
    let check = |max_tokens, overlap, expected: &str| {
        let options = ChunkingOptions {
            by: ChunkingMethod::Fixed,
            max_tokens,
            overlap,
            ..Default::default()
        };
        let error = chunk("text", &options, WORDS).unwrap_err();
        assert_eq!(error.message(), expected);
    };
    check(0, 0, "max_tokens must be between 8 and 1000000, not 0");
    check(7, 0, "max_tokens must be between 8 and 1000000, not 7");
    check(1_000_001, 0, "max_tokens must be between 8 and 1000000, not 1000001");
    check(16, 16, "overlap must be less than max_tokens, not 16 with max_tokens 16");
}

#[test]
fn a_model_with_many_special_tokens() {
    let toy = Toy { special: 8, ..TOYS[0] };
    let options = ChunkingOptions { max_tokens: 8, ..Default::default() };
    let error = chunk("text", &options, &toy).unwrap_err();
    assert_eq!(
        error.message(),
        "max_tokens must be more than the 8 special tokens of the model, not 8"
    );
}

#[test]
fn a_character_of_too_many_tokens() {
    let many = |text: &str| text.char_indices().flat_map(|(at, _)| vec![(at, at); 9]).collect();
    let toy = Toy { name: "many", split: many, special: 2, splits_at_white_space: false };
    let options = ChunkingOptions { max_tokens: 8, ..Default::default() };
    let error = chunk("ab", &options, &toy).unwrap_err();
    assert_eq!(
        error.message(),
        "max_tokens 8 is too small for the character \"a\", which alone has 9 tokens and 2 \
         special ones"
    );
}

#[test]
fn overlap_begins_with_what_can_be_seen() {
    let document = format!("{}\n===\n\u{b}\u{200e}\n---\n{}", "aé".repeat(100), "bé".repeat(50));
    let by = ChunkingMethod::Markdown;
    let options = ChunkingOptions { by, max_tokens: 67, overlap: 48, ..Default::default() };
    for toy in TOYS {
        let chunks = chunk(&document, &options, toy).unwrap();
        assert_invariants(&document, &options, toy, &chunks).unwrap();
    }
}

// What holds for all

/// Fails if `chunks` is not what [`chunk`] promises.
fn assert_invariants(
    document: &str,
    options: &ChunkingOptions,
    toy: &Toy,
    chunks: &[Chunk],
) -> std::result::Result<(), TestCaseError> {
    let characters: Vec<char> = document.chars().collect();
    let mut covered = 0;
    for (number, chunk) in chunks.iter().enumerate() {
        let (start, end) = (chunk.start_char as usize, chunk.end_char as usize);
        let content: String = characters[start..end].iter().collect();
        prop_assert_eq!(&content, &chunk.content, "span of chunk {}", number);
        prop_assert_eq!(content.trim(), &content, "white space around chunk {}", number);
        prop_assert!(!content.is_empty(), "chunk {} is empty", number);
        let tokens = toy.count_tokens(&content).unwrap() + toy.special;
        prop_assert_eq!(tokens, chunk.token_count as usize, "tokens of chunk {}", number);
        prop_assert!(chunk.token_count <= options.longest(), "chunk {} is too long", number);
        let longest = CHARACTERS_PER_TOKEN * (options.longest() as usize - toy.special);
        prop_assert_eq!(chunk.parent.is_some(), options.by == ChunkingMethod::Hierarchical);
        if let Some((first, last)) = chunk.parent {
            prop_assert!(first <= chunk.start_char && chunk.end_char <= last);
        }
        prop_assert!(end - start <= longest, "chunk {} has {} characters", number, end - start);
        prop_assert!(end > covered, "chunk {} has nothing new", number);
        prop_assert!(
            characters[covered.min(start)..start].iter().all(|c| c.is_whitespace()),
            "text before chunk {} is lost",
            number
        );
        if let Some(last) = number.checked_sub(1).map(|last| &chunks[last]) {
            prop_assert!(last.start_char < chunk.start_char, "chunk {} is out of order", number);
            let repeated: String = characters[start.min(covered)..covered].iter().collect();
            let overlap = toy.count_tokens(&repeated).unwrap();
            prop_assert!(repeated.is_empty() || overlap <= options.overlap as usize);
        }
        covered = end;
    }
    prop_assert!(characters[covered..].iter().all(|c| c.is_whitespace()), "end is lost");
    Ok(())
}
