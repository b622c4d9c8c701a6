// The routes of a consumer's sessions: where they are signed in, and ending it there.
import { z } from "@hono/zod-openapi";
import type { RefusalCode } from "../../../core/refusals.ts";
import { optionalJsonBody } from "../../http/body.ts";
import { failure, refusal, success } from "../../http/envelope.ts";
import { appOrigin } from "../../http/guards.ts";
import { createRoute, newApi } from "../../http/openapi.ts";
import { behindConsumer, forgetSession, sameOrigin } from "../../http/session-guards.ts";
import { answerOf, bodyRefusals, failures, rateHeaders, sessionRefusals } from "../../http/wire.ts";
import { endOtherSessions, endSession, listSessions } from "../../operations/access/sessions.ts";
import { knownSessionSchema, sessionExample, sessionParam, sessionToWire } from "./schema.ts";

const writeRefusals = [...sessionRefusals, "csrf_failed", ...bodyRefusals] as const;
const reasons: Partial<Record<RefusalCode, string>> = {
  unauthorized: "No session, or it has ended.",
  forbidden: "A member of a business is signed in, not a consumer.",
  rate_limited: "More than 120 a minute by one person.",
  not_found: "There is no such session, it has ended, or it is not yours.",
  invalid_request: "There is a body, and it is not JSON. None is needed.",
};

const common = { tags: ["sign-in"], security: [{ session: [] }] };

const listedRoute = createRoute({
  ...common,
  method: "get",
  path: "/v1/me/sessions",
  operationId: "listSessions",
  summary: "List where you are signed in",
  description: "Your sessions that have not ended, the newest first, at most 100.",
  middleware: behindConsumer(),
  responses: {
    200: {
      description: "The sessions.",
      headers: rateHeaders,
      content: answerOf("SessionsAnswer", z.object({ sessions: z.array(knownSessionSchema) }), { sessions: [sessionExample] }),
    },
    ...failures(sessionRefusals, reasons),
  },
});

const endedRoute = createRoute({
  ...common,
  method: "delete",
  path: "/v1/me/sessions/{session_id}",
  operationId: "endSession",
  summary: "End a session",
  description: "Its cookie opens nothing from now on, wherever it is. Ending the session that asks is signing out.",
  middleware: behindConsumer(optionalJsonBody),
  request: { params: sessionParam },
  responses: {
    200: {
      description: "The session has ended.",
      headers: rateHeaders,
      content: answerOf("EndedSessionAnswer", z.object({ ended: z.literal(true), id: z.string() }), { ended: true, id: sessionExample.id }),
    },
    ...failures([...writeRefusals, "not_found"], reasons),
  },
});

const othersEndedRoute = createRoute({
  ...common,
  method: "delete",
  path: "/v1/me/sessions",
  operationId: "endOtherSessions",
  summary: "End all other sessions",
  description: "Ends every session of yours but the one that asks.",
  middleware: behindConsumer(optionalJsonBody),
  responses: {
    200: {
      description: "They have ended.",
      headers: rateHeaders,
      content: answerOf("EndedSessionsAnswer", z.object({ sessions_ended: z.int() }), { sessions_ended: 2 }),
    },
    ...failures(writeRefusals, reasons),
  },
});

export const sessions = newApi();

for (const path of ["/v1/me/sessions", "/v1/me/sessions/:session_id"])
  sessions.use(path, appOrigin({ methods: ["GET", "DELETE"], headers: ["Content-Type"] }), sameOrigin);

sessions.openapi(listedRoute, async (c) => {
  const known = await listSessions(c.var.services, c.var.consumer);
  return success(c, 200, { sessions: known.map(sessionToWire) });
});

sessions.openapi(endedRoute, async (c) => {
  const { session_id: id } = c.req.valid("param");
  if (id === null) return failure(c, "not_found");
  const ended = await endSession(c.var.services, c.var.consumer, id);
  if (!ended.ok) return refusal(c, ended);
  if (ended.value.wasCurrent) forgetSession(c);
  return success(c, 200, { ended: true as const, id: ended.value.id });
});

sessions.openapi(othersEndedRoute, async (c) =>
  success(c, 200, { sessions_ended: await endOtherSessions(c.var.services, c.var.consumer) }),
);
