// The routes of a consumer's sessions: where they are signed in, and ending it there.
import { z } from "@hono/zod-openapi";
import { parseSessionId } from "../../../core/ids.ts";
import { dayMs, toIso } from "../../../core/time.ts";
import { noBody } from "../../http/body.ts";
import { respond, success } from "../../http/envelope.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { consumerGuard } from "../../http/guards/consumer.ts";
import { clearSession } from "../../http/guards/session-cookie.ts";
import { successResponse, idParamSchema, timeSchema } from "../../http/wire.ts";
import { listSessions, type ListedSession } from "../../operations/access/list-sessions.ts";
import { revokeOtherSessions } from "../../operations/access/revoke-other-sessions.ts";
import { revokeSession } from "../../operations/access/revoke-session.ts";

const sessionExample = {
  id: "ssn_00k3v9d2m4q8x1c7b5n0t6w2h9",
  device: { os: "macOS", browser: "Safari" },
  created_at: "2026-11-20T10:05:00.000Z",
  expires_at: "2026-12-20T10:05:00.000Z",
  last_seen: "2026-11-22",
  current: true,
};

const sessionListItemSchema = z
  .object({
    id: z.string().openapi({ description: "`ssn_…`; it opens nothing." }),
    device: z
      .object({ os: z.string().nullable(), browser: z.string().nullable() })
      .nullable()
      .openapi({ description: "Families, as the browser names itself. Null for a session that began before they were kept." }),
    created_at: timeSchema.openapi({ description: "When this device signed in." }),
    expires_at: timeSchema.openapi({ description: "When it ends by itself, however much it is used." }),
    last_seen: z.string().nullable().openapi({ format: "date", description: "The last day it was used on, UTC." }),
    current: z.boolean().openapi({ description: "The one that asks." }),
  })
  .openapi("KnownSession");

const sessionIdParamSchema = z.object({ session_id: idParamSchema(parseSessionId, "`ssn_…` of the list.", sessionExample.id) });

const sessionToWire = (session: ListedSession): z.input<typeof sessionListItemSchema> => ({
  id: session.id,
  device: session.device,
  created_at: toIso(session.createdAt),
  expires_at: toIso(session.expiresAt),
  last_seen: session.seenDay === null ? null : toIso(session.seenDay * dayMs).slice(0, 10),
  current: session.isCurrent,
});

const createRoute = createRouteFactory("sign-in");

const listSessionsRoute = createRoute({
  method: "get",
  path: "/v1/me/sessions",
  operationId: "listSessions",
  summary: "List where you are signed in",
  description: "Your sessions that have not ended, the newest first, at most 100.",
  middleware: consumerGuard(),
  responses: {
    200: successResponse("The sessions.", "SessionsAnswer", z.object({ sessions: z.array(sessionListItemSchema) }), {
      sessions: [sessionExample],
    }),
  },
});

const endSessionRoute = createRoute({
  method: "delete",
  path: "/v1/me/sessions/{session_id}",
  operationId: "endSession",
  summary: "End a session",
  description: "Its cookie opens nothing from now on, wherever it is. Ending the session that asks is signing out.",
  middleware: consumerGuard(noBody),
  request: { params: sessionIdParamSchema },
  responses: {
    200: successResponse("The session has ended.", "EndedSessionAnswer", z.object({ ended: z.literal(true), id: z.string() }), {
      ended: true,
      id: sessionExample.id,
    }),
  },
  when: { not_found: "There is no such session, it has ended, or it is not yours." },
});

const endOtherSessionsRoute = createRoute({
  method: "delete",
  path: "/v1/me/sessions",
  operationId: "endOtherSessions",
  summary: "End all other sessions",
  description: "Ends every session of yours but the one that asks.",
  middleware: consumerGuard(noBody),
  responses: {
    200: successResponse("They have ended.", "EndedSessionsAnswer", z.object({ sessions_ended: z.int() }), { sessions_ended: 2 }),
  },
});

export const sessionRoutes = createApi();

sessionRoutes.openapi(listSessionsRoute, async (c) => {
  const known = await listSessions(c.var.services, c.var.consumer);
  return success(c, 200, { sessions: known.map(sessionToWire) });
});

sessionRoutes.openapi(endSessionRoute, async (c) => {
  const ended = await revokeSession(c.var.services, c.var.consumer, c.req.valid("param").session_id);
  if (ended.ok && ended.value.wasCurrent) clearSession(c);
  return respond(c, 200, ended, ({ id }) => ({ ended: true as const, id }));
});

sessionRoutes.openapi(endOtherSessionsRoute, async (c) =>
  success(c, 200, { sessions_ended: await revokeOtherSessions(c.var.services, c.var.consumer) }),
);
