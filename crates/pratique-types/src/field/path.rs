//! Paths of fields, which become text only in messages.

use std::fmt::{self, Display, Formatter, Write as _};

/// A field, by the steps that lead to it. Paths are linked on the stack: a step costs no allocation.
#[derive(Clone, Copy, Debug)]
pub struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    step: PathStep<'p>,
}

#[derive(Clone, Copy, Debug)]
enum PathStep<'p> {
    Root,
    /// A path from its text, or nothing where it is empty.
    Base(&'p str),
    Child(&'p str),
    Key(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    /// The object itself, which is written `<nil>`.
    pub const ROOT: Path<'static> = Path {
        parent: None,
        step: PathStep::Root,
    };

    /// `metadata`
    pub const METADATA: Path<'static> = Path::new("metadata");

    /// A member of the object itself; the name may be a whole path that was written before.
    pub const fn new(name: &'p str) -> Path<'p> {
        Path {
            parent: None,
            step: PathStep::Base(name),
        }
    }

    /// `….name`
    pub fn child<'c>(&'c self, name: &'c str) -> Path<'c> {
        self.with_step(PathStep::Child(name))
    }

    /// `…[key]`
    pub fn key<'c>(&'c self, key: &'c str) -> Path<'c> {
        self.with_step(PathStep::Key(key))
    }

    /// `…[0]`
    pub fn index(&self, index: usize) -> Path<'_> {
        self.with_step(PathStep::Index(index))
    }

    fn with_step<'c>(&'c self, step: PathStep<'c>) -> Path<'c> {
        Path {
            parent: Some(self),
            step,
        }
    }

    /// The name of the member, if it is one.
    pub fn name(&self) -> Option<&'p str> {
        match self.step {
            PathStep::Base(name) | PathStep::Child(name) => Some(name),
            PathStep::Root | PathStep::Key(_) | PathStep::Index(_) => None,
        }
    }

    /// Whether these are the metadata of the object itself.
    pub fn is_metadata(&self) -> bool {
        self.name() == Some("metadata") && self.parent.is_none_or(Path::is_root)
    }

    /// Whether this is the object itself.
    pub fn is_root(&self) -> bool {
        matches!(self.step, PathStep::Root)
    }

    /// `spec.map.key.list[0]`, as unknown fields and the errors of schemas name it; empty for the object itself.
    // Upstream: kube-openapi/pkg/validation/validate, Path
    pub fn to_dotted(&self) -> String {
        self.write(PathNotation::Dotted)
    }

    fn write(&self, notation: PathNotation) -> String {
        let mut steps = Vec::new();
        let mut next = Some(self);
        while let Some(path) = next {
            steps.push(path.step);
            next = path.parent;
        }
        let mut text = String::new();
        for step in steps.into_iter().rev() {
            // Writing to a string does not fail.
            let _ = match (step, notation) {
                (PathStep::Root, _) => Ok(()),
                (PathStep::Base(base), _) => text.write_str(base),
                (PathStep::Index(index), _) => write!(text, "[{index}]"),
                (PathStep::Key(key), PathNotation::Field) => write!(text, "[{key}]"),
                (PathStep::Key(name) | PathStep::Child(name), _) if text.is_empty() => text.write_str(name),
                (PathStep::Key(name) | PathStep::Child(name), _) => write!(text, ".{name}"),
            };
        }
        text
    }
}

/// `spec.map[key].list[0]`; `<nil>` for the object itself.
// Upstream: apimachinery/pkg/util/validation/field/path.go, String
impl Display for Path<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        if self.is_root() {
            return formatter.write_str("<nil>");
        }
        formatter.write_str(&self.write(PathNotation::Field))
    }
}

impl From<Path<'_>> for String {
    fn from(path: Path<'_>) -> Self {
        path.to_string()
    }
}

impl From<&Path<'_>> for String {
    fn from(path: &Path<'_>) -> Self {
        path.to_string()
    }
}

#[derive(Clone, Copy)]
enum PathNotation {
    Field,
    Dotted,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_in_two_ways() {
        let root = Path::ROOT;
        let spec = root.child("spec");
        let map = spec.child("map");
        let (key, list) = (map.key("a.b"), spec.child("list"));
        assert_eq!(
            (root.to_string().as_str(), root.to_dotted().as_str()),
            ("<nil>", "")
        );
        assert_eq!(
            (key.to_string().as_str(), key.to_dotted().as_str()),
            ("spec.map[a.b]", "spec.map.a.b")
        );
        assert_eq!(list.index(3).to_string(), "spec.list[3]");
        assert_eq!(Path::new("spec.x").child("y").to_string(), "spec.x.y");
        assert_eq!(Path::METADATA.child("name").to_string(), "metadata.name");
    }
}
