//! Maintenance tasks: `cargo xtask <task>`.

fn main() {}
