//! Nothing but features: with this package among the default members, `cargo run` gives the program's dependencies the
//! features that `cargo test --workspace` gives them, which then compiles none of them again.
//!
//! What is shipped is built by `--package pratique-cli` and has none of them.
