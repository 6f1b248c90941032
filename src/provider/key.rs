//! Where the key is, and how it stays unseen.

use std::fmt;
use std::fs::File;
use std::io::Read;

use sha2::{Digest, Sha256};

use super::cooldown::ProviderId;
use crate::error::{Error, ErrorKind, Result};
use crate::protocol::{KeySource, Network, ProviderConfig};

/// Longest key, in bytes. What is longer is another file, named by mistake.
const MAX_KEY: usize = 16 * 1024;

/// Most characters of a provider's own words that a message repeats.
const MAX_EXCERPT: usize = 300;

/// A provider's key, or the lack of one. Its `Debug` never shows it.
#[derive(Clone, Default)]
pub struct ApiKey(Option<String>);

impl ApiKey {
    /// Finds the key of `provider`.
    ///
    /// Fails, naming the place and never what was found there, if the place is missing,
    /// empty, or holds something that no HTTP header can carry.
    pub fn resolve(provider: &ProviderConfig) -> Result<ApiKey> {
        let (raw, place) = match &provider.api_key {
            KeySource::None => return Ok(ApiKey(None)),
            KeySource::Inline(key) => (key.clone(), "option api_key".to_string()),
            KeySource::File(path) => (read_file(path)?, format!("file \"{path}\"")),
            KeySource::Environment(name) => {
                (read_environment(name)?, format!("environment variable \"{name}\""))
            }
        };
        let key = raw.trim();
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(unfit(provider, &place, key.is_empty()));
        }
        Ok(ApiKey(Some(key.to_string())))
    }

    /// The value of the header `Authorization`, if there is a key.
    pub fn bearer(&self) -> Option<String> {
        self.0.as_ref().map(|key| format!("Bearer {key}"))
    }

    /// The key itself, for a header that holds nothing else.
    pub fn bare(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// A digest of the provider that `provider` and this key address. The key cannot be read from
    /// it.
    ///
    /// A proxy can answer in the place of the host it leads to, and so can a server with a
    /// certificate of an authority that the server's owner has chosen. So both are part of it, and
    /// so is the role whose foreign server it is: what one role's server says does not count for
    /// those of others.
    pub fn identity(&self, provider: &ProviderConfig) -> ProviderId {
        let Network { proxy, ca_file, owner, .. } = &provider.network;
        let address = provider.base_url.trim_end_matches('/');
        let parts = [Some(address), self.bare(), proxy.as_deref(), ca_file.as_deref()];
        let mut hasher = Sha256::new();
        hasher.update(owner.to_le_bytes());
        for part in parts {
            // The length says where a part ends, and whether there is one.
            let length = part.map_or(u64::MAX, |part| part.len() as u64);
            hasher.update(length.to_le_bytes());
            hasher.update(part.unwrap_or_default());
        }
        hasher.finalize().into()
    }

    /// What a message may repeat of `text`, words that came from outside: on one line,
    /// without control characters, without the key, no longer than 300 characters.
    pub fn excerpt(&self, text: &str) -> String {
        // The key is looked for after the characters are gone that could hide it, and
        // before the cut that could leave half of it.
        let mut shown = single_line(text);
        if let Some(key) = &self.0 {
            shown = shown.replace(key, "***");
        }
        shorten(&shown)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Key(..)" } else { "Key(none)" })
    }
}

fn read_file(path: &str) -> Result<String> {
    let unavailable = |why: &dyn fmt::Display| {
        Error::new(ErrorKind::FileUnavailable, format!("cannot read key file \"{path}\": {why}"))
            .hint("The file must be readable by the operating-system user of the server.")
    };
    let metadata = std::fs::metadata(path).map_err(|error| unavailable(&error))?;
    // A pipe or a terminal would keep the caller waiting for ever.
    if !metadata.is_file() {
        return Err(unavailable(&"it is not a regular file"));
    }
    let file = File::open(path).map_err(|error| unavailable(&error))?;
    let mut bytes = Vec::new();
    file.take(MAX_KEY as u64 + 1).read_to_end(&mut bytes).map_err(|error| unavailable(&error))?;
    if bytes.len() > MAX_KEY {
        return Err(unavailable(&format_args!("it is longer than {MAX_KEY} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| unavailable(&"it is not text"))
}

fn read_environment(name: &str) -> Result<String> {
    // These names would panic or match nothing.
    let nameless = name.is_empty() || name.contains(['=', '\0']);
    let value = if nameless { None } else { std::env::var_os(name) };
    let value = value.ok_or_else(|| {
        Error::new(
            ErrorKind::UndefinedObject,
            format!("environment variable \"{name}\" with the key is not set"),
        )
        .hint("Set it where the server is started, then restart the server.")
    })?;
    value.into_string().map_err(|_| {
        Error::invalid(format!("environment variable \"{name}\" with the key is not text"))
    })
}

fn unfit(provider: &ProviderConfig, place: &str, empty: bool) -> Error {
    let what = if empty { "is empty" } else { "is not a single word of ASCII characters" };
    Error::invalid(format!("key of provider \"{}\" in {place} {what}", provider.name))
        .hint("The place must hold the key and nothing else.")
}

/// White space becomes single spaces; characters that control a terminal, hide themselves
/// or turn the direction of writing are dropped.
fn single_line(text: &str) -> String {
    let words = text.split_whitespace().map(|word| word.replace(is_unseen, ""));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_EXCERPT) {
        None => text.to_string(),
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "sk-test-4f9aQ";

    fn provider(api_key: KeySource) -> ProviderConfig {
        ProviderConfig { api_key, ..ProviderConfig::unreachable() }
    }

    fn resolve(source: KeySource) -> Result<ApiKey> {
        ApiKey::resolve(&provider(source))
    }

    fn check_refused(source: KeySource, kind: ErrorKind, part: &str) {
        let error = resolve(source).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains(part), "{error}");
        assert!(!format!("{error:?}").contains(SECRET), "{error:?}");
    }

    #[test]
    fn file_is_read_and_trimmed() {
        let path = std::env::temp_dir().join(format!("pg_rag_key_{}", std::process::id()));
        std::fs::write(&path, format!("  {SECRET}\r\n")).unwrap();
        let key = resolve(KeySource::File(path.to_str().unwrap().into()));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(key.unwrap().bearer(), Some(format!("Bearer {SECRET}")));
    }

    #[test]
    fn unfit_files_are_refused_by_name() {
        let folder = std::env::temp_dir().join(format!("pg_rag_keys_{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, content: &[u8]| {
            std::fs::write(folder.join(name), content).unwrap();
            KeySource::File(folder.join(name).to_str().unwrap().into())
        };
        let invalid = ErrorKind::InvalidParameter;
        let unavailable = ErrorKind::FileUnavailable;
        check_refused(write("empty", b" \n"), invalid, "empty\" is empty");
        let two = format!("{SECRET}\nX-Other: {SECRET}");
        check_refused(write("two_lines", two.as_bytes()), invalid, "two_lines\" is not a single");
        check_refused(write("long", &[b'a'; MAX_KEY + 1]), unavailable, "longer than");
        check_refused(write("binary", b"\xff\xfe"), unavailable, "not text");
        let missing = folder.join("missing").to_str().unwrap().to_string();
        check_refused(KeySource::File(missing), unavailable, "missing\": No such file");
        let itself = folder.to_str().unwrap().to_string();
        check_refused(KeySource::File(itself), unavailable, "not a regular file");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn environment_is_named_when_missing() {
        let missing = ErrorKind::UndefinedObject;
        check_refused(KeySource::Environment("PG_RAG_NO_SUCH".into()), missing, "PG_RAG_NO_SUCH");
        check_refused(KeySource::Environment("A=B".into()), missing, "A=B");
        check_refused(KeySource::Environment(String::new()), missing, "not set");
        assert!(resolve(KeySource::Environment("PATH".into())).is_ok());
    }

    #[test]
    fn inline_key_with_a_line_break_cannot_forge_a_header() {
        let source = KeySource::Inline(format!("{SECRET}\r\nHost: elsewhere"));
        check_refused(source, ErrorKind::InvalidParameter, "option api_key");
    }

    #[test]
    fn a_provider_is_its_address_and_key_and_the_way_there() {
        let key = resolve(KeySource::Inline(SECRET.into())).unwrap();
        let one = provider(KeySource::None);
        let change = |change: fn(&mut ProviderConfig)| {
            let mut other = one.clone();
            change(&mut other);
            key.identity(&other)
        };
        let identity = key.identity(&one);
        assert_eq!(identity, change(|it| it.base_url += "/"));
        assert_eq!(identity, change(|it| it.name += "another name"));
        let others = [
            change(|it| it.base_url += "1"),
            change(|it| it.network.proxy = Some("http://p:1".into())),
            change(|it| it.network.proxy = Some(String::new())),
            change(|it| it.network.ca_file = Some("http://p:1".into())),
            change(|it| it.network.owner = 1),
            ApiKey::default().identity(&one),
        ];
        let all = others.iter().chain([&identity]).collect::<std::collections::HashSet<_>>();
        assert_eq!(all.len(), others.len() + 1);
    }

    #[test]
    fn debug_hides_the_key() {
        let key = resolve(KeySource::Inline(SECRET.into())).unwrap();
        assert_eq!(format!("{key:?}"), "Key(..)");
        assert_eq!(format!("{:?}", ApiKey::default()), "Key(none)");
    }

    #[test]
    fn excerpt_hides_the_key_wherever_it_stands() {
        let key = resolve(KeySource::Inline(SECRET.into())).unwrap();
        let hidden = SECRET.replace("test", "te\u{200b}\u{7}st");
        for text in [SECRET.to_string(), hidden, format!("{}{SECRET}", "a".repeat(295))] {
            let shown = key.excerpt(&text);
            assert!(!shown.contains("sk-t"), "{shown}");
        }
    }

    #[test]
    fn excerpt_is_one_short_line() {
        let shown = ApiKey::default().excerpt(" a\t\r\n\x1b[31mb\u{202e} \0 c ");
        assert_eq!(shown, "a [31mb c");
        let long = ApiKey::default().excerpt(&"ß".repeat(1000));
        assert_eq!(long.chars().count(), 303);
        assert!(long.ends_with("ß..."));
    }
}
