//! The ways of cutting that are compared.

/// A pipeline and how it is asked.
pub struct Way {
    pub name: &'static str,
    pub strategy: &'static str,
    pub max_tokens: i32,
    pub overlap: i32,
    /// Options of the pipeline.
    pub options: &'static str,
    /// What of the document is returned around each chunk.
    pub expand: &'static str,
}

const fn plain(name: &'static str, strategy: &'static str, max_tokens: i32) -> Way {
    Way { name, strategy, max_tokens, overlap: 0, options: "{}", expand: "none" }
}

/// All of them.
pub const WAYS: &[Way] = &[
    plain("fixed", "fixed", 200),
    plain("sentence", "sentence", 200),
    plain("recursive", "recursive", 200),
    plain("markdown", "markdown", 200),
    plain("semantic", "semantic", 200),
    Way { overlap: 40, ..plain("overlap", "recursive", 200) },
    Way { options: r#"{"contextual": true}"#, ..plain("contextual", "markdown", 192) },
    Way {
        options: r#"{"chunk": {"child_tokens": 100}}"#,
        expand: "parent",
        ..plain("hierarchical", "hierarchical", 200)
    },
    plain("short", "recursive", 64),
    Way { options: r#"{"late": true}"#, ..plain("short_late", "recursive", 64) },
    Way { options: r#"{"late": true}"#, ..plain("middle_late", "recursive", 128) },
    plain("middle", "recursive", 128),
    plain("longer", "recursive", 256),
    plain("related", "semantic", 256),
    Way { expand: "parent", ..plain("nested", "hierarchical", 256) },
];
