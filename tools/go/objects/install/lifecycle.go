//go:build !kubernetes_before_1_37

package install

// Since 1.37.
import _ "k8s.io/kubernetes/pkg/apis/lifecycle/install"
