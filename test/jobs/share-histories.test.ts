// Compares random sharing histories with a model: three people, three businesses in two shards, a clock that jumps, and isolates that die
// at any database round trip. After each step, the rows must match the model. At the end, every business must have received exactly the
// events of its shares, in order; only updates that cross shards may be combined. HISTORIES sets the number of histories (`npm run stress
// -- shares` sets 1,000), and HISTORY_SEED the first seed.
import { env } from "cloudflare:workers";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { getCeaseDeadline } from "../../core/cease-deadline.ts";
import { domainEventRoutes, type DomainEventType } from "../../core/domain-events.ts";
import { fieldGroups, fieldGroupNames, type FieldGroup } from "../../core/shares/fields.ts";
import { dayMs, minuteMs } from "../../core/time.ts";
import { sweepEvents } from "../../workers/background/event-sweep.ts";
import { settleShares } from "../../workers/background/share-settling.ts";
import { sweepDueShares } from "../../workers/background/share-sweep.ts";
import type { Platform } from "../../workers/platform/platform.ts";
import { createKillableIsolate } from "../support/killable-isolate.ts";
import { buildJsonRequest } from "../support/people.ts";
import {
  buildDecision,
  createVerifier,
  describeOutcome,
  signInPerson,
  getWithApiKey,
  redeemCode,
  contactValues,
  postWithApiKey,
  type Grant,
  type SignedPerson,
} from "../support/sharing.ts";
import { world, worldInSecondShard, type TestResponse } from "../support/world.ts";

const firstSeed = Number(env.HISTORY_SEED ?? 1);
const count = Number(env.HISTORIES ?? 3);
const seeds = Array.from({ length: count }, (_, at) => firstSeed + at);
const steps = 25;
const isolate = await createKillableIsolate();
const { call } = isolate;

const businesses = [
  { account: world.acme, origin: "https://www.example.com", db: env.DB, isInSecondShard: false },
  { account: world.other, origin: "https://other.example", db: env.DB, isInSecondShard: false },
  { account: worldInSecondShard.acme, origin: "https://www.example.com", db: env.DB_01, isInSecondShard: true },
] as const;
type Business = (typeof businesses)[number];
const databases = [env.DB, env.DB_01] as const;

interface Person {
  readonly session: SignedPerson;
  readonly id: string;
  readonly fields: Record<string, string | null>;
  isErased: boolean;
}
type State = "active" | "revoked" | "expired" | "superseded" | "ceased";
interface ModelShare {
  readonly id: string;
  readonly person: Person;
  readonly business: Business;
  /** Null for a renewed share, which has no code. */
  readonly grant: Grant | null;
  readonly scope: readonly string[];
  readonly createdAt: number;
  readonly expiresAt: number;
  /** The values that the business received most recently. */
  readonly receivedFields: Record<string, string | null>;
  /** The number of changes in each field group. The business may receive at most that many `consumer.updated` events. */
  readonly changes: Map<FieldGroup, number>;
  state: State;
  isRedeemed: boolean;
  revokedAt: number | null;
  supersededBy: string | null;
  /** The time up to which due `share.expiring` events have been sent. */
  warnedUntil: number;
  /** The types of the events that the business must receive, in order. */
  readonly events: string[];
  /**
   * The audit entries, with the number of chains that contain each: two (the person's and the business's), or one after the person's
   * account is deleted.
   */
  readonly entries: { readonly type: DomainEventType; readonly chains: number }[];
}

/** Mulberry32, a small generator with the same results on every platform. */
const createRandom = (seed: number) => {
  let state = seed;
  const nextRandom = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    below: (limit: number): number => Math.floor(nextRandom() * limit),
    pick: <T>(values: readonly T[]): T => values[Math.floor(nextRandom() * values.length)] as T,
  };
};

const allowedNextStates: Readonly<Record<State, readonly State[]>> = {
  active: ["active", "revoked", "expired", "superseded"],
  revoked: ["revoked", "ceased"],
  expired: ["expired"],
  superseded: ["superseded"],
  ceased: ["ceased"],
};

/** How far each business's feed has been read. */
const cursors = new Map<string, number>();
// biome-ignore lint/suspicious/noExplicitAny: events of every type
const readNewEvents = async (key: string): Promise<any[]> => {
  const events = [];
  for (;;) {
    const page = (await getWithApiKey(`/v1/events?cursor=${cursors.get(key) ?? 0}&limit=500`, key, call)).body.data;
    events.push(...page.events);
    if (page.events.length > 0) cursors.set(key, page.next_cursor);
    if (!page.has_more) return events;
  }
};

const seenDeaths = { requests: 0, jobs: 0 };
let history: string[] = [];
afterEach(() => {
  vi.useRealTimers();
  isolate.begin(null);
});
afterAll(() => {
  const { requests, jobs } = seenDeaths;
  if (count > 3) console.log(`${count} histories of ${steps} steps: ${requests} requests and ${jobs} jobs whose isolate died`);
  expect(requests + jobs).toBeGreaterThan(0);
});

test.each(seeds)(
  "history %i matches the model at every step and at the end",
  async (seed) => {
    const random = createRandom(seed);
    vi.setSystemTime(Date.now());
    history = [];
    const people: Person[] = [];
    const shares: ModelShare[] = [];
    const sandboxShareIds: string[] = [];
    const previousStates = new Map<string, State>();
    let elapsedMs = 0;
    const signUp = async (): Promise<void> => {
      const session = await signInPerson(contactValues, call);
      const { id } = (await session.get("/v1/me")).body.data;
      people.push({ session, id, fields: { ...contactValues }, isErased: false });
    };
    for (let index = 0; index < 3; index += 1) await signUp();
    const getPeople = (): readonly Person[] => people.filter(({ isErased }) => !isErased);
    const getStatus = (share: ModelShare): State => (share.state === "active" && share.expiresAt <= Date.now() ? "expired" : share.state);
    const addEvent = (share: ModelShare, type: DomainEventType): void => {
      share.entries.push({ type, chains: share.person.isErased ? 1 : 2 });
      if (domainEventRoutes[type].event !== null) share.events.push(type);
    };
    const addShare = (
      person: Person,
      business: Business,
      created: Grant["share"],
      grant: Grant | null,
      first: DomainEventType,
    ): ModelShare => {
      const share: ModelShare = {
        id: created.id,
        person,
        business,
        grant,
        scope: created.scope,
        createdAt: Date.parse(created.created_at),
        expiresAt: Date.parse(created.expires_at),
        receivedFields: Object.fromEntries(created.scope.map((key: string) => [key, person.fields[key] ?? null])),
        changes: new Map(),
        state: "active",
        isRedeemed: false,
        revokedAt: null,
        supersededBy: null,
        warnedUntil: Date.parse(created.created_at),
        events: [],
        entries: [],
      };
      addEvent(share, first);
      shares.push(share);
      return share;
    };

    /** With a probability of one third, makes the next isolate die at a random database round trip. */
    const armCrash = (): void => {
      const isKilled = random.below(3) === 0;
      isolate.begin(isKilled ? { trips: random.below(9), written: random.pick(["before", "after"]) } : null);
    };
    /** Retries until there is a response. The isolate can die in the first two attempts. */
    const sendUntilAnswered = async (request: () => Promise<TestResponse>): Promise<TestResponse> => {
      for (let lives = 0; lives < 2; lives += 1) {
        armCrash();
        const response = await request();
        await isolate.follow();
        if (isolate.isDead()) history.push("died");
        if (isolate.isDead()) seenDeaths.requests += 1;
        if (response.status < 500 || !isolate.isDead()) {
          isolate.begin(null);
          return response;
        }
      }
      isolate.begin(null);
      const response = await request();
      await isolate.follow();
      return response;
    };
    /** Runs a cron job without its follow-up work. */
    const runJob = async (run: (platform: Platform) => Promise<void>): Promise<void> => {
      armCrash();
      await run(isolate.services);
      if (isolate.isDead()) history.push("died");
      if (isolate.isDead()) seenDeaths.jobs += 1;
      isolate.begin(null);
    };

    const actions: Record<string, () => Promise<void>> = {
      grant: async () => {
        const [person, business] = [random.pick(getPeople()), random.pick(businesses)];
        const verifier = createVerifier();
        const scope = [random.pick(["email", "phone", "name"]), "email"];
        const options = { origin: business.origin, scope, duration_days: 1 + random.below(12), missing_ok: ["name"] };
        const body = buildDecision(verifier, options, business.account);
        const query = new URLSearchParams({
          client_id: body.client_id,
          origin: body.origin,
          scope: scope.join(" "),
          purpose: body.purpose,
          duration_days: String(options.duration_days),
          code_challenge: body.code_challenge,
          code_challenge_method: "S256",
        });
        const { authorize_token: token } = (await call(`/v1/authorize?${query}`)).body.data;
        const response = await sendUntilAnswered(() => person.session.post("/v1/share/consent", { ...body, authorize_token: token }));
        expect(describeOutcome(response), history.join(", ")).toBe("201 ok");
        const grant = { verifier, code: response.body.data.code, share: response.body.data.share };
        addShare(person, business, grant.share, grant, "share.created");
      },
      redeem: async () => {
        const share = random.pick(shares);
        if (share?.grant == null) return;
        const isOpen = Date.now() < share.createdAt + minuteMs;
        const expected = share.isRedeemed
          ? "409 code_used"
          : !isOpen
            ? "410 code_expired"
            : getStatus(share) === "active"
              ? "200 ok"
              : "409 share_inactive";
        const { account, origin } = share.business;
        const attempt = (key: string) =>
          redeemCode(share.grant as Grant, { client_id: account.clients.live }, { origin, "idempotency-key": key }, call);
        const isRace = random.below(2) === 0;
        const key = crypto.randomUUID(); // retries use the same key, as the page script does
        const responses = isRace
          ? await Promise.all([1, 2, 3].map(() => attempt(crypto.randomUUID())))
          : [await sendUntilAnswered(() => attempt(key))];
        const losers = expected === "200 ok" ? "409 code_used" : expected;
        expect(responses.map(describeOutcome).sort()).toEqual([expected, ...(isRace ? [losers, losers] : [])]);
        if (expected !== "200 ok") return;
        share.isRedeemed = true;
        addEvent(share, "share.redeemed");
      },
      revoke: async () => {
        const share = random.pick(shares.filter(({ person }) => !person.isErased));
        if (share === undefined) return;
        const status = getStatus(share);
        const response = await sendUntilAnswered(() => share.person.session.post(`/v1/shares/${share.id}/revoke`, {}));
        expect(describeOutcome(response)).toBe(status === "expired" || status === "superseded" ? "409 share_inactive" : "200 ok");
        if (status !== "active") return;
        Object.assign(share, { state: "revoked", revokedAt: Date.parse(response.body.data.share.revoked_at) });
        addEvent(share, "share.revoked");
      },
      renew: async () => {
        const share = random.pick(shares.filter(({ person }) => !person.isErased));
        if (share === undefined) return;
        const isActive = getStatus(share) === "active";
        const days = 1 + random.below(12);
        const deaths = history.filter((entry) => entry === "died").length;
        const response = await sendUntilAnswered(() =>
          share.person.session.post(`/v1/me/shares/${share.id}/renew`, { consent: true, duration_days: days }),
        );
        const isLost = describeOutcome(response) === "409 share_inactive" && history.filter((entry) => entry === "died").length > deaths;
        if (!isActive || !isLost) expect(describeOutcome(response), history.join(", ")).toBe(isActive ? "201 ok" : "409 share_inactive");
        if (!isActive) return;
        // If the response was lost, the new share is found in the person's list.
        const next = isLost
          ? (await share.person.session.get("/v1/me/shares")).body.data.shares.find(
              ({ supersedes }: { supersedes: string | null }) => supersedes === share.id,
            )
          : response.body.data.share;
        const renewed = addShare(share.person, share.business, next, null, "share.renewed");
        Object.assign(share, { state: "superseded", supersededBy: renewed.id });
      },
      acknowledge: async () => {
        const share = random.pick(shares);
        if (share === undefined) return;
        const isOpen = share.state === "revoked" || share.state === "ceased";
        const response = await sendUntilAnswered(() =>
          postWithApiKey(`/v1/shares/${share.id}/cease-ack`, {}, share.business.account.keys.live, call),
        );
        expect(describeOutcome(response)).toBe(isOpen ? "200 ok" : "409 cease_not_open");
        if (share.state !== "revoked") return;
        share.state = "ceased";
        addEvent(share, "business.ceased");
      },
      changeFields: async () => {
        const person = random.pick(getPeople());
        const change = random.pick([
          { phone: `+1 202 555 01${10 + random.below(80)}` },
          { first_name: `Pat ${random.below(5)}` },
          { last_name: null },
          { last_name: "Example" },
          { email: `pat${random.below(5)}@example.com`, first_name: `Pat ${random.below(5)}` },
        ]) as Record<string, string | null>;
        const changed = Object.keys(change).filter((key) => (person.fields[key] ?? null) !== change[key]);
        expect((await sendUntilAnswered(() => person.session.put("/v1/me/fields", change))).status).toBe(200);
        Object.assign(person.fields, change);
        for (const share of shares) {
          if (share.person !== person || getStatus(share) !== "active") continue;
          const inScope = changed.filter((key) => share.scope.includes(key));
          for (const group of fieldGroupNames.filter((name) =>
            inScope.some((key) => (fieldGroups[name] as readonly string[]).includes(key)),
          )) {
            share.changes.set(group, (share.changes.get(group) ?? 0) + 1);
            if (!share.business.isInSecondShard) share.events.push(`consumer.updated.${group}`);
          }
        }
      },
      advanceClock: async () => {
        const forward = random.pick([30_000, minuteMs, dayMs / 2, dayMs, 3 * dayMs]);
        if (elapsedMs + forward > 25 * dayMs) return; // sessions end after 30 days
        elapsedMs += forward;
        vi.setSystemTime(Date.now() + forward);
      },
      sweep: async () => {
        await runJob(sweepDueShares);
        await Promise.all([sweepDueShares(isolate.services), sweepDueShares(isolate.services)]); // as if the cron job had started twice
        const now = Date.now();
        for (const share of shares) {
          if (share.state !== "active") continue;
          const due = [7, 1].map((before) => share.expiresAt - before * dayMs).filter((mark) => mark > share.warnedUntil && mark <= now);
          const isOver = share.expiresAt <= now;
          if (isOver) share.state = "expired";
          else if (due.length === 0) continue;
          share.warnedUntil = now;
          addEvent(share, isOver ? "share.expired" : "share.expiring");
        }
      },
      settle: () => runJob(settleShares),
      erase: async () => {
        const person = random.pick(getPeople());
        if (random.below(3) > 0 || getPeople().length < 2) return;
        const { chain } = (await env.DB.prepare("SELECT audit_chain AS chain FROM consumers WHERE id = ?").bind(person.id).first()) as {
          chain: string;
        };
        // Makes it look as if the person had just signed in, because a deletion requires a sign-in within the last five minutes.
        await env.DB.prepare("UPDATE sessions SET verified_at = ? WHERE user_id = ?").bind(Date.now(), person.id).run();
        const response = await sendUntilAnswered(() =>
          call("/v1/me", { ...buildJsonRequest({ confirm: "DELETE" }, person.session.headers), method: "DELETE" }),
        );
        // If the deletion request is already stored, the session is gone, and the cron jobs finish the deletion.
        expect(["200 ok", "401 unauthorized"], history.join(", ")).toContain(describeOutcome(response));
        for (const share of shares.filter((share) => share.person === person && share.state === "active")) {
          share.state = getStatus(share) === "expired" ? "expired" : "revoked";
          addEvent(share, share.state === "expired" ? "share.expired" : "share.revoked");
        }
        if (describeOutcome(response) !== "200 ok") {
          vi.setSystemTime(Date.now() + 2 * minuteMs);
          await runJob(settleShares);
          vi.setSystemTime(Date.now() + 2 * minuteMs);
          await settleShares(isolate.services);
        }
        person.isErased = true;
        for (const db of databases) {
          // No row still belongs to the erased person or contains the person's data, except the entry about the deletion itself.
          // test/api/account-deletion.test.ts also decrypts the rows that remain.
          const left = await db
            .prepare(
              "SELECT (SELECT COUNT(*) FROM shares WHERE consumer_id = ?1) + (SELECT COUNT(*) FROM consumer_shards WHERE consumer_id = ?1) + (SELECT COUNT(*) FROM field_fanouts WHERE consumer_id = ?1) + (SELECT COUNT(*) FROM account_erasures WHERE consumer_id = ?1) + (SELECT COUNT(*) FROM mail_outbox WHERE consumer_id = ?1) + (SELECT COUNT(*) FROM audit_entries WHERE chain = ?2 AND payload_sealed IS NOT NULL AND type <> 'account.deleted') + (SELECT COUNT(*) FROM shares s WHERE s.id IN (SELECT value FROM json_each(?3)) AND (s.subject_sealed IS NOT NULL OR s.email_index IS NOT NULL OR s.phone_index IS NOT NULL OR s.consumer_chain IS NOT NULL)) AS n",
            )
            .bind(person.id, chain, JSON.stringify(shares.filter((share) => share.person === person).map(({ id }) => id)))
            .first("n");
          expect(left, history.join(", ")).toBe(0);
        }
        const revoked = await readShareRows(shares.filter((share) => share.person === person && share.state === "revoked"));
        for (const share of shares)
          if (share.person === person) share.revokedAt ??= (revoked.get(share.id)?.revoked_at as number | null) ?? null;
      },
      grantInSandbox: async () => {
        const body = buildDecision(createVerifier(), { client_id: world.acme.clients.sandbox, scope: ["email"] });
        const response = await call("/v1/share/sandbox-consent", buildJsonRequest(body, { origin: "https://www.example.com" }));
        expect(describeOutcome(response)).toBe("201 ok");
        sandboxShareIds.push(response.body.data.share.id);
      },
      // Reading must not change any row.
      read: async () => {
        const person = random.pick(getPeople());
        const [share] = shares;
        const readRows = () =>
          Promise.all(
            databases.map((db) =>
              db
                .prepare(
                  "SELECT (SELECT COUNT(*) || '|' || COALESCE(MAX(changed_by), '') FROM shares) || '|' || (SELECT COUNT(*) FROM share_codes) || '|' || (SELECT COUNT(*) FROM audit_entries) || '|' || (SELECT COUNT(*) FROM changes WHERE sequence IS NOT NULL) || '|' || (SELECT COUNT(*) FROM share_intents) || '|' || (SELECT TOTAL(revision) FROM share_values) || '|' || (SELECT COUNT(*) FROM consumer_shards) AS n",
                )
                .first("n"),
            ),
          );
        const before = await readRows();
        for (const path of ["/v1/me", "/v1/me/fields", "/v1/me/shares"]) expect((await person.session.get(path)).status).toBe(200);
        if (share !== undefined)
          for (const path of ["/v1/shares", "/v1/shares?status=expired", `/v1/shares/${share.id}`])
            expect((await getWithApiKey(path, share.business.account.keys.live, call)).status).toBe(200);
        expect(await readRows()).toEqual(before);
      },
    };

    const readShareRows = async (modelShares: readonly ModelShare[]) => {
      const rows = await Promise.all(
        databases.map((db) =>
          db
            .prepare(
              "SELECT id, state, key_sealed, next_due_at, revoked_at, cease_by, superseded_by, (SELECT COUNT(*) FROM share_values WHERE share_id = id) AS copies FROM shares WHERE id IN (SELECT value FROM json_each(?))",
            )
            .bind(JSON.stringify(modelShares.map(({ id }) => id)))
            .all<Record<string, string | number | null>>(),
        ),
      );
      return new Map(rows.flatMap(({ results }) => results.map((row) => [row.id as string, row])));
    };
    const checkRows = async (): Promise<void> => {
      const rows = await readShareRows(shares);
      const { results: shardRows } = await env.DB.prepare("SELECT consumer_id, shard FROM consumer_shards WHERE shard = '01'").all<{
        consumer_id: string;
      }>();
      const peopleInSecondShard = new Set(shardRows.map(({ consumer_id }) => consumer_id));
      for (const share of shares) {
        const row = rows.get(share.id);
        expect(row?.state, history.join(", ")).toBe(share.state);
        expect(allowedNextStates[previousStates.get(share.id) ?? "active"]).toContain(share.state);
        previousStates.set(share.id, share.state);
        const isActive = share.state === "active";
        expect([row?.key_sealed !== null, row?.next_due_at !== null, row?.copies]).toEqual([isActive, isActive, isActive ? 1 : 0]);
        expect(row?.superseded_by).toBe(share.supersededBy);
        expect(row?.revoked_at).toBe(share.revokedAt);
        expect(row?.cease_by).toBe(share.revokedAt === null ? null : getCeaseDeadline(share.revokedAt));
        // The shard must be recorded, so that account deletion finds it.
        if (share.business.isInSecondShard && !share.person.isErased) expect(peopleInSecondShard.has(share.person.id)).toBe(true);
      }
    };

    const weights = [
      ["grant", 5],
      ["redeem", 4],
      ["revoke", 2],
      ["renew", 3],
      ["acknowledge", 2],
      ["changeFields", 5],
      ["advanceClock", 4],
      ["sweep", 2],
      ["settle", 2],
      ["erase", 1],
      ["grantInSandbox", 1],
      ["read", 1],
    ] as const;
    const weighted = weights.flatMap(([name, weight]) => Array.from({ length: weight }, () => name));
    for (let step = 0; step < steps; step += 1) {
      const action = shares.length === 0 ? "grant" : random.pick(weighted);
      history.push(action);
      vi.setSystemTime(Date.now() + 5_000); // a key can make 120 calls a minute, and the clock does not advance by itself
      await actions[action]?.();
      await checkRows();
    }

    const countPendingWork = async (): Promise<number | null> => {
      const ids = JSON.stringify(people.map(({ id }) => id));
      const belongsToPerson = "consumer_id IN (SELECT value FROM json_each(?1))";
      const sql = `SELECT (SELECT COUNT(*) FROM share_intents WHERE ${belongsToPerson}) + (SELECT COUNT(*) FROM field_fanouts WHERE ${belongsToPerson}) AS n`;
      return env.DB.prepare(sql).bind(ids).first<number>("n");
    };
    // A crashed isolate blocks its work for at most a minute, so no work may be left after three runs that are two minutes apart.
    for (let runs = 0; runs < 3; runs += 1) {
      vi.setSystemTime(Date.now() + 2 * minuteMs);
      await settleShares(isolate.services);
    }
    expect(await countPendingWork(), history.join(", ")).toBe(0);
    await sweepEvents(isolate.services);
    for (const business of businesses) {
      const feed = await readNewEvents(business.account.keys.live);
      // The live feed has no events for test shares.
      for (const id of sandboxShareIds) expect(feed.filter(({ share_id }) => share_id === id)).toEqual([]);
      for (const share of shares.filter((share) => share.business === business)) {
        const receivedEvents = feed.filter(({ share_id }) => share_id === share.id);
        const isUpdate = ({ type }: { type: string }): boolean => type.startsWith("consumer.updated.");
        const getTypes = (events: typeof receivedEvents) => events.map(({ type }) => type);
        // For a business in another shard, waiting changes are combined into fewer events. Therefore, the test compares only the values:
        // after all updates, the business must have the current ones.
        expect(
          getTypes(business.isInSecondShard ? receivedEvents.filter((event) => !isUpdate(event)) : receivedEvents),
          history.join(", "),
        ).toEqual(share.events);
        for (const group of fieldGroupNames) {
          const updates = receivedEvents.filter(({ type }) => type === `consumer.updated.${group}`).length;
          expect(updates, history.join(", ")).toBeLessThanOrEqual(share.changes.get(group) ?? 0);
        }
        const current = await getWithApiKey(`/v1/consumers/${share.id}/current`, business.account.keys.live, call);
        if (getStatus(share) !== "active") {
          expect(describeOutcome(current)).toBe("409 share_inactive");
          for (const event of receivedEvents) expect(event.data).toBeNull();
        } else {
          const currentFields = Object.fromEntries(share.scope.map((key) => [key, share.person.fields[key] ?? null]));
          expect(current.body.data.fields, history.join(", ")).toEqual(currentFields);
          for (const event of receivedEvents.filter(isUpdate)) Object.assign(share.receivedFields, event.data);
          expect(share.receivedFields, history.join(", ")).toEqual(currentFields);
        }
        const countByType = async (sql: string): Promise<Map<string, number>> => {
          const { results } = await business.db.prepare(sql).bind(share.id).all<{ type: string; n: number }>();
          return new Map(results.map(({ type, n }) => [type, n]));
        };
        const countExpected = (getCount: (entry: ModelShare["entries"][number]) => number): Map<string, number> => {
          const counts = new Map<string, number>();
          for (const entry of share.entries)
            if (getCount(entry) > 0) counts.set(entry.type, (counts.get(entry.type) ?? 0) + getCount(entry));
          return counts;
        };
        // Each event has exactly one audit entry in each of its chains. If a code had been redeemed twice, there would be two.
        expect(
          await countByType(
            "SELECT type, COUNT(*) AS n FROM audit_entries WHERE entity_id = ? AND type <> 'consumer.current_read' GROUP BY type",
          ),
          history.join(", "),
        ).toEqual(countExpected(({ chains }) => chains));
        expect(await countByType("SELECT event AS type, COUNT(*) AS n FROM anchors WHERE entity_id = ? GROUP BY event")).toEqual(
          countExpected(({ type }) => (domainEventRoutes[type].anchored ? 1 : 0)),
        );
      }
      const listed = (await getWithApiKey("/v1/shares?limit=200", business.account.keys.live, call)).body.data.shares as { id: string }[];
      for (const id of sandboxShareIds) expect(listed.map(({ id }) => id)).not.toContain(id);
    }
    for (const person of getPeople()) {
      const ownShares = (await person.session.get("/v1/me/shares")).body.data.shares as { id: string; status: string }[];
      expect(new Map(ownShares.map(({ id, status }) => [id, status])), history.join(", ")).toEqual(
        new Map(shares.filter((share) => share.person === person).map((share) => [share.id, getStatus(share)])),
      );
    }
  },
  120_000,
);
