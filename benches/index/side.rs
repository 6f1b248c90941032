//! The competitors: how each index is created, and what its settings are called.

use crate::settings::Settings;

/// Options that both know, at the values that are pgvector's defaults.
const OPTIONS: &str = "m = 16, ef_construction = 64";

/// The operator class of unit vectors.
const COSINE: &str = "vector_cosine_ops";

/// An index access method with its options.
#[derive(Clone)]
pub struct Side {
    /// For the report.
    pub name: String,
    /// For names of tables.
    pub slug: String,
    method: &'static str,
    storage: Option<String>,
    iterative: &'static str,
    operators: &'static str,
}

impl Side {
    /// pgvector's, which the others are compared with, and ours.
    pub fn all(settings: &Settings) -> Vec<Side> {
        let mut sides = vec![Side::pgvector()];
        if settings.storage.is_empty() {
            sides.push(Side::ours(None));
        }
        sides.extend(settings.storage.iter().map(|storage| Side::ours(Some(storage.clone()))));
        sides
    }

    fn pgvector() -> Side {
        Side {
            name: "hnsw".to_owned(),
            slug: "hnsw".to_owned(),
            method: "hnsw",
            storage: None,
            iterative: "strict_order",
            operators: COSINE,
        }
    }

    fn ours(storage: Option<String>) -> Side {
        let name = storage.iter().fold("rag_hnsw".to_owned(), |name, storage| name + " " + storage);
        let slug = name.replace(|character: char| !character.is_ascii_alphanumeric(), "_");
        let (method, iterative) = ("rag_hnsw", "strict_order");
        Side { name, slug, method, storage, iterative, operators: COSINE }
    }

    /// The same with an index for inner products.
    pub fn of_products(self) -> Side {
        Side { operators: "vector_ip_ops", ..self }
    }

    /// Whether this is the one that the others are compared with.
    pub fn is_pgvector(&self) -> bool {
        self.method == "hnsw"
    }

    /// The statement that creates the index of a table, with further columns if any.
    pub fn create_index(&self, table: &str, columns: &[&str]) -> String {
        let further: String = columns.iter().map(|column| format!(", {column}")).collect();
        let storage = self.storage.iter().map(|storage| format!(", storage = '{storage}'"));
        let storage: String = storage.collect();
        format!(
            "CREATE INDEX {table}_index ON {table} USING {} \
             (embedding {}{further}) WITH ({OPTIONS}{storage})",
            self.method, self.operators
        )
    }

    /// The statement that sets how many candidates a search keeps.
    pub fn set_ef(&self, ef: u32) -> String {
        format!("SET {}.ef_search = {ef}", self.method)
    }

    /// The statement after which a search goes on until the filter has let enough rows pass.
    pub fn set_iterative(&self) -> String {
        format!("SET {}.iterative_scan = {}", self.method, self.iterative)
    }
}
