// Computes the figures that the alerts compare with thresholds. The alert job, GET /v1/admin/figures and the operator's page use them.
import type { AlertFigures } from "../../../core/alerts.ts";
import { dayMs, minuteMs } from "../../../core/time.ts";
import { countFailedMailSince } from "../../../storage/failed-mail.ts";
import type { AdminDependencies } from "./dependencies.ts";
import { listFailingEndpointsByShard } from "./list-failing-endpoints.ts";
import { listFromEachShard } from "./list-from-each-shard.ts";
import { listShards } from "./list-shards.ts";
import { listStuckWorkByShard } from "./list-stuck-work.ts";

const anchoringKinds: readonly string[] = ["anchors", "parked_anchors"];

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/**
 * Measures the whole deployment. Returns the figures and the data behind them, without personal data. If a shard does not respond,
 * `unavailable_shards` counts it, `full_shard` uses its last recorded size, and the other figures leave it out.
 */
export const inspectService = async (services: AdminDependencies) => {
  const now = services.clock();
  const [stuck, shards, failing, failedMail] = await Promise.all([
    listStuckWorkByShard(services),
    listShards(services),
    listFailingEndpointsByShard(services),
    listFromEachShard(services, async (db) => [await countFailedMailSince(db, now - dayMs)]),
  ]);
  const oldestMinutes = (isAnchoring: boolean): number => {
    const since = stuck.flatMap((work) => (anchoringKinds.includes(work.kind) === isAnchoring ? (work.since ?? []) : []));
    return since.length === 0 ? 0 : Math.floor((now - Math.min(...since)) / minuteMs);
  };
  const figures: AlertFigures = {
    unavailable_shards: shards.filter(({ isAvailable }) => !isAvailable).length,
    overdue_work: oldestMinutes(false),
    anchoring_delay: oldestMinutes(true),
    full_shard: Math.floor(Math.max(...shards.map(({ bytes, maxBytes }) => (100 * bytes) / maxBytes))),
    failing_endpoints: failing.length,
    failed_mail: sum(failedMail),
  };
  return { figures, stuck, shards, failing, thresholds: services.config.alertThresholds };
};

export type ServiceInspection = Awaited<ReturnType<typeof inspectService>>;

export const measureService = async (services: AdminDependencies): Promise<AlertFigures> => (await inspectService(services)).figures;
