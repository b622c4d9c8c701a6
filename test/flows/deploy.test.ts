// Runs the commands of docs/operate/deploy.md in a fresh clone, as printed, up to the point where an account is needed: keys, release, dry
// run. For commands that need an account, only checks that the tool has them.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const section = readFileSync("docs/operate/deploy.md", "utf8");
const commands = (/```sh\n([\s\S]*?)```/.exec(section)?.[1] ?? "")
  .split("\n")
  .map((line) => line.replace(/\s*#.*$/, ""))
  .filter((line) => line !== "");

const clone = mkdtempSync(join(tmpdir(), "svc-clone-"));
const notCloned = /(?:^|\/)(?:node_modules|dist|\.wrangler|\.git|\.dev\.vars|coverage|(?!icons)[^/]*\.gen\.ts)$/;

beforeAll(() => {
  // Preserves file times, because they show whether the installed packages match this lockfile.
  cpSync(".", clone, { recursive: true, preserveTimestamps: true, filter: (path) => !notCloned.test(path) });
  symlinkSync(resolve("node_modules"), join(clone, "node_modules"));
});
afterAll(() => rmSync(clone, { recursive: true, force: true }));

interface Ran {
  readonly status: number | null;
  readonly output: string;
}
const run = (command: string): Promise<Ran> =>
  new Promise((done) => {
    const env = { ...process.env, CI: "1", WRANGLER_SEND_METRICS: "false", CLOUDFLARE_API_TOKEN: "", CLOUDFLARE_ACCOUNT_ID: "" };
    const child = spawn("bash", ["-c", command], { cwd: clone, env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (output += String(part)));
    child.on("close", (status) => done({ status, output }));
  });

/** Replacements for commands that need the registry or an account. Null means that another command covers it. */
const replacements: Readonly<Record<string, string | null>> = {
  "npm ci": null, // the installed packages are linked instead
  "npx wrangler d1 create svc": "npx wrangler d1 create --help",
  "npx wrangler kv namespace create KV": "npx wrangler kv namespace create --help",
  "npx wrangler queues create svc-anchor-queue": "npx wrangler queues create --help",
  "npx wrangler secret bulk secrets.json": "npx wrangler secret bulk --help",
  "npm run migrate:remote": "npx wrangler d1 migrations apply --help",
  "npm run deploy": null, // covered by the release and the dry run
};

const printed = new Map<string, string>();

describe("docs/operate/deploy.md", () => {
  test("contains only commands that this test can run or replace", () => {
    const known = [...Object.keys(replacements), "npm run release", "npx wrangler deploy --dry-run"];
    expect(commands.filter((command) => !known.includes(command) && !command.startsWith("npm run --silent keys -- "))).toEqual([]);
    expect(known.filter((command) => !commands.includes(command))).toEqual([]);
  });

  test("works in a fresh clone with each command as printed", async () => {
    expect(existsSync(join(clone, "dist"))).toBe(false);
    const succeeds = async (command: string): Promise<void> => {
      const { status, output } = await run(command);
      expect(status, `${command}\n${output}`).toBe(0);
      printed.set(command, output);
    };
    const asked = Promise.all(Object.values(replacements).flatMap((command) => (command === null ? [] : [succeeds(command)])));
    for (const command of commands.filter((one) => !(one in replacements))) await succeeds(command);
    await asked;
    expect(existsSync(join(clone, "dist/assets/v1/svc.js"))).toBe(true);
  }, 180_000);

  const toml = readFileSync("wrangler.toml", "utf8");
  const vars = Object.fromEntries(
    [...(toml.split("\n[vars]\n")[1]?.split("\n[")[0] ?? "").matchAll(/^([A-Z_]+) = "([^"]*)"/gm)].map(([, name, value]) => [name, value]),
  ) as Record<string, string>;
  const required = JSON.parse(/^required = (\[.*\])$/m.exec(toml)?.[1] ?? "[]") as string[];
  const generated = (): Record<string, string> => JSON.parse(readFileSync(join(clone, "secrets.json"), "utf8"));

  test("generates and lists every secret that the deployment needs", () => {
    expect(required.length).toBeGreaterThan(4);
    expect(required.filter((name) => !(name in generated()))).toEqual([]);
    expect(required.filter((name) => !section.includes(name))).toEqual([]);
  });

  test("names only existing settings", () => {
    const optional = ["MAIL_HTTP_TOKEN", "EMAIL", "DEV_"]; // one transport's secret, a binding, a prefix
    const named = new Set([...section.matchAll(/`([A-Z][A-Z_]+)`|\b([A-Z]+_[A-Z_]+)\b/g)].map(([, quoted, plain]) => quoted ?? plain));
    const there = [...Object.keys(vars), ...required, ...optional];
    expect([...named].filter((name) => !there.includes(name as string))).toEqual([]);
    for (const name of optional) expect(readFileSync("workers/env.ts", "utf8")).toContain(name);
  });

  /** Returns the environment in which the Worker starts with these settings, or the reason why it does not start. */
  const started = (settings: object): string => {
    const program = `import { loadConfig } from "./workers/env.ts"; process.stdout.write(loadConfig(JSON.parse(process.env.SETTINGS)).environment)`;
    const env = { ...process.env, SETTINGS: JSON.stringify(settings) };
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { cwd: clone, env, encoding: "utf8" });
    return stdout === "" ? stderr : stdout;
  };

  test("results in valid settings once the email transport is set", () => {
    const output = [...printed].find(([command]) => command.includes(" keys "))?.[1] ?? "";
    const auditVkey = /"AUDIT_VKEY": "([^"]+)"/.exec(output)?.[1];
    const mail = { MAIL_TRANSPORT: "http", MAIL_HTTP_URL: "https://mail.example.com/send", MAIL_HTTP_TOKEN: "a token of the mail service" };
    const settings = { ...vars, ...generated(), AUDIT_VKEY: auditVkey };
    expect(started({ ...settings, ...mail })).toBe("production");
    expect(started(settings)).toContain("not configured to run: MAIL_TRANSPORT");
  });
});
