// The policies of the demo business's website in the demo month. A capture is written in the transaction of the first certificate that uses
// it, and later certificates reuse it. Running the service's capture job would take up most of the replay.
import {
  captureReuseMs,
  createPolicyText,
  normalizePolicyText,
  type CapturedPolicies,
  type PolicyKind,
  type PolicySnapshot,
} from "../../core/policies/snapshot.ts";
import { minuteMs, type Instant } from "../../core/time.ts";
import type { BusinessId, ShardId } from "../../core/ids.ts";
import type { Database, Statement } from "../../storage/database.ts";
import { insertPolicyCapture, storePolicyTexts } from "../../storage/policies.ts";
import type { Services } from "../../workers/platform/platform.ts";
import { siteOrigin } from "./leads.ts";

const privacyPolicy = `Privacy policy
Acme Solar LLC collects the name, email address and phone number that you send with a form on this site, to prepare an estimate and to contact you about it.
Who receives it
Only the companies named next to the form, and only for the purpose named there. We do not sell your data.
How long
Until you withdraw your consent, or for two years after the last contact.
Your rights
You can withdraw your consent, and ask for a copy of your data or for its deletion, at any time: privacy@acme-solar.example.`;

const terms = `Terms
An estimate is free and not binding. We work it out from public maps and from the details you send. A measured offer may differ.
This site is a demonstration. It sells nothing and sends no offers.`;

const found: CapturedPolicies = {
  privacy: createPolicyText(`${siteOrigin}/privacy`, normalizePolicyText(privacyPolicy)),
  terms: createPolicyText(`${siteOrigin}/terms`, normalizePolicyText(terms)),
};
const domain = new URL(siteOrigin).hostname;

/** Returns services whose next batch of statements also writes `rows`, in the same transaction. */
const withExtraRows = (services: Services, rows: readonly Statement[]): Services => {
  let extra = rows;
  const get = (shard: ShardId): Database => {
    const db = services.shards.get(shard);
    const batch = async (statements: readonly Statement[]): Promise<unknown[]> => {
      const [first, ...rest] = [...extra, ...statements] as [Statement, ...Statement[]];
      const added = extra.length;
      extra = [];
      const results: readonly unknown[] = await db.batch([first, ...rest]);
      return results.slice(added);
    };
    return Object.assign(Object.create(db) as Database, { batch });
  };
  return { ...services, shards: { ...services.shards, get } };
};

export interface Site {
  /**
   * Returns services for a form that is submitted at `at`. They also store a policy capture dated one minute earlier, unless an earlier
   * capture still applies.
   */
  readonly withCapturedPolicies: (services: Services, at: Instant) => Services;
}

export const openSite = async (services: Services, businessId: BusinessId): Promise<Site> => {
  const { shards, kv, random, config } = services;
  const db = shards.forId(businessId);
  const limit = config.storageLimits.policies;
  const now = services.clock();
  let snapshots = await storePolicyTexts(db, kv, { usageKey: businessId, domain, certId: businessId, found, now, limit, random });
  let capturedAt: Instant = 0;
  return {
    withCapturedPolicies: (services, at) => {
      if (capturedAt > at - captureReuseMs) return services;
      capturedAt = at - minuteMs;
      const { newKinds } = snapshots;
      const dateNew = (kind: PolicyKind): PolicySnapshot | null => {
        const snapshot = snapshots.policies[kind];
        return snapshot !== null && newKinds.includes(kind) ? { ...snapshot, capturedAt } : snapshot;
      };
      snapshots = { policies: { privacy: dateNew("privacy"), terms: dateNew("terms") }, newKinds };
      const { rows } = insertPolicyCapture(db, {
        domain,
        origin: siteOrigin,
        page: null,
        certId: businessId,
        snapshots,
        now: capturedAt,
        random,
      });
      snapshots = { ...snapshots, newKinds: [] };
      return withExtraRows(services, rows);
    },
  };
};
