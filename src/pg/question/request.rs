//! What a caller of `rag_answer` or `rag_retrieve` wants, and what comes of it.

use pgrx::Uuid;
use serde_json::Value;

use super::answer::{self, Answer, AnswerStream, CheckOptions, Record, examples};
use super::batch::QuestionBatch;
use super::conversation::{Conversation, SaidBefore, Turn};
use super::fallback::AnsweredQuestion;
use super::federation::{FederatedPipeline, FederatedSearch};
use super::options::{AskedOptions, CallOptions};
use super::route::ChosenPipeline;
use super::{fallback, own_vector, route, trace_log};
use crate::answer::form::AnswerForm;
use crate::context::Reading;
use crate::error::{Error, ErrorKind, Result};
use crate::eval::configuration::merged_filter;
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::catalog::{model, template};
use crate::pg::ragd::llm::Llm;
use crate::pg::ragd::trace::{self, TraceStep};
use crate::pg::server::guc::Caching;
use crate::pg::server::json::ExactJsonb;
use crate::pg::server::vector::Vector;
use crate::pg::server::{guc, sql};
use crate::prompt::messages::{Message, NO_ANSWER};
use crate::request::{QuestionArguments, QuestionOptions};
use crate::retrieve::Passage;
use crate::text_to_sql::options::SqlOptions;

/// Chunks that are found for a question, where nothing says how many.
const FOUND: i32 = 5;

/// Chunks that are read for an answer, where nothing says how many.
const READ: i32 = 6;

/// The arguments of `rag_answer`, `rag_retrieve` and the like, besides the question.
#[derive(Clone, Default)]
pub struct QuestionRequest<'a> {
    /// Name of the pipeline that is asked, or names of several.
    pub pipeline: Option<&'a str>,
    /// Those that are options as well.
    pub arguments: QuestionArguments<'a>,
    /// The options, as JSON.
    pub options: Option<ExactJsonb>,
    /// Conditions on the metadata that hold beside the filter of the options.
    pub conditions: Option<Value>,
}

/// What a question is prepared for, and so what of its options is looked up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PreparedFor {
    /// An answer, which is checked.
    Answer,
    /// What a language model would read.
    Reading,
}

/// A question that is ready to be answered.
pub struct PreparedQuestion {
    /// The question as it is looked up.
    pub text: String,
    /// Where it is looked up.
    pub search: FederatedSearch,
    /// How the answer is written.
    pub writing: answer::Writing,
    /// What holds for it.
    pub options: AskedOptions,
}

/// An answer, and how it came about.
pub struct TracedAnswer {
    /// The answer and what it was made of.
    pub answer: Answer,
    /// The pipeline that has answered, or the names of several that were asked as one.
    pub pipeline: String,
    /// Its row of `rag.trace_log`, if there is one.
    pub trace_id: Option<Uuid>,
    /// What was done, step by step, if the caller wants to know.
    pub steps: Vec<TraceStep>,
}

impl QuestionRequest<'_> {
    /// The chunks that speak of the question, best first; with a vector, those that are nearest to it, and no question
    /// is needed.
    pub fn retrieve(mut self, text: Option<&str>, vector: Option<&Vector>) -> Result<Vec<Passage>> {
        let call = CallOptions::read(&self.arguments, self.options.take())?;
        let question = own_vector::sought(text, vector)?;
        let chosen = self.chosen(&call, question.text)?;
        let AskedPipelines { mut pipelines, .. } = self.asked(&call, &chosen, FOUND)?;
        own_vector::fit(&question, &mut pipelines)?;
        FederatedSearch::new(pipelines, FOUND)?.find(&question)
    }

    /// The chunks that speak of each of `questions`, question by question. Of a question that is NULL there are none.
    pub fn retrieve_each(mut self, questions: Vec<Option<String>>) -> Result<QuestionBatch> {
        let call = CallOptions::read(&self.arguments, self.options.take())?;
        QuestionBatch::new(&self, &call, questions)
    }

    /// A search of the pipelines that were chosen.
    pub(super) fn search(
        &self,
        call: &CallOptions,
        chosen: &[ChosenPipeline],
    ) -> Result<FederatedSearch> {
        FederatedSearch::new(self.asked(call, chosen, FOUND)?.pipelines, FOUND)
    }

    /// Whether other pipelines than those that were chosen may be for another question.
    pub(super) fn depends_on_question(
        &self,
        call: &CallOptions,
        chosen: &[ChosenPipeline],
    ) -> bool {
        route::is_open(self.pipeline, &call.options.retrieve) || chosen.len() >= route::SEARCHED
    }

    /// The pipelines that the question goes to.
    pub(super) fn chosen(&self, call: &CallOptions, text: &str) -> Result<Vec<ChosenPipeline>> {
        match route::several(self.pipeline, text)? {
            Some(chosen) => Ok(chosen),
            None => Ok(vec![route::pipeline_for(self.pipeline, text, call)?]),
        }
    }

    /// The answer as it is worth to somebody who asks for the first time: nothing of it is kept, and no reply that was.
    pub fn answer(mut self, text: Option<&str>) -> Result<Answer> {
        let call = CallOptions::read(&self.arguments, self.options.take())?.for_answer();
        let call = call.without_kept_replies();
        let (prepared, _) = self.prepare(&call, text, PreparedFor::Answer)?;
        Ok(fallback::answered(&self, &call, prepared)?.answer)
    }

    /// The answer; with its steps where they are wanted here or by `rag.trace`.
    pub fn traced_answer(mut self, text: Option<&str>, wants_steps: bool) -> Result<TracedAnswer> {
        self.refuse_if_not_kept();
        let level = guc::trace();
        let is_recorded = wants_steps || level != guc::TraceLevel::Off;
        let ((answered, conversation), steps) = trace::recorded(is_recorded, || {
            if wants_steps {
                trace::count_calls();
            }
            let call = CallOptions::read(&self.arguments, self.options.take())?.for_answer();
            let (prepared, conversation) = self.prepare(&call, text, PreparedFor::Answer)?;
            Ok((fallback::answered(&self, &call, prepared)?, conversation))
        })?;
        let AnsweredQuestion { asked, answer } = answered;
        let trace_id = trace_log::keep(level, &asked, &answer, &steps)?;
        if let Some(conversation) = conversation {
            let standalone = asked.question.as_str();
            let question = text.unwrap_or(standalone);
            let said = answer.text.as_deref().unwrap_or(NO_ANSWER);
            let turn = Turn { question, standalone, answer: said, trace: trace_id };
            conversation.append(&turn)?;
        }
        Ok(TracedAnswer { answer, pipeline: asked.pipeline, trace_id, steps })
    }

    /// The answer, streamed while it is written.
    pub fn stream(mut self, text: Option<&str>) -> Result<AnswerStream> {
        self.refuse_if_not_kept();
        let level = guc::trace();
        let is_recorded = level != guc::TraceLevel::Off;
        let ((asked, conversation, stream), steps) = trace::recorded(is_recorded, || {
            let call = CallOptions::read(&self.arguments, self.options.take())?.for_answer();
            let (prepared, conversation) = self.prepare(&call, text, PreparedFor::Answer)?;
            let (asked, stream) = fallback::streamed(&self, &call, prepared)?;
            Ok((asked, conversation, stream))
        })?;
        let standalone = asked.question.clone();
        let stream = stream.recorded(Record { level, asked, steps });
        Ok(match conversation {
            Some(it) => stream.in_conversation(it, text.unwrap_or(&standalone), &standalone),
            None => stream,
        })
    }

    /// An error before anything is paid for, where the answer is to be kept in a conversation and
    /// cannot be.
    fn refuse_if_not_kept(&self) {
        let conversation = self.options.as_ref().and_then(|ExactJsonb(it)| it.get("answer"));
        let conversation = conversation.and_then(|it| it.get("conversation"));
        if conversation.is_some_and(|it| !it.is_null()) {
            sql::refuse_if_read_only(c"rag_answer() in a conversation");
        }
    }

    /// The messages in which a language model would be asked.
    pub fn prompt(self, text: Option<&str>) -> Result<Vec<Message>> {
        let PreparedQuestion { text, search, writing, .. } = self.prepared_to_read(text)?;
        answer::messages(&text, &search, &writing)
    }

    /// What a language model would read, the tokens of each, and last those of the overview before it.
    pub fn context(self, text: Option<&str>) -> Result<(Vec<Reading>, Vec<usize>)> {
        let PreparedQuestion { text, search, writing, .. } = self.prepared_to_read(text)?;
        answer::context(&text, &search, &writing)
    }

    fn prepared_to_read(mut self, text: Option<&str>) -> Result<PreparedQuestion> {
        let call = CallOptions::read(&self.arguments, self.options.take())?.for_answer();
        Ok(self.prepare(&call, text, PreparedFor::Reading)?.0)
    }

    /// The question, ready to be answered, and the conversation that it is part of, where that is kept.
    fn prepare(
        &self,
        call: &CallOptions,
        text: Option<&str>,
        purpose: PreparedFor,
    ) -> Result<(PreparedQuestion, Option<Conversation>)> {
        let before = SaidBefore::find(&call.options.answer, &call.withheld)?;
        let text = required_question(text)?;
        let is_open = route::is_open(self.pipeline, &call.options.retrieve);
        let chosen = match route::several(self.pipeline, text)? {
            None if !is_open => Some(vec![ChosenPipeline::by_caller(self.pipeline)]),
            several => several,
        };
        let known = chosen.map(|chosen| self.asked(call, &chosen, READ)).transpose()?;
        let text = match &before {
            None => text.to_owned(),
            Some(before) => {
                let llm = known.as_ref().map_or_else(|| call.llm(), |asked| asked.options.llm());
                before.condensed(text, &llm?)?
            }
        };
        let asked = match known {
            Some(asked) => asked,
            None => self.asked(call, &[route::pipeline_for(self.pipeline, &text, call)?], READ)?,
        };
        Ok((asked.prepared(text, purpose)?, before.and_then(SaidBefore::kept)))
    }

    /// The question for the pipelines that a fallback called `name` stands for. Where the caller has not named it, it
    /// must run no code of roles that the caller has no reason to trust.
    pub(super) fn prepare_fallback(
        &self,
        call: &CallOptions,
        name: &str,
        is_named: bool,
        text: &str,
    ) -> Result<PreparedQuestion> {
        let mut chosen = match route::several(Some(name), text)? {
            Some(several) => several,
            None => vec![route::pipeline_for(Some(name), text, call)?],
        };
        chosen.iter_mut().for_each(|it| it.is_named &= is_named);
        let asked = self.asked(call, &chosen, READ)?;
        for FederatedPipeline { searched, .. } in &asked.pipelines {
            drop(searched.check_owners(&[])?);
        }
        asked.prepared(text.to_owned(), PreparedFor::Answer)
    }

    /// What holds for a question of the pipelines that were chosen. Where they are several, each gives as many
    /// chunks as all of them together.
    fn asked(
        &self,
        call: &CallOptions,
        chosen: &[ChosenPipeline],
        usual_k: i32,
    ) -> Result<AskedPipelines> {
        let mut pipelines = Vec::with_capacity(chosen.len());
        for chosen in chosen {
            let searched = chosen.searched()?;
            let mut options = call.of_pipeline(&searched.pipeline, searched.is_named)?;
            let filter = &mut options.options.retrieve.filter;
            *filter = merged_filter(filter.as_ref(), self.conditions.as_ref());
            pipelines.push(FederatedPipeline { searched, options });
        }
        if let [FederatedPipeline { options, .. }] = pipelines.as_slice() {
            return Ok(AskedPipelines { options: options.clone(), pipelines });
        }
        let all: Vec<(&Pipeline, bool)> =
            pipelines.iter().map(|it| (&it.searched.pipeline, it.searched.is_named)).collect();
        let options = call.of_pipelines(&all)?;
        let k = options.options.k.or(Some(usual_k));
        pipelines.iter_mut().for_each(|it| it.options.options.k = k);
        Ok(AskedPipelines { pipelines, options })
    }
}

/// The pipelines that are asked, each with what holds for its search, and what holds for the answer.
struct AskedPipelines {
    pipelines: Vec<FederatedPipeline>,
    options: AskedOptions,
}

impl AskedPipelines {
    /// The question, which is looked up as `text`.
    fn prepared(self, text: String, purpose: PreparedFor) -> Result<PreparedQuestion> {
        let AskedPipelines { pipelines, mut options } = self;
        let llm = options.llm()?;
        options.options.answer.settle_preset(&text);
        let models: Vec<&str> =
            pipelines.iter().map(|it| it.searched.pipeline.model.as_str()).collect();
        options.trace(&llm, &models)?;
        let mut search = FederatedSearch::new(pipelines, READ)?.for_answers();
        if purpose == PreparedFor::Answer {
            search = search.with_caching(options.options.answer.cache.map(Caching::from));
        }
        let mut writing = writing(&options, &search, llm, purpose)?;
        if purpose == PreparedFor::Reading || !writing.llm.is_extractive() {
            let checked = examples::check(writing.template.as_ref(), &options.options.answer);
            options.named(&["answer.examples", "answer.template"], checked)?;
            let chosen = examples::chosen(&text, &search, &options)?;
            writing.examples = answer::fitting_examples(&text, chosen, &search, &writing)?;
        }
        Ok(PreparedQuestion { text, search, writing, options })
    }
}

/// How the answer is written.
fn writing(
    asked: &AskedOptions,
    search: &FederatedSearch,
    llm: Llm,
    purpose: PreparedFor,
) -> Result<answer::Writing> {
    let (strategy, strategy_options) = asked.strategy()?;
    let QuestionOptions { context, answer, .. } = &asked.options;
    answer::check_columns(asked, search.metadata())?;
    answer::check_compression(asked, &llm)?;
    let form = answer.schema.clone().map(AnswerForm::of);
    if purpose == PreparedFor::Answer {
        asked.named(&["answer.strategy"], answer::check_strategy(strategy, &llm))?;
        asked.named(&["answer.schema"], answer::check_form(form.as_ref(), &llm))?;
    }
    let tokenizer = context.tokenizer.as_deref();
    let tokenizer = tokenizer.map(|name| model::find(Some(name)).map(drop)).transpose();
    asked.named(&["context.tokenizer"], tokenizer)?;
    let template = answer.template.as_deref().map(template::find).transpose();
    let template = asked.named(&["answer.template"], template)?;
    let sql = asked.named(&["answer.sql"], SqlOptions::of_answer(answer.sql.clone()))?;
    if answer.own_knowledge && purpose == PreparedFor::Answer {
        let checked = answer::check_own_knowledge(template.as_ref(), &llm);
        asked.named(&["answer.own_knowledge", "answer.template"], checked)?;
    }
    let min_confidence = answer.min_confidence.or_else(guc::min_confidence);
    Ok(answer::Writing {
        context: context.clone(),
        trust: match purpose {
            PreparedFor::Answer => CheckOptions::new(asked, &llm, min_confidence)?,
            PreparedFor::Reading => CheckOptions::none(),
        },
        llm,
        strategy,
        strategy_options,
        sql,
        tools: answer.tools.clone(),
        template,
        form,
        own_knowledge: answer.own_knowledge,
        examples: Vec::new(),
        min_confidence,
        max_sentences: answer.max_sentences,
        most_read: answer.read,
        sampling: answer.sampling()?,
        max_tokens: answer.max_tokens,
        cache_similarity: answer.cache_similarity,
    })
}

impl PreparedQuestion {
    /// What is asked and what answers it, which the trace notes.
    pub fn traced(&self) -> trace_log::TracedQuestion {
        let (pipeline, llm) = (self.search.name(), self.writing.llm.name().to_owned());
        let strategy = self.writing.strategy.name.to_owned();
        trace::remark(|| format!("pipeline {pipeline}, strategy {strategy}, llm {llm}"));
        trace_log::TracedQuestion { question: self.text.clone(), pipeline, strategy, llm }
    }

    /// The IDs of the pipelines that are asked.
    pub fn pipelines(&self) -> Vec<i32> {
        self.search.generations().into_iter().map(|(id, _)| id).collect()
    }
}

/// The question, which can be searched for.
pub fn required_question(question: Option<&str>) -> Result<&str> {
    match question {
        None => Err(Error::new(ErrorKind::NullNotAllowed, "question must not be NULL")
            .hint("Ask something, for instance 'How do I reset a password?'.")),
        Some(text) if text.trim().is_empty() => Err(Error::invalid("question is empty")
            .hint("Ask something, for instance 'How do I reset a password?'.")),
        Some(text) => Ok(text),
    }
}
