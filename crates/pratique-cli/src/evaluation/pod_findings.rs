//! What is found in the Pods of a workload, as findings about the workload: it is counted once.

use pratique_review::PolicyDecision;

use crate::evaluation::missing_input::JsonUndecided;

/// What begins the message of a finding in the Pods of a workload that is told as one about the workload.
pub(crate) const OF_PODS: &str = "its Pods: ";

/// Adds what policies decided about the Pods of a workload. What a validation found in the workload itself is counted there.
pub(crate) fn add_policies(policies: &mut Vec<PolicyDecision>, of_pods: Vec<PolicyDecision>) {
    let of_workload = policies.len();
    for decision in of_pods {
        let mut workload_decisions = policies.iter().take(of_workload);
        let is_counted = workload_decisions.any(|of_workload| {
            (&of_workload.policy, &of_workload.binding, of_workload.action)
                == (&decision.policy, &decision.binding, decision.action)
                // Another validation is another finding: what accepts the one may not hide the other.
                && of_workload.validation == decision.validation
        });
        if !is_counted {
            policies.push(PolicyDecision {
                message: format!("{OF_PODS}{}", decision.message),
                ..decision
            });
        }
    }
}

/// Adds what is undecided about the Pods of a workload, and not about the workload itself.
pub(crate) fn add_undecided(undecided: &mut Vec<JsonUndecided>, of_pods: Vec<JsonUndecided>) {
    let of_workload = undecided.len();
    for mut other in of_pods {
        let mut own = undecided.iter().take(of_workload);
        if !own.any(|own| own.is_of_same(&other)) {
            other.message = format!("{OF_PODS}{}", other.message);
            undecided.push(other);
        }
    }
}

#[cfg(test)]
mod tests {
    use pratique_report::Action;

    use super::*;

    #[test]
    fn what_a_policy_found_in_the_workload_is_not_counted_again() {
        let decision = |policy: &str, action| PolicyDecision {
            policy: policy.to_owned(),
            binding: "b".to_owned(),
            validation: None,
            action,
            failed: false,
            is_step: false,
            message: "m".to_owned(),
        };
        let mut policies = vec![decision("a", Action::Warn)];
        let of_pods = vec![
            decision("a", Action::Warn),
            decision("a", Action::Deny),
            decision("c", Action::Deny),
            decision("c", Action::Deny),
        ];
        add_policies(&mut policies, of_pods);
        let found: Vec<_> = policies
            .iter()
            .map(|decision| (decision.policy.as_str(), decision.message.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                ("a", "m"),
                ("a", "its Pods: m"),
                ("c", "its Pods: m"),
                ("c", "its Pods: m")
            ]
        );
    }
}
