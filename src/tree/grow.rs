//! # grow: which chunks of a document are summed up together?
//!
//! ```text
//! (chunks in order, which nodes are known) → nodes of all levels, the root last
//! ```
//!
//! Runs that are known as nodes stay what they are, and only what lies between them is cut anew. So a change of a
//! chunk touches the run in which it stands and those above it; if all were cut again, one chunk could move every cut.

use std::collections::HashSet;
use std::ops::Range;

use super::segments::runs;
use super::{FANOUT, MemberHash, TreeChild, TreeLeaf, TreeNode, node_hash};
use crate::error::Result;
use crate::vector::cosine;

/// Says which of some hashes are those of nodes that are there.
pub type KnownNodes<'a> = dyn FnMut(&[MemberHash]) -> Result<HashSet<MemberHash>> + 'a;

/// A member of a level: a chunk or a node.
struct Member {
    child: TreeChild,
    /// The sum of the vectors of its chunks, each of length 1.
    vector: Vec<f32>,
}

/// The nodes over the chunks of a document, level by level, the root last; none where there is no chunk. `interrupt`
/// is called from time to time and may unwind.
///
/// Fails where `known` does.
pub fn grow(
    leaves: &[TreeLeaf],
    known: &mut KnownNodes<'_>,
    interrupt: &mut dyn FnMut(),
) -> Result<Vec<TreeNode>> {
    let mut below: Vec<Member> = leaves.iter().enumerate().map(of_leaf).collect();
    let mut nodes = Vec::new();
    for level in 1.. {
        interrupt();
        let clusters = clusters(&below, leaves, known, interrupt)?;
        let is_last = clusters.len() <= 1;
        let mut above = Vec::with_capacity(clusters.len());
        for cluster in clusters {
            let (node, member) = joined(&below[cluster], leaves, level);
            nodes.push(node);
            above.push(member);
        }
        if is_last {
            break;
        }
        below = above;
    }
    Ok(nodes)
}

fn of_leaf((at, leaf): (usize, &TreeLeaf)) -> Member {
    let length = leaf.vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    let scale = if length > 0.0 && length.is_finite() { 1.0 / length } else { 0.0 };
    let vector = leaf.vector.iter().map(|x| (f64::from(*x) * scale) as f32).collect();
    Member { child: TreeChild { hash: leaf.hash, leaves: at..at + 1 }, vector }
}

/// The node over some neighbours, and the same as a member of its level.
fn joined(members: &[Member], leaves: &[TreeLeaf], level: u32) -> (TreeNode, Member) {
    let covered = covered(members);
    let hash = hash_of(leaves, &covered);
    let mut vector = members[0].vector.clone();
    for member in &members[1..] {
        vector.iter_mut().zip(&member.vector).for_each(|(sum, x)| *sum += x);
    }
    let children = members.iter().map(|it| it.child.clone()).collect();
    let node = TreeNode { hash, level, leaves: covered.clone(), children };
    (node, Member { child: TreeChild { hash, leaves: covered }, vector })
}

fn covered(members: &[Member]) -> Range<usize> {
    let [first, .., last] = members else { return members[0].child.leaves.clone() };
    first.child.leaves.start..last.child.leaves.end
}

fn hash_of(leaves: &[TreeLeaf], covered: &Range<usize>) -> MemberHash {
    node_hash(leaves[covered.clone()].iter().map(|leaf| &leaf.hash))
}

/// Which members of a level are summed up together.
fn clusters(
    members: &[Member],
    leaves: &[TreeLeaf],
    known: &mut KnownNodes<'_>,
    interrupt: &mut dyn FnMut(),
) -> Result<Vec<Range<usize>>> {
    if members.len() <= FANOUT {
        return Ok(runs(members.len(), |_| 0.0));
    }
    let kept = kept(members, leaves, known, interrupt)?;
    let mut clusters = Vec::new();
    for (is_kept, stretch) in stretches(&without_gaps_of_one(kept, members.len()), members.len()) {
        interrupt();
        let start = stretch.start;
        let likeness =
            |at: usize| cosine(&members[start + at - 1].vector, &members[start + at].vector);
        match is_kept {
            true => clusters.push(stretch),
            false => {
                let cut = runs(stretch.len(), likeness).into_iter();
                clusters.extend(cut.map(|run| start + run.start..start + run.end));
            }
        }
    }
    Ok(clusters)
}

/// The runs of members that are nodes already, from the left, the longest first.
fn kept(
    members: &[Member],
    leaves: &[TreeLeaf],
    known: &mut KnownNodes<'_>,
    interrupt: &mut dyn FnMut(),
) -> Result<Vec<Range<usize>>> {
    let run_hash = |run: &Range<usize>| hash_of(leaves, &covered(&members[run.clone()]));
    let mut possible = Vec::new();
    for start in 0..members.len() - 1 {
        interrupt();
        let ends = (start + 2..=(start + FANOUT).min(members.len())).rev();
        possible.extend(ends.map(|end| start..end).map(|run| (run_hash(&run), run)));
    }
    let hashes: Vec<MemberHash> = possible.iter().map(|(hash, _)| *hash).collect();
    let known = known(&hashes)?;
    let mut kept: Vec<Range<usize>> = Vec::new();
    for (hash, run) in possible {
        let is_free = kept.last().is_none_or(|last| last.end <= run.start);
        if is_free && known.contains(&hash) {
            kept.push(run);
        }
    }
    Ok(kept)
}

/// Those of the runs that leave no single member between them: a lonely one is cut anew together with the
/// shorter of its neighbours, as nothing would be summed up of it alone.
fn without_gaps_of_one(kept: Vec<Range<usize>>, members: usize) -> Vec<Range<usize>> {
    let end_of = |runs: &[Range<usize>]| runs.last().map_or(0, |run| run.end);
    let mut left: Vec<Range<usize>> = Vec::with_capacity(kept.len());
    for run in kept {
        let is_lonely_between = run.start == end_of(&left) + 1;
        match left.last() {
            // Where one of the two goes, a gap of three and more is left, and what is to the left of it stays.
            Some(before) if is_lonely_between && before.len() <= run.len() => {
                left.pop();
                left.push(run);
            }
            _ if is_lonely_between => {}
            _ => left.push(run),
        }
    }
    if end_of(&left) + 1 == members {
        left.pop();
    }
    left
}

/// The whole row of members as kept runs and what lies between them, in order, with whether it is kept.
fn stretches(kept: &[Range<usize>], members: usize) -> Vec<(bool, Range<usize>)> {
    let mut stretches = Vec::new();
    let mut at = 0;
    for run in kept {
        stretches.push((false, at..run.start));
        stretches.push((true, run.clone()));
        at = run.end;
    }
    stretches.push((false, at..members));
    stretches.retain(|(_, stretch)| !stretch.is_empty());
    stretches
}
