//! The fields of a suite, from which the decoder, the JSON schema and the documentation are derived.

use crate::decision::Decision;
use crate::shape::{Field, Shape, Struct};

/// The `apiVersion` of suites.
pub const API_VERSION: &str = "pratique/v1alpha1";

/// The `kind` of suites.
pub const KIND: &str = "Suite";

const fn required(name: &'static str, shape: Shape, about: &'static str) -> Field {
    Field {
        name,
        about,
        shape,
        required: true,
    }
}

const fn optional(name: &'static str, shape: Shape, about: &'static str) -> Field {
    Field {
        name,
        about,
        shape,
        required: false,
    }
}

const TEXTS: Shape = Shape::List(&Shape::Text);
const FILE_OR_OBJECT: Shape = Shape::TextOr(&Shape::Object);
const OPERATIONS: Shape = Shape::OneOf(&["CREATE", "UPDATE", "DELETE", "CONNECT"]);
const DECISIONS: &[&str] = Decision::NAMES;

/// A suite.
pub(crate) static SUITE: Struct = Struct {
    name: "Suite",
    about: "Tests of admission policies. All files that it names are below its root: the top of its Git repository, else \
            the working directory, else its own directory; pratique test --allow-path adds others.",
    fields: &[
        required(
            "apiVersion",
            Shape::OneOf(&[API_VERSION]),
            "The version of this format.",
        ),
        required("kind", Shape::OneOf(&[KIND]), "The kind of this format."),
        optional("metadata", Shape::Struct(&METADATA), "What the suite is called."),
        optional(
            "policies",
            TEXTS,
            "Files and directories of policies and bindings, from the suite's directory on. Those whose names end in \
             .static.k8s.io are static manifests, the others objects of the API.",
        ),
        optional(
            "configuration",
            Shape::Text,
            "An AdmissionConfiguration file whose manifests judge, from the suite's directory on.",
        ),
        optional(
            "bind",
            Shape::Bool,
            "Whether policies that no binding names are evaluated as if one did: without constraints, and with Deny where \
             they validate. Unless so, they are not evaluated, and a test that only they match fails.",
        ),
        optional(
            "cluster",
            Shape::Struct(&CLUSTER),
            "What policies can know of the cluster.",
        ),
        required("tests", Shape::List(&Shape::Struct(&TEST)), "The tests."),
    ],
};

static METADATA: Struct = Struct {
    name: "Metadata",
    about: "What a suite is called.",
    fields: &[required("name", Shape::Text, "The name of the suite.")],
};

static CLUSTER: Struct = Struct {
    name: "Cluster",
    about: "What policies can know of the cluster.",
    fields: &[
        optional(
            "namespaces",
            Shape::Map(&Shape::Map(&Shape::Text)),
            "Namespaces by name, each with its labels. The namespaces that requests are in exist anyway; \
             of those that are not given only the names are known.",
        ),
        optional(
            "objects",
            Shape::List(&FILE_OR_OBJECT),
            "Objects in the cluster, or files of them: params, namespaces, CustomResourceDefinitions.",
        ),
        AUTHORIZER_RULES,
    ],
};

/// A file of authorizer rules.
pub(crate) static AUTHORIZER: Struct = Struct {
    name: "Authorizer",
    about: "What users may do.",
    fields: &[Field {
        required: true,
        ..AUTHORIZER_RULES
    }],
};

const RULES: Shape = Shape::List(&Shape::Struct(&RULE));

const AUTHORIZER_RULES: Field = optional(
    "authorizer",
    RULES,
    "What users may do, for policies that ask the authorizer. The first rule that fits decides; what none \
     fits is not allowed. Without, what depends on it is undecided.",
);

static RULE: Struct = Struct {
    name: "AuthorizerRule",
    about: "What users may do. A field that is left out fits anything.",
    fields: &[
        optional(
            "users",
            TEXTS,
            "Names of users; a service account is system:serviceaccount:NAMESPACE:NAME.",
        ),
        optional("groups", TEXTS, "Groups, of which the user has to be in one."),
        optional("verbs", TEXTS, "Verbs, as get or create; * is any."),
        optional("apiGroups", TEXTS, "API groups; * is any."),
        optional("resources", TEXTS, "Resources, as pods or pods/exec; * is any."),
        optional("resourceNames", TEXTS, "Names of objects."),
        optional("namespaces", TEXTS, "Namespaces."),
        optional(
            "nonResourceURLs",
            TEXTS,
            "Paths that are no resources; a * at the end stands for the rest.",
        ),
        optional(
            "allow",
            Shape::Bool,
            "Whether it is allowed; true unless said otherwise.",
        ),
        optional("reason", Shape::Text, "Why, as policies can read it."),
        optional(
            "error",
            Shape::Text,
            "An error of the authorizer, as policies can read it.",
        ),
    ],
};

/// A test.
pub(crate) static TEST: Struct = Struct {
    name: "Test",
    about: "A request and what is decided on it.",
    fields: &[
        required("name", Shape::Text, "What is result."),
        optional(
            "object",
            FILE_OR_OBJECT,
            "The object of the request, or a file of it. FILE#NAME is one of several in a file. What is deleted is \
             given here too.",
        ),
        optional(
            "oldObject",
            FILE_OR_OBJECT,
            "The object as it is stored, for updates, or a file of it.",
        ),
        optional(
            "request",
            FILE_OR_OBJECT,
            "A whole AdmissionReview, or a file of it, in the place of object and what describes its request.",
        ),
        optional(
            "operation",
            OPERATIONS,
            "What is done; CREATE, or UPDATE where oldObject is given.",
        ),
        optional(
            "resource",
            Shape::Text,
            "The resource, as deployments or widgets.example.com, where the kind does not tell it.",
        ),
        optional(
            "subresource",
            Shape::Text,
            "The part of the resource, as status or exec.",
        ),
        optional(
            "namespace",
            Shape::Text,
            "The namespace of an object that names none; default.",
        ),
        optional(
            "user",
            Shape::TextOr(&Shape::Struct(&USER)),
            "Who makes the request; kubernetes-admin.",
        ),
        optional("dryRun", Shape::Bool, "Whether it is a dry run."),
        optional(
            "options",
            Shape::Object,
            "The options of the request, as DeleteOptions.",
        ),
        optional(
            "cluster",
            Shape::Struct(&CLUSTER),
            "What is in the cluster besides what the suite says of it; authorizer rules come before the suite's.",
        ),
        optional(
            "expect",
            EXPECTATION,
            "What is expected; required unless each row has its own.",
        ),
        optional(
            "each",
            Shape::List(&Shape::Struct(&ROW)),
            "Variants of the test: each is a test of its own.",
        ),
    ],
};

const EXPECTATION: Shape = Shape::OneOfOr(DECISIONS, &Shape::Struct(&EXPECT));

static USER: Struct = Struct {
    name: "User",
    about: "Who makes a request.",
    fields: &[
        required(
            "name",
            Shape::Text,
            "The name; a service account is system:serviceaccount:NAMESPACE:NAME.",
        ),
        optional("uid", Shape::Text, "The unique identity."),
        optional(
            "groups",
            TEXTS,
            "The groups, besides those that come with the name.",
        ),
        optional("extra", Shape::Map(&TEXTS), "What else the authenticator knows."),
    ],
};

/// An expectation.
pub(crate) static EXPECT: Struct = Struct {
    name: "Expectation",
    about: "What is expected. What is left out may be anything.",
    fields: &[
        required(
            "verdict",
            Shape::OneOf(DECISIONS),
            "What is decided: denied is a denial by a rule, error one because something failed, as the evaluation of an \
             expression, and undecided where something is needed that the test does not give.",
        ),
        optional("code", Shape::Integer, "The HTTP code of a denial or an error."),
        optional("reason", Shape::Text, "The reason of a denial or an error."),
        optional(
            "message",
            Shape::Text,
            "The whole message of a denial or an error.",
        ),
        optional(
            "messageContains",
            Shape::Text,
            "A part of the message of a denial or an error.",
        ),
        optional(
            "policy",
            Shape::Text,
            "The name of the policy whose denial the user is told.",
        ),
        optional("warnings", TEXTS, "All warnings, in order."),
        optional(
            "auditAnnotations",
            Shape::Map(&Shape::Text),
            "Audit annotations that are made, with their values. There may be others.",
        ),
        optional(
            "object",
            FILE_OR_OBJECT,
            "The whole object as policies leave it, or a file of it.",
        ),
        optional(
            "objectContains",
            FILE_OR_OBJECT,
            "A part of the object as policies leave it: fields that it has; lists are whole lists.",
        ),
        optional(
            "unchanged",
            Shape::Bool,
            "Whether policies leave the object as it is.",
        ),
    ],
};

/// A row of a table of tests.
pub(crate) static ROW: Struct = Struct {
    name: "Row",
    about: "A variant of a test. What it does not say is as in the test.",
    fields: &[
        required("name", Shape::Text, "What is special about the variant."),
        optional(
            "set",
            Shape::Map(&Shape::Any),
            "Values by their paths, as object.spec.containers[0].image, oldObject.metadata.labels[\"a/b\"] or \
             object.spec.containers[+] to append.",
        ),
        optional("remove", TEXTS, "Paths of what is removed."),
        optional(
            "merge",
            Shape::Struct(&MERGE),
            "JSON merge patches: null removes.",
        ),
        optional("operation", OPERATIONS, "As in the test."),
        optional("subresource", Shape::Text, "As in the test."),
        optional("namespace", Shape::Text, "As in the test."),
        optional("user", Shape::TextOr(&Shape::Struct(&USER)), "As in the test."),
        optional("dryRun", Shape::Bool, "As in the test."),
        optional(
            "cluster",
            Shape::Struct(&CLUSTER),
            "As in the test, and before it.",
        ),
        optional("expect", EXPECTATION, "As in the test."),
    ],
};

static MERGE: Struct = Struct {
    name: "Merge",
    about: "JSON merge patches: null removes.",
    fields: &[
        optional("object", Shape::Object, "A patch of the object."),
        optional("oldObject", Shape::Object, "A patch of the stored object."),
    ],
};
