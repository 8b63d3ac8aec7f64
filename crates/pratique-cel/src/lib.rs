//! CEL as Kubernetes speaks it: parser, type checker, planner, evaluator and cost, with the Kubernetes function libraries
