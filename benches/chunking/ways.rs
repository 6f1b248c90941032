//! The ways of cutting that are compared.

/// A pipeline and how it is asked.
pub struct Way {
    pub name: &'static str,
    /// How its documents are cut.
    pub chunking: &'static str,
    /// Options of the pipeline.
    pub options: &'static str,
    /// What of the document is returned around each chunk.
    pub expand: &'static str,
}

const fn plain(name: &'static str, chunking: &'static str) -> Way {
    Way { name, chunking, options: "{}", expand: "none" }
}

/// All of them.
pub const WAYS: &[Way] = &[
    plain("fixed", r#"{"by": "fixed", "max_tokens": 200}"#),
    plain("sentence", r#"{"by": "sentence", "max_tokens": 200}"#),
    plain("recursive", r#"{"by": "recursive", "max_tokens": 200}"#),
    plain("markdown", r#"{"by": "markdown", "max_tokens": 200}"#),
    plain("semantic", r#"{"by": "semantic", "max_tokens": 200}"#),
    plain("overlap", r#"{"by": "recursive", "max_tokens": 200, "overlap": 40}"#),
    Way {
        options: r#"{"contextual": true}"#,
        ..plain("contextual", r#"{"by": "markdown", "max_tokens": 192}"#)
    },
    Way {
        expand: "parent",
        ..plain("hierarchical", r#"{"by": "hierarchical", "max_tokens": 200, "child_tokens": 100}"#)
    },
    plain("short", r#"{"by": "recursive", "max_tokens": 64}"#),
    plain("short_late", r#"{"by": "recursive", "max_tokens": 64, "late": true}"#),
    plain("middle_late", r#"{"by": "recursive", "max_tokens": 128, "late": true}"#),
    plain("middle", r#"{"by": "recursive", "max_tokens": 128}"#),
    plain("longer", r#"{"by": "recursive", "max_tokens": 256}"#),
    plain("related", r#"{"by": "semantic", "max_tokens": 256}"#),
    Way { expand: "parent", ..plain("nested", r#"{"by": "hierarchical", "max_tokens": 256}"#) },
];
