import { personFromSession } from "../../../core/access/session.ts";
import type { ConsumerEnv } from "../context.ts";
import { failure } from "../envelope.ts";
import { defineGuard, combineGuards, type Guard } from "./define-guard.ts";
import { signedInGuard } from "./session.ts";

const requireConsumer = defineGuard<ConsumerEnv>(
  { when: { forbidden: "A member of a business is signed in, not a consumer." } },
  async (c, next) => {
    const { session } = c.var;
    if (session.realm !== "consumer") return failure(c, "forbidden");
    c.set("consumer", session);
    c.set("person", personFromSession(session));
    return next();
  },
);

/** A consumer. Members of a business are signed in, but not to the consumer app. */
export const consumerGuard = (...more: readonly Guard[]) => combineGuards<ConsumerEnv>(signedInGuard, requireConsumer, ...more);
