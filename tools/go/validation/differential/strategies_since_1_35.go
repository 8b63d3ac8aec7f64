//go:build !kubernetes_before_1_35

package main

import "k8s.io/kubernetes/pkg/registry/scheduling/workload"

func init() {
	strategies["scheduling.k8s.io/Workload"] = workload.Strategy
}
