//! UUIDs, as the `uuid` format wants them.

const GROUPS: [usize; 5] = [8, 4, 4, 4, 12];

/// Whether `value` is 32 hexadecimal digits of either case, with or without a dash at each of the usual places.
// Upstream: strfmt/default.go, IsUUID
pub fn is_uuid(value: &str) -> bool {
    let mut rest = value.as_bytes();
    for (index, length) in GROUPS.into_iter().enumerate() {
        if index > 0 {
            rest = rest.strip_prefix(b"-").unwrap_or(rest);
        }
        let Some((group, behind)) = rest.split_at_checked(length) else {
            return false;
        };
        if !group.iter().all(u8::is_ascii_hexdigit) {
            return false;
        }
        rest = behind;
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids() {
        for valid in [
            "123e4567-e89b-12d3-a456-426614174000",
            "123E4567E89B12D3A456426614174000",
            "123e4567e89b-12d3a456-426614174000",
        ] {
            assert!(is_uuid(valid), "{valid}");
        }
        for invalid in [
            "",
            "123e4567-e89b-12d3-a456-42661417400",
            "123e4567-e89b-12d3-a456-4266141740000",
            "123e4567--e89b-12d3-a456-426614174000",
            "{123e4567-e89b-12d3-a456-426614174000}",
            "123g4567-e89b-12d3-a456-426614174000",
        ] {
            assert!(!is_uuid(invalid), "{invalid}");
        }
    }
}
