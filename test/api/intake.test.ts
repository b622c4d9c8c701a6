// Tests submissions while their database does not respond. The journal accepts them, and after the outage every certificate is in the
// database exactly once and complete.
import { auditEntriesSql, statementsSql } from "../support/statements-sql.ts";
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import { journalOfClient } from "../../core/intake/journal-name.ts";
import type { CertId, ClientId, ShardId } from "../../core/ids.ts";
import type { JournalEntry } from "../../durable-objects/intake-journal/entry.ts";
import { eraseCertificate } from "../support/erasure.ts";
import { buildJsonRequest, signIn } from "../support/people.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { platform } from "../support/scenarios.ts";
import { signInPerson } from "../support/sharing.ts";
import { issueToNewPerson, withdrawCertificate } from "../support/withdrawal.ts";
import { relayOutbox } from "../../workers/background/outbox-relay.ts";
import { settleShares } from "../../workers/background/share-settling.ts";
import { buildConsentRequest, buildSubmission, call, createServiceCall, world, type Call, type TestResponse } from "../support/world.ts";

const hourMs = 3_600_000;
const minuteMs = 60_000;
const clientId = world.acme.clients.live as ClientId;
const journals = env.INTAKE_JOURNAL;
const getJournal = () => journals.getByName(journalOfClient("00" as ShardId, clientId));

const setFault = async (mode: string, for_ms = hourMs): Promise<void> => {
  expect((await call("/dev/faults", buildJsonRequest({ database: "00", mode, for_ms }))).status).toBe(200);
};
const endFault = () => setFault("hang", 0);

const countEntries = (): Promise<number> =>
  runInDurableObject(getJournal(), (_, { storage }) => storage.sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM entry").one().n);

/** Waits until the journal's alarm has moved all entries to the database. */
const waitUntilPlaced = async (): Promise<void> => {
  await expect.poll(countEntries, { timeout: 20_000 }).toBe(0);
};

const count = async (sql: string, ...bound: string[]): Promise<number> =>
  (
    await env.DB.prepare(sql)
      .bind(...bound)
      .first<{ n: number }>()
  )?.n ?? -1;

/** Counts the certificates, audit entries and statements that exist for one certificate ID. */
const countWritten = async (certId: string): Promise<readonly number[]> => [
  await count("SELECT COUNT(*) AS n FROM certificates WHERE id = ?", certId),
  await count(`SELECT COUNT(*) AS n FROM ${auditEntriesSql} WHERE entity_id = ? AND type = 'certificate.issued'`, certId),
  await count(`SELECT COUNT(*) AS n FROM ${statementsSql} WHERE entity_id = ?`, certId),
];
const once = [1, 1, 1];

/** The default time to wait for the database. Other tests use a longer time, because a healthy database can be slow on a busy machine. */
const defaultWait = { INTAKE_WAIT_MS: "600" };

let serial = 0;
/** An isolate whose database has just responded. Each test has its own, because an isolate remembers an outage for a second. */
let isolate: Call;

/** Sends a submission, with a new idempotency key unless one is given. */
const submit = (service: Call = isolate, key = `intake-${serial++}`, change: object = {}): Promise<TestResponse> =>
  service("/v1/consent", buildConsentRequest({ ...buildSubmission(), ...change }, { "idempotency-key": key }));

const verify = (certId: string, service: Call = isolate) => service(`/v1/certs/${certId}/verify`);

/** Simulates an isolate that dies before it stores a submission in the journal. */
const createDyingIsolate = (): Call =>
  createServiceCall({
    INTAKE_JOURNAL: { getByName: () => ({ countWaiting: async () => 0, append: () => Promise.reject(new Error("dead")) }) },
  });

/**
 * Creates an isolate that reads an outdated database, without the journal's entries. After the isolate has asked the journal to move its
 * entries, it reads the current database.
 */
const createLateIsolate = (): Call => {
  let database: D1Database = env.DB_01;
  /** Prepares the statement each time it runs, because `database` may have changed since the isolate created it. */
  const prepare = (text: string, params: readonly unknown[] = []) => {
    const build = () => database.prepare(text).bind(...params);
    return { build, bind: (...values: unknown[]) => prepare(text, values), all: () => build().all(), raw: () => build().raw() };
  };
  const runBatch = (statements: readonly ReturnType<typeof prepare>[]) => database.batch(statements.map(({ build }) => build()));
  const place = (certId: CertId) => {
    database = env.DB;
    return getJournal().place(certId);
  };
  return createServiceCall({
    DB: { prepare, batch: runBatch, withSession: () => ({ prepare, batch: runBatch }) },
    INTAKE_JOURNAL: { getByName: () => ({ countWaiting: async () => 0, place }) },
  });
};

beforeEach(async () => {
  isolate = createServiceCall(defaultWait);
  expect((await submit()).status).toBe(201); // also fills the account cache
});
afterEach(async () => {
  await endFault();
  await waitUntilPlaced();
});

describe("POST /v1/consent while the database does not respond", () => {
  test.each(["hang", "reset", "slow", "lose_answer"])(
    "issues a certificate while the database is in mode %s, and stores it once",
    async (mode) => {
      await setFault(mode);
      const response = await submit();
      expect(response.status).toBe(201);
      await endFault();
      await waitUntilPlaced();
      expect(await countWritten(response.body.data.cert_id)).toEqual(once);
      const verified = await verify(response.body.data.cert_id);
      expect([verified.status, verified.body.data.fingerprint]).toEqual([200, response.body.data.fingerprint]);
    },
  );

  test("is found by a request that read the database just before the journal moved the certificate to it", async () => {
    await setFault("hang");
    const { cert_id } = (await submit()).body.data;
    await endFault();
    await waitUntilPlaced();
    expect((await verify(cert_id, createLateIsolate())).status).toBe(200);
  });

  test("keeps the time of the submission in the certificate, the audit log and the statement", async () => {
    await setFault("hang");
    const { cert_id, issued_at } = (await submit()).body.data;
    await endFault();
    await waitUntilPlaced();
    const at = Date.parse(issued_at);
    expect(await count("SELECT issued_at AS n FROM certificates WHERE id = ?", cert_id)).toBe(at);
    expect(await count(`SELECT at AS n FROM ${auditEntriesSql} WHERE entity_id = ?`, cert_id)).toBe(at);
    expect(await count(`SELECT created_at AS n FROM ${statementsSql} WHERE entity_id = ?`, cert_id)).toBe(at);
  });

  test("stores certificates in the order of their submissions", async () => {
    await setFault("hang");
    const ids: string[] = [];
    for (let sent = 0; sent < 60; sent += 1) ids.push((await submit()).body.data.cert_id);
    await endFault();
    await waitUntilPlaced();
    const { results } = await env.DB.prepare("SELECT id FROM certificates WHERE id IN (SELECT value FROM json_each(?)) ORDER BY ord")
      .bind(JSON.stringify(ids))
      .all<{ id: string }>();
    expect(results.map(({ id }) => id)).toEqual(ids);
  });

  test("returns the same receipt for a repeat during the outage, right after it, and later", async () => {
    await setFault("hang");
    const first = await submit(isolate, "repeated-1");
    const during = await submit(isolate, "repeated-1");
    await endFault();
    await waitUntilPlaced();
    const after = await submit(isolate, "repeated-1");
    const laterResponse = await submit(createServiceCall(), "repeated-1");
    for (const repeated of [during, after, laterResponse]) {
      expect([repeated.status, repeated.headers.get("idempotency-replayed")]).toEqual([201, "true"]);
      expect(repeated.body.data).toEqual(first.body.data);
    }
    expect(await countWritten(first.body.data.cert_id)).toEqual(once);
  });

  test("returns 409 idempotency_conflict when a journaled key is used for another submission", async () => {
    await setFault("hang");
    await submit(isolate, "conflict-1");
    const other = await submit(isolate, "conflict-1", { purpose: "something else" });
    expect([other.status, other.body.error.code]).toEqual([409, "idempotency_conflict"]);
  });

  test("finds a submission that another isolate journaled a moment ago", async () => {
    await setFault("hang");
    const first = await submit(createServiceCall(), "two-isolates-1");
    const repeated = await submit(createServiceCall(), "two-isolates-1");
    expect(repeated.body.data).toEqual(first.body.data);
  });

  test("treats a refusal by the database as a response, not as an outage", async () => {
    await env.DB.prepare("UPDATE businesses SET status = 'suspended' WHERE id = ?").bind(world.acme.id).run();
    const refused = await submit();
    await env.DB.prepare("UPDATE businesses SET status = 'active' WHERE id = ?").bind(world.acme.id).run();
    expect([refused.status, refused.body.error.code]).toEqual([402, "business_suspended"]);
    expect(await countEntries()).toBe(0);
  });

  test("keeps a consent whose account changed before the consent reached the database", async () => {
    await setFault("hang");
    const { cert_id } = (await submit()).body.data;
    await env.DB.prepare("UPDATE businesses SET status = 'suspended' WHERE id = ?").bind(world.acme.id).run();
    await endFault();
    await waitUntilPlaced();
    await env.DB.prepare("UPDATE businesses SET status = 'active' WHERE id = ?").bind(world.acme.id).run();
    expect(await countWritten(cert_id)).toEqual(once);
  });

  test("does not use the journal while the database responds", async () => {
    const untouchable = { getByName: () => ({ countWaiting: async () => 0, append: () => Promise.reject(new Error("journaled")) }) };
    const service = createServiceCall({ INTAKE_JOURNAL: untouchable });
    expect((await submit(service)).status).toBe(201);
    expect((await submit(service)).status).toBe(201);
  });

  test("treats a journal that does not respond as empty, so that it cannot stop a healthy database", async () => {
    const silent = { getByName: () => ({ countWaiting: () => new Promise(() => {}) }) };
    expect((await submit(createServiceCall({ INTAKE_JOURNAL: silent }))).status).toBe(201);
  });

  test("returns 503 when neither the database nor the journal responds", async () => {
    const silent = { getByName: () => ({ countWaiting: () => new Promise(() => {}), append: () => new Promise(() => {}) }) };
    const service = createServiceCall({ INTAKE_JOURNAL: silent });
    await submit(service); // fills the account cache
    await setFault("hang");
    const response = await submit(service);
    expect([response.status, response.body.error.code, response.headers.get("retry-after")]).toEqual([503, "storage_unavailable", "1"]);
  });

  const buildLongNames = (character: string) => Array.from({ length: 1_000 }, (_, at) => `${at}`.padEnd(200, character));

  test("issues a certificate with the longest disclosure and the longest list of recipients in Latin script", async () => {
    await setFault("hang");
    const response = await submit(isolate, undefined, { entities: buildLongNames("n"), disclosure_text: "d".repeat(200_000) });
    expect(response.status).toBe(201);
    await endFault();
    await waitUntilPlaced();
    expect(await countWritten(response.body.data.cert_id)).toEqual(once);
  });

  test("moves large entries to the database in small batches", async () => {
    await setFault("hang");
    const large = { entities: buildLongNames("n"), disclosure_text: "d".repeat(200_000) };
    for (let sent = 0; sent < 5; sent += 1) expect((await submit(isolate, undefined, large)).status).toBe(201);
    const left = await runInDurableObject(getJournal(), async (journal, { storage }) => {
      await journal.alarm(); // waits for a run that is in progress, which could otherwise move another batch
      await storage.deleteAlarm();
      await endFault();
      await journal.alarm();
      return storage.sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM entry").one().n;
    });
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(5);
  });

  test("returns 503 if the submission is too large for a row of the journal", async () => {
    await setFault("hang");
    const response = await submit(isolate, undefined, { entities: buildLongNames("名"), disclosure_text: "名".repeat(200_000) });
    expect([response.status, response.body.error?.code]).toEqual([503, "storage_unavailable"]);
    expect(await countEntries()).toBe(0);
  });
});

describe("a first attempt that reached the database without a response, and whose repeat was journaled", () => {
  test("keeps the first certificate, and the receipt of the repeat stays verifiable under the same ID", async () => {
    const first = createDyingIsolate();
    await submit(first); // fills the account cache
    await setFault("lose_answer");
    expect((await submit(first, "twin-1")).status).toBe(503);
    await setFault("hang");
    const repeat = await submit(isolate, "twin-1");
    expect(repeat.status).toBe(201);
    await endFault();
    await waitUntilPlaced();
    const { cert_id, fingerprint } = repeat.body.data;
    expect(await countWritten(cert_id)).toEqual(once);
    const { data } = (await verify(cert_id)).body;
    expect(data.fingerprint).not.toBe(fingerprint);
    expect(data.duplicates.map((twin: { fingerprint: string }) => twin.fingerprint)).toEqual([fingerprint]);
    const [twin] = data.duplicates;
    expect(sha256Hex(twin.canonical)).toBe(fingerprint);
    expect(JSON.parse(twin.canonical).cert_id).toBe(cert_id);
    const laterResponse = await submit(createServiceCall(), "twin-1");
    expect(laterResponse.body.data.fingerprint).toBe(data.fingerprint);
  });
});

describe("a process that dies", () => {
  test("before the journal has stored the entry leaves nothing, and a repeat gets a certificate", async () => {
    const first = createDyingIsolate();
    await submit(first); // fills the account cache
    await setFault("hang");
    expect((await submit(first, "dies-before")).status).toBe(503);
    expect(await countEntries()).toBe(0);
    const repeat = await submit(isolate, "dies-before");
    expect([repeat.status, repeat.headers.get("idempotency-replayed")]).toEqual([201, null]);
    await endFault();
    await waitUntilPlaced();
    expect(await countWritten(repeat.body.data.cert_id)).toEqual(once);
  });

  test("after the entry is stored and before the response: a repeat gets the receipt of the entry", async () => {
    const unheard = {
      getByName: (name: string) => ({
        countWaiting: async () => 0,
        append: async (entry: JournalEntry, room: number | null) => {
          await journals.getByName(name).append(entry, room);
          throw new Error("dead");
        },
      }),
    };
    const first = createServiceCall({ INTAKE_JOURNAL: unheard });
    await submit(first); // fills the account cache
    await setFault("hang");
    expect((await submit(first, "dies-after")).status).toBe(503);
    expect(await countEntries()).toBe(1);
    const repeat = await submit(isolate, "dies-after");
    expect([repeat.status, repeat.headers.get("idempotency-replayed")]).toEqual([201, "true"]);
    await endFault();
    await waitUntilPlaced();
    expect(await countWritten(repeat.body.data.cert_id)).toEqual(once);
    expect((await verify(repeat.body.data.cert_id, createServiceCall())).body.data.fingerprint).toBe(repeat.body.data.fingerprint);
  });

  test("after an entry is stored in the database and before it is deleted: the next alarm recognizes it", async () => {
    await setFault("hang");
    const { cert_id, fingerprint } = (await submit()).body.data;
    const entries = await runInDurableObject(getJournal(), (_, { storage }) =>
      storage.sql.exec<Record<string, SqlStorageValue>>("SELECT * FROM entry").toArray(),
    );
    await endFault();
    await waitUntilPlaced();
    await runInDurableObject(getJournal(), async (_, { storage }) => {
      for (const entry of entries)
        storage.sql.exec(
          `INSERT INTO entry (${Object.keys(entry).join(", ")}) VALUES (${Object.keys(entry)
            .map(() => "?")
            .join(", ")})`,
          ...Object.values(entry),
        );
      await storage.setAlarm(Date.now());
    });
    await waitUntilPlaced();
    expect(await countWritten(cert_id)).toEqual(once);
    expect(await count("SELECT COUNT(*) AS n FROM certificate_twins WHERE cert_id = ?", cert_id)).toBe(0);
    expect((await verify(cert_id, createServiceCall())).body.data.fingerprint).toBe(fingerprint);
  });
});

describe("a withdrawal while a certificate of the same person is still in the journal", () => {
  /** Journals a certificate. The database then responds, but refuses this certificate until the returned function is called. */
  const journalRefusedCertificate = async (email: string) => {
    await setFault("hang");
    const { cert_id } = (await submit(isolate, undefined, { fields: { email } })).body.data;
    await env.DB.exec(
      `CREATE TRIGGER refuse_journaled BEFORE INSERT ON certificates WHEN NEW.id = '${cert_id}' BEGIN SELECT RAISE(ABORT, 'refused'); END`,
    );
    await endFault();
    await runInDurableObject(getJournal(), (_, { storage }) => {
      storage.sql.exec("UPDATE entry SET refusals = 1 WHERE cert_id = ?", cert_id);
    });
    const place = async () => {
      await env.DB.exec("DROP TRIGGER refuse_journaled");
      await getJournal().place(cert_id);
    };
    return { cert_id, place };
  };

  const readWithdrawnAt = async (certId: string) => (await verify(certId, createServiceCall())).body.data.withdrawal?.withdrawn_at;

  test("from the business also withdraws that certificate once it is in the database", async () => {
    const issued = await issueToNewPerson();
    const { cert_id, place } = await journalRefusedCertificate(issued.email);
    const { withdrawn_at } = (await withdrawCertificate(issued, "business")).body.data;
    const later = (await submit(createServiceCall(), undefined, { fields: { email: issued.email } })).body.data.cert_id;
    await waitUntilSettled();
    await place();
    expect(await readWithdrawnAt(cert_id)).toBeUndefined();
    await relayOutbox({ ...platform, clock: () => Date.now() + 10 * minuteMs });
    expect(await readWithdrawnAt(cert_id)).toBe(withdrawn_at);
    expect(await readWithdrawnAt(later)).toBeUndefined();
    expect(await count("SELECT COUNT(*) AS n FROM withdrawal_work WHERE cert_id = ?", issued.certId)).toBe(0);
  });

  test("looks for that certificate again within ten minutes, even after days", async () => {
    const issued = await issueToNewPerson();
    const { cert_id, place } = await journalRefusedCertificate(issued.email);
    await withdrawCertificate(issued, "business");
    await waitUntilSettled();
    const later = Date.now() + 48 * hourMs;
    await relayOutbox({ ...platform, clock: () => later });
    await place();
    await relayOutbox({ ...platform, clock: () => later + 10 * minuteMs });
    expect(await readWithdrawnAt(cert_id)).toBeDefined();
  });

  test("from everything also withdraws that certificate once it is in the database", async () => {
    const person = await signInPerson({});
    const { cert_id, place } = await journalRefusedCertificate(person.email);
    const response = await person.post("/v1/me/certificates/withdraw", { scope: "everything" });
    expect(response.body.data).toMatchObject({ withdrawn: 0, pending: true });
    await place();
    await settleShares({ ...platform, clock: () => Date.now() + 10 * minuteMs });
    expect(await readWithdrawnAt(cert_id)).toBeDefined();
    expect(await count("SELECT COUNT(*) AS n FROM account_withdrawals")).toBe(0);
  });
});

describe("an entry of another person", () => {
  /** While `run` runs, the journal also contains an entry that has no address. */
  const withEntry = async (entry: { readonly clientId: string; readonly refusals: number }, run: () => Promise<void>) => {
    await runInDurableObject(getJournal(), (_, { storage }) => {
      storage.sql.exec(
        `INSERT INTO entry (cert_id, client_id, day, fingerprint, issued_at, published, statements, twin_statements, bytes, refusals)
         VALUES ('cc_00other', ?, 0, '', 0, '', '[]', '[]', 1, ?)`,
        entry.clientId,
        entry.refusals,
      );
    });
    await run();
    await runInDurableObject(getJournal(), (_, { storage }) => {
      storage.sql.exec("DELETE FROM entry WHERE cert_id = 'cc_00other'");
    });
  };
  const countUnfinished = async (certId: string) => [
    await count("SELECT COUNT(*) AS n FROM withdrawal_work WHERE cert_id = ?", certId),
    await count("SELECT COUNT(*) AS n FROM account_withdrawals"),
  ];

  test("does not keep a withdrawal unfinished if the database has refused the entry", () =>
    withEntry({ clientId, refusals: 1 }, async () => {
      const person = await signInPerson({});
      const response = await person.post("/v1/me/certificates/withdraw", { scope: "everything" });
      expect(response.body.data).toMatchObject({ withdrawn: 0, pending: false });
      const issued = await issueToNewPerson();
      await withdrawCertificate(issued, "business");
      expect(await countUnfinished(issued.certId)).toEqual([0, 0]);
    }));

  test("does not keep a withdrawal from one business unfinished if another business's client issued it", () =>
    withEntry({ clientId: `cl_${clientId.at(-1)}`, refusals: 0 }, async () => {
      const issued = await issueToNewPerson();
      await withdrawCertificate(issued, "business");
      expect(await countUnfinished(issued.certId)).toEqual([0, 0]);
    }));
});

describe("an entry that the database refuses", () => {
  test("moves behind all others and stays in the journal", async () => {
    await setFault("hang");
    await submit();
    await runInDurableObject(getJournal(), (_, { storage }) => {
      const text = storage.sql
        .exec<{ id: number }>("INSERT INTO statement_text (sql) VALUES ('INSERT INTO no_such_table VALUES (1)') RETURNING id")
        .one();
      storage.sql.exec(
        `INSERT INTO entry (ord, cert_id, client_id, day, fingerprint, issued_at, published, statements, twin_statements, bytes)
         VALUES (-1, 'cc_00refused', '', 0, '', ?, '', ?, '[]', 1)`,
        Date.now(),
        JSON.stringify([[text.id, []]]),
      );
    });
    const { cert_id } = (await submit()).body.data;
    await endFault();
    await expect.poll(countEntries, { timeout: 20_000 }).toBe(1);
    expect(await countWritten(cert_id)).toEqual(once);
    await runInDurableObject(getJournal(), (_, { storage }) => {
      expect(storage.sql.exec<{ cert_id: string }>("SELECT cert_id FROM entry").one().cert_id).toBe("cc_00refused");
      storage.sql.exec("DELETE FROM entry WHERE cert_id = 'cc_00refused'");
      storage.sql.exec("DELETE FROM statement_text WHERE sql LIKE '%no_such_table%'");
    });
  });
});

describe("GET /v1/certs/{id}/verify while the database does not respond", () => {
  test("returns a journaled certificate exactly as the database does later", async () => {
    await setFault("hang");
    const { cert_id, fingerprint } = (await submit()).body.data;
    const unavailable = await verify(cert_id);
    expect([unavailable.status, unavailable.body.data.fingerprint, unavailable.body.data.policies_status]).toEqual([
      200,
      fingerprint,
      "pending",
    ]);
    await endFault();
    await waitUntilPlaced();
    const { anchor: _later, ...placed } = (await verify(cert_id)).body.data;
    const { anchor: _none, ...journaled } = unavailable.body.data;
    expect({ ...placed, policies: [], policies_status: "pending" }).toEqual(journaled);
  });

  test("returns 503, never 404, for a certificate that the journal does not have", async () => {
    const { cert_id } = (await submit()).body.data;
    await setFault("hang");
    await submit(); // this isolate now treats the database as unavailable
    for (const id of [cert_id, "cc_00000000000000000000000000"]) expect((await verify(id)).status).toBe(503);
  });

  test("moves a journaled certificate to the database if the database does not have it yet", async () => {
    await setFault("hang");
    const { cert_id, fingerprint } = (await submit(createServiceCall())).body.data;
    await endFault();
    const found = await verify(cert_id, createServiceCall());
    expect([found.status, found.body.data.fingerprint]).toEqual([200, fingerprint]);
    expect(await countWritten(cert_id)).toEqual(once);
  });

  test("returns 404 for an ID that is in neither", async () => {
    expect((await verify("cc_00000000000000000000000000")).status).toBe(404);
    expect((await verify("cc_zz000000000000000000000000" as CertId)).status).toBe(404);
  });
});

describe("a certificate that is still in the journal", () => {
  const withdraw = (certId: string, manageUrl: string, service: Call = isolate) =>
    service(`/v1/certs/${certId}/opt-out/manage`, buildJsonRequest({ token: manageUrl.split("#m=")[1] }));

  test("cannot be withdrawn during the outage, and is the first to be stored when the database responds again", async () => {
    await setFault("hang");
    const { cert_id, manage_url } = (await submit()).body.data;
    expect((await withdraw(cert_id, manage_url)).status).toBe(503);
    await endFault();
    expect((await withdraw(cert_id, manage_url, createServiceCall())).status).toBe(200);
    expect(await count("SELECT COUNT(*) AS n FROM withdrawals WHERE cert_id = ?", cert_id)).toBe(1);
  });

  test.each([
    { what: "as a consent receipt", path: "receipt?format=kantara", build: () => ({}) },
    {
      what: "by a comparison with a person",
      path: "match",
      build: () => buildJsonRequest({ email: "pat@example.com" }, { authorization: `Bearer ${world.acme.keys.live}` }),
    },
    {
      what: "by an erasure",
      path: "erase-subject",
      build: (owner: Record<string, string>) => buildJsonRequest({ confirm: "ERASE" }, owner),
    },
  ])("is found $what as soon as the database responds again", async ({ path, build }) => {
    const owner = await signIn(world.ownerEmail);
    await setFault("hang");
    const { cert_id } = (await submit()).body.data;
    await endFault();
    expect((await createServiceCall()(`/v1/certs/${cert_id}/${path}`, build(owner))).status).toBe(200);
  });

  test("has a list of views as soon as the database responds again", async () => {
    const headers = await signIn(world.ownerEmail);
    await setFault("hang");
    const { cert_id } = (await submit()).body.data;
    await endFault();
    expect((await createServiceCall()(`/v1/business/portal/certs/${cert_id}/views`, { headers })).status).toBe(200);
  });

  test("is withdrawn with the link of either receipt if the submission has two", async () => {
    const first = createDyingIsolate();
    await submit(first);
    await setFault("lose_answer");
    await submit(first, "twin-link");
    await setFault("hang");
    const { cert_id, manage_url } = (await submit(isolate, "twin-link")).body.data;
    await endFault();
    await waitUntilPlaced();
    expect((await withdraw(cert_id, manage_url)).status).toBe(200);
  });

  test("cannot be withdrawn with the link of its second receipt if the person was erased before that receipt was stored", async () => {
    const first = createDyingIsolate();
    await submit(first);
    await setFault("lose_answer");
    await submit(first, "twin-erased");
    await setFault("hang");
    let held: { readonly name: string; readonly entry: JournalEntry } | undefined;
    const slow = createServiceCall({
      INTAKE_JOURNAL: {
        getByName: (name: string) => ({
          countWaiting: async () => 0,
          append: async (entry: JournalEntry) => {
            held = { name, entry };
            return { kind: "journaled" };
          },
        }),
      },
      ...defaultWait,
    });
    const { cert_id, manage_url, fingerprint } = (await submit(slow, "twin-erased")).body.data;
    await endFault();
    await eraseCertificate(cert_id);
    if (held === undefined) throw new Error("not journaled");
    await journals.getByName(held.name).append(held.entry, null);
    await waitUntilPlaced();
    const { duplicates } = (await verify(cert_id)).body.data;
    expect(duplicates.map((twin: { fingerprint: string }) => twin.fingerprint)).toEqual([fingerprint]);
    expect((await withdraw(cert_id, manage_url)).body.error.code).toBe("opt_out_failed");
    expect(await count("SELECT COUNT(*) AS n FROM certificate_twins WHERE cert_id = ? AND manage_token_hash <> ''", cert_id)).toBe(0);
  });

  test("is found by a contact check once it is in the database", async () => {
    await setFault("hang");
    const fields = { email: "journaled.person@example.com" };
    expect((await submit(isolate, "contact-1", { fields })).status).toBe(201);
    await endFault();
    await waitUntilPlaced();
    const checked = await call(
      "/v1/contact-check",
      buildJsonRequest({ subjects: [fields] }, { authorization: `Bearer ${world.acme.keys.live}` }),
    );
    expect(checked.body.data.results.map(({ contactable }: { contactable: boolean }) => contactable)).toEqual([true]);
  });

  test("is shown on its page during the outage", async () => {
    await setFault("hang");
    const { cert_id, fingerprint } = (await submit()).body.data;
    const page = await isolate(`/c/${cert_id}`, { headers: { accept: "text/html" } });
    expect(page.status).toBe(200);
    expect(page.text).toContain(fingerprint);
  });
});

describe("the account of a submission while the database does not respond", () => {
  test("comes from KV in a new isolate", async () => {
    await setFault("hang");
    expect((await submit(createServiceCall())).status).toBe(201);
  });

  test("is not trusted two hours after the database confirmed it", async () => {
    await setFault("hang");
    const callLater = createServiceCall({ DEV_CLOCK_OFFSET_MS: String(2 * hourMs) });
    expect((await submit(callLater)).status).toBe(503);
  });

  test("is never used to refuse: an unknown client and an unknown origin get 503", async () => {
    await setFault("hang");
    const unknown = await submit(isolate, "unknown-1", { client_id: "pc_live_00000000000000000000000000" });
    const otherOriginResponse = await isolate(
      "/v1/consent",
      buildConsentRequest(buildSubmission(), { origin: "https://elsewhere.example" }),
    );
    expect([unknown.status, otherOriginResponse.status]).toEqual([503, 503]);
  });

  test("is not looked up in a journal if the client ID is made up and has a shard without a database", async () => {
    const opened: string[] = [];
    const getByName = (name: string) => {
      opened.push(name);
      return journals.getByName(name);
    };
    const service = createServiceCall({ INTAKE_JOURNAL: { getByName } });
    const response = await submit(service, undefined, { client_id: `pc_live_zz${"0".repeat(24)}` });
    expect([response.status, response.body.error.code, opened]).toEqual([404, "client_not_found", []]);
  });

  test("is not enough for a request with an API key that cannot be checked", async () => {
    await setFault("hang");
    const keyed = buildConsentRequest(buildSubmission(), { authorization: `Bearer ${world.acme.keys.live}` });
    expect((await isolate("/v1/consent", keyed)).status).toBe(503);
    expect(await countEntries()).toBe(0);
  });
});

describe("the limits of a journal", () => {
  const deleteFakes = (): Promise<void> =>
    runInDurableObject(getJournal(), (_, { storage }) => {
      storage.sql.exec("DELETE FROM entry WHERE cert_id LIKE 'fake%'");
    });
  /** Adds fake entries to the journal. They come before all other entries. */
  const addFakes = (entries: number, bytes: number, issuedAt: number, client = "other"): Promise<void> =>
    runInDurableObject(getJournal(), (_, { storage }) => {
      storage.sql.exec(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
         INSERT INTO entry (ord, cert_id, client_id, day, fingerprint, issued_at, published, statements, twin_statements, bytes)
         SELECT -i, 'fake' || i, ?, ?, '', ?, '', '[]', '[]', ? FROM n`,
        entries,
        client,
        0, // an earlier day
        issuedAt,
        bytes,
      );
    });
  afterEach(deleteFakes);

  test.each([
    ["it has 100,000 entries", () => addFakes(100_000, 1, Date.now())],
    ["it has 500 MB", () => addFakes(1, 500_000_000, Date.now())],
    ["its oldest entry is 24 hours old", () => addFakes(1, 1, Date.now() - 24 * hourMs)],
  ])("return 503 when %s", async (_name, fill) => {
    await setFault("hang");
    expect((await submit()).status).toBe(201);
    await fill();
    expect((await submit()).status).toBe(503);
  });

  test.each([
    ["number of submissions", { LIMIT_CLIENT_DAY: "1" }],
    ["number of bytes", { LIMIT_CLIENT_DAY_BYTES: "1" }],
  ])("return 503 beyond the client's daily %s", async (_name, limit) => {
    const reached = createServiceCall({ ...limit, DEV_RATE_SCALE: "1" });
    await setFault("hang");
    expect((await submit(reached)).status).toBe(201);
    expect((await submit(reached)).status).toBe(503);
  });

  test("leave space for other clients: one client's entries take at most its daily number of bytes", async () => {
    const service = createServiceCall({ DEV_RATE_SCALE: "1" });
    await setFault("hang");
    await addFakes(1, 200_000_000, Date.now(), "other");
    expect((await submit(service)).status).toBe(201);
    await deleteFakes();
    await addFakes(1, 200_000_000, Date.now(), clientId);
    expect((await submit(service)).status).toBe(503);
  });

  test.each([
    ["bytes", "daily_byte_limit", { LIMIT_CLIENT_DAY_BYTES: "1" }, 1_000_000_000],
    ["submissions", "daily_submission_limit", { LIMIT_CLIENT_DAY: "1" }, 1_000_000],
  ])("apply the client's own daily number of %s instead of the deployment's", async (_name, column, low, high) => {
    const setOwnLimit = (limit: number | null) =>
      env.DB.prepare(`UPDATE clients SET ${column} = ? WHERE id = ?`).bind(limit, clientId).run();
    const countAccepted = async (own: number, settings: Readonly<Record<string, string>>): Promise<number> => {
      await setOwnLimit(own);
      const service = createServiceCall({ ...defaultWait, ...settings, DEV_RATE_SCALE: "1" });
      await submit(service); // caches the account, which contains the limit
      await setFault("hang");
      const codes = [await submit(service), await submit(service), await submit(service)].map(({ status }) => status);
      await endFault();
      await waitUntilPlaced();
      return codes.filter((status) => status === 201).length;
    };
    try {
      expect([await countAccepted(high, low), await countAccepted(1, {})]).toEqual([3, 1]);
    } finally {
      await setOwnLimit(null);
    }
  });
});
