// Runs the operator command `npm run admin` against a local service, as docs/operate/admin-commands.md describes it.
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { unstable_readConfig } from "wrangler";
import { sha256Hex } from "../../core/hash.ts";
import { addShard } from "../../scripts/add-shard.ts";
import { startServiceForFile } from "../support/local-service.ts";
import { signInToOrigin } from "../support/local-session.ts";

const token = "token-of-the-operator-in-the-tests-of-43-ch";
const service = await startServiceForFile({ ADMIN_TOKEN_SHA256: sha256Hex(token) });

interface Ended {
  readonly code: number;
  readonly output: string;
}
const runAdmin = async (words: readonly string[], secret = token, url = `${service.origin}/v1`): Promise<Ended> => {
  const env = { ...process.env, ADMIN_URL: url, ADMIN_TOKEN: secret };
  try {
    return { code: 0, output: (await promisify(execFile)(process.execPath, ["scripts/admin.ts", ...words], { env })).stdout };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: stdout + stderr };
  }
};

test("approves, suspends and closes a business and changes its plan, with immediate effect", async () => {
  const { id, keys } = service.world.examples.free;
  const getListingError = async (): Promise<string> => {
    const response = await fetch(`${service.origin}/v1/certs`, { headers: { authorization: `Bearer ${keys.live}` } });
    const { error } = (await response.json()) as { error?: { code: string } };
    return `${response.status} ${error?.code ?? "ok"}`;
  };
  const readShown = async (): Promise<unknown> => JSON.parse((await runAdmin(["show", id])).output);
  expect(await readShown()).toEqual({ id, status: "active", plan: "free" });
  for (const [words, status, plan, outcome] of [
    [["suspend", id], "suspended", "free", "402 business_suspended"],
    [["unsuspend", id], "active", "free", "200 ok"],
    [["plan", id, "enterprise"], "active", "enterprise", "200 ok"],
    [["close", id], "closed", "enterprise", "402 business_inactive"],
    [["approve", id], "active", "enterprise", "200 ok"],
  ] as const) {
    expect(JSON.parse((await runAdmin(words)).output)).toEqual({ id, status, plan });
    expect(await getListingError()).toBe(outcome);
  }
});

test("lists stuck work and the size of each shard", async () => {
  const { stuck, shards } = JSON.parse((await runAdmin(["stuck"])).output) as {
    stuck: unknown[];
    shards: { bytes: number; max_bytes: number }[];
  };
  expect(stuck).toEqual([]);
  expect(shards.length).toBeGreaterThan(0);
  for (const { bytes, max_bytes: maxBytes } of shards) expect([bytes > 0, bytes < maxBytes]).toEqual([true, true]);
});

test("lists the shards, closes one and opens it again", async () => {
  const [first] = JSON.parse((await runAdmin(["shards"])).output) as object[];
  expect(first).toEqual({ shard: "00", state: "open", bytes: expect.any(Number), max_bytes: 10_000_000_000, next: true, available: true });
  for (const [action, state] of [
    ["close", "closed"],
    ["open", "open"],
  ] as const) {
    expect(JSON.parse((await runAdmin(["shards", action, "00"])).output)).toEqual({ shard: "00", state });
    expect(JSON.parse((await runAdmin(["shards"])).output)).toMatchObject([{ shard: "00", state, next: true, available: true }]);
  }
  expect(await runAdmin(["shards", "close", "zz"])).toMatchObject({ code: 1, output: expect.stringContaining("404 not_found") });
});

test("adds the next free shard, or the given one, to the configuration, and refuses one that is bound or malformed", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-add-shard-"));
  const path = join(folder, "wrangler.toml");
  cpSync("wrangler.toml", path);
  const readDatabases = (): readonly { readonly binding: string; readonly database_name: string; readonly database_id: string }[] =>
    unstable_readConfig({ config: path }).d1_databases;
  const listBindings = (): readonly string[] => readDatabases().map(({ binding }) => binding);
  try {
    const before = listBindings();
    expect([addShard(path, undefined), addShard(path, "0a"), addShard(path, undefined)]).toEqual(["01", "0a", "02"]);
    expect(listBindings()).toEqual([...before, "DB_01", "DB_0a", "DB_02"]);
    expect(readDatabases().map(({ database_name: name }) => name)).toEqual(["svc", "svc-db-01", "svc-db-0a", "svc-db-02"]);
    const ids = readDatabases().map(({ database_id: databaseId }) => databaseId);
    expect(new Set(ids).size).toBe(ids.length); // with equal IDs, two shards would share a database
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(() => addShard(path, "0a")).toThrow("already binds shard 0a");
    expect(() => addShard(path, "00")).toThrow("already binds shard 00");
    expect(() => addShard(path, "o1")).toThrow("two characters");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("completes a removal, which creates its affidavit as a PDF", async () => {
  const email = "patricia@removal.example";
  const cookie = await signInToOrigin(service.origin, email, "consumer");
  await service.database.prepare("UPDATE consumers SET plan = 'white_glove'").bind().run();
  const requested = await fetch(`${service.origin}/v1/me/removals`, {
    method: "POST",
    headers: { cookie, origin: service.origin, "content-type": "application/json" },
    body: JSON.stringify({ authorize: true, targets: ["spokeo"] }),
  });
  const { data } = (await requested.json()) as { data: { id: string } };
  expect(JSON.parse((await runAdmin(["removal", data.id, "spokeo=completed"])).output)).toMatchObject({ id: data.id, status: "completed" });
  const affidavit = await fetch(`${service.origin}/v1/me/removals/${data.id}/affidavit`, { headers: { cookie } });
  expect(affidavit.headers.get("content-type")).toBe("application/pdf");
  expect(Buffer.from(await affidavit.arrayBuffer()).toString("latin1")).toMatch(/^%PDF-.*%%EOF\s*$/s);
});

test.each([
  ["an unknown command", ["aprove", "biz_00nobody"]],
  ["a missing ID", ["close"]],
  ["a second business", ["suspend", "biz_00nobody", "biz_00nobody"]],
  ["a second shard", ["shards", "close", "zz", "zz"]],
  ["an argument of a command without arguments", ["stuck", "00"]],
  ["a removal target with two statuses", ["removal", "rmv_00000000000000000000000000", "spokeo=completed=rejected"]],
  ["an incident without text", ["incident", "open", "degraded", "email", "Emails are late"]],
  ["a removal target without a status", ["removal", "rmv_00000000000000000000000000", "spokeo"]],
])("prints the usage and exits with 2 for %s", async (_, words) => {
  expect(await runAdmin(words)).toMatchObject({ code: 2, output: expect.stringContaining("Usage: npm run admin") });
});

test("accepts a slash at the end of ADMIN_URL, and says what is wrong with one that is not a URL", async () => {
  expect(await runAdmin(["incidents"], token, `${service.origin}/v1/`)).toMatchObject({ code: 0 });
  for (const url of ["", "api.example.com/v1"])
    expect(await runAdmin(["incidents"], token, url)).toMatchObject({
      code: 1,
      output: "ADMIN_URL must be the root of the API, such as https://api.example.com/v1.\n",
    });
});

test("prints the error and exits with 1 when the service refuses, and generates a token with its hash", async () => {
  expect(await runAdmin(["show", "biz_00nobody"])).toMatchObject({ code: 1, output: expect.stringContaining("404 not_found") });
  expect(await runAdmin(["stuck"], "wrong")).toMatchObject({ code: 1, output: expect.stringContaining("401 unauthorized") });
  const generated = (await runAdmin(["token"])).output;
  const [, secret = "", hash] = /^ADMIN_TOKEN=(\S+)\nADMIN_TOKEN_SHA256=(\S+)\n$/.exec(generated) ?? [];
  expect(sha256Hex(secret)).toBe(hash);
});
