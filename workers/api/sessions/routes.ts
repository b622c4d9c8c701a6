// Routes that let a consumer list and end sessions.
import { z } from "@hono/zod-openapi";
import { parseSessionId } from "../../../core/ids.ts";
import { noBody } from "../../http/body.ts";
import { respond, success } from "../../http/envelope.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { consumerGuard } from "../../http/guards/consumer.ts";
import { clearSession } from "../../http/guards/session-cookie.ts";
import { dayToWire, successResponse, idParamSchema, timeSchema, toWire } from "../../http/wire.ts";
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
    id: z.string().meta({ description: "ID of the session. Starts with `ssn_`. It is not a credential." }),
    device: z.object({ os: z.string().nullable(), browser: z.string().nullable() }).nullable().meta({
      description: "Operating system and browser, as reported by the browser. `null` if unknown.",
    }),
    created_at: timeSchema.meta({ description: "When the session started." }),
    expires_at: timeSchema.meta({ description: "When the session expires. Activity does not extend it." }),
    last_seen: z.string().nullable().meta({ format: "date", description: "Date (UTC) on which the session was last used." }),
    current: z.boolean().meta({ description: "`true` for the session that sent this request." }),
  })
  .openapi("KnownSession");

const sessionIdParamSchema = z.object({
  session_id: idParamSchema(parseSessionId, "ID of the session. Starts with `ssn_`.", sessionExample.id),
});

const sessionToWire = (session: ListedSession): z.input<typeof sessionListItemSchema> =>
  toWire(sessionListItemSchema, { ...session, lastSeen: dayToWire(session.seenDay), current: session.isCurrent });

const createRoute = createRouteFactory("sign-in");

const listSessionsRoute = createRoute({
  method: "get",
  path: "/v1/me/sessions",
  operationId: "listSessions",
  summary: "List your sessions",
  description: "Returns your active sessions, newest first, at most 100.",
  middleware: consumerGuard(),
  responses: {
    200: successResponse("Your sessions.", "SessionsResponse", z.object({ sessions: z.array(sessionListItemSchema) }), {
      sessions: [sessionExample],
    }),
  },
});

const endSessionRoute = createRoute({
  method: "delete",
  path: "/v1/me/sessions/{session_id}",
  operationId: "endSession",
  summary: "End a session",
  description: "Ends the session immediately. Ending your current session signs you out.",
  middleware: consumerGuard(noBody),
  request: { params: sessionIdParamSchema },
  responses: {
    200: successResponse("The session has ended.", "EndedSessionResponse", z.object({ ended: z.literal(true), id: z.string() }), {
      ended: true,
      id: sessionExample.id,
    }),
  },
  when: { not_found: "The session does not exist, has ended, or is not yours." },
});

const endOtherSessionsRoute = createRoute({
  method: "delete",
  path: "/v1/me/sessions",
  operationId: "endOtherSessions",
  summary: "End all other sessions",
  description: "Ends all your sessions except the current one.",
  middleware: consumerGuard(noBody),
  responses: {
    200: successResponse("The other sessions have ended.", "EndedSessionsResponse", z.object({ sessions_ended: z.int() }), {
      sessions_ended: 2,
    }),
  },
});

export const sessionRoutes = createApi();

sessionRoutes.openapi(listSessionsRoute, async (c) => {
  const sessions = await listSessions(c.var.services, c.var.consumer);
  return success(c, 200, { sessions: sessions.map(sessionToWire) });
});

sessionRoutes.openapi(endSessionRoute, async (c) => {
  const ended = await revokeSession(c.var.services, c.var.consumer, c.req.valid("param").session_id);
  if (ended.ok && ended.value.wasCurrent) clearSession(c);
  return respond(c, 200, ended, ({ id }) => ({ ended: true as const, id }));
});

sessionRoutes.openapi(endOtherSessionsRoute, async (c) =>
  success(c, 200, { sessions_ended: await revokeOtherSessions(c.var.services, c.var.consumer) }),
);
