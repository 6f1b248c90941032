//! What an answer cites, whether that says so, and what is done where it may not.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::Answer;
use super::verifier::{Checked, Verifier};
use crate::answer::citation::{Citation, Citations, citations};
use crate::answer::draft::Draft;
use crate::answer::form::{FormedAnswer, ReadValues};
use crate::answer::nearest::nearest_topics;
use crate::answer::options::CiteOptions;
use crate::answer::own_knowledge::{self, ToldApart, told_apart};
use crate::answer::plain::without_fences;
use crate::answer::refusal::refusal;
use crate::answer::shown::shown;
use crate::answer::style::{Styled, styled_json, styled_with_own};
use crate::error::Result;
use crate::extract::AnswerFormat;
use crate::pg::question::options::AskedOptions;
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::llm::Llm;
use crate::request::QuestionOptions;
use crate::source::Source;
use crate::verify::options::LowConfidence;
use crate::verify::{Claim, ContextEvidence, Verdict, faithfulness};

/// The confidence below which an answer of a language model is taken for doubtful, unless the
/// options say otherwise: that it says what its sources say is as likely as not.
const DOUBTFUL: f32 = 0.5;

/// How an answer is checked and shown, with what the options name looked up.
pub struct CheckOptions {
    cite: CiteOptions,
    verifier: Verifier,
    low_confidence: LowConfidence,
    min_confidence: Option<f32>,
    refusal: Option<String>,
    suggests: bool,
    /// Whether the answer has a form, so that a refusal is not written.
    has_form: bool,
    /// What stands behind a sentence of the model's own knowledge, where it may use that.
    own_mark: Option<String>,
}

impl CheckOptions {
    /// Of what is not checked and shows nothing that it cites.
    pub fn none() -> CheckOptions {
        CheckOptions {
            cite: CiteOptions::default(),
            verifier: Verifier::Nobody,
            low_confidence: LowConfidence::Flag,
            min_confidence: None,
            refusal: None,
            suggests: false,
            has_form: false,
            own_mark: None,
        }
    }

    /// Looks up what the options of a question name. `llm` writes, and judges unless another is named.
    pub fn new(
        asked: &AskedOptions,
        llm: &Llm,
        min_confidence: Option<f32>,
    ) -> Result<CheckOptions> {
        let QuestionOptions { answer, verify, cite, .. } = &asked.options;
        let other = verify.llm.as_deref().map(Llm::named).transpose();
        let other = asked.named(&["verify.llm"], other)?;
        let verifier = Verifier::named(verify.by.as_deref(), other.as_ref().unwrap_or(llm));
        Ok(CheckOptions {
            cite: cite.clone(),
            verifier: asked.named(&["verify.by"], verifier)?,
            low_confidence: verify.low_confidence,
            min_confidence,
            refusal: answer.refusal.clone(),
            suggests: answer.suggest,
            has_form: answer.schema.is_some(),
            own_mark: answer.own_knowledge.then(|| own_mark(cite)),
        })
    }

    /// What markup an extractive answer has.
    pub fn format(&self) -> AnswerFormat {
        self.cite.format
    }

    /// That the documents don't say, and what they have instead where that is wanted.
    fn refusal(&self, question: &str, sources: &[&Source]) -> String {
        let refusal = refusal(question, self.refusal.as_deref());
        let column = self.cite.source_column.as_deref();
        let nearest = || nearest_topics(question, sources, column);
        match self.suggests.then(nearest).flatten() {
            Some(nearest) => format!("{refusal} {nearest}"),
            None => refusal,
        }
    }
}

/// The answer to `question` with its citations looked up and its claims compared with what was
/// read; or that there is none.
///
/// A draft that says exactly what it cites is made of quotes: they are their own evidence, and
/// whether they answer has been decided.
pub fn checked(
    question: &str,
    draft: Draft,
    options: &CheckOptions,
    context: &CallContext,
) -> Result<Answer> {
    let Draft { text, formed, readings, supported, confidence, citations, mut usage } = draft;
    let is_quoted = citations.is_some();
    let told = options.own_mark.as_ref().filter(|_| supported && !is_quoted);
    let told = told.map(|_| apart(&text, readings.len())).unwrap_or_default();
    let (text, sourced) = match told.own.is_empty() {
        true => (text, None),
        false => (told.text, Some(told.sourced)),
    };
    let sources: Vec<&Source> = readings.iter().map(|reading| &reading.source).collect();
    let found = citations.unwrap_or_else(|| cited(&text, &sources));
    let checked = match (supported, is_quoted) {
        (false, _) => Checked::default(),
        (true, true) => Checked { claims: quotes(&found, &sources), ..Checked::default() },
        (true, false) => {
            let text = sourced.as_deref().unwrap_or(&text);
            let said = claimed(text, formed.as_ref(), &options.verifier);
            options.verifier.check(question, &said, &readings, context)?
        }
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
    // A language model says itself that it does not know.
    let stands_on_nothing = found.citations.is_empty() && !told.own.is_empty();
    let (text, found) = match abstains || is_quoted && !supported {
        true => (options.refusal(question, &sources), Citations::default()),
        false => (text, found),
    };
    let (style, shown) = (options.cite.style, shown(&found, &sources, &options.cite)?);
    let mut styled = match formed.filter(|_| !abstains) {
        Some(formed) => styled_json(&formed, style, &shown),
        None => styled_with_own(&text, style, &shown, options.own_mark.as_deref()),
    };
    if is_quoted && options.format() == AnswerFormat::Plain {
        styled.text = without_fences(&styled.text);
    }
    note_problems(&checked, &styled, !is_quoted && !abstains, &mut usage);
    Ok(Answer {
        supported: Some(supported && !abstains && !stands_on_nothing),
        confidence,
        citations: listed(&found, &styled),
        context: listed_sources(&sources, &styled),
        reading_order: (0..sources.len()).map(|source| styled.number(source)).collect(),
        claims: claims(&checked.claims, &told.own, &sources, &styled),
        text: (!options.has_form || supported && !abstains).then_some(styled.text),
        usage,
        faithfulness: score,
        needs_review: is_doubtful && !abstains,
        has_form: options.has_form,
    })
}

/// What stands behind a sentence of the model's own knowledge.
fn own_mark(cite: &CiteOptions) -> String {
    cite.own_mark.as_deref().unwrap_or(own_knowledge::SHOWN).to_owned()
}

fn apart(text: &str, sources: usize) -> ToldApart {
    told_apart(text, sources, &mut || {
        pgrx::check_for_interrupts!();
    })
}

/// What of an answer is compared with its sources.
fn claimed<'a>(text: &'a str, formed: Option<&FormedAnswer>, verifier: &Verifier) -> Cow<'a, str> {
    match (formed, verifier) {
        (Some(formed), Verifier::Words) => Cow::Owned(formed.text(ReadValues::Words)),
        _ => Cow::Borrowed(text),
    }
}

fn cited(answer: &str, sources: &[&Source]) -> Citations {
    citations(answer, sources, &mut || {
        pgrx::check_for_interrupts!();
    })
}

/// Quotes as claims, which are true by what they are.
fn quotes(found: &Citations, sources: &[&Source]) -> Vec<Claim> {
    let quote = |citation: &Citation| {
        let context = (citation.marker as usize).checked_sub(1)?;
        let chars = sources.get(context)?.characters(&citation.place)?;
        Some(Claim {
            text: citation.quote.clone(),
            verdict: Verdict::Supported,
            score: 1.0,
            evidence: Some(ContextEvidence { context, chars }),
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

/// JSON objects of `claims`, and of sentences of the model's own behind them.
fn claims(claims: &[Claim], own: &[String], sources: &[&Source], styled: &Styled) -> Value {
    let object = |(number, claim): (usize, &Claim)| {
        let mut value = json!({
            "claim_no": number,
            "claim": claim.text,
            "verdict": claim.verdict.to_string(),
            "score": rounded(claim.score),
            "cited": claim.cited.iter().map(|at| styled.number(*at)).collect::<Vec<_>>(),
        });
        if let Some(evidence) = &claim.evidence {
            value["number"] = json!(styled.number(evidence.context));
            add(place_of(evidence, sources), &mut value);
        }
        value
    };
    let own = (claims.len() + 1..).zip(own).map(|(number, text)| {
        json!({"claim_no": number, "claim": text, "verdict": "parametric", "cited": []})
    });
    (1..).zip(claims).map(object).chain(own).collect()
}

/// Where the evidence stands, as a JSON object.
fn place_of(evidence: &ContextEvidence, sources: &[&Source]) -> Option<Value> {
    let source = sources.get(evidence.context)?;
    Some(source.place(evidence.chars.clone())?.in_row())
}

/// Adds the members of one JSON object to another.
fn add(members: Option<Value>, to: &mut Value) {
    if let (Some(Value::Object(members)), Value::Object(all)) = (members, to) {
        all.extend(members);
    }
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
fn listed_sources(sources: &[&Source], styled: &Styled) -> Value {
    let read = styled.order.iter().filter_map(|source| sources.get(*source));
    let numbered = (1..).zip(read).map(|(number, source)| {
        let mut value = json!(source);
        value["number"] = json!(number);
        value
    });
    numbered.collect()
}
