//! Questions with answers, and the passages that hold them.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::invocation::data_folder;

/// Which questions of a set are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Half {
    /// Those that no constant is fitted to, and of which no reader has read the article.
    Kept,
    /// All of them.
    Both,
}

/// What the article of a question is for where a reader is trained: as in scripts/reader/prepare.py.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The reader is trained on it.
    Read,
    /// Weights are fitted to it, of what the reader says and other signals.
    Weighed,
    /// Nothing is.
    Kept,
    /// It is of the set that the reader is trained on as a whole: kept where no reader is asked.
    Sample,
}

/// The set that a reader is trained on as a whole.
pub const SAMPLE: &str = "squad_train_sample";

/// The sets that the reader is trained on but for one document in nine, to which weights are fitted.
pub const WHOLE: [&str; 2] = ["handbooks", "manuals"];

/// The sets of which half of the documents are kept, with all questions about them.
pub const HALVED: [&str; 2] = ["forms", "tables"];

/// A passage with its title.
pub struct Source {
    pub title: String,
    pub text: String,
    /// Whether it begins its document.
    pub is_beginning: bool,
}

/// A question, its answers in lower case, and the passages that hold one, by index.
pub struct Judged {
    pub id: String,
    pub text: String,
    pub answers: Vec<String>,
    pub gold: HashSet<usize>,
    /// Whether constants may be fitted to it.
    pub is_fitted: bool,
    /// What its article is for.
    pub purpose: Purpose,
    /// Whether its passage holds the answer; one that does not speaks of the same subject.
    pub is_answerable: bool,
}

/// A judged set.
pub struct Set {
    pub passages: Vec<Source>,
    pub questions: Vec<Judged>,
}

impl Set {
    /// Reads at most `most` questions of a set; `None` where it is not there. The set `xquad/de:en` asks the questions
    /// of `xquad/de` about the passages of `xquad/en`, which has the answers too.
    pub fn read(name: &str, half: Half, most: usize) -> Option<Set> {
        let (asked, folder) = folders(name);
        if !asked.is_dir() || !folder.is_dir() {
            return None;
        }
        let corpus = lines(&folder.join("corpus.jsonl"));
        let index: HashMap<&str, usize> =
            corpus.iter().enumerate().map(|(index, line)| (string(line, "id"), index)).collect();
        let gold = gold(&folder.join("qrels.tsv"), &index);
        let passages: Vec<Source> = corpus.iter().map(Source::read).collect();
        let questions = queries(&folder, &asked)
            .iter()
            .map(|line| {
                let paragraph = line["paragraph"].as_str().map(|it| index[it]);
                let mut question = Judged::read(line, &gold);
                let passage = question.gold.iter().min().copied().or(paragraph);
                let article = passage.map_or("", |it| &passages[it].title);
                question.purpose = Purpose::of(name, article, string(line, "id"));
                if HALVED.contains(&name) {
                    question.is_fitted = question.purpose != Purpose::Kept;
                }
                question
            })
            .filter(|it| half == Half::Both || it.is_kept())
            .take(most)
            .collect();
        Some(Set { passages, questions })
    }
}

impl Source {
    fn read(line: &Value) -> Source {
        let text = string(line, "text").to_string();
        let title = line["title"].as_str().unwrap_or_default().replace('_', " ");
        let is_beginning = line["begins"].as_bool().unwrap_or_default();
        Source { title, text, is_beginning }
    }
}

impl Judged {
    fn read(line: &Value, gold: &HashMap<String, HashSet<usize>>) -> Judged {
        let id = string(line, "id");
        let texts = line["answer"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let placed = line["answers"].as_array().into_iter().flatten();
        let placed = placed.filter_map(|answer| answer["text"].as_str());
        Judged {
            id: id.to_owned(),
            text: string(line, "text").to_string(),
            answers: texts.chain(placed).map(str::to_lowercase).collect(),
            gold: gold.get(id).cloned().unwrap_or_default(),
            is_fitted: Purpose::by(id) != Purpose::Kept,
            purpose: Purpose::Kept,
            is_answerable: line["answerable"].as_bool().unwrap_or(true),
        }
    }

    /// Whether nothing is fitted to it, and no reader has read its article, if that is not of [`SAMPLE`].
    pub fn is_kept(&self) -> bool {
        !self.is_fitted && matches!(self.purpose, Purpose::Kept | Purpose::Sample)
    }
}

impl Purpose {
    fn of(set: &str, article: &str, id: &str) -> Purpose {
        match set {
            SAMPLE => Purpose::Sample,
            _ if WHOLE.contains(&set) => Purpose::of_document(document(article)),
            _ if HALVED.contains(&set) => Purpose::by(document(article)),
            _ if article.is_empty() => Purpose::by(id),
            _ => Purpose::by(article),
        }
    }

    /// Of a set that is read as a whole.
    fn of_document(document: &str) -> Purpose {
        match Purpose::hash(document).is_multiple_of(9) {
            true => Purpose::Weighed,
            false => Purpose::Read,
        }
    }

    /// By two bits of the hash.
    fn by(key: &str) -> Purpose {
        let hash = Purpose::hash(key);
        match (hash & 1, hash >> 1 & 1) {
            (1, _) => Purpose::Kept,
            (_, 0) => Purpose::Read,
            _ => Purpose::Weighed,
        }
    }

    /// 24 bits of FNV-1a. Its lowest bit only counts odd bytes; higher ones depend on their order.
    fn hash(key: &str) -> u64 {
        let hash = key.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        hash >> 40
    }
}

/// The document of a passage: the first of its headings.
fn document(headings: &str) -> &str {
    headings.split(" > ").next().unwrap_or_default()
}

/// The folder that a set has its questions from, and that of all else.
fn folders(name: &str) -> (PathBuf, PathBuf) {
    let data = data_folder();
    match name.split_once(':') {
        Some((asked, searched)) => {
            let asked = data.join(asked);
            let searched = asked.with_file_name(searched);
            (asked, searched)
        }
        None => (data.join(name), data.join(name)),
    }
}

/// The questions in `folder`, in the words that they have in `asked`; those that are not there are left out.
fn queries(folder: &Path, asked: &Path) -> Vec<Value> {
    let mut queries = lines(&folder.join("queries.jsonl"));
    if asked == folder {
        return queries;
    }
    let others = lines(&asked.join("queries.jsonl"));
    let texts: HashMap<&str, &str> =
        others.iter().map(|line| (string(line, "id"), string(line, "text"))).collect();
    queries.retain_mut(|line| {
        let text = texts.get(string(line, "id"));
        if let Some(text) = text {
            line["text"] = Value::from(*text);
        }
        text.is_some()
    });
    queries
}

fn gold(path: &Path, index: &HashMap<&str, usize>) -> HashMap<String, HashSet<usize>> {
    let mut gold: HashMap<String, HashSet<usize>> = HashMap::new();
    for line in fs::read_to_string(path).unwrap().lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        gold.entry(fields[0].to_string()).or_default().insert(index[fields[1]]);
    }
    gold
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn string<'a>(line: &'a Value, key: &str) -> &'a str {
    line[key].as_str().unwrap()
}
