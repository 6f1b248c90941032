//! One search, or those of several pipelines as one.

use std::collections::BTreeSet;

use serde_json::Value;

use super::options::AskedOptions;
use super::search::{
    CommunityPassages, Connections, EntitySurroundings, Narrowing, Search, SearchFindings,
    SearchedPipeline, SectionPassages, SoughtQuestion,
};
use crate::answer::strategy::{PathOfRows, joined};
use crate::embed::{Embedder, EmbeddingKind};
use crate::error::{Error, Result};
use crate::graph::communities::rank::CommunityQuest;
use crate::graph::relations::pick::{PickedRelations, RelationMenu};
use crate::pg::catalog::model;
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::catalog::view::ViewColumn;
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::embed::Embedding;
use crate::pg::ragd::trace;
use crate::pg::server::guc::Caching;
use crate::pg::text_to_sql::statement_name;
use crate::retrieve::Passage;
use crate::retrieve::federation::{FederatedList, federated};
use crate::source::{ChunkSpan, Source, Summary};
use crate::vector::cosine;

/// Most passages of a pipeline that are embedded by the model of others, to be compared with theirs.
const COMPARED: usize = 20;

/// What is searched for a question: a pipeline, or several whose findings become one list.
pub struct FederatedSearch {
    /// How models are called for the answer.
    pub context: CallContext,
    /// At least one.
    searches: Vec<Search>,
    k: usize,
    /// Passages of all together that are passed over.
    passed_over: usize,
    /// The model by which similarities of all pipelines compare.
    model: String,
    /// The columns of metadata that all have.
    columns: Vec<ViewColumn>,
}

/// A pipeline that is to be searched, and what holds for the search.
pub struct FederatedPipeline {
    /// The pipeline.
    pub searched: SearchedPipeline,
    /// The options of the question, over the defaults of this pipeline.
    pub options: AskedOptions,
}

impl FederatedSearch {
    /// Looks up what the options of each of `pipelines` say of a search for `k` chunks, of which there is at
    /// least one. The options of several say `k` themselves.
    pub fn new(mut pipelines: Vec<FederatedPipeline>, usual_k: i32) -> Result<Self> {
        let is_alone = pipelines.len() == 1;
        let page = if is_alone { None } else { page_of_all(&mut pipelines, usual_k)? };
        let search = |FederatedPipeline { searched, options }: FederatedPipeline| {
            let name = searched.pipeline.name.clone();
            let search = Search::new(searched, &options, usual_k);
            search.map_err(|error| if is_alone { error } else { about(&name, error) })
        };
        let searches = pipelines.into_iter().map(search).collect::<Result<Vec<_>>>()?;
        let Some(first) = searches.first() else {
            return Err(Error::invalid("no pipeline is asked"));
        };
        Ok(FederatedSearch {
            context: if is_alone { first.context } else { CallContext::query() },
            k: page.map_or(first.k(), |it| it.k),
            passed_over: page.map_or(0, |it| it.passed_over),
            model: common_model(&searches)?,
            columns: common_columns(&searches),
            searches,
        })
    }

    /// The search for passages that are read, as [`Search::for_answers`] says.
    pub fn for_answers(self) -> Self {
        let searches = self.searches.into_iter().map(Search::for_answers).collect();
        FederatedSearch { searches, ..self }
    }

    /// The search with another policy for replies of language models, where `caching` names one.
    pub fn with_caching(mut self, caching: Option<Caching>) -> Self {
        self.context = self.context.with_caching(caching);
        for search in &mut self.searches {
            search.context = search.context.with_caching(caching);
        }
        self
    }

    /// The names of the pipelines.
    pub fn name(&self) -> String {
        let names: Vec<&str> = self.searches.iter().map(|it| it.pipeline().name.as_str()).collect();
        names.join(", ")
    }

    /// The pipelines by their IDs, with their generations.
    pub fn generations(&self) -> Vec<(i32, i32)> {
        self.searches.iter().map(|it| (it.pipeline().id, it.pipeline().generation)).collect()
    }

    /// The name of the model that embeds what is compared with the question.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The models that embed a question, each once, and how they are called for it.
    pub fn embedding_models(&self) -> Vec<(&str, CallContext)> {
        let mut models: Vec<(&str, CallContext)> = Vec::new();
        for search in self.searches.iter().filter(|it| it.embeds()) {
            let model = search.pipeline().model.as_str();
            if !models.iter().any(|(known, _)| *known == model) {
                models.push((model, search.context));
            }
        }
        models
    }

    /// The columns of metadata that each chunk has: of several pipelines, those that all have.
    pub fn metadata(&self) -> &[ViewColumn] {
        &self.columns
    }

    /// The passages for `question`, best first.
    pub fn find(&self, question: &SoughtQuestion<'_>) -> Result<Vec<Passage>> {
        Ok(self.findings(question)?.0)
    }

    /// The passages for `question`, best first, and the filter that each search has read in it, if it has one.
    fn findings(
        &self,
        question: &SoughtQuestion<'_>,
    ) -> Result<(Vec<Passage>, Vec<Option<Value>>)> {
        if let [only] = self.searches.as_slice() {
            let SearchFindings { passages, read_filter } = only.findings_of(question)?;
            return Ok((passages, vec![read_filter]));
        }
        let mut lists = Vec::with_capacity(self.searches.len());
        let mut filters = Vec::with_capacity(self.searches.len());
        for search in &self.searches {
            pgrx::check_for_interrupts!();
            let name = &search.pipeline().name;
            let run = || {
                let found = search.findings_of(question).map_err(|error| about(name, error))?;
                filters.push(found.read_filter);
                Ok(found.passages)
            };
            let passages = trace::found("search", || name.clone(), run)?;
            lists.push(FederatedList { compared: passages.len(), passages });
        }
        let federated = trace::found("federate", String::new, || {
            let scale = self.searches[0].reranker_scale();
            let by_reranker =
                scale.is_some() && self.searches.iter().all(|it| it.reranker_scale() == scale);
            self.compare(question, &mut lists)?;
            let passed_over = question.passed_over(self.passed_over);
            let mut all = federated(lists, by_reranker, passed_over + self.k);
            all.drain(..passed_over.min(all.len()));
            Ok(all)
        })?;
        Ok((federated, filters))
    }

    /// What is found for `query`, as an answer cites it: summaries first, where they are to be read.
    pub fn sources(&self, query: &str) -> Result<Vec<Source>> {
        self.sources_of(&SoughtQuestion::asked(query))
    }

    /// What is found for `query`, which has come up on the way to an answer, from the best on, whatever page the options
    /// ask for.
    pub fn more_sources(&self, query: &str) -> Result<Vec<Source>> {
        self.sources_of(&SoughtQuestion::further(query))
    }

    fn sources_of(&self, question: &SoughtQuestion<'_>) -> Result<Vec<Source>> {
        let passages = self.find(question)?;
        let mut sources = Vec::new();
        for search in &self.searches {
            let own = passages.iter().filter(|it| it.pipeline == search.pipeline().name);
            let found: Vec<i64> = own.map(|it| it.chunk_id).collect();
            let summaries = search.summaries(question.text, &found)?;
            sources.extend(summaries.into_iter().map(Source::Summary));
        }
        sources.extend(passages.into_iter().map(Source::Chunk));
        Ok(sources)
    }

    /// Whether summaries of trees of one of the pipelines may be read.
    pub fn reads_trees(&self) -> bool {
        self.searches.iter().any(Search::reads_tree)
    }

    /// What the pipelines and their tables are called.
    pub fn table_names(&self) -> Vec<String> {
        self.searches.iter().flat_map(Search::table_names).collect()
    }

    /// Whether the rows of the pipeline called `name` have titles.
    pub fn has_title(&self, name: &str) -> bool {
        self.search_of(name).is_some_and(Search::has_title)
    }

    /// What stands under a heading of the row of a chunk that was found; `None` where it is not there any more.
    pub fn section(&self, chunk: &Passage, path: &str) -> Result<Option<SectionPassages>> {
        let own = self.search_of(&chunk.pipeline);
        own.map_or(Ok(None), |search| search.section(chunk.chunk_id, path))
    }

    /// What sums up the row of a chunk of the pipeline called `name`, for `query`; `None` where there is nothing for the caller.
    pub fn summary_of_row(
        &self,
        query: &str,
        name: &str,
        chunk_id: i64,
    ) -> Result<Option<Summary>> {
        let own = self.search_of(name);
        own.map_or(Ok(None), |search| search.summary_of_row(query, chunk_id))
    }

    fn search_of(&self, name: &str) -> Option<&Search> {
        self.searches.iter().find(|it| it.pipeline().name == name)
    }

    /// The pipelines.
    pub fn each_pipeline(&self) -> impl Iterator<Item = &Pipeline> {
        self.searches.iter().map(Search::pipeline)
    }

    /// The names of the pipelines, each by itself.
    pub fn pipelines(&self) -> Vec<String> {
        self.searches.iter().map(|it| it.pipeline().name.clone()).collect()
    }

    /// This search with what it is narrowed to. Fails where it is narrowed to a pipeline that is not asked, or a column
    /// that there is not.
    pub fn narrowed(&self, narrowing: &Narrowing) -> Result<FederatedSearch> {
        let is_asked = |search: &&Search| {
            narrowing.pipeline.as_ref().is_none_or(|name| search.pipeline().name == *name)
        };
        let asked = self.searches.iter().filter(is_asked);
        let searches =
            asked.map(|search| search.narrowed(narrowing)).collect::<Result<Vec<_>>>()?;
        if searches.is_empty() {
            return Err(Error::invalid("no pipeline is asked"));
        }
        Ok(FederatedSearch {
            context: self.context,
            k: narrowing.k.map_or(self.k, |k| k as usize),
            passed_over: 0,
            model: common_model(&searches)?,
            columns: common_columns(&searches),
            searches,
        })
    }

    /// A chunk with those around it in its document; `None` where it is not there any more.
    pub fn around(&self, passage: &Passage) -> Result<Option<Passage>> {
        self.search_of(&passage.pipeline).map_or(Ok(None), |search| search.around(passage))
    }

    /// Whether each of some citations leads to a chunk that a pipeline still finds: one of the same row that the caller may
    /// see now, and that the filter of the options lets pass. One by one, in their order; what is cited on a shard, or is
    /// no chunk of these pipelines, is not found.
    pub fn still_found(&self, cited: &[&ChunkSpan]) -> Result<Vec<bool>> {
        let mut found = vec![false; cited.len()];
        for search in &self.searches {
            pgrx::check_for_interrupts!();
            let is_own =
                |span: &ChunkSpan| span.pipeline == search.pipeline().name && span.shard.is_none();
            let own: BTreeSet<i64> =
                cited.iter().filter(|span| is_own(span)).map(|span| span.chunk_id).collect();
            let visible = search.visible(own.into_iter().collect())?;
            let is_found = |span: &ChunkSpan| {
                is_own(span) && visible.contains(&(span.chunk_id, span.source_key.clone()))
            };
            found.iter_mut().zip(cited).for_each(|(found, span)| *found |= is_found(span));
        }
        Ok(found)
    }

    /// Whether one of the pipelines has a graph that the caller may read.
    pub fn has_graph(&self) -> Result<bool> {
        let mut graphs = self.searches.iter().map(Search::has_graph);
        graphs.try_fold(false, |any, has| Ok(any || has?))
    }

    /// How what `text` names is connected with other entities in each pipeline.
    pub fn connections(&self, text: &str) -> Result<Connections> {
        let mut all = Connections::default();
        for search in &self.searches {
            pgrx::check_for_interrupts!();
            let Connections { paths, passages } = search.connections(text)?;
            all.paths.extend(paths);
            all.passages.extend(passages);
        }
        Ok(all)
    }

    /// The communities of which chunks speak that `question` finds in each pipeline, best first, each by its passages,
    /// which are numbered as one list. Fails where one of the pipelines has no communities that the caller may read.
    pub fn communities(
        &self,
        question: &str,
        quest: CommunityQuest,
    ) -> Result<Vec<CommunityPassages>> {
        let mut all = Vec::new();
        for search in &self.searches {
            pgrx::check_for_interrupts!();
            all.extend(search.communities(question, quest)?);
        }
        all.sort_by(|a, b| b.score.total_cmp(&a.score));
        all.truncate(quest.communities as usize);
        let passages = all.iter_mut().flat_map(|it| &mut it.passages);
        (1..).zip(passages).for_each(|(rank, passage)| passage.rank = rank);
        Ok(all)
    }

    /// What `question` finds, best first, and what is around it in the graph of each pipeline. Fails where one of them has
    /// none that the caller may read.
    pub fn surroundings(
        &self,
        question: &str,
        quest: CommunityQuest,
    ) -> Result<(Vec<Passage>, EntitySurroundings)> {
        let (passages, filters) = self.findings(&SoughtQuestion::asked(question))?;
        let mut all = EntitySurroundings::default();
        for (search, read_filter) in self.searches.iter().zip(filters) {
            pgrx::check_for_interrupts!();
            let own = passages.iter().filter(|it| it.pipeline == search.pipeline().name);
            let found = SearchFindings { passages: own.cloned().collect(), read_filter };
            let around = search.surroundings(question, quest, &found)?;
            all.entities.extend(around.entities);
            all.relations.extend(around.relations);
            all.said.extend(around.said);
            all.paths.extend(around.paths);
            all.members.extend(around.members);
            all.proofs.extend(around.proofs);
            all.of_community.extend(around.of_community);
        }
        let lists = [&mut all.entities, &mut all.relations, &mut all.paths, &mut all.members];
        lists.into_iter().for_each(|list| *list = joined(std::mem::take(list)));
        all.members.retain(|it| all.entities.iter().all(|known| known.key != it.key));
        Ok((passages, all))
    }

    /// Predicates that every pipeline has relations of, whose names are plain words; none where one of them has no relations
    /// that the caller may read.
    pub fn predicates(&self) -> Result<Vec<String>> {
        let mut menu = RelationMenu::default();
        for search in &self.searches {
            pgrx::check_for_interrupts!();
            match search.all_relations()? {
                Some(own) => menu.extend(own),
                None => return Ok(Vec::new()),
            }
        }
        Ok(menu.plain_predicates())
    }

    /// What relations there are that `question` may ask for. Fails where a pipeline has none that the caller may read.
    pub fn relation_menu(&self, question: &str) -> Result<RelationMenu> {
        let (passages, _) = self.findings(&SoughtQuestion::asked(question))?;
        let mut menu = RelationMenu::default();
        for search in &self.searches {
            pgrx::check_for_interrupts!();
            let own = passages.iter().filter(|it| it.pipeline == search.pipeline().name);
            let chunks: Vec<i64> = own.map(|it| it.chunk_id).collect();
            menu.extend(search.relation_menu(question, &chunks)?);
        }
        Ok(menu)
    }

    /// The paths over what was picked, those of each pipeline with the name of its source.
    pub fn related(&self, picked: &PickedRelations) -> Result<Vec<PathOfRows>> {
        let mut all = Vec::new();
        for search in &self.searches {
            pgrx::check_for_interrupts!();
            let relation = statement_name(search.pipeline().source.oid);
            let paths = search.related(picked)?.into_iter();
            all.extend(paths.map(|path| PathOfRows { relation: relation.clone(), path }));
        }
        Ok(all)
    }

    /// Has the passages of each list a similarity by the same model. Where words alone were looked up, none
    /// has one.
    fn compare(&self, question: &SoughtQuestion<'_>, lists: &mut [FederatedList]) -> Result<()> {
        let is_measured = |it: &Passage| it.similarity.is_some();
        if !lists.iter().flat_map(|list| &list.passages).any(is_measured) {
            return Ok(());
        }
        for (search, list) in self.searches.iter().zip(lists) {
            let is_known = search.pipeline().model == self.model;
            if list.passages.is_empty() || is_known && list.passages.iter().all(is_measured) {
                continue;
            }
            list.compared = list.compared.min(COMPARED);
            let texts = list.passages[..list.compared].iter().map(|it| it.content.clone());
            let texts: Vec<String> = texts.collect();
            let mut embedding = Embedding::with_model(Some(&self.model), search.context)?;
            let asked = match question.known(&self.model) {
                Some(known) => known.to_vec(),
                None => {
                    let text = [question.text.to_owned()];
                    embedding.embed(&text, EmbeddingKind::Query)?.swap_remove(0)
                }
            };
            let vectors = embedding.embed(&texts, EmbeddingKind::Passage)?;
            let similarities = vectors.iter().map(|vector| Some(cosine(&asked, vector)));
            let similarities = similarities.chain(std::iter::repeat(None));
            for (passage, similarity) in list.passages.iter_mut().zip(similarities) {
                passage.similarity = similarity;
            }
        }
        Ok(())
    }
}

/// A page of what several pipelines give.
#[derive(Clone, Copy)]
struct FederatedPage {
    k: usize,
    passed_over: usize,
}

/// The page that is asked for, if one is. Each pipeline then gives all of its candidates, so that the order of all
/// together is the same for each page.
fn page_of_all(pipelines: &mut [FederatedPipeline], usual_k: i32) -> Result<Option<FederatedPage>> {
    let candidates = pipelines.iter().map(|it| u64::from(it.options.options.retrieve.candidates));
    let (candidates, mut page) = (candidates.sum(), None);
    for FederatedPipeline { options, .. } in pipelines {
        let k = options.options.k.unwrap_or(usual_k);
        let passed_over = options.options.retrieve.passed_over();
        let checked = options.options.retrieve.check_page_of(k.unsigned_abs(), candidates);
        options.named(&["retrieve.candidates", "k"], checked)?;
        if options.options.retrieve.offset.take().is_some() {
            options.options.k = i32::try_from(options.options.retrieve.candidates).ok();
            page = Some(FederatedPage { k: k as usize, passed_over });
        }
    }
    Ok(page)
}

/// The model of the most pipelines, the first of those that are of as many. One behind a provider, where each
/// text is paid for, only if all have it: else that of `rag.embedding_model`.
fn common_model(searches: &[Search]) -> Result<String> {
    let models = || searches.iter().map(|it| it.pipeline().model.as_str());
    let first = models().next().unwrap_or_default();
    if models().all(|model| model == first) {
        return Ok(first.to_owned());
    }
    let (mut best, mut most) = (None, 0);
    for model in models() {
        let count = models().filter(|it| *it == model).count();
        if count > most && model::find(Some(model))?.remote.is_none() {
            (best, most) = (Some(model), count);
        }
    }
    match best {
        Some(model) => Ok(model.to_owned()),
        None => Ok(model::find(None)?.reference.name),
    }
}

/// The columns of the first search that all others have, too, with the same type.
fn common_columns(searches: &[Search]) -> Vec<ViewColumn> {
    let has = |search: &Search, column: &ViewColumn| {
        let same = |it: &ViewColumn| it.name == column.name && it.type_oid == column.type_oid;
        search.metadata().iter().any(same)
    };
    let [first, others @ ..] = searches else { return Vec::new() };
    let is_common = |column: &&ViewColumn| others.iter().all(|search| has(search, column));
    first.metadata().iter().filter(is_common).cloned().collect()
}

/// An error of one of several pipelines.
fn about(pipeline: &str, error: Error) -> Error {
    error.fact(format!("It is about pipeline \"{pipeline}\", one of those that are asked."))
}
