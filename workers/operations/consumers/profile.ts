// GET /v1/me and GET /v1/me/shares: what a person sees of themselves, and of everybody who holds something of theirs.
import type { Person } from "../../../core/access/principal.ts";
import type { ConsumerPlan } from "../../../core/billing/plans.ts";
import type { BusinessId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";
import { keptFields } from "../../../storage/contact-fields.ts";
import type { Database } from "../../../storage/database.ts";
import { consumerEmailContext } from "../../../storage/people-contexts.ts";
import { countActiveShares, personRecord } from "../../../storage/person-records.ts";
import { activeSharesWith, sharesOfPerson } from "../../../storage/person-shares.ts";
import type { SharePage } from "../../../storage/shares.ts";
import type { Runtime, Stores } from "../../services.ts";
import { inHomesOf } from "./homes.ts";

export interface Profile {
  readonly id: string;
  /** The proven address. */
  readonly email: string;
  readonly plan: ConsumerPlan;
  readonly createdAt: Instant;
  readonly activeShares: number;
  /** Null while no field was ever set. */
  readonly fieldsUpdatedAt: Instant | null;
}

/** Refuses `unauthorized` for a person who is gone. */
export const readProfile = async (services: Runtime & Stores, { id }: Person): Promise<Result<Profile, "unauthorized">> => {
  const { vault } = services;
  const db = services.homes.of(id) as Database;
  const now = services.clock();
  const [record, kept, counts] = await Promise.all([
    personRecord(db, id),
    keptFields(db, vault, id),
    inHomesOf(services, id, (there) => countActiveShares(there, id, now)),
  ]);
  if (record === null || kept === null) return refuse("unauthorized");
  const times = Object.values(kept.fields).map(({ updatedAt }) => updatedAt);
  return ok({
    id,
    email: await vault.open(consumerEmailContext(id), record.emailSealed),
    plan: record.plan,
    createdAt: record.createdAt,
    activeShares: counts.reduce((sum, one) => sum + one, 0),
    fieldsUpdatedAt: times.length === 0 ? null : Math.max(...times),
  });
};

const maxAnswered = 500;

const rank = ({ status }: Share): number => (status === "active" ? 0 : 1);

/** Active ones first, then newest first. */
export const listOwnShares = async (services: Runtime & Stores, { id }: Person): Promise<SharePage> => {
  const now = services.clock();
  const pages = await inHomesOf(services, id, (there) => sharesOfPerson(there, id, now));
  const shares = pages.flatMap((page) => page.shares).sort((a, b) => rank(a) - rank(b) || b.createdAt - a.createdAt);
  return { shares: shares.slice(0, maxAnswered), hasMore: shares.length > maxAnswered || pages.some(({ hasMore }) => hasMore) };
};

/** What a person shares with a business now, newest first. */
export const activeWith = async (services: Runtime & Stores, { id }: Person, businessId: BusinessId): Promise<readonly Share[]> =>
  activeSharesWith(services.homes.of(businessId) as Database, id, businessId, services.clock());
