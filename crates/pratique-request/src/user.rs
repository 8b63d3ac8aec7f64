//! Users, with the groups that an API server adds for impersonated users.

use pratique_types::UserInfo;

const AUTHENTICATED: &str = "system:authenticated";
const UNAUTHENTICATED: &str = "system:unauthenticated";

/// A user with these groups, and those implied by the name.
pub fn user(name: &str, groups: &[String]) -> UserInfo {
    let mut groups = groups.to_vec();
    if groups.is_empty() {
        groups = of_service_account(name).unwrap_or_default();
    }
    let common = if name == "system:anonymous" {
        UNAUTHENTICATED
    } else {
        AUTHENTICATED
    };
    if !groups
        .iter()
        .any(|group| group == AUTHENTICATED || group == UNAUTHENTICATED)
    {
        groups.push(common.to_owned());
    }
    UserInfo {
        username: name.to_owned(),
        groups,
        ..UserInfo::default()
    }
}

fn of_service_account(name: &str) -> Option<Vec<String>> {
    let (namespace, _) = name.strip_prefix("system:serviceaccount:")?.split_once(':')?;
    Some(vec![
        "system:serviceaccounts".to_owned(),
        format!("system:serviceaccounts:{namespace}"),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, groups: &[&str], expected: &[&str]) {
        let groups: Vec<String> = groups.iter().map(|group| (*group).to_owned()).collect();
        assert_eq!(user(name, &groups).groups, expected);
    }

    #[test]
    fn groups_come_with_names() {
        check("ann", &[], &["system:authenticated"]);
        check("ann", &["dev"], &["dev", "system:authenticated"]);
        check("system:anonymous", &[], &["system:unauthenticated"]);
        check(
            "system:serviceaccount:shop:web",
            &[],
            &[
                "system:serviceaccounts",
                "system:serviceaccounts:shop",
                "system:authenticated",
            ],
        );
        check(
            "system:serviceaccount:shop:web",
            &["dev"],
            &["dev", "system:authenticated"],
        );
    }
}
