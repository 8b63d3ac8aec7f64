//! Evaluates requests: with policies only, or with the whole chain including webhooks.

use std::cell::Cell;
use std::sync::Arc;

use pratique::api_objects::ApiObjects;
use pratique::authorization::{Authorizer, Decider};
use pratique::policy::{Part, Trace};
use pratique::{Admission, AdmissionContext, EvalContext, Objects};
use pratique_explain::Recorder;
use tokio::runtime::Runtime;

use super::chain::Chain;
use super::exchange::Exchanges;
use super::phases::Stage;
use super::received::InputRequest;
use super::result::ReviewResult;
use crate::exit::CliError;
use crate::input::InputError;

/// The evaluator of requests.
pub(super) struct Evaluator<'a> {
    admission: &'a Admission,
    extent: Extent,
}

/// How much of the chain is evaluated.
enum Extent {
    /// Policies only; decisions are explained if `explain` is set.
    Policies {
        authorizer: Arc<dyn Authorizer>,
        explain: bool,
        /// Whether it is found out which requests no policy matches.
        records_matches: bool,
    },
    /// Policies and webhooks; with a chain, all that a server does.
    Chain {
        decider: Box<dyn Decider>,
        runtime: Runtime,
        chain: Option<Box<Chain>>,
    },
}

/// Records whether a policy matches: whether anything of one is evaluated besides what decides the match.
#[derive(Default)]
struct MatchRecorder(Cell<bool>);

impl Trace for MatchRecorder {
    fn begin(&self, part: Part<'_>, _: &str) {
        if !matches!(part, Part::Condition(_) | Part::Variable(_)) {
            self.0.set(true);
        }
    }

    fn wants_values(&self) -> bool {
        false
    }
}

impl<'a> Evaluator<'a> {
    /// Evaluates policies only, and explains decisions if `explain` is set.
    pub(super) fn policies(admission: &'a Admission, authorizer: Arc<dyn Authorizer>, explain: bool) -> Self {
        Evaluator {
            admission,
            extent: Extent::Policies {
                authorizer,
                explain,
                records_matches: false,
            },
        }
    }

    /// Finds out of each request whether a policy matches it, where policies are not explained.
    pub(super) fn recording_matches(mut self) -> Self {
        if let Extent::Policies { records_matches, .. } = &mut self.extent {
            *records_matches = true;
        }
        self
    }

    /// Evaluates policies and calls webhooks; with a chain, does all that a server does.
    pub(super) fn chain(
        admission: &'a Admission,
        decider: Box<dyn Decider>,
        chain: Option<Chain>,
    ) -> Result<Self, CliError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(CliError::Thread)?;
        Ok(Evaluator {
            admission,
            extent: Extent::Chain {
                decider,
                runtime,
                chain: chain.map(Box::new),
            },
        })
    }

    /// The kinds whose objects the chain completes, if there is one.
    pub(super) fn api_objects(&self) -> Option<&ApiObjects> {
        match &self.extent {
            Extent::Chain {
                chain: Some(chain), ..
            } => Some(chain.api_objects()),
            Extent::Chain { chain: None, .. } | Extent::Policies { .. } => None,
        }
    }

    /// Evaluates a request, and records what is to be shown of the evaluation.
    pub(super) fn evaluate<'q>(
        &self,
        cluster: &Objects,
        input: &'q InputRequest<'q>,
        stage: &Stage<'_>,
    ) -> Result<ReviewResult<'q>, InputError> {
        let (recorder, mut exchanges) = (Recorder::new(), Exchanges::default());
        let matches = MatchRecorder::default();
        let mut is_unmatched = false;
        let request = &input.request;
        let failure = input.decode_failure().or_else(|| stage.refusal());
        let mut steps = None;
        let outcome = match (failure, &self.extent) {
            (Some(outcome), _) => Ok(outcome),
            (
                None,
                Extent::Policies {
                    authorizer,
                    explain,
                    records_matches,
                },
            ) => {
                let mut context = EvalContext::new(cluster, authorizer.clone());
                context = context.with_object_model(stage.model());
                if *explain {
                    context = context.with_trace(&recorder);
                } else if *records_matches {
                    context = context.with_trace(&matches);
                }
                let outcome = self.admission.admit_policies(request, context, &mut exchanges.1);
                is_unmatched = *records_matches && !*explain && !matches.0.get();
                outcome
            }
            (
                None,
                Extent::Chain {
                    decider,
                    runtime,
                    chain: None,
                },
            ) => {
                let mut context = AdmissionContext::new(cluster).with_decider(&**decider);
                context.object_model = stage.model();
                runtime.block_on(self.admission.admit(request, context, &mut exchanges))
            }
            (
                None,
                Extent::Chain {
                    decider,
                    runtime,
                    chain: Some(chain),
                },
            ) => {
                let whole = (self.admission, &**decider, runtime);
                chain
                    .evaluate(whole, cluster, input, &mut exchanges)
                    .map(|(outcome, found)| {
                        steps = Some(found);
                        outcome
                    })
            }
        };
        let outcome = outcome.map_err(|why| InputError::Faulty {
            place: input.place(),
            why: format!("the request cannot be evaluated: {why}"),
        })?;
        let explains = matches!(self.extent, Extent::Policies { explain: true, .. });
        Ok(ReviewResult {
            input,
            outcome: input.with_warnings(outcome),
            defaults: stage.defaults(),
            is_refused: stage.is_refused() || input.help().is_some(),
            explanation: explains.then(|| recorder.explanation()),
            steps,
            pods: Vec::new(),
            is_unmatched,
            decisions: exchanges.1.0,
            webhooks: exchanges.0,
        })
    }
}
