//! What holds for every method, tokenizer and text.

use proptest::prelude::*;

use super::{ChunkingMethod, *};

// Tokenizers

/// One token for each match of a rule; what `chunk` has to cope with, in small.
struct Toy {
    name: &'static str,
    split: fn(&str) -> Vec<(usize, usize)>,
    special: usize,
    splits_at_white_space: bool,
}

impl Tokenizer for Toy {
    fn token_spans(&self, text: &str) -> Result<Vec<(usize, usize)>> {
        Ok((self.split)(text))
    }

    fn special_tokens(&self) -> usize {
        self.special
    }

    fn splits_at_white_space(&self) -> bool {
        self.splits_at_white_space
    }
}

const TOYS: &[Toy] = &[
    Toy { name: "characters", split: characters, special: 0, splits_at_white_space: false },
    Toy { name: "words", split: words, special: 2, splits_at_white_space: true },
    Toy { name: "words, checked", split: words, special: 2, splits_at_white_space: false },
    Toy { name: "graphemes", split: graphemes, special: 1, splits_at_white_space: false },
    Toy { name: "word pieces", split: word_pieces, special: 2, splits_at_white_space: true },
    Toy { name: "pairs", split: pairs, special: 2, splits_at_white_space: false },
    Toy { name: "bytes", split: bytes, special: 2, splits_at_white_space: false },
];

fn characters(text: &str) -> Vec<(usize, usize)> {
    text.char_indices().map(|(at, c)| (at, at + c.len_utf8())).collect()
}

fn words(text: &str) -> Vec<(usize, usize)> {
    let offset = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
    text.split_whitespace().map(|word| (offset(word), offset(word) + word.len())).collect()
}

fn graphemes(text: &str) -> Vec<(usize, usize)> {
    use unicode_segmentation::UnicodeSegmentation;
    text.grapheme_indices(true).map(|(at, g)| (at, at + g.len())).collect()
}

/// Like WordPiece: up to four characters a token, but a word over 100 characters is unknown
/// and one token, and control characters have none.
fn word_pieces(text: &str) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    for (start, end) in words(text) {
        let word = &text[start..end];
        if word.chars().count() > 100 {
            spans.push((start, end));
            continue;
        }
        let known: Vec<_> = word.char_indices().filter(|(_, c)| !c.is_control()).collect();
        for piece in known.chunks(4) {
            let (last, character) = piece[piece.len() - 1];
            spans.push((start + piece[0].0, start + last + character.len_utf8()));
        }
    }
    spans
}

/// Like byte pair encoding: where a pair begins depends on all of the text before, white
/// space is part of tokens, and the text's beginning is a token of its own.
fn pairs(text: &str) -> Vec<(usize, usize)> {
    let mut spans = vec![(0, 0)];
    let mut open: Option<(usize, char)> = None;
    for (at, character) in text.char_indices() {
        let end = at + character.len_utf8();
        match open.take() {
            Some((start, first)) if !(first as u32 + character as u32).is_multiple_of(3) => {
                spans.push((start, end));
            }
            Some((start, _)) => {
                spans.push((start, at));
                open = Some((at, character));
            }
            None => open = Some((at, character)),
        }
    }
    spans.extend(open.map(|(start, _)| (start, text.len())));
    spans
}

fn bytes(text: &str) -> Vec<(usize, usize)> {
    (0..text.len()).map(|at| (at, at + 1)).collect()
}

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

// Properties

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

/// Text of many scripts with much structure and much that is odd.
fn documents() -> impl proptest::strategy::Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z]{1,12}[ ,.!?]{0,2}",
        2 => "[ \t\n\r]{1,3}",
        1 => Just("\r\n\r\n".to_owned()),
        1 => "\n#{1,6} [A-Z][a-z]{0,8}\n",
        1 => "\n(- |1\\. |> |    |\\| ){1,3}[a-z]{1,6}( \\| [a-z]{1,3})?",
        1 => "\n(```|~~~|---|===|\\+\\+\\+|<div>|</div>)\n",
        1 => "[\u{4e00}-\u{4eff}\u{3040}-\u{30ff}]{1,20}[。！？、」]?",
        1 => "[\u{600}-\u{6ff}\u{5d0}-\u{5ea}]{1,10}[؟ .]?",
        1 => "[\u{900}-\u{97f}]{1,10}[।॥]?",
        1 => "e[\u{300}-\u{36f}]{0,30}",
        1 => "(👨‍👩‍👧|🇩🇪|👍🏽|\u{200d}|\u{fe0f}|\u{1f1e6}){1,12}",
        1 => "[\u{1}-\u{1f}\u{7f}-\u{9f}\u{feff}\u{2028}\u{200e}]{1,3}",
        1 => "[a-zé]{90,400}",
        1 => "\\PC{0,8}",
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn promises_hold(document in documents(), max_tokens in 8u32..80, overlap in 0u32..79) {
        let overlap = overlap.min(max_tokens - 1);
        for info in CHUNKING_METHODS {
            for toy in TOYS {
                for overlap in [0, overlap] {
                    let options = of(info, max_tokens, overlap);
                    let chunks = chunk(&document, &options, toy)
                        .map_err(|error| TestCaseError::fail(format!("{}: {error}", toy.name)))?;
                    assert_invariants(&document, &options, toy, &chunks)
                        .map_err(|error| TestCaseError::fail(
                            format!("{} with {}: {error}", info.name, toy.name)))?;
                }
            }
        }
    }

    /// The counts taken from the index are those that the tokenizer gives.
    #[test]
    fn unchecked_is_checked(
        document in documents(), other in documents(), max_tokens in 8u32..80, overlap in 0u32..7,
    ) {
        for info in CHUNKING_METHODS {
            let options = of(info, max_tokens, overlap);
            for toy in TOYS.iter().filter(|toy| toy.splits_at_white_space) {
                let checked = Toy { splits_at_white_space: false, ..*toy };
                let mut memo = WordMemo::default();
                chunk_remembering(&other, &options, toy, &mut memo)?;
                let fast = chunk_remembering(&document, &options, toy, &mut memo);
                let slow = chunk(&document, &options, &checked);
                prop_assert_eq!(fast, slow, "{} with {}", info.name, toy.name);
            }
        }
    }

    /// Graphemes that fit into a chunk are not cut.
    #[test]
    fn graphemes_stay_whole(document in "(e[\u{300}-\u{36f}]{0,3}|👨‍👩‍👧|🇩🇪|a|각|한){0,200}") {
        use unicode_segmentation::UnicodeSegmentation;
        let whole: Vec<&str> = document.graphemes(true).collect();
        for info in CHUNKING_METHODS {
            for overlap in [0, 3] {
                let options = of(info, 10, overlap);
                for piece in chunk(&document, &options, &TOYS[3])? {
                    let parts: Vec<&str> = piece.content.graphemes(true).collect();
                    let found = whole.windows(parts.len()).any(|window| window == parts);
                    prop_assert!(found, "{:?} of {:?}", piece.content, document);
                }
            }
        }
    }
}

/// Documents of one unit repeated, as a careless or malicious user may send them.
#[test]
fn long_documents_take_linear_time() {
    let units = [
        "a",
        "a ",
        " ",
        "\n",
        "a\n\n",
        "a. ",
        "> ",
        "- ",
        "#",
        "# a\n",
        "[",
        "[a](",
        "<a ",
        "*a_",
        "|a",
        "|a|\n|-|\n",
        "`",
        "```\n",
        "\u{301}",
        "🇩🇪",
        "\u{200d}",
        "字",
        "。",
        "1. a\n  ",
        "\r",
        "é\u{301}",
        "a.\u{301} ",
        "&",
        "<!--",
        "\\",
        "!",
        "~",
        "$",
        "[^a]: ",
        "   ",
        "\t- ",
        "http://",
    ];
    for unit in units {
        let document = unit.repeat(500_000 / unit.len());
        for info in CHUNKING_METHODS {
            let options = of(info, 64, 16);
            for toy in [&TOYS[4], &TOYS[5]] {
                let start = std::time::Instant::now();
                let chunks = chunk(&document, &options, toy).unwrap();
                let time = start.elapsed();
                let what = format!("{} of {unit:?} with {}", info.name, toy.name);
                assert!(time.as_secs() < 5, "{what} took {time:?}");
                assert_eq!(chunks.is_empty(), document.trim().is_empty(), "{what}");
            }
        }
    }
}
