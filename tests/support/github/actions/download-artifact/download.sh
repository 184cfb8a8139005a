#!/usr/bin/env bash
# Copies the artifact $NAME of the run $RUN_ID, or the one with the id $ID, to $TO; see action.yml.
set -euo pipefail
if [ -n "$ID" ]; then NAME=$(cat "${ARTIFACTS:?}/$RUN_ID.ids/$ID" || true); fi
artifact=${ARTIFACTS:?}/$RUN_ID/$NAME
if [ "$RUN_ID" != "$THIS_RUN_ID" ] && [ -z "$TOKEN" ]; then
  echo "::error::Without a token there is no looking into run $RUN_ID"; sleep 0.2 # or act may lose the line
  exit 1
fi
if [ -z "$NAME" ] || [ ! -d "$artifact" ]; then
  echo "::error::Unable to download artifact(s): Artifact not found for name: $NAME"; sleep 0.2 # or act may lose the line
  exit 1
fi
mkdir -p "$TO"
cp -R "$artifact/." "$TO"
