//! Chunks, summaries and rows beside each other.

use super::*;
use crate::answer::citation::citations;
use crate::source::tests::one_of_each;

#[test]
fn sources_of_all_kinds_are_numbered_once() {
    let others = one_of_each();
    let says =
        ["What of Ghent?\nWhat of Bruges?", "It opens at ten [4].", "It costs 49.90 [5].", "Both."];
    let tools = Scripted { others: others.to_vec(), ..scripted(&FINDS, &says) };
    let done = run_with("decompose_sequential", QUESTION, json!({}), tools);
    let labels: Vec<String> = done.outcome.readings.iter().map(|one| one.source.label()).collect();
    assert_eq!(labels, ["2", "1", "7", "Opening hours", "orders 17", "3"]);
    for call in [1, 2] {
        let prompt = done.user(call);
        for part in ["4 MARK>>>\nHeading: Opening hours\n", "5 MARK>>>\nHeading: orders\nstatus:"] {
            assert!(prompt.contains(part), "{prompt}");
        }
    }
    let read: Vec<&Source> = done.outcome.readings.iter().map(|one| &one.source).collect();
    let cited = citations("The tower opens at ten [4]. 49.90 in total [5].", &read, &mut || {});
    let quotes: Vec<&str> = cited.citations.iter().map(|one| one.quote.as_str()).collect();
    assert_eq!(quotes, ["The tower opens at ten.", "status: shipped\ntotal: 49.90"]);
}
