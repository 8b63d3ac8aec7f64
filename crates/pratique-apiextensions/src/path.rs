//! Paths of fields, which become text only in messages.

use std::fmt::Write as _;

/// A field, by the steps that lead to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'p> {
    Root,
    /// A path from its text, or nothing where it is empty.
    Base(&'p str),
    Child(&'p str),
    Key(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    pub(crate) const ROOT: Path<'static> = Path {
        parent: None,
        step: Step::Root,
    };

    /// `metadata`
    pub(crate) const METADATA: Path<'static> = Path {
        parent: None,
        step: Step::Child("metadata"),
    };

    /// A path that begins with one that was written before.
    pub(crate) fn based(text: &'p str) -> Path<'p> {
        Path {
            parent: None,
            step: Step::Base(text),
        }
    }

    pub(crate) fn child<'c>(&'c self, name: &'c str) -> Path<'c> {
        self.with(Step::Child(name))
    }

    pub(crate) fn key<'c>(&'c self, key: &'c str) -> Path<'c> {
        self.with(Step::Key(key))
    }

    pub(crate) fn index(&self, at: usize) -> Path<'_> {
        self.with(Step::Index(at))
    }

    fn with<'c>(&'c self, step: Step<'c>) -> Path<'c> {
        Path {
            parent: Some(self),
            step,
        }
    }

    pub(crate) fn is_root(&self) -> bool {
        matches!(self.step, Step::Root)
    }

    /// `spec.map[key].list[0]`; `<nil>` for the object itself.
    // Upstream: apimachinery/pkg/util/validation/field/path.go, String
    pub(crate) fn field(&self) -> String {
        match self.is_root() {
            true => "<nil>".to_owned(),
            false => self.written(Notation::Field),
        }
    }

    /// `spec.map.key.list[0]`, as unknown fields and the errors of schemas name it; empty for the object
    /// itself.
    // Upstream: kube-openapi/pkg/validation/validate, Path
    pub(crate) fn dotted(&self) -> String {
        self.written(Notation::Dotted)
    }

    fn written(&self, notation: Notation) -> String {
        let mut steps = Vec::new();
        let mut at = Some(self);
        while let Some(path) = at {
            steps.push(path.step);
            at = path.parent;
        }
        let mut text = String::new();
        for step in steps.into_iter().rev() {
            // Writing to a string does not fail.
            let _ = match (step, notation) {
                (Step::Root, _) => Ok(()),
                (Step::Base(base), _) => text.write_str(base),
                (Step::Index(at), _) => write!(text, "[{at}]"),
                (Step::Key(key), Notation::Field) => write!(text, "[{key}]"),
                (Step::Key(name) | Step::Child(name), _) if text.is_empty() => text.write_str(name),
                (Step::Key(name) | Step::Child(name), _) => write!(text, ".{name}"),
            };
        }
        text
    }
}

#[derive(Clone, Copy)]
enum Notation {
    Field,
    Dotted,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_in_two_ways() {
        let root = Path::ROOT;
        let (spec, at) = (root.child("spec"), 3);
        let map = spec.child("map");
        let (key, list) = (map.key("a.b"), spec.child("list"));
        let item = list.index(at);
        assert_eq!((root.field(), root.dotted()), ("<nil>".to_owned(), String::new()));
        assert_eq!(
            (key.field().as_str(), key.dotted().as_str()),
            ("spec.map[a.b]", "spec.map.a.b")
        );
        assert_eq!(item.field(), "spec.list[3]");
        assert_eq!(Path::based("spec.x").child("y").field(), "spec.x.y");
    }
}
