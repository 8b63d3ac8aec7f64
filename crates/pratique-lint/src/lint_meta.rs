//! What a lint is called.

/// What a lint is called, and what it finds.
#[derive(Debug, PartialEq, Eq)]
pub struct LintMeta {
    /// Its stable name, as in `null-object`.
    pub name: &'static str,
    /// What it finds, in a sentence.
    pub summary: &'static str,
}
