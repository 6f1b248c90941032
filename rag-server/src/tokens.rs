//! Which bearer token is which role.
//!
//! A role is the one that a connection is made as. A connection of a stronger role with `SET ROLE` would be
//! undone by `RESET ROLE`, wherever a text of a user became SQL; and `session_user`, by which conversations and traces
//! are kept apart, would be the same for all.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde::Deserialize;
use sha2::{Digest, Sha256};

/// Fewest characters of a token: what is shorter can be guessed.
const SHORTEST: usize = 20;

/// What is kept of a token: nobody finds it in the memory of the process, and comparing takes the same time for all.
pub type TokenDigest = [u8; 32];

/// The digest by which a token is looked up.
pub fn digest(token: &str) -> TokenDigest {
    Sha256::digest(token.as_bytes()).into()
}

/// An entry of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    token: Option<String>,
    token_sha256: Option<String>,
    role: String,
    password: Option<String>,
    rate: Option<u32>,
}

/// The role behind a token. Nothing prints it, as it has a password.
#[derive(PartialEq, Eq)]
pub struct Account {
    /// The role that connections are made as.
    pub role: String,
    /// Its password, where the server wants one.
    pub password: Option<String>,
    /// Requests a minute, if not those of `--rate`.
    pub rate: Option<u32>,
}

/// Reads a file of tokens. The error is a sentence; it names no token.
pub fn read(path: &Path) -> Result<HashMap<TokenDigest, Account>, String> {
    let name = path.display();
    let failed = |error: std::io::Error| format!("{name}: {error}");
    let mut file = File::open(path).map_err(failed)?;
    let mode = file.metadata().map_err(failed)?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(format!("{name} may be read by others; chmod 600 {name}"));
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(failed)?;
    parse(&text).map_err(|error| format!("{name}: {error}"))
}

/// Reads the text of such a file: a JSON array with an object for each token.
fn parse(text: &str) -> Result<HashMap<TokenDigest, Account>, String> {
    let entries: Vec<Entry> = serde_json::from_str(text).map_err(|error| {
        format!("not an array of tokens, line {}: {}", error.line(), kind(&error))
    })?;
    if entries.is_empty() {
        return Err("no token in it".to_owned());
    }
    let mut accounts = HashMap::new();
    for (number, entry) in entries.into_iter().enumerate() {
        let at = |error: &str| format!("token {}: {error}", number + 1);
        let digest = entry.digest().map_err(at)?;
        let Entry { role, password, rate, .. } = entry;
        if accounts.insert(digest, Account { role, password, rate }).is_some() {
            return Err(at("it is there twice"));
        }
    }
    Ok(accounts)
}

/// What is wrong, without a value of the file, which may be a secret.
fn kind(error: &serde_json::Error) -> &'static str {
    match error.classify() {
        serde_json::error::Category::Data => {
            "an object has role, token or token_sha256, and perhaps password and rate"
        }
        _ => "this is not JSON",
    }
}

impl Entry {
    fn digest(&self) -> Result<TokenDigest, &'static str> {
        match (&self.token, &self.token_sha256) {
            // In a header nothing else arrives as it was.
            (Some(token), None) if !token.bytes().all(|byte| byte.is_ascii_graphic()) => {
                Err("a token has letters, digits and signs of ASCII, and no space")
            }
            (Some(token), None) if token.len() >= SHORTEST => Ok(digest(token)),
            (Some(_), None) => {
                Err("a token has at least 20 characters; openssl rand -hex 32 makes one")
            }
            (None, Some(hex)) => from_hex(hex).ok_or("token_sha256 has 64 hexadecimal digits"),
            _ => Err("either token or token_sha256"),
        }
    }
}

fn from_hex(hex: &str) -> Option<TokenDigest> {
    let mut bytes = [0; 32];
    if hex.len() != 64 || !hex.is_ascii() {
        return None;
    }
    for (byte, place) in bytes.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(&hex[place..place + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef0123";

    #[test]
    fn a_token_is_a_role() {
        let text =
            format!(r#"[{{"token": "{TOKEN}", "role": "reader", "password": "x", "rate": 9}}]"#);
        let accounts = parse(&text).unwrap();
        let account = &accounts[&digest(TOKEN)];
        assert_eq!(account.role, "reader");
        assert_eq!((account.password.as_deref(), account.rate), (Some("x"), Some(9)));
        assert!(!accounts.contains_key(&digest("0123456789abcdef0124")));
    }

    #[test]
    fn a_digest_stands_for_its_token() {
        let hex: String = digest(TOKEN).iter().map(|byte| format!("{byte:02x}")).collect();
        let accounts =
            parse(&format!(r#"[{{"token_sha256": "{hex}", "role": "reader"}}]"#)).unwrap();
        assert!(accounts.contains_key(&digest(TOKEN)));
    }

    #[test]
    fn errors_name_the_entry_and_no_secret() {
        let error = |text: &str| parse(text).err().unwrap();
        assert!(error("[]").contains("no token"));
        assert!(error("nonsense").contains("not JSON"));
        assert!(error(r#"[{"token": "short-secret", "role": "a"}]"#).contains("at least 20"));
        for token in ["0123456789 abcdef 0123", "0123456789abcdef012é"] {
            let unheard = error(&format!(r#"[{{"token": "{token}", "role": "a"}}]"#));
            assert!(unheard.contains("token 1: a token has letters"), "{unheard}");
        }
        assert!(error(r#"[{"token_sha256": "zz", "role": "a"}]"#).contains("64 hexadecimal"));
        assert!(error(r#"[{"role": "a"}]"#).contains("token 1: either"));
        let unknown = error(r#"[{"token": "0123456789abcdef0123", "role": "a", "geheim": 1}]"#);
        assert!(unknown.contains("an object has role") && !unknown.contains("geheim"));
        let twice = format!(
            r#"[{{"token": "{TOKEN}", "role": "a"}}, {{"token": "{TOKEN}", "role": "b"}}]"#
        );
        assert!(error(&twice).contains("token 2: it is there twice"));
    }

    #[test]
    fn a_file_that_others_may_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.json");
        std::fs::write(&path, format!(r#"[{{"token": "{TOKEN}", "role": "reader"}}]"#)).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(read(&path).err().unwrap().contains("chmod 600"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(read(&path).unwrap().len(), 1);
    }
}
