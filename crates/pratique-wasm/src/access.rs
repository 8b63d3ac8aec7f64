//! The authorizer of expressions.

use std::sync::Arc;

use pratique::authorization::Authorizer;
use pratique_manifest::ManifestFile;
use pratique_state::{authorizer_of, read_rules};

use crate::cluster::GivenCluster;
use crate::findings::Finding;

/// The name of the text of the rules.
const FILE: &str = "authorizer";

/// The authorizer of rules, and of the roles of the cluster.
pub(crate) fn authorizer(
    rules: Option<&str>,
    cluster: &GivenCluster,
) -> Result<Arc<dyn Authorizer>, Vec<Finding>> {
    let rules = rules.filter(|text| !text.trim().is_empty());
    let read = rules.map(|text| {
        let file = ManifestFile {
            path: FILE.to_owned(),
            content: text.as_bytes().to_vec(),
        };
        read_rules(&file)
    });
    match read.transpose() {
        Ok(rules) => Ok(authorizer_of(rules, &cluster.objects, cluster.permissions())),
        Err(problems) => Err(problems.iter().map(Finding::from).collect()),
    }
}
