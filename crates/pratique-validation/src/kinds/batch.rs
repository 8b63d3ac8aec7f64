//! Jobs and CronJobs.

mod cron_jobs;
mod delegation;
mod failure_policy;
mod index_ranges;
mod job_status;
mod jobs;

use super::KindRules;
use crate::messages::subdomain_name;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};

pub(super) const KINDS: &[KindRules] = &[
    KindRules {
        group: "batch",
        kind: "Job",
        is_namespaced: true,
        create: |request, errors| {
            validate_core_meta(&request.object.child("metadata"), true, subdomain_name, errors);
            jobs::validate_job_create(request, errors);
        },
        update: |request, errors| {
            let (object, old) = (&request.object, &request.old);
            // Upstream: pkg/registry/batch/job/strategy.go, ValidateUpdate: before 1.37, the Job is validated as a new one, too.
            if !errors.release().at_least(1, 37) {
                validate_core_meta(&object.child("metadata"), true, subdomain_name, errors);
                jobs::validate_changed_as_new(request, errors);
            }
            validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
            jobs::validate_job_update(request, errors);
        },
        subresources: &[("status", |request, errors| {
            let (object, old) = (&request.object, &request.old);
            validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
            job_status::validate_job_status(request, errors);
        })],
    },
    KindRules {
        group: "batch",
        kind: "CronJob",
        is_namespaced: true,
        create: |request, errors| {
            validate_core_meta(&request.object.child("metadata"), true, subdomain_name, errors);
            cron_jobs::validate_cron_job_create(request, errors);
        },
        update: |request, errors| {
            let (object, old) = (&request.object, &request.old);
            validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
            cron_jobs::validate_cron_job(request, errors);
        },
        // Its strategy has no rules for the status.
        subresources: &[("status", |_, _| {})],
    },
];
