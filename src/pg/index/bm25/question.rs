//! What a tsquery asks for: its words, and how they are joined.
//!
//! The layout is that of PostgreSQL's tsearch/ts_type.h: operators stand before their operands.
//! Nothing here recurses, since a query may be as deep as it has words.

use std::collections::{BTreeMap, HashSet};

use crate::bm25::Term;
use crate::error::{Error, ErrorKind, Result};

/// Bytes of an item.
const ITEM: usize = 12;

/// A tsquery as a tree of words and operators.
#[derive(Clone, Debug, Default)]
pub struct Bm25Question {
    /// An operator before its operands; empty where the query is.
    pub nodes: Vec<QueryNode>,
}

/// An item of a tsquery; operands by their places, which come later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryNode {
    /// A word that is to be there.
    Word(Operand),
    /// What is not to be there.
    Not(usize),
    /// Both operands match.
    And(usize, usize),
    /// One operand matches, or both.
    Or(usize, usize),
    /// Both, at a distance from one another.
    Phrase(usize, usize),
}

/// A word of a tsquery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The lexeme, or its beginning.
    pub word: Vec<u8>,
    /// Whether all lexemes that begin so are meant: `super:*`.
    pub is_prefix: bool,
    /// Whether only some labels are meant: `super:AB`.
    pub has_labels: bool,
}

/// Terms of which a text must have one.
#[derive(Clone, Debug, Default)]
pub struct Cover {
    /// The terms, each once.
    pub terms: Vec<Term>,
    /// What they cost together.
    pub cost: f64,
}

impl Cover {
    fn and(self, other: Cover) -> Cover {
        let is_longer = self.terms.len() >= other.terms.len();
        let (mut long, short) = if is_longer { (self, other) } else { (other, self) };
        long.terms.extend(short.terms);
        long.cost += short.cost;
        long
    }
}

impl Operand {
    fn term(&self) -> Term {
        Term { bytes: self.word.clone(), prefix: self.is_prefix, weight: 1.0 }
    }
}

impl Bm25Question {
    /// Reads a tsquery's bytes after its length word; an error where they are damaged.
    pub fn new(body: &[u8]) -> Result<Bm25Question> {
        let count = number(body, 0).ok_or_else(damaged)? as usize;
        let end = count.checked_mul(ITEM).and_then(|bytes| bytes.checked_add(4));
        let end = end.filter(|end| *end <= body.len()).ok_or_else(damaged)?;
        let (items, texts) = (&body[4..end], &body[end..]);
        let nodes = (0..count).map(|place| node(items, texts, place, count));
        Ok(Bm25Question { nodes: nodes.collect::<Result<_>>()? })
    }

    /// Whether each node stands under an even number of NOTs.
    fn wanted(&self) -> Vec<bool> {
        let mut wanted = vec![true; self.nodes.len()];
        for (place, node) in self.nodes.iter().enumerate() {
            let is_wanted = wanted[place];
            match *node {
                QueryNode::Word(_) => {}
                QueryNode::Not(a) => wanted[a] = !is_wanted,
                QueryNode::And(a, b) | QueryNode::Or(a, b) | QueryNode::Phrase(a, b) => {
                    wanted[a] = is_wanted;
                    wanted[b] = is_wanted;
                }
            }
        }
        wanted
    }

    /// The words that are wanted, and beginnings of words, each once with how often it is named.
    /// Not those under NOT.
    pub fn terms(&self) -> Vec<Term> {
        let mut counts: BTreeMap<(&[u8], bool), f64> = BTreeMap::new();
        for (node, is_wanted) in self.nodes.iter().zip(self.wanted()) {
            if let QueryNode::Word(Operand { word, is_prefix, .. }) = node
                && is_wanted
            {
                *counts.entry((word, *is_prefix)).or_default() += 1.0;
            }
        }
        let term = |((bytes, prefix), weight): ((&[u8], bool), f64)| Term {
            bytes: bytes.to_vec(),
            prefix,
            weight,
        };
        counts.into_iter().map(term).collect()
    }

    /// The value of the root, where each node's value follows from those of its operands.
    fn fold<T>(&self, mut value: impl FnMut(&QueryNode, Option<T>, Option<T>) -> T) -> Option<T> {
        let mut values: Vec<Option<T>> = (0..self.nodes.len()).map(|_| None).collect();
        for (place, node) in self.nodes.iter().enumerate().rev() {
            let (first, second) = match *node {
                QueryNode::Word(_) => (None, None),
                QueryNode::Not(a) => (values[a].take(), None),
                QueryNode::And(a, b) | QueryNode::Or(a, b) | QueryNode::Phrase(a, b) => {
                    (values[a].take(), values[b].take())
                }
            };
            values[place] = Some(value(node, first, second));
        }
        values.into_iter().next().flatten()
    }

    /// Terms of which each text that matches has one at least, as cheap ones as there are by
    /// `cost`; `None` where there are none, as for `!a`.
    pub fn cover(&self, mut cost: impl FnMut(&Term) -> f64) -> Option<Cover> {
        let cover = self.fold(|node, first: Option<Option<Cover>>, second| match node {
            QueryNode::Word(operand) => {
                let term = operand.term();
                let cost = cost(&term);
                Some(Cover { terms: vec![term], cost })
            }
            QueryNode::Not(_) => None,
            QueryNode::Or(..) => first.flatten().zip(second.flatten()).map(|(a, b)| a.and(b)),
            QueryNode::And(..) | QueryNode::Phrase(..) => {
                let covers = [first, second].into_iter().flatten().flatten();
                covers.min_by(|a, b| a.cost.total_cmp(&b.cost))
            }
        });
        // What asks for nothing matches nothing.
        let mut cover = cover.unwrap_or(Some(Cover::default()))?;
        cover.terms.sort_by(|a, b| (&a.bytes, a.prefix).cmp(&(&b.bytes, b.prefix)));
        cover.terms.dedup();
        Some(cover)
    }

    /// Whether each text that matches has one of these terms.
    pub fn implies_any(&self, terms: &[Term]) -> bool {
        let has = |operand: &Operand| {
            terms.iter().any(|term| match operand.is_prefix {
                true => term.prefix && operand.word.starts_with(&term.bytes),
                false => term.matches(&operand.word),
            })
        };
        let implies = self.fold(|node, first: Option<bool>, second| match node {
            QueryNode::Word(operand) => has(operand),
            QueryNode::Not(_) => false,
            QueryNode::Or(..) => first == Some(true) && second == Some(true),
            QueryNode::And(..) | QueryNode::Phrase(..) => {
                first == Some(true) || second == Some(true)
            }
        });
        // What asks for nothing matches nothing.
        implies.unwrap_or(true)
    }

    /// Whether each text that has one of these terms matches.
    pub fn is_met_by_any(&self, terms: &[Term]) -> bool {
        let is_plain = self.nodes.iter().all(|node| match node {
            QueryNode::Word(operand) => !operand.has_labels,
            QueryNode::Or(..) => true,
            _ => false,
        });
        let (prefixes, words): (Vec<Term>, Vec<Term>) =
            self.terms().into_iter().partition(|term| term.prefix);
        let words: HashSet<Vec<u8>> = words.into_iter().map(|term| term.bytes).collect();
        let is_meant = |term: &Term| {
            !term.prefix && words.contains(&term.bytes)
                || prefixes.iter().any(|prefix| term.bytes.starts_with(&prefix.bytes))
        };
        is_plain && terms.iter().all(is_meant)
    }
}

fn node(items: &[u8], texts: &[u8], place: usize, count: usize) -> Result<QueryNode> {
    let at = place * ITEM;
    let item = items.get(at..at + ITEM).ok_or_else(damaged)?;
    let last = number(item, 8).ok_or_else(damaged)?;
    // QI_VAL and QI_OPR
    match item[0] {
        1 => operand(item, texts, last).map(QueryNode::Word),
        2 => {
            let operand = |distance: usize| {
                let at = place.checked_add(distance).filter(|at| *at > place && *at < count);
                at.ok_or_else(damaged)
            };
            let next = operand(1)?;
            // QueryOperator has its `left` in the second word.
            let left = || operand(number(item, 4).unwrap_or(0) as usize);
            // OP_NOT, OP_AND, OP_OR and OP_PHRASE
            match item[1] {
                1 => Ok(QueryNode::Not(next)),
                2 => Ok(QueryNode::And(left()?, next)),
                3 => Ok(QueryNode::Or(left()?, next)),
                4 => Ok(QueryNode::Phrase(left()?, next)),
                _ => Err(damaged()),
            }
        }
        _ => Err(damaged()),
    }
}

/// QueryOperand: type, weight, prefix, check sum, and length and place of the word.
fn operand(item: &[u8], texts: &[u8], last: u32) -> Result<Operand> {
    #[cfg(target_endian = "little")]
    let (length, start) = ((last & 0xFFF) as usize, (last >> 12) as usize);
    #[cfg(target_endian = "big")]
    let (length, start) = ((last >> 20) as usize, (last & 0xF_FFFF) as usize);
    let word = texts.get(start..start + length).ok_or_else(damaged)?.to_vec();
    Ok(Operand { word, is_prefix: item[2] != 0, has_labels: item[1] != 0 })
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

fn damaged() -> Error {
    Error::new(ErrorKind::Internal, "a tsquery does not have the form that PostgreSQL gives it")
}
