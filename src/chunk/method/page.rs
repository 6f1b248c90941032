//! Pages: no chunk reaches from one into the next.
//!
//! A form feed ends a page, as it does in what `pdftotext` and printers' programs write. The
//! number of the page is the heading of its chunks, since that is what a citation needs. Within
//! a page the places are those of `recursive`.

use super::{CutPlan, Section, recursive};

/// What ends a page.
pub const FORM_FEED: char = '\u{c}';

/// One section a page.
pub(super) fn plan(document: &str) -> CutPlan {
    let mut plan = CutPlan::unsectioned(document, Vec::new());
    plan.sections.clear();
    let mut start = 0;
    for (number, page) in (1..).zip(document.split(FORM_FEED)) {
        let of_page = recursive::plan(page);
        plan.levels.resize(of_page.levels.len(), Vec::new());
        for (level, places) in plan.levels.iter_mut().zip(of_page.levels) {
            level.extend(places.into_iter().map(|at| start + at));
        }
        let range = start..start + page.len();
        plan.sections.push(Section { range, heading: Some(format!("page {number}")) });
        start += page.len() + FORM_FEED.len_utf8();
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages() {
        let document = "One. Two.\u{c}\u{c}Three\n\nfour\u{c}";
        let plan = plan(document);
        let pages: Vec<(&str, Option<&str>)> = plan
            .sections
            .iter()
            .map(|section| (&document[section.range.clone()], section.heading.as_deref()))
            .collect();
        assert_eq!(
            pages,
            [
                ("One. Two.", Some("page 1")),
                ("", Some("page 2")),
                ("Three\n\nfour", Some("page 3")),
                ("", Some("page 4"))
            ]
        );
        let paragraphs: Vec<&str> = plan.levels[0].iter().map(|at| &document[*at..]).collect();
        assert_eq!(paragraphs, [document, "Three\n\nfour\u{c}", "four\u{c}"]);
    }
}
