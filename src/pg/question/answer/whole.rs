//! What a question for the whole is answered with where no language model writes.
//!
//! What it is about is looked for in what was found for it. Where that does not name it, it is looked up by its own words: those
//! that ask for the whole are in no text, and lead elsewhere.

use crate::error::Result;
use crate::extract::overview::{
    SubjectPlace, WholeQuote, compared, is_enough, of_everything, of_mentioned, of_section,
    of_summary, place, shortened,
};
use crate::extract::subject::{WholeSubject, subjects};
use crate::pg::derivation::mentions::look_around;
use crate::pg::question::federation::FederatedSearch;
use crate::pg::ragd::trace;
use crate::retrieve::Passage;
use crate::source::{Source, Summary};
use crate::tree::digest::MOST_SENTENCES;
use crate::tree::whole::asks_for_whole;

/// Most rows that stand for all that there is.
const MOST_ROWS: usize = 3;

/// What is read for a question, and what of it is quoted if that asks for the whole.
pub struct WholeFindings {
    /// The sources: what was found, and what was looked up beside it.
    pub sources: Vec<Source>,
    /// The sentences that are quoted, paragraph by paragraph; none where the question is answered as one for a fact is.
    pub paragraphs: Vec<Vec<WholeQuote>>,
    /// Whether they are what is asked for, and not only speak of it: then nothing else is tried before.
    pub are_meant: bool,
    /// The two things that are compared, if any are.
    compared: Vec<WholeSubject>,
}

impl WholeFindings {
    /// What is read for a question for a fact.
    pub fn of_fact(sources: Vec<Source>) -> WholeFindings {
        let (paragraphs, compared) = (Vec::new(), Vec::new());
        WholeFindings { sources, paragraphs, are_meant: false, compared }
    }

    /// Whether an answer to the question as if it was for a fact is better than what would be quoted: one that compares two
    /// things speaks of both.
    pub fn is_answered_by(&self, text: &str) -> bool {
        self.paragraphs.is_empty() || self.compared.iter().all(|it| it.is_in(text))
    }
}

/// What stands for one subject of a question.
struct SubjectQuotes {
    paragraphs: Vec<Vec<WholeQuote>>,
    are_meant: bool,
}

/// What is read for `question`, for which `sources` were found. Nothing is quoted of pipelines without trees.
pub fn looked_up(
    question: &str,
    sources: Vec<Source>,
    search: &FederatedSearch,
) -> Result<WholeFindings> {
    if !asks_for_whole(question) || !search.reads_trees() {
        return Ok(WholeFindings::of_fact(sources));
    }
    trace::step("whole", String::new, || {
        let tables = search.table_names();
        let subjects = subjects(question).into_iter().map(|it| it.apart_from(&tables));
        let subjects: Vec<WholeSubject> = subjects.collect();
        let mut look = WholeLook { question, search, sources, tables };
        let mut found = Vec::with_capacity(subjects.len());
        for subject in &subjects {
            found.push(look.quotes(subject)?);
        }
        let sources = look.sources;
        let (paragraphs, are_meant) = match found.as_slice() {
            [one, other] => (compared(one.paragraphs.concat(), other.paragraphs.concat()), false),
            _ => (
                found.iter().flat_map(|it| it.paragraphs.clone()).collect(),
                found.iter().all(|it| it.are_meant),
            ),
        };
        trace::rows(paragraphs.len());
        let compared = if found.len() > 1 { subjects } else { Vec::new() };
        Ok(WholeFindings { sources, paragraphs, are_meant, compared })
    })
}

/// Looks for what stands for the subjects of a question.
struct WholeLook<'a> {
    question: &'a str,
    search: &'a FederatedSearch,
    sources: Vec<Source>,
    /// What the pipelines and their tables are called.
    tables: Vec<String>,
}

/// Where something stands that a subject names, without what it is borrowed from.
enum FoundPlace {
    Everything,
    Row(Box<Source>),
    Sections(Vec<(Passage, String)>),
    Mentioned,
    Unknown,
}

impl WholeLook<'_> {
    /// What stands for `subject`; what is looked up for it is read, too.
    fn quotes(&mut self, subject: &WholeSubject) -> Result<SubjectQuotes> {
        let mut found = self.place(subject);
        if matches!(found, FoundPlace::Mentioned | FoundPlace::Unknown) {
            let known = self.sources.len();
            let more = self.search.more_sources(subject.words())?;
            self.add(more);
            found = self.place(subject);
            if matches!(found, FoundPlace::Unknown) {
                self.sources.truncate(known);
            }
        }
        let meant = |paragraphs: Vec<Vec<WholeQuote>>| {
            let are_meant = paragraphs.iter().any(|it| !it.is_empty());
            SubjectQuotes { paragraphs, are_meant }
        };
        Ok(match found {
            FoundPlace::Everything => meant(self.of_everything()?),
            FoundPlace::Row(source) => meant(vec![self.of_row(*source)?]),
            FoundPlace::Sections(sections) => {
                let mut paragraphs = Vec::with_capacity(sections.len());
                for (chunk, path) in sections {
                    paragraphs.push(self.of_section(&chunk, &path)?);
                }
                meant(shortened(paragraphs))
            }
            FoundPlace::Mentioned => {
                let quotes = of_mentioned(subject, &self.sources, &mut look_around);
                SubjectQuotes { are_meant: is_enough(&quotes), paragraphs: vec![quotes] }
            }
            FoundPlace::Unknown => SubjectQuotes { paragraphs: Vec::new(), are_meant: false },
        })
    }

    fn place(&self, subject: &WholeSubject) -> FoundPlace {
        let search = self.search;
        let has_title = |pipeline: &str| search.has_title(pipeline);
        let found = place(subject, &self.sources, &self.tables, &has_title);
        let chunk =
            |(at, path): (usize, &str)| Some((self.sources[at].chunk()?.clone(), path.to_owned()));
        match found {
            SubjectPlace::Everything => FoundPlace::Everything,
            SubjectPlace::Row(at) => FoundPlace::Row(Box::new(self.sources[at].clone())),
            SubjectPlace::Sections(all) => {
                FoundPlace::Sections(all.into_iter().filter_map(chunk).collect())
            }
            SubjectPlace::Mentioned => FoundPlace::Mentioned,
            SubjectPlace::Unknown => FoundPlace::Unknown,
        }
    }

    /// The sentences that sum up all that there is, by the summaries that were found, or else by those of the best rows: where a
    /// row is one chunk, no search finds what sums it up.
    fn of_everything(&mut self) -> Result<Vec<Vec<WholeQuote>>> {
        let mut paragraphs = of_everything(&self.sources);
        if paragraphs.is_empty() {
            for (pipeline, chunk_id) in self.best_rows() {
                let summary = self.summary(&pipeline, chunk_id)?;
                paragraphs.extend(summary.map(|it| of_summary(&it, MOST_SENTENCES)));
            }
        }
        Ok(shortened(paragraphs))
    }

    /// The best chunks of the best rows, by their pipelines and keys.
    fn best_rows(&self) -> Vec<(String, i64)> {
        let mut best: Vec<&Passage> = Vec::new();
        for chunk in self.sources.iter().filter_map(Source::chunk) {
            let is_of = |it: &&Passage| it.pipeline == chunk.pipeline && it.row() == chunk.row();
            if best.len() < MOST_ROWS && !best.iter().any(is_of) {
                best.push(chunk);
            }
        }
        best.into_iter().map(|it| (it.pipeline.clone(), it.chunk_id)).collect()
    }

    /// The sentences that sum up the row of a source: those of its summary, or, where the caller does not see all of it or it has
    /// none, those of the chunks.
    fn of_row(&mut self, source: Source) -> Result<Vec<WholeQuote>> {
        let (pipeline, chunk_id) = match &source {
            Source::Summary(it) if it.is_named => return Ok(of_summary(it, MOST_SENTENCES)),
            Source::Summary(it) => match it.leaves.first() {
                Some(leaf) => (leaf.span.pipeline.clone(), leaf.span.chunk_id),
                None => return Ok(Vec::new()),
            },
            Source::Chunk(it) => (it.pipeline.clone(), it.chunk_id),
            Source::Rows(_) => return Ok(Vec::new()),
        };
        if let Some(summary) = self.summary(&pipeline, chunk_id)? {
            return Ok(of_summary(&summary, MOST_SENTENCES));
        }
        match source {
            Source::Chunk(chunk) => self.of_section(&chunk, ""),
            Source::Summary(it) => Ok(of_summary(&it, MOST_SENTENCES)),
            Source::Rows(_) => Ok(Vec::new()),
        }
    }

    /// The sentences that stand for what stands under a heading of the row of a chunk; of the whole row where all of it does.
    fn of_section(&mut self, chunk: &Passage, path: &str) -> Result<Vec<WholeQuote>> {
        let Some(section) = self.search.section(chunk, path)? else { return Ok(Vec::new()) };
        if section.is_whole
            && let Some(summary) = self.summary(&chunk.pipeline, chunk.chunk_id)?
        {
            return Ok(of_summary(&summary, MOST_SENTENCES));
        }
        let quotes = of_section(&section.passages, &mut look_around);
        let quoted = section.passages.into_iter().map(Source::Chunk).filter(|it| {
            let id = it.id();
            quotes.iter().any(|quote| quote.source == id)
        });
        let quoted: Vec<Source> = quoted.collect();
        self.add(quoted);
        Ok(quotes)
    }

    /// The summary of the row of a chunk, which is read, too; `None` where there is none for the caller.
    fn summary(&mut self, pipeline: &str, chunk_id: i64) -> Result<Option<Summary>> {
        let summary = self.search.summary_of_row(self.question, pipeline, chunk_id)?;
        if let Some(summary) = &summary {
            self.add(vec![Source::Summary(summary.clone())]);
        }
        Ok(summary)
    }

    /// Adds what is not among the sources yet.
    fn add(&mut self, more: Vec<Source>) {
        for source in more {
            let id = source.id();
            if self.sources.iter().all(|it| it.id() != id) {
                self.sources.push(source);
            }
        }
    }
}
