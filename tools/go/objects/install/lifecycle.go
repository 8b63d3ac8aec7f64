//go:build !kubernetes_1_36

package install

// Since 1.37.
import _ "k8s.io/kubernetes/pkg/apis/lifecycle/install"
