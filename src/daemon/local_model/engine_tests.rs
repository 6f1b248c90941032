//! The engine, with a model in which each token hangs on all tokens before it: what is in the wrong place, or left over in
//! the cache, changes the text.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

/// Tokens are bytes; this one ends a text.
const END: Token = 0;

/// Tokens that a sequence of the model can have.
const ROOM: usize = 96;

/// Most tokens of a batch.
const BATCH: usize = 40;

/// A model that keeps its sequences as they are, and checks what it is given.
#[derive(Default)]
struct HashedModel {
    cache: HashMap<usize, Vec<Token>>,
    asked: Vec<Option<Token>>,
    /// How many tokens it has read.
    read: usize,
    /// Whether a part of a sequence cannot be taken out.
    only_whole: bool,
    /// Batches until one that fails.
    fails_after: Option<usize>,
}

/// What follows `tokens`: a letter, or now and then the end.
fn next(tokens: &[Token]) -> Token {
    let hash =
        tokens.iter().fold(17u32, |hash, token| hash.wrapping_mul(31).wrapping_add(*token as u32));
    match hash >> 7 & 31 {
        0 => END,
        letter => Token::from(b'a') + (letter % 26) as Token,
    }
}

impl LanguageModel for HashedModel {
    type Sampler = ();

    fn context_tokens(&self) -> usize {
        ROOM
    }

    fn batch_tokens(&self) -> usize {
        BATCH
    }

    fn tokenize(&self, prompt: &str) -> Result<Vec<Token>> {
        Ok(prompt.bytes().map(Token::from).collect())
    }

    fn piece(&self, token: Token) -> Vec<u8> {
        vec![token as u8]
    }

    fn is_end(&self, token: Token) -> bool {
        token == END
    }

    fn sampler(&self, _: &SamplingParameters, _: u32, grammar: Option<&str>) -> Result<()> {
        grammar.map_or(Ok(()), |grammar| Err(Error::invalid(grammar)))
    }

    fn decode(&mut self, tokens: &[BatchToken], stops: &(dyn Fn() -> bool + Sync)) -> Decoded {
        assert!(!tokens.is_empty() && tokens.len() <= BATCH, "{} tokens", tokens.len());
        if let Some(left) = self.fails_after.as_mut() {
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.fails_after = None;
                return Decoded::Failed(-3);
            }
        }
        self.asked.clear();
        for token in tokens {
            let sequence = self.cache.entry(token.sequence).or_default();
            assert_eq!(sequence.len(), token.position, "sequence {}", token.sequence);
            assert!(sequence.len() < ROOM);
            sequence.push(token.token);
            self.asked.push(token.is_asked.then(|| next(sequence)));
            self.read += 1;
            if stops() {
                return Decoded::Stopped;
            }
        }
        Decoded::Done
    }

    fn sample(&mut self, row: usize, (): &mut ()) -> Result<Token> {
        Ok(self.asked[row].expect("a row that was asked"))
    }

    fn forget(&mut self, sequence: usize, from: usize) -> bool {
        let tokens = self.cache.entry(sequence).or_default();
        if self.only_whole && from > 0 && from < tokens.len() {
            return false;
        }
        tokens.truncate(from);
        true
    }

    fn copy(&mut self, from: usize, to: usize) {
        let tokens = self.cache.get(&from).cloned().unwrap_or_default();
        self.cache.insert(to, tokens);
    }

    fn forget_all(&mut self) {
        self.cache.clear();
    }
}

/// The text after `prompt`, made plainly, and why it ends.
fn twin(prompt: &str, max_tokens: usize) -> (String, &'static str) {
    let mut tokens: Vec<Token> = prompt.bytes().map(Token::from).collect();
    let mut text = String::new();
    loop {
        let token = next(&tokens);
        if token == END {
            return (text, "stop");
        }
        text.push(char::from(token as u8));
        tokens.push(token);
        if text.len() >= max_tokens || tokens.len() >= ROOM {
            return (text, "length");
        }
    }
}

/// Three prompts that begin with `head`, whose texts do not end at once.
fn lively(head: &str) -> Vec<String> {
    let prompts = (100..300).map(|number| format!("{head}{number}"));
    prompts.filter(|prompt| twin(prompt, 40).0.len() >= 10).take(3).collect()
}

fn call(id: u64, lane: Lane, prompt: &str, max_tokens: usize) -> WritingCall {
    let sampling = SamplingParameters::default();
    WritingCall {
        id,
        lane,
        prompt: prompt.to_owned(),
        sampling,
        seed: 0,
        max_tokens,
        grammar: None,
    }
}

/// What became of the calls: their texts, and why they end.
#[derive(Default)]
struct Outcomes {
    texts: HashMap<u64, String>,
    ends: HashMap<u64, std::result::Result<(&'static str, WrittenTokens), Error>>,
    order: Vec<u64>,
}

impl Outcomes {
    fn take(&mut self, events: Vec<WritingEvent>) {
        for event in events {
            match event {
                WritingEvent::Piece { id, text } => {
                    assert!(!self.ends.contains_key(&id), "a piece of {id} after its end");
                    *self.texts.entry(id).or_default() += &text;
                }
                WritingEvent::Done { id, finish_reason, tokens } => {
                    assert!(self.ends.insert(id, Ok((finish_reason, tokens))).is_none());
                    self.order.push(id);
                }
                WritingEvent::Failed { id, error } => {
                    assert!(self.ends.insert(id, Err(error)).is_none());
                }
            }
        }
    }

    fn text(&self, id: u64) -> &str {
        self.texts.get(&id).map_or("", String::as_str)
    }
}

fn run(engine: &mut WritingEngine<HashedModel>, outcomes: &mut Outcomes) {
    for _ in 0..10_000 {
        if engine.is_idle() {
            return;
        }
        outcomes.take(engine.step());
    }
    panic!("the engine does not come to an end");
}

#[test]
fn a_text_is_written_to_its_end() {
    for (prompt, most) in [("Hello", 50), ("Gate", 3), ("x", 1), (&"long ".repeat(15), 200)] {
        let mut engine = WritingEngine::new(HashedModel::default(), 1);
        let mut outcomes = Outcomes::default();
        engine.add(call(1, Lane::Query, prompt, most));
        run(&mut engine, &mut outcomes);
        let (text, end) = twin(prompt, most);
        assert_eq!(outcomes.text(1), text, "{prompt:?}");
        let (finish_reason, tokens) = outcomes.ends[&1].clone().unwrap();
        assert_eq!(finish_reason, end);
        let expected = WrittenTokens { prompt: prompt.len(), cached: 0, completion: text.len() };
        assert_eq!(tokens, expected);
    }
}

#[test]
fn what_begins_alike_is_not_read_again() {
    let template = "You answer questions with the sources alone. Question: ";
    for only_whole in [false, true] {
        let model = HashedModel { only_whole, ..HashedModel::default() };
        let mut engine = WritingEngine::new(model, 1);
        let mut outcomes = Outcomes::default();
        for (id, question) in [(1, "Who?"), (2, "When and where?")] {
            engine.add(call(id, Lane::Query, &format!("{template}{question}"), 5));
            run(&mut engine, &mut outcomes);
            assert_eq!(outcomes.text(id), twin(&format!("{template}{question}"), 5).0);
        }
        let cached = outcomes.ends[&2].clone().unwrap().1.cached;
        // Both questions begin with the same two letters.
        assert_eq!(cached, if only_whole { 0 } else { template.len() + 2 });
    }
}

#[test]
fn beginnings_that_take_turns_are_each_read_once() {
    let beginnings = ["You write a query for this question: ", "You say whether there is one: "];
    let mut engine = WritingEngine::new(HashedModel::default(), 2);
    let mut outcomes = Outcomes::default();
    let mut id = 0;
    for question in ["Who?", "When?", "Where?"] {
        for beginning in beginnings {
            id += 1;
            let prompt = format!("{beginning}{question}");
            engine.add(call(id, Lane::Query, &prompt, 5));
            run(&mut engine, &mut outcomes);
            assert_eq!(outcomes.text(id), twin(&prompt, 5).0);
            let cached = outcomes.ends[&id].clone().unwrap().1.cached;
            let read_before = if id > 2 { beginning.len() } else { 0 };
            assert!(cached >= read_before, "{prompt:?}: {cached}");
        }
    }
}

#[test]
fn a_prefix_is_copied_from_a_text_under_way() {
    let prompts = lively("A long text that stands before every question, whatever it asks: ");
    let [first, second] = &prompts[..2] else { panic!("two prompts") };
    let mut engine = WritingEngine::new(HashedModel::default(), 2);
    let mut outcomes = Outcomes::default();
    engine.add(call(1, Lane::Query, first, 20));
    let has_read = |engine: &WritingEngine<HashedModel>| {
        engine.slots.iter().any(|slot| slot.active.is_some() && slot.cached.len() >= first.len())
    };
    while !has_read(&engine) {
        assert!(!engine.is_idle(), "the first text is done already");
        outcomes.take(engine.step());
    }
    engine.add(call(2, Lane::Query, second, 20));
    run(&mut engine, &mut outcomes);
    let alike = first.bytes().zip(second.bytes()).take_while(|(one, other)| one == other).count();
    assert_eq!(outcomes.ends[&2].clone().unwrap().1.cached, alike);
    for (id, prompt) in [(1, first), (2, second)] {
        assert_eq!(outcomes.text(id), twin(prompt, 20).0);
    }
}

#[test]
fn a_prompt_without_room_is_refused() {
    let mut engine = WritingEngine::new(HashedModel::default(), 1);
    let mut outcomes = Outcomes::default();
    engine.add(call(1, Lane::Query, &"x".repeat(ROOM), 5));
    engine.add(call(2, Lane::Query, "", 5));
    engine.add(call(3, Lane::Query, &"x".repeat(ROOM - 1), 5));
    run(&mut engine, &mut outcomes);
    let error = outcomes.ends[&1].clone().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ProviderRefused);
    assert_eq!(
        error.message(),
        "the prompt has 96 tokens, and the model reads 96, its answer included"
    );
    assert_eq!(outcomes.ends[&2].clone().unwrap_err().kind(), ErrorKind::InvalidParameter);
    assert!(outcomes.ends[&3].is_ok());
}

#[test]
fn a_grammar_that_is_none_fails_its_call_alone() {
    let mut engine = WritingEngine::new(HashedModel::default(), 2);
    let mut outcomes = Outcomes::default();
    engine.add(WritingCall {
        grammar: Some("no grammar".to_owned()),
        ..call(1, Lane::Query, "a", 5)
    });
    engine.add(call(2, Lane::Query, "a", 5));
    run(&mut engine, &mut outcomes);
    assert_eq!(outcomes.ends[&1].clone().unwrap_err().message(), "no grammar");
    assert_eq!(outcomes.text(2), twin("a", 5).0);
}

#[test]
fn after_a_failure_the_next_text_is_whole() {
    let model = HashedModel { fails_after: Some(3), ..HashedModel::default() };
    let mut engine = WritingEngine::new(model, 2);
    let mut outcomes = Outcomes::default();
    let mut prompts = lively("Prompt ").into_iter();
    let mut next = || prompts.next().unwrap();
    engine.add(call(1, Lane::Query, &next(), 40));
    engine.add(call(2, Lane::Query, &next(), 40));
    run(&mut engine, &mut outcomes);
    for id in [1, 2] {
        let error = outcomes.ends[&id].clone().unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::ProviderFailed, "llama.cpp has failed with code -3")
        );
    }
    let prompt = next();
    engine.add(call(3, Lane::Query, &prompt, 40));
    run(&mut engine, &mut outcomes);
    assert_eq!(outcomes.text(3), twin(&prompt, 40).0);
}

#[test]
fn a_text_that_is_given_up_is_in_no_further_batch() {
    let prompts = lively("Prompt ");
    let [first, second] = &prompts[..2] else { panic!("two prompts") };
    let mut engine = WritingEngine::new(HashedModel::default(), 1);
    let mut outcomes = Outcomes::default();
    engine.add(call(1, Lane::Query, first, 40));
    engine.add(call(2, Lane::Query, second, 5));
    for _ in 0..3 {
        outcomes.take(engine.step());
    }
    let written = outcomes.text(1).to_owned();
    assert!((1..10).contains(&written.len()), "{written}");
    let read = engine.model.read;
    engine.cancel(1);
    outcomes.take(engine.step());
    // The very next batch is the other prompt, from where it differs.
    let alike = first.bytes().zip(second.bytes()).take_while(|(one, other)| one == other).count();
    assert_eq!(engine.model.read - read, second.len() - alike);
    run(&mut engine, &mut outcomes);
    assert_eq!(outcomes.text(1), written);
    assert!(!outcomes.ends.contains_key(&1));
    assert_eq!(outcomes.text(2), twin(second, 5).0);
}

#[test]
fn a_batch_that_nobody_waits_for_is_stopped() {
    let prompts = lively("A beginning that both of the prompts have: ");
    let [first, second] = &prompts[..2] else { panic!("two prompts") };
    for only_whole in [false, true] {
        let model = HashedModel { only_whole, ..HashedModel::default() };
        let (mut engine, given_up) = (WritingEngine::new(model, 1), Arc::default());
        engine.heed(Arc::clone(&given_up));
        let mut outcomes = Outcomes::default();
        engine.add(call(1, Lane::Query, first, 40));
        outcomes.take(engine.step());
        let read = engine.model.read;
        given_up.note(1);
        outcomes.take(engine.step());
        assert_eq!(engine.model.read - read, 1, "the rest of the batch was not read");
        assert!(engine.is_idle());
        engine.cancel(1);
        engine.add(call(2, Lane::Query, second, 40));
        run(&mut engine, &mut outcomes);
        assert!(!outcomes.ends.contains_key(&1));
        assert_eq!(outcomes.text(2), twin(second, 40).0);
    }
}

#[test]
fn a_batch_that_somebody_waits_for_goes_on() {
    let prompts = lively("Prompt ");
    let [first, second] = &prompts[..2] else { panic!("two prompts") };
    let (mut engine, given_up) =
        (WritingEngine::new(HashedModel::default(), 2), Arc::<GivenUpCalls>::default());
    engine.heed(Arc::clone(&given_up));
    let mut outcomes = Outcomes::default();
    engine.add(call(1, Lane::Query, first, 40));
    engine.add(call(2, Lane::Query, second, 40));
    outcomes.take(engine.step());
    given_up.note(1);
    let read = engine.model.read;
    outcomes.take(engine.step());
    assert_eq!(engine.model.read - read, 2, "a token of each");
    engine.cancel(1);
    run(&mut engine, &mut outcomes);
    assert!(!outcomes.ends.contains_key(&1));
    assert_eq!(outcomes.text(2), twin(second, 40).0);
}

#[test]
fn people_go_before_bulk_and_find_a_place() {
    let mut engine = WritingEngine::new(HashedModel::default(), 2);
    let mut outcomes = Outcomes::default();
    for id in 1..=4 {
        engine.add(call(id, Lane::Bulk, &format!("bulk {id} text"), 12));
    }
    outcomes.take(engine.step());
    let under_way = engine.slots.iter().filter(|slot| slot.active.is_some()).count();
    assert_eq!(under_way, 1, "one place is left for people");
    engine.add(call(9, Lane::Query, "a person", 12));
    outcomes.take(engine.step());
    let is_person =
        |slot: &SequenceSlot<()>| slot.active.as_ref().is_some_and(|it| it.call.id == 9);
    assert!(engine.slots.iter().any(is_person));
    run(&mut engine, &mut outcomes);
    assert_eq!(outcomes.ends.len(), 5);
}

proptest! {
    /// Whatever comes when, beside what, and is given up: each text is that of its prompt alone.
    #[test]
    fn texts_are_those_of_a_model_alone(
        sequences in 1..5usize,
        only_whole in any::<bool>(),
        calls in prop::collection::vec(
            (0..4usize, "[a-c]{1,60}", 1..30usize, 0..3u8, 0..6usize, prop::option::of(0..8usize)),
            1..12,
        ),
    ) {
        let heads = ["", "The same beginning of several prompts. ", "The same beg", "Another one "];
        let model = HashedModel { only_whole, ..HashedModel::default() };
        let mut engine = WritingEngine::new(model, sequences);
        let noted = Arc::<GivenUpCalls>::default();
        engine.heed(Arc::clone(&noted));
        let mut outcomes = Outcomes::default();
        let mut given_up = Vec::new();
        let mut wanted = HashMap::new();
        for (id, (head, tail, most, lane, steps, give_up)) in (1u64..).zip(&calls) {
            let prompt: String = format!("{}{tail}", heads[*head]).chars().take(ROOM - 1).collect();
            let lane = [Lane::Query, Lane::Fresh, Lane::Bulk][*lane as usize];
            engine.add(call(id, lane, &prompt, *most));
            wanted.insert(id, twin(&prompt, *most));
            for _ in 0..*steps {
                outcomes.take(engine.step());
            }
            if let Some(back) = give_up {
                let id = id.saturating_sub(*back as u64).max(1);
                // It is noted while a batch goes through the model, and the engine hears of it afterwards.
                noted.note(id);
                outcomes.take(engine.step());
                engine.cancel(id);
                given_up.push(id);
            }
        }
        run(&mut engine, &mut outcomes);
        for (id, (text, end)) in wanted {
            match outcomes.ends.get(&id) {
                Some(outcome) => {
                    prop_assert_eq!(outcomes.text(id), text);
                    prop_assert_eq!(outcome.as_ref().unwrap().0, end);
                }
                None => prop_assert!(given_up.contains(&id), "{} was lost", id),
            }
        }
    }
}
