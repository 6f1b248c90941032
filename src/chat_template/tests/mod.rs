mod family;
mod hostile;

use super::{ChatForm, chat_text};
use crate::error::Result;
use crate::prompt::messages::Message;

fn messages(said: &[(&str, &str)]) -> Vec<Message> {
    said.iter()
        .map(|(role, content)| Message { role: (*role).into(), content: (*content).into() })
        .collect()
}

fn render(template: &str, said: &[(&str, &str)]) -> Result<String> {
    let form = ChatForm {
        template: Some(template),
        bos: "<s>",
        eos: "</s>",
        today: "2024-12-31",
        thinks: None,
    };
    chat_text(&form, &messages(said))
}

/// Checks what `template` makes of a system's and a user's message, an answer and a question.
fn check(template: &str, expected: &str) {
    let said =
        [("system", "Be brief."), ("user", "Hi {{ x }}"), ("assistant", "Yes."), ("user", "Why?")];
    assert_eq!(render(template, &said).unwrap(), expected);
}

/// Checks one expression of a template.
fn value(expression: &str, expected: &str) {
    let text = render(&format!("{{{{ {expression} }}}}"), &[("user", " a-b ")]).unwrap();
    assert_eq!(text, expected, "{expression}");
}
