use std::collections::HashSet;

use proptest::prelude::*;

use super::digest::{MOST_SENTENCES, QuotedSentence, digest, is_makeshift, quotable, text_of};
use super::grow::grow;
use super::*;

/// A chunk that says `topic`, and no two of the same number are different.
fn leaf(number: u64, topic: u8) -> TreeLeaf {
    let mut vector = vec![0.1; 8];
    vector[usize::from(topic % 8)] = 1.0 + number as f32 / 1e4;
    TreeLeaf { hash: node_hash([&[number.to_le_bytes(); 4].concat().try_into().unwrap()]), vector }
}

fn grown(leaves: &[TreeLeaf], known: &HashSet<MemberHash>) -> Vec<TreeNode> {
    let mut among = |asked: &[MemberHash]| {
        Ok(asked.iter().filter(|hash| known.contains(*hash)).copied().collect())
    };
    grow(leaves, &mut among, &mut || {}).unwrap()
}

fn hashes(nodes: &[TreeNode]) -> HashSet<MemberHash> {
    nodes.iter().map(|node| node.hash).collect()
}

/// What holds for each tree.
fn check(leaves: &[TreeLeaf], nodes: &[TreeNode]) {
    let Some(root) = nodes.last() else { return assert!(leaves.is_empty()) };
    assert_eq!(root.leaves, 0..leaves.len());
    let mut below: Vec<TreeChild> =
        (0..).zip(leaves).map(|(at, it)| TreeChild { hash: it.hash, leaves: at..at + 1 }).collect();
    for level in 1..=root.level {
        let of_level: Vec<&TreeNode> = nodes.iter().filter(|node| node.level == level).collect();
        let children: Vec<TreeChild> = of_level.iter().flat_map(|it| it.children.clone()).collect();
        assert_eq!(children, below, "each is in exactly one cluster of level {level}");
        assert!(of_level.len() == 1 || 2 * of_level.len() <= below.len(), "levels shrink");
        for node in &of_level {
            assert!(node.children.len() <= FANOUT);
            assert_eq!(node.hash, node_hash(leaves[node.leaves.clone()].iter().map(|it| &it.hash)));
        }
        below = of_level
            .iter()
            .map(|it| TreeChild { hash: it.hash, leaves: it.leaves.clone() })
            .collect();
    }
    assert_eq!(below.len(), 1);
}

fn document() -> impl Strategy<Value = Vec<TreeLeaf>> {
    let chunk = (0..40_u64, 0..4_u8).prop_map(|(number, topic)| leaf(number, topic));
    prop::collection::vec(chunk, 0..120)
}

proptest! {
    #[test]
    fn a_tree_covers_its_document(leaves in document()) {
        let nodes = grown(&leaves, &HashSet::new());
        check(&leaves, &nodes);
        prop_assert_eq!(&nodes, &grown(&leaves, &HashSet::new()), "the same chunks make the same tree");
        prop_assert_eq!(&nodes, &grown(&leaves, &hashes(&nodes)), "and nothing is new the second time");
    }

    #[test]
    fn whatever_is_known_a_tree_covers_its_document(leaves in document(), picks in prop::collection::vec((0..120_usize, 1..10_usize), 0..30)) {
        let run = |(start, length): (usize, usize)| {
            let start = start.min(leaves.len());
            node_hash(leaves[start..(start + length).min(leaves.len())].iter().map(|it| &it.hash))
        };
        let known: HashSet<MemberHash> = picks.into_iter().map(run).collect();
        check(&leaves, &grown(&leaves, &known));
    }

    #[test]
    fn an_edit_makes_one_summary_of_each_level_stale(
        topics in prop::collection::vec(0..8_u8, 1..300), at in 0..300_usize
    ) {
        let mut leaves: Vec<TreeLeaf> = (0..).zip(&topics).map(|(n, topic)| leaf(n, *topic)).collect();
        let before = grown(&leaves, &HashSet::new());
        let at = at % leaves.len();
        leaves[at] = leaf(1_000_000, topics[at].wrapping_add(3));
        let after = grown(&leaves, &hashes(&before));
        check(&leaves, &after);
        let new: Vec<&TreeNode> = after.iter().filter(|it| !hashes(&before).contains(&it.hash)).collect();
        prop_assert!(new.iter().all(|node| node.leaves.contains(&at)));
        prop_assert_eq!(new.len() as u32, before.last().unwrap().level);
    }

    #[test]
    fn a_new_chunk_makes_few_summaries_stale(
        topics in prop::collection::vec(0..8_u8, 20..300), at in 0..300_usize
    ) {
        let mut leaves: Vec<TreeLeaf> = (0..).zip(&topics).map(|(n, topic)| leaf(n, *topic)).collect();
        let before = grown(&leaves, &HashSet::new());
        leaves.insert(at % leaves.len(), leaf(1_000_000, 5));
        let after = grown(&leaves, &hashes(&before));
        check(&leaves, &after);
        let new = hashes(&after).difference(&hashes(&before)).count() as u32;
        prop_assert!(new <= 3 * after.last().unwrap().level, "{} of {}", new, after.len());
    }

    #[test]
    fn what_is_quoted_stands_where_it_says(texts in prop::collection::vec(any::<String>(), 0..6)) {
        let sentences: Vec<QuotedSentence> =
            texts.iter().enumerate().flat_map(|(at, text)| quotable(at, text, None, &mut || {})).collect();
        let chosen = digest(sentences.clone(), MOST_SENTENCES, &mut || {});
        prop_assert!(chosen.len() <= MOST_SENTENCES);
        prop_assert_eq!(chosen.is_empty(), sentences.is_empty());
        for QuotedSentence { leaf, chars, text, .. } in chosen {
            let (start, length) = (chars.start as usize, chars.len());
            prop_assert_eq!(texts[leaf].chars().skip(start).take(length).collect::<String>(), text);
        }
    }
}

#[test]
fn a_document_without_chunks_has_no_tree() {
    assert!(grown(&[], &HashSet::new()).is_empty());
    let one = grown(&[leaf(1, 1)], &HashSet::new());
    assert_eq!((one.len(), one[0].level, one[0].children.len()), (1, 1, 1));
}

#[test]
fn runs_end_where_the_subject_changes() {
    let leaves: Vec<TreeLeaf> = (0..12).map(|n| leaf(n, u8::from(n >= 5))).collect();
    let nodes = grown(&leaves, &HashSet::new());
    let runs: Vec<Range<usize>> = nodes.into_iter().map(|it| it.leaves).collect();
    assert_eq!(runs, [0..5, 5..12, 0..12]);
}

#[test]
fn a_summary_says_what_is_said_most_and_nothing_twice() {
    let text = "# Leave\n\nEmployees have thirty days of leave a year. The canteen serves soup from noon. \
                Leave of employees is asked for a month ahead. Employees have thirty days of leave a year. \
                Days of leave that employees do not take end in March. Yes. \
                A parrot lives in the hall of the mill. Bicycles stand behind the northern gate.";
    let chosen = digest(quotable(0, text, None, &mut || {}), MOST_SENTENCES, &mut || {});
    let said = text_of(&chosen);
    assert_eq!(said.matches("thirty days").count(), 1, "{said}");
    assert!(said.contains("a month ahead") && !said.contains("Yes."), "{said}");
    assert!(chosen.is_sorted_by_key(|it| it.chars.start));
    let one = digest(quotable(0, "Short.", None, &mut || {}), MOST_SENTENCES, &mut || {});
    assert_eq!(text_of(&one), "Short.");
    assert!(quotable(0, " \n", None, &mut || {}).is_empty());
    for (letter, most) in [("e", 500), ("é", 500), ("ж", 500), ("ก", 500), ("期", 166)] {
        let long = letter.repeat(10_000);
        assert_eq!(quotable(3, &long, None, &mut || {})[0].chars, 0..most, "{letter}");
    }
}

#[test]
fn a_summary_has_as_many_letters_in_each_alphabet() {
    for word in ["word", "слово", "λέξη", "शब्द"] {
        let words = format!("{word} ").repeat(240 / (word.chars().count() + 1));
        let text: String = (100..110).map(|at| format!("{words}{at}.\n\n")).collect();
        let chosen = digest(quotable(0, &text, None, &mut || {}), MOST_SENTENCES, &mut || {});
        let letters = text_of(&chosen).chars().count();
        assert!(chosen.len() == 4 && (940..=1000).contains(&letters), "{word} {letters}");
    }
}

#[test]
fn code_stands_for_a_text_only_where_nothing_else_does() {
    let text = "# Tables\n\nA table is made before its pipeline. Rows come later.\n\n```sql\nCREATE TABLE handbook \
                (id integer PRIMARY KEY, body text);\nINSERT INTO handbook VALUES (1, 'Employees have leave.');\n```\n\n\
                The pipeline reads all of its rows at once.";
    let said = |text: &str, open| text_of(&quotable(0, text, open, &mut || {}));
    assert_eq!(
        said(text, None),
        "A table is made before its pipeline. The pipeline reads all of its rows at once."
    );
    // A chunk that begins within a fence, and one that is nothing else.
    let rest = "INSERT INTO handbook VALUES (1, 'Employees have leave.');\n```\n\nThe pipeline reads all of its rows.";
    assert_eq!(said(rest, Some("```sql")), "The pipeline reads all of its rows.");
    let code =
        "SELECT answer FROM rag_answer_details('When is lunch in the canteen?', 'handbook');";
    let alone = quotable(1, code, Some("```sql"), &mut || {});
    assert!(alone.len() == 1 && alone[0].is_makeshift && alone[0].text.starts_with("SELECT"));
    // Beside it, prose stands for both; and it is known by its words where its fence is no more.
    let both: Vec<QuotedSentence> =
        alone.clone().into_iter().chain(quotable(2, rest, Some("```sql"), &mut || {})).collect();
    let chosen = digest(both, MOST_SENTENCES, &mut || {});
    assert_eq!(text_of(&chosen), "The pipeline reads all of its rows.");
    assert_eq!(text_of(&digest(alone, MOST_SENTENCES, &mut || {})).len(), code.len());
    assert!(
        is_makeshift(code) && is_makeshift("# Tables") && !is_makeshift(&said(rest, Some("```")))
    );
}
