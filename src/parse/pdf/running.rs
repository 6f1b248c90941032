//! Lines that all pages share: the book's title above, the page's number below.

use std::collections::HashMap;

use super::layout::LayoutBlock;

/// Documents with fewer pages show no pattern.
const PAGES: usize = 4;

/// Longest line that is looked at, in characters.
const LONGEST: usize = 120;

/// Removes the first and the last block of each page if at least half of the pages have the
/// same, numbers apart; twice, for what stands in two lines.
pub fn remove(pages: &mut [Vec<LayoutBlock>]) {
    if pages.len() < PAGES {
        return;
    }
    for _ in 0..2 {
        remove_shared(pages, |blocks| (!blocks.is_empty()).then_some(0));
        remove_shared(pages, |blocks| blocks.len().checked_sub(1));
    }
}

fn remove_shared(pages: &mut [Vec<LayoutBlock>], place: impl Fn(&[LayoutBlock]) -> Option<usize>) {
    let mut counts: HashMap<(String, u32), usize> = HashMap::new();
    for blocks in pages.iter() {
        if let Some(form) = place(blocks).and_then(|place| form(&blocks[place])) {
            *counts.entry(form).or_default() += 1;
        }
    }
    let enough = pages.len().div_ceil(2);
    for blocks in pages.iter_mut() {
        let Some(place) = place(blocks) else { continue };
        let is_shared = form(&blocks[place]).is_some_and(|form| counts[&form] >= enough);
        if is_shared {
            blocks.remove(place);
        }
    }
}

/// The text of a block with numbers made equal, and the size of its letters: the title on the
/// first page is larger than above the others. `None` of what is no running line.
fn form(block: &LayoutBlock) -> Option<(String, u32)> {
    let text = block.text.trim();
    if text.is_empty() || text.chars().nth(LONGEST).is_some() {
        return None;
    }
    let mut form = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            _ if !character.is_numeric() => form.push(character),
            _ if form.ends_with('0') => {}
            _ => form.push('0'),
        }
    }
    Some((form, block.size.round() as u32))
}

#[cfg(test)]
mod tests {
    use super::super::layout::LayoutKind;
    use super::*;

    fn block(text: String) -> LayoutBlock {
        LayoutBlock { kind: LayoutKind::Paragraph, text, size: 10.0 }
    }

    #[test]
    fn titles_and_numbers_go() {
        let page = |n: usize| {
            [
                "The Book".to_owned(),
                format!("Text number {n} is {}", "x".repeat(n)),
                format!("{n} of 12"),
            ]
            .map(block)
            .to_vec()
        };
        let mut pages: Vec<Vec<LayoutBlock>> = (8..13).map(page).collect();
        pages[0][0].size = 20.0;
        remove(&mut pages);
        let counts: Vec<usize> = pages.iter().map(Vec::len).collect();
        assert_eq!(counts, [2, 1, 1, 1, 1], "only the large title stays");
        let mut pages: Vec<Vec<LayoutBlock>> = (0..3).map(page).collect();
        remove(&mut pages);
        assert!(pages.iter().all(|blocks| blocks.len() == 3));
    }
}
