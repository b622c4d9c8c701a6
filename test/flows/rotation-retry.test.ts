// Tests key rotations under bad conditions: an upload that fails at first, and an operator's machine with a wrong clock. Signatures that
// the service makes in the meantime must stay valid.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isKeyInUse, parseKeyWithValidity } from "../../core/ledger/key-validity.ts";
import { parseLogSeeds } from "../../core/ledger/log-seed.ts";
import { dayMs, toIso } from "../../core/time.ts";
import type { Secrets } from "../../scripts/deploy/secrets.ts";
import { runRotation, type RotationOptions } from "../../scripts/keys/rotate.ts";
import { createProcessStoredCall, createServiceClock } from "../../scripts/keys/service-calls.ts";

const startedAt = Date.UTC(2026, 10, 28, 12);
const repeatedAt = startedAt + dayMs;

/** Returns the options of a rotation whose uploads fail until `repeatedAt`, and its state: the secrets in the file and in the service. */
const createDeployment = (secrets: Secrets) => {
  const folder = mkdtempSync(join(tmpdir(), "svc-rotation-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const state = { file: secrets, service: secrets, now: startedAt };
  const options: RotationOptions = {
    statePath: join(folder, "test.rotation.json"),
    store: {
      read: () => state.file,
      write: (changed) => {
        state.file = changed;
      },
      publish: async (changed) => {
        if (state.now < repeatedAt) throw new Error("wrangler is not signed in");
        state.service = { ...state.service, ...changed };
      },
    },
    processStored: () => Promise.reject(new Error("this rotation changes no stored values")),
    now: () => state.now,
    report: () => {},
  };
  return { options, state };
};

/**
 * Starts a service whose clock shows `time`, and returns the root URL of its API. If the service is not healthy, only its Date header
 * contains the time.
 */
const startServiceAt = async (time: number, isHealthy = true): Promise<string> => {
  const body = JSON.stringify({ ok: true, data: { status: "ok", time: toIso(time) }, request_id: "req_1" });
  const server = createServer((_, response) => {
    response.setHeader("date", new Date(time).toUTCString());
    if (isHealthy) response.end(body);
    else response.writeHead(503, { "content-type": "text/html" }).end("<h1>503</h1>");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
};

test("says that the service does not respond, or that it returns an error without JSON", async () => {
  const processStored = (api: string) => createProcessStoredCall(api, () => "token")("master", null, false);
  await expect(processStored("http://127.0.0.1:9/v1")).rejects.toThrow("http://127.0.0.1:9/v1 does not respond. Start the service");
  await expect(processStored(await startServiceAt(startedAt, false))).rejects.toThrow("returned 503");
});

const createKey = (fill: number): string => Buffer.alloc(32, fill).toString("base64");

test("keeps the earlier issuer key valid if the upload fails and is repeated a day later", async () => {
  const { options, state } = createDeployment({ ISSUER_KEY: createKey(1) });
  await expect(runRotation("issuer", options)).rejects.toThrow("not signed in");
  const prepared = state.file.ISSUER_KEY;
  state.now = repeatedAt;
  expect(await runRotation("issuer", options)).toBe(true);
  expect(state.service).toEqual(state.file);
  expect(state.service.ISSUER_KEY).toBe(prepared);
  const retired = parseKeyWithValidity(state.service.RETIRED_ISSUER_KEYS ?? "");
  expect(retired !== null && isKeyInUse(retired, toIso(repeatedAt))).toBe(true);
  expect(String(state.service.ISSUER_KEY_FROM) <= toIso(repeatedAt)).toBe(true);
});

test("keeps the earlier log keys valid if the upload fails and is repeated a day later", async () => {
  const { options, state } = createDeployment({ LOG_SEED: `${createKey(1)} ${createKey(2)}` });
  const firstUpload = { ...options, store: { ...options.store, publish: async () => {} } };
  state.now = startedAt - 31 * dayMs;
  expect(await runRotation("logs", firstUpload)).toBe(false);
  state.now = startedAt;
  await expect(runRotation("logs", options)).rejects.toThrow("not signed in");
  state.now = repeatedAt;
  expect(await runRotation("logs", options)).toBe(true);
  const ends = (parseLogSeeds(state.service.LOG_SEED) ?? []).map(({ validTo }) => validTo ?? null);
  expect(ends).toHaveLength(3);
  for (const end of ends.slice(0, 2)) expect(String(end) > toIso(repeatedAt)).toBe(true);
});

test("takes the validity of issuer keys from the service's clock if the operator's clock is ten days ahead", async () => {
  const serviceTime = Date.now() - 10 * dayMs;
  const { options, state } = createDeployment({ ISSUER_KEY: createKey(1) });
  state.now = repeatedAt;
  expect(await runRotation("issuer", { ...options, now: await createServiceClock(await startServiceAt(serviceTime), () => {}) })).toBe(
    true,
  );
  expect(Date.parse(state.service.ISSUER_KEY_FROM ?? "")).toBeLessThan(serviceTime);
  const retired = parseKeyWithValidity(state.service.RETIRED_ISSUER_KEYS ?? "");
  expect(Date.parse(retired?.validTo ?? "") - serviceTime).toBeLessThan(dayMs);
  expect(retired !== null && isKeyInUse(retired, toIso(serviceTime))).toBe(true);
});

test("takes the time from the Date header if the service is not healthy", async () => {
  const serviceTime = Date.now() - 10 * dayMs;
  const now = await createServiceClock(await startServiceAt(serviceTime, false), () => {});
  expect(now() - serviceTime).toBeLessThan(dayMs);
});

test("uses the operator's clock, and says so, if the service does not respond", async () => {
  const printed: string[] = [];
  expect(await createServiceClock("http://127.0.0.1:9/v1", (line) => printed.push(line))).toBe(Date.now);
  expect(printed).toEqual(["http://127.0.0.1:9/v1 did not return its time. The validity of keys is taken from this machine's clock."]);
});

test("makes the new issuer key valid for the receipts of a withdrawal that was requested before the rotation", async () => {
  const { options, state } = createDeployment({ ISSUER_KEY: createKey(1) });
  state.now = repeatedAt;
  expect(await runRotation("issuer", options)).toBe(true);
  const validFrom = state.service.ISSUER_KEY_FROM ?? "";
  expect(isKeyInUse({ validFrom }, toIso(repeatedAt - dayMs))).toBe(true);
});
