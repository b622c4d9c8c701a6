// Compares the service with the log of acknowledged writes. Uses only public routes.
import { setTimeout as pause } from "node:timers/promises";
import { trustOf } from "../../verifier/trust.ts";
import { defaultVerificationOptions, verifyPack } from "../../verifier/verify-pack.ts";
import type { Answer, Client, RequestOptions } from "./client.ts";
import type { OtherMachines } from "./other-machines.ts";
import type { Business, WriteLog } from "./write-log.ts";

export interface Reconciliation {
  /** Acknowledged writes that are missing or different. */
  readonly lost: readonly string[];
  /** Writes that exist more than once. */
  readonly duplicated: readonly string[];
  /**
   * When all acknowledged writes and their events, deliveries and emails had arrived, as a `performance.now()` time. Null if any were still
   * missing at the deadline.
   */
  readonly recoveredAt: number | null;
  /** When all certificates were also anchored and the sampled evidence packs were valid. Null if that was not the case by the deadline. */
  readonly provenAt: number | null;
}

export interface ReconcileOptions {
  readonly client: Client;
  readonly log: WriteLog;
  readonly machines: OtherMachines;
  readonly businesses: readonly Business[];
  /** Runs the cron jobs, because the local runtime does not run them by itself. */
  readonly runJobs: () => Promise<void>;
  /** Anything that is still missing after this time counts as lost. */
  readonly deadlineMs: number;
  /** If false, no evidence packs are downloaded and verified. The default is true. */
  readonly checksPacks?: boolean;
}

interface FeedEvent {
  readonly id: string;
  readonly type: string;
  readonly seq: number;
  readonly cert_id: string | null;
  readonly share_id: string | null;
}

/** A condition that must eventually be met. It is checked repeatedly until it is met or the deadline passes. */
interface Expectation {
  readonly text: string;
  /** True if the expectation is about the audit log or the ledger, which are updated within minutes. */
  readonly isProof: boolean;
  readonly isMet: () => boolean | Promise<boolean>;
}

const concurrency = 8;
const pauseMs = 500;

const filterConcurrently = async <T>(list: readonly T[], keep: (item: T) => boolean | Promise<boolean>): Promise<T[]> => {
  const kept: T[] = [];
  const rest = [...list];
  const work = async (): Promise<void> => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) if (await keep(item)) kept.push(item);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return kept;
};

const bearer = ({ account }: Business) => ({ authorization: `Bearer ${account.keys.live}` });

/** Returns all events of a business in order; null if a page cannot be read. */
const readFeed = async (client: Client, business: Business): Promise<readonly FeedEvent[] | null> => {
  const events: FeedEvent[] = [];
  for (let cursor = 0; ; ) {
    const response = await client.send(`/v1/events?limit=500&cursor=${cursor}`, { headers: bearer(business) });
    if (response?.status !== 200) return null;
    const {
      events: page,
      next_cursor: next,
      has_more: hasMore,
    } = response.data as unknown as {
      readonly events: readonly FeedEvent[];
      readonly next_cursor: number;
      readonly has_more: boolean;
    };
    events.push(...page);
    if (!hasMore) return events;
    cursor = next;
  }
};

/** Reads a list. Throws if the list cannot be read, because an empty list would hide duplicates. */
const readList = async (client: Client, path: string, options: RequestOptions): Promise<Answer["data"]> => {
  const response = await client.sendUntilAnswered(path, options);
  if (response?.status !== 200) throw new Error(`chaos: ${path.split("?")[0]} answered ${response?.status} ${response?.code}`);
  return response.data;
};

const listShares = async (client: Client, business: Business): Promise<readonly { readonly id: string; readonly purpose: string }[]> => {
  const shares: { readonly id: string; readonly purpose: string }[] = [];
  for (;;) {
    const after = shares.length === 0 ? "" : `&starting_after=${shares.at(-1)?.id}`;
    const page = await readList(client, `/v1/shares?limit=200${after}`, { headers: bearer(business) });
    shares.push(...(page.shares as typeof shares));
    if (page.has_more !== true) return shares;
  }
};

const findRepeated = (list: readonly string[]): readonly string[] => [...new Set(list.filter((item, at) => list.indexOf(item) !== at))];

/** Each business's events, as last read. */
type Feeds = Map<Business, readonly FeedEvent[]>;

/** Lists what must exist for every acknowledged write, with its events, deliveries, anchors and emails. */
const listExpectations = ({ client, log, machines, businesses, checksPacks }: ReconcileOptions, feeds: Feeds): Expectation[] => {
  const hasEvent = (business: Business, type: string, id: string): boolean =>
    feeds.get(business)?.some((event) => event.type === type && (event.cert_id ?? event.share_id) === id) === true;

  const expectations: Expectation[] = [];
  const expect = (text: string, isMet: Expectation["isMet"]): void => {
    expectations.push({ text, isProof: false, isMet });
  };
  const expectProof = (text: string, isMet: Expectation["isMet"]): void => {
    expectations.push({ text, isProof: true, isMet });
  };

  for (const { business, certificate, isWithdrawn } of log.submissions) {
    if (certificate === null) continue;
    const { id, fingerprint } = certificate;
    expect(`certificate ${id}`, async () => {
      const response = await client.send(`/v1/certs/${id}/verify`);
      return response?.status === 200 && response.data.fingerprint === fingerprint;
    });
    expectProof(`receipt of ${id} from the ledger`, async () => {
      const response = await client.send(`/v1/certs/${id}/verify`);
      return (response?.data.anchor as { readonly status?: string } | null | undefined)?.status === "anchored";
    });
    if (!isWithdrawn) continue;
    expect(`withdrawal of ${id}`, async () => (await client.send(`/v1/certs/${id}/verify`))?.data.status === "revoked");
    expect(`event about the withdrawal of ${id}`, () => hasEvent(business, "certificate.revoked", id));
  }
  for (const { business, shareId, isRevoked } of log.grants) {
    if (shareId === null) continue;
    const status = isRevoked ? "revoked" : "active";
    expect(`${status} share ${shareId}`, async () => {
      const response = await client.send(`/v1/shares/${shareId}`, { headers: bearer(business) });
      return response?.status === 200 && (response.data.status ?? (response.data.share as { readonly status?: string })?.status) === status;
    });
    expect(`event about share ${shareId}`, () => hasEvent(business, isRevoked ? "share.revoked" : "share.created", shareId));
  }
  for (const { business, endpointId, url } of log.registrations) {
    if (endpointId === null) continue;
    expect(`endpoint ${url}`, async () => {
      const response = await client.send("/v1/webhooks", { headers: { cookie: business.owner } });
      return response?.status === 200 && (response.data.webhooks as readonly { id: string }[]).some(({ id }) => id === endpointId);
    });
  }
  for (const { email } of log.codes) expect(`code for ${email}`, () => machines.emails.some(({ to }) => to === email));
  for (const business of businesses) {
    const { host } = business.receiver;
    expect(`deliveries to ${host}`, () => {
      const received = new Set(machines.events.filter((event) => event.host === host).map(({ id }) => id));
      return feeds.get(business)?.every(({ id }) => received.has(id)) === true;
    });
    if (checksPacks === false) continue;
    const ownSubmissions = log.submissions.filter((submission) => submission.business === business && submission.certificate !== null);
    const sample = [
      ...ownSubmissions.filter(({ isWithdrawn }) => isWithdrawn).slice(-1),
      ...ownSubmissions.slice(0, 1),
      ...ownSubmissions.slice(-1),
    ];
    for (const id of new Set(sample.map(({ certificate }) => certificate?.id as string)))
      expectProof(`evidence pack of ${id}, with its audit entries and receipts`, async () => {
        const [pack, trust] = await Promise.all([
          client.download(`/v1/certs/${id}/evidence-pack?format=zip`, bearer(business)),
          client.download("/.well-known/svc-trust.json"),
        ]);
        if (pack === null || trust === null) return false;
        const keys = trustOf(JSON.parse(new TextDecoder().decode(trust)));
        return (await verifyPack(pack, { ...defaultVerificationOptions, trust: keys })).verdict === "valid";
      });
  }
  return expectations;
};

type Progress = Pick<Reconciliation, "recoveredAt" | "provenAt"> & { readonly unmet: readonly Expectation[] };

/** Runs the jobs and updates `feeds` until all expectations are met, or until the deadline. */
const waitForExpectations = async (
  { client, businesses, runJobs, deadlineMs }: ReconcileOptions,
  feeds: Feeds,
  expectations: readonly Expectation[],
): Promise<Progress> => {
  const startedAt = performance.now();
  let unmet = expectations;
  let recoveredAt: number | null = null;
  for (;;) {
    await runJobs();
    for (const business of businesses) {
      const feed = await readFeed(client, business);
      if (feed !== null) feeds.set(business, feed);
      else feeds.delete(business);
    }
    unmet = await filterConcurrently(unmet, async ({ isMet }) => !(await isMet()));
    if (recoveredAt === null && unmet.every(({ isProof }) => isProof)) recoveredAt = performance.now();
    if (unmet.length === 0 || performance.now() - startedAt > deadlineMs) break;
    await pause(pauseMs);
    for (const business of businesses) {
      // Resends failed deliveries, as an owner would after an outage, instead of waiting for their next scheduled attempts.
      const path = `/v1/webhooks/${business.receiver.endpointId}/recover`;
      const since = new Date(Date.now() - 3_600_000).toISOString();
      await client.send(path, { method: "POST", headers: { cookie: business.owner }, body: { since } });
    }
  }
  return { unmet, recoveredAt, provenAt: unmet.length === 0 ? performance.now() : null };
};

const findDuplicates = async ({ client, log, businesses }: ReconcileOptions, feeds: Feeds): Promise<readonly string[]> => {
  const duplicated: string[] = [];
  await filterConcurrently(log.submissions, async ({ business, email, certificate }) => {
    const options = { method: "POST", headers: bearer(business), body: { subject_email: email } };
    const found = (await readList(client, "/v1/certs/search", options)).certs as readonly { readonly cert_id: string }[];
    if (found.length > 1 || (certificate !== null && found.some(({ cert_id: id }) => id !== certificate.id)))
      duplicated.push(`${found.length} certificates of one submission`);
    return false;
  });
  for (const business of businesses) {
    const feed = feeds.get(business) ?? [];
    const about = feed.map((event) => `${event.type} ${event.cert_id ?? event.share_id}`);
    duplicated.push(...findRepeated(about).map((text) => `event ${text}`));
    if (feed.some(({ seq }, at) => seq !== at + 1)) duplicated.push("a gap in the event sequence");
    const shares = await listShares(client, business);
    duplicated.push(...findRepeated(shares.map(({ purpose }) => purpose)).map((purpose) => `share "${purpose}"`));
    const listed = await readList(client, "/v1/webhooks", { headers: { cookie: business.owner } });
    const urls = (listed.webhooks as readonly { readonly url: string }[]).map(({ url }) => url);
    duplicated.push(...findRepeated(urls).map((url) => `endpoint ${url}`));
  }
  return duplicated;
};

/**
 * Waits until every acknowledged write exists, with its events, deliveries, anchors and emails, or until the deadline. Then looks for
 * duplicate writes.
 */
export const reconcile = async (options: ReconcileOptions): Promise<Reconciliation> => {
  const feeds: Feeds = new Map();
  const { unmet, recoveredAt, provenAt } = await waitForExpectations(options, feeds, listExpectations(options, feeds));
  const lost = [...options.log.contradictions, ...unmet.map(({ text }) => text)];
  return { lost, duplicated: await findDuplicates(options, feeds), recoveredAt, provenAt };
};
