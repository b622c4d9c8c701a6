// Authenticates a request by its session cookie.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { AnySession, MemberSession } from "../../../core/access/session.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { hasSecretShape } from "../../../core/ids.ts";
import { toDayNumber } from "../../../core/time.ts";
import { withDeadline, type Database } from "../../../storage/database.ts";
import { updateLastSeenDay, findSessionByTokenHash } from "../../../storage/sessions.ts";
import { countOpenDeadlines } from "../../../storage/deadlines.ts";
import { runIsolated } from "../../log.ts";
import type { ReadDependencies, Runtime } from "../dependencies.ts";
import { queryShardsInGroups } from "../query-issuing-shards.ts";

/** Records, after the response, that the session was used today. */
const recordSessionUse = (services: Runtime, db: Database, { tokenHash, lastSeenDay }: AnySession, day: number): void => {
  if (lastSeenDay === day) return;
  services.waitUntil(async () => {
    await runIsolated(services, "session_seen", () => updateLastSeenDay(db, tokenHash, day).run());
  });
};

const otherShardTimeoutMs = 300;

/**
 * Adds the open deadlines in the business's other shards to the session's count. Skips a shard that does not respond within 300 ms or
 * fails, so that one shard does not delay every page.
 */
const addOtherDeadlines = async (services: ReadDependencies, session: MemberSession, environment: Environment): Promise<MemberSession> => {
  const { id, otherShards } = session.business;
  const counts = await queryShardsInGroups(services, otherShards, async (db) =>
    runIsolated(services, "deadlines", () => withDeadline(async () => countOpenDeadlines(db, id, environment), otherShardTimeoutMs)),
  );
  return { ...session, openDeadlines: counts.reduce<number>((sum, open) => sum + (open ?? 0), session.openDeadlines ?? 0) };
};

/** Returns true if the text does not have the form of a session token. */
export const isMalformedSessionToken = (text: string): boolean => !hasSecretShape(text, "ses_");

/**
 * Returns the token's session, or null if the token is malformed, unknown or expired. If `deadlinesIn` is given, also counts the open
 * deadlines of the member's business in that environment.
 */
export const authenticateSession = async (
  services: ReadDependencies,
  token: string,
  deadlinesIn: Environment | null = null,
): Promise<AnySession | null> => {
  if (isMalformedSessionToken(token)) return null;
  const db = services.shards.forId(token);
  const now = services.clock();
  const session = await findSessionByTokenHash(db, sha256Hex(token), now, deadlinesIn);
  if (session === null) return null;
  recordSessionUse(services, db, session, toDayNumber(now));
  return session.realm === "business" && deadlinesIn !== null ? addOtherDeadlines(services, session, deadlinesIn) : session;
};
