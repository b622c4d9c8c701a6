// Who acts for a business (CONTRACT 10).
import { z } from "@hono/zod-openapi";
import { createMiddleware } from "hono/factory";
import { memberIdOf } from "../../../core/ids.ts";
import { isoOf, isoOrNull } from "../../../core/time.ts";
import { jsonBody, optionalJsonBody } from "../../http/body.ts";
import type { MemberCaller } from "../../http/context.ts";
import { failure, refusal, success } from "../../http/envelope.ts";
import { limited } from "../../http/guards.ts";
import { createRoute, newApi } from "../../http/openapi.ts";
import { noBody, portal, readFailures, time, writeFailures } from "../../http/portal-wire.ts";
import { behindPortal, ownerOnly } from "../../http/session-guards.ts";
import { answerOf, bodyOf, idempotencyHeaders, rateHeaders, repeatHeaders } from "../../http/wire.ts";
import { changeMember, inviteMember, listMembers, removeMember, type Member } from "../../operations/portal/members.ts";

const exampleId = "mem_00m4x8c1v6b3n9q2t7w0h5k3d8";
const roleSchema = z
  .enum(["owner", "member"])
  .openapi({ description: "An owner changes things; a member reads, tests and acknowledges.", example: "member" });

const memberParam = z.object({
  member_id: z
    .string()
    .transform(memberIdOf)
    .openapi({ type: "string", description: "Id of the member or invitation, prefix `mem_`.", example: exampleId }),
});

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
const removed = z.object({ deleted: z.literal(true), id: z.string() });

const invitationsCounted = createMiddleware<MemberCaller>(async (c, next) => {
  const name = "INVITATIONS_PER_BUSINESS";
  const refused = limited(c, name, await c.var.services.takeExactly(name, c.var.member.business.id));
  if (refused !== null) return refused;
  await next();
});

const listRoute = createRoute({
  ...portal,
  method: "get",
  path: "/v1/business/portal/members",
  operationId: "listMembers",
  summary: "List who acts for the business",
  description: "Members, then invitations that can still be accepted.",
  middleware: behindPortal(),
  responses: {
    200: {
      description: "The people.",
      headers: rateHeaders,
      content: answerOf("MembersAnswer", z.object({ members: z.array(memberSchema) }), { members: [example] }),
    },
    ...readFailures(),
  },
});

const inviteRoute = createRoute({
  ...portal,
  method: "post",
  path: "/v1/business/portal/members",
  operationId: "inviteMember",
  summary: "Invite somebody",
  description:
    "Owners only. Mails an invitation that is good for a week; signing in with a code mailed to that address accepts it, or, where the address acts for another business already, its person in the portal. Nothing here tells whether it does. At most 100 people.",
  middleware: behindPortal(ownerOnly, invitationsCounted, jsonBody),
  request: { headers: idempotencyHeaders, body: bodyOf(inviteSchema, { email: "sam@acme-solar.example", role: "member" }) },
  responses: {
    201: { description: "Invited by mail.", headers: repeatHeaders, content: answerOf("InvitedMemberAnswer", memberSchema, example) },
    ...writeFailures(["owner_required", "member_limit", "idempotency_conflict"], {
      rate_limited: "More than 30 invitations in a day by one business, or 120 requests a minute by one person.",
    }),
  },
});

const changeRoute = createRoute({
  ...portal,
  method: "patch",
  path: "/v1/business/portal/members/{member_id}",
  operationId: "changeMember",
  summary: "Change a role",
  description: "Owners only. Counts from the person's next request on. The last owner stays one.",
  middleware: behindPortal(ownerOnly, jsonBody),
  request: { params: memberParam, body: bodyOf(z.object({ role: roleSchema }).openapi("RoleChange"), { role: "owner" }) },
  responses: {
    200: {
      description: "As it is now.",
      headers: rateHeaders,
      content: answerOf("MemberAnswer", memberSchema, { ...example, role: "owner" }),
    },
    ...writeFailures(["owner_required", "not_found", "last_owner"]),
  },
});

const leaveRoute = createRoute({
  ...portal,
  method: "delete",
  path: "/v1/business/portal/members/me",
  operationId: "leaveBusiness",
  summary: "Leave the business",
  description: "Takes yourself out and ends your sessions. The last owner stays.",
  middleware: behindPortal(optionalJsonBody),
  responses: {
    200: {
      description: "You are no member any more.",
      headers: rateHeaders,
      content: answerOf("LeftBusinessAnswer", removed, { deleted: true, id: exampleId }),
    },
    ...writeFailures(["last_owner"], { invalid_request: noBody }),
  },
});

const removeRoute = createRoute({
  ...portal,
  method: "delete",
  path: "/v1/business/portal/members/{member_id}",
  operationId: "removeMember",
  summary: "Remove a member, or take an invitation back",
  description: "Owners only. The person's sessions end at once. The last owner stays.",
  middleware: behindPortal(ownerOnly, optionalJsonBody),
  request: { params: memberParam },
  responses: {
    200: {
      description: "No member any more.",
      headers: rateHeaders,
      content: answerOf("RemovedMemberAnswer", removed, { deleted: true, id: exampleId }),
    },
    ...writeFailures(["owner_required", "not_found", "last_owner"], { invalid_request: noBody }),
  },
});

export const members = newApi();

members.openapi(listRoute, async (c) => success(c, 200, { members: (await listMembers(c.var.services, c.var.member)).map(memberToWire) }));

members.openapi(inviteRoute, async (c) => {
  const idempotencyKey = c.req.valid("header")["Idempotency-Key"] ?? null;
  const invited = await inviteMember(c.var.services, c.var.member, { ...c.req.valid("json"), idempotencyKey });
  if (!invited.ok) return refusal(c, invited);
  if (invited.value.replayed) c.header("Idempotency-Replayed", "true");
  return success(c, 201, memberToWire(invited.value.value));
});

members.openapi(changeRoute, async (c) => {
  const { member_id: id } = c.req.valid("param");
  if (id === null) return failure(c, "not_found");
  const changed = await changeMember(c.var.services, c.var.member, id, c.req.valid("json").role);
  return changed.ok ? success(c, 200, memberToWire(changed.value)) : refusal(c, changed);
});

// Before the route with an id, which would take `me` for one.
members.openapi(leaveRoute, async (c) => {
  const left = await removeMember(c.var.services, c.var.member, c.var.member.userId);
  if (left.ok) return success(c, 200, { deleted: true as const, id: left.value });
  return failure(c, left.code === "not_found" ? "unauthorized" : left.code); // gone already: the session is none any more
});

members.openapi(removeRoute, async (c) => {
  const { member_id: id } = c.req.valid("param");
  if (id === null) return failure(c, "not_found");
  const gone = await removeMember(c.var.services, c.var.member, id);
  return gone.ok ? success(c, 200, { deleted: true as const, id: gone.value }) : refusal(c, gone);
});
