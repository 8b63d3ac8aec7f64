//go:build kubernetes_before_1_37

package main

import "k8s.io/client-go/discovery"

type discoveryClient = discovery.DiscoveryInterface
