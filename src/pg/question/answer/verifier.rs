//! What says whether the sources say what an answer says.

use serde_json::{Value, json};

use crate::context::Reading;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::template;
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::generate::{Sampling, generate};
use crate::pg::ragd::llm::Llm;
use crate::pg::ragd::rerank::Reranker;
use crate::pg::server::random;
use crate::protocol::ProviderConfig;
use crate::verify::{Claim, judge, nli, verify};

/// Longest reply about [`judge::CLAIMS_A_CALL`] claims, in tokens.
const REPLY: u32 = 4000;

/// What compares an answer with its sources.
pub enum Verifier {
    /// Nothing compares them.
    Nobody,
    /// The words of both.
    Words,
    /// A language model, by the name of its server.
    Llm(Box<ProviderConfig>),
    /// A model that reads a context and a claim together.
    Model(Reranker),
}

/// What a verifier says.
#[derive(Default)]
pub struct Checked {
    /// The claims of the answer; none without a verifier.
    pub claims: Vec<Claim>,
    /// Whether a reply could not be read, so that words decided.
    pub unread: bool,
    /// Calls and tokens, where a language model was asked.
    pub cost: Option<Value>,
}

impl Verifier {
    /// 'words', 'llm', where `llm` judges, 'none', or the name of a model.
    pub fn named(name: Option<&str>, llm: &Llm) -> Result<Verifier> {
        match name.unwrap_or("words") {
            "words" => Ok(Verifier::Words),
            "none" => Ok(Verifier::Nobody),
            "llm" => match llm.provider_for("verifier \"llm\"") {
                Ok(provider) => Ok(Verifier::Llm(Box::new(provider.clone()))),
                Err(error) => Err(error.hint(
                    "Name a foreign server of rag_llm as llm, or in the option \"verify.llm\".",
                )),
            },
            other => inference(other).map(Verifier::Model),
        }
    }

    /// Compares each claim of `answer` with what was read.
    pub fn check(
        &self,
        question: &str,
        answer: &str,
        readings: &[Reading],
        context: &CallContext,
    ) -> Result<Checked> {
        let texts: Vec<_> = readings.iter().map(|it| it.source.checked_text()).collect();
        let contexts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        self.compare(question, answer, &contexts, context)
    }

    /// Compares each claim of `answer` with `contexts`, which it cites by their numbers.
    pub fn compare(
        &self,
        question: &str,
        answer: &str,
        contexts: &[&str],
        calls: &CallContext,
    ) -> Result<Checked> {
        let interrupt = &mut || {
            pgrx::check_for_interrupts!();
        };
        match self {
            Verifier::Nobody => Ok(Checked::default()),
            Verifier::Words => {
                let claims = verify(answer, contexts, interrupt);
                Ok(Checked { claims, ..Checked::default() })
            }
            Verifier::Llm(llm) => {
                ask(llm, question, verify(answer, contexts, interrupt), contexts, calls)
            }
            Verifier::Model(model) => {
                let claims = verify(answer, contexts, interrupt);
                let texts: Vec<String> = claims.iter().map(|claim| claim.text.clone()).collect();
                let entailed = contexts.iter().map(|context| model.scores(context, &texts, calls));
                let entailed = entailed.collect::<Result<Vec<_>>>()?;
                let claims = nli::decided(&claims, &entailed, contexts);
                Ok(Checked { claims, ..Checked::default() })
            }
        }
    }
}

/// The registered model called `name`, which must read pairs.
fn inference(name: &str) -> Result<Reranker> {
    match Reranker::model(name) {
        Ok(model @ Reranker::CrossEncoder(_)) => Ok(model),
        Ok(_) => Err(Error::new(
            ErrorKind::WrongObjectType,
            format!("model \"{name}\" reads no pairs of texts, so it cannot verify"),
        )
        .hint("Name a model of natural language inference that rag_add_model has registered.")),
        Err(_) => Err(Error::invalid(format!("unknown verifier \"{name}\""))
            .hint("Known verifiers: words, llm, none, and models of natural language inference that rag_add_model has registered.")),
    }
}

/// Has a language model decide about `claims`.
fn ask(
    llm: &ProviderConfig,
    question: &str,
    claims: Vec<Claim>,
    contexts: &[&str],
    calls: &CallContext,
) -> Result<Checked> {
    let template = template::find(judge::TEMPLATE)?;
    let mut checked = Checked::default();
    let (mut count, mut read, mut written) = (0, 0, 0);
    for part in claims.chunks(judge::CLAIMS_A_CALL) {
        let messages = judge::messages(&template, question, part, contexts, &random::nonce()?)?;
        let reply = generate(llm, messages, Sampling::probable(Some(REPLY)), calls)?;
        count += 1;
        read = u64::saturating_add(read, reply.prompt_tokens.unwrap_or_default());
        written = u64::saturating_add(written, reply.completion_tokens.unwrap_or_default());
        let decided = judge::decided(part, &reply.text, contexts);
        checked.unread |= decided.is_none();
        checked.claims.extend(decided.unwrap_or_else(|| part.to_vec()));
    }
    checked.cost = (count > 0).then(
        || json!({"llm": llm.name, "calls": count, "prompt_tokens": read, "completion_tokens": written}),
    );
    Ok(checked)
}
