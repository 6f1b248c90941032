//! Which blocks are headings? Short ones in larger letters than most of the text.

use std::collections::HashMap;

use super::layout::{LayoutBlock, LayoutKind};

/// How much larger than the text a heading is.
const LARGER: f32 = 1.12;

/// Longest heading, in characters.
const LONGEST: usize = 200;

/// Sizes that are told apart.
const LEVELS: usize = 4;

/// The sizes of a document's headings, largest first.
pub struct Sizes(Vec<u32>);

impl Sizes {
    /// Finds the sizes in all pages.
    pub fn of(pages: &[Vec<LayoutBlock>]) -> Sizes {
        let mut lengths: HashMap<u32, usize> = HashMap::new();
        for block in pages.iter().flatten() {
            *lengths.entry(step(block.size)).or_default() += block.text_length();
        }
        let most = lengths.iter().max_by_key(|(step, length)| (**length, **step));
        let Some((&text, _)) = most else { return Sizes(Vec::new()) };
        let least = (text as f32 * LARGER).ceil() as u32;
        let headings = pages.iter().flatten().filter(|block| is_title(block));
        let mut sizes: Vec<u32> =
            headings.map(|block| step(block.size)).filter(|size| *size >= least).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        sizes.dedup();
        Sizes(sizes)
    }

    /// The level of `block`, from 1; `None` if it is no heading.
    pub fn level(&self, block: &LayoutBlock) -> Option<u8> {
        let size = step(block.size);
        let place = self.0.iter().position(|known| *known == size)?;
        is_title(block).then_some(place.min(LEVELS - 1) as u8 + 1)
    }
}

/// Sizes are compared in half points.
fn step(size: f32) -> u32 {
    (size * 2.0).round() as u32
}

fn is_title(block: &LayoutBlock) -> bool {
    let letters = block.text.chars().filter(|c| c.is_alphabetic()).count();
    matches!(block.kind, LayoutKind::Paragraph | LayoutKind::Item(_))
        && letters >= 2
        && block.text.chars().nth(LONGEST).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(text: &str, size: f32) -> LayoutBlock {
        LayoutBlock { kind: LayoutKind::Paragraph, text: text.to_owned(), size }
    }

    #[test]
    fn size_decides() {
        let text = "words ".repeat(50);
        let blocks = vec![
            block("Title", 24.0),
            block("Chapter", 14.0),
            block(&text, 10.0),
            block("Chapter", 14.1),
            block("7", 30.0),
            block("small", 8.0),
            block(&text, 12.0),
        ];
        let pages = vec![blocks];
        let sizes = Sizes::of(&pages);
        let levels: Vec<_> = pages[0].iter().map(|block| sizes.level(block)).collect();
        assert_eq!(levels, [Some(1), Some(2), None, Some(2), None, None, None]);
        assert!(Sizes::of(&[]).level(&block("x", 10.0)).is_none());
    }
}
