//! The faults that an API server reports.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::fault::{Fault, FaultSink, StrictFault, StrictKind};
use super::node::Node;
use super::value_error::ValueError;

/// How many strict faults are kept.
// Upstream: sigs.k8s.io/json/internal/golang/encoding/json/kubernetes_patch.go, decodeState.saveStrictError
const MAX_STRICT_FAULTS: usize = 100;

/// Keeps the faults that an API server reports: the first value that cannot be decoded, else all members that strict
/// decoding refuses.
#[derive(Debug, Default)]
pub(super) struct FirstFault {
    fault: Option<ValueError>,
    strict: StrictFaults,
    messages: Vec<String>,
}

impl FirstFault {
    /// The messages of strict decoding; the error is that of a value that cannot be decoded.
    pub(super) fn into_result(self) -> Result<Vec<String>, ValueError> {
        self.fault.map_or(Ok(self.messages), Err)
    }
}

impl<'v, N: Node<'v>> FaultSink<'v, N> for FirstFault {
    fn fault(&mut self, fault: &Fault<'_, 'v, N>) -> ControlFlow<()> {
        if self.fault.is_none() || fault.is_fatal {
            self.fault = Some(fault.error());
        }
        if fault.is_fatal {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn strict_fault(&mut self, fault: &StrictFault<'_, 'v, N>) {
        let path = self.strict.admit(fault);
        self.messages.extend(path.map(|path| fault.kind.message(&path)));
    }
}

/// The first strict faults of a document, without repetitions.
#[derive(Debug, Default)]
pub struct StrictFaults {
    reported: HashSet<(StrictKind, String)>,
}

impl StrictFaults {
    /// Records a fault, and gives its path if it is a new one and there are not too many already.
    pub fn admit<N>(&mut self, fault: &StrictFault<'_, '_, N>) -> Option<String> {
        if self.reported.len() >= MAX_STRICT_FAULTS {
            return None;
        }
        let path = fault.path();
        self.reported.insert((fault.kind, path.clone())).then_some(path)
    }
}
