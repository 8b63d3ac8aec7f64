//! Tests of the command: files in, exit code and output out.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

mod acceptance;
mod accepted_requests;
mod answers;
#[cfg(feature = "kube")]
mod api_server;
#[cfg(feature = "kube")]
mod applied_reports;
mod audit;
mod bounds;
mod chain;
#[cfg(feature = "kube")]
mod chain_state;
mod check;
mod check_page;
mod checkpoints;
mod ci;
mod claimed_outputs;
#[cfg(feature = "kube")]
mod cluster;
#[cfg(feature = "kube")]
mod cluster_state;
mod code_scanning;
mod columns;
mod connect;
mod controllers;
mod created_objects;
mod docs;
mod encodings;
mod exit_codes;
mod explain;
mod files;
mod foreign;
mod git;
mod grouping;
mod help_texts;
mod helps;
mod hostile;
#[cfg(target_os = "linux")]
mod image;
mod impact;
#[cfg(feature = "kube")]
mod impact_cluster;
mod inputs;
mod installation;
#[cfg(unix)]
mod kubectl;
mod links;
mod lists;
mod lsp;
mod managed_logs;
mod missing_inputs;
mod mistakes;
mod names;
mod namespace_changes;
mod neovim;
mod no_false_success;
mod notices;
mod operations;
mod other_tools;
mod outputs;
mod pages;
mod phases;
#[cfg(unix)]
mod pipes;
mod playground;
mod policies;
mod problems;
mod project;
mod pull_request;
mod registry;
mod release;
mod release_by_release;
mod release_notices;
mod rendering;
mod replay;
mod resources;
mod review;
mod scan;
#[cfg(feature = "kube")]
mod scan_cluster;
mod scan_plugins;
mod security;
mod selection;
mod serve;
mod serve_plugins;
mod serve_policies;
mod serve_webhooks;
mod services;
mod several_outputs;
mod shells;
mod sources;
mod state;
mod stdin;
mod store;
mod story;
mod streams;
#[cfg(feature = "kube")]
mod suite_cluster;
mod support;
mod test;
#[cfg(target_os = "linux")]
mod unwatched_directories;
mod upgrade;
mod validation;
mod variables;
mod vscode;
mod walks;
mod webhooks;
mod workload_pods;
