// Routes to manage a business's members and invitations.
import { z } from "@hono/zod-openapi";
import { parseMemberId } from "../../../core/ids.ts";
import { jsonBody, noBody } from "../../http/body.ts";
import { respond, failure, success } from "../../http/envelope.ts";
import { limitByAccount } from "../../http/guards/rate-limits.ts";
import { respondIdempotent, getIdempotencyKey, idempotencyKeyGuard } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { portalGuard, requireOwner } from "../../http/guards/portal.ts";
import { successResponse, requestBody, deletedSchema, deletedToWire, idParamSchema, timeSchema, toWire } from "../../http/wire.ts";
import type { Member } from "../../../storage/members.ts";
import { inviteMember } from "../../operations/portal/invite-member.ts";
import { listMembers } from "../../operations/portal/list-members.ts";
import { removeMember } from "../../operations/portal/remove-member.ts";
import { updateMemberRole } from "../../operations/portal/update-member-role.ts";

const exampleMemberId = "mem_00m4x8c1v6b3n9q2t7w0h5k3d8";
const roleSchema = z.enum(["owner", "member"]).meta({
  description: "`owner` can change settings. `member` can read records, test webhooks and acknowledge withdrawals.",
  example: "member",
});

const memberIdParamSchema = z.object({
  member_id: idParamSchema(parseMemberId, "ID of the member or invitation. Starts with `mem_`.", exampleMemberId),
});

const invitationSchema = z
  .object({ email: z.string().meta({ description: "Email address to invite.", example: "sam@acme-solar.example" }), role: roleSchema })
  .openapi("Invitation");

const memberSchema = z
  .object({
    id: z.string(),
    email: z.string(),
    role: roleSchema,
    status: z
      .enum(["active", "invited"])
      .meta({ description: "`invited` until the person accepts the invitation in the portal. Signing in does not accept it." }),
    invited_until: timeSchema.nullable().meta({ description: "When the invitation expires; `null` for a member." }),
    delivery_failed_at: timeSchema.nullable().meta({
      description:
        "When delivery of the invitation email failed; `null` if it did not fail. After a failure, check the address and invite the person again.",
    }),
    created_at: timeSchema,
  })
  .openapi("Member");

const memberToWire = (member: Member): z.input<typeof memberSchema> =>
  toWire(memberSchema, { ...member, status: member.invitedUntil === null ? "active" : "invited" });
const memberExample = memberToWire({
  id: exampleMemberId,
  email: "sam@acme-solar.example",
  role: "member",
  createdAt: Date.UTC(2026, 2, 4, 5, 6, 7, 89),
  invitedUntil: Date.UTC(2026, 2, 11, 5, 6, 7, 89),
  deliveryFailedAt: null,
});
const createRoute = createRouteFactory("portal");

const memberNotFoundRefusal = { not_found: "The member or invitation does not exist or is not yours." } as const;

const limitInvitations = limitByAccount(
  "INVITATIONS_PER_BUSINESS",
  "More than 30 invitations per day by one business, or 120 requests per minute by one person.",
);

const listMembersRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/members",
  operationId: "listMembers",
  summary: "List members",
  description: "Returns all members, and then all pending invitations.",
  middleware: portalGuard(),
  responses: {
    200: successResponse("Members and invitations.", "MembersResponse", () => z.object({ members: z.array(memberSchema) }), {
      members: [memberExample],
    }),
  },
});

const inviteMemberRoute = createRoute({
  method: "post",
  path: "/v1/business/portal/members",
  operationId: "inviteMember",
  summary: "Invite a member",
  description:
    "Owners only. Emails an invitation that is valid for 7 days. After signing in with the invited email address, the person sees who invited them and can accept or decline in the portal. The response does not reveal whether the person is a member of another business. Each business can email one invitation per day to an address, and all businesses together can email it 10 more. Further invitations are created without an email. A business can have up to 100 members and invitations.",
  middleware: portalGuard(requireOwner, limitInvitations, jsonBody, idempotencyKeyGuard),
  request: { body: requestBody(invitationSchema, { email: "sam@acme-solar.example", role: "member" }) },
  responses: { 201: successResponse("The invitation was created.", "InvitedMemberResponse", memberSchema, memberExample) },
  refuses: ["member_limit"],
});

const updateMemberRoute = createRoute({
  method: "patch",
  path: "/v1/business/portal/members/{member_id}",
  operationId: "changeMember",
  summary: "Change a member's role",
  description: "Owners only. Takes effect on the member's next request. The last owner's role cannot be changed.",
  middleware: portalGuard(requireOwner, jsonBody),
  request: { params: memberIdParamSchema, body: requestBody(z.object({ role: roleSchema }).openapi("RoleChange"), { role: "owner" }) },
  responses: { 200: successResponse("The updated member.", "MemberResponse", memberSchema, { ...memberExample, role: "owner" }) },
  refuses: ["last_owner"],
  when: memberNotFoundRefusal,
});

const leaveBusinessRoute = createRoute({
  method: "delete",
  path: "/v1/business/portal/members/me",
  operationId: "leaveBusiness",
  summary: "Leave the business",
  description: "Removes you from the business and ends your sessions. The last owner cannot leave.",
  middleware: portalGuard(noBody),
  responses: { 200: successResponse("You are no longer a member.", "LeftBusinessResponse", deletedSchema, deletedToWire(exampleMemberId)) },
  refuses: ["last_owner"],
});

const removeMemberRoute = createRoute({
  method: "delete",
  path: "/v1/business/portal/members/{member_id}",
  operationId: "removeMember",
  summary: "Remove a member or invitation",
  description:
    "Owners only. Removes the member or cancels the invitation. The sessions of a removed member end immediately. The last owner cannot be removed.",
  middleware: portalGuard(requireOwner, noBody),
  request: { params: memberIdParamSchema },
  responses: {
    200: successResponse("The member or invitation was removed.", "RemovedMemberResponse", deletedSchema, deletedToWire(exampleMemberId)),
  },
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

// Register this route before the one with an ID in its path, which also matches `me`.
memberRoutes.openapi(leaveBusinessRoute, async (c) => {
  const left = await removeMember(c.var.services, c.var.member, c.var.member.userId);
  // The member was already removed, so the session is no longer valid.
  if (!left.ok && left.code === "not_found") return failure(c, "unauthorized");
  return respond(c, 200, left, deletedToWire);
});

memberRoutes.openapi(removeMemberRoute, async (c) => {
  return respond(c, 200, await removeMember(c.var.services, c.var.member, c.req.valid("param").member_id), deletedToWire);
});
