// Webhook endpoints: made with a secret that is shown once, tried, looked into, changed and removed.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { optInEventTypes } from "../../../core/events/event.ts";
import { parseDeliveryId, parseWebhookId, type WebhookId } from "../../../core/ids.ts";
import type { Delivery, DeliveryStatus } from "../../../core/webhooks/endpoint.ts";
import { dayMs, toIso, type Instant } from "../../../core/time.ts";
import { selectableEventTypes } from "../../../core/webhooks/event-selection.ts";
import type { AppEnv } from "../../http/context.ts";
import type { BusinessAccount } from "../../../storage/business-profiles.ts";
import { getAccount } from "../../operations/portal/get-account.ts";
import type { CallOutcome } from "../../operations/webhooks/call-outcome.ts";
import { countFailedDeliveries } from "../../operations/webhooks/count-failed-deliveries.ts";
import { getAttemptHours } from "../../operations/webhooks/get-attempt-hours.ts";
import { listDeliveries } from "../../operations/webhooks/list-deliveries.ts";
import { recoverEndpoint } from "../../operations/webhooks/recover-endpoint.ts";
import { replayDelivery } from "../../operations/webhooks/replay-delivery.ts";
import { testEndpoint } from "../../operations/webhooks/test-endpoint.ts";
import { deleteWebhook } from "../../operations/webhooks/delete-webhook.ts";
import { listWebhooks, type EndpointState } from "../../operations/webhooks/list-webhooks.ts";
import { updateWebhook } from "../../operations/webhooks/update-webhook.ts";
import { createWebhook } from "../../operations/webhooks/create-webhook.ts";
import { rotateWebhookSecret } from "../../operations/webhooks/rotate-webhook-secret.ts";
import { VerbatimText, formatMessage, Timestamp } from "../shared/components.tsx";
import { Chart, exportChart, sumFigures, type ChartDefinition } from "./chart.tsx";
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
  SubmitButton,
  Table,
  CheckboxField,
  usePortalRequest,
  messages,
  FormErrorMessage,
  type Tone,
} from "./components.tsx";
import { notFoundPage, renderMemberPage, renderSecretPage } from "./page.tsx";
import {
  authenticatedAction,
  toFormError,
  toReader,
  authenticatedPage,
  redirectTo,
  withId,
  type FormError,
  type PortalFormRequest,
  type PortalRequest,
} from "./portal-request.ts";

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

/** What is made only for businesses that ask for it, where this one has not: an endpoint that waits for it would wait in vain. */
export const OptInEventsNotice: FC<{ account: BusinessAccount; types: readonly string[] | null }> = ({ account, types }) => {
  const isAsked = optInEventTypes.some((type) => types?.includes(type));
  return account.emitsIssued || !isAsked ? null : (
    <p class="quiet">
      {webhookMessages.onRequest} <Link to="/portal/settings" text={messages.tabs.settings} />
    </p>
  );
};

/** Those of the mode. */
const listEndpointsInMode = async ({ services, member, environment }: PortalRequest): Promise<readonly EndpointState[]> =>
  (await listWebhooks(services, member)).filter((state) => state.environment === environment);

const renderEndpointList = async (visit: PortalRequest, fault?: FormError): Promise<Response> => {
  const { services, member } = visit;
  const [endpoints, account] = await Promise.all([listEndpointsInMode(visit), getAccount(services, member)]);
  return renderMemberPage(visit, {
    tab: "webhooks",
    error: fault,
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
            <SubmitButton label={webhookMessages.create} />
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

/** When it was delivered, or is tried next. */
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

/** Since when it has been failing, else a day; as its input takes it: UTC, to the minute. */
const defaultRecoveryStart = ({ health }: EndpointState, now: Instant): string => toIso(health?.failingSince ?? now - dayMs).slice(0, 16);

/** How many failed since the time that was asked for. */
interface FailedDeliveries {
  readonly since: Instant;
  readonly count: number;
}

const RecoverySection: FC<{ own: string; state: EndpointState; failed: FailedDeliveries | null }> = ({ own, state, failed }) => {
  const { pathInMode, now } = usePortalRequest();
  const resending = state.health?.resending ?? 0;
  return (
    <Section id="recover" title={webhookMessages.recover}>
      {resending > 0 && <p role="status">{formatMessage(webhookMessages.resending, { count: formatCount(resending) })}</p>}
      {failed === null ? (
        <>
          <p>{webhookMessages.recoverText}</p>
          <form method="get" action={pathInMode(own)} class="form fields">
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
              action={`${own}/recover`}
              label={webhookMessages.recoverNow}
              hiddenValues={{ since: toIso(failed.since) }}
            />
          )}
          <LinkList to={own} text={webhookMessages.otherTime} />
        </>
      )}
    </Section>
  );
};

const dateTimePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{3})?)?Z?$/;

/** A moment from a form, in UTC; null for what is none, or is still to come. */
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

const renderEndpoint = async (visit: PortalRequest, id: WebhookId, fault?: FormError, called?: CallOutcome): Promise<Response> => {
  const { c, services, member } = visit;
  const asked = c.req.query("before");
  const before = asked === undefined ? null : parseDeliveryId(asked);
  if (asked !== undefined && before === null) return notFoundPage(visit);
  const [endpoints, hours, account, page, failed] = await Promise.all([
    listEndpointsInMode(visit),
    getAttemptHours(services, toReader(visit), id),
    getAccount(services, member),
    listDeliveries(services, member.business.id, id, { limit: deliveriesPerPage, before }),
    loadFailedDeliveries(visit, id),
  ]);
  const state = endpoints.find(({ endpoint }) => endpoint.id === id);
  if (state === undefined || hours === null || !page.ok) return notFoundPage(visit);
  const { endpoint, health } = state;
  const { deliveries, hasMore } = page.value;
  const last = deliveries.at(-1);
  const own = `/portal/webhooks/${id}`;
  const isEnabled = endpoint.status === "enabled";
  return renderMemberPage(visit, {
    tab: "webhooks",
    title: webhookMessages.one,
    error: fault,
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
          <ActionButton requiredRole="member" action={`${own}/test`} label={webhookMessages.test} />
          <RoleGate to="owner">
            <ActionButton
              action={`${own}/status`}
              label={isEnabled ? webhookMessages.switchOff : webhookMessages.switchOn}
              hiddenValues={{ status: isEnabled ? "disabled" : "enabled" }}
            />
            <ConfirmButton
              action={`${own}/rotate`}
              label={webhookMessages.rotate}
              of={endpoint.url}
              consequence={webhookMessages.rotation}
              hiddenValues={{ hint: endpoint.secretHint }}
            />
            <ConfirmButton
              action={`${own}/remove`}
              label={webhookMessages.remove}
              of={endpoint.url}
              consequence={webhookMessages.removal}
            />
          </RoleGate>
        </div>
        <Chart
          definition={attemptsChart}
          exportPath={`${own}/export`}
          heading={webhookMessages.hours}
          trend={formatMessage(webhookMessages.hoursTrend, {
            delivered: formatCount(sumFigures(hours, "up")),
            failed: formatCount(sumFigures(hours, "down")),
          })}
          figures={hours}
          labels={{ start: webhookMessages.hour, up: webhookMessages.delivered, down: webhookMessages.failed }}
        />
        <RecoverySection own={own} state={state} failed={failed} />
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
                    action={`${own}/replay`}
                    label={webhookMessages.replay}
                    of={row.eventType}
                    hiddenValues={{ delivery: row.id }}
                  />
                ),
              ],
            ]}
          />
          <Pagination first={before !== null && own} next={hasMore && last !== undefined && `${own}?before=${last.id}`} />
        </Section>
        <LinkList to="/portal/webhooks" text={webhookMessages.all} />
      </>
    ),
  });
};

const renderEndpointSecret = (visit: PortalRequest, id: string, value: string | null): Promise<Response> =>
  renderSecretPage(visit, {
    tab: "webhooks",
    title: webhookMessages.secretTitle,
    label: webhookMessages.secretLabel,
    value,
    backPath: `/portal/webhooks/${id}`,
  });

const handleCreateEndpoint = async (visit: PortalFormRequest): Promise<Response> => {
  const { services, member, form, environment } = visit;
  const events = selectableEventTypes.filter((type) => form.has(`event.${type}`));
  const made = await createWebhook(services, member, {
    environment,
    url: (form.get("url") ?? "").trim(),
    events: events.length === 0 ? null : events,
    description: form.get("description")?.trim() || null,
    idempotencyKey: form.get("once")?.slice(0, 64) || null,
  });
  if (!made.ok) return renderEndpointList(visit, toFormError(made));
  const { endpoint, isReplayed } = made.value;
  return renderEndpointSecret(visit, endpoint.id, isReplayed ? null : endpoint.secret);
};

const handleTestEndpoint = async (visit: PortalFormRequest, id: WebhookId): Promise<Response> => {
  const tested = await testEndpoint(visit.services, visit.member.business.id, id);
  return tested.ok ? renderEndpoint(visit, id, undefined, tested.value) : notFoundPage(visit);
};

const handleReplayDelivery = async (visit: PortalFormRequest, id: WebhookId): Promise<Response> => {
  const delivery = parseDeliveryId(visit.form.get("delivery") ?? "");
  if (delivery === null) return notFoundPage(visit);
  const replayed = await replayDelivery(visit.services, visit.member.business.id, delivery);
  if (replayed.ok) return renderEndpoint(visit, id, undefined, replayed.value);
  return replayed.code === "not_found" ? notFoundPage(visit) : renderEndpoint(visit, id, { ...toFormError(replayed), field: null });
};

const handleRecoverEndpoint = async (visit: PortalFormRequest, id: WebhookId): Promise<Response> => {
  const since = parsePastInstant(visit.form.get("since"), visit.now);
  if (since === null) return notFoundPage(visit);
  const recovered = await recoverEndpoint(visit.services, visit.member.business.id, id, since);
  return recovered.ok ? redirectTo(visit, `/portal/webhooks/${id}`, "recovering") : notFoundPage(visit);
};

const handleExportAttempts = async (visit: PortalFormRequest, id: WebhookId): Promise<Response> => {
  const figures = await getAttemptHours(visit.services, toReader(visit), id);
  return figures === null ? notFoundPage(visit) : exportChart(visit, attemptsChart, figures, id);
};

const handleChangeStatus = async (visit: PortalFormRequest, id: WebhookId): Promise<Response> => {
  const status = visit.form.get("status") === "disabled" ? "disabled" : "enabled";
  const changed = await updateWebhook(visit.services, visit.member, id, { status });
  return changed.ok ? redirectTo(visit, `/portal/webhooks/${id}`, "saved") : notFoundPage(visit);
};

const handleRotateSecret = async (visit: PortalFormRequest, id: WebhookId): Promise<Response> => {
  const before = (await listEndpointsInMode(visit)).find(({ endpoint }) => endpoint.id === id);
  // Pressed twice, it must not end the secret that receivers still know.
  if (before !== undefined && before.endpoint.secretHint !== visit.form.get("hint")) return renderEndpointSecret(visit, id, null);
  const rotated = await rotateWebhookSecret(visit.services, visit.member, id, async (sealed) => sealed);
  return rotated.ok ? renderEndpointSecret(visit, id, rotated.value.secret) : notFoundPage(visit);
};

const handleDeleteEndpoint = async (visit: PortalFormRequest, id: WebhookId): Promise<Response> => {
  const removed = await deleteWebhook(visit.services, visit.member, id);
  return removed.ok ? redirectTo(visit, "/portal/webhooks", "removed") : notFoundPage(visit);
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
