//! Reports what is not read as policies.

use std::collections::BTreeMap;

use pratique_review::sorted_objects::{DEFINITION, SortedPolicies, UnreadFile};

use crate::input::FileSelection;
use crate::input::sources::report_sources;
use crate::output;
use crate::output::counted_nouns::{counted, noun};
use crate::output::notice::{InputNotice, NOT_EVALUATED, SKIPPED_FILE};
use crate::output::problems;
use crate::output::text::text;

/// The maximum number of kinds that are listed.
const MOST_KINDS: usize = 20;

/// Reports objects of other kinds, and files of directories that are no objects, which are notices as well.
pub(crate) fn report_skipped(input: &str, sorted: &SortedPolicies, files: &FileSelection) {
    report_skipped_of(input, sorted, sorted.others(), files);
}

/// The same, where the rules of definitions are checked.
pub(crate) fn report_skipped_beside_definitions(input: &str, sorted: &SortedPolicies, files: &FileSelection) {
    let mut others = sorted.others().clone();
    if let Some(count) = others.get_mut(DEFINITION) {
        *count -= sorted.definitions().len().min(*count);
    }
    others.retain(|_, count| *count > 0);
    report_skipped_of(input, sorted, &others, files);
}

fn report_skipped_of(
    input: &str,
    sorted: &SortedPolicies,
    others: &BTreeMap<String, usize>,
    files: &FileSelection,
) {
    if !others.is_empty() {
        let count: usize = others.values().sum();
        let kinds = others.iter().map(|(kind, count)| format!("{kind} ({count})"));
        let shown_kinds: Vec<String> = kinds.take(MOST_KINDS).collect();
        let more = match others.len().saturating_sub(MOST_KINDS) {
            0 => String::new(),
            more => format!(" and {more} more {}", noun(more, "kind", "kinds")),
        };
        output::eprint(&text!(
            "{}: skipped {} of other kinds: {}{}\n",
            input,
            counted(count, "object", "objects"),
            shown_kinds.join(", "),
            more,
        ));
    }
    for foreign in sorted.foreign() {
        let place = problems::place(&foreign.location);
        files.tell(InputNotice::new(NOT_EVALUATED, place, foreign.to_string()));
    }
    report_sources(sorted.sources());
    for unread in sorted.unread() {
        let message = format!(
            "no object that can be read, and skipped, though a policy would not be seen: {}",
            unread.why
        );
        files.add(InputNotice::new(SKIPPED_FILE, place_of(unread), message));
    }
    if let [first, ..] = sorted.unread() {
        output::eprint(&text!(
            "{}: skipped {}, such as {}: {}\n",
            input,
            counted(
                sorted.unread().len(),
                "file that is no object",
                "files that are no objects"
            ),
            place_of(first),
            first.why
        ));
    }
}

/// Where the first thing is in a file that cannot be read.
fn place_of(unread: &UnreadFile) -> String {
    let location = unread.location.as_ref();
    location.map_or_else(|| unread.path.clone(), problems::place)
}

/// Reports files that were passed over, where no output counts them.
#[cfg(feature = "kube")]
pub(crate) fn report_passed_over(files: &FileSelection) {
    output::eprint(&files.passed_over().to_text(false));
}
