// Implements POST /v1/business/portal/members.
import type { MemberSession, Role } from "../../../core/access/session.ts";
import { toStoredIndex, type AddressIndex } from "../../../core/access/address-index.ts";
import { normalizeEmailAddress, trimTypedAddress } from "../../../core/email-address.ts";
import { generateId, shardOfId } from "../../../core/ids.ts";
import { refuse, ok, refuseWhen, type Result } from "../../../core/result.ts";
import { dayMs } from "../../../core/time.ts";
import { hasMemberWithAddress, insertInvitation, isMemberLimitReached, type Member } from "../../../storage/members.ts";
import { insertMail } from "../../../storage/outboxes/mail.ts";
import type { Counters, WriteDependencies } from "../dependencies.ts";
import { notifyOtherShards } from "../access/notify-other-shards.ts";
import { getBusinessDatabase } from "./commit-with-audit.ts";
import { createOnce, type IdempotentResult } from "./create-once.ts";

const invitationLifeMs = 7 * dayMs;

/**
 * Returns true if the business may send the address an invitation email today. The first email of a day counts only toward a limit for this
 * business and address. Further emails count toward a limit for the address that all businesses share. Callers must not reveal the result,
 * because it depends on what other businesses sent.
 */
const mayEmail = async ({ takeExactly }: Pick<Counters, "takeExactly">, businessId: string, emailIndex: AddressIndex): Promise<boolean> => {
  const index = toStoredIndex(emailIndex);
  if ((await takeExactly("INVITATION_EMAILS_PER_BUSINESS_AND_ADDRESS", `${businessId}:${index}`)).isAllowed) return true;
  return (await takeExactly("INVITATION_EMAILS_PER_ADDRESS", index)).isAllowed;
};

/**
 * Emails an invitation that is valid for seven days, and replaces an open invitation to the same address. If the address has reached its
 * limit of invitation emails, creates the invitation without an email. Can return `member_limit`, `idempotency_conflict`, and
 * `invalid_request` for an invalid address or an existing member's address.
 */
export const inviteMember = async (
  services: WriteDependencies & Pick<Counters, "takeExactly">,
  member: MemberSession,
  request: { readonly email: string; readonly role: Role; readonly idempotencyKey: string | null },
): Promise<Result<IdempotentResult<Member>, "invalid_request" | "member_limit" | "idempotency_conflict">> => {
  const { vault, config, random } = services;
  const { business } = member;
  const db = getBusinessDatabase(services, member);
  const address = normalizeEmailAddress(request.email);
  if (address === null) return refuse("invalid_request", "email: must be a valid email address.");
  const emailIndex = await vault.blindIndex("email", address);
  const { role, idempotencyKey } = request;
  const operation = { route: "POST /v1/business/portal/members", key: idempotencyKey, input: { email: address, role } };
  const invited = await createOnce<Member, "invalid_request">(services, member, operation, async (createdAt) => {
    if (await hasMemberWithAddress(db, business.id, emailIndex))
      return refuse("invalid_request", "email: already belongs to a member of this business.");
    const id = generateId("mem_", shardOfId(business.id), random);
    const email = trimTypedAddress(request.email);
    const expiresAt = createdAt + invitationLifeMs;
    const to = (await mayEmail(services, business.id, emailIndex)) ? email : null;
    const data = { businessName: business.name, signInUrl: `${config.appUrl}/portal/sign-in`, until: expiresAt };
    return ok({
      value: { id, email, role, createdAt, invitedUntil: expiresAt, deliveryFailedAt: null },
      statements: [
        ...(await insertInvitation(db, vault, {
          id,
          businessId: business.id,
          email,
          emailIndex,
          role,
          createdAt,
          expiresAt,
          invitedBy: member.userId,
        })),
        ...(await insertMail(db, vault, { template: "member_invited", data, to, now: createdAt, entityId: id })),
      ],
      action: { type: "member.invited", entityType: "member", entityId: id, payload: { role } },
    });
  }).catch(refuseWhen(isMemberLimitReached, "member_limit"));
  services.scheduleMail();
  notifyOtherShards(services, shardOfId(business.id), emailIndex);
  return invited;
};
