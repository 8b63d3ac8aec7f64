//! How policies came to a verdict.
//!
//! A [`Recorder`] looks on while policies judge, and gives an [`Explanation`]: each policy and binding, and why it does
//! or does not meet the request; each expression with its value, its cost, the values of the expressions in it, and the
//! one of these that decided. [`picture`](Expression::picture) sets the values under the source:
//!
//! ```text
//! object.spec.replicas <= 5
//!             |        |
//!             7        false
//! ```
//!
//! [`Written`] is an expression's tree as its author wrote it, before macros were expanded.

mod decisive;
mod locate;
mod picture;
mod recorder;
mod shown;
mod story;
mod written;

pub use picture::Line;
pub use recorder::Recorder;
pub use shown::shown;
pub use story::{Binding, Explanation, Expression, Inner, Meeting, Place, Policy, Round};
pub use written::{Logic, Written};
