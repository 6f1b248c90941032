//! What replies to a prompt.

use super::messages::Message;
use crate::error::Result;

/// Replies to prompts: a language model, or what it is known to have written.
pub trait Writer {
    /// The reply to `messages`.
    fn write(&mut self, messages: &[Message]) -> Result<String>;

    /// The reply to each of `prompts`, none of which needs the reply to another.
    fn write_all(&mut self, prompts: Vec<Vec<Message>>) -> Result<Vec<String>> {
        prompts.iter().map(|messages| self.write(messages)).collect()
    }
}
