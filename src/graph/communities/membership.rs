//! Who is a member of which community, and what of that has changed?
//!
//! A community whose members are those that it had keeps its number, and its rows are not touched: whatever was made of
//! it still holds. One that has other members is another one.

use std::collections::{BTreeMap, HashMap};

use sha2::{Digest, Sha256};

use super::hierarchy::NodeCommunity;
use super::watch::InterruptWatch;

/// An entity as a member of a community.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The normal form of the entity.
    pub norm: String,
    /// The level of the community: 0 is that of the whole graph.
    pub level: i32,
    /// The number of the community.
    pub community: i64,
    /// The number of the community that it is a part of; `None` at level 0.
    pub parent: Option<i64>,
}

/// What is to be done to the rows of members.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MembershipChange {
    /// Entity and level of the rows that go.
    pub gone: Vec<(String, i32)>,
    /// Rows that come, also in the place of others.
    pub new: Vec<Membership>,
}

/// By what a community is recognised: the hash of its members' names.
type CommunityHash = [u8; 32];

/// What has changed from `before` to the communities that were `found`, whose nodes have these `norms`. `interrupt` is
/// called from time to time and may unwind.
#[must_use]
pub fn changes(
    before: &[Membership],
    found: &[NodeCommunity],
    norms: &[String],
    interrupt: &mut dyn FnMut(),
) -> MembershipChange {
    let watch = &mut InterruptWatch::new(interrupt);
    let now = numbered(before, found, norms, watch);
    let mut known: HashMap<(&str, i32), &Membership> = before
        .iter()
        .inspect(|_| watch.step())
        .map(|it| ((it.norm.as_str(), it.level), it))
        .collect();
    let mut change = MembershipChange::default();
    for it in &now {
        watch.step();
        if known.remove(&(it.norm.as_str(), it.level)) != Some(it) {
            change.new.push(it.clone());
        }
    }
    change.gone = known.into_keys().map(|(norm, level)| (norm.to_owned(), level)).collect();
    change.gone.sort_unstable();
    change
}

/// The communities that each of `norms` was in before, by level. `interrupt` is called from time to time and may unwind.
#[must_use]
pub fn known(
    before: &[Membership],
    norms: &[String],
    interrupt: &mut dyn FnMut(),
) -> Vec<Vec<Option<i64>>> {
    let watch = &mut InterruptWatch::new(interrupt);
    let levels = before.iter().map(|it| it.level + 1).max().unwrap_or_default();
    let mut known = vec![vec![None; norms.len()]; usize::try_from(levels).unwrap_or_default()];
    for Membership { norm, level, community, .. } in before {
        watch.step();
        let level = usize::try_from(*level).ok().and_then(|level| known.get_mut(level));
        if let (Some(level), Ok(at)) = (level, norms.binary_search(norm)) {
            level[at] = Some(*community);
        }
    }
    known
}

/// The members of the communities. Those that were there before have the numbers that they had.
fn numbered(
    before: &[Membership],
    found: &[NodeCommunity],
    norms: &[String],
    watch: &mut InterruptWatch<'_>,
) -> Vec<Membership> {
    let numbers = numbers(before, watch);
    let mut next = before.iter().map(|it| it.community + 1).max().unwrap_or(1);
    let mut given: Vec<i64> = Vec::with_capacity(found.len());
    let mut members = Vec::new();
    for NodeCommunity { level, parent, nodes } in found {
        let names = || nodes.iter().map(|node| norms[*node as usize].as_str());
        let level = *level as i32;
        let community = numbers.get(&(level, hash(names(), watch))).copied().unwrap_or_else(|| {
            next += 1;
            next - 1
        });
        let parent = parent.map(|it| given[it]);
        given.push(community);
        let member = |name: &str| Membership { norm: name.to_owned(), level, community, parent };
        members.extend(names().inspect(|_| watch.step()).map(member));
    }
    members
}

/// The numbers of communities, by their levels and members.
fn numbers(
    before: &[Membership],
    watch: &mut InterruptWatch<'_>,
) -> HashMap<(i32, CommunityHash), i64> {
    let mut members: BTreeMap<(i32, i64), Vec<&str>> = BTreeMap::new();
    for Membership { norm, level, community, .. } in before {
        watch.step();
        members.entry((*level, *community)).or_default().push(norm);
    }
    let numbered = members.into_iter().map(|((level, community), mut names)| {
        names.sort_unstable();
        ((level, hash(names.into_iter(), watch)), community)
    });
    numbered.collect()
}

/// The hash of names, which are in order.
fn hash<'a>(names: impl Iterator<Item = &'a str>, watch: &mut InterruptWatch<'_>) -> CommunityHash {
    let mut hash = Sha256::new();
    for name in names {
        watch.step();
        hash.update(name);
        // A name has no such character, so no two lists have the same hash.
        hash.update([0]);
    }
    hash.finalize().into()
}
