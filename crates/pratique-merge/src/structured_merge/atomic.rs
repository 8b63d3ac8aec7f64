//! Finds the values of a patch that can only be replaced as a whole.
//!
//! Setting such a value would remove its previous content, which authors of an apply configuration do not expect.

use std::fmt::{self, Display, Formatter};

use pratique_json::Progress;
use pratique_schema::merge::{ListMerging, MergeSchema, MergeTypeId};

use super::node::{MergeNode, NodeView};

/// The places of atomic lists, maps and structs in a value. Only declared fields and elements of lists are
/// searched: members of maps can be set as a whole. The search ends when `progress` is interrupted.
// Upstream: apiserver/pkg/admission/plugin/policy/mutating/patch/smd.go, findAtomics
pub(super) fn find<'a, N: MergeNode<'a>>(
    schema: &MergeSchema,
    of: MergeTypeId,
    value: &N,
    progress: &Progress<'_>,
) -> Vec<String> {
    let mut finder = AtomicFinder {
        schema,
        progress,
        path: Vec::new(),
        found: Vec::new(),
    };
    finder.visit(of, value);
    finder.found
}

struct AtomicFinder<'s, 'v> {
    schema: &'s MergeSchema,
    progress: &'s Progress<'s>,
    path: Vec<PathStep<'v>>,
    found: Vec<String>,
}

#[derive(Clone, Copy)]
enum PathStep<'v> {
    Member(&'v str),
    Element(usize),
}

impl<'v> AtomicFinder<'_, 'v> {
    fn visit<'a: 'v, N: MergeNode<'a>>(&mut self, of: MergeTypeId, value: &'v N) {
        let of = self.schema.get(of);
        match (value.view(), &of.map, &of.list) {
            (NodeView::Map(members), Some(map), _) => {
                self.add_if(map.atomic);
                for (key, member) in members {
                    if let Some(id) = map.field(key) {
                        self.descend(PathStep::Member(key), id, member);
                    }
                }
            }
            (NodeView::List(elements), _, Some(list)) => {
                self.add_if(list.merging == ListMerging::Atomic);
                for (at, element) in elements.iter().enumerate() {
                    self.descend(PathStep::Element(at), list.element, element);
                }
            }
            (NodeView::ForeignList, _, Some(list)) => self.add_if(list.merging == ListMerging::Atomic),
            _ => {}
        }
    }

    fn descend<'a: 'v, N: MergeNode<'a>>(&mut self, step: PathStep<'v>, of: MergeTypeId, value: &'v N) {
        if self.progress.nodes(1) {
            self.path.push(step);
            self.visit(of, value);
            self.path.pop();
        }
    }

    fn add_if(&mut self, atomic: bool) {
        if atomic {
            self.found
                .push(self.path.iter().map(PathStep::to_string).collect());
        }
    }
}

impl Display for PathStep<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            PathStep::Member(key) => write!(formatter, ".{key}"),
            PathStep::Element(at) => write!(formatter, "[{at}]"),
        }
    }
}
