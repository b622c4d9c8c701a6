// Measures the figures that alerts compare with their thresholds, for the job and for GET /v1/admin/figures.
import type { AlertFigures } from "../../../core/alerts.ts";
import { dayMs, minuteMs } from "../../../core/time.ts";
import { countFailedMailSince } from "../../../storage/failed-mail.ts";
import type { AdminDependencies } from "./dependencies.ts";
import { listFailingEndpointsByShard } from "./list-failing-endpoints.ts";
import { listShards } from "./list-shards.ts";
import { listStuckWorkByShard } from "./list-stuck-work.ts";

const anchoringKinds: readonly string[] = ["anchors", "parked_anchors"];

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** Measures the whole deployment. The figures contain no personal data. */
export const measureService = async (services: AdminDependencies): Promise<AlertFigures> => {
  const now = services.clock();
  const [stuck, shards, failing, failedMail] = await Promise.all([
    listStuckWorkByShard(services),
    listShards(services),
    listFailingEndpointsByShard(services),
    Promise.all(services.shards.all().map(([, db]) => countFailedMailSince(db, now - dayMs))),
  ]);
  const oldestMinutes = (isAnchoring: boolean): number => {
    const since = stuck.flatMap((work) => (anchoringKinds.includes(work.kind) === isAnchoring ? (work.since ?? []) : []));
    return since.length === 0 ? 0 : Math.floor((now - Math.min(...since)) / minuteMs);
  };
  return {
    overdue_work: oldestMinutes(false),
    anchoring_delay: oldestMinutes(true),
    full_shard: Math.floor(Math.max(...shards.map(({ bytes, maxBytes }) => (100 * bytes) / maxBytes))),
    failing_endpoints: failing.length,
    failed_mail: sum(failedMail),
  };
};
