// Notices waiting to be emailed to a business's owners. Each business has one row for each kind of notice. An email needs only the number
// of waiting notices and the sealed details of the first and the last one, so the row contains only these. A notice is written in the batch
// of the change that it reports, so it is not lost if the process dies.
import { eq, lte, notInArray, sql, type Column, type SQL } from "drizzle-orm";
import type { BusinessId, ShardId } from "../core/ids.ts";
import { countNoticeRecords, getNoticeDeadline, type OwnerNotice, type WaitingNotices } from "../core/mail/owner-notices.ts";
import type { MailData, OwnerNoticeKind, TemplatedMail } from "../core/mail/templates.ts";
import type { Instant } from "../core/time.ts";
import type { Database, Statement } from "./database.ts";
import { excluded } from "./inserts.ts";
import { insertMail } from "./outboxes/mail.ts";
import { allOf, existsIn, jsonList, jsonTable } from "./query.ts";
import { ownerNotices } from "./schema.ts";
import { columnContext, type Vault } from "./vault.ts";

const detailsContext = columnContext("owner_notices", "details");

const accountShardOf = (businessId: Column): SQL<ShardId> => sql<ShardId>`substr(${businessId}, 5, 2)`;

export interface NewOwnerNotice {
  readonly businessId: BusinessId;
  readonly notice: OwnerNotice;
}

interface NoticeTiming {
  readonly now: Instant;
  /** The minimum time between two emails of the same kind to the owners of a business. */
  readonly spacingMs: number;
  /** If given, the notices are written only if this condition is true. */
  readonly onlyIf?: SQL;
}

/**
 * Returns the statements that write notices for any number of businesses. Add them to the batch of the change. A notice is due `spacingMs`
 * after the owners' last email of the same kind, or now if that time has passed.
 */
export const insertOwnerNotices = async (
  db: Database,
  vault: Vault,
  notices: readonly NewOwnerNotice[],
  { now, spacingMs, onlyIf = sql`true` }: NoticeTiming,
): Promise<readonly Statement[]> => {
  const rows = await Promise.all(
    notices.map(async ({ businessId, notice }) => ({
      businessId,
      kind: notice.template,
      records: countNoticeRecords(notice),
      ceaseBy: getNoticeDeadline(notice),
      details: await vault.seal(detailsContext(notice.template, businessId), JSON.stringify(notice.data)),
    })),
  );
  const { each, cell } = jsonTable(rows);
  const { notices: waiting, records, earliestCeaseBy, firstSealed, lastSealed, dueAt, sentAt } = ownerNotices;
  const values = [
    cell("businessId"),
    cell("kind"),
    sql`1`,
    cell("records"),
    cell("ceaseBy"),
    cell("details"),
    cell("details"),
    sql`${now}`,
  ];
  const insert = db
    .insert(ownerNotices, "businessId", "kind", "notices", "records", "earliestCeaseBy", "firstSealed", "lastSealed", "dueAt")
    .select(sql`select ${sql.join(values, sql`, `)} from ${each} where ${onlyIf}`)
    .onConflictDoUpdate({
      target: [ownerNotices.businessId, ownerNotices.kind],
      set: {
        notices: sql`${waiting} + 1`,
        records: sql`${records} + ${excluded(records)}`,
        earliestCeaseBy: sql`min(coalesce(${earliestCeaseBy}, ${excluded(earliestCeaseBy)}), ${excluded(earliestCeaseBy)})`,
        firstSealed: sql`iif(${waiting} = 0, ${excluded(firstSealed)}, ${firstSealed})`,
        lastSealed: excluded(lastSealed),
        dueAt: sql`coalesce(${dueAt}, max(${excluded(dueAt)}, coalesce(${sentAt} + ${spacingMs}, 0)))`,
      },
    });
  return [insert];
};

export interface DueNotices extends WaitingNotices {
  readonly businessId: BusinessId;
  readonly lastSealed: string | null;
}

/**
 * Lists the rows with due notices, longest overdue first. Omits businesses whose account is in one of the shards in `except`, and skips the
 * first `skip` of the other rows.
 */
export const listDueNotices = async (
  db: Database,
  now: Instant,
  { max, skip, except }: { readonly max: number; readonly skip: number; readonly except: readonly ShardId[] },
): Promise<readonly DueNotices[]> => {
  const rows = await db
    .select()
    .from(ownerNotices)
    .where(allOf(lte(ownerNotices.dueAt, now), notInArray(accountShardOf(ownerNotices.businessId), jsonList(except))))
    .orderBy(ownerNotices.dueAt)
    .limit(max)
    .offset(skip);
  return rows.map((row) => ({ ...row, dueAt: row.dueAt as Instant }));
};

/** Decrypts the first or the last of the waiting notices. */
export const openNotice = async (vault: Vault, due: DueNotices, which: "firstSealed" | "lastSealed"): Promise<OwnerNotice> => {
  const data = JSON.parse(await vault.open(detailsContext(due.kind, due.businessId), due[which] as string)) as MailData[OwnerNoticeKind];
  return { template: due.kind, data } as OwnerNotice;
};

const isUnchanged = ({ businessId, kind, notices, dueAt }: DueNotices): SQL =>
  allOf(
    eq(ownerNotices.businessId, businessId),
    eq(ownerNotices.kind, kind),
    eq(ownerNotices.notices, notices),
    eq(ownerNotices.dueAt, dueAt),
  );

/**
 * Returns the statements that write the emails to the outbox and remove the reported notices from the row. If the emails report only the
 * first notice, `left` describes the others. The statements do nothing if the row has changed since it was listed.
 */
export const reportNotices = async (
  db: Database,
  vault: Vault,
  due: DueNotices,
  {
    mail,
    to,
    now,
    left,
  }: {
    readonly mail: TemplatedMail;
    readonly to: readonly string[];
    readonly now: Instant;
    readonly left: { readonly notices: number; readonly records: number; readonly dueAt: Instant } | null;
  },
): Promise<readonly Statement[]> => {
  const onlyIf = existsIn(ownerNotices, isUnchanged(due));
  const mails = await Promise.all(to.map((address) => insertMail(db, vault, { ...mail, to: address, now, onlyIf })));
  const rest =
    left === null
      ? { notices: 0, records: 0, earliestCeaseBy: null, firstSealed: null, lastSealed: null, dueAt: null }
      : { ...left, firstSealed: null };
  return [
    ...mails.flat(),
    db
      .update(ownerNotices)
      .set({ ...rest, sentAt: now })
      .where(isUnchanged(due)),
  ];
};
