//! Questions about a manual, which is technical Markdown with tables and code: the project's own, or any folder of pages.

use std::fs;
use std::path::{Path, PathBuf};

use pg_rag::embed::EmbeddingKind;
use pg_rag::extract::{Extract, ExtractPassage, extract, observe};
use pg_rag::protocol::Lane;

use crate::Settings;
use crate::embedder::Remembering;
use crate::pages::{EmbeddedPages, files};

/// A question, and the parts that a right answer holds, in several wordings each; without parts nobody has judged it.
struct Asked<'a> {
    text: &'a str,
    parts: Vec<Vec<&'a str>>,
}

/// How many answers were right, wrong and refused, and their length.
#[derive(Default)]
struct Outcomes {
    right: usize,
    wrong: usize,
    unjudged: usize,
    refused: usize,
    sentences: usize,
    characters: usize,
}

/// Which pages are asked, and what.
pub struct Manual {
    /// The folder of the pages, files of Markdown or HTML, in folders too.
    pub pages: PathBuf,
    /// The file with the questions.
    pub questions: PathBuf,
    /// How many pieces of each question are printed with their scores.
    pub pieces: usize,
}

impl Manual {
    /// The project's own.
    pub fn own() -> Manual {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        Manual {
            pages: root.join("docs"),
            questions: root.join("benches/answer/manual.txt"),
            pieces: 0,
        }
    }
}

/// Asks all questions of `manual`, and prints the answers and what is right of them.
pub fn ask_all(model: &Path, manual: &Manual, settings: &Settings, embedder: &mut Remembering) {
    let questions = fs::read_to_string(&manual.questions).unwrap();
    let files = files(&manual.pages, |name| name.ends_with(".md") || name.ends_with(".html"));
    let pages = EmbeddedPages::of(&files, model, embedder);
    let index = pages.index();
    let lines = questions.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let questions: Vec<Asked> = lines.map(Asked::read).collect();
    let texts: Vec<String> = questions.iter().map(|it| it.text.to_owned()).collect();
    embedder.load(&texts, EmbeddingKind::Query, Lane::Bulk);
    let mut halves = [Outcomes::default(), Outcomes::default()];
    for (at, asked) in questions.iter().enumerate() {
        let read = pages.found(&index, (asked.text, settings.k), embedder);
        let answer = extract(asked.text, &read, embedder, &settings.extract).unwrap();
        let outcome = halves[at % 2].add(asked, &answer);
        println!(
            "\n{} {} — {outcome}, {:.2}",
            if at % 2 == 0 { "fit " } else { "kept" },
            asked.text,
            answer.confidence
        );
        println!("{}", answer.answer);
        print_pieces(asked.text, &read, embedder, (settings, manual.pieces));
    }
    for (name, outcomes) in ["to fit", "kept"].into_iter().zip(halves) {
        outcomes.print(name);
    }
}

/// Prints the best pieces of what was read, as many as are wanted, with their scores.
fn print_pieces(
    question: &str,
    read: &[ExtractPassage],
    embedder: &mut Remembering,
    (settings, wanted): (&Settings, usize),
) {
    if wanted == 0 {
        return;
    }
    let Some(observed) = observe(question, read, embedder, &settings.extract).unwrap() else {
        return;
    };
    let mut pieces = observed.pieces;
    pieces.sort_by(|a, b| b.evidence.score.total_cmp(&a.evidence.score));
    for piece in pieces.iter().take(wanted) {
        let evidence = &piece.evidence;
        let content = read[evidence.passage].content;
        let text = &content[evidence.bytes.clone()];
        let shown: String = text.chars().take(100).collect();
        let of_reader = piece.reader_score.map(|it| [it[11], it[12], it[13]]);
        println!("    {:6.2} [{}] {of_reader:.1?} {shown:?}", evidence.score, evidence.passage + 1);
    }
}

impl<'a> Asked<'a> {
    fn read(line: &'a str) -> Asked<'a> {
        let (text, parts) = line.split_once('|').unwrap_or((line, ""));
        let parts = parts.split(';').filter(|it| !it.trim().is_empty());
        let parts = parts.map(|part| part.trim().split('/').collect());
        Asked { text: text.trim(), parts: parts.collect() }
    }
}

impl Outcomes {
    fn add(&mut self, asked: &Asked, answer: &Extract) -> &'static str {
        if !answer.supported {
            self.refused += 1;
            return "refused";
        }
        self.sentences += answer.evidence.len();
        self.characters += answer.answer.chars().count();
        if asked.parts.is_empty() {
            self.unjudged += 1;
            return "answered";
        }
        let is_held = |part: &Vec<&str>| part.iter().any(|wording| answer.answer.contains(wording));
        if asked.parts.iter().all(is_held) {
            self.right += 1;
            return "right";
        }
        self.wrong += 1;
        "wrong"
    }

    fn print(&self, name: &str) {
        let answered = (self.right + self.wrong + self.unjudged).max(1) as f64;
        println!(
            "\n  {name:8} right {:3}  wrong {:3}  refused {:3}   {:.2} pieces and {:.0} characters on average",
            self.right,
            self.wrong,
            self.refused,
            self.sentences as f64 / answered,
            self.characters as f64 / answered,
        );
    }
}
