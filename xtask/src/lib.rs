//! Maintenance tasks, as functions, so that the test suite can run them too.

pub mod attack;
pub mod bench;
pub mod dependencies;
pub mod deploy;
pub mod e2e;
pub mod field;
pub mod fuzz;
pub mod load_test;
pub mod page;
pub mod tidy;
pub mod tools;
