//! Questions as users type them about manuals of programs in seven languages, which `scripts/manuals.sh` gets: no constant was
//! fitted to them.

use std::path::Path;

use pg_rag::embed::EmbeddingKind;
use pg_rag::protocol::Lane;
use serde_json::Value;

use crate::Settings;
use crate::embedder::Remembering;
use crate::outcomes::{Answered, Outcomes, holds, plain};
use crate::pages::{EmbeddedPages, files};
use crate::reliability::{self, JudgedAnswer};

/// One question a line: `manual`, `question`, `answer` in a sentence or null where the manual has none, and `gold`, the parts of
/// the manual of which an answer holds one.
const QUESTIONS: &str = include_str!("manuals.jsonl");

/// Where a manual stands in the folder of all, and the names of its pages: what they end with, and what they don't begin with.
const MANUALS: [(&str, &str, &str, &[&str]); 8] = [
    ("freedombox/en", "usr/share/freedombox/manual/en", ".part.html", &WHOLE),
    ("freedombox/es", "usr/share/freedombox/manual/es", ".part.html", &WHOLE),
    ("debianedu/de", "usr/share/doc/debian-edu-doc-de", "bookworm-manual.html", &[]),
    ("debianedu/it", "usr/share/doc/debian-edu-doc-it", "bookworm-manual.html", &[]),
    ("debmake/en", "usr/share/doc/debmake-doc/html", ".en.html", &[]),
    ("aptitude/fr", "usr/share/doc/aptitude/html/fr", ".html", &[]),
    ("aptitude/ja", "usr/share/doc/aptitude/html/ja", ".html", &[]),
    ("aptitude/ru", "usr/share/doc/aptitude/html/ru", ".html", &[]),
];

/// All pages once more in one, and what is not about using the program.
const WHOLE: [&str; 3] = ["freedombox-manual", "Manual", "ReleaseNotes"];

struct Asked {
    manual: String,
    question: String,
    /// The answer in a sentence, if there is one.
    answer: Option<String>,
    gold: Vec<String>,
}

/// Asks all questions about the manuals in `folder`, prints the answers and then what became of them.
pub fn ask_all(model: &Path, folder: &Path, settings: &Settings, embedder: &mut Remembering) {
    let asked: Vec<Asked> = QUESTIONS.lines().map(Asked::read).collect();
    let is_of_one = |it: &Asked| MANUALS.iter().any(|manual| manual.0 == it.manual);
    assert!(asked.iter().all(is_of_one), "a question is about no manual");
    let (mut all, mut judged) = (Vec::new(), Vec::new());
    for (manual, place, ending, others) in MANUALS {
        let is_page =
            |name: &str| name.ends_with(ending) && !others.iter().any(|it| name.starts_with(it));
        let place = folder.join(place);
        let files = files(&place, is_page);
        assert!(!files.is_empty(), "no pages of the manual in {}", place.display());
        let pages = EmbeddedPages::of(&files, model, embedder);
        let asked: Vec<&Asked> = asked.iter().filter(|it| it.manual == manual).collect();
        asked.iter().for_each(|it| it.assert_is_about(&pages));
        let (outcomes, answers) = ask(&pages, &asked, settings, embedder);
        all.push((manual, pages.passages.len(), outcomes));
        judged.extend(answers);
    }
    println!(
        "\n{:14} {:>6} {:>7} {:>7} {:>7}   not in the manual: {:>8} {:>8}",
        "manual", "chunks", "right", "wrong", "refused", "refused", "answered"
    );
    let whole = all.iter().fold(Outcomes::default(), |sum, it| sum.plus(it.2));
    let chunks = all.iter().map(|it| it.1).sum();
    for (manual, chunks, outcomes) in all.into_iter().chain([("all", chunks, whole)]) {
        let Outcomes { right, wrong, refused, invented, withheld } = outcomes;
        println!(
            "{manual:14} {chunks:6} {right:7} {wrong:7} {refused:7}   {withheld:27} {invented:8}"
        );
    }
    reliability::print("all manuals", &judged);
}

fn ask(
    pages: &EmbeddedPages,
    asked: &[&Asked],
    settings: &Settings,
    embedder: &mut Remembering,
) -> (Outcomes, Vec<JudgedAnswer>) {
    let texts: Vec<String> = asked.iter().map(|it| it.question.clone()).collect();
    embedder.load(&texts, EmbeddingKind::Query, Lane::Bulk);
    let index = pages.index();
    let (mut outcomes, mut judged) = (Outcomes::default(), Vec::new());
    for it in asked {
        let read = pages.found(&index, (&it.question, settings.k), embedder);
        let answered = Answered::of(&it.question, &read, embedder, &settings.extract);
        judged.push(answered.judged(&it.gold));
        let answer = answered.given;
        let outcome = outcomes.add(&it.gold, &answer);
        println!("\n{}: {} — {outcome}, {:.2}", it.manual, it.question, answer.confidence);
        println!("  expected: {}", it.answer.as_deref().unwrap_or("no answer"));
        println!("{}", answer.answer);
    }
    (outcomes, judged)
}

impl Asked {
    /// Fails if the manual says nothing of what an answer is to hold: then it is of another version.
    fn assert_is_about(&self, pages: &EmbeddedPages) {
        let texts: Vec<String> = pages.passages.iter().map(|it| plain(&it.text)).collect();
        for gold in &self.gold {
            let is_there = texts.iter().any(|text| holds(text, gold));
            assert!(is_there, "{} does not say {gold:?}: {}", self.manual, self.question);
        }
    }

    fn read(line: &str) -> Asked {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| line[key].as_str().map(str::to_owned);
        let gold = line["gold"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let (answer, gold) = (text("answer"), gold.map(plain).collect::<Vec<String>>());
        assert_eq!(answer.is_none(), gold.is_empty(), "{line}");
        Asked { manual: text("manual").unwrap(), question: text("question").unwrap(), answer, gold }
    }
}
