//! A chat as the model's template writes it.

use std::io::{self, Write};

use minijinja::context;

use super::environment::environment;
use super::guard::guarded;
use crate::error::{Error, ErrorKind, Result};
use crate::prompt::messages::Message;

/// Longest template, in bytes.
const LONGEST: usize = 256 << 10;

/// Longest text that comes out, in bytes, beside the messages.
const LONGEST_FRAME: usize = 1 << 20;

/// Longest messages together, in bytes.
const LONGEST_MESSAGES: usize = 4 << 20;

/// What is used where a model's file has no template: ChatML, the commonest form.
const CHATML: &str = "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + \
    message.content + '<|im_end|>' + '\\n' }}{% endfor %}{% if add_generation_prompt %}\
    {{ '<|im_start|>assistant\\n' }}{% endif %}";

/// What a template is told beside the messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChatForm<'a> {
    /// The template in Jinja; none: ChatML.
    pub template: Option<&'a str>,
    /// The text of the token that begins a text, or nothing. A template that writes it does so in
    /// the text, and it must not be put before it once more.
    pub bos: &'a str,
    /// The text of the token that ends a text, or nothing.
    pub eos: &'a str,
    /// The day, as `2024-12-31`, for templates that tell the model.
    pub today: &'a str,
    /// Whether a model that can think before it answers is to do so; none: as its template has it.
    pub thinks: Option<bool>,
}

/// The text in which `messages` are read by a model, up to where its answer begins.
///
/// Where the template refuses messages of the system, or leaves them out, their text stands before
/// that of the first message of the user. Fails with [`ErrorKind::Unsupported`] where the template uses
/// what is not supported, is longer than 256 KiB, takes too many steps or makes values that are
/// too long, with what it says itself where it refuses the messages, and with
/// [`ErrorKind::InvalidParameter`] where messages are longer than 4 MiB together.
pub fn chat_text(form: &ChatForm<'_>, messages: &[Message]) -> Result<String> {
    let length: usize = messages.iter().map(|it| it.content.len() + it.role.len()).sum();
    if length > LONGEST_MESSAGES {
        let message = format!("messages of {length} bytes are longer than {LONGEST_MESSAGES}");
        return Err(Error::invalid(message));
    }
    let system = messages.iter().find(|it| it.role == "system" && !it.content.trim().is_empty());
    let first = rendered(form, messages, length);
    match (&first, system) {
        (Ok(text), Some(system)) if text.contains(system.content.trim()) => first,
        (_, Some(_)) => rendered(form, &without_system(messages), length).or(first),
        (_, None) => first,
    }
}

/// The messages, with what the system says before what the user says first.
fn without_system(messages: &[Message]) -> Vec<Message> {
    let (system, mut others): (Vec<Message>, Vec<Message>) =
        messages.iter().cloned().partition(|message| message.role == "system");
    let said: Vec<String> = system.into_iter().map(|message| message.content).collect();
    let said = said.join("\n\n");
    match others.iter_mut().find(|message| message.role == "user") {
        Some(user) => user.content = format!("{said}\n\n{}", user.content),
        None => others.insert(0, Message { role: "user".into(), content: said }),
    }
    others
}

fn rendered(form: &ChatForm<'_>, messages: &[Message], length: usize) -> Result<String> {
    let template = form.template.unwrap_or(CHATML);
    if template.len() > LONGEST {
        let message = format!("chat template of {} bytes is longer than {LONGEST}", template.len());
        return Err(Error::new(ErrorKind::Unsupported, message));
    }
    let guarded = guarded(template)?;
    let environment = environment(length, form.today).map_err(|error| failed(&error))?;
    let messages: minijinja::Value = messages
        .iter()
        .map(|it| context! { role => it.role.as_str(), content => it.content.as_str() })
        .collect();
    let values = context! {
        messages,
        bos_token => form.bos,
        eos_token => form.eos,
        add_generation_prompt => true,
        date_string => form.today,
        tools => (),
        documents => (),
    };
    let values = match form.thinks {
        Some(thinks) => context! { enable_thinking => thinks, ..values },
        None => values,
    };
    let mut output = LimitedText { bytes: Vec::new(), room: LONGEST_FRAME + 2 * length };
    environment
        .template_from_str(&guarded)
        .and_then(|template| template.render_captured_to(values, &mut output).map(drop))
        .map_err(|error| failed(&error))?;
    String::from_utf8(output.bytes)
        .map_err(|_| Error::new(ErrorKind::Internal, "a chat template wrote half a character"))
}

fn failed(error: &minijinja::Error) -> Error {
    let line = error.line().map(|line| format!(", line {line}")).unwrap_or_default();
    let detail: String = error.detail().unwrap_or_default().chars().take(200).collect();
    let what = match error.kind() {
        minijinja::ErrorKind::OutOfFuel => "it takes too many steps or too much memory".to_owned(),
        minijinja::ErrorKind::WriteFailure => "what it writes is too long".to_owned(),
        kind => format!("{kind}: {}", detail.escape_debug()),
    };
    Error::new(ErrorKind::Unsupported, format!("chat template{line}: {what}"))
        .hint("Use the model with another chat template, for instance ChatML.")
}

/// Takes so many bytes and no more.
struct LimitedText {
    bytes: Vec<u8>,
    room: usize,
}

impl Write for LimitedText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.room = self.room.checked_sub(bytes.len()).ok_or(io::ErrorKind::OutOfMemory)?;
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
