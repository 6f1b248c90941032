//! The Python program that does the same by hand.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::Result;

/// How the words of a question are looked up.
#[derive(Clone, Copy)]
pub enum Words {
    /// A chunk needs one of them, as in `rag_retrieve`.
    Or,
    /// It needs them all, as `plainto_tsquery` has it: cheaper, and mostly nothing is found.
    And,
}

/// What one question took, in milliseconds, and found.
pub struct Answer {
    pub embed: f64,
    pub total: f64,
    pub ids: Vec<i64>,
}

/// The program, with its model loaded and its session open.
pub struct ByHand {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl ByHand {
    /// Starts it. `PG_RAG_LATENCY_PYTHON` names the Python.
    pub fn start(socket: &str) -> Result<ByHand> {
        let variable = |name: &str| std::env::var(name).map_err(|_| format!("{name} is not set"));
        let (python, cache) = (variable("PG_RAG_LATENCY_PYTHON")?, variable("PG_RAG_CACHE")?);
        let model = format!("{cache}/models/all-minilm-l6-v2");
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/latency/by_hand.py");
        let mut child = Command::new(python)
            .arg(program)
            .args([socket, &model, "onnx/model_int8.onnx"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let questions = child.stdin.take().ok_or("no pipe to Python")?;
        let answers = BufReader::new(child.stdout.take().ok_or("no pipe from Python")?);
        Ok(ByHand { child, questions, answers })
    }

    /// Asks it.
    pub fn ask(&mut self, question: &str, words: Words) -> Result<Answer> {
        let words = match words {
            Words::Or => "or",
            Words::And => "and",
        };
        writeln!(self.questions, "{}", json!({"question": question, "words": words}))?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let answer: Value = serde_json::from_str(&line)?;
        let number = |name: &str| answer[name].as_f64().ok_or_else(|| format!("no {name}"));
        let ids = answer["ids"].as_array().into_iter().flatten();
        Ok(Answer {
            embed: number("embed")?,
            total: number("total")?,
            ids: ids.filter_map(Value::as_i64).collect(),
        })
    }
}

/// Ends it.
impl Drop for ByHand {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
