//! The defaults of memory limits, which follow that of the container.

use std::fs;
use std::path::Path;

/// The memory of requests without a container limit.
const REQUESTS: u64 = 512 << 20;
/// The maximum: requests that are answered in time need no more.
const MAX_REQUESTS: u64 = 1 << 30;
/// The memory of a load without a container limit, and the maximum.
const LOAD: u64 = 2 << 30;
/// The minimum of both.
const MIN: u64 = 16 << 20;

/// Memory for all requests together, in bytes: half of the container's limit. Policies, caches and the allocator need the
/// rest.
pub(crate) fn requests() -> u64 {
    container_limit().map_or(REQUESTS, |limit| (limit / 2).clamp(MIN, MAX_REQUESTS))
}

/// Memory for loading manifests, in bytes: three eighths of the container's limit, beside that of requests.
pub(crate) fn load() -> u64 {
    container_limit().map_or(LOAD, |limit| (limit / 8 * 3).clamp(MIN, LOAD))
}

/// The maximum size of manifests, in bytes: what is larger takes more memory than a load may.
pub(crate) fn manifests() -> u64 {
    load() / 4
}

/// A size in MiB, for messages.
pub(crate) fn mebibytes(bytes: u64) -> u32 {
    u32::try_from(bytes >> 20).unwrap_or(u32::MAX)
}

fn container_limit() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    limit(&groups, Path::new("/sys/fs/cgroup"))
}

/// The minimum memory limit of the control groups of a process and their ancestors, in bytes. `groups` is the content
/// of `/proc/self/cgroup`.
fn limit(groups: &str, mounted: &Path) -> Option<u64> {
    let limits = groups.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let (root, file) = match controllers {
            "" => (mounted.to_owned(), "memory.max"),
            _ => (mounted.join("memory"), "memory.limit_in_bytes"),
        };
        let is_of_memory =
            controllers.is_empty() || controllers.split(',').any(|controller| controller == "memory");
        // In a container, the path may be one of outside: its root is then the group.
        let groups = Path::new(path).ancestors().filter(move |_| is_of_memory);
        groups.filter_map(move |group| {
            let group = group.strip_prefix("/").unwrap_or(group);
            fs::read_to_string(root.join(group).join(file))
                .ok()?
                .trim()
                .parse()
                .ok()
        })
    });
    // Without a limit, the older version says so with a number that no machine has.
    limits.min().filter(|limit| *limit < 1 << 50)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_limit_counts() {
        let directory = std::env::temp_dir().join(format!("pratique-groups-{}", std::process::id()));
        let write = |path: &str, text: &str| {
            let path = directory.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("a/b/memory.max", "max\n");
        write("a/memory.max", "1073741824\n");
        write("memory/c/memory.limit_in_bytes", "9223372036854771712\n");
        write("memory/memory.limit_in_bytes", "9223372036854771712\n");
        write("memory/d/memory.limit_in_bytes", "536870912\n");
        let check = |groups: &str, expected| assert_eq!(limit(groups, &directory), expected, "{groups}");
        check("0::/a/b\n", Some(1 << 30));
        check("0::/a/b/of/outside\n", Some(1 << 30));
        check("0::/\n", None);
        check("4:memory:/c\n3:cpu,cpuacct:/d\n", None);
        check("4:hugetlb,memory:/d\n0::/a\n", Some(512 << 20));
        check("", None);
        fs::remove_dir_all(directory).unwrap();
    }
}
