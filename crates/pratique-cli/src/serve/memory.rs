//! The default of the memory limit.

use std::fs;
use std::path::Path;

/// The default without a container limit.
const DEFAULT: usize = 512 << 20;
/// The maximum: requests that are answered in time need no more.
const MAX: usize = 1 << 30;
/// The minimum.
const MIN: usize = 16 << 20;

/// Half of the container's limit: policies, caches and the allocator need the rest.
pub(super) fn default() -> usize {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    limit(&groups, Path::new("/sys/fs/cgroup")).map_or(DEFAULT, |limit| {
        usize::try_from(limit / 2).unwrap_or(MAX).clamp(MIN, MAX)
    })
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
