//! The `pratique` command.

fn main() {}
