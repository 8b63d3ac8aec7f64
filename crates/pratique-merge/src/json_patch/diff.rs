//! Computes the patch between two documents.

use pratique_json::{Object, Value};

use super::{Operation, Text};

/// The operations that make one document of another: as few as a comparison member by member and element by
/// element finds. Only `add`, `remove` and `replace` are used. A list in which so much differs that a thousand operations
/// and more would be longer than it is itself is replaced as a whole.
///
/// [`apply`](super::apply) gives the second document back, unless one of the two is neither an object nor an
/// array: such a document cannot be replaced.
pub fn diff<'a>(from: &Value<'a>, to: &Value<'a>) -> Vec<Operation<'a>> {
    let mut differ = PatchDiffer {
        path: String::new(),
        operations: Vec::new(),
        length: 0,
    };
    differ.values(from, to);
    differ.operations
}

struct PatchDiffer<'a> {
    path: String,
    operations: Vec<Operation<'a>>,
    /// About how long the operations are as text, apart from the values: these are there in any case.
    length: usize,
}

/// How many operations a list may always have.
const MANY: usize = 1000;
/// The size of an operation without its path and its value: `{"op":"add","path":"","value":},`.
const FRAME: usize = 32;

impl<'a> PatchDiffer<'a> {
    fn values(&mut self, from: &Value<'a>, to: &Value<'a>) {
        match (from, to) {
            (Value::Object(from), Value::Object(to)) => self.objects(from, to),
            (Value::Array(old_elements), Value::Array(new_elements)) => {
                let (operations, length) = (self.operations.len(), self.length);
                if !self.arrays(old_elements, new_elements, || length + to.to_string().len()) {
                    self.operations.truncate(operations);
                    self.length = length;
                    self.operation("replace", Some(to));
                }
            }
            // Only one of them is written as null.
            (Value::Array(_), Value::NilArray) | (Value::NilArray, Value::Array(_)) => {
                self.operation("replace", Some(to));
            }
            _ if from == to => {}
            _ => self.operation("replace", Some(to)),
        }
    }

    fn objects(&mut self, from: &Object<'a>, to: &Object<'a>) {
        for (key, _) in from.iter().filter(|(key, _)| !to.contains_key(key)) {
            self.at(&escape(key), |differ| differ.operation("remove", None));
        }
        for (key, value) in to.iter() {
            self.at(&escape(key), |differ| match from.get(key) {
                Some(old_member) => differ.values(old_member, value),
                None => differ.operation("add", Some(value)),
            });
        }
    }

    /// Equal elements stay; those between them are changed pair by pair, and the rest is removed or added.
    /// Returns false once the operations are many and longer than `most`. The document itself is never
    /// replaced.
    fn arrays(&mut self, from: &[Value<'a>], to: &[Value<'a>], most: impl Fn() -> usize) -> bool {
        let mut position = 0;
        let few = self.operations.len() + MANY;
        let mut limit = None;
        let mut is_short = |differ: &Self| {
            differ.operations.len() <= few
                || differ.path.is_empty()
                || differ.length <= *limit.get_or_insert_with(&most)
        };
        for gap in gaps(from, to) {
            position += gap.kept;
            let pairs = gap.from.len().min(gap.to.len());
            for (old_element, new_element) in gap.from.iter().zip(gap.to) {
                self.at(&position.to_string(), |differ| {
                    differ.values(old_element, new_element)
                });
                position += 1;
                if !is_short(self) {
                    return false;
                }
            }
            for _ in gap.from.iter().skip(pairs) {
                self.at(&position.to_string(), |differ| differ.operation("remove", None));
                if !is_short(self) {
                    return false;
                }
            }
            for after in gap.to.iter().skip(pairs) {
                self.at(&position.to_string(), |differ| {
                    differ.operation("add", Some(after))
                });
                position += 1;
                if !is_short(self) {
                    return false;
                }
            }
        }
        true
    }

    fn at(&mut self, token: &str, visit: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.push('/');
        self.path.push_str(token);
        visit(self);
        self.path.truncate(length);
    }

    fn operation(&mut self, op: &'static str, value: Option<&Value<'a>>) {
        self.length += FRAME + self.path.len();
        self.operations.push(Operation {
            op: op.into(),
            path: Text::from(self.path.clone()),
            from: Text::Missing,
            value: value.cloned(),
        });
    }
}

fn escape(token: &str) -> String {
    token.replace('~', "~0").replace('/', "~1")
}

/// The different elements between two runs of equal ones.
struct DifferentRun<'v, 'a> {
    /// How many equal elements come before it.
    kept: usize,
    from: &'v [Value<'a>],
    to: &'v [Value<'a>],
}

/// How many pairs of elements may be compared to find the most that are equal.
const MAX_PAIRS: usize = 10_000;

fn gaps<'v, 'a>(from: &'v [Value<'a>], to: &'v [Value<'a>]) -> Vec<DifferentRun<'v, 'a>> {
    let prefix = from.iter().zip(to).take_while(|(a, b)| a == b).count();
    let (_, from) = from.split_at(prefix);
    let (_, to) = to.split_at(prefix);
    let suffix = from
        .iter()
        .rev()
        .zip(to.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let (from, _) = from.split_at(from.len() - suffix);
    let (to, _) = to.split_at(to.len() - suffix);
    let common = if from.len() * to.len() <= MAX_PAIRS {
        longest_common(from, to)
    } else {
        Vec::new()
    };
    let mut gaps = Vec::new();
    let (mut kept, mut from_here, mut to_here) = (prefix, 0, 0);
    for (from_next, to_next) in common.into_iter().chain([(from.len(), to.len())]) {
        let gap = DifferentRun {
            kept,
            from: from.get(from_here..from_next).unwrap_or_default(),
            to: to.get(to_here..to_next).unwrap_or_default(),
        };
        if gap.from.is_empty() && gap.to.is_empty() {
            kept += 1;
        } else {
            gaps.push(gap);
            kept = 1;
        }
        (from_here, to_here) = (from_next + 1, to_next + 1);
    }
    gaps
}

/// The positions of the longest sequence of elements that both have.
fn longest_common(from: &[Value<'_>], to: &[Value<'_>]) -> Vec<(usize, usize)> {
    // `lengths[i][j]`: how long it is from `from[i]` and `to[j]` on.
    let mut lengths = vec![vec![0usize; to.len() + 1]; from.len() + 1];
    let length = |lengths: &[Vec<usize>], i: usize, j: usize| {
        lengths.get(i).and_then(|row| row.get(j)).copied().unwrap_or(0)
    };
    for (i, element) in from.iter().enumerate().rev() {
        for (j, other) in to.iter().enumerate().rev() {
            let longest = if element == other {
                1 + length(&lengths, i + 1, j + 1)
            } else {
                length(&lengths, i + 1, j).max(length(&lengths, i, j + 1))
            };
            if let Some(place) = lengths.get_mut(i).and_then(|row| row.get_mut(j)) {
                *place = longest;
            }
        }
    }
    let (mut i, mut j, mut common) = (0, 0, Vec::new());
    while let (Some(element), Some(other)) = (from.get(i), to.get(j)) {
        if element == other {
            common.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if length(&lengths, i + 1, j) >= length(&lengths, i, j + 1) {
            i += 1;
        } else {
            j += 1;
        }
    }
    common
}

#[cfg(test)]
mod tests {
    use pratique_json::{Progress, parse};

    use super::*;
    use crate::json_patch::apply;

    #[track_caller]
    fn check(from: &str, to: &str, expected: &str) {
        let from = parse(from.as_bytes()).unwrap();
        let to = parse(to.as_bytes()).unwrap();
        let operations = diff(&from, &to);
        assert_eq!(apply(from, &operations, &Progress::unwatched()).unwrap(), to);
        let shown = operations.into_iter().map(|operation| {
            let operation = Value::from(operation);
            let text = |key| operation.get(key).and_then(Value::as_str).unwrap_or_default();
            let value = operation.get("value").map(|value| format!(" {value}"));
            format!("{} {}{}", text("op"), text("path"), value.unwrap_or_default())
        });
        assert_eq!(shown.collect::<Vec<_>>().join(", "), expected);
    }

    #[test]
    fn members_are_compared() {
        check(r#"{"a":1}"#, r#"{"a":1}"#, "");
        check(
            r#"{"a":1,"b":2}"#,
            r#"{"b":3,"c/~":4}"#,
            "remove /a, replace /b 3, add /c~1~0 4",
        );
        check(r#"{"a":{"b":1}}"#, r#"{"a":{"b":1,"c":null}}"#, "add /a/c null");
        check(r#"{"a":{"b":1}}"#, r#"{"a":[]}"#, "replace /a []");
        check("[1]", "{}", "replace  {}");
    }

    #[test]
    fn elements_are_compared() {
        check("[1,2,3]", "[1,3]", "remove /1");
        check("[1,2]", "[0,1,2]", "add /0 0");
        check("[1,2,3,4]", "[0,1,3,4,5]", "add /0 0, remove /2, add /4 5");
        check(r#"[{"a":1},2]"#, r#"[{"a":2},3,2]"#, "replace /0/a 2, add /1 3");
        check("[1,2,3]", "[]", "remove /0, remove /0, remove /0");
        check("[1,1]", "[1,1,1]", "add /2 1");
    }

    #[test]
    fn lists_are_replaced_where_that_is_shorter() {
        let list = |element: &str, count: usize| format!("[{}]", vec![element; count].join(","));
        let whole = |list: &str| format!(r#"{{"a":{{"b":{list}}},"c":{list}}}"#);
        let diff = |from: &str, to: &str| -> Vec<String> {
            let (from, to) = (parse(from.as_bytes()).unwrap(), parse(to.as_bytes()).unwrap());
            let operations = diff(&from, &to);
            assert_eq!(
                apply(from.clone(), &operations, &Progress::unwatched()).unwrap(),
                to
            );
            let paths = operations
                .into_iter()
                .map(|element| Value::from(element).get("path").unwrap().to_string());
            paths.collect()
        };
        let after = r#"{"name":"","resources":{}}"#;
        let both = [r#""/a/b""#, r#""/c""#];
        assert_eq!(
            diff(&whole(&list("{}", 2_000)), &whole(&list(after, 2_000))),
            both
        );
        assert_eq!(diff(&whole(&list("1", 2_000)), &whole("[2]")), both, "removed");
        assert_eq!(diff(&whole("[2]"), &whole(&list("1", 2_000))), both, "added");
        // Few operations, and long elements of which little changes.
        assert_eq!(
            diff(&whole(&list("{}", 100)), &whole(&list(after, 100))).len(),
            400
        );
        let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(100));
        let changed = format!(r#"{{"a":"{}","b":1}}"#, "x".repeat(100));
        assert_eq!(
            diff(&whole(&list(&long, 2_000)), &whole(&list(&changed, 2_000))).len(),
            4_000
        );
        // The document itself stays.
        assert_eq!(diff(&list("1", 2_000), "[2]").len(), 2_000);
        // A list in a list is replaced with it.
        let nested = |element: &str| format!(r#"{{"a":{}}}"#, list(&list(element, 10), 500));
        assert_eq!(diff(&nested("{}"), &nested(after)), [r#""/a""#]);
    }
}
