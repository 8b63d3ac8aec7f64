//! Words that are ours and mean something else in another tool.

use std::ffi::OsString;

use super::foreign_words::command_position;

/// What a word of another tool means there, where it is one of ours, means something else here, and is nothing that anybody means by
/// it here.
pub(super) fn other_meaning(line: &[OsString]) -> Option<String> {
    let at = command_position(line)?;
    let mut words = line.get(at..)?.iter().filter_map(|word| word.to_str());
    if words.next() != Some("validate") {
        return None;
    }
    let words: Vec<&str> = words.take_while(|word| *word != "--").collect();
    let count = words.iter().enumerate().find_map(|(at, word)| match *word {
        "-n" => words.get(at + 1).copied(),
        word => word.strip_prefix("-n=").or_else(|| word.strip_prefix("-n")),
    })?;
    let is_number = !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| {
        format!(
            "-n {count}: elsewhere a number of workers, here a namespace: all cores are used without it, and `--namespace {count}` \
             names the namespace"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_workers_are_no_namespaces() {
        let meaning = |line: &str| other_meaning(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        for line in [
            "pratique validate -n 4 a",
            "pratique validate a -n4",
            "pratique validate -n=4",
        ] {
            assert!(
                meaning(line).is_some_and(|text| text.starts_with("-n 4: ")),
                "{line}"
            );
        }
        for line in [
            "pratique validate -n shop a",
            "pratique review -n 4 a",
            "pratique validate --namespace 4",
            "pratique validate -- -n 4",
            "pratique validate -n",
        ] {
            assert_eq!(meaning(line), None, "{line}");
        }
    }
}
