//! Whoever replies to a prompt.

use super::messages::Message;
use crate::error::Result;

/// Whoever writes: a language model, or what it is known to have written.
pub trait Writer {
    /// What is answered to `messages`.
    fn write(&mut self, messages: &[Message]) -> Result<String>;

    /// What is answered to each of `prompts`, none of which needs the answer to another.
    fn write_all(&mut self, prompts: Vec<Vec<Message>>) -> Result<Vec<String>> {
        prompts.iter().map(|messages| self.write(messages)).collect()
    }
}
