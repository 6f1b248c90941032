//! The language model that is measured.

use std::fs;
use std::path::PathBuf;

use crate::cluster::Cluster;
use crate::questions::Questions;
use crate::settings::Settings;
use crate::{Result, session};

/// Registers the model of `PG_RAG_TEST_GGUF` in each database; false where there is none, or nothing to run it.
pub fn prepare(cluster: &Cluster, questions: &Questions, settings: &Settings) -> Result<bool> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|it| it.exists());
    let (Some(library), Some(model)) = (variable("PG_RAG_LLAMA"), variable("PG_RAG_TEST_GGUF"))
    else {
        return Ok(false);
    };
    // Where the server's user can read them, whoever runs the benchmark.
    let libraries = cluster.folder().join("llama");
    fs::create_dir(&libraries)?;
    for file in fs::read_dir(library)?.flatten().filter(|it| it.file_name() != ".made-from") {
        fs::copy(file.path(), libraries.join(file.file_name()))?;
    }
    let path = cluster.folder().join("model.gguf");
    fs::copy(model, &path)?;
    cluster.give(&libraries);
    cluster.give(&path);
    let library = format!("rag.llama_library='{}'", libraries.join("libllama.so").display());
    cluster.configure(&[&library, &format!("rag.llama_threads={}", settings.threads)]);
    cluster.reload();
    let template = settings.template.as_ref().map(fs::read_to_string).transpose()?;
    for database in questions.databases() {
        let mut client = session(cluster, database)?;
        // A processor that others use as well may need minutes for a prompt.
        client.batch_execute(&format!(
            "SELECT * FROM rag_add_model('writer', '{}');
             CREATE SERVER writer FOREIGN DATA WRAPPER rag_llm OPTIONS (api 'local', model 'writer', timeout '3600', num_ctx '8192')",
            path.display()
        ))?;
        if let Some(template) = &template {
            client.execute("SELECT rag_template_set('sql', $1)", &[template])?;
        }
    }
    Ok(true)
}
