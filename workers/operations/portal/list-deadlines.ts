// Lists the open cease deadlines of withdrawals and revoked shares.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { listOpenDeadlines, mergeDeadlinePages, type DeadlinePage } from "../../../storage/deadlines.ts";
import type { Database } from "../../../storage/database.ts";
import type { Stores } from "../dependencies.ts";
import { queryShardsOf } from "../query-issuing-shards.ts";

const maxShownDeadlines = 200;

export const lookUpDeadlines = (db: Database, { business }: MemberSession, environment: Environment) =>
  listOpenDeadlines(db, { businessId: business.id, environment }, maxShownDeadlines);

export const mergeDeadlines = (pages: readonly DeadlinePage[]): DeadlinePage => mergeDeadlinePages(pages, maxShownDeadlines);

/** Lists up to 200 open deadlines in an environment, earliest first, so that overdue ones come first. */
export const listDeadlines = async (services: Stores, member: MemberSession, environment: Environment): Promise<DeadlinePage> =>
  mergeDeadlines(await queryShardsOf(services, member.business, (db) => lookUpDeadlines(db, member, environment)));
