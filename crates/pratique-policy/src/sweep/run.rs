//! A sweep over its policies for one request.

use std::sync::Arc;

use pratique_cel::{Activation, Value};
use pratique_core::CONDITIONS_BUDGET;
use pratique_expression::Sees;
use pratique_match::Matched;

use super::findings::Truth;
use super::owners::Owners;
use super::{Findings, Member, Role, Sweep, Swept};
use crate::binding::Terms;
use crate::evaluate::BUDGET;
use crate::matcher::Unmatched;
use crate::memo::{Frame, Known, NamespaceForm};
use crate::outcome::Unfinished;
use crate::policies::Policy;
use crate::session::{Inputs, Session};

/// A sweep under way.
pub(super) struct Run<'e, 's> {
    sweep: &'s Sweep,
    policies: &'s [Arc<Policy>],
    session: &'e Session<'s>,
    /// Match conditions, if there are any.
    conditions: Option<Box<Seen<'e, 's>>>,
    /// All others.
    others: Seen<'e, 's>,
    findings: Findings<'s>,
    /// Whether nothing was known of the request before.
    is_first: bool,
}

/// What expressions see, and what that is to the variables they read.
struct Seen<'e, 's> {
    inputs: Inputs<'s>,
    activation: Activation<'s>,
    owners: Owners<'e, 's>,
}

impl<'e, 's> Run<'e, 's> {
    /// `None` where others see too many forms of the request to keep account of, or where its objects cannot be converted
    /// into what was matched: each policy tells that by itself.
    #[inline]
    pub(super) fn new(
        sweep: &'s Sweep,
        policies: &'s [Arc<Policy>],
        session: &'e Session<'s>,
        matched: Matched<'s>,
    ) -> Option<Self> {
        let seen = |matched, namespace, sees| Seen::new(policies, session, (matched, namespace), sees);
        let as_asked = Matched {
            resource: &session.request.resource,
            ..matched
        };
        let conditions = match sweep.condition_sees {
            Some(sees) => Some(Box::new(seen(as_asked, NamespaceForm::Absent, sees)?)),
            None => None,
        };
        let others = seen(matched, NamespaceForm::Reduced, sweep.sees)?;
        let of_conditions = conditions.as_ref().map_or(Frame::OWN, |own| own.inputs.frame);
        Some(Run {
            sweep,
            policies,
            session,
            findings: Findings::new(sweep, [of_conditions, others.inputs.frame]),
            conditions,
            others,
            is_first: session.memo().is_empty(),
        })
    }

    /// What was found.
    pub(super) fn end(self) -> Findings<'s> {
        self.findings
    }

    /// Whether a policy, whose parts begin there, has nothing to say.
    pub(super) fn passes(
        &mut self,
        member: &Member,
        begin: u32,
        is_bound: impl Fn(&Terms) -> Result<bool, Unmatched>,
    ) -> Result<bool, Unfinished> {
        if member.depends_on_bindings {
            match self.is_bound(member, is_bound) {
                Ok(true) => {}
                Ok(false) => return Ok(true),
                // That is for the policy to tell.
                Err(_) => return Ok(false),
            }
        }
        let [conditions, validations, end] = member.ends;
        let mut applies = true;
        let mut cost = 0_u64;
        for place in self.sweep.places(begin, conditions) {
            let truth = self.truth(*place)?;
            match truth {
                Truth::True => {}
                Truth::Other(at) if self.findings.is_false(at) => applies = false,
                _ => return Ok(false),
            }
            cost = cost.saturating_add(self.findings.cost(*place));
        }
        if self.with_variables(cost, Role::Condition) > CONDITIONS_BUDGET {
            return Ok(false);
        }
        if !applies {
            return Ok(true);
        }
        let mut cost = 0_u64;
        for place in self.sweep.places(conditions, validations) {
            if self.truth(*place)? != Truth::True {
                return Ok(false);
            }
            cost = cost.saturating_add(self.findings.cost(*place));
        }
        for place in self.sweep.places(validations, end) {
            self.truth(*place)?;
            cost = cost.saturating_add(self.findings.cost(*place));
        }
        Ok(self.with_variables(cost, Role::Other) <= BUDGET)
    }

    /// Whether a binding of a policy matches; the error is one of any of them.
    fn is_bound(
        &self,
        member: &Member,
        is_bound: impl Fn(&Terms) -> Result<bool, Unmatched>,
    ) -> Result<bool, Unmatched> {
        let policy = self.policies.get(member.position as usize);
        let mut terms = policy.into_iter().flat_map(|policy| policy.hook.bindings.terms());
        terms.try_fold(false, |any, terms| Ok(is_bound(terms)? || any))
    }

    /// The cost of a policy's expressions and no less than that of its variables: these are among all that were read.
    fn with_variables(&mut self, cost: u64, role: Role) -> u64 {
        let of_variables = self.seen_by(role).map_or(0, |seen| seen.owners.cost());
        // Validations and their messages account for variables each for themselves.
        cost.saturating_add(of_variables.saturating_mul(2))
    }

    /// What an expression gives, evaluated when it is first asked for.
    fn truth(&mut self, place: u32) -> Result<Truth, Unfinished> {
        match self.findings.truth(place) {
            Truth::Unknown => {}
            known => return Ok(known),
        }
        let (sweep, session, is_first) = (self.sweep, self.session, self.is_first);
        session.proceed()?;
        let swept = sweep.expressions.get(place as usize);
        let Some((swept, seen)) = swept.and_then(|swept| Some((swept, self.seen_by(swept.role)?))) else {
            return Ok(Truth::Unknown);
        };
        let known = match is_first && !swept.reads_variables() {
            true => evaluated(session, swept, &seen.activation),
            false => seen.owners.known(swept, &seen.inputs, &seen.activation)?,
        };
        self.findings.add(place, known)
    }

    fn seen_by(&mut self, role: Role) -> Option<&mut Seen<'e, 's>> {
        match role {
            Role::Condition => self.conditions.as_deref_mut(),
            Role::Other => Some(&mut self.others),
        }
    }
}

impl<'e, 's> Seen<'e, 's> {
    /// `None` where others see too many forms of the request to keep account of, or where its objects cannot be converted
    /// into what was matched: each policy tells that by itself.
    #[inline]
    fn new(
        policies: &'s [Arc<Policy>],
        session: &'e Session<'s>,
        (matched, namespace): (Matched<'s>, NamespaceForm),
        sees: Sees,
    ) -> Option<Self> {
        let frame = session.frame(&matched, namespace);
        let inputs = Inputs {
            matched,
            objects: session.objects(matched.kind).ok()?,
            params: Value::Null,
            namespace,
            authorizer: false,
            frame,
            repeats: false,
        };
        let mut activation = session.activation(&inputs);
        session.supply_seen(&mut activation, &inputs, sees);
        (frame != Frame::OWN).then(|| Seen {
            inputs,
            activation,
            owners: Owners::new(session, policies),
        })
    }
}

/// Evaluates an expression.
pub(super) fn evaluated<'s>(
    session: &Session<'s>,
    swept: &'s Swept,
    activation: &Activation<'s>,
) -> Known<'s> {
    let context = session.context();
    let evaluation = swept.expression.program().evaluate(&context, activation);
    Known {
        evaluation,
        cost: context.cost(),
        reads: 0,
    }
}
