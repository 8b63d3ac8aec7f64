//! Why `pratique test` ends.

/// Why `pratique test` ends.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TestError {
    /// There is nothing to test.
    #[error(
        "{paths}: there is no suite of tests: `pratique test --init DIRECTORY` writes a first one for the policies of a directory"
    )]
    NoSuite { paths: String },
    /// There are objects, and nothing to test.
    #[error(
        "{paths}: there is no suite of tests, but objects: `pratique review {inputs}` reviews them, and `pratique test --init DIRECTORY` \
         writes a first suite for the policies of a directory"
    )]
    OnlyObjects { paths: String, inputs: String },
    /// There are policies, and nothing to test.
    #[error(
        "{paths}: there is no suite of tests, but policies: `pratique check {inputs}` checks them, and `pratique test --init {directory}` \
         writes a first suite for them"
    )]
    OnlyPolicies {
        paths: String,
        inputs: String,
        directory: String,
    },
    /// Suites have no tests.
    #[error("{paths}: there is no test in the suites")]
    NothingToTest { paths: String },
    /// A first suite is to be written for a file.
    #[error("{path}: --init writes a suite for a directory of policies")]
    NoDirectory { path: String },
    /// No test matches the filter.
    #[error("no test's name contains {filter:?}")]
    NoTest { filter: String },
    /// Changes cannot be watched.
    #[error("cannot watch for changes: {0}")]
    Watch(notify::Error),
}
