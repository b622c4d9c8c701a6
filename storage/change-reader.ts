// Runs the readers of the change log: one for each audit log, and one for events. A run first retries work that was set aside. It then
// reads the log page by page, processes each page, and stores its position. Runs can overlap, and after a crash, the next run reads the
// same changes again. Readers must therefore recognize work that is already done.
import type { SQL } from "drizzle-orm";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import type { Backoff } from "../core/retry.ts";
import type { Instant } from "../core/time.ts";
import {
  advanceReader,
  deleteExceptions,
  postponeExceptions,
  selectDueExceptions,
  selectNewestChange,
  setAside,
  type ChangeException,
  type ChangePosition,
} from "./changes.ts";
import { batch, onPrimary, type Database, type Statement } from "./database.ts";

/** The work that one change requires of a reader. */
interface ChangeWork extends ChangePosition {
  /** True if the subject of the work was set aside. The work then waits for the next retry. */
  readonly isSetAside?: boolean;
}

export interface ChangeReader<Work extends ChangeWork> {
  readonly name: string;
  /** Selects the number of the last change that the reader has read. */
  readonly offset: SQL<number>;
  readonly maxPerPage: number;
  /** Selects up to `max` rows of work in unread changes, oldest first. A change can have several rows of work. */
  readonly selectUnread: (db: DrizzleD1Database, max: number) => Statement & PromiseLike<Work[]>;
  /** Lists the work of the changes that were set aside. */
  readonly listWorkOf: (db: Database, exceptions: readonly ChangeException[]) => Promise<readonly Work[]>;
  /** Returns the subject of the work. If work for one change fails, later changes of the same subject wait. */
  readonly getSubject: (work: Work) => string;
  /** Does the work. Returns the subjects that failed, or null to stop the reader without storing a position. */
  readonly process: (work: readonly Work[]) => Promise<ReadonlySet<string> | null>;
  /**
   * True if changes without work for this reader can be deleted before it has read them. The reader then stores no position after a page
   * without work.
   */
  readonly isPassedWithoutWork?: true;
  /** Returns the statement that stores the position after this work, or null to store it in `change_readers`. */
  readonly savePosition?: (db: Database, position: ChangePosition, work: readonly Work[]) => Statement | null;
  /** The delays before failed work is retried. */
  readonly backoff: Backoff;
}

interface ReaderPorts {
  readonly clock: () => Instant;
  /** Called before each page. If it returns false, this run ends, and the next run starts with that page. */
  readonly canContinue: () => boolean | Promise<boolean>;
}

/**
 * Reads one page. The work of a change is never divided between pages. `position` is the last change that the page covers, or null if there
 * are no changes.
 */
const readPage = async <Work extends ChangeWork>(db: Database, reader: ChangeReader<Work>) => {
  const primary = onPrimary(db); // replicas may not have the newest changes yet
  const max = reader.maxPerPage;
  const [rows, [newest = null]] = (await primary.batch([reader.selectUnread(primary, max + 1), selectNewestChange(primary)])) as [
    readonly Work[],
    readonly ChangePosition[],
  ];
  if (rows.length <= max) return { work: rows, position: newest, hasMore: false };
  const work = rows.filter(({ ord }) => ord !== rows.at(-1)?.ord);
  return { work, position: work.at(-1) ?? null, hasMore: true };
};

const retryExceptions = async <Work extends ChangeWork>(db: Database, reader: ChangeReader<Work>, now: Instant): Promise<void> => {
  const primary = onPrimary(db);
  const [due, [newest]] = await primary.batch([
    selectDueExceptions(primary, reader.name, now, reader.maxPerPage),
    selectNewestChange(primary),
  ]);
  if (due.length === 0) return;
  const failed = await reader.process(await reader.listWorkOf(db, due));
  if (failed === null) return;
  const subjects = due.map(({ subject }) => subject);
  const done = subjects.filter((subject) => !failed.has(subject));
  await batch(db, [
    deleteExceptions(db, reader.name, done, { offset: reader.offset, readUpTo: newest?.ord ?? 0 }),
    postponeExceptions(db, reader.name, [...failed], reader.backoff, now),
  ]);
};

/**
 * Runs a reader. Returns true if there may be more changes for the next run, false if there are none, or null if `process` stopped the
 * reader.
 */
export const runReader = async <Work extends ChangeWork>(
  db: Database,
  reader: ChangeReader<Work>,
  { clock, canContinue }: ReaderPorts,
): Promise<boolean | null> => {
  await retryExceptions(db, reader, clock());
  while (await canContinue()) {
    const { work, position, hasMore } = await readPage(db, reader);
    if (position === null || (work.length === 0 && reader.isPassedWithoutWork === true)) return false;
    const failed = await reader.process(work.filter(({ isSetAside }) => isSetAside !== true));
    if (failed === null) return null;
    const exceptions = new Map<string, ChangeException>();
    for (const each of work) {
      const subject = reader.getSubject(each);
      if ((each.isSetAside === true || failed.has(subject)) && !exceptions.has(subject))
        exceptions.set(subject, { subject, ord: each.ord });
    }
    const now = clock();
    await batch(db, [
      ...(exceptions.size === 0 ? [] : [setAside(db, reader.name, [...exceptions.values()], now + reader.backoff.firstMs, now)]),
      reader.savePosition?.(db, position, work) ?? advanceReader(db, reader.name, reader.offset, position),
    ]);
    if (!hasMore) return false;
  }
  return true;
};
