// Guard for the consumer app's routes.
import { personFromSession } from "../../../core/access/session.ts";
import type { ConsumerEnv } from "../context.ts";
import { failure } from "../envelope.ts";
import { defineGuard, combineGuards, type Guard } from "./define-guard.ts";
import { signedInGuard } from "./session.ts";

const requireConsumer = defineGuard<ConsumerEnv>(
  { when: { forbidden: "The session belongs to a member of a business, not to a consumer." } },
  async (c, next) => {
    const { session } = c.var;
    if (session.realm !== "consumer") return failure(c, "forbidden");
    c.set("consumer", session);
    c.set("person", personFromSession(session));
    return next();
  },
);

/** Like `signedInGuard`, but also responds with 403 if a business member is signed in. */
export const consumerGuard = (...more: readonly Guard[]) => combineGuards<ConsumerEnv>(signedInGuard, requireConsumer, ...more);
