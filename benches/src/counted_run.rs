//! Work that is done a number of times for profilers: `pratique-benches count… TIMES SETUP`, where the setup is a file. Nothing is
//! printed.

use std::fs;

use pratique_benches::BenchError;
use serde_json::Value;

/// Does the work of a setup a number of times, after a few times to fill caches.
pub(crate) fn count<T: 'static>(
    arguments: &[String],
    prepare: impl FnOnce(Value) -> Result<T, BenchError>,
    run: impl Fn(&'static T, usize) -> Result<(), BenchError>,
) -> Result<(), BenchError> {
    let [times, path] = arguments else {
        return Err("a number and the file of a setup are expected".into());
    };
    let times: usize = times.parse().map_err(|error| format!("{times}: {error}"))?;
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let setup = serde_json::from_str(&text).map_err(|error| format!("{path}: {error}"))?;
    drop(text);
    // Freeing it is not counted.
    let prepared = Box::leak(Box::new(prepare(setup)?));
    run(prepared, 3)?;
    run(prepared, times)
}
