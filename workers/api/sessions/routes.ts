// The routes of a consumer's sessions: where they are signed in, and ending it there.
import { z } from "@hono/zod-openapi";
import { sessionIdOf } from "../../../core/ids.ts";
import { dayMs, isoOf } from "../../../core/time.ts";
import { noBody } from "../../http/body.ts";
import { answer, success } from "../../http/envelope.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { behindConsumer, forgetSession } from "../../http/session-guards.ts";
import { answerOf, idParam, time } from "../../http/wire.ts";
import { endOtherSessions, endSession, listSessions, type ListedSession } from "../../operations/access/sessions.ts";

const sessionExample = {
  id: "ssn_00k3v9d2m4q8x1c7b5n0t6w2h9",
  device: { os: "macOS", browser: "Safari" },
  created_at: "2026-11-20T10:05:00.000Z",
  expires_at: "2026-12-20T10:05:00.000Z",
  last_seen: "2026-11-22",
  current: true,
};

const knownSessionSchema = z
  .object({
    id: z.string().openapi({ description: "`ssn_…`; it opens nothing." }),
    device: z
      .object({ os: z.string().nullable(), browser: z.string().nullable() })
      .nullable()
      .openapi({ description: "Families, as the browser names itself. Null for a session that began before they were kept." }),
    created_at: time.openapi({ description: "When this device signed in." }),
    expires_at: time.openapi({ description: "When it ends by itself, however much it is used." }),
    last_seen: z.string().nullable().openapi({ format: "date", description: "The last day it was used on, UTC." }),
    current: z.boolean().openapi({ description: "The one that asks." }),
  })
  .openapi("KnownSession");

const sessionParam = z.object({ session_id: idParam(sessionIdOf, "`ssn_…` of the list.", sessionExample.id) });

const sessionToWire = (session: ListedSession): z.input<typeof knownSessionSchema> => ({
  id: session.id,
  device: session.device,
  created_at: isoOf(session.createdAt),
  expires_at: isoOf(session.expiresAt),
  last_seen: session.seenDay === null ? null : isoOf(session.seenDay * dayMs).slice(0, 10),
  current: session.isCurrent,
});

const createRoute = routesOf("sign-in");

const listedRoute = createRoute({
  method: "get",
  path: "/v1/me/sessions",
  operationId: "listSessions",
  summary: "List where you are signed in",
  description: "Your sessions that have not ended, the newest first, at most 100.",
  middleware: behindConsumer(),
  responses: {
    200: answerOf("The sessions.", "SessionsAnswer", z.object({ sessions: z.array(knownSessionSchema) }), { sessions: [sessionExample] }),
  },
});

const endedRoute = createRoute({
  method: "delete",
  path: "/v1/me/sessions/{session_id}",
  operationId: "endSession",
  summary: "End a session",
  description: "Its cookie opens nothing from now on, wherever it is. Ending the session that asks is signing out.",
  middleware: behindConsumer(noBody),
  request: { params: sessionParam },
  responses: {
    200: answerOf("The session has ended.", "EndedSessionAnswer", z.object({ ended: z.literal(true), id: z.string() }), {
      ended: true,
      id: sessionExample.id,
    }),
  },
  when: { not_found: "There is no such session, it has ended, or it is not yours." },
});

const othersEndedRoute = createRoute({
  method: "delete",
  path: "/v1/me/sessions",
  operationId: "endOtherSessions",
  summary: "End all other sessions",
  description: "Ends every session of yours but the one that asks.",
  middleware: behindConsumer(noBody),
  responses: { 200: answerOf("They have ended.", "EndedSessionsAnswer", z.object({ sessions_ended: z.int() }), { sessions_ended: 2 }) },
});

export const sessions = newApi();

sessions.openapi(listedRoute, async (c) => {
  const known = await listSessions(c.var.services, c.var.consumer);
  return success(c, 200, { sessions: known.map(sessionToWire) });
});

sessions.openapi(endedRoute, async (c) => {
  const ended = await endSession(c.var.services, c.var.consumer, c.req.valid("param").session_id);
  if (ended.ok && ended.value.wasCurrent) forgetSession(c);
  return answer(c, 200, ended, ({ id }) => ({ ended: true as const, id }));
});

sessions.openapi(othersEndedRoute, async (c) =>
  success(c, 200, { sessions_ended: await endOtherSessions(c.var.services, c.var.consumer) }),
);
