// Who acts for a business. An invitation makes nobody a member: that is done by the person, with a code mailed to the address, so
// that inviting an address takes nothing from whoever has it. Nothing here tells whether an address belongs to another business.
import type { MemberSession, Role } from "../../../core/access/session.ts";
import type { Act } from "../../../core/facts.ts";
import { homeOfId, newId } from "../../../core/ids.ts";
import { comparableMailbox } from "../../../core/mailbox.ts";
import { ok, refuse, refusedWhere, type Result } from "../../../core/result.ts";
import { trimmed } from "../../../core/text.ts";
import { dayMs } from "../../../core/time.ts";
import {
  changeRole,
  insertInvitation,
  isLastOwner,
  isMemberOf,
  isTooManyPeople,
  peopleOf,
  personOf,
  removePerson,
  type Member,
} from "../../../storage/members.ts";
import { insertMail } from "../../../storage/outboxes/mail.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";
import { tellOtherHomes } from "../access/seats.ts";
import { commitAct, homeOf, makeOnce, type Made } from "./commit-act.ts";

export type { Member };

const invitationMs = 7 * dayMs;

export const listMembers = (services: Runtime & Stores, member: MemberSession): Promise<readonly Member[]> =>
  peopleOf(homeOf(services, member), services.vault, member.business.id, services.clock());

/** A second invitation of an address takes the place of the first. */
export const inviteMember = async (
  services: Runtime & Stores & Schedules,
  member: MemberSession,
  request: { readonly email: string; readonly role: Role; readonly idempotencyKey: string | null },
): Promise<Result<Made<Member>, "invalid_request" | "member_limit" | "idempotency_conflict">> => {
  const { vault, config, random } = services;
  const { business } = member;
  const db = homeOf(services, member);
  const address = comparableMailbox(request.email);
  if (address === null) return refuse("invalid_request", "email: must be one e-mail address.");
  const emailIndex = await vault.blindIndex("email", address);
  const { role, idempotencyKey } = request;
  const once = { route: "POST /v1/business/portal/members", key: idempotencyKey, wanted: { email: address, role } };
  const invited = await makeOnce<Member, "invalid_request">(services, member, once, async (createdAt) => {
    if (await isMemberOf(db, business.id, emailIndex)) return refuse("invalid_request", "email: must not be that of a member already.");
    const id = newId("mem_", homeOfId(business.id), random);
    const email = trimmed(request.email);
    const expiresAt = createdAt + invitationMs;
    const data = { business_name: business.name, sign_in_url: `${config.appUrl}/portal/sign-in`, until: expiresAt };
    return ok({
      value: { id, email, role, createdAt, invitedUntil: expiresAt },
      rows: [
        ...(await insertInvitation(db, vault, { id, businessId: business.id, email, emailIndex, role, createdAt, expiresAt })),
        ...(await insertMail(db, vault, { template: "member_invited", data, to: email, now: createdAt })),
      ],
      act: { type: "member.invited", entityType: "member", entityId: id, payload: { role } },
    });
  }).catch(refusedWhere(isTooManyPeople, "member_limit"));
  services.scheduleMail();
  tellOtherHomes(services, homeOfId(business.id), emailIndex);
  return invited;
};

/** Of a member or of an invitation. Counts from the person's next request on. */
export const changeMember = async (
  services: Runtime & Stores & Schedules,
  member: MemberSession,
  id: string,
  role: Role,
): Promise<Result<Member, "not_found" | "last_owner">> => {
  const db = homeOf(services, member);
  const { business } = member;
  const found = await personOf(db, services.vault, business.id, id, services.clock());
  if (found === null) return refuse("not_found");
  if (found.role === role) return ok(found);
  const act: Act = { type: "member.role_changed", entityType: "member", entityId: id, payload: { role } };
  return commitAct(services, member, changeRole(db, business.id, id, role), act).then(
    () => ok({ ...found, role }),
    refusedWhere(isLastOwner, "last_owner"),
  );
};

/** Ends their sessions too. */
export const removeMember = async (
  services: Runtime & Stores & Schedules,
  member: MemberSession,
  id: string,
): Promise<Result<string, "not_found" | "last_owner">> => {
  const db = homeOf(services, member);
  const { business } = member;
  if ((await personOf(db, services.vault, business.id, id, services.clock())) === null) return refuse("not_found");
  const act: Act = { type: "member.removed", entityType: "member", entityId: id };
  return commitAct(services, member, removePerson(db, business.id, id), act).then(() => ok(id), refusedWhere(isLastOwner, "last_owner"));
};
