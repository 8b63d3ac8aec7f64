//! Benchmarks of the workspace; see `benches/`.
