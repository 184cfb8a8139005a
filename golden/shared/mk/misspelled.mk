
# --- Module: names of inputs that are misspelled ----------------------------------------------------------------------
define RDC_MODULE_MISSPELLED
# Warns of what make was given that is nearly the name of an input that it was not given: a few letters differ.
misspelled() {
  rdc_list=''
  for rdc_input in $rdc_inputs; do
    eval "[ -n \"\${rdc_given_$rdc_input+yes}\" ] || rdc_list=\"\$rdc_list \$rdc_name_$rdc_input\""
  done
  RDC_NAMES=$rdc_list RDC_OTHERS=${rdc_others-} LC_ALL=C awk '
    function distance(a, b,    i, j, cost) {
      for (i = 0; i <= length(a); i++) d[i, 0] = i
      for (j = 0; j <= length(b); j++) d[0, j] = j
      for (i = 1; i <= length(a); i++)
        for (j = 1; j <= length(b); j++) {
          cost = substr(a, i, 1) != substr(b, j, 1)
          d[i, j] = d[i - 1, j - 1] + cost
          if (d[i - 1, j] < d[i, j]) d[i, j] = d[i - 1, j] + 1
          if (d[i, j - 1] < d[i, j]) d[i, j] = d[i, j - 1] + 1
          if (i > 1 && j > 1 && substr(a, i - 1, 1) == substr(b, j, 1) && substr(a, i, 1) == substr(b, j - 1, 1))
            if (d[i - 2, j - 2] + cost < d[i, j]) d[i, j] = d[i - 2, j - 2] + cost
        }
      return d[length(a), length(b)]
    }
    BEGIN {
      others = split(ENVIRON["RDC_OTHERS"], other, " "); names = split(ENVIRON["RDC_NAMES"], name, " ")
      for (i = 1; i <= others; i++)
        for (j = 1; j <= names; j++)
          if (length(other[i]) <= 60 && distance(tolower(other[i]), tolower(name[j])) <= int(length(name[j]) / 3))
            print "rdc: warning: " other[i] " is not an input; did you mean " name[j] "?"
    }' | LC_ALL=C tr -c '\n -~' '?' >&2
}
endef
