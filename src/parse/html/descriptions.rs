//! Description lists: terms, and what each means.

use super::tree::{NodeContent, NodeId};
use super::{Flat, HtmlReader, flat_text, has_structure, is_unseen, push_collapsed};
use crate::text::line::single_line;

/// Most terms that share a description; more of them are a list, such as a table of contents, and it belongs to the last.
const MOST_TERMS: usize = 4;

impl HtmlReader<'_> {
    /// Writes each description as an item that begins with its terms: what is quoted of it says what it is about.
    pub(super) fn read_descriptions(&mut self, node: NodeId) {
        self.end_paragraph();
        let mut terms = Vec::new();
        self.read_groups(node, &mut terms);
        self.write_terms(&mut terms);
        self.end_line();
        self.writer.end_list();
    }

    /// Reads terms and descriptions, those in a `div` around a group too; `terms` are those without a description so far.
    fn read_groups(&mut self, node: NodeId, terms: &mut Vec<String>) {
        for &child in self.tree.children(node) {
            match self.tree.content(child) {
                NodeContent::Text(text) => push_collapsed(&mut self.line, text),
                NodeContent::Element(element) if !is_unseen(element) => match element.name() {
                    "dt" if !has_structure(self.tree, child) => {
                        let term = single_line(&flat_text(self.tree, child, Flat::Seen));
                        terms.extend(Some(term).filter(|it| !it.is_empty()));
                    }
                    "dd" => {
                        if terms.len() > MOST_TERMS {
                            let last = terms.pop();
                            self.write_terms(terms);
                            terms.extend(last);
                        }
                        self.end_paragraph();
                        self.writer.open_item("-");
                        self.term = std::mem::take(terms).join(", ");
                        self.read_children(child);
                        self.end_paragraph();
                        self.writer.close();
                    }
                    "div" => self.read_groups(child, terms),
                    _ => {
                        self.write_terms(terms);
                        self.read(child, element);
                    }
                },
                _ => {}
            }
        }
    }

    /// Writes terms that nothing describes.
    fn write_terms(&mut self, terms: &mut Vec<String>) {
        self.end_paragraph();
        terms.drain(..).for_each(|term| self.writer.paragraph(&term));
    }
}

#[cfg(test)]
mod tests {
    use crate::parse::html::tests::check;

    #[test]
    fn a_description_begins_with_its_terms() {
        check("<dl><dt>T<dd>D</dl>", "- T: D");
        check(
            "<dl><dt>-v<dt>--verbose<dd><p>Says more.<p>Much more.</dl>",
            "- -v, --verbose: Says more.\n\n  Much more.",
        );
        check(
            "<dl><div><dt>Why?</dt><dd>So.</dd></div><dt>T<dd><pre>c</pre></dl>",
            "- Why? So.\n- T\n\n  ```\n  c\n  ```",
        );
        check("<dl><dt>A<dt>B<dt>C<dt>D<dt>E<dd>F</dl>", "A\n\nB\n\nC\n\nD\n\n- E: F");
        check("<dl><dt>A<dt>B</dl>after", "A\n\nB\n\nafter");
        check("<dl><dt><h2>H</h2><dd>D</dl>", "## H\n\n- D");
        check("<dl><dt>A<dd><dl><dt>B<dd>C</dl></dl>", "- A\n  - B: C");
    }
}
