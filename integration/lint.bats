# Rules for all tracked files; tests/architecture has the rules for the product's sources. Needs neither the runtime nor the sandbox.

setup() { cd "$BATS_TEST_DIRNAME/.." || return; }

# none PATTERN PATHS…: no line of these tracked files matches, except comment lines.
none() {
  local pattern=$1 found
  shift
  found=$(git grep -nP -e "$pattern" -- "$@" | grep -vP '^[^:]*:\d+:\s*(//|#[^i])') || return 0
  echo "$found"
  return 1
}

@test "the files that documents name are there" {
  local file missing=0
  while IFS=: read -r document file; do
    [[ -e $file || -e $(dirname "$document")/$file || -e integration/$file ]] || { echo "$document names $file, which is not there"; missing=1; }
  done < <(git grep -oE '`[a-z0-9_/]+\.(cpp|hpp|bats|bash|in)`' -- '*.md' | tr -d '`' | sort -u)
  ((missing == 0))
}

@test "the links of documents lead to files" {
  local document link missing=0
  while IFS=: read -r document link; do
    [[ -e $(dirname "$document")/${link%%#*} ]] || { echo "$document links to $link, which is not there"; missing=1; }
  done < <(git grep -oP '\]\((?!https?:|#)\K[^)#]+' -- '*.md')
  ((missing == 0))
}

@test "files have at most 500 lines, headers at most 200" {
  git ls-files -- '*.cpp' '*.hpp' '*.bats' '*.bash' 'dev' ':!tests/data' | xargs wc -l |
    awk '$2 != "total" && $1 > ($2 ~ /\.hpp$/ ? 200 : 500) {print $2 ": " $1; bad = 1} END {exit bad}'
}

@test "nothing promises later work" {
  git grep -nP -e '\b(TODO|FIXME)\b' -- '*.cpp' '*.hpp' '*.bats' '*.bash' 'dev' '*.md' ':!integration/lint.bats' && return 1
  none '\b(TODO|FIXME|XXX|HACK|not implemented|unimplemented)\b' '*.cpp' '*.hpp' '*.bats' '*.bash' 'dev' '*.md' ':!integration/lint.bats'
}

@test "no path of a machine and no name of a private host is committed" {
  none '/work/(main|shared)|\.mirror/|/home/[a-z]+/' . ':!integration/lint.bats' ':!tests/data' ':!integration/process.bats' ':!integration/exec.bats'
}

@test "tests ask the mount table whether a hierarchy is mounted: a directory of its name may be empty" {
  none '(-[de]|\bis_directory\() ?"?/sys/fs/cgroup/(\$(?!ID\b)\w+|[a-z_,]+)/?"?(\s|;|\)|$)' integration tests
}

@test "names avoid the words that say nothing" {
  none '\b(do_|handle_|process_)[a-z]+\(|(?<!enum )class \w*(Manager|Helper|Util)\b' linux cgroups hooks bundle runtime criu pods shim
}

# limits_table: prints the rows of the table in integration/README.md, one a line: the requirements, and a cell for each test bed.
limits_table() { sed -n '/^## Resource limits/,/^## Environment/p' integration/README.md | grep -E '^\| (R-|`)'; }

# requirements TEXT: prints each requirement of the text, such as "R-7" and "LC-12"; all four for "R-14 … R-17".
requirements() {
  local range first
  grep -oE '[A-Z]+-[0-9]+( … [A-Z]+-[0-9]+)?' <<<"$1" | while read -r range; do
    first=${range%% *}
    seq -f "${first%-*}-%g" "${first#*-}" "${range##*-}"
  done
}

# named_tests: prints what each test says that it shows, one a line: "exec R-7" for each requirement and the first word of a name in
# exec.bats; for tests/cgroups and its neighbours, each word of a test's name or of a comment.
named_tests() {
  grep -HoE '^@test "(([A-Z]+-[0-9]+|CVE-[-0-9]+) )*[A-Za-z0-9-]+' integration/*.bats | sed -E 's|^integration/(.*)\.bats:@test "|\1 |'
  git grep -oE '^BOOST_AUTO_TEST_CASE.*|(^|\)) *// .*' -- 'tests/*_test.cpp' | sed -E 's|^(tests/[a-z]+)/[^:]*:|\1 |; s|[^A-Za-z0-9_/-]+| |g'
}

# limits_are_shown: each test that the table of limits names exists. Prints what is missing.
limits_are_shown() {
  local row cells cell place words word failed=0
  local -A shown
  while read -r place words; do
    for word in $words; do shown[$place $word]=1; done
  done < <(named_tests)
  while read -r row; do
    IFS='|' read -ra cells <<<"${row#|}"
    [[ ${#cells[@]} == 6 ]] || { echo "six cells are wanted: $row"; failed=1; }
    for cell in "${cells[@]:1}"; do
      [[ $cell == *[a-z]* ]] || { echo "neither a test nor a reason: $row"; failed=1; }
      while [[ $cell =~ \`([a-z/]+)\`(\ \(([^\)]*)\))?(.*) ]]; do
        place=${BASH_REMATCH[1]} words=$(requirements "${BASH_REMATCH[3]}") cell=${BASH_REMATCH[4]}
        [[ -n $words ]] || words=$(requirements "${cells[0]}")
        [[ -n $words ]] || words=$(sed -E 's/^[^`]*`([a-z]+)`.*/\1/' <<<"${cells[0]}")
        for word in $words; do
          [[ ${shown[$place $word]:-} ]] || { echo "no test of $place is called $word:${cells[0]}"; failed=1; }
        done
      done
    done
  done < <(limits_table)
  return "$failed"
}

# bats test_tags=exhaustive
@test "what the table of limits names as a test is one, of that requirement" {
  set +T # bats' DEBUG trap makes loops slow
  limits_are_shown
}

# rows: prints the ids of the rows of docs/requirements.md, one a line.
rows() { sed -nE 's/^\| ([A-Z]+-[0-9]+) \|.*/\1/p' docs/requirements.md; }

# marks: prints FILE:LINE:MARK for each mark of a requirement, such as "M-8", in sources and tests.
marks() {
  local kinds
  kinds=$(rows | sed 's/-.*//' | sort -u | paste -sd'|')
  git grep -nowP -e "(?<![\\w\$-])($kinds)-\\d+(?!\\w)" -- '*.cpp' '*.hpp' '*.bats' '*.bash' '*.tsv' '*.c' integration/lib integration/README.md ':!tests/data'
}

@test "each mark of a requirement in sources and tests has a row in docs/requirements.md" {
  local row place missing=0
  local -A is_row
  for row in $(rows); do is_row[$row]=1; done
  while IFS= read -r place; do
    [[ ${is_row[${place##*:}]:-} ]] || { echo "$place has no row"; missing=1; }
  done < <(marks)
  ((missing == 0 && $(marks | wc -l) > 1000))
}

@test "no requirement has two rows, and each link of a row leads somewhere" {
  [[ -z $(rows | sort | uniq -d) ]] || { echo "twice: $(rows | sort | uniq -d)"; return 1; }
  diff <(grep -oP '\]\[\K[a-z0-9]+(?=\])' docs/requirements.md | sort -u) <(sed -nE 's/^\[([a-z0-9]+)\]: https:.*/\1/p' docs/requirements.md | sort)
}

@test "the table of limits has the rows of cgroups in docs/requirements.md, and no other" {
  diff <(rows | grep '^R-' | sort) <(requirements "$(limits_table | cut -d'|' -f2)" | sort)
}

# foreign_modules: prints FILE:MODULE for each module of Python that the files of the tests import, and that neither Python nor they have.
foreign_modules() {
  python3 - <<'PYTHON'
import pathlib, re, subprocess, sys
files = [pathlib.Path(name) for name in subprocess.check_output(["git", "ls-files", "integration"], text=True).split()]
own = {file.stem for file in files if file.parent.name in ("faults", "bench")}
statement = re.compile(r"""^(?:\s*|.*-c ['"])(?:import ((?:[\w.]+(?:, )?)+)|from ([\w.]+) import)(?=$|;| as )""", re.M)
for file in files:
    for found in statement.finditer(file.read_text(errors="replace") if file.suffix != ".md" else ""):
        for name in (found[1] or found[2]).split(", "):
            if name.split(".")[0] not in sys.stdlib_module_names | own: print(f"{file}:{name.split('.')[0]}")
PYTHON
}

@test "modules of Python that tests import are in the packages that they install, or the test asks for them" {
  local file name package list missing=0
  local -A packages=([jsonschema]=python3-jsonschema [yaml]=python3-yaml [grpc]=python3-grpcio [google]=python3-protobuf)
  while IFS=: read -r file name; do
    package=${packages[$name]:-none} list=test_packages
    [[ $file != integration/clients/* ]] || list=client_packages
    sed -n "/^$list=(/,/)/p" dev | grep -qw -e "$package" || grep -qE "^ *needs_python $name\b" "$file" ||
      { echo "$file imports $name"; missing=1; }
  done < <(foreign_modules | sort -u)
  ((missing == 0))
}

@test "shell scripts pass shellcheck" {
  command -v shellcheck >/dev/null || skip "shellcheck is not installed"
  shellcheck -x dev .ci/run integration/lib/sandbox integration/lib/debian-rootfs integration/lib/completion integration/vm/{choose,image,run,systemd-ns} \
    integration/vm/guest/{as-user,init,mount-shares,run-job} integration/lib/{package-root,debian-mirror,other-debian} .package/bill-of-materials .package/ocirun{,-pod}/p*
  shellcheck -x -s bash integration/lib/*.bash integration/vm/lib.bash
  shellcheck -x integration/bench/{engines,shim} integration/clients/{run,kubernetes-programs} integration/clients/*.bash
  shellcheck -x .cross/{sysroot,unpack} integration/vm/foreign integration/vm/guest/{first-init,mount-job} \
    integration/architecture/{run,unit-tests,*.bash}
  shellcheck -x integration/security/naive integration/security/harness.bash
  shellcheck -x -s bats -e SC2030,SC2031,SC2034,SC2218 integration/security/*.bats # what `run` and the harness share with a test; setup calls what is defined later
}
