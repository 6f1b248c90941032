//! What holds for documents that are drawn, and for long ones.

use proptest::prelude::*;

use super::*;

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
