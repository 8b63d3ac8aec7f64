//! The memory budget of a suite's tests: a row may have little more than a name, but has its own copy of the object.

use pratique_json::Value;

use crate::suite::{Case, TestInput};

/// The budget, in bytes. Ten thousand tests usually need a tenth of it.
const MOST: usize = 512 << 20;

/// The message for a test that exceeds the budget.
pub(crate) const SPENT: &str = "the tests up to this one, with an object for each row, take more than 512 MiB: make several suites of them";

/// The remaining budget.
#[derive(Debug)]
pub(crate) struct ReadBudget {
    left: usize,
}

impl ReadBudget {
    pub(crate) fn new() -> Self {
        ReadBudget { left: MOST }
    }

    /// Takes the memory of a test from the budget; false if it is used up.
    pub(crate) fn take(&mut self, input: &TestInput) -> bool {
        let objects = [&input.object, &input.old_object, &input.request, &input.options];
        let objects = objects.into_iter().flatten().chain(&input.cluster.objects);
        let size = objects.map(size).sum::<usize>() + 2 * size_of::<Case>();
        self.left = self.left.saturating_sub(size);
        self.left > 0
    }

    /// Takes the memory of objects from the budget; false if it is used up.
    pub(crate) fn take_objects(&mut self, objects: &[Value<'_>]) -> bool {
        let size = objects.iter().map(size).sum::<usize>();
        self.left = self.left.saturating_sub(size);
        self.left > 0
    }

    /// Whether the budget is used up.
    pub(crate) fn is_spent(&self) -> bool {
        self.left == 0
    }
}

/// The approximate size of a value in memory. Recursion is safe: the depth of documents is bounded.
fn size(value: &Value<'_>) -> usize {
    let inner: usize = match value {
        Value::String(text) => text.len(),
        Value::Array(elements) => elements.iter().map(size).sum(),
        Value::Object(object) => object.iter().map(|(key, value)| key.len() + size(value)).sum(),
        _ => 0,
    };
    inner + 2 * size_of::<Value<'_>>()
}
