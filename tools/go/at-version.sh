#!/bin/sh
# Builds or runs a program of a module here with another release of Kubernetes:
#
#     tools/go/at-version.sh 1.36.3 objects run ./featuregates
#
# The module's go.mod is copied with the versions of Kubernetes replaced, so that it stays as it is. Files whose packages the release
# does not have are left out by build tags, such as kubernetes_1_36.
set -eu
version=${1#v}
module=$2
shift 2
command=$1
shift
cd "$(dirname "$0")/$module"
current=$(sed -n 's,^[[:space:]]*k8s.io/kubernetes v1\.\([0-9.]*\)$,\1,p' go.mod)
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT
# Paths of modules that stand beside this one are relative to the file.
sed -e "s,v1\.$current,v$version,g" -e "s,v0\.$current,v0.${version#1.},g" -e "s,=> \.\./,=> $PWD/../,g" go.mod > "$files/go.mod"
cp go.sum "$files/go.sum"
minor=${version#1.}
# In the environment, so that programs that ask Go where a module lies get the same answer.
GOFLAGS="-buildvcs=false -mod=mod -modfile=$files/go.mod -tags=kubernetes_1_${minor%%.*}" go "$command" "$@"
