// A stand-in for GitHub's HTTP API on this machine: what a workflow asks about runs, in GitHub's shapes.
import { createServer } from "node:http";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const TIME = "2026-01-01T00:00:00Z";
const PAGE = "<html><body>We are having a problem.</body></html>";
const BOT = { login: "github-actions[bot]", id: 41898282, type: "Bot", site_admin: false };
const USER = { login: "octocat", id: 1, type: "User", site_admin: false };

const ROUTE =
  /^\/repos\/(?<where>[^/]+\/[^/]+)\/(?:actions\/runs\/(?<id>[^/?]+)(?:\/(?<list>approvals|artifacts))?|environments\/(?<environment>[^/?]+))(?:\?.*)?$/;

const ISSUES = /^\/repos\/(?<where>[^/]+\/[^/]+)\/issues(?:\/(?<number>\d+))?(?:\?(?<query>.*))?$/;

/**
 * The API. `history` is the folder with what is known of runs; `may(token, scope)` says what a token may read;
 * `environments` has whether those that there are have reviewers. What is asked for and not simulated is added to
 * `unknown`. `failing` has the status for questions that are not answered: `runs`, `approvals`, `artifacts` or
 * `environments`; with 0 the connection is closed, with 200 the answer is a page for people.
 */
export class Api {
  #server;
  #state;

  /** Serve from now on for a run; gives the address. */
  async serve(state) {
    this.#state = state;
    if (!this.#server) {
      this.#server = createServer((request, response) => this.#answer(request, response));
      await new Promise((ready) => this.#server.listen(0, "127.0.0.1", ready));
      this.#server.unref();
    }
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  async #answer(request, response) {
    let sent = "";
    for await (const part of request) sent += part;
    const { status, body } = this.#found(request, sent);
    if (!status) return request.socket.destroy();
    response.writeHead(status, { "Content-Type": "application/json; charset=utf-8" });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  }

  #found({ method, url, headers }, sent) {
    const { history, repository, may, unknown, environments, failing } = this.#state;
    const token = /^(?:bearer|token) (.*)$/i.exec(headers.authorization ?? "")?.[1];
    const { where, id, list, environment } = ROUTE.exec(url)?.groups ?? {};
    const about = ISSUES.exec(url)?.groups;
    if (about?.where.toLowerCase() === repository.toLowerCase()) {
      if (!may(token, "issues", ["write"])) return failure(403, "Resource not accessible by integration");
      return ofIssues(join(history, "issues.json"), method, about, sent);
    }
    if (method !== "GET" || where === undefined) {
      unknown.push(`${method} ${url}`);
      return failure(501, "Not simulated");
    }
    const broken = failing[environment ? "environments" : (list ?? "runs")];
    if (broken !== undefined) return broken === 200 ? { status: 200, body: PAGE } : failure(broken, "It is broken");
    // Without a token GitHub says of a private repository that there is none.
    if (token === undefined || where.toLowerCase() !== repository.toLowerCase()) return failure(404, "Not Found");
    if (!may(token, "actions")) return failure(403, "Resource not accessible by integration");
    if (environment) return describeEnvironment(decodeURIComponent(environment), environments);
    const record = /^\d+$/.test(id) && readRecord(history, id);
    if (!record) return failure(404, "Not Found");
    if (list === "artifacts") return { status: 200, body: describeArtifacts(join(history, id, "artifacts")) };
    return { status: 200, body: list ? record.approvals : record.run };
  }
}

/** The issues of the repository, which are in a file: they are listed, opened and closed. */
function ofIssues(path, method, { number, query }, sent) {
  const issues = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : [];
  const listed = new URLSearchParams(query);
  if (method === "GET" && number === undefined && listed.get("creator") === BOT.login) {
    const open = issues.filter(({ state, user }) => state === listed.get("state") && user.login === BOT.login);
    const size = Number(listed.get("per_page"));
    return { status: 200, body: open.slice((Number(listed.get("page")) - 1) * size).slice(0, size) };
  }
  const issue = issues.find((one) => String(one.number) === number);
  if (method === "POST" && number === undefined) {
    const { title, body, ...others } = JSON.parse(sent);
    if (Object.keys(others).length) return failure(422, "Not simulated");
    issues.push({ number: issues.length + 1, state: "open", user: BOT, title, body });
  } else if (method === "PATCH" && issue) {
    Object.assign(issue, JSON.parse(sent));
  } else {
    return failure(404, "Not Found");
  }
  writeFileSync(path, JSON.stringify(issues));
  return { status: issue ? 200 : 201, body: issue ?? issues.at(-1) };
}

/** The name of an environment as it was made; undefined for one that is not there. Upper and lower case are the same. */
export function environmentOf(named, environments) {
  return Object.keys(environments).find((name) => name.toLowerCase() === named.toLowerCase());
}

/** An environment; one that no person and no job has made is not there. */
function describeEnvironment(named, environments) {
  const name = environmentOf(named, environments);
  if (name === undefined) return failure(404, "Not Found");
  const reviewers = [{ type: "User", reviewer: USER }];
  const required = { id: 1, node_id: "1", type: "required_reviewers", prevent_self_review: false, reviewers };
  const others = [{ id: 2, node_id: "2", type: "branch_policy" }];
  const protection_rules = environments[name] ? [required, ...others] : others;
  return { status: 200, body: { id: 1, node_id: "1", name, protection_rules, can_admins_bypass: true } };
}

/** The artifacts of a run as the API lists them. */
function describeArtifacts(folder) {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const artifacts = names.map((name, id) => ({ id, name, expired: false }));
  return { total_count: artifacts.length, artifacts };
}

const failure = (status, message) => ({
  status,
  body: { message, documentation_url: "https://docs.github.com/rest", status: String(status) },
});

/** What is known of a run: `run` and `approvals` as the API gives them; undefined if it never was. */
export function readRecord(history, id) {
  const path = join(history, String(id), "run.json");
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}

/** A run as the API describes it. */
export function describeRun({ github, status, conclusion }) {
  const repository = describeRepository(github.repository, github.repository_owner, github.server_url);
  const [path] = github.workflow_ref.slice(github.repository.length + 1).split("@");
  return {
    id: Number(github.run_id),
    name: github.workflow,
    display_title: github.workflow,
    path,
    workflow_id: 1,
    run_number: Number(github.run_number),
    run_attempt: Number(github.run_attempt),
    event: github.event_name,
    status,
    conclusion,
    head_branch: github.ref_name,
    head_sha: github.sha,
    head_repository: repository,
    repository,
    pull_requests: [],
    actor: USER,
    triggering_actor: USER,
    created_at: TIME,
    updated_at: TIME,
    run_started_at: TIME,
    html_url: `${github.server_url}/${github.repository}/actions/runs/${github.run_id}`,
    url: `${github.api_url}/repos/${github.repository}/actions/runs/${github.run_id}`,
  };
}

function describeRepository(full_name, login, server) {
  const name = full_name.slice(login.length + 1);
  return {
    id: 1,
    name,
    full_name,
    owner: { ...USER, login },
    private: true,
    fork: false,
    html_url: `${server}/${full_name}`,
  };
}

/** A review as the API lists it. */
export function describeReview(state, environment, github) {
  const url = `${github.api_url}/repos/${github.repository}/environments/${environment}`;
  const html_url = `${github.server_url}/${github.repository}/deployments`;
  return {
    state,
    comment: "",
    user: USER,
    environments: [{ id: 1, node_id: "1", name: environment, url, html_url, created_at: TIME, updated_at: TIME }],
  };
}
