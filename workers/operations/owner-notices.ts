// Prepares a notice to the owners of a business. The owners get the first notice of a kind immediately, and then at most one email of this
// kind per hour by default. If several notices are waiting, this email is a digest (background/owner-emails.ts).
import type { BusinessId } from "../../core/ids.ts";
import type { OwnerNotice } from "../../core/mail/owner-notices.ts";
import { secondMs } from "../../core/time.ts";
import type { Database, Statement } from "../../storage/database.ts";
import { insertOwnerNotices, type NewOwnerNotice } from "../../storage/owner-notices.ts";
import type { Condition } from "../../storage/query.ts";
import type { Config } from "../env.ts";
import type { ReadDependencies } from "./dependencies.ts";

type NoticeDependencies = Pick<ReadDependencies, "clock" | "config" | "vault">;

/** Returns the minimum time, in milliseconds, between two emails of the same kind to the owners of a business. */
export const getNoticeSpacingMs = ({ limits: { OWNER_NOTICES } }: Config): number =>
  Math.ceil((OWNER_NOTICES.seconds * secondMs) / OWNER_NOTICES.count);

/**
 * Returns the statements that write notices to several businesses in one shard. Run them in the batch of the change that the notices are
 * about. With `onlyIf`, they write only if this condition is true in the batch.
 */
export const prepareOwnerNotices = (
  { clock, config, vault }: NoticeDependencies,
  db: Database,
  notices: readonly NewOwnerNotice[],
  onlyIf?: Condition,
): Promise<readonly Statement[]> =>
  insertOwnerNotices(db, vault, notices, {
    now: clock(),
    spacingMs: getNoticeSpacingMs(config),
    ...(onlyIf !== undefined && { onlyIf }),
  });

/** Like `prepareOwnerNotices`, for one notice. */
export const prepareOwnerNotice = (
  services: NoticeDependencies,
  db: Database,
  businessId: BusinessId,
  notice: OwnerNotice,
  onlyIf?: Condition,
): Promise<readonly Statement[]> => prepareOwnerNotices(services, db, [{ businessId, notice }], onlyIf);
