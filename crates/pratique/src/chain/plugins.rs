//! The plugins of the chain, before and after policies and webhooks.

use std::sync::Arc;

use pratique_json::Value;
use pratique_plugin::{
    Effects, MutableAttributes, Plugin, PluginContext, PolicyAuthorizer, Rejection, Stage,
};
use pratique_policy::{DenialCause, MissingDependency, PolicyObserver as _, UnfinishedEvaluation};
use pratique_types::ObjectForm;

use super::ChainRun;
use super::end::ChainEnd;
use crate::authorization::{Authorizer, NoAuthorizer};
use crate::clock::RunStopwatch;
use crate::observer::{AdmissionPhase, ChainObserver, LoggingObserver};
use crate::panics::caught;
use crate::plugins;

impl<'r> ChainRun<'r> {
    /// Runs one half of the plugins of a stage, up to the first that refuses the request. An undecided plugin ends
    /// mutation as well, but not validation: later plugins may still refuse.
    pub(super) async fn plugins(
        &mut self,
        phase: AdmissionPhase,
        stage: Stage,
        observer: &mut dyn ChainObserver,
    ) -> Result<(), ChainEnd> {
        let operation = self.request.operation;
        for plugin in self.admission.settings.plugins.stage(stage) {
            let handler = plugin.handler();
            let runs = match phase {
                AdmissionPhase::Mutating => handler.admits(operation),
                AdmissionPhase::Validating => handler.checks(operation),
            };
            if !runs {
                continue;
            }
            self.in_time()?;
            let began = RunStopwatch::start_if(observer.measures_time());
            let ended = loop {
                match self.run_half(plugin, phase) {
                    Some(ended) => break ended,
                    None => {
                        if let Err(end) = self.resume(UnfinishedEvaluation::Pending).await {
                            break Err(end);
                        }
                    }
                }
            };
            note_undecided(&ended, observer);
            match self.record(handler.name, phase, began, ended, observer) {
                Err(ChainEnd::Undecided(undecided)) if phase == AdmissionPhase::Validating => {
                    self.outcome.undecided.push(*undecided);
                }
                ended => ended?,
            }
        }
        Ok(())
    }

    /// Runs a half of a plugin; `None` where it waits for an answer.
    fn run_half(&mut self, plugin: &dyn Plugin, phase: AdmissionPhase) -> Option<Result<(), ChainEnd>> {
        if let Err(end) = self.has_old_object(plugin) {
            return Some(Err(end));
        }
        let name = plugin.handler().name;
        let mut effects = Effects::default();
        let ended = match phase {
            AdmissionPhase::Mutating => {
                let admitted = caught(name, || {
                    self.mutate_object(|run, attributes| {
                        let access = PolicyAuthorizer(run.authorizer_of_plugins());
                        plugin.admit(attributes, &run.plugin_context(&access), &mut effects)
                    })
                });
                if self.may_differ && !plugin.handler().keeps_form && self.form == ObjectForm::Settled {
                    self.form = ObjectForm::Written;
                }
                admitted
            }
            AdmissionPhase::Validating => caught(name, || {
                let access = PolicyAuthorizer(self.authorizer_of_plugins());
                plugin.validate(&self.attributes(), &self.plugin_context(&access), &mut effects)
            }),
        };
        match ended {
            Ok(Err(Rejection::Pending)) => None,
            Ok(decided) => {
                // Most have none.
                if !effects.is_empty() {
                    self.take_effects(effects);
                }
                Some(decided.map_err(|rejection| end(plugin, rejection)))
            }
            Err(end) => Some(Err(end)),
        }
    }

    /// Fails where the request lacks the stored object, which a plugin may read.
    fn has_old_object(&self, plugin: &dyn Plugin) -> Result<(), ChainEnd> {
        if self.request.lacks_old_object {
            Err(undecided(
                plugin,
                MissingDependency::OldObject {
                    path: "oldObject".to_owned(),
                },
            ))
        } else {
            Ok(())
        }
    }

    /// Lets the object be changed: in place where nothing else holds it, and otherwise by the first change of a copy.
    fn mutate_object<R>(&mut self, change: impl FnOnce(&Self, &mut MutableAttributes<'_, '_>) -> R) -> R {
        let request = self.request;
        let mut current = self.object.take();
        if let Some(object) = current.as_mut().and_then(Arc::get_mut) {
            let mut attributes = MutableAttributes::new(request, object);
            let result = change(self, &mut attributes);
            self.may_differ |= attributes.changed();
            self.object = current;
            return result;
        }
        let original: &Value<'r> = current.as_deref().unwrap_or(&request.object);
        let mut copy = None;
        let mut attributes = MutableAttributes::copy_on_write(request, original, &mut copy);
        let result = change(self, &mut attributes);
        self.may_differ |= copy.is_some();
        self.object = copy.map(Arc::new).or(current);
        result
    }

    /// The authorizer that plugins ask: nobody knows what a user may do whose groups are not known.
    fn authorizer_of_plugins(&self) -> &dyn Authorizer {
        if self.request.lacks_details {
            &NoAuthorizer
        } else {
            &*self.answers
        }
    }

    fn plugin_context<'a>(&'a self, access: &'a PolicyAuthorizer<'a>) -> PluginContext<'a> {
        self.context.plugins.context(access, &self.images)
    }

    /// Takes over the effects of a plugin.
    fn take_effects(&mut self, mut effects: Effects) {
        self.annotate(effects.take_audit_annotations());
        let outcome = &mut self.outcome;
        outcome.warnings.extend(effects.warnings);
        for created in effects.created {
            // The second round creates nothing that the first has created.
            if !outcome.created.contains(&created) {
                outcome.created.push(created);
            }
        }
        outcome.booked.extend(effects.booked);
    }
}

/// Logs an undecided plugin, and reports it to the observer.
fn note_undecided(ended: &Result<(), ChainEnd>, observer: &mut dyn ChainObserver) {
    if let Err(ChainEnd::Undecided(undecided)) = ended {
        LoggingObserver(observer.policies()).undecided(undecided);
    }
}

/// The end of a request that a plugin does not let pass.
fn end(plugin: &dyn Plugin, rejection: Rejection) -> ChainEnd {
    let status = rejection.status().map(Box::new);
    match (rejection, status) {
        (Rejection::Undecided(missing), _) => {
            ChainEnd::Undecided(Box::new(plugins::undecided(plugin, *missing)))
        }
        (Rejection::Denied(_), Some(status)) => ChainEnd::Refused(status, DenialCause::Rule),
        (_, Some(status)) => ChainEnd::Refused(status, DenialCause::Failure),
        (_, None) => ChainEnd::Unfinished(UnfinishedEvaluation::Pending),
    }
}

fn undecided(plugin: &dyn Plugin, missing: MissingDependency) -> ChainEnd {
    ChainEnd::Undecided(Box::new(plugins::lacks(plugin, missing)))
}
