// Starts `rdc lsp` for the documents that rdc reads, and shows their flow.
import { dirname } from "node:path";
import { Uri, commands, languages, window, workspace } from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

const FILES = [
  "**/*.runbook.md",
  "**/*.playbook.md",
  "**/PLAYBOOK.md",
  "**/*.workflow.{yaml,yml}",
  "**/*.stepspec.{yaml,yml,json}",
  "**/*.program.json",
  "**/rdc.toml",
];
const documentSelector = FILES.map((pattern) => ({ scheme: "file", pattern }));
const command = () => workspace.getConfiguration("rdc").get("path") || "rdc";
let client;

async function start() {
  const server = { command: command(), args: ["lsp"] };
  client = new LanguageClient("rdc", "rdc", server, { documentSelector });
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const help = "Install rdc with its extra `lsp`, or set `rdc.path` in the user settings.";
    window.showErrorMessage(`\`${server.command} lsp\` doesn't start: ${error.message}. ${help}`);
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop().catch(() => {}); // a server that has failed can't be stopped
}

async function restart() {
  await stop();
  await start();
}

function showFlow(uri) {
  const file = uri ? Uri.parse(uri).fsPath : window.activeTextEditor?.document.fileName;
  if (!file) return;
  const name = `rdc view ${file}`;
  window.terminals.find((one) => one.name === name)?.dispose(); // the page of an earlier click
  window.createTerminal({ name, cwd: dirname(file), shellPath: command(), shellArgs: ["view", "--open", file] }).show();
}

export function activate({ subscriptions }) {
  let started = false; // Markdown is everywhere, so the first of rdc's own documents starts the server
  const open = (document) => {
    if (started || !languages.match(documentSelector, document)) return;
    started = true;
    start();
  };
  subscriptions.push(
    commands.registerCommand("rdc.showFlow", showFlow),
    commands.registerCommand("rdc.restart", restart),
    workspace.onDidOpenTextDocument(open),
    workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("rdc.path") && started && restart()),
  );
  workspace.textDocuments.forEach(open);
}

export const deactivate = stop;
