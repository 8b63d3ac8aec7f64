//! Announces whether the whole chain is run, where the command line does not say it.

use crate::arguments::ChainArguments;
use crate::output;
use crate::output::text::text;
use crate::snapshot::StateSource;

/// Announces what the state of a cluster decides: that the whole chain is run, or why it is not.
pub(crate) fn announce(arguments: &ChainArguments, state: &StateSource, explain: bool) {
    let (None, Some(has_plugin_objects)) = (arguments.chain, state.has_plugin_objects()) else {
        return;
    };
    let consequence = match (has_plugin_objects, explain) {
        (true, false) => "the whole admission chain is run: --chain=off evaluates policies only",
        (true, true) => {
            "the whole admission chain is run, and its steps are told: --chain=off evaluates policies only, and explains them"
        }
        (false, _) => {
            "policies only are evaluated, as it was taken without what admission plugins look up: take it again with \
             --plugin-objects, or run the whole chain with --chain"
        }
    };
    output::eprint(&output::note(&text!("{}: {}", state.name(), consequence)));
}
