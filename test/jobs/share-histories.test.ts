// Random histories of sharing against a model: three persons, three businesses in two homes, a clock that jumps. After each step the
// rows are what the model says, and in the end every business has heard exactly what happened, in order.
//   HISTORIES=200 HISTORY_SEED=5 npm run torture -- shares
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { ceaseBy } from "../../core/business-days.ts";
import { fieldGroups, type FieldGroup } from "../../core/shares/fields.ts";
import { dayMs, minuteMs } from "../../core/time.ts";
import { settleShares, sweepDueShares } from "../../workers/background/share-sweep.ts";
import type { Env } from "../../workers/env.ts";
import { platformOf } from "../../workers/services.ts";
import { settled } from "../support/settled.ts";
import { allEvents, grant, outcome, person, read, redeem, values, write, type Grant, type SignedPerson } from "../support/sharing.ts";
import { world, worldInSecondHome } from "../support/world.ts";

const firstSeed = Number(env.HISTORY_SEED ?? 1);
const seeds = Array.from({ length: Number(env.HISTORIES ?? 3) }, (_, at) => firstSeed + at);
const steps = 25;
const platform = await platformOf(env as unknown as Env);

const businesses = [
  { of: world.acme, origin: "https://www.example.com", db: env.DB },
  { of: world.other, origin: "https://other.example", db: env.DB },
  { of: worldInSecondHome.acme, origin: "https://www.example.com", db: env.DB_01 },
] as const;
type Business = (typeof businesses)[number];

interface Someone {
  readonly signed: SignedPerson;
  readonly fields: Record<string, string | null>;
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
  state: State;
  isRedeemed: boolean;
  revokedAt: number | null;
  supersededBy: string | null;
  warnedUntil: number;
  readonly events: string[];
  readonly entries: string[];
}

/** Mulberry32: small, and the same everywhere. */
const drawsOf = (seed: number) => {
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

afterEach(() => vi.useRealTimers());

test.each(seeds)(
  "history %i is what the model says, at every step and in the end",
  async (seed) => {
    const draws = drawsOf(seed);
    const people: Someone[] = [];
    for (let count = 0; count < 3; count += 1) people.push({ signed: await person(), fields: { ...values } });
    const shares: ModelShare[] = [];
    const told: string[] = [];
    const seen = new Map<string, State>();
    let days = 0;
    const statusOf = (share: ModelShare): State => (share.state === "active" && share.expiresAt <= Date.now() ? "expired" : share.state);
    const add = (by: Someone, business: Business, answered: Grant["share"], made: Grant | null, fact: string): ModelShare => {
      const share: ModelShare = {
        id: answered.id,
        by,
        business,
        made,
        scope: answered.scope,
        createdAt: Date.parse(answered.created_at),
        expiresAt: Date.parse(answered.expires_at),
        state: "active",
        isRedeemed: false,
        revokedAt: null,
        supersededBy: null,
        warnedUntil: Date.parse(answered.created_at),
        events: [fact],
        entries: [fact],
      };
      shares.push(share);
      return share;
    };

    const acts: Record<string, () => Promise<void>> = {
      grant: async () => {
        const [by, business] = [draws.one(people), draws.one(businesses)];
        const change = {
          origin: business.origin,
          scope: [draws.one(["email", "phone", "name"]), "email"],
          duration_days: 1 + draws.below(12),
          missing_ok: ["name"],
        };
        const made = await grant(by.signed, change, business.of);
        add(by, business, made.share, made, "share.created");
      },
      redeem: async () => {
        const share = draws.one(shares);
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
        const answers = await Promise.all([1, 2, 3].map(() => redeem(share.made as Grant, { client_id: of.clients.live }, { origin })));
        const wanted = expected === "200 ok" ? ["200 ok", "409 code_used", "409 code_used"] : Array.from({ length: 3 }, () => expected);
        expect(answers.map(outcome).sort()).toEqual(wanted);
        if (expected !== "200 ok") return;
        share.isRedeemed = true;
        share.entries.push("share.redeemed");
      },
      revoke: async () => {
        const share = draws.one(shares);
        if (share === undefined) return;
        const status = statusOf(share);
        const answer = await share.by.signed.post(`/v1/shares/${share.id}/revoke`, {});
        expect(outcome(answer)).toBe(status === "expired" || status === "superseded" ? "409 share_inactive" : "200 ok");
        if (status !== "active") return;
        Object.assign(share, { state: "revoked", revokedAt: Date.parse(answer.body.data.share.revoked_at) });
        share.events.push("share.revoked");
        share.entries.push("share.revoked");
      },
      renew: async () => {
        const share = draws.one(shares);
        if (share === undefined) return;
        const isActive = statusOf(share) === "active";
        const answer = await share.by.signed.post(`/v1/me/shares/${share.id}/renew`, { consent: true, duration_days: 1 + draws.below(12) });
        expect(outcome(answer)).toBe(isActive ? "201 ok" : "409 share_inactive");
        if (!isActive) return;
        const next = add(share.by, share.business, answer.body.data.share, null, "share.renewed");
        Object.assign(share, { state: "superseded", supersededBy: next.id });
      },
      acknowledge: async () => {
        const share = draws.one(shares);
        if (share === undefined) return;
        const isOpen = share.state === "revoked" || share.state === "ceased";
        const answer = await write(`/v1/shares/${share.id}/cease-ack`, {}, share.business.of.keys.live);
        expect(outcome(answer)).toBe(isOpen ? "200 ok" : "409 cease_not_open");
        if (share.state !== "revoked") return;
        share.state = "ceased";
        share.events.push("business.ceased");
        share.entries.push("business.ceased");
      },
      change: async () => {
        const by = draws.one(people);
        const change = draws.one([
          { phone: `+1 202 555 01${10 + draws.below(80)}` },
          { first_name: `Pat ${draws.below(5)}` },
          { last_name: null },
          { last_name: "Example" },
        ]) as Record<string, string | null>;
        const changed = Object.keys(change).filter((key) => (by.fields[key] ?? null) !== change[key]);
        expect((await by.signed.put("/v1/me/fields", change)).status).toBe(200);
        Object.assign(by.fields, change);
        await settled(); // the other home hears after the answer
        const groups = (Object.keys(fieldGroups) as FieldGroup[]).filter((group) =>
          changed.some((key) => fieldGroups[group].includes(key as never)),
        );
        for (const share of shares)
          if (share.by === by && statusOf(share) === "active" && changed.some((key) => share.scope.includes(key)))
            share.events.push(...groups.map((group) => `consumer.updated.${group}`));
      },
      jump: async () => {
        const forward = draws.one([30_000, minuteMs, dayMs / 2, dayMs, 3 * dayMs]);
        if (days + forward > 25 * dayMs) return; // sessions end after thirty days
        days += forward;
        vi.setSystemTime(Date.now() + forward);
      },
      sweep: async () => {
        const now = Date.now();
        await Promise.all([sweepDueShares(platform), sweepDueShares(platform)]); // a doubled cron
        for (const share of shares) {
          if (share.state !== "active") continue;
          const due = [7, 1].map((before) => share.expiresAt - before * dayMs).filter((mark) => mark > share.warnedUntil && mark <= now);
          const fact = share.expiresAt <= now ? "share.expired" : "share.expiring";
          if (fact === "share.expired") share.state = "expired";
          else if (due.length === 0) continue;
          share.warnedUntil = now;
          share.events.push(fact);
          share.entries.push(fact);
        }
      },
      minute: () => settleShares(platform),
    };

    const check = async (): Promise<void> => {
      for (const share of shares) {
        const row = await share.business.db
          .prepare(
            "SELECT state, key_sealed, next_due_at, revoked_at, cease_by, superseded_by, (SELECT COUNT(*) FROM share_values WHERE share_id = id) AS copies, (SELECT COUNT(*) FROM shares o WHERE o.supersedes = shares.id) AS successors FROM shares WHERE id = ?",
          )
          .bind(share.id)
          .first<Record<string, string | number | null>>();
        expect(row?.state, told.join(", ")).toBe(share.state);
        expect(allowed[seen.get(share.id) ?? "active"]).toContain(share.state);
        seen.set(share.id, share.state);
        const isActive = share.state === "active";
        expect([row?.key_sealed !== null, row?.next_due_at !== null, row?.copies]).toEqual([isActive, isActive, isActive ? 1 : 0]);
        expect([row?.superseded_by, row?.successors]).toEqual([share.supersededBy, share.supersededBy === null ? 0 : 1]);
        expect(row?.revoked_at).toBe(share.revokedAt);
        expect(row?.cease_by).toBe(share.revokedAt === null ? null : ceaseBy(share.revokedAt));
      }
    };

    for (let step = 0; step < steps; step += 1) {
      const act =
        shares.length === 0
          ? "grant"
          : draws.one([
              "grant",
              "grant",
              "redeem",
              "redeem",
              "revoke",
              "renew",
              "acknowledge",
              "change",
              "change",
              "jump",
              "jump",
              "sweep",
              "minute",
            ]);
      told.push(act);
      await acts[act]?.();
      await check();
    }
    await settled();
    await settleShares(platform);
    await settled();
    expect(await env.DB.prepare("SELECT (SELECT COUNT(*) FROM share_intents) + (SELECT COUNT(*) FROM field_fanouts) AS n").first("n")).toBe(
      0,
    );
    for (const business of businesses) {
      const feed = await allEvents(business.of.keys.live);
      for (const share of shares.filter((one) => one.business === business)) {
        expect(
          feed.filter(({ share_id }) => share_id === share.id).map(({ type }) => type),
          told.join(", "),
        ).toEqual(share.events);
        const current = await read(`/v1/consumers/${share.id}/current`, business.of.keys.live);
        if (statusOf(share) !== "active") expect(outcome(current)).toBe("409 share_inactive");
        else expect(current.body.data.fields).toEqual(Object.fromEntries(share.scope.map((key) => [key, share.by.fields[key] ?? null])));
        const { results } = await business.db
          .prepare("SELECT type, COUNT(*) AS n FROM audit_outbox WHERE entity_id = ? AND type <> 'consumer.current_read' GROUP BY type")
          .bind(share.id)
          .all<{ type: string; n: number }>();
        const counts = new Map<string, number>();
        for (const fact of share.entries) counts.set(fact, (counts.get(fact) ?? 0) + 2); // the business's chain and the person's
        expect(new Map(results.map(({ type, n }) => [type, n]))).toEqual(counts);
      }
    }
    for (const { signed } of people) {
      const mine = (await signed.get("/v1/me/shares")).body.data.shares as { id: string; status: string }[];
      expect(new Map(mine.map(({ id, status }) => [id, status]))).toEqual(
        new Map(shares.filter(({ by }) => by.signed === signed).map((share) => [share.id, statusOf(share)])),
      );
    }
  },
  120_000,
);
