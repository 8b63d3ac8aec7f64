//! The errors of an object, and the answer that lists them.

use std::collections::HashSet;

use super::{BadValue, Error, ErrorKind, Path};
use crate::group_version::GroupKind;
use crate::status::{self, Status};

/// The errors of one object in the order in which they were made. Those beyond a number or a length are only counted;
/// the server has no bound.
#[derive(Clone, Debug, Default)]
pub struct ErrorList {
    errors: Vec<Error>,
    bytes: usize,
    more: usize,
}

const MAX_ERRORS: usize = 10_000;
const MAX_BYTES: usize = 16 << 20;

impl ErrorList {
    /// Adds an error.
    pub fn push(&mut self, error: Error) {
        self.push_with(|| error);
    }

    /// Adds an error that is made only if it is kept: one may print much of the object.
    pub fn push_with(&mut self, error: impl FnOnce() -> Error) {
        if self.is_full() {
            self.more += 1;
            return;
        }
        let error = error();
        self.bytes = self.bytes.saturating_add(printed_size(&error));
        self.errors.push(error);
    }

    /// Adds an error as often as `count` says, which may be more often than can be counted up to.
    pub fn push_times(&mut self, count: usize, error: impl FnOnce() -> Error) {
        let mut left = count;
        if left > 0 && !self.is_full() {
            let error = error();
            while left > 0 && !self.is_full() {
                self.push(error.clone());
                left -= 1;
            }
        }
        self.more = self.more.saturating_add(left);
    }

    /// Adds the errors of another list, with those that it only counts.
    pub fn append(&mut self, other: ErrorList) {
        for error in other.errors {
            self.push(error);
        }
        self.more = self.more.saturating_add(other.more);
    }

    fn is_full(&self) -> bool {
        self.errors.len() >= MAX_ERRORS || self.bytes >= MAX_BYTES
    }

    /// How many errors there are, with those that are only counted.
    pub fn len(&self) -> usize {
        self.errors.len() + self.more
    }

    /// Whether there is no error, not even one that is only counted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The errors that were kept.
    pub fn iter(&self) -> std::slice::Iter<'_, Error> {
        self.errors.iter()
    }

    /// The errors, to be changed.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Error> {
        self.errors.iter_mut()
    }

    /// The last error, if it was kept.
    pub fn last_mut(&mut self) -> Option<&mut Error> {
        self.errors.last_mut().filter(|_| self.more == 0)
    }

    /// Keeps the errors for which `keep` says so, and those that are only counted.
    pub fn retain(&mut self, keep: impl FnMut(&Error) -> bool) {
        self.errors.retain(keep);
        // Those that are gone leave room for others.
        self.bytes = self.errors.iter().map(printed_size).sum();
    }

    /// Keeps the first of equal errors, as a server does that applies declarative rules, too.
    // Upstream: apimachinery/pkg/util/validation/field/errors.go, ErrorList.Filter
    pub fn remove_duplicates(&mut self) {
        let mut seen = HashSet::new();
        let keep: Vec<bool> = self
            .errors
            .iter()
            .map(|error| seen.insert((&error.field, &error.body)))
            .collect();
        let mut keep = keep.into_iter();
        self.retain(|_| keep.next().unwrap_or(true));
    }

    /// Whether an error keeps the validation rules of a custom resource from being evaluated.
    pub fn has_blocking(&self) -> bool {
        self.errors.iter().any(|error| error.kind.is_blocking())
    }

    /// The errors; if there were more than are kept, the last one says how many.
    pub fn into_vec(mut self) -> Vec<Error> {
        if self.more > 0 {
            let detail = format!("and {} more errors of this object", self.more);
            let rest = Error::new(ErrorKind::Invalid, Path::ROOT, &BadValue::Omitted, &detail);
            self.errors.push(rest);
        }
        self.errors
    }

    /// The answer of a server: 422 with the errors as causes.
    pub fn into_status(self, group: &str, kind: &str, name: &str) -> Status {
        status::invalid(GroupKind::new(group, kind), name, self.into_vec())
    }
}

impl Extend<Error> for ErrorList {
    fn extend<T: IntoIterator<Item = Error>>(&mut self, errors: T) {
        errors.into_iter().for_each(|error| self.push(error));
    }
}

/// How much an error counts of the length that a list keeps.
fn printed_size(error: &Error) -> usize {
    error.field.len() + error.body.len()
}

/// The errors as one message: alone, or in brackets, each once.
// Upstream: apimachinery/pkg/util/validation/field/errors.go, ToAggregate
pub fn aggregate(errors: &[Error]) -> String {
    crate::aggregate(errors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_lists_all_and_its_message_each_once() {
        let mut errors = ErrorList::default();
        errors.push(Error::required("spec.a", ""));
        let alone = errors.clone().into_status("", "Pod", "a\"b");
        assert_eq!(alone.message, r#"Pod "a\"b" is invalid: spec.a: Required value"#);
        errors.push(Error::required("spec.a", ""));
        errors.push(Error::duplicate("spec.b", "x"));
        let status = errors.into_status("apps", "Deployment", "d");
        assert_eq!(
            status.message,
            r#"Deployment.apps "d" is invalid: [spec.a: Required value, spec.b: Duplicate value: "x"]"#
        );
        let details = status.details.unwrap();
        assert_eq!((status.code, details.causes.len()), (422, 3));
        let cause = &details.causes[2];
        assert_eq!(
            (
                cause.reason.as_str(),
                cause.message.as_str(),
                cause.field.as_str()
            ),
            ("FieldValueDuplicate", r#"Duplicate value: "x""#, "spec.b")
        );
    }

    #[test]
    fn the_length_of_errors_is_bounded() {
        let mut errors = ErrorList::default();
        let (long, mut made) = ("x".repeat(1 << 20), 0);
        for _ in 0..40 {
            errors.push_with(|| {
                made += 1;
                Error::invalid("a", long.as_str(), "")
            });
        }
        assert_eq!((made, errors.len()), (MAX_BYTES >> 20, 40));
        let kept = errors.into_vec();
        assert_eq!(kept.len(), made + 1);
        let last = kept.last().map(ToString::to_string).unwrap_or_default();
        assert!(last.ends_with("and 24 more errors of this object"), "{last}");
    }

    #[test]
    fn errors_that_are_only_counted_are_not_removed() {
        let mut errors = ErrorList::default();
        let long = "x".repeat(1 << 20);
        for _ in 0..20 {
            errors.push(Error::invalid("a", long.as_str(), ""));
        }
        errors.retain(|_| false);
        assert!(!errors.is_empty());
        assert_eq!((errors.len(), errors.iter().len()), (4, 0));
        // There is room again.
        errors.push(Error::required("b", ""));
        assert_eq!((errors.len(), errors.iter().len()), (5, 1));
    }

    #[test]
    fn an_error_is_added_many_times() {
        let many = |counts: &[usize]| {
            let mut errors = ErrorList::default();
            for count in counts {
                errors.push_times(*count, || Error::required("a", ""));
            }
            (errors.len(), errors.iter().len())
        };
        assert_eq!(many(&[0]), (0, 0));
        assert_eq!(many(&[2, 0, 1]), (3, 3));
        assert_eq!(
            many(&[MAX_ERRORS - 1, 1_000_000_000_000]),
            (MAX_ERRORS + 999_999_999_999, MAX_ERRORS)
        );
        let mut errors = ErrorList::default();
        let long = "x".repeat(1 << 20);
        errors.push_times(40, || Error::invalid("a", long.as_str(), ""));
        assert_eq!((errors.len(), errors.iter().len()), (40, MAX_BYTES >> 20));
    }

    #[test]
    fn the_number_of_errors_is_bounded() {
        let mut errors = ErrorList::default();
        for _ in 0..=MAX_ERRORS {
            errors.push(Error::required("a", ""));
        }
        assert_eq!(errors.len(), MAX_ERRORS + 1);
        let kept = errors.into_vec();
        assert_eq!(kept.len(), MAX_ERRORS + 1);
        assert_eq!(
            kept[MAX_ERRORS].to_string(),
            "<nil>: Invalid value: and 1 more errors of this object"
        );
    }
}
