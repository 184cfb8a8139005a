#!/usr/bin/env bash
# Copies the artifact $NAME of the run $RUN_ID to $TO; see action.yml.
set -euo pipefail
artifact=${ARTIFACTS:?}/$RUN_ID/$NAME
if [ "$RUN_ID" != "$THIS_RUN_ID" ] && [ -z "$TOKEN" ]; then
  echo "::error::Without a token there is no looking into run $RUN_ID"
  exit 1
fi
if [ -z "$NAME" ] || [ ! -d "$artifact" ]; then
  echo "::error::Unable to download artifact(s): Artifact not found for name: $NAME"
  exit 1
fi
mkdir -p "$TO"
cp -R "$artifact/." "$TO"
