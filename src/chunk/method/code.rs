//! Source code: functions and classes, then statements, then lines.
//!
//! Where the language is known its syntax says where something begins. Everywhere else, and
//! where a file is too long or too strange for the parser, layout does: blank lines before
//! lines that are not indented, then blank lines, then lines.

use super::{CutPlan, skip_white_space};
use crate::chunk::language::Language;
use crate::chunk::options::MethodSettings;
use crate::text::line::{Line, LineKind, lines};

/// By syntax, else by layout.
pub(super) fn plan(document: &str, settings: &MethodSettings) -> CutPlan {
    let language = settings.language.or_else(|| Language::guess(document));
    language
        .and_then(|language| by_syntax(document, language))
        .unwrap_or_else(|| plan_by_layout(document))
}

#[cfg(feature = "code")]
fn by_syntax(document: &str, language: Language) -> Option<CutPlan> {
    super::syntax::plan(document, language)
}

/// Parsers are part of ragd, and not of the extension.
#[cfg(not(feature = "code"))]
fn by_syntax(_: &str, _: Language) -> Option<CutPlan> {
    None
}

/// Blocks that are not indented, blocks, lines.
pub(in crate::chunk) fn plan_by_layout(document: &str) -> CutPlan {
    let mut levels = vec![Vec::new(); 3];
    let mut after_blank = true;
    for Line { range, kind } in lines(document) {
        if kind == LineKind::Blank {
            after_blank = true;
            continue;
        }
        let start = skip_white_space(document, range.start);
        let level = match (after_blank, start == range.start) {
            (true, true) => 0,
            (true, false) => 1,
            (false, _) => 2,
        };
        levels[level].push(start);
        after_blank = false;
    }
    CutPlan::unsectioned(document, levels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout() {
        let document = "a\n  b\n\n  c\n\nd\n";
        let plan = plan_by_layout(document);
        let levels: Vec<Vec<&str>> = plan
            .levels
            .iter()
            .map(|level| level.iter().map(|at| &document[*at..=*at]).collect())
            .collect();
        assert_eq!(levels, [vec!["a", "d"], vec!["c"], vec!["b"]]);
    }
}
