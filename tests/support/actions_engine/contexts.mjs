// The contexts of a run that do not change while it goes on.

/** The context `inputs`, with the types that the workflow gives them; what GitHub would refuse is an error. */
export function givenInputs(events, { event, inputs }) {
  const names = Object.keys(events);
  if (!names.includes(event)) throw new Error(`the workflow is not started by ${event}, only by ${names.join(", ")}`);
  const declared = events[event]?.inputs ?? {};
  const unknown = Object.keys(inputs).filter((name) => !(name in declared));
  if (unknown.length) throw new Error(`Unexpected inputs provided: ${unknown.join(", ")}`);
  return Object.fromEntries(Object.entries(declared).map(([name, input]) => [name, typed(name, input, inputs[name])]));
}

function typed(name, { type = "string", default: usual, required, options }, given) {
  if (given === undefined && required && usual === undefined) throw new Error(`Required input '${name}' not provided`);
  const value = given ?? usual;
  if (type === "boolean") return value === true || value === "true";
  if (type === "number") return Number(value ?? 0);
  if (type === "choice" && value !== undefined && !options.includes(value)) {
    throw new Error(`Provided value '${value}' for input '${name}' not in the list of allowed values`);
  }
  return String(value ?? "");
}

/** The context `github` of all jobs. */
export function githubContext({ github, event, inputs, payload }, workflow, apiUrl) {
  const [owner] = github.repository.split("/");
  const name = workflow.name?.toString() ?? ".github/workflows/workflow.yml";
  const ref = github.ref ?? "refs/heads/main";
  return {
    actor: "octocat",
    triggering_actor: "octocat",
    repository_owner: owner,
    repository_id: "1",
    ref,
    ref_name: ref.replace(/^refs\/(heads|tags)\//, ""),
    ref_type: ref.startsWith("refs/tags/") ? "tag" : "branch",
    ref_protected: false,
    head_ref: "",
    base_ref: "",
    sha: "0123456789".repeat(4),
    run_attempt: "1",
    run_number: "1",
    server_url: "https://github.com",
    workflow: name,
    workflow_ref: `${github.repository}/.github/workflows/workflow.yml@${ref}`,
    retention_days: "90",
    ...github,
    event_name: event,
    event: payload ?? { inputs, ref },
    api_url: github.api_url ?? apiUrl,
    graphql_url: `${github.api_url ?? apiUrl}/graphql`,
  };
}

const NOT_VARIABLES = ["token", "event", "repositoryUrl", "secret_source"];

/** The variables of the environment that have the facts of the contexts `github` and `runner`. */
export function asVariables(github, runner) {
  const facts = Object.entries(github).filter(([name]) => !NOT_VARIABLES.includes(name));
  return Object.fromEntries([
    ...facts.map(([name, value]) => [`GITHUB_${name.toUpperCase()}`, String(value)]),
    ...Object.entries(runner).map(([name, value]) => [`RUNNER_${name.toUpperCase()}`, String(value)]),
  ]);
}
