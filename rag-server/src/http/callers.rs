//! Who may ask, by the tokens that hold now?
//!
//! In: the file of tokens, at the start and whenever it is read again. Out: the caller that a token stands for. Whose
//! entry has not changed keeps the connections, and what is left of the rate.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, RwLock, Weak};
use std::time::Instant;

use crate::config::Config;
use crate::connector::Connector;
use crate::database::Database;
use crate::rate::RateLimit;
use crate::tokens::{self, Account, TokenDigest};

/// One who may ask: a role with its connections, and how often.
pub struct Caller {
    /// The connections of the role.
    pub database: Arc<Database>,
    /// The connection by which it is asked whether the database is well.
    pub health: Arc<Database>,
    /// How often they may ask.
    pub limit: RateLimit,
}

/// All who may ask at one time.
#[derive(Default)]
pub struct Callers {
    by_token: HashMap<TokenDigest, (Account, Arc<Caller>)>,
    /// Who everybody is where there are no tokens.
    anybody: Option<Arc<Caller>>,
}

impl Callers {
    /// Who everybody is; nothing where a token has to say it.
    pub fn anybody(&self) -> Option<&Arc<Caller>> {
        self.anybody.as_ref()
    }

    /// Who a token stands for, if it is known.
    pub fn with_token(&self, token: &str) -> Option<&Arc<Caller>> {
        self.by_token.get(&tokens::digest(token)).map(|(_, caller)| caller)
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Caller>> {
        self.by_token.values().map(|(_, caller)| caller).chain(&self.anybody)
    }
}

/// The callers, as the tokens were read last.
pub struct Register {
    config: Config,
    callers: RwLock<Arc<Callers>>,
    /// All connections that were made for callers, as long as somebody has them.
    databases: Mutex<Vec<Weak<Database>>>,
}

impl Register {
    /// Reads the tokens, if there is a file of them. The error is a sentence for standard error.
    pub fn new(config: &Config) -> Result<Self, String> {
        let register = Self {
            config: config.clone(),
            callers: RwLock::default(),
            databases: Mutex::default(),
        };
        register.read()?;
        Ok(register)
    }

    /// Reads the tokens, of which only those hold from now on that are in the file, and returns how many these are.
    /// Requests that have begun go on. After an error, which is a sentence, the tokens hold that did before.
    pub fn read(&self) -> Result<usize, String> {
        let before = self.now();
        let mut callers = Callers::default();
        match &self.config.tokens {
            None => {
                let made = || self.caller(self.config.database.clone(), self.config.rate);
                callers.anybody = Some(before.anybody.clone().unwrap_or_else(made));
            }
            Some(file) => {
                for (digest, account) in tokens::read(file)? {
                    let known = before.by_token.get(&digest);
                    let caller = match known.filter(|(known, _)| *known == account) {
                        Some((_, caller)) => Arc::clone(caller),
                        None => self.caller_of(&account),
                    };
                    callers.by_token.insert(digest, (account, caller));
                }
            }
        }
        let count = callers.by_token.len();
        *self.callers.write().expect("nobody panics with the callers in hand") = Arc::new(callers);
        Ok(count)
    }

    fn caller_of(&self, account: &Account) -> Arc<Caller> {
        let Account { role, password, rate } = account;
        let database = self.config.database.for_role(role.clone(), password.clone());
        self.caller(database, rate.unwrap_or(self.config.rate))
    }

    fn caller(&self, connector: Connector, rate: u32) -> Arc<Caller> {
        let Config { connections, limits, .. } = self.config;
        let health = Database::new(connector.clone(), 1, limits);
        let database = Database::new(connector, connections, limits);
        self.made().extend([&health, &database].map(Arc::downgrade));
        Arc::new(Caller { database, health, limit: RateLimit::new(rate, Instant::now()) })
    }

    /// Who may ask now.
    pub fn now(&self) -> Arc<Callers> {
        Arc::clone(&self.callers.read().expect("nobody panics with the callers in hand"))
    }

    /// The connections of all callers, also of those who still ask though their token is gone.
    pub fn databases(&self) -> Vec<Arc<Database>> {
        let mut made = self.made();
        made.retain(|database| database.strong_count() > 0);
        made.iter().filter_map(Weak::upgrade).collect()
    }

    fn made(&self) -> std::sync::MutexGuard<'_, Vec<Weak<Database>>> {
        self.databases.lock().expect("nobody panics with the connections in hand")
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::*;
    use crate::config::{self, Command};

    const ANN: &str = "token-of-ann-0123456789";
    const BOB: &str = "token-of-bob-0123456789";

    fn write(file: &Path, text: &str) {
        std::fs::write(file, text).unwrap();
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn entry(token: &str, role: &str) -> String {
        format!(r#"{{"token": "{token}", "role": "{role}"}}"#)
    }

    fn register(more: &[&str]) -> Register {
        let arguments = ["--database-url", "dbname=shop"].iter().chain(more).map(OsString::from);
        match config::parse(arguments, |_| None).unwrap() {
            Command::Run(config) => Register::new(&config).unwrap(),
            Command::Print(text) => panic!("{text}"),
        }
    }

    #[test]
    fn tokens_that_are_read_again_hold_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tokens.json");
        write(&file, &format!("[{}, {}]", entry(ANN, "ann"), entry(BOB, "bob")));
        let register = register(&["--tokens", file.to_str().unwrap()]);
        let before = register.now();
        let who = |callers: &Callers, token| callers.with_token(token).map(Arc::clone);
        let (ann, bob) = (who(&before, ANN).unwrap(), who(&before, BOB).unwrap());
        assert!(before.anybody().is_none() && before.all().count() == 2);

        write(&file, &format!("[{}]", entry(BOB, "bob")));
        assert_eq!(register.read(), Ok(1));
        assert!(who(&register.now(), ANN).is_none());
        assert!(Arc::ptr_eq(&who(&register.now(), BOB).unwrap(), &bob), "it has not changed");

        write(&file, &format!("[{}, {}]", entry(ANN, "ann"), entry(BOB, "robert")));
        assert_eq!(register.read(), Ok(2));
        for (token, old) in [(ANN, &ann), (BOB, &bob)] {
            assert!(!Arc::ptr_eq(&who(&register.now(), token).unwrap(), old), "{token}");
        }
        // Two connections, for questions and for health, of each that is there or still used.
        assert_eq!(register.databases().len(), 8);
        drop((before, ann, bob));
        assert_eq!(register.databases().len(), 4);
    }

    #[test]
    fn a_file_that_cannot_be_read_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tokens.json");
        write(&file, &format!("[{}]", entry(ANN, "ann")));
        let register = register(&["--tokens", file.to_str().unwrap()]);
        let check = |words: &str| {
            let error = register.read().unwrap_err();
            assert!(error.contains(words) && error.contains("tokens.json"), "{error}");
            assert!(register.now().with_token(ANN).is_some(), "{words}");
        };
        write(&file, "[{");
        check("not JSON");
        write(&file, "[]");
        check("no token");
        write(&file, &format!("[{}]", entry(BOB, "bob")));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        check("chmod 600");
        std::fs::remove_file(&file).unwrap();
        check("No such file");
    }

    #[test]
    fn without_tokens_everybody_is_the_same_all_the_time() {
        let register = register(&[]);
        let before = Arc::clone(register.now().anybody().unwrap());
        assert_eq!(register.read(), Ok(0));
        assert!(Arc::ptr_eq(register.now().anybody().unwrap(), &before));
        assert!(register.now().with_token(ANN).is_none());
    }
}
