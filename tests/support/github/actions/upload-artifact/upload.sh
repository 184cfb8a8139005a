#!/usr/bin/env bash
# Copies $FROM to the artifact $NAME of the run $RUN_ID; see action.yml.
set -euo pipefail
artifact=${ARTIFACTS:?}/$RUN_ID/$NAME
case $FROM in
  *[\*\?\[\!~]* | *$'\n'*) echo "::error::The stand-in takes one path without patterns: $FROM"; exit 1 ;;
esac
if [ "$OVERWRITE" = true ]; then
  rm -rf "$artifact"
elif [ -d "$artifact" ]; then
  echo "::error::an artifact with this name already exists on the workflow run: $NAME"
  exit 1
fi
left_out='.?*'
if [ "$HIDDEN" = true ]; then left_out=''; fi
while IFS= read -r -d '' file; do
  inside=${file##*/}
  if [ -d "$FROM" ]; then inside=${file#"${FROM%/}/"}; fi
  mkdir -p "$(dirname "$artifact/$inside")"
  cp "$file" "$artifact/$inside"
  chmod 644 "$artifact/$inside"
done < <(find "$FROM" -name "$left_out" -prune -o -type f -print0 2>/dev/null)
if [ -d "$artifact" ]; then
  id=$(cksum <<< "$artifact" | cut -d ' ' -f 1)
  mkdir -p "$ARTIFACTS/$RUN_ID.ids" && printf '%s' "$NAME" > "$ARTIFACTS/$RUN_ID.ids/$id"
  echo "artifact-id=$id" >> "$GITHUB_OUTPUT"
fi
if [ ! -d "$artifact" ] && [ "$IF_NONE" != ignore ]; then
  echo "::${IF_NONE/warn/warning}::No files were found with the provided path: $FROM"
  [ "$IF_NONE" != error ]
fi
