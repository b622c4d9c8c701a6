// Commits a member's change to a business together with its entries in the business's audit chain.
import type { MemberSession } from "../../../core/access/session.ts";
import { createAuditedEvent, type AuditedAction } from "../../../core/domain-events.ts";
import type { BusinessId } from "../../../core/ids.ts";
import type { Instant } from "../../../core/time.ts";
import { commit } from "../../../storage/commit.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import type { Condition } from "../../../storage/query.ts";
import type { Stores, WriteDependencies } from "../dependencies.ts";

export const getBusinessDatabase = ({ shards }: Stores, { business }: { readonly business: { readonly id: BusinessId } }): Database =>
  shards.forId(business.id);

/**
 * Commits the statements and an audit entry for each action as one batch. If `onlyIf` is given, writes the entries only if this condition
 * is true after the statements have run.
 */
export const commitWithAudit = async (
  services: WriteDependencies,
  member: MemberSession,
  statements: readonly Statement[],
  actions: AuditedAction | readonly AuditedAction[],
  { at = services.clock(), onlyIf }: { readonly at?: Instant; readonly onlyIf?: Condition } = {},
): Promise<void> => {
  const source = { chain: member.business.chain, actor: { kind: "member", id: member.userId } } as const;
  const events = [actions].flat().map((action) => createAuditedEvent(source, action, at));
  await commit(getBusinessDatabase(services, member), services, statements, events, onlyIf);
};
