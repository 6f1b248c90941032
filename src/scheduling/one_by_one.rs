//! What comes of asking a provider about one thing after the other?
//!
//! ```text
//! (things, a question about one) → what is known of which │ why nothing of some │ why the rest waits
//! ```
//!
//! A provider that answers for one thing and refuses another has something against that one.
//! Nothing will be known of it, and no other waits for it. A provider that refuses whatever it is
//! asked is out of order itself, and then nothing is said of the things. To tell one from the other
//! it is asked about something harmless, which no provider can object to, unless it has answered
//! for another thing already. What was answered may have been paid for, so it is never lost for
//! what happens to the others.

/// What came of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemReply<A, F> {
    /// An answer to the question.
    Answer(A),
    /// No, be it because of what was asked or because of the provider's own state.
    Refused(F),
    /// Nothing, for a reason that has nothing to do with what was asked.
    Stopped(F),
}

/// What came of the questions about all things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemReplies<T, A, F> {
    /// The things that have been seen to, with what was answered; nothing where that was refused.
    pub known: Vec<(T, Option<A>)>,
    /// Why something was refused.
    pub refused: Option<F>,
    /// Why the things that are not known were not seen to.
    pub stopped: Option<F>,
}

impl<T, A, F> ItemReplies<T, A, F> {
    /// Each thing has its answer.
    pub fn all(known: impl IntoIterator<Item = (T, A)>) -> Self {
        let known = known.into_iter().map(|(thing, answer)| (thing, Some(answer))).collect();
        ItemReplies { known, refused: None, stopped: None }
    }

    /// Nothing was answered.
    pub fn none(stopped: F) -> Self {
        ItemReplies { known: Vec::new(), refused: None, stopped: Some(stopped) }
    }
}

/// Asks about each of `things`. `ask` gets the thing; nothing, where it is to ask about something
/// harmless.
pub fn one_by_one<T, A, F>(
    things: Vec<T>,
    mut ask: impl FnMut(Option<&T>) -> ItemReply<A, F>,
) -> ItemReplies<T, A, F> {
    let mut replies = ItemReplies { known: Vec::new(), refused: None, stopped: None };
    let mut works = false;
    for thing in things {
        match ask(Some(&thing)) {
            ItemReply::Answer(answer) => {
                works = true;
                replies.known.push((thing, Some(answer)));
            }
            ItemReply::Refused(why) => {
                works = works || matches!(ask(None), ItemReply::Answer(_));
                if !works {
                    replies.stopped = Some(why);
                    break;
                }
                replies.known.push((thing, None));
                replies.refused = Some(why);
            }
            ItemReply::Stopped(why) => {
                replies.stopped = Some(why);
                break;
            }
        }
    }
    replies
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The replies to questions about `things`, and what was asked. A capital letter is refused, a
    /// digit stops everything; `"."` is the harmless question.
    fn asked(things: &str, works: bool) -> (ItemReplies<char, String, &'static str>, String) {
        let mut asked = String::new();
        let ask = |thing: Option<&char>| {
            let thing = thing.copied().unwrap_or('.');
            asked.push(thing);
            match thing {
                '.' if !works => ItemReply::Refused("out of order"),
                'A'..='Z' => ItemReply::Refused("indecent"),
                '0'..='9' => ItemReply::Stopped("busy"),
                other => ItemReply::Answer(format!("{other}!")),
            }
        };
        let replies = one_by_one(things.chars().collect(), ask);
        (replies, asked)
    }

    fn check(things: &str, works: bool, expected: (&str, &str, Option<&str>, Option<&str>)) {
        let (replies, asked) = asked(things, works);
        let known = replies.known.iter().map(|(thing, answer)| {
            let answer = answer.as_deref().unwrap_or("-");
            assert!(answer == "-" || answer == format!("{thing}!"), "{answer} for {thing}");
            format!("{thing}{}", if answer == "-" { "-" } else { "" })
        });
        let known: String = known.collect();
        assert_eq!(
            (asked.as_str(), known.as_str(), replies.refused, replies.stopped),
            expected,
            "{things}"
        );
    }

    #[test]
    fn a_refusal_is_about_the_thing_where_another_is_answered() {
        check("abc", true, ("abc", "abc", None, None));
        check("aBc", true, ("aBc", "aB-c", Some("indecent"), None));
        // Nothing has been answered before: is it the thing, or the provider?
        check("Abc", true, ("A.bc", "A-bc", Some("indecent"), None));
        check("ABC", true, ("A.BC", "A-B-C-", Some("indecent"), None));
        check("A", true, ("A.", "A-", Some("indecent"), None));
        check("", true, ("", "", None, None));
    }

    #[test]
    fn a_provider_that_is_out_of_order_says_nothing_of_the_things() {
        check("ABC", false, ("A.", "", None, Some("indecent")));
        // It has answered, so it is not out of order, whatever it says later.
        check("aBC", false, ("aBC", "aB-C-", Some("indecent"), None));
    }

    #[test]
    fn what_was_answered_is_kept_where_the_rest_has_to_wait() {
        check("ab1c", true, ("ab1", "ab", None, Some("busy")));
        check("aB1c", true, ("aB1", "aB-", Some("indecent"), Some("busy")));
        check("1ab", true, ("1", "", None, Some("busy")));
    }
}
