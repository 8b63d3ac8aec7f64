//! Fuzz targets: functions that take any bytes and assert properties that must hold for all of them.
//!
//! Each [`FuzzTarget`] is an ordinary function, so that `cargo test` replays the inputs in `corpus/` through all of them on
//! stable Rust, and changes each of these in ways that a seed repeats. `cargo xtask fuzz` and `cargo fuzz run` drive the same
//! functions by coverage, with the binaries in `fuzz_targets/`.
//!
//! A target asserts more than the absence of panics: round trips of texts, idempotent operations, simpler models of the
//! code, bounds on costs and sizes.

pub mod corpus;
mod input;
pub mod mutation;
pub mod targets;

#[cfg(test)]
mod tests;

/// A function for any input.
#[derive(Clone, Copy, Debug)]
pub struct FuzzTarget {
    /// Its name: that of its binary and of its directory in `corpus/`.
    pub name: &'static str,
    /// Checks an input; panics if a property does not hold.
    pub run: fn(&[u8]),
}

macro_rules! targets {
    ($($name:ident)*) => {
        /// All targets.
        pub const TARGETS: &[FuzzTarget] = &[$(FuzzTarget { name: stringify!($name), run: targets::$name }),*];
    };
}

targets! {
    load documents decode
    parse check evaluate
    regex quantity time url
    merge json_patch objects selectors
    review answer
    admission_configuration kubeconfig suite
}

/// The target of a name.
#[must_use]
pub fn target(name: &str) -> Option<&'static FuzzTarget> {
    TARGETS.iter().find(|target| target.name == name)
}

/// The entry of a binary that libFuzzer does not drive: runs the target over the files that its arguments name.
#[macro_export]
macro_rules! replay {
    ($target:ident) => {
        #[cfg(not(fuzzing))]
        fn main() -> std::io::Result<()> {
            for path in std::env::args_os().skip(1) {
                $crate::targets::$target(&std::fs::read(path)?);
            }
            Ok(())
        }
    };
}
