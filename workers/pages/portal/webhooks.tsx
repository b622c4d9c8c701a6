// Webhook endpoints: adding them with a secret that is shown once, testing and changing them, and replaying their deliveries.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { optInEventTypes } from "../../../core/events/event.ts";
import { parseDeliveryId, parseWebhookId, type WebhookId } from "../../../core/ids.ts";
import type { Delivery, DeliveryStatus } from "../../../core/webhooks/endpoint.ts";
import { dayMs, toIso, type Instant } from "../../../core/time.ts";
import { toHourlyFigures } from "../../../core/webhooks/hourly-attempts.ts";
import { selectableEventTypes } from "../../../core/webhooks/event-selection.ts";
import type { AppEnv } from "../../http/context.ts";
import type { BusinessAccount } from "../../../storage/business-profiles.ts";
import { getAccount } from "../../operations/portal/get-account.ts";
import type { CallOutcome } from "../../operations/webhooks/call-outcome.ts";
import { countFailedDeliveries } from "../../operations/webhooks/count-failed-deliveries.ts";
import { getEndpointOverview } from "../../operations/webhooks/get-endpoint-overview.ts";
import { getAttemptHours } from "../../operations/webhooks/get-attempt-hours.ts";
import { recoverEndpoint } from "../../operations/webhooks/recover-endpoint.ts";
import { replayDelivery } from "../../operations/webhooks/replay-delivery.ts";
import { testEndpoint } from "../../operations/webhooks/test-endpoint.ts";
import { deleteWebhook } from "../../operations/webhooks/delete-webhook.ts";
import { listWebhooks, type EndpointState } from "../../operations/webhooks/list-webhooks.ts";
import { updateWebhook } from "../../operations/webhooks/update-webhook.ts";
import { createWebhook } from "../../operations/webhooks/create-webhook.ts";
import { rotateWebhookSecret } from "../../operations/webhooks/rotate-webhook-secret.ts";
import { SubmitButton } from "../shared/form-fields.tsx";
import { VerbatimText, formatMessage, Timestamp } from "../shared/components.tsx";
import { Chart, exportChart, type ChartDefinition } from "./chart.tsx";
import {
  RoleGate,
  ConfirmButton,
  Field,
  Pagination,
  Link,
  LinkList,
  formatCount,
  IdempotencyField,
  PostForm,
  ActionButton,
  PropertyList,
  Section,
  StatusLabel,
  Table,
  CheckboxField,
  usePortalRequest,
  messages,
  FormErrorMessage,
  type Tone,
} from "./components.tsx";
import { notFoundPage, renderMemberPage, renderSecretPage } from "./page.tsx";
import { authenticatedAction, authenticatedPage, withId } from "./handlers.ts";
import { toFormError, toReader, redirectTo, type FormError, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";

const webhookMessages = messages.webhooks;
const deliveriesPerPage = 25;

const EndpointHealth: FC<{ state: EndpointState }> = ({ state: { endpoint, health } }) => {
  if (endpoint.status === "disabled") return <StatusLabel tone="plain" text={webhookMessages.off} />;
  if (health === null) return <StatusLabel tone="plain" text={webhookMessages.unknown} />;
  if (health.failingSince === null) return <StatusLabel tone="good" text={webhookMessages.works} />;
  return (
    <>
      <StatusLabel tone="bad" text={webhookMessages.failing} /> <Timestamp at={health.failingSince} />
    </>
  );
};

const formatEventTypes = (events: readonly string[] | null): string => (events === null ? webhookMessages.allEvents : events.join(", "));

/** Warns that selected event types are turned off in the settings, because the endpoint would never receive them. */
export const OptInEventsNotice: FC<{ account: BusinessAccount; types: readonly string[] | null }> = ({ account, types }) => {
  const selectsOptIn = optInEventTypes.some((type) => types?.includes(type));
  return account.emitsIssued || !selectsOptIn ? null : (
    <p class="quiet">
      {webhookMessages.onRequest} <Link to="/portal/settings" text={messages.tabs.settings} />
    </p>
  );
};

const listEndpointsInEnvironment = async ({ services, member, environment }: PortalRequest): Promise<readonly EndpointState[]> =>
  (await listWebhooks(services, member)).filter((state) => state.environment === environment);

const renderEndpointList = async (request: PortalRequest, error?: FormError): Promise<Response> => {
  const { services, member } = request;
  const [endpoints, account] = await Promise.all([listEndpointsInEnvironment(request), getAccount(services, member)]);
  return renderMemberPage(request, {
    tab: "webhooks",
    error,
    content: (
      <>
        <Table
          label={messages.tabs.webhooks}
          rows={endpoints}
          emptyMessage={webhookMessages.empty}
          columns={[
            [
              webhookMessages.url,
              ({ endpoint }) => <Link to={`/portal/webhooks/${endpoint.id}`} text={<VerbatimText text={endpoint.url} />} />,
            ],
            [webhookMessages.listens, ({ endpoint }) => formatEventTypes(endpoint.events)],
            [messages.state, (row) => <EndpointHealth state={row} />],
            [webhookMessages.lastAnswer, ({ health }) => health?.lastResponseStatus ?? messages.none],
            [webhookMessages.waiting, ({ health }) => (health === null ? messages.none : formatCount(health.backlog))],
          ]}
        />
        <Section id="new" title={webhookMessages.new}>
          <PostForm requiredRole="owner" action="/portal/webhooks">
            <FormErrorMessage fields={["url", "description"]} />
            <IdempotencyField />
            <Field name="url" label={webhookMessages.url} hint={webhookMessages.urlHint} type="url" required maxlength={2_048} />
            <fieldset>
              <legend>{webhookMessages.events}</legend>
              <p class="quiet">{webhookMessages.eventsHint}</p>
              {selectableEventTypes.map((type) => (
                <p>
                  <CheckboxField name={`event.${type}`} label={<code>{type}</code>} />
                </p>
              ))}
            </fieldset>
            <OptInEventsNotice account={account} types={optInEventTypes} />
            <Field name="description" label={webhookMessages.description} maxlength={200} />
            <SubmitButton>{webhookMessages.create}</SubmitButton>
          </PostForm>
        </Section>
      </>
    ),
  });
};

const deliveryTones: Readonly<Record<DeliveryStatus, Tone>> = { success: "good", pending: "plain", retrying: "caution", abandoned: "bad" };

export const DeliveryStatusLabel: FC<{ of: Delivery }> = ({ of: { status } }) => (
  <StatusLabel tone={deliveryTones[status]} text={webhookMessages.states[status]} />
);

export const formatResponse = ({ responseStatus, error }: Delivery): string =>
  responseStatus !== null && responseStatus > 0 ? String(responseStatus) : error === null ? messages.none : webhookMessages.errors[error];

/** The time of the delivery, or of the next attempt. */
export const DeliveryTime: FC<{ of: Delivery }> = ({ of: { deliveredAt, nextAttemptAt } }) => {
  const at = deliveredAt ?? nextAttemptAt;
  return at === null ? messages.none : <Timestamp at={at} />;
};

const CallResult: FC<{ called: CallOutcome }> = ({ called: { delivered, responseStatus, durationMs } }) => (
  <p role="status">
    <StatusLabel tone={delivered ? "good" : "bad"} text={delivered ? webhookMessages.delivered : webhookMessages.undelivered} />{" "}
    {responseStatus === 0
      ? webhookMessages.unanswered
      : formatMessage(webhookMessages.answered, { status: String(responseStatus), ms: formatCount(durationMs) })}
  </p>
);

const attemptsChart: ChartDefinition = { name: "attempt_hours", unit: "hour", csvHeader: ["hour", "delivered", "failed"] };

/** Returns when the endpoint started to fail, or one day ago if it is healthy, in UTC for a datetime input. */
const defaultRecoveryStart = ({ health }: EndpointState, now: Instant): string => toIso(health?.failingSince ?? now - dayMs).slice(0, 16);

/** The number of failed deliveries since a time. */
interface FailedDeliveries {
  readonly since: Instant;
  readonly count: number;
}

const RecoverySection: FC<{ path: string; state: EndpointState; failed: FailedDeliveries | null }> = ({ path, state, failed }) => {
  const { pathInMode, now } = usePortalRequest();
  const resending = state.health?.resending ?? 0;
  return (
    <Section id="recover" title={webhookMessages.recover}>
      {resending > 0 && <p role="status">{formatMessage(webhookMessages.resending, { count: formatCount(resending) })}</p>}
      {failed === null ? (
        <>
          <p>{webhookMessages.recoverText}</p>
          <form method="get" action={pathInMode(path)} class="form fields">
            <div>
              <Field
                name="since"
                label={webhookMessages.since}
                hint={webhookMessages.sinceHint}
                type="datetime-local"
                required
                value={defaultRecoveryStart(state, now)}
              />
            </div>
            <button type="submit">{webhookMessages.count}</button>
          </form>
        </>
      ) : (
        <>
          <p>
            {webhookMessages.since} <Timestamp at={failed.since} />
          </p>
          <p>
            {formatMessage(failed.count === 0 ? webhookMessages.noneFailed : webhookMessages.recovers, {
              count: formatCount(failed.count),
            })}
          </p>
          {failed.count > 0 && (
            <ActionButton
              requiredRole="member"
              action={`${path}/recover`}
              label={webhookMessages.recoverNow}
              hiddenValues={{ since: toIso(failed.since) }}
            />
          )}
          <LinkList to={path} text={webhookMessages.otherTime} />
        </>
      )}
    </Section>
  );
};

const dateTimePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{3})?)?Z?$/;

/** Parses a time in UTC from a form; null if it is invalid or in the future. */
const parsePastInstant = (text: string | undefined, now: Instant): Instant | null => {
  if (text === undefined || !dateTimePattern.test(text)) return null;
  const at = Date.parse(text.endsWith("Z") ? text : `${text}Z`);
  return Number.isNaN(at) || at > now ? null : at;
};

const loadFailedDeliveries = async ({ c, services, member, now }: PortalRequest, id: WebhookId): Promise<FailedDeliveries | null> => {
  const since = parsePastInstant(c.req.query("since"), now);
  const count = since === null ? null : await countFailedDeliveries(services, member.business.id, id, since);
  return since === null || count === null ? null : { since, count };
};

const renderEndpoint = async (request: PortalRequest, id: WebhookId, error?: FormError, called?: CallOutcome): Promise<Response> => {
  const { c, services, member } = request;
  const beforeText = c.req.query("before");
  const before = beforeText === undefined ? null : parseDeliveryId(beforeText);
  if (beforeText !== undefined && before === null) return notFoundPage(request);
  const [found, account, failed] = await Promise.all([
    getEndpointOverview(services, toReader(request), id, { limit: deliveriesPerPage, before, status: null }),
    getAccount(services, member),
    loadFailedDeliveries(request, id),
  ]);
  if (found === null || found.overview?.page === null) return notFoundPage(request);
  const { endpoint, overview } = found;
  const health = overview?.health ?? null;
  const hours = toHourlyFigures(overview?.hours ?? [], request.now);
  const { deliveries, hasMore } = overview?.page ?? { deliveries: [], hasMore: false };
  const state: EndpointState = { endpoint, environment: request.environment, health, hours: overview?.hours ?? null };
  const last = deliveries.at(-1);
  const path = `/portal/webhooks/${id}`;
  const isEnabled = endpoint.status === "enabled";
  return renderMemberPage(request, {
    tab: "webhooks",
    title: webhookMessages.one,
    error,
    content: (
      <>
        <p>
          <VerbatimText text={endpoint.url} />
        </p>
        {called !== undefined && <CallResult called={called} />}
        <OptInEventsNotice account={account} types={endpoint.events} />
        <FormErrorMessage />
        <PropertyList
          lines={[
            [messages.state, <EndpointHealth state={state} />],
            [webhookMessages.listens, formatEventTypes(endpoint.events)],
            [webhookMessages.description, endpoint.description !== null && <VerbatimText text={endpoint.description} />],
            [webhookMessages.secret, <code>{endpoint.secretHint}</code>],
            [webhookMessages.oldest, health !== null && health.oldestPendingAt !== null && <Timestamp at={health.oldestPendingAt} />],
          ]}
        />
        <div class="actions">
          <ActionButton requiredRole="member" action={`${path}/test`} label={webhookMessages.test} />
          <RoleGate to="owner">
            <ActionButton
              action={`${path}/status`}
              label={isEnabled ? webhookMessages.switchOff : webhookMessages.switchOn}
              hiddenValues={{ status: isEnabled ? "disabled" : "enabled" }}
            />
            <ConfirmButton
              action={`${path}/rotate`}
              label={webhookMessages.rotate}
              of={endpoint.url}
              consequence={webhookMessages.rotation}
              hiddenValues={{ hint: endpoint.secretHint }}
            />
            <ConfirmButton
              action={`${path}/remove`}
              label={webhookMessages.remove}
              of={endpoint.url}
              consequence={webhookMessages.removal}
            />
          </RoleGate>
        </div>
        <Chart
          definition={attemptsChart}
          exportPath={`${path}/export`}
          heading={webhookMessages.hours}
          figures={hours}
          labels={{ start: webhookMessages.hour, up: webhookMessages.delivered, down: webhookMessages.failed }}
        />
        <RecoverySection path={path} state={state} failed={failed} />
        <Section id="deliveries" title={webhookMessages.deliveries}>
          <Table
            label={webhookMessages.deliveries}
            rows={deliveries}
            emptyMessage={webhookMessages.noDeliveries}
            columns={[
              [webhookMessages.event, (row) => <code>{row.eventType}</code>],
              [messages.state, (row) => <DeliveryStatusLabel of={row} />],
              [webhookMessages.attempt, (row) => String(row.attempt)],
              [webhookMessages.lastAnswer, formatResponse],
              [webhookMessages.made, (row) => <Timestamp at={row.createdAt} />],
              [webhookMessages.next, (row) => <DeliveryTime of={row} />],
              [
                messages.action,
                (row) => (
                  <ActionButton
                    requiredRole="member"
                    action={`${path}/replay`}
                    label={webhookMessages.replay}
                    of={row.eventType}
                    hiddenValues={{ delivery: row.id }}
                  />
                ),
              ],
            ]}
          />
          <Pagination first={before !== null && path} next={hasMore && last !== undefined && `${path}?before=${last.id}`} />
        </Section>
        <LinkList to="/portal/webhooks" text={webhookMessages.all} />
      </>
    ),
  });
};

const renderEndpointSecret = (request: PortalRequest, id: string, value: string | null): Promise<Response> =>
  renderSecretPage(request, {
    tab: "webhooks",
    title: webhookMessages.secretTitle,
    label: webhookMessages.secretLabel,
    value,
    backPath: `/portal/webhooks/${id}`,
  });

const handleCreateEndpoint = async (request: PortalFormRequest): Promise<Response> => {
  const { services, member, form, environment } = request;
  const events = selectableEventTypes.filter((type) => form.has(`event.${type}`));
  const created = await createWebhook(services, member, {
    environment,
    url: (form.get("url") ?? "").trim(),
    events: events.length === 0 ? null : events,
    description: form.get("description")?.trim() || null,
    idempotencyKey: form.get("once")?.slice(0, 64) || null,
  });
  if (!created.ok) return renderEndpointList(request, toFormError(created));
  const { endpoint, isReplayed } = created.value;
  return renderEndpointSecret(request, endpoint.id, isReplayed ? null : endpoint.secret);
};

const handleTestEndpoint = async (request: PortalFormRequest, id: WebhookId): Promise<Response> => {
  const tested = await testEndpoint(request.services, request.member.business.id, id);
  return tested.ok ? renderEndpoint(request, id, undefined, tested.value) : notFoundPage(request);
};

const handleReplayDelivery = async (request: PortalFormRequest, id: WebhookId): Promise<Response> => {
  const delivery = parseDeliveryId(request.form.get("delivery") ?? "");
  if (delivery === null) return notFoundPage(request);
  const replayed = await replayDelivery(request.services, request.member.business.id, delivery);
  if (replayed.ok) return renderEndpoint(request, id, undefined, replayed.value);
  return replayed.code === "not_found" ? notFoundPage(request) : renderEndpoint(request, id, { ...toFormError(replayed), field: null });
};

const handleRecoverEndpoint = async (request: PortalFormRequest, id: WebhookId): Promise<Response> => {
  const since = parsePastInstant(request.form.get("since"), request.now);
  if (since === null) return notFoundPage(request);
  const recovered = await recoverEndpoint(request.services, request.member.business.id, id, since);
  return recovered.ok ? redirectTo(request, `/portal/webhooks/${id}`, "recovering") : notFoundPage(request);
};

const handleExportAttempts = async (request: PortalFormRequest, id: WebhookId): Promise<Response> => {
  const figures = await getAttemptHours(request.services, toReader(request), id);
  return figures === null ? notFoundPage(request) : exportChart(request, attemptsChart, figures, id);
};

const handleChangeStatus = async (request: PortalFormRequest, id: WebhookId): Promise<Response> => {
  const status = request.form.get("status") === "disabled" ? "disabled" : "enabled";
  const changed = await updateWebhook(request.services, request.member, id, { status });
  return changed.ok ? redirectTo(request, `/portal/webhooks/${id}`, "saved") : notFoundPage(request);
};

const handleRotateSecret = async (request: PortalFormRequest, id: WebhookId): Promise<Response> => {
  const before = (await listEndpointsInEnvironment(request)).find(({ endpoint }) => endpoint.id === id);
  // A second submit would rotate again and end the previous secret, which receivers may still use.
  if (before !== undefined && before.endpoint.secretHint !== request.form.get("hint")) return renderEndpointSecret(request, id, null);
  const rotated = await rotateWebhookSecret(request.services, request.member, id, async (sealed) => sealed);
  return rotated.ok ? renderEndpointSecret(request, id, rotated.value.secret) : notFoundPage(request);
};

const handleDeleteEndpoint = async (request: PortalFormRequest, id: WebhookId): Promise<Response> => {
  const removed = await deleteWebhook(request.services, request.member, id);
  return removed.ok ? redirectTo(request, "/portal/webhooks", "removed") : notFoundPage(request);
};

const webhookCallOptions = { memberLimit: "WEBHOOK_CALLS" } as const;

export const registerWebhookRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/webhooks", authenticatedPage(renderEndpointList));
  pages.post("/webhooks", authenticatedAction({ ownerOnly: true }, handleCreateEndpoint));
  pages.get("/webhooks/:id", authenticatedPage(withId(parseWebhookId, renderEndpoint)));
  pages.post("/webhooks/:id/test", authenticatedAction(webhookCallOptions, withId(parseWebhookId, handleTestEndpoint)));
  pages.post("/webhooks/:id/replay", authenticatedAction(webhookCallOptions, withId(parseWebhookId, handleReplayDelivery)));
  pages.post("/webhooks/:id/recover", authenticatedAction(webhookCallOptions, withId(parseWebhookId, handleRecoverEndpoint)));
  pages.post("/webhooks/:id/export", authenticatedAction({ isReadOnly: true }, withId(parseWebhookId, handleExportAttempts)));
  pages.post("/webhooks/:id/status", authenticatedAction({ ownerOnly: true }, withId(parseWebhookId, handleChangeStatus)));
  pages.post("/webhooks/:id/rotate", authenticatedAction({ ownerOnly: true }, withId(parseWebhookId, handleRotateSecret)));
  pages.post("/webhooks/:id/remove", authenticatedAction({ ownerOnly: true }, withId(parseWebhookId, handleDeleteEndpoint)));
};
