//! Our side of the contests of `cargo xtask bench`: `pratique-benches CONTEST`, which reads orders from stdin.

mod admission;
mod ask;
mod backend;
mod cel;
#[cfg(feature = "cel-crate")]
mod cel_crate;
mod chain;
mod counted_run;
mod objects;
mod plugins;
mod reload;
mod start;
mod validate;
mod webhook;

use std::io::{stdin, stdout};
use std::process::ExitCode;

use pratique_benches::contest;

/// The allocator of `pratique` itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (name, rest) = match arguments.split_first() {
        Some((name, rest)) => (name.clone(), rest),
        None => (String::new(), &[][..]),
    };
    let ended = match name.as_str() {
        "cel" => contest::serve(stdin().lock(), stdout(), cel::CelExpressions::new),
        #[cfg(feature = "cel-crate")]
        "cel-crate" => contest::serve(stdin().lock(), stdout(), cel_crate::PeerExpressions::new),
        "backend" => contest::serve(stdin().lock(), stdout(), backend::BackendListeners::new),
        "webhook" => contest::serve(stdin().lock(), stdout(), webhook::WebhookCases::new),
        "admission" => contest::serve(stdin().lock(), stdout(), admission::EvaluatedRequest::new),
        "ask" => contest::serve(stdin().lock(), stdout(), ask::ReviewClient::new),
        "chain" => contest::serve(stdin().lock(), stdout(), chain::ServedRequest::new),
        "count" => admission::count(rest),
        "count-chain" => chain::count(rest),
        "count-plugins" => plugins::count(rest),
        "count-validate" => validate::count(rest),
        "objects" => contest::serve(stdin().lock(), stdout(), objects::ReceivedObjects::new),
        "plugins" => contest::serve(stdin().lock(), stdout(), plugins::DecidedCase::new),
        "validate" => contest::serve(stdin().lock(), stdout(), validate::ValidatedObject::new),
        "start" => start::start(rest),
        "keep" => start::keep(rest),
        "reload" => reload::run(rest),
        _ => Err(format!("no contest is named {name:?}").into()),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
