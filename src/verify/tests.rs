use std::time::{Duration, Instant};

use serde_json::json;

use super::{Claim, Verdict, faithfulness, verify};
use crate::source::Source;
use crate::source::tests::one_of_each;

fn check(answer: &str, contexts: &[&str]) -> Vec<Claim> {
    verify(answer, contexts, &mut || {})
}

fn verdict(answer: &str, context: &str) -> Verdict {
    let claims = check(answer, &[context]);
    assert_eq!(claims.len(), 1, "{claims:?}");
    claims[0].verdict
}

const TOWER: &str = "The tower was built in 1889. It is 330 metres tall and stands in Paris. \
                     Gustave Eiffel's company designed it. The lifts were not open in the first week.";

#[test]
fn what_is_said_is_supported_wherever_it_stands() {
    for answer in [
        "The tower was built in 1889.",
        "It stands in Paris and is 330 metres tall.",
        "Gustave Eiffel's company designed the tower.",
        "The lifts were not open in the first week.",
    ] {
        assert_eq!(verdict(answer, TOWER), Verdict::Supported, "{answer}");
    }
}

#[test]
fn sources_are_checked_by_what_no_model_has_written() {
    let sources = one_of_each();
    let texts: Vec<_> = sources.iter().map(Source::checked_text).collect();
    let contexts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    let told = |answer: &str| {
        let claim = check(answer, &contexts).remove(0);
        let evidence = claim.evidence.filter(|_| claim.verdict == Verdict::Supported)?;
        let place = sources[evidence.context].place(evidence.chars)?.in_row();
        Some((evidence.context, place))
    };
    let parking = json!({"pipeline": "docs", "source_key": "7", "start_char": 0, "end_char": 24});
    assert_eq!(told("Visitors park behind it [1]."), Some((0, parking)));
    let tower =
        json!({"pipeline": "docs", "source_key": "row 71", "start_char": 110, "end_char": 133});
    assert_eq!(told("The tower opens at ten [2]."), Some((1, tower)));
    let order = json!({"relation": "orders", "key": "17"});
    assert_eq!(told("The status is shipped and the total 49.90 [3]."), Some((2, order)));
    // The summary says so, and none of its leaves does.
    assert_eq!(told("Both welcome dogs [2]."), None);
}

#[test]
fn what_is_not_said_is_unsupported() {
    for answer in [
        "Seven million people visit the restaurant on its second floor every year.",
        "I have been there twice and loved the view!",
        "Painting takes sixty tonnes of paint.",
        "The 17 lifts were not open in the first week.",
        "Have you ever been to Paris?",
    ] {
        assert_eq!(verdict(answer, TOWER), Verdict::Unsupported, "{answer}");
    }
}

#[test]
fn another_number_name_or_a_not_contradicts() {
    for answer in [
        "The tower was built in 1925.",
        "It was built in 1925.",
        "It is 450 metres tall and stands in Paris.",
        "It is 330 metres tall and stands in Berlin.",
        "The tower was not built in 1889.",
        "The lifts were open in the first week.",
    ] {
        assert_eq!(verdict(answer, TOWER), Verdict::Contradicted, "{answer}");
    }
}

#[test]
fn a_number_that_stands_nearby_does_not_contradict() {
    let context = "The bridge opened in 1932. It was painted in 1950.";
    assert_ne!(verdict("The bridge was painted in 1932.", context), Verdict::Contradicted);
}

const WEIGHED: &str = "The mill sold NUMBER sacks of flour in May.";

#[test]
fn a_number_is_the_same_however_it_is_grouped_or_split() {
    let numbers: [&[&str]; 4] = [
        &[
            "12,000",
            "12000",
            "12.000",
            "12'000",
            "12 000",
            "12\u{A0}000",
            "12\u{202F}000",
            "12, 000",
            "12 , 000",
            "12,000.00",
            "１２，０００",
            "١٢٬٠٠٠",
            "1万2千",
        ],
        &["36,500", "36500", "36 500", "36, 500"],
        &["98.7", "98,7", "98. 7", "98 . 7"],
        &["1,00,000", "100,000", "100 000", "100, 000"],
    ];
    for group in numbers {
        for (said, held) in group.iter().flat_map(|one| group.iter().map(move |it| (one, it))) {
            let context = format!("It is old. {} It closed.", WEIGHED.replace("NUMBER", held));
            let claim = WEIGHED.replace("NUMBER", said);
            assert_eq!(verdict(&claim, &context), Verdict::Supported, "{said} of {held}");
        }
    }
    let context = "Repairs cost $ 36, 500 in May.";
    assert_eq!(verdict("Repairs cost $36,500 in May.", context), Verdict::Supported);
}

#[test]
fn numbers_that_stand_side_by_side_are_not_taken_for_one() {
    for (claim, context) in [
        ("The late fee is $20.", "The late fee is $20. 30 days' notice is required."),
        ("62% agreed.", "We asked 350. 62% agreed."),
        ("We asked 350. 62% agreed.", "We asked 350. 62% agreed."),
        ("100 photos are printed for €20.", "For €20, 100 photos are printed."),
        ("On May 5 100 people came to the mill.", "100 people came to the mill on May 5."),
        ("In room 12 500 guests can sit.", "500 guests can sit in room 12."),
    ] {
        assert_eq!(verdict(claim, context), Verdict::Supported, "{claim} of {context}");
    }
}

#[test]
fn another_number_is_no_less_another_where_numbers_are_split() {
    for (said, held) in [
        ("12,001", "12 000"),
        ("12001", "12000"),
        ("12", "12 000"),
        ("12", "12, 000"),
        ("36,000", "36, 500"),
        ("98.6", "98. 7"),
        ("98.7", "987"),
        ("1,200", "12,000"),
        ("12,130", "12, 130 and 145"),
        ("12,130", "12 and 130"),
        ("12.13", "12, 13 or 14"),
        ("1,000,000", "1, 000"),
    ] {
        let context = format!("It is old. {} It closed.", WEIGHED.replace("NUMBER", held));
        let claim = WEIGHED.replace("NUMBER", said);
        assert_ne!(verdict(&claim, &context), Verdict::Supported, "{said} of {held}");
    }
    for (claim, context) in [
        ("5,100 people came to the mill.", "On May 5, 100 people came to the mill."),
        ("The mill opened in 1990.7.", "The mill opened in 1990. 7 people came."),
    ] {
        assert_ne!(verdict(claim, context), Verdict::Supported, "{claim}");
    }
}

#[test]
fn a_doubtful_number_of_a_context_counts_either_way() {
    let context = "In room 36, 500 guests dined.";
    for claim in
        ["500 guests dined in room 36.", "36,500 guests dined.", "In room 36, 500 guests dined."]
    {
        assert_eq!(verdict(claim, context), Verdict::Supported, "{claim}");
    }
    assert_eq!(
        verdict("In room 36, 500 guests dined.", "500 guests dined in room 36."),
        Verdict::Supported
    );
    let claims = check(
        "The mill opened in 1990. 7 people came.",
        &["7 people came. The mill opened in 1990."],
    );
    assert!(claims.iter().all(|it| it.verdict == Verdict::Supported), "{claims:?}");
}

#[test]
fn a_split_number_ends_no_sentence() {
    // A text in small letters has sentences that begin so.
    let (split, whole) = (
        "the mill sold 98. 7 percent of its flour in spring.",
        "the mill sold 98.7 percent of its flour in spring.",
    );
    for (claim, context) in [(split, whole), (whole, split), (split, split)] {
        let context = format!("it is old. {context} it closed.");
        let claims = check(claim, &[&context]);
        assert_eq!(claims.len(), 1, "{claims:?}");
        assert_eq!(claims[0].verdict, Verdict::Supported, "{claim}");
        let evidence = claims[0].evidence.clone().unwrap();
        assert_eq!(evidence.chars.start, "it is old. ".len(), "{claim}");
    }
}

#[test]
fn the_evidence_is_the_sentence() {
    let claims = check("Gustave Eiffel's company designed the tower.", &["Nothing.", TOWER]);
    let evidence = claims[0].evidence.as_ref().unwrap();
    let quote: String =
        TOWER.chars().skip(evidence.chars.start).take(evidence.chars.len()).collect();
    assert_eq!((evidence.context, quote.as_str()), (1, "Gustave Eiffel's company designed it."));
}

#[test]
fn spans_count_characters() {
    let context = "Über Größe. Die Brücke wurde 1932 eröffnet. Schluß.";
    let claims = check("Die Brücke wurde 1932 eröffnet.", &[context]);
    assert_eq!(claims[0].evidence.as_ref().unwrap().chars, 12..43);
}

#[test]
fn a_claim_is_checked_against_what_it_cites() {
    let contexts = ["The mill grinds rye.", "The inn serves soup on Sundays."];
    let claims = check("The mill grinds rye. [1] The inn serves soup on Sundays [1].", &contexts);
    let verdicts: Vec<Verdict> = claims.iter().map(|claim| claim.verdict).collect();
    assert_eq!(verdicts, [Verdict::Supported, Verdict::Unsupported]);
    assert_eq!(claims[1].text, "The inn serves soup on Sundays.");
    let beyond = check("The inn serves soup on Sundays [7].", &contexts);
    assert_eq!(beyond[0].verdict, Verdict::Supported);
}

#[test]
fn a_claim_may_join_two_contexts() {
    let contexts = ["Ada Lovelace wrote about the engine.", "Charles Babbage built the engine."];
    let claims = check(
        "Ada Lovelace wrote about the engine and Charles Babbage built the engine.",
        &contexts,
    );
    assert_eq!(claims[0].verdict, Verdict::Supported);
}

#[test]
fn headings_and_code_claim_nothing() {
    let answer = "# Opening hours\n\nThe mill opens at nine.\n\n```\nSELECT 1;\n```\n";
    let claims = check(answer, &["The mill opens at nine."]);
    let texts: Vec<&str> = claims.iter().map(|claim| claim.text.as_str()).collect();
    assert_eq!(texts, ["The mill opens at nine."]);
}

#[test]
fn the_weakest_claim_counts() {
    let claims = check("The tower was built in 1889. It is made of cheese from Holland.", &[TOWER]);
    assert!(claims[0].score > 0.9 && claims[1].score < 0.5, "{claims:?}");
    assert!((faithfulness(&claims) - claims[1].score).abs() < 1e-12);
    assert!((faithfulness(&[]) - 1.0).abs() < 1e-12);
}

#[test]
fn without_context_nothing_is_supported() {
    for contexts in [&[][..], &[""][..], &["…", " \n"][..]] {
        let claims = check("The tower was built in 1889.", contexts);
        assert_eq!((claims[0].verdict, &claims[0].evidence), (Verdict::Unsupported, &None));
    }
    assert!(check("", &[TOWER]).is_empty() && check("[1] ...", &[TOWER]).is_empty());
}

#[test]
fn scripts_without_spaces_are_read() {
    let context = "这座塔建于1889年。它高330米。";
    assert_eq!(verdict("这座塔建于1889年。", context), Verdict::Supported);
    assert_eq!(verdict("那家餐馆每年有七百万客人。", context), Verdict::Unsupported);
}

#[test]
fn a_sentence_without_end_is_several_claims() {
    let text = |from: usize| (from..from + 900).map(|it| format!("w{it} ")).collect::<String>();
    let claims = check(&text(0), &[&text(10_000), &text(300)]);
    let words: Vec<usize> =
        claims.iter().map(|claim| claim.text.split_whitespace().count()).collect();
    assert_eq!(words, [400, 400, 100]);
    assert_eq!((claims[1].verdict, claims[2].verdict), (Verdict::Supported, Verdict::Supported));
    let evidence = claims[1].evidence.as_ref().unwrap();
    assert_eq!(evidence.context, 1);
    let quote: Vec<char> = text(300).chars().collect();
    let quote: String = quote[evidence.chars.clone()].iter().collect();
    assert!(quote.starts_with("w300 ") && quote.ends_with(" w699"), "{quote}");
}

#[test]
fn a_long_sentence_takes_no_time_for_ever_and_can_be_interrupted() {
    // With time that grows with the square of these texts this is a matter of hours.
    let words: [fn(usize) -> String; 2] =
        [|_| "word ".to_owned(), |at| format!("{:x} ", at * 7919 % 65_536)];
    for word in words {
        let text: String = (0..100_000).map(word).collect();
        let (begun, mut last) = (Instant::now(), Instant::now());
        let mut longest = Duration::ZERO;
        let claims = verify(&text, &[&text], &mut || {
            longest = longest.max(last.elapsed());
            last = Instant::now();
        });
        assert!(claims.len() == 250 && faithfulness(&claims) > 0.5);
        println!("{:?}, {longest:?} between two looks", begun.elapsed());
        assert!(begun.elapsed() < Duration::from_secs(300) && longest < Duration::from_secs(10));
    }
}

proptest::proptest! {
    #[test]
    fn any_text_can_be_checked(answer in ".{0,200}", contexts in proptest::collection::vec(".{0,200}", 0..4)) {
        let contexts: Vec<&str> = contexts.iter().map(String::as_str).collect();
        for claim in check(&answer, &contexts) {
            proptest::prop_assert!((0.0..=1.0).contains(&claim.score));
            if let Some(evidence) = claim.evidence {
                let length = contexts[evidence.context].chars().count();
                proptest::prop_assert!(evidence.chars.start < evidence.chars.end && evidence.chars.end <= length);
            }
        }
    }

    #[test]
    fn what_is_copied_is_supported(words in proptest::collection::vec("[a-z]{2,9}", 4..12)) {
        let sentence = format!("{}.", words.join(" "));
        let context = format!("Before it. {sentence} After it.");
        let claims = check(&sentence, &[&context]);
        proptest::prop_assert!(claims.iter().all(|claim| claim.verdict == Verdict::Supported), "{claims:?}");
    }
}
