// The wire of a person's sessions, with the worked examples of its description.
import { z } from "@hono/zod-openapi";
import { sessionIdOf } from "../../../core/ids.ts";
import { dayMs, isoOf } from "../../../core/time.ts";
import { idParam } from "../../http/wire.ts";
import type { ListedSession } from "../../operations/access/sessions.ts";

export const sessionExample = {
  id: "ssn_00k3v9d2m4q8x1c7b5n0t6w2h9",
  device: { os: "macOS", browser: "Safari" },
  created_at: "2026-11-20T10:05:00.000Z",
  expires_at: "2026-12-20T10:05:00.000Z",
  last_seen: "2026-11-22",
  current: true,
};

export const knownSessionSchema = z
  .object({
    id: z.string().openapi({ description: "`ssn_…`; it opens nothing." }),
    device: z
      .object({ os: z.string().nullable(), browser: z.string().nullable() })
      .nullable()
      .openapi({ description: "Families, as the browser names itself. Null for a session that began before they were kept." }),
    created_at: z.string().openapi({ format: "date-time", description: "When this device signed in." }),
    expires_at: z.string().openapi({ format: "date-time", description: "When it ends by itself, however much it is used." }),
    last_seen: z.string().nullable().openapi({ format: "date", description: "The last day it was used on, UTC." }),
    current: z.boolean().openapi({ description: "The one that asks." }),
  })
  .openapi("KnownSession");

export const sessionParam = z.object({ session_id: idParam(sessionIdOf, "`ssn_…` of the list.", sessionExample.id) });

export const sessionToWire = (session: ListedSession): z.input<typeof knownSessionSchema> => ({
  id: session.id,
  device: session.device,
  created_at: isoOf(session.createdAt),
  expires_at: isoOf(session.expiresAt),
  last_seen: session.seenDay === null ? null : isoOf(session.seenDay * dayMs).slice(0, 10),
  current: session.isCurrent,
});
