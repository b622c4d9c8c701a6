// Tests `npm run keys` as an operator runs it: what it generates, where it writes the result, and that a production deployment accepts it.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash, createPrivateKey, createPublicKey } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { fromBase64, fromBase64Url } from "../../core/bytes.ts";
import { keyKinds, type KeyKind, parseSkey, parseVkey, formatVkey } from "../../core/ledger/note.ts";
import { parseAnchorPrivateKey } from "../../core/ledger/rekor.ts";
import { openKeysNamed, openNoteSigner } from "../../storage/note-keys.ts";
import { openSigner } from "../../storage/signer.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-keys-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ledger = "ledger.example.com/ledger/2026h2";
const audit = "api.example.com/audit/00";
const names = ["--ledger-origin", ledger, "--audit-origin", audit];

interface Public {
  readonly vars?: { readonly AUDIT_VKEY?: string; readonly LEDGER_VKEYS?: string };
  readonly logs: readonly { readonly origin: string; readonly vkey: string; readonly role: string }[];
  readonly witnesses: readonly string[];
  readonly issuer_keys: readonly object[];
  readonly anchor_keys: readonly { readonly spki: string; readonly spki_sha256: string }[];
}

const run = (...args: readonly string[]) => spawnSync(process.execPath, ["scripts/keys.ts", ...args], { encoding: "utf8" });
const parsePublicKeys = (text: string): Public => JSON.parse(text.slice(text.indexOf("\n{\n"), text.indexOf("\n}\n") + 2)) as Public;

const first = run(...names, "--json");
const secrets = JSON.parse(first.stdout) as Record<string, string>;
const published = parsePublicKeys(first.stderr);

const secretNames = [
  ...["MASTER_KEYS", "INDEX_KEY", "ISSUER_KEY", "LOG_SEED", "ANCHOR_KEY"],
  ...["LEDGER_WRITE_TOKEN", "LEDGER_AUDITOR_TOKEN"],
];

/** Returns the faults that `loadConfig` reports for production deployments with these secrets, one per line. */
const checkSettings = (...deployments: readonly Readonly<Record<string, string>>[]): string[] => {
  const settings = {
    ENVIRONMENT: "production",
    ...Object.fromEntries(["BASE_URL", "VERIFY_URL", "CDN_URL", "APP_URL"].map((name) => [name, "https://api.example.com"])),
    MCP_URL: "https://api.example.com/mcp",
    LEDGER_ORIGIN: ledger,
    MAIL_FROM: "no-reply@example.com",
    MAIL_TRANSPORT: "http",
    MAIL_HTTP_URL: "https://mail.example/send",
    MAIL_HTTP_TOKEN: "given by the mail provider",
  };
  const script = `import { loadConfig } from "./workers/env.ts";
    for (const env of JSON.parse(process.argv[1])) {
      try { loadConfig(env); console.log("fit to run"); } catch (error) { console.log(error.message); }
    }`;
  const envs = JSON.stringify(deployments.map((values) => ({ ...settings, ...values })));
  return execFileSync(process.execPath, ["--input-type=module", "-e", script, envs], { encoding: "utf8" }).trim().split("\n");
};

describe("npm run keys", () => {
  test("generates every key and prints only them as JSON to stdout", () => {
    expect(first.status).toBe(0);
    expect(Object.keys(secrets).sort()).toEqual([...secretNames].sort());
    expect(Object.values(secrets).filter((secret) => first.stderr.includes(secret))).toEqual([]);
  });

  test("generates keys that a production deployment accepts, each of which is required", () => {
    const needed = ["MASTER_KEYS", "INDEX_KEY", "ISSUER_KEY", "LOG_SEED", "LEDGER_WRITE_TOKEN"];
    const without = (name: string): Record<string, string> => Object.fromEntries(Object.entries(secrets).filter(([one]) => one !== name));
    const [complete, ...lacking] = checkSettings(secrets, ...needed.map(without));
    expect(complete).toBe("fit to run");
    expect(lacking).toEqual(needed.map((name) => `not configured to run: ${name}`));
  });

  test("generates different keys on every run", () => {
    const second = JSON.parse(run(...names, "--json").stdout) as Record<string, string>;
    expect(secretNames.filter((name) => second[name] === secrets[name])).toEqual([]);
  });

  test("generates 256 bits for each key", () => {
    expect(fromBase64(/^1:(.+)$/.exec(secrets.MASTER_KEYS ?? "")?.[1] ?? "")).toHaveLength(32);
    for (const name of ["INDEX_KEY", "ISSUER_KEY", "LOG_SEED"]) expect(fromBase64(secrets[name] ?? "")).toHaveLength(32);
    for (const name of ["LEDGER_WRITE_TOKEN", "LEDGER_AUDITOR_TOKEN"]) expect(fromBase64Url(secrets[name] ?? "")).toHaveLength(32);
    expect(parseAnchorPrivateKey(secrets.ANCHOR_KEY ?? "")?.number).toHaveLength(32);
  });

  test("publishes the keys that the service derives from the log seed", async () => {
    const derive = async (name: string, kind?: KeyKind): Promise<string | undefined> =>
      (await openKeysNamed({ secrets: "", logSeed: secrets.LOG_SEED }, name, kind)).map(({ key }) => formatVkey(key))[0];
    expect(published.logs.map(({ vkey }) => vkey)).toEqual([await derive(audit), await derive(ledger)]);
    expect(published.witnesses).toEqual([await derive("ledger.example.com/witness", keyKinds.witness)]);
  });

  test.each([
    ["LEDGER_KEY", ledger, keyKinds.log, ({ vars }: Public) => vars?.LEDGER_VKEYS],
    ["AUDIT_KEY", audit, keyKinds.log, ({ vars }: Public) => vars?.AUDIT_VKEY],
    ["LEDGER_WITNESS_KEY", "ledger.example.com/witness", keyKinds.witness, ({ witnesses }: Public) => witnesses[0]],
  ])("generates %s under the name %s with the public part to publish", async (secretName, name, kind, vkeyOf) => {
    const { stdout, stderr } = run(...names, "--only", secretName, "--json");
    const secret = (JSON.parse(stdout) as Record<string, string>)[secretName] ?? "";
    const formatVerifierKey = () => vkeyOf(parsePublicKeys(stderr));
    const { key } = await openNoteSigner(secret);
    expect(key).toMatchObject({ name, kind });
    expect(formatVkey(key)).toBe(formatVerifierKey());
    expect(parseVkey(formatVerifierKey() ?? "")).toEqual(key);
    expect(secret).toMatch(/^PRIVATE\+KEY\+[^+]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]+=*$/);
  });

  test("publishes the issuer key as certificates name it and the anchor key as Rekor records it", async () => {
    const signer = await openSigner(fromBase64(secrets.ISSUER_KEY ?? "") ?? new Uint8Array(0), []);
    expect(published.issuer_keys).toEqual(signer.publicKeys);
    const anchor = createPrivateKey({ key: Buffer.from(secrets.ANCHOR_KEY ?? "", "base64"), format: "der", type: "pkcs8" });
    const spki = createPublicKey(anchor).export({ type: "spki", format: "der" });
    const fingerprint = createHash("sha256").update(spki).digest("hex");
    expect(published.anchor_keys).toEqual([{ spki: spki.toString("base64"), spki_sha256: fingerprint }]);
    expect(published.logs.map(({ origin, role }) => [origin, role])).toEqual([
      [audit, "audit"],
      [ledger, "primary"],
    ]);
  });

  test("prints names and values to the terminal and writes no file", () => {
    const { stdout, stderr, status } = run(...names);
    expect(status).toBe(0);
    expect(stderr).toBe("");
    for (const name of secretNames) expect(stdout).toMatch(new RegExp(`^${name}=.{32}`, "m"));
  });

  test("writes a file readable only by its owner, and prints no key, when a file is named", () => {
    const path = join(folder, "secrets.json");
    const { stdout, stderr, status } = run(...names, "--out", path);
    expect(status).toBe(0);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const written = JSON.parse(readFileSync(path, "utf8")) as Record<string, string>;
    expect(Object.keys(written).sort()).toEqual([...secretNames].sort());
    expect(Object.values(written).filter((secret) => (stdout + stderr).includes(secret))).toEqual([]);
  });

  test("never replaces a file", () => {
    const path = join(folder, "kept.json");
    writeFileSync(path, "the only copy");
    for (const option of ["--out", "--ledger-out"]) {
      expect(run(...names, option, path)).toMatchObject({ status: 2, stdout: "" });
    }
    expect(readFileSync(path, "utf8")).toBe("the only copy");
  });

  test("writes nothing if both files are the same or a folder does not exist", () => {
    const path = join(folder, "same.json");
    expect(run(...names, "--out", path, "--ledger-out", path)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("must be different files"),
    });
    expect(run(...names, "--ledger-out", path, "--out", join(folder, "missing", "ours.json"))).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("does not exist"),
    });
    expect(existsSync(path)).toBe(false);
  });

  test("writes the keys of a ledger in another account to a separate file that shares only the write token", () => {
    const [ours, otherPath] = [join(folder, "ours.json"), join(folder, "theirs.json")];
    expect(run(...names, "--out", ours, "--ledger-out", otherPath).status).toBe(0);
    const [service, log] = [ours, otherPath].map((path) => JSON.parse(readFileSync(path, "utf8")) as Record<string, string>);
    expect(statSync(otherPath).mode & 0o777).toBe(0o600);
    expect(Object.keys(service ?? {}).filter((name) => name in (log ?? {}))).toEqual(["LEDGER_WRITE_TOKEN"]);
    expect(service?.LEDGER_WRITE_TOKEN).toBe(log?.LEDGER_WRITE_TOKEN);
    expect(Object.keys(log ?? {})).toContain("LEDGER_KEY");
    expect(Object.keys(service ?? {})).toContain("LOG_SEED");
  });

  test("generates a single key without the public parts of others", () => {
    const { stdout, stderr } = run("--only", "ISSUER_KEY", "--json");
    expect(Object.keys(JSON.parse(stdout))).toEqual(["ISSUER_KEY"]);
    expect(Object.keys(parsePublicKeys(stderr))).toEqual(["issuer_keys"]);
  });

  test("puts the keys of several audit logs into one secret", () => {
    const { stdout } = run(...names, "--audit-origin", "api.example.com/audit/0a", "--only", "AUDIT_KEY", "--json");
    const shards = (JSON.parse(stdout) as { AUDIT_KEY: string }).AUDIT_KEY.split(" ").map((secret) => parseSkey(secret)?.name);
    expect(shards).toEqual([audit, "api.example.com/audit/0a"]);
  });

  test.each([
    ["no names", []],
    ["a ledger with a scheme", ["--ledger-origin", "https://ledger.example.com/ledger", "--audit-origin", audit]],
    ["a ledger without a path", ["--ledger-origin", "ledger.example.com", "--audit-origin", audit]],
    ["an audit log without a shard", ["--ledger-origin", ledger, "--audit-origin", "api.example.com/audit"]],
    ["a shard twice", [...names, "--audit-origin", audit]],
    ["a witness with a space", [...names, "--witness-name", "a b/c"]],
    ["an unknown secret", [...names, "--only", "MASTER_KEY"]],
    ["an unknown option", [...names, "--print"]],
  ])("refuses to generate keys with %s", (_, args) => {
    const { status, stdout, stderr } = run(...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain("Usage: npm run");
  });
});
