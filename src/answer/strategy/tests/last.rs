//! The call that makes the answer.

use super::*;

fn begun(name: &str, given: Value, tools: &mut Scripted) -> BegunAnswer {
    begin(named(Some(name)).unwrap(), QUESTION, &options(given), tools).unwrap()
}

#[test]
fn the_call_that_makes_the_answer_is_left_to_the_caller() {
    let many = [QUESTION; 99];
    for (name, calls, step) in [
        ("compact", 0, "answer"),
        ("simple_summarize", 0, "answer"),
        ("refine", 1, "refine"),
        ("tree_summarize", 2, "merge"),
        ("decompose_sequential", 1, "answer"),
        ("decompose_parallel", 1, "answer"),
        ("ircot", 2, "answer"),
        ("corrective", 1, "answer"),
        ("sql", 1, "answer"),
    ] {
        let mut tools = scripted(&[(QUESTION, &[1, 2, 3, 4, 5])], &many);
        let BegunAnswer::Asking(pending) = begun(name, json!({}), &mut tools) else {
            panic!("{name}")
        };
        assert_eq!((tools.asked.len(), pending.step), (calls, step), "{name}");
        assert_eq!(pending.is_only_call(), name == "compact");
        let reply = ModelReply { text: " Last [1]. ".to_owned(), ..ModelReply::default() };
        let outcome = pending.finish(Ok(reply), "", 0).unwrap();
        assert_eq!(
            (outcome.text.as_str(), &outcome.usage["calls"]),
            ("Last [1].", &json!(calls + 1))
        );
    }
    for name in ["map_rerank", "self_rag"] {
        let mut tools = scripted(&[(QUESTION, &[1])], &many);
        assert!(matches!(begun(name, json!({}), &mut tools), BegunAnswer::Done(_)), "{name}");
    }
}

#[test]
fn an_answer_that_time_cuts_short_is_what_was_told() {
    for (told, expected) in [("Half of ", "Half of"), (" ", NO_ANSWER)] {
        let mut tools = scripted(&[(QUESTION, &[1])], &[]);
        let given = json!({"budget": {"seconds": 1}});
        let BegunAnswer::Asking(pending) = begun("compact", given, &mut tools) else { panic!() };
        assert_eq!(pending.limits.timeout_ms, Some(1000));
        let late = || Err(Error::new(ErrorKind::ProviderTimeout, "late"));
        assert!(pending.clone().finish(late(), told, 999).is_err());
        let outcome = pending.finish(late(), told, 1000).unwrap();
        assert_eq!(
            (outcome.text.as_str(), &outcome.usage["stopped_by"]),
            (expected, &json!("seconds"))
        );
    }
}

#[test]
fn auto_looks_up_and_reads_once() {
    let many: Vec<u32> = (1..=21).collect();
    for (found, reading) in [(&many[..2], ReadingCalls::One), (&many[..], ReadingCalls::Several)] {
        let mut tools = scripted(&[(QUESTION, found)], &["A [1]."; 9]);
        let BegunAnswer::Asking(pending) = begun("auto", json!({}), &mut tools) else { panic!() };
        assert_eq!((tools.looked_up.len(), &tools.read_for), (1, &vec![reading]));
        assert_eq!(pending.is_only_call(), reading == ReadingCalls::One);
    }
}
