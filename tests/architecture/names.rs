//! A type has a name that no other type of the crate has, so that it says alone what the thing is.

use std::collections::BTreeMap;

use crate::check;
use crate::source::rust_files;

#[test]
fn no_two_types_have_the_same_name() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in rust_files() {
        if !source.path().starts_with("src/") || source.file.is_test() {
            continue;
        }
        let defined = source.tokens.windows(2).filter(|pair| {
            let is_keyword = ["struct", "enum", "trait", "union"].contains(&pair[0].text.as_str());
            let is_type = pair[1].text.starts_with(char::is_uppercase);
            is_keyword && is_type && !pair[0].in_test
        });
        for pair in defined {
            let place = format!("{}:{}", source.path(), pair[1].line);
            places.entry(pair[1].text.clone()).or_default().push(place);
        }
    }
    assert!(places.len() > 500, "only {} types were found", places.len());
    let shared = places.into_iter().filter(|(_, places)| places.len() > 1);
    let shared = shared.map(|(name, places)| format!("{name}: {}", places.join(", ")));
    check("types that share their name with another one", shared);
}
