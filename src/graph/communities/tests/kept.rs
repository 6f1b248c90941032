//! What is kept of communities, how entities are tied, and which communities a question asks for.

use proptest::prelude::*;
use serde_json::json;

use crate::graph::communities::hierarchy::NodeCommunity;
use crate::graph::communities::membership::{Membership, MembershipChange, changes, known};
use crate::graph::communities::options::CommunityOptions;
use crate::graph::communities::rank::{CommunityMention, ranked};
use crate::graph::communities::ties::ties;

fn names(letters: &str) -> Vec<String> {
    letters.chars().map(String::from).collect()
}

fn member(norm: &str, level: i32, community: i64, parent: Option<i64>) -> Membership {
    Membership { norm: norm.to_owned(), level, community, parent }
}

fn community(level: u32, parent: Option<usize>, nodes: &[u32]) -> NodeCommunity {
    NodeCommunity { level, parent, nodes: nodes.to_vec() }
}

/// The rows after a change.
pub fn applied(
    before: &[Membership],
    found: &[NodeCommunity],
    norms: &[String],
) -> Vec<Membership> {
    let change = changes(before, found, norms, &mut || {});
    let is_gone = |it: &Membership| {
        let is_replaced =
            change.new.iter().any(|new| (&new.norm, new.level) == (&it.norm, it.level));
        is_replaced || change.gone.contains(&(it.norm.clone(), it.level))
    };
    let mut after: Vec<Membership> = before.iter().filter(|it| !is_gone(it)).cloned().collect();
    after.extend(change.new.clone());
    after.sort_by(|a, b| (a.level, &a.norm).cmp(&(b.level, &b.norm)));
    after
}

#[test]
fn a_community_with_its_members_keeps_its_number() {
    let norms = names("abcde");
    let first =
        applied(&[], &[community(0, None, &[0, 1, 2]), community(0, None, &[3, 4])], &norms);
    assert_eq!(first[0], member("a", 0, 1, None));
    assert_eq!(first[4], member("e", 0, 2, None));
    // The other one has a member more, and is another one; and one is divided.
    let norms = names("abcdef");
    let found = [
        community(0, None, &[3, 4, 5]),
        community(0, None, &[0, 1, 2]),
        community(1, Some(1), &[0, 1]),
    ];
    let change = changes(&first, &found, &norms, &mut || {});
    assert!(change.gone.is_empty());
    let new: Vec<&str> = change.new.iter().map(|it| it.norm.as_str()).collect();
    assert_eq!(new, ["d", "e", "f", "a", "b"]);
    let second = applied(&first, &found, &norms);
    assert_eq!(second[0], member("a", 0, 1, None));
    assert_eq!(second[3], member("d", 0, 3, None));
    assert_eq!(second[6], member("a", 1, 4, Some(1)));
    assert_eq!(
        known(&second, &names("bdx"), &mut || {}),
        [[Some(1), Some(3), None], [Some(4), None, None]]
    );
    // Nothing is left.
    let change = changes(&second, &[], &norms, &mut || {});
    assert_eq!((change.gone.len(), change.new.len()), (8, 0));
    assert_eq!(changes(&second, &found, &norms, &mut || {}), MembershipChange::default());
}

#[test]
fn entities_are_tied_by_the_chunks_that_name_both() {
    let check = |chunks_of: &[Vec<i64>], expected: &[(u32, u32, f64)]| {
        let found = ties(chunks_of, &mut || {}).unwrap();
        let found: Vec<_> = found.iter().map(|it| (it.ends.0, it.ends.1, it.weight)).collect();
        assert_eq!(found, expected);
    };
    check(&[], &[]);
    check(&[vec![1, 2], vec![3]], &[]);
    check(&[vec![1, 2, 3], vec![2, 3], vec![3]], &[(0, 1, 2.0), (0, 2, 1.0), (1, 2, 1.0)]);
}

#[test]
fn very_many_pairs_are_counted_in_parts() {
    let chunks_of: Vec<Vec<i64>> = (0..64).map(|_| (0..1000).collect()).collect();
    let found = ties(&chunks_of, &mut || {}).unwrap();
    assert_eq!(found.len(), 64 * 63 / 2);
    assert!(found.iter().all(|it| it.weight == 1000.0));
}

#[test]
fn communities_are_ranked_by_their_chunks() {
    let mention =
        |(chunk_id, community, mentions)| CommunityMention { chunk_id, community, mentions };
    let check = |found: &[i64], mentions: &[(i64, i64, i64)], expected: &[(i64, &[i64])]| {
        let mentions: Vec<CommunityMention> = mentions.iter().copied().map(mention).collect();
        let all = ranked(found, &mentions);
        let all: Vec<(i64, &[i64])> =
            all.iter().map(|it| (it.community, it.chunks.as_slice())).collect();
        assert_eq!(all, expected);
    };
    check(&[], &[], &[]);
    check(&[1, 2], &[], &[]);
    // A chunk counts for the community of which it speaks most.
    check(&[1], &[(1, 7, 1), (1, 8, 2)], &[(8, &[1])]);
    check(&[1], &[(1, 8, 2), (1, 7, 2)], &[(7, &[1])]);
    // The best chunk weighs more than the second, and two more than the best.
    check(&[1, 2], &[(2, 7, 1), (1, 8, 1)], &[(8, &[1]), (7, &[2])]);
    check(&[1, 2, 3], &[(2, 7, 1), (1, 8, 1), (3, 7, 1)], &[(7, &[2, 3]), (8, &[1])]);
}

#[test]
fn a_pipeline_says_how_communities_are_found() {
    let usual = CommunityOptions::default();
    let read = |option| CommunityOptions::read(&option);
    assert_eq!(read(json!(null)), Ok(None));
    assert_eq!(read(json!(false)), Ok(None));
    assert_eq!(read(json!({})), Ok(Some(usual)));
    let small = CommunityOptions { max_size: 10, seed: 7, ..usual };
    assert_eq!(read(json!({"max_size": 10, "seed": 7})), Ok(Some(small)));
    let check = |option, message: &str| assert_eq!(read(option).unwrap_err().message(), message);
    check(json!(true), "communities cannot be true");
    check(json!({"size": 3}), "unknown option \"size\" of \"communities\"");
    check(
        json!({"resolution": 0}),
        "option \"communities.resolution\" must be between 0.001 and 1000, not 0",
    );
    check(
        json!({"min_size": 1}),
        "option \"communities.min_size\" must be between 2 and 1000000, not 1",
    );
    check(
        json!({"max_size": 2}),
        "option \"communities.max_size\" must be between min_size, 3, and 1000000, not 2",
    );
    let error = read(json!({"min_size": 51})).unwrap_err();
    assert_eq!(
        error.message(),
        "option \"communities.max_size\" must be between min_size, 51, and 1000000, not 50"
    );
    assert_eq!(error.hint_text(), Some("50 is its default: name max_size as well."));
    check(
        json!({"tolerance": 2}),
        "option \"communities.tolerance\" must be between 0 and 1, not 2",
    );
}

#[test]
fn communities_will_do_as_long_as_little_has_changed() {
    let check = |tolerance, made_from, changed, expected| {
        let options = CommunityOptions { tolerance, ..CommunityOptions::default() };
        assert_eq!(options.will_do(made_from, changed), expected, "{made_from}, {changed}");
    };
    check(0.01, 1000, 0, true);
    check(0.01, 1000, 10, true);
    check(0.01, 1000, 11, false);
    check(0.0, 1000, 1, false);
    // A pipeline that was filled after a first look.
    check(0.9, 10, 1000, false);
    check(1.0, 0, 1, false);
    check(1.0, 0, 0, true);
}

proptest! {
    #[test]
    fn rows_after_a_change_are_those_of_the_communities(
        rounds in proptest::collection::vec(proptest::collection::vec(0..5_u32, 12), 1..5)
    ) {
        let norms = names("abcdefghijkl");
        let mut rows: Vec<Membership> = Vec::new();
        for round in rounds {
            let of = |own: u32| (0..12).filter(|node| round[*node as usize] == own).collect::<Vec<u32>>();
            let found: Vec<NodeCommunity> =
                (0..5).map(of).filter(|it| !it.is_empty()).map(|it| community(0, None, &it)).collect();
            rows = applied(&rows, &found, &norms);
            prop_assert_eq!(rows.len(), 12);
            for (a, b) in rows.iter().zip(&round).zip(rows.iter().zip(&round).skip(1)) {
                prop_assert_eq!(a.1 == b.1, a.0.community == b.0.community);
            }
        }
    }
}
