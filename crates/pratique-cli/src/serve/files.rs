//! The limit of open files, and of connections.

/// One in this many files is reserved for other uses than client connections: manifests and certificates, calls of
/// webhooks, watches of a cluster, logs.
const RESERVED_SHARE: u64 = 4;
/// The minimum number of reserved files.
const RESERVED: u64 = 32;
/// Connections that are being closed can exceed the limit: one in this many.
const CLOSING_SHARE: u64 = 8;

/// Raises the limit of open files to the maximum, as Go's runtime does. Gives the limit, if there is one.
#[cfg(unix)]
pub(super) fn raise() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limits = getrlimit(Resource::Nofile);
    if limits.current == limits.maximum {
        return limits.current;
    }
    let raised = Rlimit {
        current: limits.maximum,
        maximum: limits.maximum,
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => {
            tracing::info!(
                from = limits.current,
                to = limits.maximum,
                "Raised the limit of open files"
            );
            limits.maximum
        }
        // Some systems report a higher limit than they allow.
        Err(error) => {
            tracing::warn!(err = %error, limit = limits.current, "Cannot raise the limit of open files");
            limits.current
        }
    }
}

/// Systems without such a limit.
#[cfg(not(unix))]
pub(super) fn raise() -> Option<u64> {
    None
}

/// The limit of connections: as requested, or lower if the limit of open files requires it.
pub(super) fn connections(requested: u32, files: Option<u64>) -> u32 {
    let most = files.map_or(requested, most_of);
    if most < requested {
        tracing::warn!(
            files,
            requested,
            connections = most,
            "Fewer connections than --max-connections: the process may not open enough files"
        );
    }
    most.min(requested)
}

/// The number of connections for a limit of open files.
fn most_of(files: u64) -> u32 {
    let reserved = (files / RESERVED_SHARE).max(RESERVED);
    let most = files.saturating_sub(reserved) * CLOSING_SHARE / (CLOSING_SHARE + 1);
    u32::try_from(most.max(1)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_for_the_rest() {
        let check = |files, expected| assert_eq!(connections(1024, files), expected, "{files:?}");
        check(None, 1024);
        check(Some(1 << 20), 1024);
        check(Some(1024), 682);
        check(Some(64), 28);
        check(Some(8), 1);
        for files in [33, 64, 1024, 4096] {
            let most = u64::from(most_of(files));
            assert!(most + most / CLOSING_SHARE + RESERVED <= files, "{files}");
        }
    }
}
