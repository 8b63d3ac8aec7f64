#!/bin/sh
# Builds or runs a program of a module here with another release of Kubernetes:
#
#     tools/go/at-version.sh 1.36.3 objects run ./featuregates
#
# The module's go.mod is copied with the versions of Kubernetes replaced, so that it stays as it is. Of other modules the release
# says the versions, as its own binaries have them. Files whose packages a release does not have are left out by build tags:
# kubernetes_before_1_37 for every release before 1.37, kubernetes_since_1_38 for 1.38 and later ones.
set -eu
version=${1#v}
module=$2
shift 2
command=$1
shift
cd "$(dirname "$0")/$module"
current=$(sed -n 's,^[[:space:]]*k8s.io/\(kubernetes\|apiserver\) v[01]\.\([0-9.]*\)$,\2,p' go.mod | head -n 1)
[ -n "$current" ] || { echo "$0: $module names no release of Kubernetes on a line of its own" >&2; exit 2; }
# The module has this release itself.
[ "$version" = "1.$current" ] && GOFLAGS=-buildvcs=false exec go "$command" "$@"
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT
minor=${version#1.}
# Paths of modules that stand beside this one are relative to the file.
sed -e "s,v1\.$current,v$version,g" -e "s,v0\.$current,v0.$minor,g" -e "s,=> \.\./,=> $PWD/../,g" \
  -e '/\/\/ indirect/d' -e '/^[[:space:]]\(k8s.io\/\(klog\|utils\|kube-openapi\)\|sigs.k8s.io\|github.com\/\(google\|go-logr\|spf13\)\|golang.org\|gopkg.in\|google.golang.org\|go.etcd.io\)[^ ]* v/d' \
  go.mod > "$files/go.mod"
cp go.sum "$files/go.sum"
minor=${minor%%.*}
tags=
overlay=
release=$((minor + 1))
while [ "$release" -le "${current%%.*}" ]; do tags="$tags,kubernetes_before_1_$release" release=$((release + 1)); done
release=$((${current%%.*} + 1))
while [ "$release" -le "$minor" ]; do tags="$tags,kubernetes_since_1_$release" release=$((release + 1)); done
if [ "$minor" -ge 38 ]; then
  # It needs a newer toolchain than the one that is installed, and modules that no proxy serves yet: version 7.0.1 of
  # structured-merge-diff, for which 7.0.0 stands in, and the types of definitions, k8s.io/apiextensions-api. They were in the module of
  # their server before, where those of 1.37 are.
  export GOTOOLCHAIN=go1.27.3
  echo "replace sigs.k8s.io/structured-merge-diff/v7 => sigs.k8s.io/structured-merge-diff/v7 v7.0.0" >> "$files/go.mod"
  # The directory has always the same name, so that what is built of it is found again.
  types=$(cd ../../.. && pwd)/target/go/apiextensions-api
  if [ ! -e "$types/go.mod" ]; then
    old=k8s.io/apiextensions-apiserver
    GOFLAGS= go mod download "$old@v0.37.2"
    mkdir -p "$types.$$/pkg/apis/apiextensions"
    old_files=$(go env GOMODCACHE)/$old@v0.37.2
    cp -R "$old_files/pkg/apis/apiextensions/v1" "$old_files/pkg/apis/apiextensions/v1beta1" "$types.$$/pkg/apis/apiextensions"
    cp -R "$old_files/pkg/client" "$types.$$/pkg/client"
    chmod -R u+w "$types.$$"
    rm "$types.$$"/pkg/apis/apiextensions/*/*conversion.go
    find "$types.$$" -name '*_test.go' -exec rm {} +
    find "$types.$$" -name '*.go' | xargs sed -i -e "s,\"$old/pkg,\"k8s.io/apiextensions-api/pkg," -e 's,structured-merge-diff/v6,structured-merge-diff/v7,'
    for version_name in v1 v1beta1; do
      printf 'package %s\n\nvar nullLiteral = []byte(`null`)\n' "$version_name" > "$types.$$/pkg/apis/apiextensions/$version_name/null.go"
    done
    printf 'module k8s.io/apiextensions-api\n\ngo 1.26.0\n' > "$types.$$/go.mod"
    mv "$types.$$" "$types"
  fi
  echo "replace k8s.io/apiextensions-api => $types" >> "$files/go.mod"
  # The engine of expressions has another path since then.
  separator=
  printf '{"Replace": {' > "$files/overlay.json"
  for file in $(grep -rl --include='*.go' '"github.com/google/cel-go' . || true); do
    copy="$files/$(echo "$file" | tr / _)"
    sed 's,"github.com/google/cel-go,"cel.dev/cel-go,' "$file" > "$copy"
    printf '%s"%s": "%s"' "$separator" "$PWD/${file#./}" "$copy" >> "$files/overlay.json"
    separator=', '
  done
  printf '}}\n' >> "$files/overlay.json"
  overlay="-overlay=$files/overlay.json"
fi
# In the environment, so that programs that ask Go where a module lies get the same answer.
GOFLAGS="-buildvcs=false -mod=mod -modfile=$files/go.mod -tags=${tags#,} $overlay" go "$command" "$@"
