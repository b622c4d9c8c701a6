// Implements POST /v1/business/portal/recipients.
import type { MemberSession } from "../../../core/access/session.ts";
import { maxEntityLength } from "../../../core/certificates/recipients.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { parseLine } from "../../../core/text.ts";
import { findBusinessNames } from "../../../storage/accounts.ts";
import {
  findLinkedRecipient,
  insertLinkedRecipient,
  isAlreadyLinked,
  isRecipientLimitReached,
  type LinkedRecipient,
  type RecipientLink,
} from "../../../storage/linked-recipients.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { commitWithAudit, getBusinessDatabase } from "./commit-with-audit.ts";

/** Returns the audited action for adding or removing a link. Hashes the name, because it can be a person's name. */
export const toLinkAction = (
  { business }: MemberSession,
  type: "recipient.linked" | "recipient.unlinked",
  { recipientId, entity }: RecipientLink,
) =>
  ({
    type,
    entityType: "business",
    entityId: business.id,
    payload: { recipient: recipientId, entity_sha256: sha256Hex(entity) },
  }) as const;

/**
 * Allows another business to call `match` for certificates on which a recipient has the name `entity`. Adding the same link again changes
 * nothing and succeeds. Can return `invalid_request`, `not_found` for an unknown business, and `recipient_limit`.
 */
export const linkRecipient = async (
  services: WriteDependencies,
  member: MemberSession,
  request: RecipientLink,
): Promise<Result<LinkedRecipient, "invalid_request" | "not_found" | "recipient_limit">> => {
  const { id } = member.business;
  const entity = parseLine("entity", request.entity, maxEntityLength);
  if (!entity.ok) return entity;
  if (entity.value === null) return refuse("invalid_request", "entity: must not be empty.");
  const link = { entity: entity.value, recipientId: request.recipientId };
  if (link.recipientId === id) return refuse("invalid_request", "business_id: must be the ID of another business.");
  if ((await findBusinessNames(services.shards.forId(link.recipientId), link.recipientId)) === null) return refuse("not_found");
  const db = getBusinessDatabase(services, member);
  const earlier = await findLinkedRecipient(db, id, link);
  if (earlier !== null) return ok(earlier);
  const createdAt = services.clock();
  try {
    const action = toLinkAction(member, "recipient.linked", link);
    await commitWithAudit(services, member, [insertLinkedRecipient(db, id, link, createdAt)], action, { at: createdAt });
  } catch (error) {
    if (isRecipientLimitReached(error)) return refuse("recipient_limit");
    const concurrent = isAlreadyLinked(error) ? await findLinkedRecipient(db, id, link) : null;
    if (concurrent === null) throw error;
    return ok(concurrent);
  }
  return ok({ ...link, createdAt });
};
