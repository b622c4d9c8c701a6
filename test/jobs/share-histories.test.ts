// Compares random sharing histories with a model: three people, three businesses in two shards, a clock that jumps, and isolates that die
// at any database round trip. After each step, the rows must match the model. At the end, every business must have received exactly the
// events that happened, in order. HISTORIES sets the number of histories (`npm run stress -- shares` sets 1,000), and HISTORY_SEED the
// first seed.
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
  { of: world.acme, origin: "https://www.example.com", db: env.DB, isFar: false },
  { of: world.other, origin: "https://other.example", db: env.DB, isFar: false },
  { of: worldInSecondShard.acme, origin: "https://www.example.com", db: env.DB_01, isFar: true },
] as const;
type Business = (typeof businesses)[number];
const databases = [env.DB, env.DB_01] as const;

interface Someone {
  readonly signed: SignedPerson;
  readonly id: string;
  readonly fields: Record<string, string | null>;
  isErased: boolean;
}
type State = "active" | "revoked" | "expired" | "superseded" | "ceased";
interface ModelShare {
  readonly id: string;
  readonly by: Someone;
  readonly business: Business;
  readonly made: Grant | null;
  readonly scope: readonly string[];
  readonly createdAt: number;
  readonly expiresAt: number;
  /** The values that the business received most recently. */
  readonly heard: Record<string, string | null>;
  readonly changes: Map<FieldGroup, number>;
  state: State;
  isRedeemed: boolean;
  revokedAt: number | null;
  supersededBy: string | null;
  warnedUntil: number;
  readonly events: string[];
  /** The audit entries, each of which is in both chains unless the person's account has been deleted. */
  readonly entries: { readonly type: DomainEventType; readonly chains: number }[];
}

/** Mulberry32, a small generator with the same results on every platform. */
const randomOf = (seed: number) => {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    below: (count: number): number => Math.floor(next() * count),
    one: <T>(of: readonly T[]): T => of[Math.floor(next() * of.length)] as T,
  };
};

const allowed: Readonly<Record<State, readonly State[]>> = {
  active: ["active", "revoked", "expired", "superseded"],
  revoked: ["revoked", "ceased"],
  expired: ["expired"],
  superseded: ["superseded"],
  ceased: ["ceased"],
};

/** How far each business's feed has been read. */
const cursors = new Map<string, number>();
// biome-ignore lint/suspicious/noExplicitAny: events of every type
const newEvents = async (key: string): Promise<any[]> => {
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
    const random = randomOf(seed);
    vi.setSystemTime(Date.now());
    history = [];
    const people: Someone[] = [];
    const shares: ModelShare[] = [];
    const testShares: string[] = [];
    const seen = new Map<string, State>();
    let days = 0;
    const arrive = async (): Promise<void> => {
      const signed = await signInPerson(contactValues, call);
      const { id } = (await signed.get("/v1/me")).body.data;
      people.push({ signed, id, fields: { ...contactValues }, isErased: false });
    };
    for (let arrived = 0; arrived < 3; arrived += 1) await arrive();
    const there = (): readonly Someone[] => people.filter(({ isErased }) => !isErased);
    const statusOf = (share: ModelShare): State => (share.state === "active" && share.expiresAt <= Date.now() ? "expired" : share.state);
    const addEvent = (share: ModelShare, type: DomainEventType): void => {
      share.entries.push({ type, chains: share.by.isErased ? 1 : 2 });
      if (domainEventRoutes[type].event !== null) share.events.push(type);
    };
    const add = (by: Someone, business: Business, answered: Grant["share"], made: Grant | null, first: DomainEventType): ModelShare => {
      const share: ModelShare = {
        id: answered.id,
        by,
        business,
        made,
        scope: answered.scope,
        createdAt: Date.parse(answered.created_at),
        expiresAt: Date.parse(answered.expires_at),
        heard: Object.fromEntries(answered.scope.map((key: string) => [key, by.fields[key] ?? null])),
        changes: new Map(),
        state: "active",
        isRedeemed: false,
        revokedAt: null,
        supersededBy: null,
        warnedUntil: Date.parse(answered.created_at),
        events: [],
        entries: [],
      };
      addEvent(share, first);
      shares.push(share);
      return share;
    };

    const begin = (): void => {
      const dies = random.below(3) === 0;
      isolate.begin(dies ? { trips: random.below(9), written: random.one(["before", "after"]) } : null);
    };
    /** Retries until there is a response, because the isolate may die twice. */
    const retried = async (request: () => Promise<TestResponse>): Promise<TestResponse> => {
      for (let lives = 0; lives < 2; lives += 1) {
        begin();
        const answer = await request();
        await isolate.follow();
        if (isolate.isDead()) history.push("died");
        if (isolate.isDead()) seenDeaths.requests += 1;
        if (answer.status < 500 || !isolate.isDead()) {
          isolate.begin(null);
          return answer;
        }
      }
      isolate.begin(null);
      const answer = await request();
      await isolate.follow();
      return answer;
    };
    /** Runs a cron job without its follow-up work. */
    const job = async (run: (platform: Platform) => Promise<void>): Promise<void> => {
      begin();
      await run(isolate.services);
      if (isolate.isDead()) history.push("died");
      if (isolate.isDead()) seenDeaths.jobs += 1;
      isolate.begin(null);
    };

    const acts: Record<string, () => Promise<void>> = {
      grant: async () => {
        const [by, business] = [random.one(there()), random.one(businesses)];
        const verifier = createVerifier();
        const scope = [random.one(["email", "phone", "name"]), "email"];
        const change = { origin: business.origin, scope, duration_days: 1 + random.below(12), missing_ok: ["name"] };
        const body = buildDecision(verifier, change, business.of);
        const query = new URLSearchParams({
          client_id: body.client_id,
          origin: body.origin,
          scope: scope.join(" "),
          purpose: body.purpose,
          duration_days: String(change.duration_days),
          code_challenge: body.code_challenge,
          code_challenge_method: "S256",
        });
        const { authorize_token: token } = (await call(`/v1/authorize?${query}`)).body.data;
        const answer = await retried(() => by.signed.post("/v1/share/consent", { ...body, authorize_token: token }));
        expect(describeOutcome(answer), history.join(", ")).toBe("201 ok");
        const made = { verifier, code: answer.body.data.code, share: answer.body.data.share };
        add(by, business, made.share, made, "share.created");
      },
      redeem: async () => {
        const share = random.one(shares);
        if (share?.made == null) return;
        const isOpen = Date.now() < share.createdAt + minuteMs;
        const expected = share.isRedeemed
          ? "409 code_used"
          : !isOpen
            ? "410 code_expired"
            : statusOf(share) === "active"
              ? "200 ok"
              : "409 share_inactive";
        const { of, origin } = share.business;
        const attempt = (key: string) =>
          redeemCode(share.made as Grant, { client_id: of.clients.live }, { origin, "idempotency-key": key }, call);
        const isRace = random.below(2) === 0;
        const key = crypto.randomUUID(); // retries use the same key, as the page script does
        const answers = isRace ? await Promise.all([1, 2, 3].map(() => attempt(crypto.randomUUID()))) : [await retried(() => attempt(key))];
        const others = expected === "200 ok" ? "409 code_used" : expected;
        expect(answers.map(describeOutcome).sort()).toEqual([expected, ...(isRace ? [others, others] : [])]);
        if (expected !== "200 ok") return;
        share.isRedeemed = true;
        addEvent(share, "share.redeemed");
      },
      revoke: async () => {
        const share = random.one(shares.filter(({ by }) => !by.isErased));
        if (share === undefined) return;
        const status = statusOf(share);
        const answer = await retried(() => share.by.signed.post(`/v1/shares/${share.id}/revoke`, {}));
        expect(describeOutcome(answer)).toBe(status === "expired" || status === "superseded" ? "409 share_inactive" : "200 ok");
        if (status !== "active") return;
        Object.assign(share, { state: "revoked", revokedAt: Date.parse(answer.body.data.share.revoked_at) });
        addEvent(share, "share.revoked");
      },
      renew: async () => {
        const share = random.one(shares.filter(({ by }) => !by.isErased));
        if (share === undefined) return;
        const isActive = statusOf(share) === "active";
        const days = 1 + random.below(12);
        const deaths = history.filter((word) => word === "died").length;
        const answer = await retried(() => share.by.signed.post(`/v1/me/shares/${share.id}/renew`, { consent: true, duration_days: days }));
        const isLost = describeOutcome(answer) === "409 share_inactive" && history.filter((word) => word === "died").length > deaths;
        if (!isActive || !isLost) expect(describeOutcome(answer), history.join(", ")).toBe(isActive ? "201 ok" : "409 share_inactive");
        if (!isActive) return;
        // If the response was lost, the new share is found in the person's list.
        const next = isLost
          ? (await share.by.signed.get("/v1/me/shares")).body.data.shares.find(
              ({ supersedes }: { supersedes: string | null }) => supersedes === share.id,
            )
          : answer.body.data.share;
        const renewed = add(share.by, share.business, next, null, "share.renewed");
        Object.assign(share, { state: "superseded", supersededBy: renewed.id });
      },
      acknowledge: async () => {
        const share = random.one(shares);
        if (share === undefined) return;
        const isOpen = share.state === "revoked" || share.state === "ceased";
        const answer = await retried(() => postWithApiKey(`/v1/shares/${share.id}/cease-ack`, {}, share.business.of.keys.live, call));
        expect(describeOutcome(answer)).toBe(isOpen ? "200 ok" : "409 cease_not_open");
        if (share.state !== "revoked") return;
        share.state = "ceased";
        addEvent(share, "business.ceased");
      },
      change: async () => {
        const by = random.one(there());
        const change = random.one([
          { phone: `+1 202 555 01${10 + random.below(80)}` },
          { first_name: `Pat ${random.below(5)}` },
          { last_name: null },
          { last_name: "Example" },
          { email: `pat${random.below(5)}@example.com`, first_name: `Pat ${random.below(5)}` },
        ]) as Record<string, string | null>;
        const changed = Object.keys(change).filter((key) => (by.fields[key] ?? null) !== change[key]);
        expect((await retried(() => by.signed.put("/v1/me/fields", change))).status).toBe(200);
        Object.assign(by.fields, change);
        for (const share of shares) {
          if (share.by !== by || statusOf(share) !== "active") continue;
          const inScope = changed.filter((key) => share.scope.includes(key));
          for (const group of fieldGroupNames.filter((name) =>
            inScope.some((key) => (fieldGroups[name] as readonly string[]).includes(key)),
          )) {
            share.changes.set(group, (share.changes.get(group) ?? 0) + 1);
            if (!share.business.isFar) share.events.push(`consumer.updated.${group}`);
          }
        }
      },
      jump: async () => {
        const forward = random.one([30_000, minuteMs, dayMs / 2, dayMs, 3 * dayMs]);
        if (days + forward > 25 * dayMs) return; // moves no further, because sessions end after thirty days
        days += forward;
        vi.setSystemTime(Date.now() + forward);
      },
      sweep: async () => {
        await job(sweepDueShares);
        await Promise.all([sweepDueShares(isolate.services), sweepDueShares(isolate.services)]); // as if the cron had fired twice
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
      minute: () => job(settleShares),
      erase: async () => {
        const by = random.one(there());
        if (random.below(3) > 0 || there().length < 2) return;
        const { chain } = (await env.DB.prepare("SELECT audit_chain AS chain FROM consumers WHERE id = ?").bind(by.id).first()) as {
          chain: string;
        };
        // Makes it look as if the person had just signed in, because a sign-in within the last five minutes is required.
        await env.DB.prepare("UPDATE sessions SET verified_at = ? WHERE user_id = ?").bind(Date.now(), by.id).run();
        const answer = await retried(() =>
          call("/v1/me", { ...buildJsonRequest({ confirm: "DELETE" }, by.signed.headers), method: "DELETE" }),
        );
        // If the deletion request is already stored, the session is gone, and the cron jobs finish the deletion.
        expect(["200 ok", "401 unauthorized"], history.join(", ")).toContain(describeOutcome(answer));
        for (const share of shares.filter((one) => one.by === by && one.state === "active")) {
          share.state = statusOf(share) === "expired" ? "expired" : "revoked";
          addEvent(share, share.state === "expired" ? "share.expired" : "share.revoked");
        }
        if (describeOutcome(answer) !== "200 ok") {
          vi.setSystemTime(Date.now() + 2 * minuteMs);
          await job(settleShares);
          vi.setSystemTime(Date.now() + 2 * minuteMs);
          await settleShares(isolate.services);
        }
        by.isErased = true;
        for (const db of databases) {
          // No row still belongs to the erased person or contains the person's data, except the entry about the deletion itself.
          // test/api/account-deletion.test.ts also decrypts the rows that remain.
          const left = await db
            .prepare(
              "SELECT (SELECT COUNT(*) FROM shares WHERE consumer_id = ?1) + (SELECT COUNT(*) FROM consumer_shards WHERE consumer_id = ?1) + (SELECT COUNT(*) FROM field_fanouts WHERE consumer_id = ?1) + (SELECT COUNT(*) FROM account_erasures WHERE consumer_id = ?1) + (SELECT COUNT(*) FROM mail_outbox WHERE consumer_id = ?1) + (SELECT COUNT(*) FROM audit_entries WHERE chain = ?2 AND payload_sealed IS NOT NULL AND type <> 'account.deleted') + (SELECT COUNT(*) FROM shares s WHERE s.id IN (SELECT value FROM json_each(?3)) AND (s.subject_sealed IS NOT NULL OR s.email_index IS NOT NULL OR s.phone_index IS NOT NULL OR s.consumer_chain IS NOT NULL)) AS n",
            )
            .bind(by.id, chain, JSON.stringify(shares.filter((one) => one.by === by).map(({ id }) => id)))
            .first("n");
          expect(left, history.join(", ")).toBe(0);
        }
        const revoked = await rowsOf(shares.filter((one) => one.by === by && one.state === "revoked"));
        for (const share of shares) if (share.by === by) share.revokedAt ??= (revoked.get(share.id)?.revoked_at as number | null) ?? null;
      },
      test: async () => {
        const body = buildDecision(createVerifier(), { client_id: world.acme.clients.sandbox, scope: ["email"] });
        const answer = await call("/v1/share/sandbox-consent", buildJsonRequest(body, { origin: "https://www.example.com" }));
        expect(describeOutcome(answer)).toBe("201 ok");
        testShares.push(answer.body.data.share.id);
      },
      // Reading must not change any row.
      look: async () => {
        const by = random.one(there());
        const [share] = shares;
        const rows = () =>
          Promise.all(
            databases.map((db) =>
              db
                .prepare(
                  "SELECT (SELECT COUNT(*) || '|' || COALESCE(MAX(changed_by), '') FROM shares) || '|' || (SELECT COUNT(*) FROM share_codes) || '|' || (SELECT COUNT(*) FROM audit_entries) || '|' || (SELECT COUNT(*) FROM changes WHERE sequence IS NOT NULL) || '|' || (SELECT COUNT(*) FROM share_intents) || '|' || (SELECT TOTAL(revision) FROM share_values) || '|' || (SELECT COUNT(*) FROM consumer_shards) AS n",
                )
                .first("n"),
            ),
          );
        const before = await rows();
        for (const path of ["/v1/me", "/v1/me/fields", "/v1/me/shares"]) expect((await by.signed.get(path)).status).toBe(200);
        if (share !== undefined)
          for (const path of ["/v1/shares", "/v1/shares?status=expired", `/v1/shares/${share.id}`])
            expect((await getWithApiKey(path, share.business.of.keys.live, call)).status).toBe(200);
        expect(await rows()).toEqual(before);
      },
    };

    const rowsOf = async (of: readonly ModelShare[]) => {
      const rows = await Promise.all(
        databases.map((db) =>
          db
            .prepare(
              "SELECT id, state, key_sealed, next_due_at, revoked_at, cease_by, superseded_by, (SELECT COUNT(*) FROM share_values WHERE share_id = id) AS copies FROM shares WHERE id IN (SELECT value FROM json_each(?))",
            )
            .bind(JSON.stringify(of.map(({ id }) => id)))
            .all<Record<string, string | number | null>>(),
        ),
      );
      return new Map(rows.flatMap(({ results }) => results.map((row) => [row.id as string, row])));
    };
    const check = async (): Promise<void> => {
      const rows = await rowsOf(shares);
      const { results: shardRows } = await env.DB.prepare("SELECT consumer_id, shard FROM consumer_shards WHERE shard = '01'").all<{
        consumer_id: string;
      }>();
      const far = new Set(shardRows.map(({ consumer_id }) => consumer_id));
      for (const share of shares) {
        const row = rows.get(share.id);
        expect(row?.state, history.join(", ")).toBe(share.state);
        expect(allowed[seen.get(share.id) ?? "active"]).toContain(share.state);
        seen.set(share.id, share.state);
        const isActive = share.state === "active";
        expect([row?.key_sealed !== null, row?.next_due_at !== null, row?.copies]).toEqual([isActive, isActive, isActive ? 1 : 0]);
        expect(row?.superseded_by).toBe(share.supersededBy);
        expect(row?.revoked_at).toBe(share.revokedAt);
        expect(row?.cease_by).toBe(share.revokedAt === null ? null : getCeaseDeadline(share.revokedAt));
        // The shard must be recorded, so that account deletion finds it.
        if (share.business.isFar && !share.by.isErased) expect(far.has(share.by.id)).toBe(true);
      }
    };

    const weights = [
      ["grant", 5],
      ["redeem", 4],
      ["revoke", 2],
      ["renew", 3],
      ["acknowledge", 2],
      ["change", 5],
      ["jump", 4],
      ["sweep", 2],
      ["minute", 2],
      ["erase", 1],
      ["test", 1],
      ["look", 1],
    ] as const;
    const weighted = weights.flatMap(([word, often]) => Array.from({ length: often }, () => word));
    for (let step = 0; step < steps; step += 1) {
      const act = shares.length === 0 ? "grant" : random.one(weighted);
      history.push(act);
      vi.setSystemTime(Date.now() + 5_000); // a key can make 120 calls a minute, and the clock does not advance by itself
      await acts[act]?.();
      await check();
    }

    // Runs the crons until no work is left. The work of a crashed isolate is blocked for at most a minute.
    const waits = async (): Promise<number | null> => {
      const ids = JSON.stringify(people.map(({ id }) => id));
      const of = "consumer_id IN (SELECT value FROM json_each(?1))";
      const sql = `SELECT (SELECT COUNT(*) FROM share_intents WHERE ${of}) + (SELECT COUNT(*) FROM field_fanouts WHERE ${of}) AS n`;
      return env.DB.prepare(sql).bind(ids).first<number>("n");
    };
    for (let minutes = 0; minutes < 3; minutes += 1) {
      vi.setSystemTime(Date.now() + 2 * minuteMs);
      await settleShares(isolate.services);
    }
    expect(await waits(), history.join(", ")).toBe(0);
    await sweepEvents(isolate.services);
    for (const business of businesses) {
      const feed = await newEvents(business.of.keys.live);
      // The live feed has no events for test shares.
      for (const id of testShares) expect(feed.filter(({ share_id }) => share_id === id)).toEqual([]);
      for (const share of shares.filter((one) => one.business === business)) {
        const heard = feed.filter(({ share_id }) => share_id === share.id);
        const isUpdate = ({ type }: { type: string }): boolean => type.startsWith("consumer.updated.");
        const types = (of: typeof heard) => of.map(({ type }) => type);
        // For a business in another shard, waiting changes are combined into fewer events. Therefore, the test compares only the values:
        // after all updates, the business must have the current ones.
        expect(types(business.isFar ? heard.filter((event) => !isUpdate(event)) : heard), history.join(", ")).toEqual(share.events);
        for (const group of fieldGroupNames) {
          const updates = heard.filter(({ type }) => type === `consumer.updated.${group}`).length;
          expect(updates, history.join(", ")).toBeLessThanOrEqual(share.changes.get(group) ?? 0);
        }
        const current = await getWithApiKey(`/v1/consumers/${share.id}/current`, business.of.keys.live, call);
        if (statusOf(share) !== "active") {
          expect(describeOutcome(current)).toBe("409 share_inactive");
          for (const event of heard) expect(event.data).toBeNull();
        } else {
          const copy = Object.fromEntries(share.scope.map((key) => [key, share.by.fields[key] ?? null]));
          expect(current.body.data.fields, history.join(", ")).toEqual(copy);
          for (const event of heard.filter(isUpdate)) Object.assign(share.heard, event.data);
          expect(share.heard, history.join(", ")).toEqual(copy);
        }
        const counted = async (sql: string): Promise<Map<string, number>> => {
          const { results } = await business.db.prepare(sql).bind(share.id).all<{ type: string; n: number }>();
          return new Map(results.map(({ type, n }) => [type, n]));
        };
        const expected = (number: (entry: ModelShare["entries"][number]) => number): Map<string, number> => {
          const counts = new Map<string, number>();
          for (const one of share.entries) if (number(one) > 0) counts.set(one.type, (counts.get(one.type) ?? 0) + number(one));
          return counts;
        };
        // Each event has exactly one audit entry in each of its chains. If a code had been redeemed twice, there would be two.
        expect(
          await counted(
            "SELECT type, COUNT(*) AS n FROM audit_entries WHERE entity_id = ? AND type <> 'consumer.current_read' GROUP BY type",
          ),
          history.join(", "),
        ).toEqual(expected(({ chains }) => chains));
        expect(await counted("SELECT event AS type, COUNT(*) AS n FROM anchors WHERE entity_id = ? GROUP BY event")).toEqual(
          expected(({ type }) => (domainEventRoutes[type].anchored ? 1 : 0)),
        );
      }
      const listed = (await getWithApiKey("/v1/shares?limit=200", business.of.keys.live, call)).body.data.shares as { id: string }[];
      for (const id of testShares) expect(listed.map(({ id }) => id)).not.toContain(id);
    }
    for (const by of there()) {
      const mine = (await by.signed.get("/v1/me/shares")).body.data.shares as { id: string; status: string }[];
      expect(new Map(mine.map(({ id, status }) => [id, status])), history.join(", ")).toEqual(
        // The list contains exactly these shares.
        new Map(shares.filter((share) => share.by === by).map((share) => [share.id, statusOf(share)])),
      );
    }
  },
  120_000,
);
