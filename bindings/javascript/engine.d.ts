/** A text with a name, which locations refer to. */
export interface File {
  path: string;
  /** YAML or JSON. */
  text: string;
}

export type Operation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

/** Policies and a request to evaluate. */
export interface Evaluate {
  /** Policies and bindings: static manifests and objects of the API, distinguished by their names. */
  policies?: File[];
  /** Policies and bindings as an API server has stored them, defaulted; they are not validated again. */
  stored?: object[];
  /**
   * Other objects of the cluster: namespaces, params, definitions, roles and their bindings. They are all that there are, unless
   * the index of a snapshot among them says more. A snapshot is one text with its index, or, where the index stands alone, all
   * texts of its directory.
   */
  cluster?: File[];
  /**
   * The object, YAML or JSON: for DELETE, the one that is deleted. An AdmissionReview is taken as it is. Without an object and
   * a request, policies are only loaded.
   */
  object?: string;
  /** The stored object, for an update. */
  oldObject?: string;
  /** A whole request of `admission.k8s.io/v1`, instead of an object and the following fields. */
  request?: object;
  /** By default UPDATE if there is an old object, else CREATE. */
  operation?: Operation;
  /** The namespace of an object without one; `default` by default. */
  namespace?: string;
  /** The name in the request, if it differs from the object's. */
  name?: string;
  /** The resource of an object of an unknown kind. */
  resource?: string;
  subresource?: string;
  /** The user of the request: `kubernetes-admin` by default. */
  user?: { name: string; groups?: string[]; uid?: string; extra?: Record<string, string[]> };
  dryRun?: boolean;
  /**
   * Rules of authorization, a text with a field `authorizer` as in a suite; what they do not decide, roles in `cluster` do. Without
   * both, what depends on the authorizer is undecided.
   */
  authorizer?: string;
  /**
   * The release of Kubernetes that the server is of, such as `1.37`: by default that of a snapshot in `cluster`, or else the newest
   * known one that is out.
   */
  kubernetesVersion?: string;
  /** Whether policies without a binding are evaluated as if bound. */
  bind?: boolean;
  /**
   * Whether the Pod that a controller makes of a workload is evaluated as well: with `auto`, the default, where a policy is about
   * Pods and the workload is not refused.
   */
  expand?: "auto" | "on" | "off";
  /** Whether objects stay as they are, instead of being decoded, defaulted and prepared as an API server does. */
  asGiven?: boolean;
  /** Whether the worst-case cost of each expression is estimated. */
  costs?: boolean;
  /**
   * Whether a decision is wanted soon: lints, which take longer than it, are left out, but for those of objects that do not
   * count, or that only some servers have.
   */
  withoutLints?: boolean;
}

/** Line and column from 1, the column in characters; the offset in bytes from 0. */
export interface Point {
  line: number;
  column: number;
  offset: number;
}

export interface Place {
  /** The name of the text: a `path`, or the member of the request, such as `object`. */
  file: string;
  /** Which document of the text, from 0. */
  document: number;
  start: Point;
  end: Point;
}

/** A problem or a warning. */
export interface Finding {
  /** The stable name of the rule. */
  rule: string;
  severity: "error" | "warning";
  message: string;
  /** A short form of the message, for where the text is shown. */
  summary?: string;
  field?: string;
  /** The kind and the name of an object. */
  object?: [kind: string, name: string];
  location?: Place;
  /** How to fix it. */
  help?: string;
}

/** An expression of a policy, with its value and those of its subexpressions. */
export interface ExplainedExpression {
  /** `validations[0]`, `variables.name`, `matchConditions[0]` … */
  place: string;
  name?: string;
  expression: string;
  /** In CEL's syntax; absent if it failed. */
  value?: string;
  error?: string;
  /** What to do about the error. */
  help?: string;
  cost: number;
  /** The innermost subexpression that made it false or fail. */
  because?: string;
  inner?: { offset: number; expression: string; value: string; times: number }[];
  at?: Place;
  /** The place as a text: `FILE:LINE:COLUMN`. */
  location?: string;
  /** Absent where the diagram is beside it, as for an expression by itself. */
  diagram?: ({ source: string } | { values: string })[];
}

/** `meets` is whether it matches the request, `why` the reason if not. */
export interface Met {
  meets: "yes" | "no" | "undecided" | "failed";
  why?: string;
}

export interface ExplainedPolicy extends Met {
  does: "MutatingAdmissionPolicy" | "ValidatingAdmissionPolicy";
  origin: "static" | "api";
  name: string;
  at?: Place;
  /** The place as a text: `FILE:LINE:COLUMN`. */
  location?: string;
  bindings?: (Met & {
    name: string;
    rounds?: { params?: string; again?: boolean; exhausted?: boolean; cost: number; expressions: ExplainedExpression[] }[];
  })[];
}

/** The answer to {@link Evaluate}. */
export interface Evaluation {
  /** Problems that prevent the evaluation: then there is no decision. */
  problems: Finding[];
  /** Warnings about the policies. */
  lints: Finding[];
  /** Parts of the input that are not evaluated. */
  notEvaluated: string[];
  /** Assumptions. */
  notes: string[];
  /** Worst-case costs, if requested. */
  costs?: {
    object: [kind: string, name: string];
    field: string;
    location: Place;
    result: string;
    min: number;
    max: number;
    limit: number;
    objectSize: number;
    forKind?: string;
  }[];
  /**
   * `denied` is by a rule, `error` because something failed; `undecided` depends on something that was not given, and is not
   * allowed.
   */
  decision?: "allowed" | "denied" | "error" | "undecided";
  /** The status of a request that is not allowed. */
  status?: { status?: string; code?: number; reason?: string; message?: string; details?: object };
  /** What to do, where a policy has failed, or no server serves the kind. */
  help?: string;
  /** The missing state for a decision. */
  undecided?: string[];
  /** The warnings that an API server passes on to the user, each once. */
  warnings?: string[];
  auditAnnotations?: Record<string, string>;
  /** The decision of each policy and binding. */
  decisions?: { policy: string; binding: string; action: "deny" | "warn" | "audit" | "ignore"; failed: boolean; message: string }[];
  /** Fields that a server sets in the object. */
  defaults?: { by: "server" | "policy" | "webhook" | "preparation"; name?: string; fields: string[] }[];
  mutations?: {
    policy: string;
    binding: string;
    param: string | null;
    mutation: number;
    reinvoked: boolean;
    result: "changed" | "unchanged" | "failed";
    message: string | null;
  }[];
  /** The object after mutation by policies; absent if they did not change it. */
  object?: object;
  /** The same as YAML. */
  yaml?: string;
  diff?: { tag: "-" | "+" | " " | "@"; text: string }[];
  /** The changes of policies, as a JSON Patch. */
  patch?: object[];
  explanation?: { policies: ExplainedPolicy[] };
  /** The request that was evaluated. */
  request?: { operation: Operation; namespace: string; name: string; user: string; groups: string[]; subResource: string; resource: object; kind: object };
  /** The decisions on the Pods that a controller makes of a workload: what is decided about this itself does not say it. */
  pods?: PodDecision[];
}

/** The decision on a Pod, with all that an {@link Evaluation} has of one. */
export type PodDecision = { name: string } & Omit<Evaluation, "problems" | "lints" | "notEvaluated" | "notes" | "costs" | "pods">;

/** An expression to evaluate, in the environment of an API server. */
export interface Expression {
  expression: string;
  /** The variables: all have type `dyn`. */
  variables?: Record<string, unknown>;
  /** Variables as a text: a mapping in YAML or JSON. */
  variablesText?: string;
  /** The most that it may cost: 1,000,000 by default, as for one expression of a policy. */
  costLimit?: number;
}

/** The answer to {@link Expression}. */
export interface Evaluated {
  /** What is wrong with the variables. */
  problems?: Finding[];
  /** Why it does not compile, as a server says it. */
  compileError?: string;
  issues?: { line: number; column: number; message: string; meant?: string }[];
  type?: string;
  /** Its value as JSON, if it has that form. */
  value?: unknown;
  /** Its value as CEL writes it. */
  text?: string;
  /** Why it has no value. */
  error?: string;
  cost?: number;
  explanation?: ExplainedExpression;
  diagram?: ({ source: string } | { values: string })[];
}

/** The engine. A trap, such as of memory that is used up, ends an instance; the next request gets a new one. */
export class Engine {
  constructor(module: WebAssembly.Module);
  evaluate(request: Evaluate): Evaluation;
  expression(request: Expression): Evaluated;
  version(): string;
  /** Answers a request in bytes of JSON, with bytes of JSON. */
  answerBytes(request: Uint8Array): Uint8Array;
}

/** The engine could not answer: the request is none, or evaluating it took more memory or stack than there is. */
export class EngineError extends Error {}
