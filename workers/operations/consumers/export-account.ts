// Implements GET /v1/me/export. Returns the data of a person's account, decrypted for that person.
import type { Person } from "../../../core/access/principal.ts";
import type { AuditTrail, AuditPage } from "../../../core/audit/trail.ts";
import { createAuditedEvent } from "../../../core/domain-events.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { ContactFields } from "../../../core/shares/fields.ts";
import type { Instant } from "../../../core/time.ts";
import { commit } from "../../../storage/commit.ts";
import { findContactFields } from "../../../storage/contact-fields.ts";
import { openGrantedFields } from "../../../storage/share-changes.ts";
import { listPersonShards } from "../../../storage/people.ts";
import { listSharesForExport, type ExportedShare } from "../../../storage/shares.ts";
import type { ConsumerWriteDependencies } from "./dependencies.ts";
import { getAuditTrail } from "../audit/get-audit-trail.ts";
import { queryShards } from "./query-shards.ts";
import { getProfile, type Profile } from "./get-profile.ts";
import type { Removal } from "../../../core/removals/removal.ts";
import { listAllRemovals } from "./list-removals.ts";

export interface AccountExport {
  readonly at: Instant;
  readonly profile: Profile;
  readonly fields: ContactFields;
  /** The person's shares, each with the values at the time of the grant. */
  readonly shares: readonly (ExportedShare & { readonly granted: ContactFields })[];
  /** The entries of the audit trail, newest first. */
  readonly audit: readonly AuditPage["entries"][number][];
  /** Committed entries that are not in the audit log yet. */
  readonly pending: AuditTrail["pending"];
  readonly removals: readonly Removal[];
}

const entriesPerPage = 200;

const loadEntireTrail = async (
  services: ConsumerWriteDependencies,
  person: Person,
): Promise<Result<Pick<AccountExport, "audit" | "pending">, "storage_unavailable">> => {
  const audit: AccountExport["audit"][number][] = [];
  for (let beforeSeq: number | null = null; ; ) {
    const trail: Awaited<ReturnType<typeof getAuditTrail>> = await getAuditTrail(
      services,
      { id: person.id, chain: person.chain },
      { limit: entriesPerPage, beforeSeq },
    );
    if (!trail.ok) return trail;
    const { page, pending } = trail.value;
    audit.push(...(page?.entries ?? []));
    const next = page?.nextBeforeSeq ?? null;
    if (next === null) return ok({ audit, pending });
    beforeSeq = Number(next);
  }
};

/**
 * Returns the profile, contact fields, shares, audit trail and removals. Before it returns them, commits an audit entry about the export to
 * the person's chain. Returns `unauthorized` if the account no longer exists, and `storage_unavailable` if the audit log is unavailable.
 */
export const exportAccount = async (
  services: ConsumerWriteDependencies,
  person: Person,
): Promise<Result<AccountExport, "unauthorized" | "storage_unavailable">> => {
  const { id } = person;
  const { vault } = services;
  const db = services.shards.forId(id);
  const now = services.clock();
  const stored = await findContactFields(db, vault, id);
  if (stored === null) return refuse("unauthorized");
  await commit(db, services, [], [createAuditedEvent(person, { type: "data.exported", entityType: "consumer", entityId: id }, now)]);
  const [profile, found, trail, removals] = await Promise.all([
    getProfile(services, person),
    listPersonShards(db, id).then((shards) => queryShards(services, shards, (shard) => listSharesForExport(shard, id, now))),
    loadEntireTrail(services, person),
    listAllRemovals(services, person),
  ]);
  if (!profile.ok) return profile;
  if (!trail.ok) return trail;
  const shares = await Promise.all(
    found
      .flat()
      .sort((a, b) => b.share.createdAt - a.share.createdAt)
      .map(async (exported) => ({
        ...exported,
        granted: exported.subjectSealed === null ? {} : await openGrantedFields(vault, exported.share.id, id, exported.subjectSealed),
      })),
  );
  return ok({ at: now, profile: profile.value, fields: stored.fields, shares, ...trail.value, removals });
};
