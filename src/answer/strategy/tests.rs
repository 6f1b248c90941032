//! Each strategy with a language model that says what a script wants, and what it was asked.

mod agent;
mod around;
mod called;
mod chosen;
mod evaluated;
mod every;
mod formed;
mod groups;
mod judged;
mod kept;
mod kinds;
mod last;
mod reasoning;
mod room;

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::*;
use crate::answer::draft::Draft;
use crate::answer::form::AnswerForm;
use crate::answer::options::AnswerOptions;
use crate::context::Reading;
use crate::context::budget::Room;
use crate::graph::relations;
use crate::graph::relations::pick::{PickedRelations, RelationMenu};
use crate::prompt::messages::NO_ANSWER;
use crate::prompt::template::Template;
use crate::prompt::template::tests::shipped;
use crate::prompt::tokens::Counter;
use crate::prompt::tokens::tests::words;
use crate::retrieve::Passage;
use crate::source::Source;
use crate::source::tests::one_of_each;

const QUESTION: &str = "How do the mills of Ghent and Bruges differ?";

/// What the question and the parts of it find.
const FINDS: [(&str, &[u32]); 3] =
    [(QUESTION, &[1]), ("What of Ghent?", &[2, 1]), ("What of Bruges?", &[3, 2])];

/// Finds what is written down for a query, says one thing after the other, and keeps what it was
/// asked.
struct Scripted {
    /// Queries and the documents that they find.
    finds: Vec<(&'static str, Vec<u32>)>,
    /// What every query finds besides.
    others: Vec<Source>,
    /// What stands in all documents, if they do not speak for themselves.
    content: Option<String>,
    says: VecDeque<Result<&'static str>>,
    looked_up: Vec<String>,
    /// Those of them that have come up on the way.
    followed_up: Vec<String>,
    /// Step and prompt of each call; calls that were made at once share a number.
    asked: Vec<(usize, &'static str, Vec<Message>)>,
    limits: Vec<Limits>,
    batches: usize,
    now_ms: u64,
    /// How long a batch of calls takes.
    takes_ms: u64,
    /// Tokens that each call says it has read and written.
    tokens: (u64, u64),
    /// Words that a call can read.
    room: Room,
    /// For how many calls each reading was.
    read_for: Vec<ReadingCalls>,
    /// The form of the answer.
    form: Option<AnswerForm>,
    /// Whether the model may use what it knows itself.
    has_own_knowledge: bool,
    examples: Vec<String>,
    /// Prompts whose replies are kept, with these.
    kept: Vec<(Vec<Message>, String)>,
    /// Where answers are to be looked for.
    wanted: WantedSources,
    /// What an agent may do, and has done.
    acting: agent::Acting,
}

/// The text of a document.
fn content(document: u32) -> String {
    format!("Document {document} speaks.")
}

fn passage(document: u32, rank: usize) -> Passage {
    Passage {
        rank: rank as i32,
        score: 1.0,
        pipeline: "docs".to_owned(),
        shard: None,
        source_key: document.to_string(),
        chunk_id: i64::from(document),
        chunk_no: 0,
        content: content(document),
        start_char: 0,
        end_char: 20,
        lead: None,
        parts: Box::default(),
        heading: None,
        context: None,
        metadata: json!({}),
        written_metadata: "{}".into(),
        similarity: None,
        lexical: None,
        dense_rank: None,
        lexical_rank: None,
        rerank_score: None,
        via: None,
    }
}

impl StrategyHost for Scripted {
    fn retrieve(&mut self, query: &str) -> Result<Vec<Source>> {
        self.looked_up.push(query.to_owned());
        let found = self.finds.iter().find(|(known, _)| *known == query);
        let documents = found.map(|(_, documents)| documents.clone()).unwrap_or_default();
        let found = (1..).zip(documents).map(|(rank, document)| {
            let found = passage(document, rank);
            let content = self.content.clone().unwrap_or(found.content);
            Source::Chunk(Passage { content, ..found })
        });
        Ok(found.chain(self.others.clone()).collect())
    }

    fn retrieve_more(&mut self, query: &str) -> Result<Vec<Source>> {
        self.followed_up.push(query.to_owned());
        self.retrieve(query)
    }

    /// Each document that the question finds speaks of a community of its own, and so does what is found besides.
    fn communities(&mut self, question: &str, quest: CommunityQuest) -> Result<Vec<Vec<Source>>> {
        let found = self.retrieve(question)?;
        let each = found.into_iter().map(|source| vec![source]);
        Ok(each.take(quest.communities as usize).collect())
    }

    fn surroundings(&mut self, question: &str, _quest: CommunityQuest) -> Result<Surroundings> {
        let sources = self.retrieve(question)?;
        let note = |source: &Source| {
            let (key, words) = (source.label(), source.label());
            GraphNote { key, words, weight: 1.0, proofs: vec![vec![source.id()]] }
        };
        let lists = vec![("Entities", sources.iter().map(note).collect())];
        Ok(Surroundings { lists, sources })
    }

    /// As many predicates as the question finds documents, each between two of the entity names.
    fn relation_menu(&mut self, question: &str) -> Result<RelationMenu> {
        let found = self.retrieve(question)?;
        let predicate = |source: &Source| {
            (format!("p{}", source.label()), ["ghent".to_owned(), "bruges".to_owned()])
        };
        let predicates = found.iter().map(predicate).collect();
        Ok(RelationMenu { predicates, entities: relations::named("ghent").into_iter().collect() })
    }

    /// Each entity that is picked, or else that is asked about, leads to each predicate's number.
    fn related(&mut self, picked: &PickedRelations) -> Result<Surroundings> {
        let starts = if picked.entities.is_empty() { &picked.asked } else { &picked.entities };
        let paths = starts.iter().flat_map(|entity| {
            picked
                .predicates
                .iter()
                .map(move |predicate| around::path(&entity.name, predicate, "Bruges"))
        });
        Ok(related(&paths.collect::<Vec<_>>()))
    }

    fn wanted_sources(&mut self, _question: &str) -> Result<WantedSources> {
        Ok(self.wanted)
    }

    /// A query that is written at the first attempt, and has one row, none where it is empty, and does not run where it
    /// is `DROP`.
    fn query(
        &mut self,
        question: &str,
        beside: &[Source],
        ledger: &mut BudgetLedger,
    ) -> Result<Result<Vec<Source>>> {
        let prompt = self.query_prompt(question, beside)?;
        let size = estimate_all(&prompt);
        let (granted, limits) = ledger.grant(&[size], Some(0), self.now_ms);
        if granted == 0 {
            return Ok(Ok(Vec::new()));
        }
        let mut replies = self.generate_all("query", vec![prompt], limits)?;
        let reply = ledger.note("query", replies.pop().expect("a reply"), size, false)?;
        Ok(match reply.map(|it| it.text).unwrap_or_default() {
            sql if sql.is_empty() => Ok(Vec::new()),
            sql if sql == "DROP" => Err(Error::new(ErrorKind::ProviderFailed, "no query runs")),
            _ => Ok(one_of_each().into_iter().skip(2).collect()),
        })
    }

    fn query_prompt(&mut self, question: &str, beside: &[Source]) -> Result<Vec<Message>> {
        let beside: Vec<String> = beside.iter().map(Source::label).collect();
        let asked = format!("Found: {}. Question: {question}", beside.join(", "));
        let said = [("system", "Write a query.".to_owned()), ("user", asked)];
        let message = |(role, content): (&str, String)| Message { role: role.to_owned(), content };
        Ok(said.into_iter().map(message).collect())
    }

    fn read(
        &mut self,
        _question: &str,
        sources: Vec<Source>,
        calls: ReadingCalls,
    ) -> Result<Vec<Reading>> {
        self.read_for.push(calls);
        Ok(sources.into_iter().map(Reading::whole).collect())
    }

    fn room(&mut self, _question: &str) -> Result<Room> {
        Ok(self.room)
    }

    fn generate_all(
        &mut self,
        step: &'static str,
        prompts: Vec<Vec<Message>>,
        limits: Limits,
    ) -> Result<Vec<Result<ModelReply>>> {
        self.batches += 1;
        self.limits.push(limits);
        self.now_ms += self.takes_ms;
        let replies = prompts.into_iter().map(|prompt| {
            self.asked.push((self.batches, step, prompt));
            let text = self.says.pop_front().expect("a call that the script does not know")?;
            Ok(ModelReply {
                text: text.to_owned(),
                finish_reason: "stop".to_owned(),
                prompt_tokens: Some(self.tokens.0),
                cached_tokens: None,
                completion_tokens: Some(self.tokens.1),
                attempts: 1,
                tools: None,
            })
        });
        Ok(replies.collect())
    }

    fn kept(
        &mut self,
        _step: &'static str,
        calls: &[Option<KeptCall>],
    ) -> Result<Vec<Option<String>>> {
        let known = |call: &KeptCall| {
            let found = self.kept.iter().find(|(prompt, _)| *prompt == call.prompt);
            found.map(|(_, text)| call.as_told(text))
        };
        Ok(calls.iter().map(|call| call.as_ref().and_then(known)).collect())
    }

    fn keep(&mut self, replies: Vec<(KeptCall, ModelReply)>) -> Result<()> {
        for (call, reply) in replies.into_iter().filter(|(_, it)| it.finish_reason == "stop") {
            let text = call.as_kept(&reply.text);
            self.kept.push((call.prompt, text));
        }
        Ok(())
    }

    fn answer_template(&mut self) -> Result<Template> {
        Ok(shipped("standard"))
    }

    fn answer_form(&self) -> Option<AnswerForm> {
        self.form.clone()
    }

    fn has_own_knowledge(&self) -> bool {
        self.has_own_knowledge
    }

    fn examples(&self) -> &[String] {
        &self.examples
    }

    fn template(&mut self, name: &str) -> Result<Template> {
        Ok(shipped(name))
    }

    fn nonce(&mut self) -> Result<String> {
        Ok("MARK".to_owned())
    }

    fn elapsed_ms(&self) -> u64 {
        self.now_ms
    }
}

impl Counter for Scripted {
    fn count(&mut self, texts: &[String]) -> Result<Vec<usize>> {
        Ok(texts.iter().map(|text| words(text)).collect())
    }
}

/// What came of it.
struct Done {
    outcome: Draft,
    tools: Scripted,
}

fn scripted(finds: &[(&'static str, &[u32])], says: &[&'static str]) -> Scripted {
    Scripted {
        finds: finds.iter().map(|(query, found)| (*query, found.to_vec())).collect(),
        others: Vec::new(),
        content: None,
        says: says.iter().map(|text| Ok(*text)).collect(),
        looked_up: Vec::new(),
        followed_up: Vec::new(),
        asked: Vec::new(),
        limits: Vec::new(),
        batches: 0,
        now_ms: 0,
        takes_ms: 0,
        tokens: (100, 10),
        room: Room::default(),
        read_for: Vec::new(),
        form: None,
        has_own_knowledge: false,
        examples: Vec::new(),
        kept: Vec::new(),
        wanted: WantedSources::default(),
        acting: agent::Acting::default(),
    }
}

/// Answers `question`, with all calls.
fn run(
    strategy: &AnswerStrategy,
    question: &str,
    options: &StrategyOptions,
    tools: &mut dyn StrategyHost,
) -> Result<Draft> {
    let pending = match begin(strategy, question, options, tools)? {
        BegunAnswer::Done(outcome) => return Ok(*outcome),
        BegunAnswer::Asking(pending) => pending,
    };
    let begun = tools.elapsed_ms();
    let prompts = vec![pending.prompt.clone()];
    let mut replies = tools.generate_all(pending.step, prompts, pending.limits)?;
    let reply = replies.pop().expect("a reply");
    if let (Some(call), Ok(reply)) = (&pending.kept, &reply) {
        tools.keep(vec![(call.clone(), reply.clone())])?;
    }
    pending.finish(reply, "", tools.elapsed_ms() - begun)
}

fn options(options: Value) -> StrategyOptions {
    serde_json::from_value::<AnswerOptions>(options).unwrap().of_strategy()
}

fn run_with(name: &str, question: &str, given: Value, mut tools: Scripted) -> Done {
    let strategy = named(Some(name)).unwrap();
    let given = options(given);
    given.check().unwrap();
    assert_eq!(given.fitted(strategy, |_| true).unwrap(), given);
    let outcome = run(strategy, question, &given, &mut tools).unwrap();
    assert!(tools.says.is_empty(), "{} calls were not made", tools.says.len());
    Done { outcome, tools }
}

/// `documents` are found for [`QUESTION`].
fn ask(name: &str, given: Value, documents: &[u32], says: &[&'static str]) -> Done {
    run_with(name, QUESTION, given, scripted(&[(QUESTION, documents)], says))
}

impl Done {
    fn text(&self) -> &str {
        &self.outcome.text
    }

    /// Steps of the calls, those made at once joined by +.
    fn steps(&self) -> Vec<String> {
        let mut steps: Vec<(usize, String)> = Vec::new();
        for (batch, step, _) in &self.tools.asked {
            match steps.last_mut() {
                Some((last, joined)) if last == batch => *joined += &format!("+{step}"),
                _ => steps.push((*batch, (*step).to_owned())),
            }
        }
        steps.into_iter().map(|(_, step)| step).collect()
    }

    fn system(&self, call: usize) -> &str {
        &self.tools.asked[call].2[0].content
    }

    fn user(&self, call: usize) -> &str {
        let messages = &self.tools.asked[call].2;
        assert_eq!(messages.len(), 2);
        assert_eq!((messages[0].role.as_str(), messages[1].role.as_str()), ("system", "user"));
        &messages[1].content
    }

    /// Keys of what was read, in the order of the numbers.
    fn read(&self) -> Vec<String> {
        self.outcome.readings.iter().map(|one| one.source.label()).collect()
    }

    fn stopped_by(&self) -> &str {
        self.outcome.usage["stopped_by"].as_str().unwrap_or("")
    }
}

/// Sources as a prompt shows them: number and document.
fn sources(numbered: &[(usize, u32)]) -> String {
    let one = |(number, document): &(usize, u32)| {
        format!("<<<source {number} MARK>>>\n{}\n<<<end {number} MARK>>>", content(*document))
    };
    numbered.iter().map(one).collect::<Vec<_>>().join("\n\n")
}

fn notes(texts: &[&str]) -> String {
    let one = |(number, text): (usize, &&str)| {
        format!("<<<note {number} MARK>>>\n{text}\n<<<end note {number} MARK>>>")
    };
    (1..).zip(texts).map(one).collect::<Vec<_>>().join("\n\n")
}

fn asks(question: &str) -> String {
    format!("Question: {question}")
}
