//! Arguments about the state of the cluster, and about the user, that policies see.

use clap::Args;

/// How much of the cluster's state is given.
#[derive(Clone, Debug, Args)]
pub(crate) struct StateArguments {
    /// The objects of --objects are all that the cluster has: a param that is not among them does not exist, nor does a
    /// namespace if there are any, and what no role and binding among them allows is not allowed. Without the flag, what
    /// depends on other objects is undecided.
    #[arg(long, env = "PRATIQUE_OBJECTS_COMPLETE", requires = "objects")]
    pub(crate) objects_complete: bool,
}

/// The user who sends the request, besides name and groups.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct UserArguments {
    /// UID of the user.
    #[arg(long, env = "PRATIQUE_AS_UID", value_name = "UID")]
    pub(crate) as_uid: Option<String>,
    /// Extra field of the user, as KEY=VALUE; a key can have several values.
    #[arg(long, env = "PRATIQUE_AS_USER_EXTRA", value_name = "KEY=VALUE", value_delimiter = ',', value_parser = extra)]
    pub(crate) as_user_extra: Vec<(String, String)>,
}

/// A key and a value. As in an API server, keys are lower case.
fn extra(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.to_lowercase(), value.to_owned()))
}
