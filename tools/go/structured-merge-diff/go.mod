// In the place of version 7 of the module, which no proxy serves yet: Kubernetes 1.38 needs it to convert objects.
module sigs.k8s.io/structured-merge-diff/v7

go 1.26.0

require sigs.k8s.io/structured-merge-diff/v6 v6.4.2
