// Tests POST /dev/faults, which makes a shard's database fail in development.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { journalOfClient } from "../../core/intake/journal-name.ts";
import type { ClientId, ShardId } from "../../core/ids.ts";
import { buildJsonRequest } from "../support/people.ts";
import {
  buildConsentRequest,
  buildSubmission,
  createEntryCall,
  createServiceCall,
  productionSettings,
  world,
  worldInSecondShard,
  type Call,
} from "../support/world.ts";

const hourMs = 3_600_000;

/**
 * Each test uses a new isolate, because after a fault, an isolate sends submissions to the journal for about a second. Tests in other files
 * must not use such an isolate.
 */
let call: Call;

const setFault = (mode: string, for_ms: number, database = "00") => call("/dev/faults", buildJsonRequest({ database, mode, for_ms }));

const countPurposes = async (purpose: string): Promise<number> =>
  (await env.DB.prepare("SELECT COUNT(*) AS n FROM purposes WHERE purpose = ?").bind(purpose).first<{ n: number }>())?.n ?? 0;

const countEntries = (): Promise<number> => {
  const journals = env.INTAKE_JOURNAL;
  const journal = journals.getByName(journalOfClient("00" as ShardId, world.acme.clients.live as ClientId));
  return runInDurableObject(journal, (_, { storage }) => storage.sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM entry").one().n);
};

beforeEach(() => {
  call = createServiceCall();
});
afterEach(async () => {
  vi.useRealTimers();
  expect((await setFault("hang", 0)).status).toBe(200);
  await expect.poll(countEntries, { timeout: 20_000 }).toBe(0);
});

/**
 * Issues certificates until one goes directly to the database. The first ones can go to the journal, because after a fault, submissions go
 * there until the journal is empty.
 */
const issueStored = async (): Promise<string> => {
  for (;;) {
    const { cert_id: certId } = (await call("/v1/consent", buildConsentRequest(buildSubmission()))).body.data;
    if ((await env.DB.prepare("SELECT 1 FROM certificates WHERE id = ?").bind(certId).first()) !== null) return certId;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};

describe("POST /dev/faults", () => {
  test("returns the time when the fault ends", async () => {
    const response = await setFault("reset", hourMs);
    expect([response.status, response.body.data.database, response.body.data.mode]).toEqual([200, "00", "reset"]);
    expect(Date.parse(response.body.data.until)).toBeGreaterThan(Date.now());
  });

  test.each(["hang", "reset"])("makes reads fail with 503 while the mode is %s, and ends with for_ms 0", async (mode) => {
    const certId = await issueStored();
    await setFault(mode, hourMs);
    const failed = await call(`/v1/certs/${certId}/verify`);
    expect([failed.status, failed.body.error.code]).toEqual([503, "storage_unavailable"]);
    await setFault(mode, 0);
    expect((await call(`/v1/certs/${certId}/verify`)).status).toBe(200);
  });

  test("delays successful responses by more than a second while the mode is slow", async () => {
    const certId = await issueStored();
    await setFault("slow", hourMs);
    const start = Date.now();
    expect((await call(`/v1/certs/${certId}/verify`)).status).toBe(200);
    expect(Date.now() - start).toBeGreaterThan(1_000); // the delay is 1.5 seconds
  });

  test("runs the statements but loses the response while the mode is lose_answer", async () => {
    await issueStored(); // fills the account cache, so that the next submission needs a single batch
    await setFault("lose_answer", hourMs);
    const purpose = "a purpose whose answer is lost";
    await call("/v1/consent", buildConsentRequest({ ...buildSubmission(), purpose }));
    expect(await countPurposes(purpose)).toBe(1);
  });

  test("does not affect the other shards", async () => {
    await setFault("reset", hourMs);
    const response = await call("/v1/consent", buildConsentRequest(buildSubmission(worldInSecondShard.acme)));
    expect(response.status).toBe(201);
  });

  test.each([
    { database: "zz", mode: "hang", for_ms: 1 },
    { database: "00", mode: "explode", for_ms: 1 },
    { database: "00", mode: "hang", for_ms: -1 },
    { database: "00", mode: "hang", for_ms: 1, more: true },
    null,
  ])("refuses %o", async (body) => {
    const response = await call("/dev/faults", buildJsonRequest(body));
    expect([response.status, response.body.error.code]).toEqual([400, "invalid_request"]);
  });

  test("stays ended when the clock is set back", async () => {
    await setFault("reset", hourMs);
    await setFault("reset", 0);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - hourMs });
    expect((await call("/health")).status).toBe(200);
  });

  test("does not exist in production", async () => {
    const production = createEntryCall(productionSettings, "https://api.svc.test");
    const response = await production("/dev/faults", buildJsonRequest({ database: "00", mode: "hang", for_ms: 1 }));
    expect(response.status).toBe(404);
  });
});
