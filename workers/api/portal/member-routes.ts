// Who acts for a business (CONTRACT 10).
import { z } from "@hono/zod-openapi";
import { memberIdOf } from "../../../core/ids.ts";
import { isoOf, isoOrNull } from "../../../core/time.ts";
import { jsonBody, noBody } from "../../http/body.ts";
import { answer, failure, success } from "../../http/envelope.ts";
import { limitByAccount } from "../../http/guards.ts";
import { answerKept, sentKey, takesKey } from "../../http/idempotency.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { behindPortal, ownerOnly } from "../../http/session-guards.ts";
import { answerOf, bodyOf, deletedSchema, deletedToWire, idParam, time } from "../../http/wire.ts";
import { changeMember, inviteMember, listMembers, removeMember, type Member } from "../../operations/portal/members.ts";

const exampleId = "mem_00m4x8c1v6b3n9q2t7w0h5k3d8";
const roleSchema = z
  .enum(["owner", "member"])
  .openapi({ description: "An owner changes things; a member reads, tests and acknowledges.", example: "member" });

const memberParam = z.object({ member_id: idParam(memberIdOf, "Id of the member or invitation, prefix `mem_`.", exampleId) });

const inviteSchema = z
  .object({ email: z.string().openapi({ description: "One e-mail address.", example: "sam@acme-solar.example" }), role: roleSchema })
  .openapi("Invitation");

const memberSchema = z
  .object({
    id: z.string(),
    email: z.string(),
    role: roleSchema,
    status: z.enum(["active", "invited"]).openapi({ description: "`invited` until the person has signed in with that address." }),
    invited_until: time.nullable().openapi({ description: "Until when the invitation can be accepted." }),
    created_at: time,
  })
  .openapi("Member");

const memberToWire = (member: Member): z.input<typeof memberSchema> => ({
  id: member.id,
  email: member.email,
  role: member.role,
  status: member.invitedUntil === null ? "active" : "invited",
  invited_until: isoOrNull(member.invitedUntil),
  created_at: isoOf(member.createdAt),
});
const example = memberToWire({
  id: exampleId,
  email: "sam@acme-solar.example",
  role: "member",
  createdAt: Date.UTC(2026, 2, 4, 5, 6, 7, 89),
  invitedUntil: Date.UTC(2026, 2, 11, 5, 6, 7, 89),
});
const createRoute = routesOf("portal");

const noSuch = { not_found: "There is no such member or invitation, or it is not yours." } as const;

const invitationsCounted = limitByAccount(
  "INVITATIONS_PER_BUSINESS",
  "More than 30 invitations in a day by one business, or 120 requests a minute by one person.",
);

const listRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/members",
  operationId: "listMembers",
  summary: "List who acts for the business",
  description: "Members, then invitations that can still be accepted.",
  middleware: behindPortal(),
  responses: { 200: answerOf("The people.", "MembersAnswer", z.object({ members: z.array(memberSchema) }), { members: [example] }) },
});

const inviteRoute = createRoute({
  method: "post",
  path: "/v1/business/portal/members",
  operationId: "inviteMember",
  summary: "Invite somebody",
  description:
    "Owners only. Mails an invitation that is good for a week; signing in with a code mailed to that address accepts it, or, where the address acts for another business already, its person in the portal. Nothing here tells whether it does. At most 100 people.",
  middleware: behindPortal(ownerOnly, invitationsCounted, jsonBody, takesKey),
  request: { body: bodyOf(inviteSchema, { email: "sam@acme-solar.example", role: "member" }) },
  responses: { 201: answerOf("Invited by mail.", "InvitedMemberAnswer", memberSchema, example) },
  refuses: ["member_limit"],
});

const changeRoute = createRoute({
  method: "patch",
  path: "/v1/business/portal/members/{member_id}",
  operationId: "changeMember",
  summary: "Change a role",
  description: "Owners only. Counts from the person's next request on. The last owner stays one.",
  middleware: behindPortal(ownerOnly, jsonBody),
  request: { params: memberParam, body: bodyOf(z.object({ role: roleSchema }).openapi("RoleChange"), { role: "owner" }) },
  responses: { 200: answerOf("As it is now.", "MemberAnswer", memberSchema, { ...example, role: "owner" }) },
  refuses: ["last_owner"],
  when: noSuch,
});

const leaveRoute = createRoute({
  method: "delete",
  path: "/v1/business/portal/members/me",
  operationId: "leaveBusiness",
  summary: "Leave the business",
  description: "Takes yourself out and ends your sessions. The last owner stays.",
  middleware: behindPortal(noBody),
  responses: { 200: answerOf("You are no member any more.", "LeftBusinessAnswer", deletedSchema, deletedToWire(exampleId)) },
  refuses: ["last_owner"],
});

const removeRoute = createRoute({
  method: "delete",
  path: "/v1/business/portal/members/{member_id}",
  operationId: "removeMember",
  summary: "Remove a member, or take an invitation back",
  description: "Owners only. The person's sessions end at once. The last owner stays.",
  middleware: behindPortal(ownerOnly, noBody),
  request: { params: memberParam },
  responses: { 200: answerOf("No member any more.", "RemovedMemberAnswer", deletedSchema, deletedToWire(exampleId)) },
  refuses: ["last_owner"],
  when: noSuch,
});

export const members = newApi();

members.openapi(listRoute, async (c) => success(c, 200, { members: (await listMembers(c.var.services, c.var.member)).map(memberToWire) }));

members.openapi(inviteRoute, async (c) => {
  const invited = await inviteMember(c.var.services, c.var.member, { ...c.req.valid("json"), idempotencyKey: sentKey(c) });
  return answerKept(c, invited, memberToWire);
});

members.openapi(changeRoute, async (c) => {
  const changed = await changeMember(c.var.services, c.var.member, c.req.valid("param").member_id, c.req.valid("json").role);
  return answer(c, 200, changed, memberToWire);
});

// Before the route with an id, which would take `me` for one.
members.openapi(leaveRoute, async (c) => {
  const left = await removeMember(c.var.services, c.var.member, c.var.member.userId);
  if (!left.ok && left.code === "not_found") return failure(c, "unauthorized"); // gone already: the session is none any more
  return answer(c, 200, left, deletedToWire);
});

members.openapi(removeRoute, async (c) => {
  return answer(c, 200, await removeMember(c.var.services, c.var.member, c.req.valid("param").member_id), deletedToWire);
});
