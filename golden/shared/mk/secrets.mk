
# --- Module: secrets: they must be set, and nothing that is kept has their values -------------------------------------
define RDC_MODULE_SECRETS
secrets() { rdc_secrets=$*; }
check_secrets() {
  rdc_says=$(RDC_SECRETS=$rdc_secrets awk 'BEGIN {
    count = split(ENVIRON["RDC_SECRETS"], names, " ")
    for (i = 1; i <= count; i++) if (ENVIRON[names[i]] "" == "") printf "%s%s", (found++ ? ", " : ""), names[i]
  }')
  [ -z "$rdc_says" ] || fail "secrets are not set: $rdc_says; export them as environment variables, and try again"
}

# Standard input with `***` in place of each value of a secret and each line of one, the longest first.
masked() {
  { cat; echo .; } | RDC_SECRETS=${rdc_secrets-} LC_ALL=C awk '
    function learn(value) { if (value != "" && !(value in known)) { known[value]; hidden[++most] = value } }
    # A text is looked through in windows, since what is cut off from its beginning is copied each time.
    function without(text, secret,    size, place, window, at, part, whole) {
      size = length(secret)
      for (place = 1; place <= length(text);) {
        window = substr(text, place, 4096 + size)
        at = index(window, secret)
        part = part (at ? substr(window, 1, at - 1) "***" : substr(window, 1, 4097))
        place += at ? at - 1 + size : 4097
        if (length(part) > 4096) { whole = whole part; part = "" }
      }
      return whole part
    }
    BEGIN {
      count = split(ENVIRON["RDC_SECRETS"], names, " ")
      for (i = 1; i <= count; i++) {
        learn(ENVIRON[names[i]] "")
        lines = split(ENVIRON[names[i]] "", line, "\n")
        for (j = 1; j <= lines; j++) { sub(/\r$/, "", line[j]); learn(line[j]) }
      }
      for (i = 2; i <= most; i++)
        for (j = i; j > 1 && length(hidden[j]) > length(hidden[j - 1]); j--) {
          secret = hidden[j]; hidden[j] = hidden[j - 1]; hidden[j - 1] = secret
        }
    }
    { part = part (NR > 1 ? "\n" : "") $0; if (length(part) > 4096) { text = text part; part = "" } }
    END {
      text = text part
      text = substr(text, 1, length(text) - 1)
      for (i = 1; i <= most; i++) text = without(text, hidden[i])
      printf "%s", text
    }'
}

# Hides secrets in files of the run.
mask() {
  for rdc_word; do
    [ -e "$rdc_word" ] || continue
    { masked < "$rdc_word" > "$rdc_word.masked" && mv "$rdc_word.masked" "$rdc_word"; } 2> /dev/null || unkept
  done
}
mask_outputs() { for rdc_name in ${rdc_gives_U-}; do mask "$rdc_files/outputs/$rdc_node.$rdc_call.$rdc_name"; done; }

# What is kept of texts and replies; other files are read again within the same step.
keep() {
  case $2 in prompts/* | values/*) rdc_hides='masked' ;; *) rdc_hides='cat' ;; esac
  { printf '%s' "$1" | $rdc_hides > "$rdc_files/new" && mv "$rdc_files/new" "$rdc_files/$2"; } 2> /dev/null || unkept
}
copy() {
  { masked < "$rdc_files/$1" > "$rdc_files/new" && mv "$rdc_files/new" "$rdc_files/$2"; } 2> /dev/null || unkept
  [ "$1" != reply ] || rm -f "$rdc_files/reply"
}
endef
