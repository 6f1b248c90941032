//! # announced: what does a sentence take in that announces what stands below it?
//!
//! ```text
//! "Install it like this:" above code → both;  "There are three ways to pay:" above a list → all four
//! ```

use super::announcement::{announces, announces_list};
use super::blocks::{BlockKind, TextBlock};
use super::cut::{LONGEST_UNIT, short};
use super::part::{PartKind, UnitPart};
use super::unit::Unit;
use crate::text::length::is_within;

/// Longest code that is shown with the sentence before it, by its [`length`](crate::text::length).
const LONGEST_CODE: usize = 2000;

/// Longest code that is shown with a sentence which doesn't announce it with a colon.
const LONGEST_UNANNOUNCED: usize = 300;

/// Longest table that is shown whole with the sentence that announces it; of a longer one the rows stand for themselves.
const LONGEST_TABLE: usize = 400;

/// Puts into `last` what it announces of the blocks `below` it, if that is not too long.
pub(super) fn take_in(last: &mut Unit, content: &str, below: &[TextBlock]) {
    let Some(next) = below.first() else { return };
    let range = last.range();
    let text = &content[range.clone()];
    // An item that does not end is none that brings the next.
    let is_sentence = last.parts.last().is_some_and(|it| it.kind == PartKind::Sentence);
    let announces = match next.kind {
        BlockKind::Item if is_sentence => announces_list(text),
        _ => announces(text),
    };
    let most = match (next.kind, announces) {
        (BlockKind::Code, true) => LONGEST_CODE,
        (BlockKind::Code, false) => LONGEST_UNANNOUNCED,
        _ => LONGEST_UNIT,
    };
    // What has taken in a list whose items say nothing by themselves ends behind them.
    let is_near = |block: &TextBlock, most| {
        content.get(range.end..block.range.end).is_some_and(|text| is_within(text, most))
    };
    if announces && next.kind == BlockKind::Columns {
        let rows = below[1..].iter().take_while(|block| block.kind == BlockKind::Row);
        let kind = PartKind::Row(short(content, &next.range), next.cells);
        let row = |block: &TextBlock| UnitPart { range: block.range.clone(), kind: kind.clone() };
        if rows.clone().all(|block| is_near(block, LONGEST_TABLE)) {
            last.parts.extend(rows.map(row));
        }
        return;
    }
    let wanted = |block: &&TextBlock| {
        let is_wanted = block.kind == next.kind
            && (block.kind == BlockKind::Code || announces && block.kind == BlockKind::Item);
        is_wanted && is_near(block, most)
    };
    last.parts.extend(below.iter().take_while(wanted).map(item_or_code));
}

/// A block of a list, or code.
pub(super) fn item_or_code(block: &TextBlock) -> UnitPart {
    let kind = match block.kind {
        BlockKind::Code => PartKind::Code(block.label.clone()),
        _ => PartKind::Item(block.label.clone()),
    };
    UnitPart { range: block.range.clone(), kind }
}
