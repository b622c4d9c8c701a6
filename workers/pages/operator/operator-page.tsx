// The operator's page: the figures that trigger alerts, how full each shard is, overdue work, failing endpoints, and the number of requests
// by status and error code. It shows no personal data.
import type { FC } from "hono/jsx";
import { alertKinds } from "../../../core/alerts.ts";
import type { ShardState } from "../../../core/shards/placement.ts";
import type { Metrics } from "../../operations/admin/dependencies.ts";
import type { ServiceInspection } from "../../operations/admin/measure-service.ts";
import { messages } from "../i18n/en/operator.ts";
import { Card, ShortTime, StatusLabel } from "../portal/components.tsx";
import { formatMessage } from "../shared/components.tsx";
import type { Page } from "../shared/layout.tsx";
import { Table } from "../shared/signed-in-components.tsx";

const mebibyte = 1_048_576;

const formatSize = (bytes: number): string => `${Math.ceil(bytes / mebibyte).toLocaleString("en-US")} MiB`;

const formatShardState = (state: ShardState | null, isNext: boolean): string => {
  if (isNext) return messages.next;
  return state === null ? messages.unknown : messages.shardStates[state];
};

type RequestCounts = Awaited<ReturnType<NonNullable<Metrics["countRequests"]>>>;

const FiguresCard: FC<Pick<ServiceInspection, "figures" | "thresholds">> = ({ figures, thresholds }) => (
  <Card id="figures" title={messages.figuresTitle} note={messages.figuresNote} isFlush>
    <Table
      label={messages.figuresTitle}
      rows={alertKinds}
      columns={[
        [messages.figure, (kind) => messages.figures[kind].name],
        [messages.value, (kind) => formatMessage(messages.units[messages.figures[kind].unit], { n: String(figures[kind]) }), "number"],
        [
          messages.threshold,
          (kind) => formatMessage(messages.units[messages.figures[kind].unit], { n: String(thresholds[kind]) }),
          "number",
        ],
        [
          messages.state,
          (kind) =>
            figures[kind] > thresholds[kind] ? (
              <StatusLabel tone="bad" text={messages.raised} />
            ) : (
              <StatusLabel tone="good" text={messages.fine} />
            ),
          "corner",
        ],
      ]}
    />
  </Card>
);

const ShardsCard: FC<Pick<ServiceInspection, "shards">> = ({ shards }) => (
  <Card id="shards" title={messages.shardsTitle} isFlush>
    <Table
      label={messages.shardsTitle}
      rows={shards}
      columns={[
        [messages.shard, ({ shard }) => <code translate="no">{shard}</code>],
        [messages.used, ({ bytes, maxBytes }) => `${Math.floor((100 * bytes) / maxBytes)}%`, "number"],
        [messages.size, ({ bytes }) => formatSize(bytes), "number"],
        [
          messages.shardState,
          ({ state, isNext, isAvailable }) =>
            isAvailable ? formatShardState(state, isNext) : <StatusLabel tone="bad" text={messages.unavailable} />,
        ],
      ]}
    />
  </Card>
);

const WorkCard: FC<Pick<ServiceInspection, "stuck">> = ({ stuck }) => (
  <Card id="work" title={messages.workTitle} note={messages.workNote} isFlush>
    <Table
      label={messages.workTitle}
      rows={stuck}
      emptyMessage={messages.noWork}
      columns={[
        [messages.kind, ({ kind }) => messages.work[kind]],
        [messages.shard, ({ shard }) => <code translate="no">{shard}</code>],
        [messages.count, ({ count }) => String(count), "number"],
        [messages.since, ({ since }) => (since === null ? messages.unknown : <ShortTime at={since} />)],
      ]}
    />
  </Card>
);

const EndpointsCard: FC<Pick<ServiceInspection, "failing">> = ({ failing }) => (
  <Card id="endpoints" title={messages.endpointsTitle} note={messages.endpointsNote} isFlush>
    <Table
      label={messages.endpointsTitle}
      rows={failing}
      emptyMessage={messages.noEndpoints}
      columns={[
        [messages.endpoint, ({ webhookId }) => <code translate="no">{webhookId}</code>],
        [messages.business, ({ businessId }) => <code translate="no">{businessId}</code>],
        [messages.failingSince, ({ since }) => <ShortTime at={since} />],
        [messages.failures, ({ failures }) => (failures === null ? messages.unknown : String(failures)), "number"],
        [messages.waiting, ({ backlog }) => (backlog === null ? messages.unknown : String(backlog)), "number"],
      ]}
    />
  </Card>
);

/** `requests` is null if the metrics could not be read, and `unset` if the deployment is not set up to read them. */
const RequestsCard: FC<{ requests: RequestCounts | "unset" }> = ({ requests }) => (
  <Card id="requests" title={messages.requestsTitle} note={messages.requestsNote} isFlush>
    <Table
      label={messages.requestsTitle}
      rows={requests === "unset" ? [] : (requests ?? [])}
      emptyMessage={requests === "unset" ? messages.requestsUnset : requests === null ? messages.requestsUnread : messages.noRequests}
      columns={[
        [messages.status, ({ status }) => status],
        [messages.code, ({ code }) => (code === "" ? "" : <code translate="no">{code}</code>)],
        [messages.requests, ({ requests: count }) => count.toLocaleString("en-US"), "number"],
      ]}
    />
  </Card>
);

export const operatorPage = (
  { figures, thresholds, shards, stuck, failing }: ServiceInspection,
  requests: RequestCounts | "unset",
): Page => ({
  title: `${messages.title} · svc`,
  onlyLanguage: "en",
  content: (
    <>
      <div>
        <h1>{messages.title}</h1>
        <p class="lede">{messages.intro}</p>
      </div>
      <FiguresCard figures={figures} thresholds={thresholds} />
      <ShardsCard shards={shards} />
      <WorkCard stuck={stuck} />
      <EndpointsCard failing={failing} />
      <RequestsCard requests={requests} />
    </>
  ),
});
