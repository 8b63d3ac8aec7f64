//! How much the objects of a suite's tests may take: a row may have little more than a name, but is tested with an object of
//! its own.

use pratique_json::Value;

use crate::suite::{Ask, Case};

/// What the tests of a suite may take in memory, in bytes. Ten thousand take a tenth of that.
const MOST: usize = 512 << 20;

/// What is said of a test for which nothing is left.
pub(super) const SPENT: &str = "the tests up to this one, with an object for each row, take more than 512 MiB: make several suites of them";

/// What is left for more objects.
pub(super) struct Budget {
    left: usize,
}

impl Budget {
    pub(super) fn new() -> Self {
        Budget { left: MOST }
    }

    /// Whether there is still room for a test with what it asks.
    pub(super) fn take(&mut self, ask: &Ask) -> bool {
        let given = [&ask.object, &ask.old_object, &ask.request, &ask.options];
        let objects = given.into_iter().flatten().chain(&ask.surroundings.objects);
        let size = objects.map(size).sum::<usize>() + 2 * size_of::<Case>();
        self.left = self.left.saturating_sub(size);
        self.left > 0
    }

    /// Whether nothing is left.
    pub(super) fn is_spent(&self) -> bool {
        self.left == 0
    }
}

/// What a value takes, about. Documents are not so deep that recursion would be a risk.
fn size(value: &Value<'_>) -> usize {
    let inner: usize = match value {
        Value::String(text) => text.len(),
        Value::Array(elements) => elements.iter().map(size).sum(),
        Value::Object(object) => object.iter().map(|(key, value)| key.len() + size(value)).sum(),
        _ => 0,
    };
    inner + 2 * size_of::<Value<'_>>()
}
