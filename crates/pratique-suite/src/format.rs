//! The fields of a suite, from which the decoder, the JSON schema and the documentation are derived.

mod chain;

use crate::decision::Decision;
use crate::policy_outcome::PolicyOutcome;
use crate::shape::{Field, Shape, Struct};
use chain::{CHAIN, CHANGES, COMPLETE, PLUGIN_OUTCOMES, QUOTAS, WEBHOOKS};

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
const POLICY_OUTCOME: Shape = Shape::OneOf(PolicyOutcome::NAMES);

/// A suite.
pub(crate) static SUITE: Struct = Struct {
    name: "Suite",
    about: "Tests of admission policies. All files that it names must be below its root: the top of its Git \
             repository, else the working directory, else its own directory; pratique test --allow-path adds \
             others.",
    fields: &[
        required(
            "apiVersion",
            Shape::OneOf(&[API_VERSION]),
            "The version of this format.",
        ),
        required("kind", Shape::OneOf(&[KIND]), "The kind of this format."),
        optional("metadata", Shape::Struct(&METADATA), "The name of the suite."),
        optional(
            "policies",
            TEXTS,
            "Files and directories of policies and bindings, relative to the suite's directory. Policies whose \
             names end in .static.k8s.io are static manifests, the others are objects of the API.",
        ),
        optional(
            "configuration",
            Shape::Text,
            "An AdmissionConfiguration file whose static manifests are evaluated, relative to the suite's \
             directory.",
        ),
        optional(
            "bind",
            Shape::Bool,
            "Whether policies without a binding are evaluated as if a binding named them: without constraints, \
             and with Deny for validating policies. Otherwise they are not evaluated, and a test that only they \
             match fails.",
        ),
        optional(
            "defaults",
            Shape::Bool,
            "Whether objects get what an API server sets in them: defaults before admission and after each \
             mutation, metadata, and what their kind has between the phases; custom resources are validated by \
             their definitions among the cluster's objects. It is so unless this is false.",
        ),
        optional(
            "chain",
            CHAIN,
            "Whether requests go through all that an API server does, in its order: defaults, its own admission plugins, \
             policies and webhooks. What plugins look up are the objects of the cluster; a plugin that lacks some is \
             undecided. The objects of one test are created one after another: each is there for those that follow, and \
             charged to quotas.",
        ),
        WEBHOOKS,
        optional(
            "cluster",
            Shape::Struct(&CLUSTER),
            "The state of the cluster that policies see.",
        ),
        required("tests", Shape::List(&Shape::Struct(&TEST)), "The tests."),
    ],
};

static METADATA: Struct = Struct {
    name: "Metadata",
    about: "The name of a suite.",
    fields: &[required("name", Shape::Text, "The name of the suite.")],
};

static CLUSTER: Struct = Struct {
    name: "Cluster",
    about: "The state of the cluster that policies see.",
    fields: &[
        optional(
            "namespaces",
            Shape::Map(&Shape::Map(&Shape::Text)),
            "Namespaces by name, each with its labels. The namespaces of requests exist anyway; of namespaces \
             that are not given only the names are known.",
        ),
        optional(
            "objects",
            Shape::List(&FILE_OR_OBJECT),
            "Objects in the cluster, or files and directories of them: params, namespaces, CustomResourceDefinitions. \
             Roles and their bindings among them answer what no rule of `authorizer` does. A directory that pratique \
             snapshot wrote says of which kinds it has all objects.",
        ),
        optional(
            "complete",
            COMPLETE,
            "With `chain`: whether there are no other objects than these of the kinds that admission plugins look up, or \
             of which kinds, such as LimitRange or PriorityClass.scheduling.k8s.io. Without namespaces among the objects \
             any may exist, unless Namespace is named.",
        ),
        AUTHORIZER_RULES,
    ],
};

/// A file of authorizer rules.
pub(crate) static AUTHORIZER: Struct = Struct {
    name: "Authorizer",
    about: "Authorization rules.",
    fields: &[Field {
        required: true,
        ..AUTHORIZER_RULES
    }],
};

const RULES: Shape = Shape::List(&Shape::Struct(&RULE));

const AUTHORIZER_RULES: Field = optional(
    "authorizer",
    RULES,
    "Authorization rules, for policies that use the authorizer. The first rule that matches decides; what \
             no rule matches is decided by the roles and bindings among the objects, and is not allowed if there are none. \
             Without rules and roles, what depends on the authorizer is undecided.",
);

static RULE: Struct = Struct {
    name: "AuthorizerRule",
    about: "An authorization rule. A field that is omitted matches anything.",
    fields: &[
        optional(
            "users",
            TEXTS,
            "Names of users; a service account is system:serviceaccount:NAMESPACE:NAME.",
        ),
        optional("groups", TEXTS, "Groups; the user must be in one of them."),
        optional("verbs", TEXTS, "Verbs, such as get or create; * is any."),
        optional("apiGroups", TEXTS, "API groups; * is any."),
        optional(
            "resources",
            TEXTS,
            "Resources, such as pods or pods/exec; * is any.",
        ),
        optional("resourceNames", TEXTS, "Names of objects."),
        optional("namespaces", TEXTS, "Namespaces."),
        optional(
            "nonResourceURLs",
            TEXTS,
            "Non-resource URLs; a trailing * matches any suffix.",
        ),
        optional("allow", Shape::Bool, "Whether the rule allows; true by default."),
        optional("reason", Shape::Text, "The reason, which policies can read."),
        optional(
            "error",
            Shape::Text,
            "An error of the authorizer, which policies can read.",
        ),
    ],
};

/// A test.
pub(crate) static TEST: Struct = Struct {
    name: "Test",
    about: "A request and the expected decision.",
    fields: &[
        required("name", Shape::Text, "The name of the test."),
        optional(
            "object",
            FILE_OR_OBJECT,
            "The object of the request, or a file of it. FILE#NAME, FILE#KIND/NAME and FILE#KIND/NAMESPACE/NAME are one \
             of several in a file. For DELETE, the object that is deleted.",
        ),
        optional(
            "objects",
            Shape::List(&FILE_OR_OBJECT),
            "Several objects, each in a request of its own: whole files, such as a rendered chart, directories of files, \
             objects of a file as in `object`, or objects. The expectation holds for each.",
        ),
        optional(
            "expectObjects",
            Shape::Map(&EXPECTATION),
            "The expectations of some of `objects`, by NAME, KIND/NAME or KIND/NAMESPACE/NAME, instead of `expect`.",
        ),
        optional(
            "oldObject",
            FILE_OR_OBJECT,
            "The stored object, for updates, or a file of it.",
        ),
        optional(
            "request",
            FILE_OR_OBJECT,
            "A whole AdmissionReview, or a file of it, instead of object and the fields that describe its \
             request.",
        ),
        optional(
            "operation",
            OPERATIONS,
            "The operation; CREATE by default, or UPDATE if oldObject is given.",
        ),
        optional(
            "resource",
            Shape::Text,
            "The resource, such as deployments or widgets.example.com, if the kind is not known.",
        ),
        optional(
            "subresource",
            Shape::Text,
            "The subresource, such as status or exec.",
        ),
        optional(
            "namespace",
            Shape::Text,
            "The namespace of an object without one; default by default.",
        ),
        optional(
            "user",
            Shape::TextOr(&Shape::Struct(&USER)),
            "The user who sends the request; kubernetes-admin by default.",
        ),
        optional("dryRun", Shape::Bool, "Whether it is a dry run."),
        optional(
            "options",
            Shape::Object,
            "The options of the request, such as DeleteOptions.",
        ),
        optional(
            "cluster",
            Shape::Struct(&CLUSTER),
            "State of the cluster in addition to that of the suite; authorizer rules come before the suite's.",
        ),
        Field {
            about: "What webhooks answer; these come before the suite's.",
            ..WEBHOOKS
        },
        optional(
            "expect",
            EXPECTATION,
            "The expected result; required unless each row has one.",
        ),
        optional(
            "each",
            Shape::List(&Shape::Struct(&ROW)),
            "Variants of the test: each is run as a test.",
        ),
    ],
};

const EXPECTATION: Shape = Shape::OneOfOr(DECISIONS, &Shape::Struct(&EXPECT));

static USER: Struct = Struct {
    name: "User",
    about: "The user who sends a request.",
    fields: &[
        required(
            "name",
            Shape::Text,
            "The name; a service account is system:serviceaccount:NAMESPACE:NAME.",
        ),
        optional("uid", Shape::Text, "The unique identity."),
        optional("groups", TEXTS, "The groups, besides those implied by the name."),
        optional(
            "extra",
            Shape::Map(&TEXTS),
            "Additional attributes from the authenticator.",
        ),
    ],
};

/// An expectation.
pub(crate) static EXPECT: Struct = Struct {
    name: "Expectation",
    about: "The expected result. A field that is omitted matches anything.",
    fields: &[
        required(
            "verdict",
            Shape::OneOf(DECISIONS),
            "The decision: denied is a denial by a rule, error a denial because something failed, such as the \
             evaluation of an expression, and undecided means that an input is missing from the test.",
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
            "The name of the policy that the denial names.",
        ),
        optional(
            "plugin",
            Shape::Text,
            "The admission plugin that refuses the request, such as PodSecurity or ValidatingAdmissionPolicy.",
        ),
        optional(
            "plugins",
            PLUGIN_OUTCOMES,
            "With `chain` or `webhooks`: what became of the request in some admission plugins, by name; `defaulting` and \
             `preparation` are what the server does besides.",
        ),
        optional(
            "changes",
            CHANGES,
            "With `chain` or `webhooks`: fields that some admission plugins, policies and webhooks change, by their names, \
             as paths such as object.spec.tolerations. They may change others.",
        ),
        optional(
            "quotas",
            QUOTAS,
            "With `chain`: what is used of quotas after the request, by NAME in the namespace of the request, or \
             NAMESPACE/NAME, and by resource. There may be others.",
        ),
        optional(
            "policies",
            Shape::Map(&POLICY_OUTCOME),
            "What became of the request in some policies, by name.",
        ),
        optional(
            "bindings",
            Shape::Map(&POLICY_OUTCOME),
            "What became of the request in some bindings, by name.",
        ),
        optional("warnings", TEXTS, "All warnings, in order."),
        optional(
            "auditAnnotations",
            Shape::Map(&Shape::Text),
            "Audit annotations with their values. There may be others.",
        ),
        optional(
            "object",
            FILE_OR_OBJECT,
            "The whole object after mutation, or a file of it.",
        ),
        optional(
            "objectContains",
            FILE_OR_OBJECT,
            "A part of the object after mutation: fields that it has; lists are compared as a whole.",
        ),
        optional(
            "unchanged",
            Shape::Bool,
            "Whether policies leave the object unchanged.",
        ),
    ],
};

/// A row of a table of tests.
pub(crate) static ROW: Struct = Struct {
    name: "Row",
    about: "A variant of a test. Fields that are omitted are those of the test.",
    fields: &[
        required("name", Shape::Text, "The name of the variant."),
        optional(
            "set",
            Shape::Map(&Shape::Any),
            "Values by path, such as object.spec.containers[0].image, oldObject.metadata.labels[\"a/b\"] or \
             object.spec.containers[+] to append.",
        ),
        optional("remove", TEXTS, "Paths of fields to remove."),
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
        Field {
            about: "As in the test, and before it.",
            ..WEBHOOKS
        },
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
