//! The pictures of docs/ are of the pages as they are.

use std::collections::BTreeSet;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use regex::Regex;

use crate::check;
use crate::source::read;

/// The headings of a page, without their marks.
fn headings(page: &str) -> BTreeSet<String> {
    let (mut headings, mut heading) = (BTreeSet::new(), None::<String>);
    for event in Parser::new(page) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(words) | Event::Code(words) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&words);
                }
            }
            Event::End(TagEnd::Heading(_)) => headings.extend(heading.take()),
            _ => {}
        }
    }
    headings
}

/// The headings that the picture of a tree shows, each before what its chunk says.
fn shown(picture: &str) -> Vec<String> {
    let bold = Regex::new(r#"<tspan class="ink" font-weight="600">([^<]*)</tspan>"#).unwrap();
    let written = |text: &str| {
        let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
        text.replace("&#x27;", "'").replace("&amp;", "&")
    };
    bold.captures_iter(picture).map(|found| written(&found[1])).collect()
}

#[test]
fn the_picture_of_a_tree_is_of_its_page() {
    let script = read("scripts/pictures.sh");
    let page = Regex::new(r"(?m)^FILE=(.*)$").unwrap();
    let page = page.captures(&script).expect("the page in scripts/pictures.sh")[1].to_owned();
    let picture = read("docs/tree.svg");
    assert!(picture.contains(&page), "docs/tree.svg is not of {page}");
    let shown = shown(&picture);
    assert!(shown.len() > 5, "only {} headings are shown: {shown:?}", shown.len());
    let there = headings(&read(&page));
    let gone: BTreeSet<String> =
        shown.into_iter().filter(|heading| !there.contains(heading)).collect();
    let rule =
        format!("docs/tree.svg shows headings that {page} does not have: run `make pictures`");
    check(&rule, gone);
}
