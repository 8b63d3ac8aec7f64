//go:build kubernetes_before_1_36

package main

import (
	"context"

	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
)

func (c *compiler) variablesContext(ctx context.Context) plugincel.CompositionContext {
	return c.CompositionEnv.CreateContext(ctx)
}
