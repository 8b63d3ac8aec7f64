//! Kubernetes admission control as a library: sources, snapshot and chain behind one facade

mod expressions;

pub use expressions::Expressions;
