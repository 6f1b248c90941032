//! Reads grammars of llama.cpp, says whether they accept a text, and writes texts that they accept.

use std::collections::{BTreeSet, HashMap};
use std::iter::Peekable;
use std::str::Chars;

/// A part of a rule.
#[derive(Clone, Debug)]
enum Part {
    Text(Vec<char>),
    Class(bool, Vec<(char, char)>),
    Rule(String),
    Sequence(Vec<Part>),
    Choice(Vec<Part>),
    Repeat(Box<Part>, usize, usize),
}

/// A grammar.
pub struct Twin {
    rules: HashMap<String, Part>,
    /// Fewest rules within each other until a text is complete, by rule.
    heights: HashMap<String, usize>,
}

/// Ends of what a rule accepts, by rule and beginning.
type Known = HashMap<(String, usize), BTreeSet<usize>>;

impl Twin {
    pub fn new(grammar: &str) -> Twin {
        let rule = |line: &str| {
            let (name, body) = line.split_once(" ::= ").expect("a rule");
            let mut rest = body.chars().peekable();
            let part = choice(&mut rest);
            assert_eq!(rest.next(), None, "{line}");
            (name.to_owned(), part)
        };
        let lines: Vec<&str> = grammar.lines().collect();
        let rules: HashMap<String, Part> = lines.iter().map(|line| rule(line)).collect();
        assert_eq!(rules.len(), lines.len(), "a rule is there twice");
        let mut twin = Twin { rules, heights: HashMap::new() };
        while twin.measure() {}
        twin
    }

    fn measure(&mut self) -> bool {
        let height = |(name, part): (&String, &Part)| Some((name.clone(), self.height(part)? + 1));
        let heights: HashMap<String, usize> = self.rules.iter().filter_map(height).collect();
        let grew = heights != self.heights;
        self.heights = heights;
        grew
    }

    fn height(&self, part: &Part) -> Option<usize> {
        match part {
            Part::Text(_) | Part::Class(..) | Part::Repeat(_, 0, _) => Some(0),
            Part::Rule(name) => {
                assert!(self.rules.contains_key(name), "no rule {name}");
                self.heights.get(name).copied()
            }
            Part::Sequence(parts) => {
                parts.iter().try_fold(0, |most, part| Some(self.height(part)?.max(most)))
            }
            Part::Choice(parts) => parts.iter().filter_map(|part| self.height(part)).min(),
            Part::Repeat(part, ..) => self.height(part),
        }
    }

    /// Whether the whole of `text` is accepted.
    pub fn accepts(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let root = Part::Rule("root".into());
        self.ends(&root, &text, 0, &mut HashMap::new()).contains(&text.len())
    }

    fn ends(&self, part: &Part, text: &[char], at: usize, known: &mut Known) -> BTreeSet<usize> {
        match part {
            Part::Text(wanted) => {
                text[at..].starts_with(wanted).then_some(at + wanted.len()).into_iter().collect()
            }
            Part::Class(is_negated, ranges) => {
                let fits = |c: &char| is_of(*c, *is_negated, ranges);
                text.get(at).filter(|c| fits(c)).map(|_| at + 1).into_iter().collect()
            }
            Part::Rule(name) => {
                let key = (name.clone(), at);
                if let Some(ends) = known.get(&key) {
                    return ends.clone();
                }
                let ends = self.ends(&self.rules[name], text, at, known);
                known.insert(key, ends.clone());
                ends
            }
            Part::Sequence(parts) => parts.iter().fold(BTreeSet::from([at]), |starts, part| {
                starts.iter().flat_map(|start| self.ends(part, text, *start, known)).collect()
            }),
            Part::Choice(parts) => {
                parts.iter().flat_map(|part| self.ends(part, text, at, known)).collect()
            }
            Part::Repeat(part, least, most) => {
                let mut all = BTreeSet::new();
                let mut starts = BTreeSet::from([at]);
                for times in 0..=*most {
                    if times >= *least {
                        let before = all.len();
                        all.extend(&starts);
                        if all.len() == before {
                            break;
                        }
                    }
                    let next = |start: &usize| self.ends(part, text, *start, known);
                    starts = starts.iter().flat_map(next).collect();
                }
                all
            }
        }
    }

    /// A text that is accepted, as `random` chooses.
    pub fn write(&self, random: &mut Random) -> String {
        let mut text = String::new();
        self.derive(&Part::Rule("root".into()), random, 0, &mut text);
        text
    }

    fn derive(&self, part: &Part, random: &mut Random, depth: usize, text: &mut String) {
        match part {
            Part::Text(wanted) => text.extend(wanted),
            Part::Class(is_negated, ranges) => {
                let samples: Vec<char> = match is_negated {
                    true => "aZ0 ,:{}[]\u{e9}\u{4e2d}\u{1f600}_-n".chars().collect(),
                    false => ranges.iter().flat_map(|(from, to)| [*from, *to]).collect(),
                };
                let fitting = samples.into_iter().filter(|c| is_of(*c, *is_negated, ranges));
                let fitting: Vec<char> = fitting.collect();
                text.push(fitting[random.below(fitting.len())]);
            }
            Part::Rule(name) => self.derive(&self.rules[name], random, depth + 1, text),
            Part::Sequence(parts) => {
                parts.iter().for_each(|part| self.derive(part, random, depth, text));
            }
            Part::Choice(parts) => {
                let flattest = parts.iter().min_by_key(|it| self.height(it).unwrap_or(usize::MAX));
                let part = match depth > 20 {
                    true => flattest.expect("a choice"),
                    false => &parts[random.below(parts.len())],
                };
                self.derive(part, random, depth, text);
            }
            Part::Repeat(part, least, most) => {
                let most = if depth > 20 { *least } else { *most };
                let times = least + random.below((most - least).min(3) + 1);
                (0..times).for_each(|_| self.derive(part, random, depth, text));
            }
        }
    }
}

fn is_of(c: char, is_negated: bool, ranges: &[(char, char)]) -> bool {
    ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != is_negated
}

/// Numbers that follow from a seed.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

type Rest<'a> = Peekable<Chars<'a>>;

fn blanks(rest: &mut Rest<'_>) {
    while rest.next_if_eq(&' ').is_some() {}
}

fn choice(rest: &mut Rest<'_>) -> Part {
    let mut parts = vec![sequence(rest)];
    while rest.next_if_eq(&'|').is_some() {
        blanks(rest);
        parts.push(sequence(rest));
    }
    Part::Choice(parts)
}

fn sequence(rest: &mut Rest<'_>) -> Part {
    let mut parts = Vec::new();
    while let Some(c) = rest.peek().copied().filter(|c| !"|)".contains(*c)) {
        let part = match c {
            '"' => literal(rest),
            '[' => class(rest),
            '(' => {
                rest.next();
                blanks(rest);
                let inner = choice(rest);
                assert_eq!(rest.next(), Some(')'));
                inner
            }
            c => {
                assert!(c.is_ascii_alphanumeric(), "{c}");
                let mut name = String::new();
                while let Some(c) = rest.next_if(|c| c.is_ascii_alphanumeric() || *c == '-') {
                    name.push(c);
                }
                Part::Rule(name)
            }
        };
        parts.push(repeated(part, rest));
        blanks(rest);
    }
    Part::Sequence(parts)
}

fn repeated(part: Part, rest: &mut Rest<'_>) -> Part {
    let (least, most) = match rest.peek() {
        Some('*') => (0, usize::MAX - 1),
        Some('+') => (1, usize::MAX - 1),
        Some('?') => (0, 1),
        Some('{') => {
            rest.next();
            let mut inner = String::new();
            while let Some(c) = rest.next_if(|c| *c != '}') {
                inner.push(c);
            }
            let (least, most) = inner.split_once(',').expect("two bounds");
            (least.parse().unwrap(), most.parse().unwrap_or(usize::MAX - 1))
        }
        _ => return part,
    };
    rest.next();
    assert!(least <= 2000 && (most <= 2000 || most == usize::MAX - 1), "llama.cpp takes no more");
    Part::Repeat(Box::new(part), least, most)
}

fn literal(rest: &mut Rest<'_>) -> Part {
    rest.next();
    let mut text = Vec::new();
    while rest.peek() != Some(&'"') {
        text.push(character(rest));
    }
    rest.next();
    Part::Text(text)
}

fn class(rest: &mut Rest<'_>) -> Part {
    rest.next();
    let is_negated = rest.next_if_eq(&'^').is_some();
    let mut ranges = Vec::new();
    while rest.peek() != Some(&']') {
        let from = character(rest);
        let mut ahead = rest.clone();
        let is_range = ahead.next() == Some('-') && ahead.next() != Some(']');
        let to = if is_range {
            rest.next();
            character(rest)
        } else {
            from
        };
        ranges.push((from, to));
    }
    rest.next();
    Part::Class(is_negated, ranges)
}

fn character(rest: &mut Rest<'_>) -> char {
    let c = rest.next().expect("a character");
    if c != '\\' {
        return c;
    }
    let digits = match rest.next().expect("an escape") {
        'n' => return '\n',
        'r' => return '\r',
        't' => return '\t',
        c @ ('\\' | '"' | '[' | ']') => return c,
        'x' => 2,
        'u' => 4,
        'U' => 8,
        c => panic!("no escape: {c}"),
    };
    let code: String = rest.by_ref().take(digits).collect();
    char::from_u32(u32::from_str_radix(&code, 16).unwrap()).unwrap()
}
