//! What have earlier calls kept from a provider?

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::PiiKind;
use super::redaction::Redaction;
use crate::error::Error;

/// Values that calls for one answer keep from a provider, each with its kind; all clones of one have the same.
///
/// A reply has the values put back, and what is made of it, such as a note or a question, may stand in a later call without
/// the text that said what they are. So may the beginning of a reply that broke off, so calls that fail add theirs as well.
/// Placeholders need not be the same in two calls, since no reply keeps them. By default nothing is kept: what is written for
/// one document is to depend on no other.
#[derive(Clone, Default)]
pub struct WithheldValues(Option<Arc<Mutex<BTreeMap<String, PiiKind>>>>);

impl WithheldValues {
    /// None so far, of an answer that begins.
    #[must_use]
    pub fn begin() -> WithheldValues {
        WithheldValues(Some(Arc::default()))
    }

    /// Adds what rules find in these texts. `interrupt` is called every 4 KiB or more often, and may unwind.
    pub fn learn<'a>(&self, texts: impl IntoIterator<Item = &'a str>, interrupt: &mut dyn FnMut()) {
        if self.0.is_none() {
            return;
        }
        let mut redaction = Redaction::default();
        for text in texts {
            redaction.learn(text, interrupt);
        }
        self.add(redaction.learned().map(|(value, kind)| (value.to_owned(), kind)));
    }

    /// Adds these.
    pub fn add(&self, values: impl IntoIterator<Item = (String, PiiKind)>) {
        if let Some(kept) = &self.0 {
            kept.lock().unwrap_or_else(PoisonError::into_inner).extend(values);
        }
    }

    /// Adds those of a call that has failed.
    pub fn add_of_error(&self, error: &Error) {
        let of_kind = |(text, word): (&str, &str)| Some((text.to_owned(), PiiKind::of_word(word)?));
        self.add(error.withheld().filter_map(of_kind));
    }

    /// All of them.
    #[must_use]
    pub fn values(&self) -> BTreeMap<String, PiiKind> {
        let kept = self.0.as_ref().map(|it| it.lock().unwrap_or_else(PoisonError::into_inner));
        kept.map(|it| it.clone()).unwrap_or_default()
    }

    /// Those that stand in one of these texts.
    #[must_use]
    pub fn within(&self, texts: &[&str]) -> BTreeMap<String, PiiKind> {
        let mut values = self.values();
        values.retain(|value, _| texts.iter().any(|text| text.contains(value.as_str())));
        values
    }
}

/// Without the values: a configuration with them is part of keys under which replies are remembered.
impl fmt::Debug for WithheldValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WithheldValues")
    }
}

impl PartialEq for WithheldValues {
    fn eq(&self, other: &WithheldValues) -> bool {
        self.values() == other.values()
    }
}

impl Eq for WithheldValues {}

impl Serialize for WithheldValues {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.values().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for WithheldValues {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<WithheldValues, D::Error> {
        let values = BTreeMap::deserialize(deserializer)?;
        Ok(WithheldValues(Some(Arc::new(Mutex::new(values)))))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::error::{Error, ErrorKind};

    #[test]
    fn clones_have_what_one_of_them_has_learned() {
        let withheld = WithheldValues::begin();
        let other = withheld.clone();
        other.learn(["It was signed by Mrs. Anna Schmidt.", "See a@b.de."], &mut || {});
        let expected = json!({"Anna Schmidt": "person", "Schmidt": "person", "a@b.de": "email"});
        assert_eq!(json!(withheld), expected);
        let read: WithheldValues = serde_json::from_value(expected).unwrap();
        assert_eq!(read, withheld);
        assert_eq!(format!("{withheld:?}"), "WithheldValues");
        let within = withheld.within(&["Schmidt signed it.", "Who?"]);
        assert_eq!(json!(within), json!({"Schmidt": "person"}));
    }

    #[test]
    fn an_error_has_what_its_call_has_kept_and_does_not_show_it() {
        let text =
            |text: &str| BTreeMap::from([(text.to_owned(), PiiKind::Email.word().to_owned())]);
        let error = Error::new(ErrorKind::ProviderFailed, "no");
        let error = error.with_withheld(text("a@b.de")).with_withheld(text("c@d.de"));
        let sent: Error = serde_json::from_str(&serde_json::to_string(&error).unwrap()).unwrap();
        assert_eq!(sent, error);
        assert!(!format!("{sent:?} {sent}").contains("a@b.de"));
        assert_eq!(sent.clone().without_call(), Error::new(ErrorKind::ProviderFailed, "no"));
        let withheld = WithheldValues::begin();
        withheld.add_of_error(&sent);
        withheld.add_of_error(&Error::invalid("no"));
        assert_eq!(json!(withheld), json!({"a@b.de": "email", "c@d.de": "email"}));
    }

    #[test]
    fn nothing_is_kept_unless_an_answer_begins() {
        let withheld = WithheldValues::default();
        withheld.learn(["See a@b.de."], &mut || {});
        withheld.add([("a@b.de".to_owned(), PiiKind::Email)]);
        assert!(withheld.values().is_empty());
        assert_eq!(withheld, WithheldValues::begin());
    }
}
