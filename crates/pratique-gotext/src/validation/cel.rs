//! Names in CEL expressions.

/// The words that cannot be names in an expression: keywords and reserved words of CEL.
// Upstream: apiserver/pkg/cel/escaping.go, celReservedSymbols
pub const CEL_RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];
