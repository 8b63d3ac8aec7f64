//! Policies with the state of a cluster: evaluates one request after another.

use std::sync::Arc;

use pratique::Admission;
use pratique::authorization::Authorizer;
use pratique_explain::Explanation;
use pratique_json::Value;
use pratique_replay::{ObjectKnowledge, ReplayRequest};
use pratique_request::is_definition_of_any_version;
use pratique_review::chain::ChainSettings;
use pratique_review::{PolicyRecord, ReviewInput, Reviewer};
use pratique_state::Rules;

use crate::arguments::{
    FieldValidation, ObjectArguments, PolicyArguments, StateArguments, ValidationArguments,
};
use crate::baseline::BaselineLevel;
use crate::exit::CliError;
use crate::input::{FileSelection, InputError, InputObject};
use crate::output::notice::{InputNotice, InputNotices};
use crate::policies::{LoadFailure, OriginSets};
use crate::replay::replay_error::ReplayError;
use crate::stream::digest::RunDigest;
use pratique_schema::FeatureGates;
use pratique_state::PluginState;

use crate::evaluation::complete_kind::CompleteKind;
use crate::evaluation::input_request::InputRequest;
use crate::evaluation::permissions::UserPermissions;
use crate::evaluation::phases::ObjectPhases;
use crate::evaluation::policies;
use crate::evaluation::policies::StartedPlugins;
use crate::evaluation::result::ReviewResult;
use crate::evaluation::state::ClusterState;
use crate::evaluation::state_reader::StateReader;
use crate::evaluation::unbound::EvaluationScope;
use crate::snapshot::{LoadedState, StateSource};
use crate::stream::input_errors::InputErrors;

/// Policies that are ready to be evaluated.
pub(crate) struct ReadyPolicies {
    pub(crate) admission: Admission,
    pub(crate) sets: OriginSets,
    pub(crate) scope: EvaluationScope,
    /// The level of the built-in policies, if these are evaluated.
    pub(crate) builtin: Option<BaselineLevel>,
    /// The server's own plugins, if they are evaluated too.
    pub(crate) plugins: Option<StartedPlugins>,
}

/// Policies with the state of a cluster.
pub(crate) struct ReplayEngine {
    pub(crate) policies: ReadyPolicies,
    pub(crate) cluster: Arc<RequestCluster>,
}

/// The inputs from which the state of a cluster is built.
pub(crate) struct StateInputs {
    /// The policies that are to be evaluated.
    sets: OriginSets,
    loaded: LoadedState,
    /// The state that plugins see, if there are any.
    plugins: Option<PluginState>,
    objects: Vec<InputObject<'static>>,
    rules: Option<Rules>,
    /// Whether the objects are all that the cluster has.
    is_complete: bool,
    /// Whether the state is that of a snapshot, which stays as it is.
    is_snapshot: bool,
    gates: FeatureGates,
    errors: InputErrors,
    notices: InputNotices,
    /// Where what is wrong with definitions is told.
    files: FileSelection,
}

/// A cluster as far as it is known.
pub(crate) struct RequestCluster {
    pub(crate) state: ClusterState,
    pub(crate) authorizer: Arc<dyn Authorizer>,
    /// The definitions of custom resources.
    pub(crate) definitions: Vec<Value<'static>>,
    pub(crate) phases: ObjectPhases,
    /// The release of the server, with its feature gates.
    pub(crate) gates: FeatureGates,
}

impl ReadyPolicies {
    /// Loads the policies that arguments name, or else those of the source of the state, and starts the plugins of a chain; `None`
    /// if they are invalid, which is reported.
    pub(crate) fn load(
        named: &PolicyArguments,
        files: &FileSelection,
        arguments: &StateArguments,
        state: &mut StateSource,
        chain: Option<&ChainSettings>,
    ) -> Result<Option<Self>, CliError> {
        let gates = arguments.gates.feature_gates;
        let loaded = policies::load((named, files), None, gates, false, arguments.bind, state, chain);
        reported(loaded.map(|loaded| ReadyPolicies {
            plugins: loaded.plugins,
            builtin: loaded.builtin,
            ..ReadyPolicies::new(loaded.admission, loaded.sets, gates)
        }))
    }

    /// Policies that were loaded, for a server with some feature gates. Those that it does not evaluate are warned of.
    pub(crate) fn new(admission: Admission, sets: OriginSets, gates: FeatureGates) -> Self {
        let scope = EvaluationScope::new(&sets, gates, false);
        scope.warn();
        ReadyPolicies {
            admission,
            sets,
            scope,
            builtin: None,
            plugins: None,
        }
    }

    /// Adds the places of policies to an explanation.
    pub(crate) fn locate(&self, explanation: &mut Explanation) {
        explanation.locate_in(&self.sets);
    }
}

/// Reports policies that are invalid, for which it gives `None`.
pub(crate) fn reported<T>(loaded: Result<T, LoadFailure>) -> Result<Option<T>, CliError> {
    match loaded {
        Ok(loaded) => Ok(Some(loaded)),
        Err(LoadFailure::Cli(CliError::NotEvaluated(why))) => {
            Err(CliError::Replay(ReplayError::NoWebhooks(why)))
        }
        Err(failure) => failure.report().map(|()| None),
    }
}

impl StateInputs {
    /// Reads the state of the cluster as far as policies need it; the first say what they need of a cluster; errors of files
    /// are reported, and counted.
    pub(crate) fn read(
        state: StateSource,
        arguments: &StateArguments,
        first: &ReadyPolicies,
        others: &[&ReadyPolicies],
        files: &FileSelection,
    ) -> Result<Self, CliError> {
        let mut sets = first.sets.clone();
        sets.extend(others.iter().flat_map(|policies| policies.sets.iter().cloned()));
        let plugins = first.plugins.as_ref().map(|plugins| plugins.state.clone());
        let mut loaded = state.state(&first.admission, &sets, plugins.as_ref().map(PluginState::kinds));
        let none = arguments.none.iter().flat_map(CompleteKind::versions);
        loaded.said_complete.extend(none.cloned());
        let mut reader = StateReader {
            release: arguments.gates.feature_gates.release(),
            mebibytes: arguments.max_input,
            errors: InputErrors::default(),
            notices: InputNotices::default(),
            files: files.clone(),
        };
        if let Some(notice) = CompleteKind::notice(&arguments.none) {
            reader.notices.tell(notice);
        }
        let objects = reader.read_all(&arguments.objects)?;
        let objects = reader.existing(objects)?;
        let rules = reader.rules(arguments.authorizer.as_deref())?;
        Ok(StateInputs {
            sets,
            loaded,
            plugins,
            objects,
            rules,
            is_complete: arguments.objects_complete,
            is_snapshot: arguments.snapshot.is_some(),
            gates: arguments.gates.feature_gates,
            errors: reader.errors,
            notices: reader.notices,
            files: reader.files,
        })
    }

    /// The warnings about the state, which were told.
    pub(crate) fn notices(&self) -> Vec<InputNotice> {
        self.notices.list()
    }

    /// The objects of files.
    fn objects(&self) -> impl Iterator<Item = &Value<'static>> {
        self.objects.iter().map(|input| &input.object)
    }

    /// A digest with policies, and with the inputs of the state: a cluster has another one at each moment, which is not in it.
    pub(crate) fn digest(&self, mut digest: RunDigest, sets: &[&OriginSets]) -> RunDigest {
        sets.iter().for_each(|sets| digest.add_policies(sets));
        if self.is_snapshot {
            digest.add_objects(self.loaded.objects());
        }
        digest.add_objects(self.objects());
        if let Some(rules) = &self.rules {
            digest.add_rules(rules);
        }
        digest
    }

    /// The cluster, after `survey` has added to it; namespaced objects without a namespace are in `namespace`.
    pub(crate) fn into_cluster(
        self,
        phases: ObjectPhases,
        namespace: &str,
        survey: impl FnOnce(&mut ClusterState),
    ) -> (RequestCluster, InputErrors) {
        // Those of versions that no server serves any more are told of.
        let is_definition = |object: &&Value<'static>| is_definition_of_any_version(object);
        let definitions = self.loaded.objects().chain(self.objects());
        let definitions = definitions.filter(is_definition).cloned().collect();
        let StateInputs {
            sets,
            loaded,
            plugins,
            objects,
            rules,
            is_complete,
            is_snapshot: _,
            gates,
            errors,
            notices: _,
            files,
        } = self;
        let (mut state, others) = ClusterState::new(
            &loaded,
            objects,
            &[],
            phases.objects(&sets, gates),
            plugins,
            gates.release(),
            &files,
        );
        if is_complete {
            state.complete();
        }
        survey(&mut state);
        let others = state.placed(others, namespace);
        let permissions = UserPermissions::new(rules, &loaded, &others, is_complete);
        state.fill(&loaded, others);
        let cluster = RequestCluster {
            state,
            authorizer: permissions.authorizer(),
            definitions,
            phases,
            gates,
        };
        (cluster, errors)
    }

    /// [`into_cluster`](Self::into_cluster) for requests that were made: objects are completed as a server does, without its
    /// warnings.
    pub(crate) fn into_cluster_of_requests(
        self,
        namespace: &str,
        validation: ValidationArguments,
        survey: impl FnOnce(&mut ClusterState),
    ) -> (Arc<RequestCluster>, InputErrors) {
        let mut phases = ObjectPhases::for_objects(&ObjectArguments {
            defaults: true,
            field_validation: FieldValidation::Ignore,
            validation,
        });
        // A request has the whole object.
        phases.preparation.applies = false;
        let (cluster, errors) = self.into_cluster(phases, namespace, survey);
        (Arc::new(cluster), errors)
    }
}

impl RequestCluster {
    /// The same cluster with a server of another release, or with other feature gates.
    pub(crate) fn with_gates(&self, gates: FeatureGates) -> Self {
        RequestCluster {
            state: self.state.clone().with_gates(gates),
            authorizer: Arc::clone(&self.authorizer),
            definitions: self.definitions.clone(),
            phases: self.phases,
            gates,
        }
    }
}

impl ReplayEngine {
    /// An evaluator of the policies; with `explain`, decisions are explained.
    pub(crate) fn evaluator(&self, explain: bool) -> Reviewer<'_> {
        self.recording(if explain {
            PolicyRecord::Explanation
        } else {
            PolicyRecord::Decisions
        })
    }

    /// An evaluator of the policies that records more than their decisions.
    pub(crate) fn recording(&self, record: PolicyRecord) -> Reviewer<'_> {
        let authorizer = Arc::clone(&self.cluster.authorizer);
        Reviewer::policies(&self.policies.admission, authorizer)
            .recording(record)
            .with_preparation(self.cluster.phases.preparation)
            .without_explained_causes()
    }

    /// Evaluates a request, and gives what `take` makes of the result.
    pub(crate) fn evaluate<R>(
        &self,
        evaluator: &Reviewer<'_>,
        mut input: InputRequest<'_>,
        take: impl FnOnce(ReviewResult<'_>) -> R,
    ) -> Result<R, InputError> {
        let state = &self.cluster.state;
        let changed_state = state.at(&input.location, &input.request.namespace);
        let state = changed_state.as_deref().unwrap_or(state);
        let review = evaluator.review(&state.view.objects, state.api_objects(), &mut input);
        let review = review.map_err(|why| input.unfinished(&why))?;
        Ok(take(ReviewResult::new(&input, review)))
    }
}

/// A request of a log as an input, at a place.
pub(crate) fn input<'e>(
    replayed: ReplayRequest<'e>,
    location: pratique_manifest::Location,
) -> InputRequest<'e> {
    InputRequest {
        input: ReviewInput {
            is_sent: replayed.seen == ObjectKnowledge::Admitted,
            ..ReviewInput::sent(replayed.request)
        },
        location,
        origin: None,
    }
}
