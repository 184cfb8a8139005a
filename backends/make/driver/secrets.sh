# --- Module: secrets: they must be set, and nothing that is kept has their values -------------------------------------
secrets() { rdc_secrets=$*; }
rdc_trims='
  function trimmed(text) { sub(/^[ \t\n\013\014\r]+/, "", text); sub(/[ \t\n\013\014\r]+$/, "", text); return text }
  function characters(text) { gsub(/[\200-\277]/, "", text); return length(text) }
'
check_secrets() {
  for rdc_word in 'not set' 'cannot be hidden'; do
    rdc_says=$(RDC_SECRETS=$rdc_secrets LC_ALL=C awk -v is_short="${rdc_word%%n*}" "$rdc_trims"'BEGIN {
      count = split(ENVIRON["RDC_SECRETS"], names, " ")
      for (i = 1; i <= count; i++) {
        size = characters(trimmed(ENVIRON[names[i]] ""))
        if (is_short != "" ? size > 0 && size < 4 : !size) printf "%s%s", (found++ ? ", " : ""), names[i]
      }
    }')
    [ -z "$rdc_says" ] || break
  done
  case $rdc_says:$rdc_word in
    :*) ;;
    *set) fail "secrets are not set: $rdc_says; export them as environment variables, and try again" ;;
    *) fail "secrets cannot be hidden: $rdc_says; export values of at least four characters, and try again" ;;
  esac
}

# Standard input with `***` in place of each value of a secret and each line of one, also as JSON, the longest first.
masked() {
  { cat; echo .; } | RDC_SECRETS=${rdc_secrets-} LC_ALL=C awk "$rdc_trims"'
    function learn(value) { if (!(value in known)) { known[value]; hidden[++most] = value } }
    # A text is looked through in windows, since what is cut off from its beginning is copied each time.
    function swapped(text, old, new,    size, place, window, at, part, whole) {
      if (!index(text, old)) return text
      size = length(old)
      for (place = 1; place <= length(text);) {
        window = substr(text, place, 4096 + size)
        at = index(window, old)
        part = part (at ? substr(window, 1, at - 1) new : substr(window, 1, 4097))
        place += at ? at - 1 + size : 4097
        if (length(part) > 4096) { whole = whole part; part = "" }
      }
      return whole part
    }
    # A text as it stands in JSON, where a character of two halves is written as two.
    function in_json(text, is_ascii, digits,    i) {
      text = swapped(swapped(text, "\\", "\\\\"), "\"", "\\\"")
      if (text ~ /[\001-\037]/)
        for (i = 1; i < 32; i++) text = swapped(text, control[i], i in short ? short[i] : unit(i, digits))
      return is_ascii ? in_ascii(text, digits) : text
    }
    function unit(number, digits) { return sprintf("\\u" digits, number) }
    function in_ascii(text, digits,    whole, run, i, first, number, more) {
      while (match(text, /[\200-\377]+/)) {
        whole = whole substr(text, 1, RSTART - 1); run = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        for (i = 1; i <= length(run); i++) {
          first = code[substr(run, i, 1)]
          more = first >= 240 ? 3 : first >= 224 ? 2 : first >= 192 ? 1 : 0
          number = more ? first - (256 - 2 ^ (7 - more)) : 56320 + first
          for (; more > 0; more--) number = number * 64 + code[substr(run, ++i, 1)] - 128
          if (number < 65536) whole = whole unit(number, digits)
          else whole = whole unit(55296 + int((number - 65536) / 1024), digits) unit(56320 + number % 1024, digits)
        }
      }
      return whole text
    }
    function learn_forms(part,    i, text, digits) {
      if (characters(part) < 4) return
      learn(part)
      for (i = 0; i < 16; i++) {
        digits = i % 2 ? "%04X" : "%04x"
        text = in_json(part, int(i / 2) % 2, digits)
        if (int(i / 4) % 2) text = swapped(text, "/", "\\/")
        if (i > 7) {
          text = swapped(swapped(text, "<", unit(60, digits)), ">", unit(62, digits))
          text = swapped(text, "&", unit(38, digits))
        }
        learn(text)
      }
    }
    BEGIN {
      for (i = 1; i < 256; i++) code[control[i] = sprintf("%c", i)] = i
      short[8] = "\\b"; short[9] = "\\t"; short[10] = "\\n"; short[12] = "\\f"; short[13] = "\\r"
      count = split(ENVIRON["RDC_SECRETS"], names, " ")
      for (i = 1; i <= count; i++) {
        value = trimmed(ENVIRON[names[i]] "")
        learn_forms(value)
        lines = split(value, line, "\n")
        for (j = 1; j <= lines; j++) learn_forms(trimmed(line[j]))
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
      for (i = 1; i <= most; i++) text = swapped(text, hidden[i], "***")
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
