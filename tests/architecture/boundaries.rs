//! Names that may be used in some folders only.

use crate::check;
use crate::path::paths;
use crate::source::{root, rust_files};

/// Something that may be named in some places only.
struct Boundary {
    /// A path in Rust: found as `a::b` and in `a::{..., b}`.
    name: &'static str,
    /// Where it holds; empty: everywhere.
    within: &'static [&'static str],
    /// Where it does not hold.
    except: &'static [&'static str],
    why: &'static str,
}

const STAGES: &[&str] = &[
    "src/exact.rs",
    "src/options.rs",
    "src/random.rs",
    "src/recent.rs",
    "src/scheduling",
    "src/text",
    "src/vector",
    "src/guarded_sql",
    "src/parse",
    "src/redact",
    "src/chunk",
    "src/embed",
    "src/pipeline.rs",
    "src/pages",
    "src/bm25",
    "src/hnsw",
    "src/prompt",
    "src/contextual",
    "src/graph",
    "src/representation",
    "src/rewrite",
    "src/tree",
    "src/rerank",
    "src/retrieve",
    "src/source",
    "src/extract",
    "src/context",
    "src/answer",
    "src/verify",
    "src/text_to_sql",
    "src/eval",
    "src/chat_template",
    "src/gguf",
    "src/grammar",
];
const READS_FILES: &[&str] = &["src/embed/manifest.rs", "src/embed/manifest_tests.rs"];

const BOUNDARIES: &[Boundary] = &[
    Boundary {
        name: "pgrx",
        within: &[],
        except: &["src/pg/", "pgrx-tests/"],
        why: "only src/pg knows PostgreSQL",
    },
    Boundary {
        name: "pgrx::JsonB",
        within: &[],
        except: &["src/pg/server/json.rs"],
        why: "it panics on what a program can't hold; pg::json::Jsonb does not",
    },
    Boundary {
        name: "crate::pg",
        within: &[],
        except: &["src/pg/", "pgrx-tests/"],
        why: "nothing points at src/pg",
    },
    Boundary {
        name: "crate::daemon",
        within: STAGES,
        except: &[],
        why: "a stage does not know who calls it",
    },
    Boundary {
        name: "crate::protocol",
        within: STAGES,
        except: &[],
        why: "a stage does not know how sessions and ragd speak",
    },
    Boundary {
        name: "crate::provider",
        within: STAGES,
        except: &[],
        why: "a stage does not know who writes",
    },
    Boundary { name: "std::net", within: STAGES, except: &[], why: "a stage has no socket" },
    Boundary { name: "std::os", within: STAGES, except: &[], why: "a stage has no system calls" },
    Boundary { name: "std::fs", within: STAGES, except: READS_FILES, why: "a stage has no files" },
    Boundary { name: "std::thread", within: STAGES, except: &[], why: "a stage has no threads" },
    Boundary {
        name: "std::time::Instant",
        within: STAGES,
        except: &[],
        why: "a stage has no clock",
    },
    Boundary {
        name: "std::time::SystemTime",
        within: STAGES,
        except: &[],
        why: "a stage has no clock",
    },
];

#[test]
fn boundaries_are_kept() {
    let is_gone = |path: &&&str| !root().join(path).exists();
    let gone: Vec<&&str> = STAGES.iter().chain(READS_FILES).filter(is_gone).collect();
    assert!(gone.is_empty(), "stages that are not there: {gone:?}");
    let mut breaches = Vec::new();
    for source in rust_files() {
        let concerned = BOUNDARIES.iter().filter(|boundary| {
            (boundary.within.is_empty() || source.file.is_below(boundary.within))
                && !source.file.is_below(boundary.except)
        });
        let concerned: Vec<&Boundary> = concerned.collect();
        for path in paths(&source) {
            for boundary in &concerned {
                let name: Vec<&str> = boundary.name.split("::").collect();
                if path.starts_with(&name) {
                    let (file, line) = (source.path(), path.line);
                    breaches.push(format!("{file}:{line}: {} ({})", boundary.name, boundary.why));
                }
            }
        }
    }
    check("a name is used where it must not be", breaches);
}
