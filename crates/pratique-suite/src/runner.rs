//! Runs the cases of a suite, in their order.

use pratique::policy::PolicyTrace;
use pratique_manifest::NodeId;

use crate::load::Policies;
use crate::run::CaseResult;
use crate::suite::{Case, Suite};
use pratique_state::PluginState;

/// Runs the cases of a suite. Where requests go through the server's chain, the objects of one test see the changes that those
/// before them made in the cluster; all other cases stand alone.
pub struct Runner<'s> {
    pub(crate) suite: &'s Suite,
    pub(crate) policies: &'s Policies,
    group: Option<CaseGroup<'s>>,
}

/// Cases of one test or row, each with one of its objects.
struct CaseGroup<'s> {
    node: NodeId,
    state: PluginState,
    /// Cases that were skipped, and change the state if it is needed.
    before: Vec<&'s Case>,
}

impl<'s> Runner<'s> {
    pub(crate) fn new(suite: &'s Suite, policies: &'s Policies) -> Self {
        Runner {
            suite,
            policies,
            group: None,
        }
    }

    /// Skips a case. It is evaluated if a later one depends on it.
    pub fn skip(&mut self, case: &'s Case) {
        if let Some(group) = self.group(case) {
            group.before.push(case);
        }
    }

    /// Runs a case; `trace` observes the evaluation.
    pub fn test(&mut self, case: &Case, trace: Option<&(dyn PolicyTrace + Sync)>) -> CaseResult {
        let (suite, policies) = (self.suite, self.policies.of_case(self.suite, case));
        let group = self.group(case);
        let Some(group) = group else {
            return suite.result(case, policies, None, trace);
        };
        for skipped in std::mem::take(&mut group.before) {
            suite.apply(skipped, policies, &mut group.state);
        }
        suite.result(case, policies, Some(&mut group.state), trace)
    }

    /// The group of a case, which begins with the state of the suite and the case.
    fn group(&mut self, case: &Case) -> Option<&mut CaseGroup<'s>> {
        let base = self.policies.of_case(self.suite, case).plugin_state.as_ref()?;
        let node = case.nodes.node;
        if self.group.as_ref().is_none_or(|group| group.node != node) {
            self.group = Some(CaseGroup {
                node,
                state: self.suite.plugin_state(base, case),
                before: Vec::new(),
            });
        }
        self.group.as_mut()
    }
}
