// Lets a test do something after a request has decided to change a row and before the request's batch is committed.
import { env } from "cloudflare:workers";
import { createServiceCall } from "./world.ts";

/**
 * Returns a function that calls the service. `overtake` runs once, before the first batch after a statement that starts with `statement`
 * was prepared. The function throws if the request makes no such batch.
 */
export const createOvertakenCall = (statement: string, overtake: () => Promise<void>): ReturnType<typeof createServiceCall> => {
  let isPrepared = false;
  let wasOvertaken = false;
  const database = {
    prepare: (text: string) => {
      isPrepared ||= text.startsWith(statement);
      return env.DB.prepare(text);
    },
    withSession: (constraint: D1SessionConstraint) => env.DB.withSession(constraint),
    batch: async (statements: D1PreparedStatement[]) => {
      if (isPrepared && !wasOvertaken) {
        wasOvertaken = true;
        await overtake();
      }
      return env.DB.batch(statements);
    },
  };
  const call = createServiceCall({ DB: database });
  return async (...request) => {
    const response = await call(...request);
    if (!wasOvertaken) throw new Error("overtaken call: the request made no such batch");
    return response;
  };
};
