//! The same manifests as an API server's own and as those of a `pratique serve` that it asks: the same requests must get
//! the same answers.

use super::Stage;
use super::apiserver::Start;
use super::etcd::Etcd;
use super::requests::{self, Answer, Request};
use super::served::{Served, place_manifests};
use super::transcript::Transcript;
use crate::tidy::workspace;

/// Makes all requests of both.
pub(super) fn run(stage: &Stage, transcript: &mut Transcript) -> Result<(), String> {
    transcript.part("the API server's own manifests, and pratique serve");
    let all = Request::read(&workspace().join("testdata/e2e/requests"))?;
    let own = answers_of_its_own(stage, &all)?;
    let served = Served::start(stage)?;
    for (request, own) in all.iter().zip(own) {
        let outcome = request
            .make(served.kubectl())
            .and_then(|asked| compare(&own, &asked));
        transcript.step(&request.name, outcome);
    }
    Ok(())
}

/// What an API server says whose static manifests they are.
fn answers_of_its_own(stage: &Stage, all: &[Request]) -> Result<Vec<Answer>, String> {
    let state = stage.state.join("own");
    let admission = place_manifests(&state)?;
    let etcd = Etcd::start(&stage.programs, &state)?;
    let start = Start {
        programs: &stage.programs,
        etcd: &etcd,
        state: &state,
        admission: Some(&admission),
        without: &[],
    };
    let mut api = start
        .run()?
        .map_err(|refusal| format!("the API server does not start: {}", refusal.text))?;
    requests::set_the_stage(api.kubectl())?;
    let answers = all.iter().map(|request| request.make(api.kubectl())).collect();
    api.stop()?;
    answers
}

fn compare(own: &Answer, asked: &Answer) -> Result<String, String> {
    match own == asked {
        true => Ok(own.to_string()),
        false => Err(format!("of its own: {own}\nby serve:   {asked}")),
    }
}
