// Tests that a failing ledger never affects issuing, and that everything is anchored exactly once when the ledger recovers.
import { openShards } from "../../storage/shards.ts";
import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { firstShard } from "../../core/ids.ts";
import type { LedgerAdapter } from "../../core/ledger/adapter.ts";
import { minuteMs, secondMs } from "../../core/time.ts";
import type { SendRequest } from "../../workers/adapters/exchange.ts";
import { retryParkedAnchors } from "../../workers/background/parked-anchors.ts";
import { submitAnchors } from "../../workers/background/anchoring.ts";
import { runScheduledJobs } from "../../workers/background/schedule.ts";
import worker from "../../workers/index.ts";
import { basePlatform, openNamedLedger, createPlatformWith } from "../support/anchoring.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { deleteStatements, listStatements, type StatementRow } from "../support/statements.ts";
import { submitConsent, getWithKey, issueCertificate, buildSubmission } from "../support/world.ts";

const { ledger } = basePlatform.config;

const anchors = listStatements;

const anchorOf = async (certId: string): Promise<StatementRow> => {
  const row = (await anchors()).find(({ entity_id }) => entity_id === certId);
  if (row === undefined) throw new Error("no statement");
  return row;
};

const readFork = async (): Promise<string | null> =>
  (await env.DB.prepare("SELECT fork FROM ledger_state").first<{ fork: string | null }>())?.fork ?? null;

/** Each test uses its own ledger object. */
let logName = "";
const sendToRealLedger: SendRequest = (request) => openNamedLedger(logName)(request);

const neverRespond: SendRequest = (request) =>
  new Promise((_, reject) => {
    request.signal.addEventListener("abort", () => reject(new Error("aborted")));
  });

beforeEach(async () => {
  logName = crypto.randomUUID();
  await deleteStatements();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Issues certificates whose statements stay pending. Queue messages are dropped, so that only the test submits the statements. */
const issueWaiting = async (count: number): Promise<string[]> => {
  const silent = vi.spyOn(basePlatform as { requestAnchoring: () => Promise<void> }, "requestAnchoring").mockResolvedValue();
  const receipts = [];
  for (let n = 0; n < count; n += 1) receipts.push(await issueCertificate());
  await waitUntilSettled(); // also waits for the follow-up work that the requests share
  silent.mockRestore();
  return receipts.map(({ cert_id }) => cert_id);
};

describe("a healthy ledger", () => {
  test("takes due statements, oldest first, and the certificate shows the receipt", async () => {
    const ids = await issueWaiting(3);
    await submitAnchors(createPlatformWith(sendToRealLedger));
    const rows = await anchors();
    expect(rows.map(({ status }) => status)).toEqual(["anchored", "anchored", "anchored"]);
    expect(rows.map(({ tx_ref }) => tx_ref)).toEqual([0, 1, 2].map((index) => `${ledger.origin}#${index}`));
    const { anchor } = (await getWithKey(`/v1/certs/${ids[1]}/verify`)).body.data;
    expect(anchor).toMatchObject({ status: "anchored", event: "certificate.issued", leaf_index: "1", tree_size: "3" });
    expect(anchor.inclusion_proof).toHaveLength(2);
    expect(anchor.tlog_proof).toMatch(/^c2sp\.org\/tlog-proof@v1\nindex 1\n/);
  });

  test("gives one receipt per row to concurrent workers (O4)", async () => {
    await issueWaiting(12);
    const platform = createPlatformWith(sendToRealLedger);
    await Promise.all(Array.from({ length: 5 }, () => submitAnchors(platform)));
    const rows = await anchors();
    expect(rows.every(({ status }) => status === "anchored")).toBe(true);
    expect(new Set(rows.map(({ tx_ref }) => tx_ref)).size).toBe(12);
  });
});

describe("two runs at the same time", () => {
  /** Delays a run's submission until a second run has finished. Then `respond` responds to the first run's submission. */
  const overtakeRun = async (respond: SendRequest): Promise<void> => {
    const isSent = Promise.withResolvers<void>();
    const isOvertaken = Promise.withResolvers<void>();
    const slow = submitAnchors(
      createPlatformWith(async (request) => {
        if (!request.url.endsWith("/add-batch")) return respond(request);
        isSent.resolve();
        await isOvertaken.promise;
        return respond(request);
      }),
    );
    await isSent.promise;
    await submitAnchors(createPlatformWith(sendToRealLedger));
    isOvertaken.resolve();
    await slow;
  };

  test.each<readonly [string, SendRequest]>([
    ["succeeds", (request) => sendToRealLedger(request)],
    ["fails", async () => Promise.reject(new Error("Network connection lost."))],
  ])("store the results of the faster one, even if the slower one %s later", async (_, respond) => {
    await issueWaiting(2);
    await overtakeRun(respond);
    expect((await anchors()).map(({ status, attempts, tx_ref }) => [status, attempts, tx_ref])).toEqual([
      ["anchored", 0, `${ledger.origin}#0`],
      ["anchored", 0, `${ledger.origin}#1`],
    ]);
    expect(await env.DB.prepare("SELECT count(*) AS n FROM receipts").first("n")).toBe(1);
    expect(await env.DB.prepare("SELECT failures FROM ledger_state").first("failures")).toBe(0);
  });

  /**
   * Returns a database that resolves `isReached` when a run is about to store its results, and holds that run until `release` resolves.
   */
  const delayStoring = (isReached: PromiseWithResolvers<void>, release: PromiseWithResolvers<void>): D1Database => {
    const wrap = (statement: D1PreparedStatement): D1PreparedStatement =>
      new Proxy(statement, {
        get: (target, key) => {
          const member = Reflect.get(target, key) as (...args: readonly unknown[]) => unknown;
          if (key === "bind") return (...values: readonly unknown[]) => wrap(member.apply(target, [...values]) as D1PreparedStatement);
          if (key !== "run" && key !== "raw" && key !== "all") return member.bind(target);
          return async () => {
            isReached.resolve();
            await release.promise;
            return member.call(target);
          };
        },
      });
    return new Proxy(env.DB, {
      get: (target, key) => {
        const member = Reflect.get(target, key) as (...args: readonly unknown[]) => unknown;
        if (key !== "prepare") return member.bind(target);
        return (text: string) => (/^insert into "ledger_state"/.test(text) ? wrap(target.prepare(text)) : target.prepare(text));
      },
    });
  };

  test("submit a statement that the faster one had not listed", async () => {
    await issueWaiting(1);
    await submitAnchors(createPlatformWith(sendToRealLedger));
    await env.DB.prepare(
      "INSERT INTO changes (id, type, entity_type, entity_id, at) VALUES ('x', 'account.updated', 'business', 'b', 1)",
    ).run();
    const isReached = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const shards = openShards({ ...env, DB: delayStoring(isReached, release) });
    const faster = submitAnchors({ ...createPlatformWith(sendToRealLedger), shards });
    await isReached.promise;
    await issueWaiting(1);
    const slower = submitAnchors(
      createPlatformWith(async (request) => {
        release.resolve();
        await faster;
        return sendToRealLedger(request);
      }),
    );
    await Promise.all([faster, slower]);
    expect((await anchors()).map(({ status }) => status)).toEqual(["anchored", "anchored"]);
  });
});

describe("a ledger that prepares its own request, as Rekor does", () => {
  test("anchors an issuance in the first run", async () => {
    const [certId] = await issueWaiting(1);
    const platform = createPlatformWith(sendToRealLedger);
    const [tlog] = platform.ledgersOf(firstShard);
    if (tlog === undefined) throw new Error("the platform has no ledger");
    const preparing: LedgerAdapter = {
      ...tlog,
      prepare: async ({ prepared, statement }) => prepared ?? `${statement} `,
      submit: (submissions, seen, signal) =>
        tlog.submit(
          submissions.map((each) => ({ ...each, prepared: each.statement })),
          seen,
          signal,
        ),
    };
    await submitAnchors({ ...platform, ledgersOf: () => [preparing] });
    expect((await getWithKey(`/v1/certs/${certId}/verify`)).body.data.anchor).toMatchObject({ status: "anchored" });
    expect((await anchors()).map(({ status, attempts }) => [status, attempts])).toEqual([["anchored", 0]]);
  });
});

describe("a failing or dishonest ledger", () => {
  const respondWithGarbage =
    (status: number, body: string): SendRequest =>
    async () =>
      new Response(body, { status });
  const faults: readonly (readonly [string, SendRequest])[] = [
    ["returns 500", respondWithGarbage(500, "no")],
    ["resets the connection", async () => Promise.reject(new Error("Network connection lost."))],
    ["returns garbage", respondWithGarbage(200, "{]")],
    ["redirects to another host", async () => new Response(null, { status: 302, headers: { location: "https://example.com/" } })],
  ];
  test.each(faults)("that %s leaves certificates issued and their statements waiting (O1)", async (_, through) => {
    const [id] = await issueWaiting(1);
    await submitAnchors(createPlatformWith(through));
    const row = await anchorOf(id as string);
    expect(row).toMatchObject({ status: "pending", attempts: 1, tx_ref: null });
    expect(row.next_at).toBeGreaterThan(Date.now());
    expect((await submitConsent(buildSubmission())).status).toBe(201);
    expect((await getWithKey(`/v1/certs/${id}/verify`)).body.data.anchor).toEqual({
      status: "pending",
      event: "certificate.issued",
      entry_hash: expect.any(String),
      statement: expect.any(String),
      ledger: ledger.id,
    });
  });

  test("is abandoned after ten seconds per call when it hangs (O1)", async () => {
    const [id] = await issueWaiting(1);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const requested = Promise.withResolvers<void>();
    let isOver = false;
    const submitted = submitAnchors(
      createPlatformWith((request) => {
        requested.resolve();
        return neverRespond(request);
      }),
    ).finally(() => {
      isOver = true;
    });
    await requested.promise;
    await vi.advanceTimersByTimeAsync(10 * secondMs - 1);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await submitted;
    expect(await anchorOf(id as string)).toMatchObject({ status: "pending", last_error: "timeout" });
  });

  test("is not believed when it returns the index of another entry (O1)", async () => {
    await issueWaiting(2);
    const respondWithWrongIndices: SendRequest = async (request) => {
      const response = await sendToRealLedger(request);
      return request.url.endsWith("/add-batch") ? Response.json({ indices: ["1", "0"] }) : response;
    };
    await submitAnchors(createPlatformWith(respondWithWrongIndices));
    expect((await anchors()).map(({ status, tx_ref }) => [status, tx_ref])).toEqual([
      ["pending", null],
      ["pending", null],
    ]);
  });

  test("is not believed when another key signed its checkpoint (O1)", async () => {
    await issueWaiting(1);
    const platform = createPlatformWith(async (request) => {
      const response = await sendToRealLedger(request);
      if (!request.url.endsWith("/checkpoint")) return response;
      return new Response((await response.text()).replace(/(— [^ ]+ ).{10}/, "$1AAAAAAAAAA"));
    });
    await submitAnchors(platform);
    expect((await anchors())[0]).toMatchObject({ status: "pending", tx_ref: null });
  });

  test("is queried again, and not treated as forked, when its tiles are too short", async () => {
    await issueWaiting(2);
    await submitAnchors(createPlatformWith(sendToRealLedger));
    await issueWaiting(1);
    const short = createPlatformWith(async (request) => (request.url.includes("/tile/") ? new Response("") : sendToRealLedger(request)));
    await submitAnchors(short);
    expect((await anchors()).at(-1)).toMatchObject({ status: "pending", last_error: "tile_malformed" });
    expect(await readFork()).toBeNull();
  });

  test("is queried again, and not treated as forked, when its tiles are garbage of the right length", async () => {
    await issueWaiting(2);
    await submitAnchors(createPlatformWith(sendToRealLedger));
    await issueWaiting(1);
    let now = Date.now();
    const garbled = createPlatformWith(
      async (request) => {
        const response = await sendToRealLedger(request);
        if (!request.url.includes("/tile/")) return response;
        return new Response(new Uint8Array((await response.arrayBuffer()).byteLength).fill(7), { status: response.status });
      },
      () => now,
    );
    await submitAnchors(garbled);
    expect((await anchors()).at(-1)).toMatchObject({ status: "pending", last_error: "tiles_mismatch" });
    expect(await readFork()).toBeNull();
    now += minuteMs;
    await submitAnchors(createPlatformWith(sendToRealLedger, () => now));
    expect((await anchors()).map(({ status }) => status)).toEqual(["anchored", "anchored", "anchored"]);
  });

  test("is not treated as forked when a cache returns an old checkpoint, which still counts for what it proves", async () => {
    const older = await issueWaiting(2);
    let cachedCheckpoint: string | null = null;
    const respondFromCache: SendRequest = async (request) => {
      if (!request.url.endsWith("/checkpoint")) return sendToRealLedger(request);
      cachedCheckpoint ??= await (await sendToRealLedger(request)).text();
      return new Response(cachedCheckpoint);
    };
    let lost = true;
    let now = Date.now();
    const platform = createPlatformWith(
      async (request) => {
        const response = await respondFromCache(request);
        if (!request.url.includes("/tile/") || !lost) return response;
        throw new Error("Network connection lost."); // the first run reads the checkpoint but cannot prove the entry
      },
      () => now,
    );
    await submitAnchors(platform);
    await issueWaiting(1);
    now = Date.now();
    await env.DB.prepare("UPDATE anchors SET next_at = ? WHERE attempts > 0")
      .bind(now + 10 * minuteMs)
      .run();
    await env.DB.prepare("UPDATE ledger_state SET failures = 0, blocked_until = 0").run();
    await submitAnchors(createPlatformWith(sendToRealLedger, () => now)); // this run reads a tree of size three
    lost = false;
    now += 20 * minuteMs;
    await submitAnchors(platform); // the cache still returns the tree of size two
    for (const id of older) expect(await anchorOf(id)).toMatchObject({ status: "anchored" });
    expect(await readFork()).toBeNull();
    expect(await env.DB.prepare("SELECT size FROM ledger_state").first("size")).toBe("3");
  });

  test("is disconnected when it sends an endless response", async () => {
    await issueWaiting(1);
    let sent = 0;
    const endless = createPlatformWith(
      async () =>
        new Response(
          new ReadableStream({
            pull: (controller) => {
              sent += 4_096;
              controller.enqueue(new Uint8Array(4_096));
            },
          }),
        ),
    );
    await submitAnchors(endless);
    expect((await anchors())[0]).toMatchObject({ status: "pending", last_error: "answer_too_large" });
    expect(sent).toBeLessThan(200_000);
  });

  test("changes nothing when its response arrives after the database was restored", async () => {
    const [before] = await issueWaiting(1);
    const restoreDuringBatch: SendRequest = async (request) => {
      if (request.url.endsWith("/add-batch"))
        await env.DB.prepare("UPDATE changes SET id = 'restored', ledger_id = NULL, statement = NULL").run();
      return sendToRealLedger(request);
    };
    await submitAnchors(createPlatformWith(restoreDuringBatch));
    expect(await env.DB.prepare("SELECT * FROM ledger_state").first()).toBeNull();
    logName = crypto.randomUUID(); // uses a new ledger, as if the ledger's storage had been reset too
    const [after] = await issueWaiting(1);
    await submitAnchors(createPlatformWith(sendToRealLedger));
    expect([before === after, (await anchorOf(after as string)).status, await readFork()]).toEqual([false, "anchored", null]);
  });

  test("returns the same index again when its first response was lost (O5)", async () => {
    const [id] = await issueWaiting(1);
    let lost = 0;
    const loseFirstResponse: SendRequest = async (request) => {
      const response = await sendToRealLedger(request);
      if (!request.url.endsWith("/add-batch") || lost > 0) return response;
      lost += 1;
      throw new Error("Network connection lost.");
    };
    let now = Date.now();
    const platform = createPlatformWith(loseFirstResponse, () => now);
    await submitAnchors(platform);
    expect((await anchorOf(id as string)).status).toBe("pending");
    now += minuteMs;
    await submitAnchors(platform);
    expect(await anchorOf(id as string)).toMatchObject({ status: "anchored", tx_ref: `${ledger.origin}#0` });
    const size = (await (await sendToRealLedger(new Request(`https://${ledger.origin}/checkpoint`))).text()).split("\n")[1];
    expect(size).toBe("1");
  });

  test("is queried again no sooner than its Retry-After allows (O8)", async () => {
    const [id] = await issueWaiting(1);
    await submitAnchors(createPlatformWith(async () => new Response("later", { status: 429, headers: { "retry-after": "120" } })));
    expect((await anchorOf(id as string)).next_at).toBeGreaterThanOrEqual(Date.now() + 119 * secondMs);
  });

  test("gets all statements except the one that it always rejects, which is parked (O9)", async () => {
    const ids = await issueWaiting(3);
    const poisoned = ids[1] as string;
    const rejectPoisonedBatch: SendRequest = async (request) => {
      const isPost = request.method === "POST";
      const body = isPost ? await request.clone().text() : "";
      return isPost && body.includes(poisoned) ? new Response("no", { status: 400 }) : sendToRealLedger(request);
    };
    let now = Date.now();
    const platform = createPlatformWith(rejectPoisonedBatch, () => now);
    const faults: string[] = [];
    const log = vi.spyOn(basePlatform.log, "error").mockImplementation((fault) => faults.push(fault.error));
    await submitAnchors(platform);
    log.mockRestore();
    expect((await anchors()).map(({ status }) => status)).toEqual(["anchored", "parked", "anchored"]);
    expect(faults).toEqual([`parked 1 ${ledger.id}: http_400`]);
    now += 6 * 60 * minuteMs + minuteMs;
    const healed = createPlatformWith(sendToRealLedger, () => now);
    await retryParkedAnchors(healed);
    await submitAnchors(healed);
    expect((await anchorOf(poisoned)).status).toBe("anchored");
  });

  test("causes a statement to be parked and logged after three invalid proofs (O9)", async () => {
    await issueWaiting(2);
    const respondWithWrongIndices: SendRequest = async (request) => {
      const response = await sendToRealLedger(request);
      return request.url.endsWith("/add-batch") ? Response.json({ indices: ["1", "0"] }) : response;
    };
    let now = Date.now();
    const faults: string[] = [];
    const log = vi.spyOn(basePlatform.log, "error").mockImplementation((fault) => faults.push(fault.error));
    for (const statuses of [
      ["pending", "pending"],
      ["pending", "pending"],
      ["parked", "parked"],
    ]) {
      expect(faults).toEqual([]);
      await submitAnchors(createPlatformWith(respondWithWrongIndices, () => now));
      expect((await anchors()).map(({ status }) => status)).toEqual(statuses);
      now += 20 * minuteMs;
    }
    log.mockRestore();
    expect(faults).toEqual([`parked 2 ${ledger.id}: receipt_root_mismatch`]);
    const healed = createPlatformWith(sendToRealLedger, () => now);
    await retryParkedAnchors(healed);
    await submitAnchors(healed);
    expect((await anchors()).map(({ status }) => status)).toEqual(["parked", "parked"]); // parked statements are not retried for six hours
    now += 6 * 60 * minuteMs;
    await retryParkedAnchors(healed);
    await submitAnchors(healed);
    expect((await anchors()).map(({ status }) => status)).toEqual(["anchored", "anchored"]);
  });

  test("is probed with single rows less and less often for an hour, and then gets every statement once (O2)", async () => {
    await issueWaiting(30);
    let now = Date.now();
    let calls = 0;
    const down = createPlatformWith(
      async () => {
        calls += 1;
        return new Response("down", { status: 500 });
      },
      () => now,
    );
    for (let minute = 0; minute < 60; minute += 1) {
      await submitAnchors(down);
      now += minuteMs;
    }
    expect(calls).toBeLessThanOrEqual(16); // five calls at first, then one at a time at intervals that grow to 15 minutes
    expect((await anchors()).every(({ status }) => status === "pending")).toBe(true);
    const healed = createPlatformWith(sendToRealLedger, () => now);
    for (let minute = 0; minute < 20; minute += 1) {
      await submitAnchors(healed);
      now += minuteMs;
    }
    const rows = await anchors();
    expect(rows.every(({ status }) => status === "anchored")).toBe(true);
    expect(new Set(rows.map(({ tx_ref }) => tx_ref)).size).toBe(30);
  });

  test("gets all waiting statements as soon as it is back, regardless of how long their pauses are (O2)", async () => {
    const [oldest] = await issueWaiting(3);
    const now = Date.now();
    await env.DB.batch([
      env.DB.prepare(
        `INSERT INTO anchors (ord, ledger_id, kind, entity_id, event, statement, attempts, next_at, created_at)
         SELECT ord, ledger_id, 'event', entity_id, type, statement, 9, ?, at FROM changes WHERE entity_id = ?`,
      ).bind(now + 10 * minuteMs, oldest),
      env.DB.prepare("INSERT INTO ledger_state (ledger_id, failures, blocked_until, updated_at) VALUES (?, 7, ?, ?)").bind(
        ledger.id,
        now,
        now,
      ),
    ]);
    await submitAnchors(createPlatformWith(sendToRealLedger, () => now));
    expect((await anchors()).map(({ status }) => status)).toEqual(["anchored", "anchored", "anchored"]);
  });

  test("gets no more requests after it shows a second history, and both histories are saved (L2)", async () => {
    await issueWaiting(2);
    await submitAnchors(createPlatformWith(sendToRealLedger));
    logName = crypto.randomUUID(); // the same name and key with different storage, which gives a different history
    const ids = await issueWaiting(2); // the size is the same because there are two entries again, but the root differs
    await submitAnchors(createPlatformWith(sendToRealLedger));
    for (const id of ids) expect(await anchorOf(id)).toMatchObject({ status: "pending", tx_ref: null });
    expect(Object.keys(JSON.parse((await readFork()) ?? "{}")).sort()).toEqual(["new", "old"]);
    let requests = 0;
    await submitAnchors(
      createPlatformWith(async (request) => {
        requests += 1;
        return sendToRealLedger(request);
      }),
    );
    expect(requests).toBe(0);
    expect((await submitConsent(buildSubmission())).status).toBe(201);
  });
});

describe("a ledger that was reset to an earlier state", () => {
  test("anchors nothing, is queried again, and is detected when it has grown past its old size (L3)", async () => {
    await issueWaiting(3);
    await submitAnchors(createPlatformWith(sendToRealLedger));
    logName = crypto.randomUUID();
    const [first] = await issueWaiting(1);
    let now = Date.now();
    await submitAnchors(createPlatformWith(sendToRealLedger, () => now));
    expect(await anchorOf(first as string)).toMatchObject({ status: "pending", tx_ref: null, last_error: "checkpoint_behind" });
    expect(await readFork()).toBeNull();
    await issueWaiting(3);
    now += 10 * minuteMs;
    await env.DB.prepare("UPDATE ledger_state SET failures = 0, blocked_until = 0").run();
    await submitAnchors(createPlatformWith(sendToRealLedger, () => now));
    expect(Object.keys(JSON.parse((await readFork()) ?? "{}")).sort()).toEqual(["new", "old"]);
    expect((await anchors()).filter(({ status }) => status === "anchored")).toHaveLength(3);
  });
});

describe("queue messages", () => {
  test("anchor each row once when five consumers get each message three times (O4)", async () => {
    await issueWaiting(9);
    const batch = { queue: "svc-anchor-queue", messages: [], ackAll: vi.fn(), retryAll: vi.fn() } as unknown as MessageBatch;
    const deliveries = Array.from({ length: 15 }, () => worker.queue(batch, env));
    await Promise.all(deliveries);
    const rows = await anchors();
    expect(rows.map(({ status }) => status)).toEqual(Array(9).fill("anchored"));
    expect(new Set(rows.map(({ tx_ref }) => tx_ref)).size).toBe(9);
    expect(vi.mocked(batch.ackAll)).toHaveBeenCalledTimes(15);
  });

  test("are acknowledged regardless of their content, and due rows are anchored", async () => {
    await issueWaiting(2);
    const bodies = [
      null,
      {},
      "not json {",
      { v: 99, t: "anchor" },
      { t: "anchor", ledger: "tlog:nobody.example/log" },
      [[]],
      "x".repeat(120_000),
    ];
    const batch = createMessageBatch(
      "svc-anchor-queue",
      bodies.map((body, at) => ({ id: `m${at}`, timestamp: new Date(), attempts: 1 + at, body })),
    );
    const context = createExecutionContext();
    await worker.queue(batch, env);
    const result = await getQueueResult(batch, context);
    expect(result).toMatchObject({ outcome: "ok", ackAll: true, retryBatch: { retry: false }, retryMessages: [] });
    expect((await anchors()).map(({ status }) => status)).toEqual(["anchored", "anchored"]);
  });

  test("do not affect the response when they cannot be sent, and the cron job anchors the rows (O3)", async () => {
    const failing = vi
      .spyOn(basePlatform as { requestAnchoring: () => Promise<void> }, "requestAnchoring")
      .mockRejectedValue(new Error("queue is down"));
    const responses = await Promise.all(Array.from({ length: 4 }, () => submitConsent(buildSubmission())));
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    await vi.waitFor(() => expect(failing).toHaveBeenCalled(), 20_000);
    failing.mockRestore();
    await runScheduledJobs({ ...createPlatformWith(sendToRealLedger) }, "* * * * *", Date.now());
    expect((await anchors()).every(({ status }) => status === "anchored")).toBe(true);
  });
});

describe("an hour without the ledger", () => {
  test("leaves four checkpoints waiting, which are anchored in order with everything else (O2)", async () => {
    await issueWaiting(6);
    let now = Math.ceil(Date.now() / (15 * minuteMs)) * 15 * minuteMs;
    const only = { shards: openShards({ DB: env.DB }), attestors: [] };
    const down = {
      ...createPlatformWith(
        async () => new Response("down", { status: 500 }),
        () => now,
      ),
      ...only,
    };
    for (let quarter = 0; quarter < 4; quarter += 1) {
      await runScheduledJobs(down, "*/15 * * * *", now);
      await submitAnchors(down);
      now += 15 * minuteMs;
    }
    expect((await anchors()).map(({ status }) => status)).toEqual(Array(10).fill("pending"));
    const healed = { ...createPlatformWith(sendToRealLedger, () => now), ...only };
    for (let minute = 0; minute < 20; minute += 1) {
      await submitAnchors(healed);
      now += minuteMs;
    }
    const rows = await anchors();
    expect(rows.every(({ status }) => status === "anchored")).toBe(true);
    const places = rows.map(({ tx_ref }) => Number(tx_ref?.split("#")[1]));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    const checkpoints = rows.filter(({ entity_id }) => entity_id === "svc.test/audit/00");
    expect(checkpoints).toHaveLength(4);
  });
});

describe("queue messages that never arrive", () => {
  test("delay anchoring by a minute, until the cron job anchors everything (O3)", async () => {
    const [id] = await issueWaiting(1);
    await runScheduledJobs({ ...createPlatformWith(sendToRealLedger) }, "* * * * *", Date.now());
    expect((await anchorOf(id as string)).status).toBe("anchored");
  });
});
