// Shows an operator a removal request, with the personal data that data brokers need to find the person.
import { createAuditedEvent } from "../../../core/domain-events.ts";
import type { RemovalId } from "../../../core/ids.ts";
import type { Removal } from "../../../core/removals/removal.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { ContactFields } from "../../../core/shares/fields.ts";
import { commit } from "../../../storage/commit.ts";
import { findContactFields } from "../../../storage/contact-fields.ts";
import { findConsumerAddress, findPersonChain } from "../../../storage/people.ts";
import { findRemoval } from "../../../storage/removals.ts";
import type { WriteDependencies } from "../dependencies.ts";

export interface OpenedRemoval {
  readonly removal: Removal;
  readonly email: string;
  readonly fields: ContactFields;
}

/**
 * Records the read in the person's audit chain before it returns the data. Returns `not_found` if the removal is unknown or the account is
 * erased.
 */
export const openRemoval = async (services: WriteDependencies, id: RemovalId | null): Promise<Result<OpenedRemoval, "not_found">> => {
  const { vault } = services;
  if (id === null) return refuse("not_found");
  const db = services.shards.forId(id);
  const found = await findRemoval(db, vault, id);
  if (found === null) return refuse("not_found");
  const { consumerId } = found.removal;
  const [email, chain, stored] = await Promise.all([
    findConsumerAddress(db, vault, consumerId),
    findPersonChain(db, consumerId),
    findContactFields(db, vault, consumerId),
  ]);
  if (email === null || chain === null || stored === null) return refuse("not_found");
  const action = { type: "removal.opened", entityType: "removal", entityId: id, payload: {} } as const;
  await commit(db, services, [], [createAuditedEvent({ chain, actor: { kind: "operator" } }, action, services.clock())]);
  return ok({ removal: found.removal, email, fields: stored.fields });
};
