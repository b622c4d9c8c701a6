// Limits the webhook requests that are sent to one host, so that an attacker cannot flood another company's server by adding many endpoints
// or businesses. There is one object per host. A host is proven for a business once it has returned a 2xx status for that business. Only
// attempts to an unproven host are limited. Once a delivery queue knows that its host is proven, it stops calling this object.
import { DurableObject } from "cloudflare:workers";
import { dayMs, secondMs, type Instant } from "../../core/time.ts";
import { computeHostPauseMs, maxHostWaitMs, type HostAttempt, type HostPermit } from "../../core/webhooks/host-pacing.ts";
import { migrateSchema } from "../schema-steps.ts";
import { destinationHostSteps } from "./migrations.ts";
import * as tables from "./tables.ts";

const turnMs = 30 * secondMs; // how long a business keeps its place after its turn has come, because its alarm can be late
const pruneIntervalMs = dayMs;

export class DestinationHost extends DurableObject {
  constructor(ctx: DurableObjectState, env: unknown) {
    super(ctx, env as never);
    migrateSchema(ctx.storage, destinationHostSteps);
  }

  /**
   * Counts an attempt if the host is unproven for the business and the limits allow the attempt. The count is on disk before the caller
   * gets the permit. If the host has reached its limit, the businesses wait in a queue, in the order of their first calls.
   */
  async takeAttempt(attempt: HostAttempt): Promise<HostPermit> {
    const { storage } = this.ctx;
    if (tables.isProven(storage.sql, attempt.businessId)) return { kind: "proven" };
    const permit = storage.transactionSync(() => this.#decide(attempt));
    if ((await storage.getAlarm()) === null) await storage.setAlarm(Date.now() + pruneIntervalMs);
    return permit;
  }

  /** Records that the host has returned a 2xx status for this business. */
  recordSuccess(businessId: string, now: Instant): void {
    this.ctx.storage.transactionSync(() => tables.saveProven(this.ctx.storage.sql, businessId, now));
  }

  #decide({ businessId, now, limits, isMemberCall }: HostAttempt): HostPermit {
    const { sql } = this.ctx.storage;
    const [ownWindowMs, hostWindowMs] = [limits.business.seconds * secondMs, limits.host.seconds * secondMs];
    const windowMs = Math.max(ownWindowMs, hostWindowMs);
    // Also deletes attempts that are more than one window in the future, which were recorded before the clock was set back.
    tables.prune(sql, { start: now - windowMs, end: now + windowMs, now });

    // While other businesses wait, the host's limit is divided evenly, so that a few businesses cannot use all of it.
    const others = tables.countOthers(sql, now - 2 * hostWindowMs, businessId);
    const share = others.waiting === 0 ? limits.business.count : Math.max(1, Math.floor(limits.host.count / (others.active + 1)));
    const ownAttempts = tables.listAttemptTimes(sql, now - ownWindowMs, businessId);
    const leaving = ownAttempts[ownAttempts.length - Math.min(limits.business.count, share)];
    const earlier = tables.findUnproven(sql, businessId);
    const pausedUntil = earlier === null || isMemberCall ? now : earlier.last_at + computeHostPauseMs(earlier.attempts);
    const ownFrom = Math.max(pausedUntil, leaving === undefined ? now : leaving + ownWindowMs);
    if (ownFrom > now) return { kind: "wait", waitMs: Math.min(maxHostWaitMs, ownFrom - now) };

    const all = tables.listAttemptTimes(sql, now - hostWindowMs, null);
    const ahead = tables.countAhead(sql, businessId);
    const free = limits.host.count - all.length;
    if (ahead < free) {
      tables.insertAttempt(sql, businessId, now);
      return { kind: "counted" };
    }
    // The business's turn comes when enough attempts are older than the window to make room for it and the businesses ahead of it.
    const turnAt = (all[ahead - free] ?? now) + hostWindowMs;
    const waitMs = Math.max(1, Math.min(maxHostWaitMs, turnAt - now));
    tables.saveWaiting(sql, businessId, now, now + waitMs + turnMs);
    return { kind: "wait", waitMs };
  }

  /** Deletes old rows. `takeAttempt` also does this, but may never be called again. */
  override async alarm(): Promise<void> {
    const now = Date.now();
    tables.prune(this.ctx.storage.sql, { start: now - pruneIntervalMs, end: Number.MAX_SAFE_INTEGER, now });
    if (tables.hasPrunableRows(this.ctx.storage.sql)) await this.ctx.storage.setAlarm(now + pruneIntervalMs);
  }
}
