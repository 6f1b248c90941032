//! Which pipelines a question goes to.

use pgrx::prelude::*;

use super::options::CallOptions;
use super::rewrite::RewriteModel;
use super::search::{Search, SearchedPipeline};
use crate::embed::{Embedder, EmbeddingKind};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::{description, model, pipeline, stranger, template};
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::embed::Embedding;
use crate::pg::ragd::trace;
use crate::request::PipelineList;
use crate::retrieve::{RetrieveOptions, SearchMode};
use crate::rewrite::route::{self, AUTO, Choice, Route, TEMPLATE};
use crate::vector::cosine;

/// Most pipelines that are searched for a question.
pub(super) const SEARCHED: usize = 32;

/// The pipeline that is asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ChosenPipeline {
    /// Its name; `None` for the only one.
    pub name: Option<String>,
    /// Whether the caller named it.
    pub is_named: bool,
}

impl ChosenPipeline {
    /// What the caller says, where that is not left open.
    pub fn by_caller(name: Option<&str>) -> Self {
        ChosenPipeline { name: name.map(str::to_owned), is_named: name.is_some() }
    }

    /// The pipeline itself.
    pub fn searched(&self) -> Result<SearchedPipeline> {
        let pipeline = pipeline::resolve(self.name.as_deref())?;
        Ok(SearchedPipeline::new(pipeline, self.is_named))
    }
}

/// The pipelines that are asked where `name` is a list, or all that the caller may read: such as run no code of
/// roles that the caller has no reason to trust, unless they are named. `None` where it is a single name.
pub fn several(name: Option<&str>, question: &str) -> Result<Option<Vec<ChosenPipeline>>> {
    let Some(list) = list(name)? else { return Ok(None) };
    let names = match list {
        PipelineList::All => return all(question).map(Some),
        PipelineList::Named(names) => names,
    };
    match names.len() {
        ..=SEARCHED => {
            let named = |name: &String| ChosenPipeline::by_caller(Some(name));
            Ok(Some(names.iter().map(named).collect()))
        }
        count => Err(Error::invalid(format!("pipeline names {count} pipelines"))
            .hint(format!("At most {SEARCHED} can be asked at once."))),
    }
}

/// What `name` lists; `None` where it is a single name.
fn list(name: Option<&str>) -> Result<Option<PipelineList>> {
    let Some(name) = name else { return Ok(None) };
    match PipelineList::read(name) {
        Ok(None) => Ok(None),
        // A pipeline may be called what looks like a list.
        _ if pipeline::exists(name)? => Ok(None),
        list => list,
    }
}

/// An error where `name`, which may stand for several pipelines, names one that there is not.
pub fn check_there(name: &str) -> Result<()> {
    let names = match list(Some(name))? {
        Some(PipelineList::All) => return Ok(()),
        Some(PipelineList::Named(names)) => names,
        None if name == AUTO => return Ok(()),
        None => vec![name.to_owned()],
    };
    names.iter().try_for_each(|name| pipeline::resolve(Some(name)).map(drop))
}

/// An error where `name` stands for several pipelines, of which `what` can ask only one.
pub fn refuse_several(name: Option<&str>, what: &str) -> Result<()> {
    match list(name)? {
        None => Ok(()),
        Some(_) => Err(Error::new(ErrorKind::Unsupported, format!("{what} asks one pipeline"))
            .hint("Name one, or leave the choice to pg_rag with pipeline => 'auto'.")),
    }
}

/// All pipelines that may be chosen and read. Of very many, those that say of themselves what is nearest.
fn all(question: &str) -> Result<Vec<ChosenPipeline>> {
    let (mut readable, mut refused) = (Vec::new(), None);
    for choice in choices()? {
        match check_readable(&choice.name) {
            Ok(()) => readable.push(choice),
            Err(error) if error.kind() == ErrorKind::SerializationFailure => return Err(error),
            Err(error) => refused = Some(error),
        }
    }
    if let (true, Some(error)) = (readable.is_empty(), refused) {
        return Err(error);
    }
    if readable.is_empty() {
        // Which is an error that says so.
        return Ok(vec![ChosenPipeline::by_caller(None)]);
    }
    let count = readable.len();
    if count > SEARCHED {
        check_words(question)?;
        let similarities = described(question, &readable)?;
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|a, b| similarities[*b].total_cmp(&similarities[*a]));
        order.truncate(SEARCHED);
        order.sort_unstable();
        readable = order.into_iter().map(|place| readable[place].clone()).collect();
        notice!(
            "{SEARCHED} of {count} pipelines are asked, which say of themselves what is nearest"
        );
    }
    let chosen = |choice: Choice| ChosenPipeline { name: Some(choice.name), is_named: false };
    Ok(readable.into_iter().map(chosen).collect())
}

/// An error where the caller may not read the pipeline, be it the generation that the statement sees or one that
/// has taken its place.
fn check_readable(name: &str) -> Result<()> {
    let searched = ChosenPipeline { name: Some(name.to_owned()), is_named: false }.searched()?;
    let (searched, _locked) = searched.locked()?;
    searched.reading(|| pipeline::check_readable(&searched.pipeline))
}

/// The pipeline that is asked: `name`, unless that is 'auto', or there is none and the option
/// `route` is given. A NOTICE says which one was chosen, of those that run no code of roles that
/// the caller has no reason to trust. The call and the settings say how, and no pipeline does.
pub fn pipeline_for(
    name: Option<&str>,
    question: &str,
    call: &CallOptions,
) -> Result<ChosenPipeline> {
    let (options, llm) = (&call.options.retrieve, call.options.llm.as_deref());
    if !is_open(name, options) {
        return Ok(ChosenPipeline::by_caller(name));
    }
    let choices = choices()?;
    if choices.len() > 1 {
        check_words(question)?;
    }
    let choose = || match (choices.len(), options.route.unwrap_or_default()) {
        // Which is an error that says so, or the only one.
        (0 | 1, _) => Ok(0),
        (_, Route::Search) => by_search(question, &choices, call),
        (_, Route::Similarity) => {
            Ok(route::nearest(&described(question, &choices)?).unwrap_or_default())
        }
        (_, Route::Llm) => {
            let llm = RewriteModel::named("route \"llm\"", &options.rewrite, llm)?;
            let llm = llm.withholding(&call.withheld);
            let mut writer = llm.writer(CallContext::query());
            route::ask(question, &choices, &template::find(TEMPLATE)?, &mut writer)
        }
    };
    let place = trace::step("route", String::new, choose)?;
    let chosen = choices.into_iter().nth(place).map(|choice| choice.name);
    if let Some(name) = &chosen {
        notice!("pipeline \"{name}\" was chosen");
    }
    Ok(ChosenPipeline { name: chosen, is_named: false })
}

/// An error where nothing is asked by which one of several pipelines could be chosen.
fn check_words(question: &str) -> Result<()> {
    match question.is_empty() {
        false => Ok(()),
        true => Err(Error::invalid("pipelines are chosen by the question, and there is none")
            .hint("Name those that are asked, or give the question beside query_vector.")),
    }
}

/// What can be chosen; an error where there are pipelines and none of them can.
fn choices() -> Result<Vec<Choice>> {
    let (mut choices, mut others) = (Vec::new(), Vec::new());
    for (id, choice) in description::choices()? {
        match stranger::runs_no_code(id)? {
            true => choices.push(choice),
            false => others.push(choice.name),
        }
    }
    if choices.is_empty() && !others.is_empty() {
        return Err(Error::new(ErrorKind::Forbidden, "there is no pipeline that can be chosen")
            .detail("What may run code of a role that you do not trust is asked only by its name.")
            .hint(format!("Add pipeline => with one of: {}.", others.join(", "))));
    }
    Ok(choices)
}

/// Whether the pipeline depends on the question.
pub fn is_open(name: Option<&str>, options: &RetrieveOptions) -> bool {
    name.map_or(options.route.is_some(), |name| name == AUTO)
}

/// How near what each choice says of itself is to the question.
fn described(question: &str, choices: &[Choice]) -> Result<Vec<f64>> {
    let mut embedding = Embedding::with_model(None, CallContext::query())?;
    let asked = embedding.embed(&[question.to_owned()], EmbeddingKind::Query)?;
    // One at a time, so that the session remembers each.
    let mut similarity = |it: &Choice| -> Result<f64> {
        let texts = std::slice::from_ref(&it.description);
        Ok(cosine(&asked[0], &embedding.embed(texts, EmbeddingKind::Passage)?[0]))
    };
    choices.iter().map(&mut similarity).collect()
}

/// The choice with the chunk that is nearest to the question, of those whose descriptions are.
///
/// What has a model behind a provider is known by its description alone, as a question would be paid for, and
/// the caller may have no right to the provider.
fn by_search(question: &str, choices: &[Choice], call: &CallOptions) -> Result<usize> {
    let mut similarities = described(question, choices)?;
    let mut order: Vec<usize> = (0..choices.len()).collect();
    order.sort_by(|a, b| similarities[*b].total_cmp(&similarities[*a]));
    let mut embedding = Embedding::with_model(None, CallContext::query())?;
    for (rank, place) in order.into_iter().enumerate() {
        if rank >= SEARCHED {
            similarities[place] -= 2.0;
            continue;
        }
        let name = Some(choices[place].name.clone());
        let searched = ChosenPipeline { name, is_named: false }.searched()?;
        if model::find(Some(&searched.pipeline.model))?.remote.is_some() {
            continue;
        }
        similarities[place] = match best_chunk(searched, question, call)? {
            BestChunk::Found(chunk) => chunk.similarity_by(question, &mut embedding)?,
            // Behind all that has something, and before what would be an error.
            BestChunk::None => similarities[place] - 2.0,
            BestChunk::Unsearchable => similarities[place] - 4.0,
        };
    }
    Ok(route::nearest(&similarities).unwrap_or_default())
}

/// What a search of a pipeline has given.
enum BestChunk {
    /// The nearest chunk.
    Found(FoundChunk),
    /// Nothing that the caller may see and the filter of the call lets through.
    None,
    /// An error, as where the filter names a column that the pipeline doesn't have.
    Unsearchable,
}

/// The nearest chunk of a pipeline.
struct FoundChunk {
    content: String,
    /// Cosine to the question, by the pipeline's model.
    similarity: f64,
    model: String,
}

impl FoundChunk {
    /// Cosine to the question by the model of `embedding`, as those of different models don't compare.
    fn similarity_by(self, question: &str, embedding: &mut Embedding) -> Result<f64> {
        if self.model == embedding.name() {
            return Ok(self.similarity);
        }
        let asked = embedding.embed(&[question.to_owned()], EmbeddingKind::Query)?;
        let chunk = embedding.embed(&[self.content], EmbeddingKind::Passage)?;
        Ok(cosine(&asked[0], &chunk[0]))
    }
}

/// The chunk of a pipeline that is nearest to the question.
fn best_chunk(searched: SearchedPipeline, question: &str, call: &CallOptions) -> Result<BestChunk> {
    let model = searched.pipeline.model.clone();
    let mut asked = call.of_pipeline(&searched.pipeline, searched.is_named)?;
    asked.options.k = Some(1);
    asked.options.retrieve = RetrieveOptions {
        mode: Some(SearchMode::Dense),
        filter: asked.options.retrieve.filter.take(),
        ..RetrieveOptions::default()
    };
    let search = match Search::new(searched, &asked, 1) {
        Ok(search) => search,
        Err(error) if error.kind() == ErrorKind::SerializationFailure => return Err(error),
        Err(_) => return Ok(BestChunk::Unsearchable),
    };
    let best = search.run(question)?.into_iter().next();
    let found = best.and_then(|it| Some((it.similarity?, it.content)));
    Ok(match found {
        Some((similarity, content)) => BestChunk::Found(FoundChunk { content, similarity, model }),
        None => BestChunk::None,
    })
}
