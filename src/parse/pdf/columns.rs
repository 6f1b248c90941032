//! What is read before what?
//!
//! Where columns stand side by side, each is read from top to bottom. A gutter is a strip that
//! hardly any line crosses; the lines that cross it (a title, a wide figure) are read in their
//! place, and what lies between two of them is a band with a column on either side. The cells
//! of a table have a gutter between them too: they are shorter than lines of text are.

use super::layout::TextSegment;

/// Columns in columns in columns.
const DEEPEST: usize = 6;

/// Lines that a column has at least.
const LINES: usize = 3;

/// Characters that the lines of a column have on average, at least.
const CHARACTERS: usize = 18;

/// One in so many lines may cross a gutter.
const CROSSING: usize = 4;

/// The narrowest gutter, in sizes of the letters.
const NARROWEST: f32 = 0.8;

/// Groups of segments in reading order; inside a group lines run from left to right.
pub fn arrange(segments: Vec<TextSegment>) -> Vec<Vec<TextSegment>> {
    let mut groups = Vec::new();
    arrange_into(segments, DEEPEST, &mut groups);
    groups
}

fn arrange_into(segments: Vec<TextSegment>, depth: usize, groups: &mut Vec<Vec<TextSegment>>) {
    let gutter = if depth == 0 { None } else { find_gutter(&segments) };
    let Some(gutter) = gutter else {
        groups.push(segments);
        return;
    };
    let mut wide: Vec<TextSegment> = Vec::new();
    let mut band: Vec<TextSegment> = Vec::new();
    for segment in segments {
        if segment.left < gutter && segment.right > gutter {
            end_band(&mut band, gutter, depth, &mut wide, groups);
            wide.push(segment);
        } else {
            band.push(segment);
        }
    }
    end_band(&mut band, gutter, depth, &mut wide, groups);
    if !wide.is_empty() {
        groups.push(wide);
    }
}

/// Puts the columns of a band after what was read before; what has no columns is one with it.
fn end_band(
    band: &mut Vec<TextSegment>,
    gutter: f32,
    depth: usize,
    wide: &mut Vec<TextSegment>,
    groups: &mut Vec<Vec<TextSegment>>,
) {
    let band = std::mem::take(band);
    let (left, right): (Vec<_>, Vec<_>) =
        band.iter().cloned().partition(|segment| segment.left < gutter);
    if !is_column(&left) || !is_column(&right) {
        wide.extend(band);
        return;
    }
    if !wide.is_empty() {
        groups.push(std::mem::take(wide));
    }
    arrange_into(left, depth - 1, groups);
    arrange_into(right, depth - 1, groups);
}

fn is_column(segments: &[TextSegment]) -> bool {
    let characters: usize = segments.iter().map(|segment| segment.text.chars().count()).sum();
    segments.len() >= LINES && characters >= CHARACTERS * segments.len()
}

/// The middle of the widest strip among those that the fewest segments cross.
fn find_gutter(segments: &[TextSegment]) -> Option<f32> {
    if segments.len() < 2 * LINES {
        return None;
    }
    let left = segments.iter().map(|segment| segment.left).fold(f32::INFINITY, f32::min);
    let right = segments.iter().map(|segment| segment.right).fold(f32::NEG_INFINITY, f32::max);
    let mut sizes: Vec<f32> = segments.iter().map(|segment| segment.size).collect();
    sizes.sort_by(f32::total_cmp);
    let narrowest = sizes[sizes.len() / 2] * NARROWEST;
    let mut ends: Vec<(f32, i32)> =
        segments.iter().flat_map(|segment| [(segment.left, 1), (segment.right, -1)]).collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let most = (segments.len() / CROSSING) as i32;
    let mut best: Option<(i32, f32, f32)> = None;
    let mut crossing = 0;
    for pair in ends.windows(2) {
        crossing += pair[0].1;
        let (from, to) = (pair[0].0, pair[1].0);
        let middle = (from + to) / 2.0;
        // A strip at the edge has no column beside it.
        let is_inside =
            middle > left + (right - left) * 0.1 && middle < right - (right - left) * 0.1;
        if crossing > most || to - from < narrowest || !is_inside {
            continue;
        }
        if best.is_none_or(|(fewest, width, _)| (crossing, -(to - from)) < (fewest, -width)) {
            best = Some((crossing, to - from, middle));
        }
    }
    best.map(|(_, _, middle)| middle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(text: &str, left: f32, y: f32) -> TextSegment {
        let right = left + text.chars().count() as f32 * 5.0;
        TextSegment { text: text.to_owned(), left, right, y, size: 10.0 }
    }

    fn check(segments: Vec<TextSegment>, expected: &[&str]) {
        let mut sorted = segments;
        sorted.sort_by(|a, b| a.y.total_cmp(&b.y).then(a.left.total_cmp(&b.left)));
        let groups = arrange(sorted);
        let texts: Vec<String> = groups
            .iter()
            .map(|group| group.iter().map(|s| &s.text[..2]).collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(texts, expected);
    }

    fn column(name: char, lines: usize, left: f32, top: f32) -> Vec<TextSegment> {
        let line = |n: usize| {
            segment(&format!("{name}{n} words of a column"), left, top + n as f32 * 12.0)
        };
        (0..lines).map(line).collect()
    }

    #[test]
    fn columns_are_read_one_after_the_other() {
        let title = segment(&"T0 title across the page ".repeat(2), 0.0, 0.0);
        let footer = segment(&"F0 footer across the page ".repeat(2), 0.0, 200.0);
        let page = [vec![title, footer], column('a', 4, 0.0, 20.0), column('b', 4, 130.0, 21.0)];
        check(page.concat(), &["T0", "a0 a1 a2 a3", "b0 b1 b2 b3", "F0"]);
    }

    #[test]
    fn three_columns() {
        let page =
            [column('a', 4, 0.0, 0.0), column('b', 4, 130.0, 0.0), column('c', 4, 260.0, 0.0)];
        check(page.concat(), &["a0 a1 a2 a3", "b0 b1 b2 b3", "c0 c1 c2 c3"]);
    }

    #[test]
    fn cells_of_a_table_are_no_columns() {
        let row = |n: f32| vec![segment("k0", 0.0, n * 12.0), segment("v0", 100.0, n * 12.0)];
        let page: Vec<TextSegment> = (0..4).flat_map(|n| row(n as f32)).collect();
        check(page, &["k0 v0 k0 v0 k0 v0 k0 v0"]);
    }
}
