//! Maintenance tasks, as functions, so that the test suite can run them too.

pub mod bench;
pub mod dependencies;
pub mod field;
pub mod fuzz;
pub mod tidy;
pub mod tools;
