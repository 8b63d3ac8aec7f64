//! What rules leave open.

/// What could not be validated of an object. Without errors, it is unknown whether a server accepts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenQuestion {
    /// Whether administrators may have access to devices: a label of the namespace says so, which is not known.
    #[error("the access of an administrator, which the namespace allows,")]
    AdminAccess,
    /// Whether an expression compiles: nothing was given that compiles it.
    #[error("the expression of a device")]
    DeviceExpression,
    /// Whether a port of nodes is one that the server gives to Services: a flag of it may say others than usual.
    #[error("a port of nodes beyond 30000-32767, which --service-node-port-range may allow,")]
    NodePorts,
    /// Whether an address is one of those that the cluster gives to Services: its networks are not known.
    #[error("the address of the Service, which has to be of a network of the cluster,")]
    ServiceNetworks,
    /// Whether an address or a port of nodes is free: not all Services are known.
    #[error("the address or port of nodes of the Service, which another one may have,")]
    Services,
    /// Whether a signature is right: its algorithm is not known here.
    #[error("the signature of the request")]
    Signature,
}
