//! An authorizer that decides by rules.

use std::sync::Arc;

use pratique::authorization::{
    Answer, Authorizer, AuthorizerDecision, Check, CheckDecider, NoAuthorizer, PendingDecisions, Question,
    Target, User,
};
use pratique_json::Value;
use pratique_rbac::{Completeness, Rbac, RbacAuthorizer, is_rbac};

/// Rules in order: the first that matches decides. What no rule matches is not allowed.
#[derive(Clone, Debug, Default)]
pub struct Rules(pub Vec<Rule>);

/// The authorizer of rules, and of the roles and bindings among some objects; `completeness` says whether they are all. Without
/// both, what depends on the authorizer is undecided.
pub fn authorizer_of<'o>(
    rules: Option<Rules>,
    objects: impl IntoIterator<Item = &'o Value<'static>>,
    completeness: Completeness,
) -> Arc<dyn Authorizer> {
    let objects: Vec<&Value<'static>> = objects.into_iter().collect();
    let has_roles = objects.iter().any(|object| is_rbac(object));
    let roles = has_roles.then(|| RbacAuthorizer::new(objects.into_iter().collect(), completeness));
    match (rules, roles) {
        (None, None) => Arc::new(NoAuthorizer),
        (None, Some(roles)) => Arc::new(roles),
        (Some(rules), None) => Arc::new(rules),
        (Some(rules), Some(roles)) => Arc::new(RulesAndRoles { rules, roles }),
    }
}

/// The permissions by roles and bindings; `None` where nothing is known of them.
pub fn known_roles(roles: Rbac, completeness: Completeness) -> Option<RbacAuthorizer> {
    let is_unknown = roles.is_empty() && completeness == Completeness::Partial;
    (!is_unknown).then(|| RbacAuthorizer::new(roles, completeness))
}

/// A rule that allows or denies. An empty field matches anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// Names of users. A service account is `system:serviceaccount:NAMESPACE:NAME`.
    pub users: Vec<String>,
    /// Groups; the user must be in one of them.
    pub groups: Vec<String>,
    /// Verbs; `*` is any.
    pub verbs: Vec<String>,
    /// API groups of resources; `*` is any.
    pub api_groups: Vec<String>,
    /// Resources such as `pods`, `pods/exec`, `*`.
    pub resources: Vec<String>,
    /// Names of objects.
    pub resource_names: Vec<String>,
    /// Namespaces.
    pub namespaces: Vec<String>,
    /// Non-resource URLs; a trailing `*` matches any suffix.
    pub non_resource_urls: Vec<String>,
    /// The decision if the rule matches.
    pub decision: AuthorizerDecision,
}

impl Authorizer for Rules {
    fn authorize(&self, check: &Check<'_>) -> Answer {
        Answer::Decided(self.decision(check))
    }
}

impl CheckDecider for Rules {
    fn decide(&self, questions: Vec<Question>) -> PendingDecisions<'_> {
        let decisions = questions
            .iter()
            .map(|question| self.decision(&question.as_check()));
        let decisions: Vec<AuthorizerDecision> = decisions.collect();
        Box::pin(std::future::ready(decisions))
    }
}

impl Rules {
    fn decision(&self, check: &Check<'_>) -> AuthorizerDecision {
        self.fitting(check).unwrap_or_default()
    }

    /// The decision of the first rule that matches.
    fn fitting(&self, check: &Check<'_>) -> Option<AuthorizerDecision> {
        let fitting = self.0.iter().find(|rule| rule.fits(check));
        fitting.map(|rule| rule.decision.clone())
    }
}

/// Rules, and roles that decide what no rule matches.
#[derive(Clone, Debug)]
pub(crate) struct RulesAndRoles {
    pub(crate) rules: Rules,
    pub(crate) roles: RbacAuthorizer,
}

impl Authorizer for RulesAndRoles {
    fn authorize(&self, check: &Check<'_>) -> Answer {
        match self.rules.fitting(check) {
            Some(decision) => Answer::Decided(decision),
            None => self.roles.authorize(check),
        }
    }
}

impl Rule {
    fn fits(&self, check: &Check<'_>) -> bool {
        self.fits_user(check.user) && is_among(&self.verbs, check.verb) && self.fits_target(check.target)
    }

    fn fits_user(&self, user: &User) -> bool {
        let in_group = || user.groups.iter().any(|group| is_among(&self.groups, group));
        is_among(&self.users, &user.name) && (self.groups.is_empty() || in_group())
    }

    fn fits_target(&self, target: Target<'_>) -> bool {
        match target {
            Target::Path(path) => {
                let of_resources = !self.resources.is_empty() || !self.api_groups.is_empty();
                let fits = |url: &String| match url.strip_suffix('*') {
                    Some(start) => path.starts_with(start),
                    None => url == path,
                };
                let urls = &self.non_resource_urls;
                urls.iter().any(fits) || (urls.is_empty() && !of_resources)
            }
            Target::Resource(resource) => {
                let name = match resource.subresource.as_str() {
                    "" => resource.resource.clone(),
                    part => format!("{}/{part}", resource.resource),
                };
                self.non_resource_urls.is_empty()
                    && is_among(&self.api_groups, &resource.group)
                    && is_among(&self.resources, &name)
                    && is_among(&self.resource_names, &resource.name)
                    && is_among(&self.namespaces, &resource.namespace)
            }
        }
    }
}

/// Whether a list contains a name; an empty list and `*` match any name.
fn is_among(names: &[String], name: &str) -> bool {
    names.is_empty() || names.iter().any(|pattern| pattern == "*" || pattern == name)
}

#[cfg(test)]
mod tests {
    use pratique::authorization::ResourceCheck;

    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[track_caller]
    fn check(rule: Rule, verb: &str, target: Target<'_>, expected: bool) {
        let user = User {
            name: "ann".to_owned(),
            groups: texts(&["dev"]),
            ..User::default()
        };
        let decision = AuthorizerDecision {
            allowed: true,
            ..AuthorizerDecision::default()
        };
        let rules = Rules(vec![Rule { decision, ..rule }]);
        let answer = rules.authorize(&Check {
            user: &user,
            verb,
            target,
        });
        let Answer::Decided(decision) = answer else {
            panic!("pending")
        };
        assert_eq!(decision.allowed, expected);
    }

    #[test]
    fn rules_fit_who_and_what_they_name() {
        let pods = ResourceCheck {
            resource: "pods".to_owned(),
            subresource: "exec".to_owned(),
            namespace: "shop".to_owned(),
            ..ResourceCheck::default()
        };
        let pods = Target::Resource(&pods);
        let rule = |users: &[&str], groups: &[&str], resources: &[&str]| Rule {
            users: texts(users),
            groups: texts(groups),
            resources: texts(resources),
            ..Rule::default()
        };
        check(Rule::default(), "get", pods, true);
        check(rule(&["ann"], &[], &[]), "get", pods, true);
        check(rule(&["bob"], &[], &[]), "get", pods, false);
        check(rule(&[], &["dev", "ops"], &["pods/exec"]), "get", pods, true);
        check(rule(&[], &["ops"], &[]), "get", pods, false);
        check(rule(&[], &[], &["pods"]), "get", pods, false);
        check(
            Rule {
                verbs: texts(&["create"]),
                ..Rule::default()
            },
            "get",
            pods,
            false,
        );
    }

    #[test]
    fn rules_for_paths() {
        let rule = |urls: &[&str]| Rule {
            non_resource_urls: texts(urls),
            ..Rule::default()
        };
        check(rule(&["/healthz"]), "get", Target::Path("/healthz"), true);
        check(rule(&["/metrics/*"]), "get", Target::Path("/metrics/slis"), true);
        check(rule(&["/metrics"]), "get", Target::Path("/healthz"), false);
        check(Rule::default(), "get", Target::Path("/healthz"), true);
    }
}
