// GET /v1/me/export: everything that is kept about a person, opened for them. It is entered in their chain before it is read.
import type { Person } from "../../../core/access/principal.ts";
import type { AuditTrail, ProvenPage } from "../../../core/audit/trail.ts";
import { factOf } from "../../../core/facts.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { ContactFields } from "../../../core/shares/fields.ts";
import type { Instant } from "../../../core/time.ts";
import { commit } from "../../../storage/commit.ts";
import { keptFields } from "../../../storage/contact-fields.ts";
import { openGranted } from "../../../storage/share-changes.ts";
import { homesOfPerson } from "../../../storage/people.ts";
import { exportedShares, type ExportedShare } from "../../../storage/shares.ts";
import type { Proofs, Runtime, Schedules, Stores } from "../../services.ts";
import { auditTrail } from "../audit/trail.ts";
import { inHomes } from "./homes.ts";
import { readProfile, type Profile } from "./profile.ts";
import { listRemovals, type Removal } from "./removals.ts";

export interface AccountExport {
  readonly at: Instant;
  readonly profile: Profile;
  readonly fields: ContactFields;
  /** Each with the values of the moment it was granted. */
  readonly shares: readonly (ExportedShare & { readonly granted: ContactFields })[];
  /** Newest first. */
  readonly audit: readonly ProvenPage["entries"][number][];
  /** Entries on their way into the chain. */
  readonly pending: AuditTrail["pending"];
  readonly removals: readonly Removal[];
}

type ExportServices = Runtime & Stores & Proofs & Schedules;

const entriesAPage = 200;

const wholeTrail = async (
  services: ExportServices,
  person: Person,
): Promise<Result<Pick<AccountExport, "audit" | "pending">, "storage_unavailable">> => {
  const audit: AccountExport["audit"][number][] = [];
  for (let beforeSeq: number | null = null; ; ) {
    const trail: Awaited<ReturnType<typeof auditTrail>> = await auditTrail(
      services,
      { id: person.id, chain: person.chain },
      { limit: entriesAPage, beforeSeq },
    );
    if (!trail.ok) return trail;
    const { page, pending } = trail.value;
    audit.push(...(page?.entries ?? []));
    const next = page?.nextBeforeSeq ?? null;
    if (next === null) return ok({ audit, pending });
    beforeSeq = Number(next);
  }
};

/** Refuses `unauthorized` for a person who is gone, and `storage_unavailable` while the log does not answer. */
export const exportAccount = async (
  services: ExportServices,
  person: Person,
): Promise<Result<AccountExport, "unauthorized" | "storage_unavailable">> => {
  const { id } = person;
  const { vault } = services;
  const db = services.homes.of(id);
  const now = services.clock();
  const kept = await keptFields(db, vault, id);
  if (kept === null) return refuse("unauthorized");
  await commit(db, services, [], [factOf(person, { type: "data.exported", entityType: "consumer", entityId: id }, now)]);
  const [profile, found, trail, removals] = await Promise.all([
    readProfile(services, person),
    homesOfPerson(db, id).then((homes) => inHomes(services, homes, (there) => exportedShares(there, id, now))),
    wholeTrail(services, person),
    listRemovals(services, person),
  ]);
  if (!profile.ok) return profile;
  if (!trail.ok) return trail;
  const shares = await Promise.all(
    found
      .flat()
      .sort((a, b) => b.share.createdAt - a.share.createdAt)
      .map(async (one) => ({
        ...one,
        granted: one.subjectSealed === null ? {} : await openGranted(vault, one.share.id, id, one.subjectSealed),
      })),
  );
  return ok({ at: now, profile: profile.value, fields: kept.fields, shares, ...trail.value, removals });
};
