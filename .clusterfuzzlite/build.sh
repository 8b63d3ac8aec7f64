#!/usr/bin/env bash
# Builds all fuzz targets into $OUT, each with its inputs and its dictionary.
set -euo pipefail
cd "$SRC/pratique"

# Link-time optimization would take long for each of the binaries, and helps none of them.
export CARGO_PROFILE_RELEASE_LTO=off
cargo fuzz build --features libfuzzer -O --debug-assertions

# As pratique_fuzz::corpus::dictionary has it.
dictionary() {
    case "$1" in
        parse | check | evaluate) echo cel ;;
        load | decode | documents) echo manifests ;;
        suite | admission_configuration | kubeconfig) echo files ;;
        review | answer | objects | merge | json_patch | selectors) echo json ;;
        regex) echo regex ;;
    esac
}

for source in fuzz/fuzz_targets/*.rs; do
    target=$(basename "$source" .rs)
    binary=$(find target fuzz/target -path "*/x86_64-unknown-linux-gnu/release/$target" -type f 2> /dev/null | head -n 1)
    cp "$binary" "$OUT/"
    zip -jq "$OUT/${target}_seed_corpus.zip" "fuzz/corpus/$target"/*
    words=$(dictionary "$target")
    if [[ -n $words ]]; then
        cp "fuzz/dictionaries/$words.dict" "$OUT/$target.dict"
    fi
    printf '[libfuzzer]\nmax_len = 4096\ntimeout = 10\nrss_limit_mb = 2048\n' > "$OUT/$target.options"
done
