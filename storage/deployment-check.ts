// The business that `npm run deploy` uses to check a new deployment from outside.
import { isNull, eq } from "drizzle-orm";
import type { AuditChain } from "../core/domain-events.ts";
import type { BusinessId, ClientId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { allOf } from "./query.ts";
import { apiKeys, businesses, clients } from "./schema.ts";

interface CheckBusiness {
  readonly id: BusinessId;
  readonly clientId: ClientId;
  readonly name: string;
  readonly chain: AuditChain;
  readonly now: Instant;
}

export const insertCheckBusiness = (db: Database, { id, clientId, name, chain, now }: CheckBusiness) =>
  [
    db
      .insert(businesses)
      .values({
        id,
        name,
        status: "active",
        plan: "free",
        country: "US",
        auditChain: chain.tag,
        createdAt: now,
      })
      .onConflictDoNothing(),
    db
      .insert(clients)
      .values({ id: clientId, businessId: id, environment: "sandbox", name: "Sandbox", createdAt: now })
      .onConflictDoNothing(),
  ] as const;

export const revokeAllApiKeys = (db: Database, id: BusinessId, now: Instant) =>
  db
    .update(apiKeys)
    .set({ revokedAt: now })
    .where(allOf(eq(apiKeys.businessId, id), isNull(apiKeys.revokedAt)));
