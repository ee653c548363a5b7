"""Code generated from `proto/` by `scripts/gen_proto`; not edited by hand."""
