// Checks that every promised code arrives and every session stays valid even though processes are killed, and that the service's files do
// not reveal who the people are.
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startKillableService, type KillableService } from "../support/killable-service.ts";
import { ensureBuiltWorker } from "../support/local-service.ts";
import { findNewestCode } from "../support/email-code.ts";

const state = mkdtempSync(join(tmpdir(), "svc-people-"));
let bundle = "";
const people = 40;

let service: KillableService | null = null;

const start = async (): Promise<KillableService> => {
  service = await startKillableService("runtime-child", state, bundle);
  return service;
};

const post = (url: string, path: string, body: object): Promise<Response> =>
  fetch(`${url}/v1/auth/${path}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
const createEmail = (at: number): string => `person-${at}@kill-test.example`;
const listDatabases = (): string[] => globSync(join(state, "v3", "d1", "**", "*.sqlite"));

/** Releases emails that a killed sender had claimed. Otherwise they would be released only after a minute. */
const endLeases = (): void => {
  for (const file of listDatabases()) {
    const database = new DatabaseSync(file);
    const isOurs = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'mail_outbox'").get() !== undefined;
    if (isOurs) database.exec("UPDATE mail_outbox SET next_at = 0");
    database.close();
  }
};

beforeAll(async () => {
  bundle = await ensureBuiltWorker();
});
afterAll(async () => {
  await service?.kill(); // a failed test may have left a process running
  rmSync(state, { recursive: true, force: true });
});

test("delivers every promised code and keeps every session across SIGKILL", { timeout: 120_000 }, async () => {
  let { url, kill } = await start();
  const promised: string[] = [];
  let alive = true;
  const asking = Array.from({ length: people }, async (_, at) => {
    await new Promise((resolve) => setTimeout(resolve, at * 10));
    const response = await post(url, "request-code", { email: createEmail(at), realm: "consumer" }).catch(() => null);
    if (alive && response?.status === 200) promised.push(createEmail(at));
  });
  while (promised.length < people / 2) await new Promise((resolve) => setTimeout(resolve, 5));
  await kill();
  alive = false;
  await Promise.all(asking);
  expect(promised.length).toBeGreaterThanOrEqual(people / 2);

  endLeases();
  ({ url, kill } = await start());
  expect((await fetch(`${url}/cdn-cgi/local/scheduled?cron=*+*+*+*+*`)).ok).toBe(true);
  const sessions: { readonly email: string; readonly cookie: string; readonly code: string }[] = [];
  for (const email of promised) {
    const { messages } = (await (await fetch(`${url}/dev/mail?to=${email}`)).json()) as { messages: { text: string }[] };
    const code = findNewestCode(messages) ?? "";
    const response = await post(url, "verify-code", { email, code, realm: "consumer" });
    expect(response.status, email).toBe(200);
    sessions.push({ email, code, cookie: (response.headers.get("set-cookie") ?? "").split(";")[0] as string });
  }
  await kill();

  const onDisk = globSync(join(state, "v3", "**", "*.sqlite*")).map((file) => readFileSync(file, "latin1"));
  expect(onDisk.length).toBeGreaterThan(2);
  for (const { cookie } of sessions) {
    const secrets = ["kill-test.example", cookie.split("=")[1] as string, "Here is your code"];
    expect(secrets.filter((secret) => onDisk.some((contents) => contents.includes(secret)))).toEqual([]);
  }

  ({ url, kill } = await start());
  for (const { email, cookie, code } of sessions) {
    const response = await fetch(`${url}/v1/auth/session`, { headers: { cookie } });
    const { data } = (await response.json()) as { data: { user: { email: string } } };
    expect([response.status, data.user.email]).toEqual([200, email]);
    expect((await post(url, "verify-code", { email, code, realm: "consumer" })).status).toBe(400);
  }
  await kill();
});
