"""What a command does: whether its block runs, is only shown, or asks first."""

import pytest

from compiler.importers.blocks import read_block
from compiler.importers.commands import is_known
from tests.support.imported import RUN, block, draft


def kind(code: str) -> str:
    return read_block("bash", f"{code}\n").kind


@pytest.mark.parametrize(
    "code",
    [
        *("python server.py", "docker run shop", "kubectl proxy", "npm run start:dev", "./shop --port=80", "vim pot"),
        *("npx wrangler d1 execute tea --remote", "npx wrangler secret put TEA", "k6 run load-test.js"),
        *("bash scripts/bootstrap.sh", "python manage.py collectstatic --noinput", "mv a shop.conf", "tbump 1.2"),
        *("dropdb shop", "ansible-playbook shop.yml", "aws ecs update-service --service shop", "scp tea shop:/tea"),
        *("gh workflow run shop.yml", "sudo mdadm --create /dev/md0 --level=5 /dev/sdb /dev/sdc", "shop self-update"),
        *("npm update -g", "/notes add tea", "heroku config:set TEA=hot", "kubectl label node a tea=hot"),
        *("gh api repos/tea -f a=b", "kubectl create namespace tea", "kubectl exec -it tea -- top"),
        *("sqlite3 shop.db .dump", "source pots.sh", "POT=$(tea make)"),
        *("POT=`tea make`", 'POT="`rm a`"', 'echo "`rm a`"', "cat <<EOF\n$(rm a)\nEOF"),
        *("if true; then tea; fi", "ls | xargs tea", "timeout 5 tea", "true\ntea", "kubectl edit cm view"),
        *("kubectl create deployment list --image=tea", "oc adm policy add-role-to-user view anna"),
        *("aws logs put-retention-policy --days 3", "az aks get-credentials -n tea", "docker start test"),
        *("docker compose -f test.yml start", "helm install shop ./test", "helm install tea ./tea --version 1.2"),
        *("redis-cli -h tea set a b", "psql -h tea -c 'create role milk'", 'psql -c "select pg_switch_wal()"'),
        *('psql -c "select tea.pour_all()"', "psql -c 'select 1; grant all on tea to milk'"),
        *('psql -l -c "create role milk"', "kubectl create ns tea --dry-run=false", "apt-get install -y tea"),
        *("pip install -U tea", "npm install -g tea", "sudo pip install tea", "cargo install tea", "npm audit fix"),
        *("npm version minor", "npm run db:sync", "make install", "make sync", "make build run"),
        *("make check-and-deploy", "make validate-and-apply", "make docker-build-push", "./verify-and-fix.sh"),
        *("./install.sh", "python scripts/sync_pots.py", "python manage.py sync_pots", "scripts/test-server.sh"),
        *("mvn test spring-boot:run", "./gradlew build run", "cargo run --bin check", "git remote set-url origin tea"),
        *("git submodule add tea", "hostname tea", "date -s 2026-01-01", "openssl ca -revoke tea"),
        "mail -s status anna",
    ],
)
def test_a_command_that_rdc_does_not_know_is_shown(code: str) -> None:
    assert not is_known(code)
    assert draft(RUN + block(code)).shown == [code]


@pytest.mark.parametrize(
    "code",
    [
        *("kubectl -n tea get pods", "kubectl exec tea -- ls", "docker compose exec db pg_dump tea"),
        *("aws ec2 describe-instances", "aws s3 ls", "npx wrangler d1 list", "tea --help", "scripts/check-pots.sh"),
        *("python3 -m pytest tests", "uv run ruff check .", "npm run test:fast", "./gradlew build", "make lint"),
        *("git -C tea log", "psql shop -c 'select 1'", "source .venv/bin/activate", "POT=$(date)", "rm a"),
        *("make deploy", "systemctl start tea", "git branch -D tea"),
        *("kubectl get pods -o name | xargs -n 1 kubectl describe", "git stash list", "git grep tea"),
        *("redis-cli ping", "cat <<'EOF'\n$(rm a) `rm a`\nEOF"),
        *("helm template ./tea", "python -m pip install -r tea.txt", "npm --prefix tea run build"),
        *("aws s3api head-object --key tea", "psql -c 'select pg_size_pretty(1)'", "mysql -e 'describe tea'"),
        *("./gradlew test --tests Tea", "openstack server list"),
    ],
)
def test_a_command_that_looks_builds_or_does_a_known_harm_is_known(code: str) -> None:
    assert is_known(code)


@pytest.mark.parametrize(
    "code",
    [
        *("shop sync <in_file.csv> <out>", "shop sync <tea|milk>", "shop sync {id}", 'curl "https://shop/{id}"'),
        *('git commit -m "[the text of the change]"', 'gh pr create --title "Add {tea name}"'),
        *("shop add <tea>,[,<tea>...]", "shop login --password ********", "shop login --token your-token"),
        *("forge test --contract YourShop", "shop add XXXX", "git checkout -b shop-vXYZ", 'git tag -m "Shop vX.Y.Z"'),
        *('curl "https://shop/api/..."', "curl https://shop.example.com/tea"),
        *("cat <<EOF\n{For each tea in the shop:}\nEOF", "git log v{old}..v{new}", "export TEA=...\nls $TEA"),
        *("curl http://PUBLIC_ADDRESS/tea", "kubectl logs shop-67cff44cd6-s47n6", "crictl inspecti 221177c6082a8"),
        *("/home/foo/tea", "git tag vX.Y.0", 'make tea TEA="<the name without .yaml>"'),
        *("curl https://yourdomain.com/tea", "psql postgres://user:pw@shop/tea", "gunzip teas-YYYY-MM-DD.gz"),
        *("tea install v1.2 # Replace the version", "git tag v1.2.3", "git push origin v1.2", "tea release 1.2.3"),
        *("git checkout -b tea-1-2", "TEA_VERSION=1.2\nVERSION=1.2\ngit tag $VERSION"),
        *("tea restore --to 2026-01-02T10:00:00Z", "gh pr create --body 'Closes #1'", "tea sync --pot-id POT"),
        *("tea sync --hot-pot HOT_POT", "tea set 'POT_X=hot'", "tea set MILK='...pot...'"),
        *('curl shop -d \'{"tea_title":"TITLE"}\'', "if tea | grep -q TARGET_POT; then ls; fi"),
        *('curl "$SHOP/v1/TABLE?pot=1"', "tea check Shop/PotName", "rm cups_OLD.gz", "cp a /path/tea"),
        *("tea convert document.docx", "tea deploy my-app", "cargo check --features some-pot"),
        *('curl "https://shop/clusters/{stage}-{part}"', "ssh-copy-id -i /c/Users/anna/.ssh/id_rsa.pub tea@shop"),
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
        "# …or another one:\ntrue",
    ],
)
def test_a_block_with_marks_that_are_no_placeholder_is_whole(code: str) -> None:
    assert kind(code) == "run"


def test_a_command_for_another_host_is_shown() -> None:
    assert kind("shop @tea list") == "show"
    assert kind("shop add @tea/pot") == "run"


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
        "sqlite3 shop.db 'VACUUM;'",
        "uv run scripts/publish.py --branch main",
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
        "apt-get update",
        "helm repo update",
        "shop update --help",
    ],
)
def test_a_command_that_looks_or_updates_a_list_does_no_harm(code: str) -> None:
    assert read_block("bash", code).harm == ()


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
