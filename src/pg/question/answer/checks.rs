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
use crate::answer::refusal::{RefusalTexts, refusal};
use crate::answer::shown::shown;
use crate::answer::style::{CitationStyle, Shown, Styled, styled_json, styled_with_own};
use crate::error::Result;
use crate::extract::AnswerFormat;
use crate::pg::question::options::AskedOptions;
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::llm::Llm;
use crate::request::QuestionOptions;
use crate::source::Source;
use crate::verify::options::{LowConfidence, UnsupportedClaims, VerifyOptions};
use crate::verify::removal::{SupportedPart, supported_part};
use crate::verify::{Claim, ContextEvidence, Verdict, faithfulness};

/// The confidence below which an answer of a language model is taken for doubtful, unless the
/// options say otherwise: that it says what its sources say is as likely as not.
const DOUBTFUL: f32 = 0.5;

/// When an answer of a language model is passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassedOn {
    /// While it is written: nothing of it is kept back.
    Written,
    /// A sentence at a time, as far as the sources support it.
    Supported,
    /// When it is complete and checked.
    Checked,
}

/// How an answer is checked and shown, with what the options name looked up.
pub struct CheckOptions {
    /// Where the options come from, for errors; `None`: from nowhere.
    asked: Option<AskedOptions>,
    cite: CiteOptions,
    verifier: Verifier,
    unsupported: UnsupportedClaims,
    low_confidence: LowConfidence,
    min_confidence: Option<f32>,
    refusal: Option<RefusalTexts>,
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
            asked: None,
            cite: CiteOptions::default(),
            verifier: Verifier::Nobody,
            unsupported: UnsupportedClaims::Keep,
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
        let other = other.map(|it| it.withholding(&asked.withheld));
        let verifier = Verifier::named(verify.by.as_deref(), other.as_ref().unwrap_or(llm));
        let usual = match llm.is_local() {
            true => VerifyOptions::LOCAL_DEFAULTS,
            false => Default::default(),
        };
        Ok(CheckOptions {
            asked: Some(asked.clone()),
            cite: cite.clone(),
            verifier: asked.named(&["verify.by"], verifier)?,
            unsupported: verify.unsupported.unwrap_or(usual.0),
            low_confidence: verify.low_confidence.unwrap_or(usual.1),
            min_confidence,
            refusal: answer.refusal.clone(),
            suggests: answer.suggest,
            has_form: answer.schema.is_some(),
            own_mark: answer.own_knowledge.then(|| own_mark(cite)),
        })
    }

    /// When an answer of a language model can be passed on. What is compared by words is compared sentence by sentence, and
    /// where claims are removed the confidence is above one half, if there is an answer.
    pub fn passed_on(&self) -> PassedOn {
        let removes = self.unsupported == UnsupportedClaims::Remove;
        let is_sure = self.min_confidence.is_none_or(|it| it <= DOUBTFUL);
        match (removes || self.low_confidence == LowConfidence::Extractive, &self.verifier) {
            (false, _) | (_, Verifier::Nobody) => PassedOn::Written,
            (true, Verifier::Words) if removes && is_sure => PassedOn::Supported,
            (true, _) => PassedOn::Checked,
        }
    }

    /// Whether the built-in answerer answers in the place of an answer that is kept back.
    pub fn has_substitute(&self) -> bool {
        self.low_confidence == LowConfidence::Extractive && !self.has_form
    }

    /// What a reader is told of each source; an error says so where it is of the defaults of the pipeline.
    fn shown(&self, found: &Citations, sources: &[&Source]) -> Result<Vec<Shown>> {
        let shown = shown(found, sources, &self.cite);
        let options: &[&str] = match self.cite.style {
            CitationStyle::Link => &["cite.link_template", "cite.link_column"],
            _ => &["cite.source_column"],
        };
        match &self.asked {
            Some(asked) => asked.named(options, shown),
            None => shown,
        }
    }

    /// What markup an extractive answer has.
    pub fn format(&self) -> AnswerFormat {
        self.cite.format
    }

    /// That the documents don't say, and what they have instead where that is wanted.
    fn refusal(&self, question: &str, sources: &[&Source]) -> String {
        let nearest = sources.first().copied();
        let refusal = refusal(question, nearest, self.refusal.as_ref());
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
    let checked = match (supported, &citations) {
        (false, _) => Checked::default(),
        (true, Some(quoted)) => Checked { claims: quotes(quoted, &sources), ..Checked::default() },
        (true, None) => {
            let text = sourced.as_deref().unwrap_or(&text);
            let said = claimed(text, formed.as_ref(), &options.verifier);
            options.verifier.check(question, &said, &readings, context)?
        }
    };
    let is_one_text = formed.is_none() && sourced.is_none() && !is_quoted;
    let part = (is_one_text && options.unsupported == UnsupportedClaims::Remove)
        .then(|| supported_part(&text, &checked.claims));
    let SupportedPart { text, removed } = part.flatten().unwrap_or(SupportedPart::all(text));
    let is_empty = !removed.is_empty() && text.is_empty();
    let score = faithfulness_of(&checked.claims, if is_empty { &[] } else { &removed });
    let confidence = match (is_quoted, confidence, score) {
        (true, ..) => confidence,
        (false, Some(own), Some(score)) => Some(own.min(score)),
        (false, own, score) => own.or(score),
    };
    let is_unsure = confidence.is_some_and(|it| it < options.min_confidence.unwrap_or(DOUBTFUL));
    let is_doubtful = supported && !is_quoted && is_unsure;
    let abstains = is_doubtful && options.low_confidence != LowConfidence::Flag || is_empty;
    let found = citations.unwrap_or_else(|| cited(&text, &sources));
    // A language model says itself that it does not know.
    let stands_on_nothing = found.citations.is_empty() && !told.own.is_empty();
    let (text, found) = match abstains || is_quoted && !supported {
        true => (options.refusal(question, &sources), Citations::default()),
        false => (text, found),
    };
    let (style, shown) = (options.cite.style, options.shown(&found, &sources)?);
    let mut styled = match formed.filter(|_| !abstains) {
        Some(formed) => styled_json(&formed, style, &shown),
        None => styled_with_own(&text, style, &shown, options.own_mark.as_deref()),
    };
    if is_quoted && options.format() == AnswerFormat::Plain {
        styled.text = without_fences(&styled.text);
    }
    note_problems(&checked, &removed, &styled, !is_quoted && !abstains, &mut usage);
    Ok(Answer {
        supported: Some(supported && !abstains && !stands_on_nothing),
        confidence,
        citations: listed(&found, &styled),
        context: listed_sources(&sources, &styled),
        reading_order: (0..sources.len()).map(|source| styled.number(source)).collect(),
        claims: claims(&checked.claims, &removed, &told.own, &sources, &styled),
        text: (!options.has_form || supported && !abstains).then_some(styled.text),
        usage,
        faithfulness: score,
        needs_review: is_doubtful && !abstains,
        is_kept_back: abstains,
        has_form: options.has_form,
    })
}

/// How well the sources say what is said, without the claims that are removed; `None` where nothing is compared.
fn faithfulness_of(claims: &[Claim], removed: &[bool]) -> Option<f32> {
    let is_removed = |at: usize| removed.get(at).is_some_and(|it| *it);
    let kept: Vec<&Claim> =
        (0..).zip(claims).filter(|(at, _)| !is_removed(*at)).map(|(_, it)| it).collect();
    (!kept.is_empty()).then(|| faithfulness(kept) as f32)
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
            bytes: 0..citation.quote.len(),
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
fn claims(
    claims: &[Claim],
    removed: &[bool],
    own: &[String],
    sources: &[&Source],
    styled: &Styled,
) -> Value {
    let object = |(number, claim): (usize, &Claim)| {
        let mut value = json!({
            "claim_no": number,
            "claim": claim.text,
            "verdict": claim.verdict.to_string(),
            "score": rounded(claim.score),
            "cited": claim.cited.iter().map(|at| styled.number(*at)).collect::<Vec<_>>(),
        });
        if removed.get(number - 1) == Some(&true) {
            value["removed"] = json!(true);
        }
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
fn note_problems(
    checked: &Checked,
    removed: &[bool],
    styled: &Styled,
    cites: bool,
    usage: &mut Value,
) {
    let wrong = styled.wrong.iter().map(|(marker, position)| {
        json!({"problem": "wrong marker", "marker": marker, "position": position})
    });
    let numbered =
        (1..).zip(&checked.claims).filter(|(number, _)| removed.get(number - 1) != Some(&true));
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
