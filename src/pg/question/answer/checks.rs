//! What an answer cites, whether that says so, and what is done where it may not.

use serde::Deserialize;
use serde_json::{Value, json};

use super::Answer;
use super::citation_format::{self, Naming};
use super::verifier::{Checked, Verifier};
use crate::answer::citation::{Citation, Citations, CitedSource, citations};
use crate::answer::draft::Draft;
use crate::answer::style::{CitationStyle, Styled, styled};
use crate::context::Reading;
use crate::error::Result;
use crate::extract::NO_ANSWER;
use crate::pg::ragd::llm::Llm;
use crate::verify::{Claim, ContextEvidence, Verdict, faithfulness};

/// The confidence below which an answer of a language model is taken for doubtful, unless the
/// options say otherwise: that it says what its sources say is as likely as not.
const DOUBTFUL: f32 = 0.5;

/// What becomes of a doubtful answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LowConfidence {
    /// The answer is given, with `needs_review`.
    #[default]
    Flag,
    /// The answer is not given.
    Abstain,
}

/// The options of `rag_answer` that say how its answer is checked and shown.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CheckArguments {
    citation_style: CitationStyle,
    link_column: Option<String>,
    link_template: Option<String>,
    source_column: Option<String>,
    verifier: Option<String>,
    verifier_llm: Option<String>,
    low_confidence: LowConfidence,
}

/// How an answer is checked and shown: the options of [`CheckArguments`], checked, with what they name
/// looked up.
pub struct CheckOptions {
    style: CitationStyle,
    naming: Naming,
    verifier: Verifier,
    low_confidence: LowConfidence,
    min_confidence: Option<f32>,
}

impl CheckArguments {
    /// Names of the options.
    pub const OPTIONS: [&'static str; 7] = [
        "citation_style",
        "link_column",
        "link_template",
        "source_column",
        "verifier",
        "verifier_llm",
        "low_confidence",
    ];

    /// Looks up what the options name. `llm` writes, and judges unless another is named.
    pub fn resolve(self, llm: &Llm, min_confidence: Option<f32>) -> Result<CheckOptions> {
        let naming = Naming {
            link_column: self.link_column,
            link_template: self.link_template,
            source_column: self.source_column,
        };
        naming.check(self.citation_style)?;
        let other = self.verifier_llm.as_deref().map(Llm::named).transpose()?;
        let judge = other.as_ref().unwrap_or(llm);
        Ok(CheckOptions {
            style: self.citation_style,
            naming,
            verifier: Verifier::named(self.verifier.as_deref(), judge)?,
            low_confidence: self.low_confidence,
            min_confidence,
        })
    }
}

/// The answer to `question` with its citations looked up and its claims compared with what was
/// read.
///
/// A draft that says exactly what it cites is made of quotes: they are their own evidence, and
/// whether they answer has been decided.
pub fn checked(question: &str, draft: Draft, options: &CheckOptions) -> Result<Answer> {
    let Draft { text, readings, supported, confidence, citations, mut usage } = draft;
    let is_quoted = citations.is_some();
    let found = citations.unwrap_or_else(|| cited(&text, &readings));
    let checked = match (supported, is_quoted) {
        (false, _) => Checked::default(),
        (true, true) => Checked { claims: quotes(&found, &readings), ..Checked::default() },
        (true, false) => options.verifier.check(question, &text, &readings)?,
    };
    let score = (!checked.claims.is_empty()).then(|| faithfulness(&checked.claims) as f32);
    let confidence = match (is_quoted, confidence, score) {
        (true, ..) => confidence,
        (false, Some(own), Some(score)) => Some(own.min(score)),
        (false, own, score) => own.or(score),
    };
    let is_doubtful = supported
        && !is_quoted
        && confidence.is_some_and(|it| it < options.min_confidence.unwrap_or(DOUBTFUL));
    let abstains = is_doubtful && options.low_confidence == LowConfidence::Abstain;
    let (text, found) = match abstains {
        true => (NO_ANSWER.to_owned(), Citations::default()),
        false => (text, found),
    };
    let styled =
        styled(&text, options.style, &citation_format::sources(&found, &readings, options)?);
    note_problems(&checked, &styled, !is_quoted && !abstains, &mut usage);
    Ok(Answer {
        supported: Some(supported && !abstains),
        confidence,
        citations: listed(&found, &styled),
        context: context(&readings, &styled),
        reading_order: (0..readings.len()).map(|source| styled.number(source)).collect(),
        claims: claims(&checked.claims, &readings, &styled),
        text: styled.text,
        usage,
        faithfulness: score,
        needs_review: is_doubtful && !abstains,
    })
}

impl CheckOptions {
    /// How citations are shown.
    pub(super) fn style(&self) -> CitationStyle {
        self.style
    }

    /// The columns and template by which sources are named and linked.
    pub(super) fn naming(&self) -> &Naming {
        &self.naming
    }
}

fn cited(answer: &str, readings: &[Reading]) -> Citations {
    let sources: Vec<CitedSource> = readings
        .iter()
        .map(|Reading { passage, .. }| CitedSource {
            chunk_id: passage.chunk_id,
            source_key: passage.source_key.clone(),
            chunk_no: passage.chunk_no,
            start_char: passage.start_char,
            content: passage.content.clone(),
        })
        .collect();
    citations(answer, &sources, &mut || {
        pgrx::check_for_interrupts!();
    })
}

/// Quotes as claims, which are true by what they are.
fn quotes(found: &Citations, readings: &[Reading]) -> Vec<Claim> {
    let quote = |citation: &Citation| {
        let context = (citation.marker as usize).checked_sub(1)?;
        let start = (citation.start_char - readings.get(context)?.passage.start_char) as usize;
        let length = (citation.end_char - citation.start_char) as usize;
        Some(Claim {
            text: citation.quote.clone(),
            verdict: Verdict::Supported,
            score: 1.0,
            evidence: Some(ContextEvidence { context, chars: start..start + length }),
            cited: vec![context],
        })
    };
    found.citations.iter().filter_map(quote).collect()
}

/// Objects of `citations`: what is cited, then markers that cite nothing.
fn listed(found: &Citations, styled: &Styled) -> Value {
    let resolved = found.citations.iter().map(|citation| {
        let source = (citation.marker as usize).saturating_sub(1);
        let mut value = json!(citation);
        value["marker"] = json!(styled.number(source));
        value
    });
    let unresolved = styled.wrong.iter().map(
        |(marker, position)| json!({"marker": marker, "position": position, "unresolved": true}),
    );
    resolved.chain(unresolved).collect()
}

/// JSON objects of `claims`.
fn claims(claims: &[Claim], readings: &[Reading], styled: &Styled) -> Value {
    let object = |(number, claim): (usize, &Claim)| {
        let mut value = json!({
            "claim_no": number,
            "claim": claim.text,
            "verdict": claim.verdict.to_string(),
            "score": rounded(claim.score),
            "cited": claim.cited.iter().map(|at| styled.number(*at)).collect::<Vec<_>>(),
        });
        if let Some(ContextEvidence { context, chars }) = &claim.evidence
            && let Some(Reading { passage, .. }) = readings.get(*context)
        {
            value["number"] = json!(styled.number(*context));
            value["source_key"] = json!(passage.source_key);
            value["start_char"] = json!(passage.start_char as usize + chars.start);
            value["end_char"] = json!(passage.start_char as usize + chars.end);
        }
        value
    };
    (1..).zip(claims).map(object).collect()
}

/// Four digits, as a score is no more exact than that.
fn rounded(score: f64) -> f64 {
    (score * 1e4).round() / 1e4
}

/// What is wrong with the citations of an answer that `cites` as its writer likes, and with its
/// checking.
fn note_problems(checked: &Checked, styled: &Styled, cites: bool, usage: &mut Value) {
    let wrong = styled.wrong.iter().map(|(marker, position)| {
        json!({"problem": "wrong marker", "marker": marker, "position": position})
    });
    let numbered = (1..).zip(&checked.claims);
    let bare = numbered.filter(|(_, claim)| cites && claim.cited.is_empty() && !claim.asks());
    let bare = bare.map(|(number, _)| json!({"problem": "no citation", "claim_no": number}));
    let unread = checked.unread.then(|| json!({"problem": "unreadable verdicts"}));
    let problems: Vec<Value> = wrong.chain(bare).chain(unread).collect();
    if !problems.is_empty() {
        usage["problems"] = Value::Array(problems);
    }
    if let Some(cost) = &checked.cost {
        usage["verifier"] = cost.clone();
    }
}

/// Objects of `context`, in the order of their numbers.
fn context(readings: &[Reading], styled: &Styled) -> Value {
    let read = styled.order.iter().filter_map(|source| readings.get(*source));
    let numbered = (1..).zip(read).map(|(number, Reading { passage, .. })| {
        let mut value = json!(passage);
        value["number"] = json!(number);
        value
    });
    numbered.collect()
}
