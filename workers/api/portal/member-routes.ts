// Who acts for a business (CONTRACT 10).
import { z } from "@hono/zod-openapi";
import { parseMemberId } from "../../../core/ids.ts";
import { toIso, toIsoOrNull } from "../../../core/time.ts";
import { jsonBody, noBody } from "../../http/body.ts";
import { respond, failure, success } from "../../http/envelope.ts";
import { limitByAccount } from "../../http/guards/rate-limits.ts";
import { respondIdempotent, getIdempotencyKey, idempotencyKeyGuard } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { portalGuard, requireOwner } from "../../http/guards/portal.ts";
import { successResponse, requestBody, deletedSchema, deletedToWire, idParamSchema, timeSchema } from "../../http/wire.ts";
import type { Member } from "../../../storage/members.ts";
import { inviteMember } from "../../operations/portal/invite-member.ts";
import { listMembers } from "../../operations/portal/list-members.ts";
import { removeMember } from "../../operations/portal/remove-member.ts";
import { updateMemberRole } from "../../operations/portal/update-member-role.ts";

const exampleMemberId = "mem_00m4x8c1v6b3n9q2t7w0h5k3d8";
const roleSchema = z
  .enum(["owner", "member"])
  .openapi({ description: "An owner changes things; a member reads, tests and acknowledges.", example: "member" });

const memberIdParamSchema = z.object({
  member_id: idParamSchema(parseMemberId, "Id of the member or invitation, prefix `mem_`.", exampleMemberId),
});

const invitationSchema = z
  .object({ email: z.string().openapi({ description: "One e-mail address.", example: "sam@acme-solar.example" }), role: roleSchema })
  .openapi("Invitation");

const memberSchema = z
  .object({
    id: z.string(),
    email: z.string(),
    role: roleSchema,
    status: z.enum(["active", "invited"]).openapi({ description: "`invited` until the person has signed in with that address." }),
    invited_until: timeSchema.nullable().openapi({ description: "Until when the invitation can be accepted." }),
    created_at: timeSchema,
  })
  .openapi("Member");

const memberToWire = (member: Member): z.input<typeof memberSchema> => ({
  id: member.id,
  email: member.email,
  role: member.role,
  status: member.invitedUntil === null ? "active" : "invited",
  invited_until: toIsoOrNull(member.invitedUntil),
  created_at: toIso(member.createdAt),
});
const memberExample = memberToWire({
  id: exampleMemberId,
  email: "sam@acme-solar.example",
  role: "member",
  createdAt: Date.UTC(2026, 2, 4, 5, 6, 7, 89),
  invitedUntil: Date.UTC(2026, 2, 11, 5, 6, 7, 89),
});
const createRoute = createRouteFactory("portal");

const memberNotFoundRefusal = { not_found: "There is no such member or invitation, or it is not yours." } as const;

const limitInvitations = limitByAccount(
  "INVITATIONS_PER_BUSINESS",
  "More than 30 invitations in a day by one business, or 120 requests a minute by one person.",
);

const listMembersRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/members",
  operationId: "listMembers",
  summary: "List who acts for the business",
  description: "Members, then invitations that can still be accepted.",
  middleware: portalGuard(),
  responses: {
    200: successResponse("The people.", "MembersAnswer", z.object({ members: z.array(memberSchema) }), { members: [memberExample] }),
  },
});

const inviteMemberRoute = createRoute({
  method: "post",
  path: "/v1/business/portal/members",
  operationId: "inviteMember",
  summary: "Invite somebody",
  description:
    "Owners only. Mails an invitation that is good for a week; signing in with a code mailed to that address accepts it, or, where the address acts for another business already, its person in the portal. Nothing here tells whether it does. At most 100 people.",
  middleware: portalGuard(requireOwner, limitInvitations, jsonBody, idempotencyKeyGuard),
  request: { body: requestBody(invitationSchema, { email: "sam@acme-solar.example", role: "member" }) },
  responses: { 201: successResponse("Invited by mail.", "InvitedMemberAnswer", memberSchema, memberExample) },
  refuses: ["member_limit"],
});

const updateMemberRoute = createRoute({
  method: "patch",
  path: "/v1/business/portal/members/{member_id}",
  operationId: "changeMember",
  summary: "Change a role",
  description: "Owners only. Counts from the person's next request on. The last owner stays one.",
  middleware: portalGuard(requireOwner, jsonBody),
  request: { params: memberIdParamSchema, body: requestBody(z.object({ role: roleSchema }).openapi("RoleChange"), { role: "owner" }) },
  responses: { 200: successResponse("As it is now.", "MemberAnswer", memberSchema, { ...memberExample, role: "owner" }) },
  refuses: ["last_owner"],
  when: memberNotFoundRefusal,
});

const leaveBusinessRoute = createRoute({
  method: "delete",
  path: "/v1/business/portal/members/me",
  operationId: "leaveBusiness",
  summary: "Leave the business",
  description: "Takes yourself out and ends your sessions. The last owner stays.",
  middleware: portalGuard(noBody),
  responses: { 200: successResponse("You are no member any more.", "LeftBusinessAnswer", deletedSchema, deletedToWire(exampleMemberId)) },
  refuses: ["last_owner"],
});

const removeMemberRoute = createRoute({
  method: "delete",
  path: "/v1/business/portal/members/{member_id}",
  operationId: "removeMember",
  summary: "Remove a member, or take an invitation back",
  description: "Owners only. The person's sessions end at once. The last owner stays.",
  middleware: portalGuard(requireOwner, noBody),
  request: { params: memberIdParamSchema },
  responses: { 200: successResponse("No member any more.", "RemovedMemberAnswer", deletedSchema, deletedToWire(exampleMemberId)) },
  refuses: ["last_owner"],
  when: memberNotFoundRefusal,
});

export const memberRoutes = createApi();

memberRoutes.openapi(listMembersRoute, async (c) =>
  success(c, 200, { members: (await listMembers(c.var.services, c.var.member)).map(memberToWire) }),
);

memberRoutes.openapi(inviteMemberRoute, async (c) => {
  const invited = await inviteMember(c.var.services, c.var.member, { ...c.req.valid("json"), idempotencyKey: getIdempotencyKey(c) });
  return respondIdempotent(c, invited, memberToWire);
});

memberRoutes.openapi(updateMemberRoute, async (c) => {
  const changed = await updateMemberRole(c.var.services, c.var.member, c.req.valid("param").member_id, c.req.valid("json").role);
  return respond(c, 200, changed, memberToWire);
});

// Before the route with an id, which would take `me` for one.
memberRoutes.openapi(leaveBusinessRoute, async (c) => {
  const left = await removeMember(c.var.services, c.var.member, c.var.member.userId);
  if (!left.ok && left.code === "not_found") return failure(c, "unauthorized"); // gone already: the session is none any more
  return respond(c, 200, left, deletedToWire);
});

memberRoutes.openapi(removeMemberRoute, async (c) => {
  return respond(c, 200, await removeMember(c.var.services, c.var.member, c.req.valid("param").member_id), deletedToWire);
});
