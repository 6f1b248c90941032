//! The likeliest text, through ragd and as llama.cpp itself has it.

use pg_rag::daemon::local_model::context::ContextSize;

use super::gguf::{InstalledLlm, generate};
use super::plain_llama::PlainLlama;

const QUESTIONS: [&str; 20] = [
    "What is the capital of France?",
    "Count from one to ten in words.",
    "Write a haiku about snow.",
    "Translate to German: the house is big.",
    "What is 17 times 3?",
    "def fib(n): # complete it in Python",
    "SELECT name FROM customers WHERE",
    "Name three rivers of Asia.",
    "Wie heißt die größte Stadt Österreichs?",
    "Où se trouve le château de Chambéry ?",
    "¿Qué es un índice de base de datos?",
    "Ποια είναι η Αθήνα;",
    "Что такое снег?",
    "東京はどこですか。",
    "中国的首都在哪里？",
    "Što je češnjak?",
    "Repeat this: naïve café — “déjà vu” 🙂",
    "Zażółć gęślą jaźń",
    "ما هي مصر؟",
    "Write the French alphabet with all accents: à, â, ç",
];

/// Longest text, in tokens.
const LENGTH: u32 = 32;

/// From so many tokens in a batch on, llama.cpp computes attention in another way, and what is rounded otherwise can make
/// another token the likeliest. Shorter prompts have the same logits, to the bit, whether they are read in one batch or in
/// two, with a prefix in the cache or without.
const SUMMED_OTHERWISE: usize = 64;

/// What the model's template makes of a question, written out.
fn chat(question: &str) -> String {
    format!(
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n\
         <|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
    )
}

/// The model, if it is the one whose template is known here.
fn find() -> Option<InstalledLlm> {
    let llm = InstalledLlm::find()?;
    let is_known = llm.file().path.contains("SmolLM2");
    if !is_known {
        println!("skipped: the template of {} is not known here", llm.file().path);
    }
    is_known.then_some(llm)
}

/// What two prompts have in common is in the cache when the second one comes: it is read from its first other token on.
#[test]
fn the_next_question_is_read_from_where_it_differs() {
    let Some(llm) = find() else { return };
    let ragd = llm.start();
    let mut client = ragd.connect();
    let plain = PlainLlama::load(&llm, ContextSize { tokens: 512, sequences: 1, threads: 1 });
    let rules = "Answer from these facts and from nothing else. The mill of the village grinds rye and wheat. \
        The miller sells the flour at the market of the town on Saturdays.";
    let questions = ["What does the mill grind?", "Where is the flour sold?"]
        .map(|question| format!("{rules} {question}"));
    let prompts = questions.each_ref().map(|question| plain.tokenize(&chat(question)));
    let texts = questions
        .each_ref()
        .map(|question| generate(&mut client, llm.request(question, 4)).unwrap());
    let [first, second] = &prompts;
    let alike = first.iter().zip(second).take_while(|(one, other)| one == other).count();
    assert!(alike > 40 && alike < second.len(), "{alike} of {} tokens", second.len());
    assert_eq!(texts[0].cached_tokens, Some(0));
    let read = (texts[1].prompt_tokens, texts[1].cached_tokens);
    assert_eq!(read, (Some(second.len() as u64), Some(alike as u64)));
}

#[test]
fn the_likeliest_text_is_that_of_llama_cpp_itself() {
    let Some(llm) = find() else { return };
    let ragd = llm.start();
    let mut client = ragd.connect();
    let mut plain = PlainLlama::load(&llm, ContextSize { tokens: 512, sequences: 1, threads: 1 });
    let (mut written, mut beyond_ascii) = (0, 0);
    for question in QUESTIONS {
        let prompt = plain.tokenize(&chat(question));
        assert!(prompt.len() < SUMMED_OTHERWISE, "{question}: {} tokens", prompt.len());
        let expected = plain.write(&prompt, LENGTH as usize);
        let text = generate(&mut client, llm.request(question, LENGTH)).unwrap();
        assert_eq!(text.text, expected.text, "{question}");
        let tokens = (text.prompt_tokens.unwrap(), text.completion_tokens.unwrap());
        assert_eq!(tokens, (prompt.len() as u64, expected.tokens as u64), "{question}");
        let end = if expected.tokens == LENGTH as usize { "length" } else { "stop" };
        assert_eq!(text.finish_reason, end, "{question}");
        written += expected.tokens;
        beyond_ascii += usize::from(!expected.text.is_ascii());
    }
    println!("{written} tokens are llama.cpp's own; {beyond_ascii} texts have more than ASCII");
    assert!(beyond_ascii > 0, "no text shows how characters of several tokens are put together");
}
