//! What to measure.

use std::path::PathBuf;

use lexopt::prelude::*;
use serde_json::json;

use crate::sets;

/// What is compared where nothing else is asked for.
const CONFIGURATIONS: &str = r#"{"hybrid": {}, "without closeness": {"retrieve": {"closeness": false}},
    "feedback": {"retrieve": {"rewrite": "prf"}}, "reranked": {"retrieve": {"rerank": "late_interaction"}},
    "dense": {"retrieve": {"mode": "dense"}}, "lexical": {"retrieve": {"mode": "lexical"}}}"#;

/// What is compared over a graph: the walk, and how much of it and from how many chunks.
const OVER_GRAPH: &str = r#"{"hybrid": {"retrieve": {"graph": "off"}}, "graph": {},
    "graph, half": {"retrieve": {"graph": {"weight": 0.5}}}, "graph, ten chunks": {"retrieve": {"graph": {"chunks": 10}}}}"#;

/// The command line.
///
/// ```text
/// --configurations JSON  what is compared, as rag_eval takes it
/// --rerank NAME          hybrid retrieval is compared with what this reranker makes of it; may be repeated
/// --split NAME           the questions of queries_NAME.jsonl and qrels_NAME.tsv
/// --chunking JSON        how documents are cut, as rag_create_pipeline takes it
/// --contextual           with the title of a document as the context of its chunks
/// --graph                with a graph; unless --configurations says otherwise, searches with and without a walk
/// --themes               how much of a chapter, or of several documents, is read for a question for all of it, in several ways
/// --fit                  weights of vectors and of closeness are chosen by half of the questions, and compared on the other half
/// --out FILE             --fit writes them into this calibration file of the model, which need not exist
/// --questions N          so many of the questions, chosen at random but always the same; of themes the first so many of each part
/// ```
pub struct Settings {
    pub sets: Vec<String>,
    pub configurations: String,
    pub split: Option<String>,
    pub questions: Option<usize>,
    /// How documents are cut; `None`: as by default.
    pub chunking: Option<String>,
    /// Whether the title stands before each chunk, and not before the document.
    pub is_contextual: bool,
    /// Whether the pipeline keeps what its chunks name.
    pub has_graph: bool,
    /// Whether questions for the whole of a chapter are asked.
    pub has_themes: bool,
    /// Whether weights are fitted to the model.
    pub fits: bool,
    /// The calibration file that they are written into.
    pub out: Option<PathBuf>,
}

impl Settings {
    pub fn parse() -> Result<Settings, lexopt::Error> {
        let mut settings = Settings {
            sets: Vec::new(),
            configurations: String::new(),
            split: None,
            questions: None,
            chunking: None,
            is_contextual: false,
            has_graph: false,
            has_themes: false,
            fits: false,
            out: None,
        };
        let (mut configurations, mut rerankers) = (None, Vec::new());
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                // Cargo's own word to a benchmark.
                Long("bench") => {}
                Long("configurations") => configurations = Some(parser.value()?.string()?),
                Long("rerank") => rerankers.push(parser.value()?.string()?),
                Long("split") => settings.split = Some(parser.value()?.string()?),
                Long("chunking") => settings.chunking = Some(parser.value()?.string()?),
                Long("contextual") => settings.is_contextual = true,
                Long("graph") => settings.has_graph = true,
                Long("themes") => settings.has_themes = true,
                Long("fit") => settings.fits = true,
                Long("out") => settings.out = Some(parser.value()?.into()),
                Long("questions") => settings.questions = Some(parser.value()?.parse()?),
                Value(name) if name == "all" => {
                    settings.sets.extend(sets::NAMES.map(str::to_owned));
                }
                Value(name) if sets::NAMES.contains(&&*name.to_string_lossy()) => {
                    settings.sets.push(name.string()?);
                }
                other => return Err(other.unexpected()),
            }
        }
        settings.configurations = match configurations {
            _ if !rerankers.is_empty() => reranked(&rerankers),
            Some(given) => given,
            None if settings.has_graph => OVER_GRAPH.to_owned(),
            None => CONFIGURATIONS.to_owned(),
        };
        if settings.sets.is_empty() && !settings.has_themes {
            settings.sets.push(sets::NAMES[0].to_owned());
        }
        match settings.out.is_some() && !settings.fits {
            true => Err("--out is for --fit".into()),
            false => Ok(settings),
        }
    }
}

/// Hybrid retrieval, and beside it what each of these rerankers makes of its first 20 chunks.
fn reranked(rerankers: &[String]) -> String {
    let configuration = |name: &String| {
        let options = json!({"retrieve": {"rerank": name, "rerank_candidates": 20}});
        format!("{}: {options}", json!(name))
    };
    let first = r#""hybrid": {}"#.to_owned();
    // The first is what the others are compared with, so the order of members counts.
    let all: Vec<String> = [first].into_iter().chain(rerankers.iter().map(configuration)).collect();
    format!("{{{}}}", all.join(", "))
}
