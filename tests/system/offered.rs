//! Installation scripts of the extension's that a server finds beside its own.

use std::fs;
use std::path::{Path, PathBuf};

use super::cluster::Cluster;
use super::documents::count;

/// The extension's files as they are installed.
pub struct InstalledScripts {
    folder: PathBuf,
    /// The version of the extension.
    pub version: String,
}

impl InstalledScripts {
    /// Those that a server reads.
    pub fn of(cluster: &Cluster) -> InstalledScripts {
        let mut client = cluster.connect();
        let mut text =
            |query: &str| -> String { client.query_one(query, &[]).expect("a text").get(0) };
        let shared = text("SELECT setting FROM pg_config WHERE name = 'SHAREDIR'");
        let present = "SELECT default_version FROM pg_available_extensions WHERE name = 'pg_rag'";
        InstalledScripts { folder: Path::new(&shared).join("extension"), version: text(present) }
    }

    /// What a file says.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).expect("an installed file")
    }

    /// The installation script.
    pub fn script(&self) -> String {
        self.read(&format!("pg_rag--{}.sql", self.version))
    }
}

/// Has a server find these scripts, by name and content, before its own; the control file stays the installed one. `false`,
/// with a word, where PostgreSQL looks for extensions in one folder only.
pub fn offer_scripts(cluster: &Cluster, scripts: &[(String, String)]) -> bool {
    let version = "SELECT current_setting('server_version_num')::bigint";
    if count(&mut cluster.connect(), version) < 180_000 {
        eprintln!("skipped: extension_control_path is of PostgreSQL 18");
        return false;
    }
    let control =
        ("pg_rag.control".to_owned(), InstalledScripts::of(cluster).read("pg_rag.control"));
    let folder = cluster.folder().join("offered");
    let written = folder.join("extension");
    fs::create_dir_all(&written).expect("a folder for the scripts");
    for (name, content) in scripts.iter().chain([&control]) {
        fs::write(written.join(name), content).expect("to write a script");
    }
    cluster.give(&folder);
    let path = format!("extension_control_path = '{}:$system'", folder.display());
    cluster.configure(&[&path]);
    cluster.reload();
    true
}
