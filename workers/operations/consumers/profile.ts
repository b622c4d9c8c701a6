// GET /v1/me and GET /v1/me/shares: what a person sees of themselves, and of everybody who holds something of theirs.
import type { Person } from "../../../core/access/principal.ts";
import type { ConsumerPlan } from "../../../core/billing/plans.ts";
import type { BusinessId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { ContactFields } from "../../../core/shares/fields.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";
import { keptFields } from "../../../storage/contact-fields.ts";
import type { Database } from "../../../storage/database.ts";
import { together, type Lookup } from "../../../storage/lookups.ts";
import { consumerEmailContext } from "../../../storage/people-contexts.ts";
import { countActiveShares, personRecord } from "../../../storage/people.ts";
import { activeSharesWith, sharesOfPerson, type SharePage } from "../../../storage/shares.ts";
import type { Runtime, Stores } from "../../services.ts";
import { inHomes, inOwnHome } from "./homes.ts";

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

/** With what else the same page asks of the person's own home. Refuses `unauthorized` for a person who is gone. */
export const profileWith = async <T>(
  services: Runtime & Stores,
  { id }: Pick<Person, "id">,
  more: (own: Database) => Lookup<T>,
): Promise<Result<readonly [Profile, T], "unauthorized">> => {
  const { vault } = services;
  const now = services.clock();
  const active = (db: Database) => countActiveShares(db, id, now);
  const { found, others } = await inOwnHome(services, id, (own) =>
    together(own, [personRecord(own, id), keptFields(own, vault, id), active(own), more(own)]),
  );
  const [record, kept, here, rest] = found;
  if (record === null || kept === null) return refuse("unauthorized");
  const there = await inHomes(services, others, active);
  const times = Object.values(kept.fields).map(({ updatedAt }) => updatedAt);
  const profile: Profile = {
    id,
    email: await vault.open(consumerEmailContext(id), record.emailSealed),
    plan: record.plan,
    createdAt: record.createdAt,
    activeShares: there.reduce((sum, one) => sum + one, here),
    fieldsUpdatedAt: times.length === 0 ? null : Math.max(...times),
  };
  return ok([profile, rest]);
};

/** Refuses `unauthorized` for a person who is gone. */
export const readProfile = async (services: Runtime & Stores, person: Person): Promise<Result<Profile, "unauthorized">> => {
  const read = await profileWith(services, person, (own) => together(own, []));
  return read.ok ? ok(read.value[0]) : read;
};

const maxAnswered = 500;

const rank = ({ status }: Share): number => (status === "active" ? 0 : 1);

/** Of several homes: active ones first, then newest first. */
export const oneList = (pages: readonly SharePage[]): SharePage => {
  const shares = pages.flatMap((page) => page.shares).sort((a, b) => rank(a) - rank(b) || b.createdAt - a.createdAt);
  return { shares: shares.slice(0, maxAnswered), hasMore: shares.length > maxAnswered || pages.some(({ hasMore }) => hasMore) };
};

/** With what else the same page asks of the person's own home. */
const sharesWith = async <T>(
  services: Runtime & Stores,
  { id }: Person,
  more: (own: Database) => Lookup<T>,
): Promise<readonly [SharePage, T]> => {
  const now = services.clock();
  const ask = (db: Database) => sharesOfPerson(db, id, now);
  const { found, others } = await inOwnHome(services, id, (own) => together(own, [ask(own), more(own)]));
  const [here, rest] = found;
  return [oneList([here, ...(await inHomes(services, others, ask))]), rest];
};

export const listOwnShares = async (services: Runtime & Stores, person: Person): Promise<SharePage> =>
  (await sharesWith(services, person, (own) => together(own, [])))[0];

/** What a person keeps, and who holds some of it; no fields for a person who is gone. */
export const readDetails = async (
  services: Runtime & Stores,
  person: Person,
): Promise<{ readonly fields: ContactFields; readonly shares: readonly Share[] }> => {
  const [{ shares }, kept] = await sharesWith(services, person, (own) => keptFields(own, services.vault, person.id));
  return { fields: kept?.fields ?? {}, shares };
};

/** What a person shares with a business now, newest first. */
export const activeWith = async (services: Runtime & Stores, { id }: Person, businessId: BusinessId): Promise<readonly Share[]> =>
  activeSharesWith(services.homes.of(businessId), id, businessId, services.clock());
