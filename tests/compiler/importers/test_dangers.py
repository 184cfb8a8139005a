"""Commands that must not run without a question, blocks that are only shown, and the words of titles and questions."""

import re
from textwrap import indent

import pytest

from compiler.importers.commands import is_known, read_block, summary_of
from compiler.importers.markup import cut
from tests.support.imported import RUN, block, draft


def page(text: str) -> str:
    """The draft of a page with one step, which has another command first."""
    return draft(RUN + text).text


def kind(code: str) -> str:
    return read_block("bash", f"{code}\n").kind


@pytest.mark.parametrize(
    "code",
    [
        "python server.py",
        "docker run shop",
        "kubectl proxy",
        "npm run start:dev",
        "./shop --port=80",
        "vim pot",
        "npx wrangler d1 execute tea --remote",
        "npx wrangler secret put TEA",
        "k6 run load-test.js",
        "bash scripts/bootstrap.sh",
        "python manage.py collectstatic --noinput",
        "mv a shop.conf",
        "tbump 1.2",
        "dropdb shop",
        "ansible-playbook shop.yml",
        "aws ecs update-service --service shop",
        "scp tea shop:/tea",
        "gh workflow run shop.yml",
        "sudo mdadm --create /dev/md0 --level=5 /dev/sdb /dev/sdc",
        "shop self-update",
        "npm update -g",
        "/notes add tea",
        "heroku config:set TEA=hot",
        "kubectl label node a tea=hot",
        "gh api repos/tea -f a=b",
        "kubectl create namespace tea",
        "kubectl exec -it tea -- top",
        "sqlite3 shop.db .dump",
        "source pots.sh",
        "POT=$(tea make)",
        "POT=`tea make`",
        "if true; then tea; fi",
        "ls | xargs tea",
        "timeout 5 tea",
        "true\ntea",
        "kubectl edit cm view",
        "kubectl create deployment list --image=tea",
        "oc adm policy add-role-to-user view anna",
        "aws logs put-retention-policy --days 3",
        "az aks get-credentials -n tea",
        "docker start test",
        "docker compose -f test.yml start",
        "helm install shop ./test",
        "helm install tea ./tea --version 1.2",
        "redis-cli -h tea set a b",
        "psql -h tea -c 'create role milk'",
        'psql -c "select pg_switch_wal()"',
        'psql -c "select tea.pour_all()"',
        "psql -c 'select 1; grant all on tea to milk'",
        'psql -l -c "create role milk"',
        "kubectl create ns tea --dry-run=false",
        "apt-get install -y tea",
        "pip install -U tea",
        "npm install -g tea",
        "sudo pip install tea",
        "cargo install tea",
        "npm audit fix",
        "npm version minor",
        "npm run db:sync",
        "make install",
        "make sync",
        "make build run",
        "make check-and-deploy",
        "make validate-and-apply",
        "make docker-build-push",
        "./verify-and-fix.sh",
        "./install.sh",
        "python scripts/sync_pots.py",
        "python manage.py sync_pots",
        "scripts/test-server.sh",
        "mvn test spring-boot:run",
        "./gradlew build run",
        "cargo run --bin check",
        "git remote set-url origin tea",
        "git submodule add tea",
        "hostname tea",
        "date -s 2026-01-01",
        "openssl ca -revoke tea",
        "mail -s status anna",
    ],
)
def test_a_command_that_rdc_does_not_know_is_shown(code: str) -> None:
    assert not is_known(code)
    assert draft(RUN + block(code)).shown == [code]


@pytest.mark.parametrize(
    "code",
    [
        "kubectl -n tea get pods",
        "kubectl exec tea -- ls",
        "docker compose exec db pg_dump tea",
        "aws ec2 describe-instances",
        "aws s3 ls",
        "npx wrangler d1 list",
        "tea --help",
        "scripts/check-pots.sh",
        "python3 -m pytest tests",
        "uv run ruff check .",
        "npm run test:fast",
        "./gradlew build",
        "make lint",
        "git -C tea log",
        "psql shop -c 'select 1'",
        "source .venv/bin/activate",
        "POT=$(date)",
        "rm a",
        "make deploy",
        "systemctl start tea",
        "git branch -D tea",
        "kubectl get pods -o name | xargs -n 1 kubectl describe",
        "git stash list",
        "git grep tea",
        "redis-cli ping",
        "helm template ./tea",
        "python -m pip install -r tea.txt",
        "npm --prefix tea run build",
        "aws s3api head-object --key tea",
        "psql -c 'select pg_size_pretty(1)'",
        "mysql -e 'describe tea'",
        "./gradlew test --tests Tea",
        "openstack server list",
    ],
)
def test_a_command_that_looks_builds_or_does_a_known_harm_is_known(code: str) -> None:
    assert is_known(code)


@pytest.mark.parametrize(
    "code",
    [
        "shop sync <in_file.csv> <out>",
        "shop sync <tea|milk>",
        "shop sync {id}",
        'curl "https://shop/{id}"',
        'git commit -m "[the text of the change]"',
        'gh pr create --title "Add {tea name}"',
        "shop add <tea>,[,<tea>...]",
        "shop login --password ********",
        "shop login --token your-token",
        "forge test --contract YourShop",
        "shop add XXXX",
        "git checkout -b shop-vXYZ",
        'git tag -m "Shop vX.Y.Z"',
        'curl "https://shop/api/..."',
        "curl https://shop.example.com/tea",
        "cat <<EOF\n{For each tea in the shop:}\nEOF",
        "git log v{old}..v{new}",
        "export TEA=...\nls $TEA",
        "curl http://PUBLIC_ADDRESS/tea",
        "kubectl logs shop-67cff44cd6-s47n6",
        "crictl inspecti 221177c6082a8",
        "/home/foo/tea",
        "git tag vX.Y.0",
        'make tea TEA="<the name without .yaml>"',
        "curl https://yourdomain.com/tea",
        "psql postgres://user:pw@shop/tea",
        "gunzip teas-YYYY-MM-DD.gz",
        "tea install v1.2 # Replace the version",
        "git tag v1.2.3",
        "git push origin v1.2",
        "tea release 1.2.3",
        "git checkout -b tea-1-2",
        "TEA_VERSION=1.2\nVERSION=1.2\ngit tag $VERSION",
        "tea restore --to 2026-01-02T10:00:00Z",
        "gh pr create --body 'Closes #1'",
        "tea sync --pot-id POT",
        "tea sync --hot-pot HOT_POT",
        "tea set 'POT_X=hot'",
        "tea set MILK='...pot...'",
        'curl shop -d \'{"tea_title":"TITLE"}\'',
        "if tea | grep -q TARGET_POT; then ls; fi",
        'curl "$SHOP/v1/TABLE?pot=1"',
        "tea check Shop/PotName",
        "rm cups_OLD.gz",
        "cp a /path/tea",
        "tea convert document.docx",
        "tea deploy my-app",
        "cargo check --features some-pot",
    ],
)
def test_a_block_with_an_open_placeholder_or_a_sample_is_shown(code: str) -> None:
    assert kind(code) == "show"


@pytest.mark.parametrize(
    "code",
    [
        "awk '{print NR}' a",
        "curl -w '%{http_code}' a",
        "go test ./...",
        "mktemp /tmp/a.XXXXXX",
        'echo "${a} {}"',
        "a[0]=1",
        "git rev-list @{u}..HEAD",
        'curl -H "SHOP-KEY: a" shop',
        "ls   a  b",
        "cp x.yaml y",
        "date +%Y-%m-%d",
        "# Change the folder\nls",
        "git log   a  b",
        "ls a   # look at  all  cups",
        "ls a  # such as shop-67cff44cd6-s47n6",
        "tea list a\ntea list a --all | wc",
        "A=$(date)",
        "tea restore -h 10.0.0.1",
        "curl -H 'shop-version: 2026-01-02' a",
        "docker run --rm -e TEA_POT tea",
        "curl -X POST a",
        "tea sync --pot $POT_NAME",
        "tea convert configs/template.yaml",
        "tea install tea-1.2.3.tgz",
    ],
)
def test_a_block_with_marks_that_are_no_placeholder_is_whole(code: str) -> None:
    assert kind(code) == "run"


@pytest.mark.parametrize(
    "code",
    [
        "tail -f log",
        "tsc --watch",
        "while true; do ls; sleep 1; done",
        "ping shop",
        "docker stats",
        "docker compose up tea",
        "docker compose logs tea -f",
        "kubectl get pods -w",
        "pm2 logs tea",
        "fly logs",
        "tea logs tail",
        "git rebase -i main",
        "git commit",
        "npm run test:watch",
        "tail -100f tea",
        "tail --follow=name tea",
        "kubectl get pods --watch-only",
        "ssh shop 'tail -f tea'",
        "./gradlew test --continuous",
        "gh pr view --web",
        "heroku logs -t",
        "until false; do date; done",
        "while sleep 1; do ls; done",
        "sleep infinity",
    ],
)
def test_a_command_that_goes_on_until_it_is_stopped_is_shown(code: str) -> None:
    assert kind(code) == "show"


@pytest.mark.parametrize(
    "code",
    [
        "pg_dump --port=5432 shop",
        "scripts/run-tests",
        "tox",
        "git commit -am tea",
        "ping -c 3 shop",
        "docker stats --no-stream",
        "while read -r tea; do ls $tea; done",
        "docker compose -f tea.yml up -d",
        "docker rm -f tea",
        "pm2 logs tea --nostream",
        "railway logs -n 5",
        "ssh -p 22 tea@shop 'ls pots'",
        "psql shop < tea.sql",
        "psql shop --command='select 1'",
    ],
)
def test_a_command_that_ends_runs(code: str) -> None:
    assert kind(code) == "run"


@pytest.mark.parametrize(
    "code",
    [
        "NAME  READY   STATUS",
        "shop-0    ClusterIP   10.0.0.1   <none>   80/TCP",
        "pod/shop-0 created",
        'pod "shop-0" deleted',
        "info    shop/tea.go:12    tea is ready",
        "level=error msg=full",
        'resource "shop" "tea" {\n}',
    ],
)
def test_output_and_other_languages_with_a_shell_tag_are_samples(code: str) -> None:
    assert kind(code) == "sample"


@pytest.mark.parametrize(
    "code",
    [
        "echo a > shop.conf",
        "cat <<EOF > shop.yaml\na\nEOF",
        "echo a >> ~/.bashrc",
        "cp a shop.conf",
        "gh run rerun 1",
        "openssl dhparam -out /etc/ssl/a 4096",
        "kubectl delete pod a --dry-run=none",
        "kubectl rollout restart deploy/a",
        "./hack/cherrypick.sh main 12345",
        "python3 tea.py --write",
        "git checkout -- tea",
        "bash scripts/rollback.sh shop",
        "make check deploy",
        "python3 tools/restore_shop.py",
        "ssh tea@shop 'git pull'",
        "psql shop < tea.sql",
        "docker compose -f tea.yml up -d",
        "tea renew",
        "tea.sh --rotate-key",
        "curl -o shop.conf shop",
        "curl -sSLo /usr/bin/tea shop",
        "curl -sd a=b shop",
        "curl --json '{}' shop",
        "curl -sXPOST shop",
        "curl --request=PUT shop",
        "wget --post-data=a shop",
        "wget -qO tea shop",
        "openssl genrsa -out tea.key",
        "tar -xzf a.tgz -C /opt",
        "unzip -o a.zip",
        "zip -m a.zip a",
        "find . -execdir mv {} a \\;",
        "find . -fprint a",
        "awk '{system(\"rm a\")}' b",
        "awk '{print > \"a\"}' b",
        "awk -i inplace 1 a",
        "sed 's/a/b/w a' b",
        "yq -i .a=1 b",
        "sort -o a a",
        "cp a.conf /opt/tea/",
        "cp a ../b/",
        "echo a > /dev/sdb",
        "ls &> a",
        "ls >& a",
        "git checkout -f main",
        "git switch --discard-changes main",
        "git checkout HEAD~1 a.txt",
        "git checkout a.txt",
        "git -C tea branch -M main",
        "scripts/check.sh --fix",
        "docker build --push .",
        "scripts/delete-pots-log.sh",
        "ls | xargs -n 1 rm",
    ],
)
def test_a_command_that_writes_over_something_or_releases_does_harm(code: str) -> None:
    assert read_block("bash", code).harm == (code.split("\n", maxsplit=1)[0],)


@pytest.mark.parametrize(
    "code",
    [
        "oc get upgrade",
        "kubectl -n shop describe deploy shop",
        "kubectl rollout status deploy/a",
        "helm upgrade a b --dry-run",
        "kubectl apply -f a --dry-run=client",
        "tree --prune",
        "gh skill install public-release-verification",
        "ls > /dev/null 2> errors.log",
        "ls > /tmp/a",
        "[ 2 -gt 1 ] && ls",
        "cat /etc/hosts",
        "cp a.conf teas/",
        "cp a.conf a.conf.bak",
        "ansible-playbook shop.yml --check",
        "kubectl config set-context tea",
        "kubectl get pods -l set=tea",
        "git checkout main",
        "scp shop:/tea tea",
        "gh run list",
        "gh secret list",
        "python3 tools/release-audit.py",
        "heroku config",
        "ssh -o Port=1 tea@shop 'cd pots && git log'",
        "curl -so /dev/null shop",
        "curl -G shop --data-urlencode a=b",
        "curl -w '%{http_code}' -o /tmp/a shop",
        "curl --write-out '%{http_code}' shop",
        "tar -xzf a.tgz",
        "tar -tzf a.tgz",
        "find . -exec grep -l a {} +",
        "awk '$3 > 5 {print $1}' a",
        "awk '{print $1 \" -> \" $2}' a",
        "sed -n '/a_w_b/p' a",
        "kubectl exec tea -- cat /etc/hosts",
        "ls &> /dev/null",
        "ls >/dev/null 2>&1",
    ],
)
def test_a_command_that_only_looks_does_no_harm(code: str) -> None:
    assert read_block("bash", code).harm == ()


@pytest.mark.parametrize(
    "comments",
    [
        ("Python", "JavaScript/TypeScript"),
        ("Single-repo", "Multi-repo (nested)"),
        ("For one look", "For numbers of the shop:"),
        ("Fallback", "Last"),
        ("Run only tea", "All"),
        ("in the source project", "All"),
        ("all tea", "a custom cup"),
        ("Option A: tea", "Then look"),
        ("Take them only after a look", "Look"),
        ("set MILK in the shop, then look:", "Look"),
        ("They should run on their machine", "Look"),
        ("Replace with your cup", "Look"),
    ],
)
def test_a_comment_that_names_a_kind_or_a_use_shows_the_block(comments: tuple[str, str]) -> None:
    text = page(block("true") + block(f"# {comments[0]}\nls a\n\n# {comments[1]}\ndu b"))
    assert "```bash prompt\n# " in text


@pytest.mark.parametrize(
    "code",
    [
        "df -h\nrm a",
        "kubectl get pods | grep a\nkubectl delete pod a",
        "terraform plan\nterraform apply",
        "tea pour --dry-run a\ntea restart a",
        "# Stop it\ntea stop\n\n# Restart it\ntea restart",
    ],
)
def test_a_block_with_a_look_before_a_change_or_two_changes_is_shown(code: str) -> None:
    assert read_block("bash", code).why == "it has several stages, and a person looks in between"


@pytest.mark.parametrize(
    "code",
    [
        "rm a\ndf -h",
        "[ -f a ]\nrm a",
        "df -h && rm a",
        "kubectl get pods | xargs kubectl delete\ntea stop",
        "df -h > log\nrm a",
        "cat a | while read b; do rm $b; done",
        "tea stop\ntea restart",
    ],
)
def test_a_block_with_one_change_runs(code: str) -> None:
    assert kind(code) == "run"


@pytest.mark.parametrize(
    "lead",
    [
        "From a checkout:",
        "There are two kinds. For cups, use the following command:",
        "Make tea on macOS:",
        "From a package:",
        "In a project, pass the folder:",
        "For images (large, small), also look:",
        "In local mode, look instead of asking:",
        '=== "Debian"\n',
        "<details><summary>Debian</summary>\n",
    ],
)
def test_a_lead_that_names_a_kind_of_place_asks_first(lead: str) -> None:
    text = page(f"{block('true')}{lead}\n\n{block('ls a')}")
    assert "Does this apply: " in text
    assert "- NO: COMPLETE" in text


@pytest.mark.parametrize(
    "lead", ["In a new terminal, look:", "On your machine, look:", "For all cups:", "For more tea, use this:"]
)
def test_a_lead_that_names_no_case_asks_nothing(lead: str) -> None:
    assert "- NO:" not in page(f"{block('true')}{lead}\n\n{block('ls a')}")


@pytest.mark.parametrize(
    "heading",
    [
        "Build mode (--build)",
        "Issue 3: Slow tea",
        "Scenario 2 — Cold tea",
        'Error: "refused"',
        "Connection refused",
    ],
)
def test_a_heading_of_a_mode_or_a_problem_asks_first(heading: str) -> None:
    assert f"Does this apply: {heading}?" in page(f"{block('true')}## {heading}\n\n{block('ls a')}")


def test_a_heading_that_asks_for_a_mode_asks_nothing() -> None:
    assert "Does this" not in page(f"{block('true')}## Choose a mode\n\n{block('ls a')}")


@pytest.mark.parametrize(
    "below",
    [
        "If the cup is full, skip this step.",
        "This step is only for large shops.",
        "Only needed if the shop is new.",
        "Guard: If the cup already exists, take another one.",
        "This should fail.",
        "Replace `ls` with your command.",
        "They run it on their machine.",
    ],
)
def test_a_text_below_a_command_that_limits_it_shows_it(below: str) -> None:
    assert "```bash prompt\nls a\n```" in page(f"{block('true')}Look:\n\n{block('ls a')}{below}\n\n{block('true')}")


def test_a_question_for_a_harm_in_the_text_skips_the_commands_that_go_on() -> None:
    text = page(f"Release the shop with a tool:\n\n{block('pip install a')}{block('make a')}Look:\n\n{block('ls')}")
    assert "- NO: GOTO 1.4\n" in text


def test_a_command_below_an_ssh_in_a_sentence_is_shown() -> None:
    text = page(f"{block('true')}Then `ssh admin@shop` and look:\n\n{block('ls a')}")
    assert "```bash prompt\nls a\n```" in text


@pytest.mark.parametrize(
    ("below", "shown"), [("", True), (block("ls $TEA"), False), (block("echo a"), True), ("Look.\n", True)]
)
def test_a_block_that_only_sets_variables_runs_if_a_later_one_reads_them(below: str, shown: bool) -> None:
    assert ("```bash prompt\nTEA=a\n```" in page(f"{block('true')}{block('TEA=a')}{below}")) is shown


@pytest.mark.parametrize(
    "lead",
    [
        "Install an optional dependency:",
        "Use tea instead of milk:",
        "Create a cup, for example small.",
        "When using tea, you need a cup.\n\nTake a long look at all of the cups in the shop:",
    ],
)
def test_words_like_a_condition_ask_nothing(lead: str) -> None:
    assert "- NO:" not in page(f"{lead}\n\n{block('ls a')}")


@pytest.mark.parametrize(
    ("lead", "title"),
    [
        ("Or:", "Does this apply: Or: run ls?"),
        ("For cups, use the following command:", "Does this apply: For cups?"),
        ("If hot, pour the tea:", "Does this apply: If hot, pour the tea?"),
        ("Pour the tea (if it is hot):", "Does this apply: Pour the tea (if it is hot)?"),
        (f"For example, you look at the {'very ' * 20}small cup:", "Do this now: run ls?"),
    ],
)
def test_a_question_has_a_subject(lead: str, title: str) -> None:
    assert f" {title}\n" in page(f"{block('true')}{lead}\n\n{block('ls')}")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Run this command in your terminal:", "Run ls a"),
        ("Run:", "Run ls a"),
        ("The cup (large; fill it):", "Run ls a"),
        ("Fill the cup.\n\nRun:", "Fill the cup"),
        ("If it is hot, fill the cup.\n\nRun:", "Run ls a"),
        ("To do so, run:", "Run ls a"),
        ("Create a cup by running the following command:", "Create a cup"),
        ("Use the following command to find a cup:", "Find a cup"),
        ("Next we'll fill a cup. Run the following command:", "Fill a cup"),
        ("Finally, to actually look at tea, run:", "Look at tea"),
    ],
)
def test_a_title_is_never_only_run(text: str, title: str) -> None:
    assert f" {title}\n" in page(f"{block('true')}{text}\n\n{block('ls a')}")


def test_a_comment_that_opens_a_block_is_its_title() -> None:
    assert "1.2 Check the tea\n" in page(block("true") + block("# Check the tea\nls"))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("if [ -z $A ]; then\n  git fetch\nfi", "Run git fetch"),
        ("kubectl -n shop get pod <pod>", "Run kubectl get pod"),
        ("A=1 make tea", "Run make tea"),
        ("export A=1 B=2", "Set A and B"),
        ("[ -f a ]", "Run the commands"),
        ("cd shop\ngit fetch", "Run git fetch"),
        ("cd shop", "Run cd shop"),
        ("curl -s 'https://shop/tea'", "Run curl https://shop/tea"),
        ("curl -s https://<shop>/tea", "Run curl"),
        ("jsonnet -m cups.jsonnet", "Run jsonnet cups.jsonnet"),
    ],
)
def test_the_summary_of_a_block_names_its_first_program(code: str, words: str) -> None:
    assert summary_of(code) == words


@pytest.mark.parametrize("rest", ["(with milk", "— with milk", "by adding milk", ", which has milk", "so that", ". It"])
def test_a_long_text_is_cut_before_what_explains_it(rest: str) -> None:
    assert (
        cut(f"{'tea ' * 9}tea {rest} {'milk ' * 20}".replace(" ,", ",").replace(" .", ".")) == f"{'tea ' * 10}".strip()
    )


def test_a_long_text_is_cut_before_an_open_bracket_or_a_word() -> None:
    assert cut(f"{'tea ' * 10}[with {'milk ' * 20}]") == f"{'tea ' * 10}".strip() + "…"
    assert cut("Go by using tea " + "milk " * 20).endswith(" milk…")


@pytest.mark.parametrize(
    ("title", "first", "second"),
    [
        ("Getting started", "Tea", "Milk"),
        ("The release procedure", "Tea", "Milk"),
        ("Shop", "Local Step 1: Tea", "Local Step 2: Milk"),
    ],
)
def test_the_sections_of_a_procedure_are_no_tasks_side_by_side(title: str, first: str, second: str) -> None:
    text = f"# {title}\n\n## {first}\n\n{block('ls a')}## {second}\n\n{block('ls b')}"
    made = draft(text)
    assert "Does this apply" not in made.text


def test_a_workflow_beside_tasks_asks_nothing() -> None:
    sections = "".join(f"## {one}\n\n{block(f'ls {one[0]}')}" for one in ("Workflow", "Tea", "Milk"))
    made = draft(f"# Shop\n\n{sections}")
    assert made.text.count("Do this: ") == 2


@pytest.mark.parametrize(
    "lead",
    [
        "The expected output is:",
        "The expected output:",
        "Expected logs",
        "Expected logs in the shop:",
        "**Output:**",
        "Run it again. You should see",
        "Sample output",
        "If it works, you should see:",
        "1. If you run it now, you should now see:",
        "Example output of the kettle:",
        "The output should look like this:",
        "### Expected output",
    ],
)
@pytest.mark.parametrize("tag", ["bash", "sh", "console"])
def test_a_block_below_a_lead_for_output_never_runs(lead: str, tag: str) -> None:
    fence = indent(f"```{tag}\nls kettle\n```", "   " * lead.startswith("1."))
    made = page(f"{block('make cups')}{lead}\n\n{fence}\n\nMore.\n\n{block('ls')}")
    assert "> ls kettle\n" in made
    assert "\n```bash\nls\n```" in made


@pytest.mark.parametrize(
    "lead",
    ["Print the output:", "Use the output:", "If you see the output, go on:", "Run this for the result:"],
)
def test_a_command_below_a_lead_about_output_runs(lead: str) -> None:
    assert "\n```bash\nls kettle\n```" in page(f"{block('make cups')}{lead}\n\n{block('ls kettle')}")


def test_a_block_with_a_prompt_below_a_lead_for_output_is_a_command() -> None:
    made = page(f"{block('make cups')}You should see:\n\n```console\n$ ls kettle\nkettle\n```\n")
    assert "\n```bash\nls kettle\n```" in made


@pytest.mark.parametrize(
    "entry",
    [
        block("kubectl exec shop-0"),
        block("kubectl exec shop-0 -c web"),
        "```console\n$ kubectl exec ... shop-0 -- sh\n```\n\n",
        f"Exec into the pod:\n\n{block('kubectl exec shop-0 -- ls /data')}",
        f"Connect to the database pod:\n\n{block('docker exec shop ls /data')}",
        f"{block('docker exec shop ls /data')}Inside the container, look:\n\n{block('ls /data')}",
        block("docker exec shop ls /data\n# in the pod:\ncd /data\n# inside the pod"),
        f"Log in to the server:\n\n{block('make connection')}",
    ],
)
def test_commands_below_an_entry_into_a_container_are_shown(entry: str) -> None:
    made = page(f"{entry}Then:\n\n{block('df -h')}{block('rm cups')}")
    assert "```bash prompt\ndf -h\n```" in made
    assert "```bash prompt\nrm cups\n```" in made


@pytest.mark.parametrize(
    "entry", [block("docker exec shop ls"), f"Log in to the server of images:\n\n{block('docker login shop')}"]
)
def test_a_command_that_enters_nothing_is_followed_by_commands(entry: str) -> None:
    assert "```bash\ndf -h\n```" in page(f"{entry}Then:\n\n{block('df -h')}")


def test_what_a_program_prints_for_no_value_is_no_placeholder() -> None:
    quoted = 'docker images | grep "<none>"'
    made = page(block(quoted) + block("docker rmi <none>") + block("echo <tea>"))
    assert '```bash\ndocker images | grep "<none>"\n```' in made
    assert "```bash prompt\ndocker rmi <none>\n```" in made
    assert "NONE" not in made


@pytest.mark.parametrize(
    "text",
    [
        "These happen automatically:\n\n- Run `git fetch origin`\n- `git push origin`\n",
        f"These happen automatically:\n\n{block('git fetch origin')}",
        f"Behind the scenes, the tool runs:\n\n{block('git fetch origin')}",
        f"Tell the next session to run:\n\n{block('git fetch origin')}",
        "Tell the next session to run `git fetch origin`.\n",
        f"### These happen automatically\n\n{block('git fetch origin')}",
        "### These happen automatically\n\n- Run `git fetch origin`\n",
    ],
)
def test_commands_that_someone_else_runs_are_text(text: str) -> None:
    made = page(f"{block('make cups')}{text}")
    assert "git fetch origin" in made
    assert "```bash prompt\ngit" not in re.sub("(?m)^> .*", "", made)
    assert "```bash\ngit" not in made
    assert "Run git" not in made


@pytest.mark.parametrize(
    "lead",
    [
        "The script runs the tests:",
        "Ask Anna for tea, then run it:",
        "It is not done automatically:",
        "It runs automatically, but you can run it:",
    ],
)
def test_a_text_about_what_a_command_does_is_above_a_command(lead: str) -> None:
    assert "```bash\nmake test\n```" in page(f"{block('make cups')}{lead}\n\n{block('make test')}")


def test_a_fence_below_a_tab_is_no_output() -> None:
    made = page(f'{block("make cups")}=== "Output"\n\n    ``` bash\n    ls\n    ```\n\n{block("df -h")}')
    assert "Expected output" not in made
    assert "> ``` bash\n" in made


def test_a_name_in_capitals_with_hyphens_is_a_placeholder() -> None:
    made = draft(RUN + block("git checkout -b BRANCH-NAME") + block('curl -H "SHOP-KEY: a" shop'))
    assert made.run == ['git checkout -b "$BRANCH_NAME"', 'curl -H "SHOP-KEY: a" shop']


@pytest.mark.parametrize(
    "code",
    [
        "sqlite3 shop.db 'VACUUM;'",
        "uv run scripts/publish.py --branch main",
    ],
)
def test_a_command_that_changes_disks_or_publishes_asks(code: str) -> None:
    assert read_block("bash", f"{code}\n").harm


@pytest.mark.parametrize(
    "code",
    [
        'curl "https://shop/clusters/{stage}-{part}"',
        "ssh-copy-id -i /c/Users/anna/.ssh/id_rsa.pub tea@shop",
    ],
)
def test_a_block_with_a_part_to_fill_in_or_a_dialogue_is_shown(code: str) -> None:
    assert kind(code) == "show"


def test_dots_in_a_comment_leave_nothing_out() -> None:
    assert kind("# …or another one:\ntrue") == "run"


@pytest.mark.parametrize(
    "text", ["SSH to the alerting host, then:", "Log into the bastion:", "Log in as the build user:"]
)
def test_below_a_text_that_enters_a_host_the_section_is_shown(text: str) -> None:
    first = block("# If it is the log\nls /var/log")
    assert not draft(f"{RUN}{block('true')}## Act\n\n{text}\n\n{first}Then:\n\n{block('truncate -s 0 tea.log')}").run[
        1:
    ]


def test_the_text_of_a_section_that_enters_a_host_is_for_all_below_it() -> None:
    made = draft(f"{RUN}{block('true')}## Act\n\nSSH to the alerting host.\n\n### Look\n\n{block('df -h')}")
    assert made.shown == ["df -h"]


@pytest.mark.parametrize(
    "text", ["On shop3, copy it:", "Copy it. On prod hosts:", "On the box, copy it:", "# This runs on the receiver"]
)
def test_a_text_or_comment_that_names_a_machine_asks(text: str) -> None:
    code = f"{text}\ncp tea pot.bak" if text[0] == "#" else "cp tea pot.bak"
    made = draft(f"{RUN}{block('true')}{'' if text[0] == '#' else text}\n\n{block(code)}")
    assert made.guards("cp tea") == ["Does the next command run on this machine?"]


def test_a_script_below_a_heading_that_asks_to_upload_asks() -> None:
    assert draft(f"{RUN}{block('true')}## Make and upload it\n\n{block('./test-tea all pots')}").guards("test-tea")


def test_a_shown_command_with_a_condition_asks() -> None:
    made = draft(f"{RUN}{block('true')}If the pot is empty:\n\n{block('ssh pot')}")
    assert made.guards("ssh pot") == ["Does this apply: the pot is empty?"]


def test_a_dialogue_with_other_prompts_stays_in_one_block() -> None:
    code = "$ ssh shop\nsh-4.2$ psql\npostgres=# \\connect tea\ntea=# UPDATE pots SET milk = null;"
    made = draft(RUN + block("true") + block(code, "console"))
    assert (made.run, made.shown) == (["true"], [code])


def test_a_session_in_a_text_is_a_shown_block() -> None:
    page = "1. Look\nsudo mdadm --detail /dev/md0\n\n2. Remove it\ntea@pot ~ $ sudo tea remove\nremoved\n"
    made = draft(RUN + block("true") + page + "\nStop it:\ndocker stop tea\n")
    assert made.shown == [
        "sudo mdadm --detail /dev/md0",
        "tea@pot ~ $ sudo tea remove\nremoved",
        "docker stop tea",
    ]
    assert made.titles[1:] == ["Look", "Remove it", "Stop it"]


@pytest.mark.parametrize("text", ["Note:\nmake sure that it is hot", "Ask tea@shop.example for $ 5.", "It is:\ngit."])
def test_a_sentence_is_no_session(text: str) -> None:
    assert draft(f"{RUN}{block('true')}{text}\n").shown == []


def test_each_query_below_a_shell_is_a_step() -> None:
    made = draft(
        f"{RUN}Connect to it:\n\n    ssh shop gsql\n\nList the pots:\n\n    select * from pots;\n\n"
        "You will get something like this:\n\n    a | b\n\nNow quit it with:\n\n    \\q\n"
    )
    assert made.shown == ["ssh shop gsql", "select * from pots;", "\\q"]
    assert "> a | b" in made.text


def test_an_output_belongs_to_a_command() -> None:
    made = draft(f"{RUN}{block('true')}Write this:\n\n{block('a: b', 'yaml')}{block('made', '')}")
    assert "Expected output:" not in made.text


@pytest.mark.parametrize(
    ("code", "inputs"),
    [
        ('sed -i "s/<OLD>/new/g" tea.md', ()),
        ("shop secret show --name TEA-POT", ()),
        ('curl -u "tea:$SHOP_PASSWORD" https://shop', ()),
        ("shop login <api-key>", ()),
        ("shop get --pot TEA-POT", ("TEA_POT",)),
    ],
)
def test_a_secret_and_a_name_as_written_are_no_inputs(code: str, inputs: tuple[str, ...]) -> None:
    made = draft(f"# Page\n\n## Part\n\n{block(code)}")
    assert (made.report.inputs, bool(made.run)) == (inputs, bool(inputs))


def test_a_dialogue_stays_in_the_order_of_its_texts() -> None:
    made = draft(
        f"{RUN}{block('gpg --gen-key', '')}The default is ok, next:\n\n    Which size?\n\nTake it.\n\n    Done?\n"
    )
    text = made.text
    assert text.index("default is ok, next") < text.index("Which size?") < text.index("Take it.") < text.index("Done?")


def test_a_block_with_a_secret_shows_its_other_values_by_reference() -> None:
    made = draft(f"# Page\n\n## Part\n\n{block('shop login <api-key> --pot <pot> --milk $MILK')}")
    assert made.shown == ["shop login <api-key> --pot {{POT}} --milk {{MILK}}"]


def test_a_quote_does_not_hide_the_condition_of_a_list() -> None:
    made = draft(f"{RUN}{block('true')}If it fails, go on by hand:\n\n> You are in a.\n\n1. Stop it.\n2. Start it.\n")
    assert made.titles[1] == "Does this apply: it fails?"


def test_a_shown_block_with_a_secret_hands_nothing_on() -> None:
    made = draft(f"# Page\n\n## Part\n\n{block('POT=$(shop get --key $API_KEY)')}{block('ls $POT')}")
    assert made.report.inputs + made.report.asked == ("POT",)
    assert made.run == ["ls $POT"]


@pytest.mark.parametrize("heading", ["Known issues and gotchas", "Notes", "Known problems (old)"])
def test_commands_that_only_some_readers_need_ask_first(heading: str) -> None:
    made = draft(f"{RUN}{block('true')}## {heading}\n\n### The milk is slow\n\nTo see it:\n\n{block('df milk')}")
    assert "Does this apply: The milk is slow?" in made.titles
    assert made.run[-1] == "df milk"
    assert f"Does this apply: {heading}?" in draft(f"{RUN}{block('true')}## {heading}\n\n{block('df milk')}").text


def test_a_lead_for_some_of_the_things_is_a_condition() -> None:
    text = f"1. Count pots:\n\n   ```bash\n   df a\n   ```\n\n2. {{}}:\n\n{indent(block('df b'), '   ')}"
    assert "Does this apply: For pots that are cold" in draft(RUN + text.format("For pots that are cold, look")).text
    assert "Does this apply" not in draft(RUN + text.format("For each pot that is cold, look")).text


@pytest.mark.parametrize("code", ["apt-get update", "helm repo update", "shop update --help"])
def test_an_update_of_a_list_does_not_ask(code: str) -> None:
    assert read_block("bash", code).harm == ()


def test_a_command_for_another_host_is_shown() -> None:
    assert kind("shop @tea list") == "show"
    assert kind("shop add @tea/pot") == "run"
