// A change by the people of a business: its rows, its entry in the audit chain and, under an idempotency key, its answer, in one batch.
import type { MemberSession } from "../../../core/access/session.ts";
import { createAuditedEvent, type AuditedAction } from "../../../core/domain-events.ts";
import type { BusinessId } from "../../../core/ids.ts";
import type { Instant } from "../../../core/time.ts";
import { commit } from "../../../storage/commit.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import type { Condition } from "../../../storage/query.ts";
import type { Stores, WriteDependencies } from "../dependencies.ts";

export type Services = WriteDependencies;

export const getBusinessDatabase = ({ shards }: Stores, { business }: { readonly business: { readonly id: BusinessId } }): Database =>
  shards.forId(business.id);

/** Rows and entry together; `onlyIf` is what must hold after the rows for the entry to be written. */
export const commitWithAudit = async (
  services: Services,
  member: MemberSession,
  rows: readonly Statement[],
  act: AuditedAction,
  { at = services.clock(), onlyIf }: { readonly at?: Instant; readonly onlyIf?: Condition } = {},
): Promise<void> => {
  const by = { chain: member.business.chain, actor: { kind: "member", id: member.userId } } as const;
  await commit(getBusinessDatabase(services, member), services, rows, [createAuditedEvent(by, act, at)], onlyIf);
};
