// The page of one endpoint, with its attempts, settings and deliveries. Also contains the pages that change an endpoint.
import type { Hono } from "hono";
import type { Child, FC } from "hono/jsx";
import { parseDeliveryId, parseWebhookId, type WebhookId } from "../../../core/ids.ts";
import { dayMs, toIso, type Instant } from "../../../core/time.ts";
import { deliveryFilters, type DeliveryPage, type Endpoint, type EndpointHealth } from "../../../core/webhooks/endpoint.ts";
import { toHourlyFigures } from "../../../core/webhooks/hourly-attempts.ts";
import type { AppEnv } from "../../http/context.ts";
import { getAccount } from "../../operations/portal/get-account.ts";
import type { CallOutcome } from "../../operations/webhooks/call-outcome.ts";
import { countFailedDeliveries } from "../../operations/webhooks/count-failed-deliveries.ts";
import { deleteWebhook } from "../../operations/webhooks/delete-webhook.ts";
import { getAttemptHours } from "../../operations/webhooks/get-attempt-hours.ts";
import { getEndpointOverview } from "../../operations/webhooks/get-endpoint-overview.ts";
import { recoverEndpoint } from "../../operations/webhooks/recover-endpoint.ts";
import { revealWebhookSecret } from "../../operations/webhooks/reveal-webhook-secret.ts";
import { rotateWebhookSecret } from "../../operations/webhooks/rotate-webhook-secret.ts";
import { testEndpoint } from "../../operations/webhooks/test-endpoint.ts";
import { updateWebhook } from "../../operations/webhooks/update-webhook.ts";
import {
  formatDay,
  FormattedMessage,
  formatMessage,
  Icon,
  Notice,
  Timestamp,
  VerbatimText,
  UrlText,
  PropertyList,
} from "../shared/components.tsx";
import { SubmitButton } from "../shared/form-fields.tsx";
import { Table } from "../shared/signed-in-components.tsx";
import { Chart, exportChart, type ChartDefinition } from "./chart.tsx";
import {
  ActionButton,
  Card,
  Field,
  formatCount,
  FormErrorMessage,
  getFormRestriction,
  language,
  Link,
  messages,
  Pagination,
  usePortalRequest,
} from "./components.tsx";
import { CallResult } from "./call-result.tsx";
import { registerDeliveryRoutes } from "./delivery.tsx";
import { confirmationPage, renderConfirmation } from "./confirmation.tsx";
import { EndpointForm, readEndpointForm, toEndpointError } from "./endpoint-form.tsx";
import { authenticatedAction, authenticatedPage, withId, type PageHandler } from "./handlers.ts";
import { notFoundPage, renderMemberPage, renderSecretPage } from "./page.tsx";
import { pathWithQuery } from "./paths.ts";
import { toFormError, toReader, redirectTo, type FormError, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";
import {
  ResponseText,
  DeliveryStatusLabel,
  DeliveryStep,
  EndpointStatusLabel,
  formatEndpointName,
  formatEventTypes,
  formatHost,
  formatWaiting,
  OptInEventsNotice,
  RecentTime,
} from "./webhook-components.tsx";

const webhookMessages = messages.webhooks;
const listPath = "/portal/webhooks";
const deliveriesPerPage = 25;
const attemptsChart: ChartDefinition = { name: "attempt_hours", unit: "hour", csvHeader: ["hour", "delivered", "failed"] };

const pathOf = (id: string): string => `${listPath}/${id}`;
const listCrumb = { path: listPath, text: messages.tabs.webhooks };
const crumbsOf = ({ id, url }: Endpoint) => [listCrumb, { path: pathOf(id), text: formatHost(url) }];

const EndpointName: FC<{ endpoint: Endpoint }> = ({ endpoint }) => <UrlText text={formatEndpointName(endpoint.url)} />;

const EndpointActions: FC<{ endpoint: Endpoint }> = ({ endpoint }) => {
  const { member } = usePortalRequest();
  const path = pathOf(endpoint.id);
  const isEnabled = endpoint.status === "enabled";
  return (
    <>
      <ActionButton look="secondary" icon="send" requiredRole="member" action={`${path}/test`} label={webhookMessages.test} />
      {getFormRestriction(member, "owner") === null && (
        <>
          <Link class="btn" to={`${path}/edit`} text={webhookMessages.edit} />
          <details class="dropdown">
            <summary class="btn" aria-label={webhookMessages.more}>
              <Icon name="ellipsis" />
            </summary>
            <div>
              <Link to={`${path}/rotate`} icon="rotate-cw" text={webhookMessages.rotate} />
              <ActionButton
                look="menu"
                icon="power"
                action={`${path}/status`}
                label={isEnabled ? webhookMessages.disable : webhookMessages.enable}
                hiddenValues={{ status: isEnabled ? "disabled" : "enabled" }}
              />
              <Link class="danger" to={`${path}/remove`} icon="trash-2" text={webhookMessages.remove} />
            </div>
          </details>
        </>
      )}
    </>
  );
};

const HealthNotices: FC<{ endpoint: Endpoint; health: EndpointHealth }> = ({ endpoint, health }) => {
  const waiting = formatWaiting(health.backlog);
  const recoverPath = `${pathOf(endpoint.id)}/recover`;
  return (
    <>
      {health.resending > 0 && (
        <Notice role="status" icon="rotate-cw" title={formatMessage(webhookMessages.resending, { count: formatCount(health.resending) })}>
          <p>{webhookMessages.resendingText}</p>
        </Notice>
      )}
      {endpoint.status === "enabled" && health.isHostLimited && (
        <Notice tone="caution" icon="clock" title={formatMessage(webhookMessages.hostLimited, { host: new URL(endpoint.url).hostname })}>
          <p>{formatMessage(webhookMessages.hostLimitedText, { waiting })}</p>
        </Notice>
      )}
      {endpoint.status === "disabled" ? (
        <Notice tone="caution" icon="power" title={webhookMessages.disabledTitle}>
          <p>{formatMessage(webhookMessages.disabledText, { waiting })}</p>
        </Notice>
      ) : (
        health.failingSince !== null && (
          <Notice
            tone="bad"
            icon="circle-alert"
            title={<FormattedMessage text={webhookMessages.failingSince} parts={{ time: <Timestamp at={health.failingSince} /> }} />}
            action={
              <Link
                class="btn"
                to={pathWithQuery(recoverPath, { since: toIso(health.failingSince) })}
                text={webhookMessages.recover.title}
              />
            }
          >
            <p>{formatMessage(webhookMessages.failingText, { waiting })}</p>
          </Notice>
        )
      )}
    </>
  );
};

const LastResponse: FC<{ health: EndpointHealth }> = ({ health: { lastDeliveryAt, lastResponseStatus } }) =>
  lastDeliveryAt === null ? (
    webhookMessages.noResponseYet
  ) : (
    <FormattedMessage
      text={lastResponseStatus === null ? webhookMessages.noResponseAt : webhookMessages.responseAt}
      parts={{ status: <code>{lastResponseStatus}</code>, time: <Timestamp at={lastDeliveryAt} /> }}
    />
  );

const SettingsCard: FC<{ endpoint: Endpoint; health: EndpointHealth | null }> = ({ endpoint, health }) => {
  const { member } = usePortalRequest();
  const path = pathOf(endpoint.id);
  const restriction = getFormRestriction(member, "owner");
  return (
    <Card id="settings" title={webhookMessages.settings} footer={restriction ?? undefined}>
      <PropertyList
        isStacked
        lines={[
          [
            webhookMessages.url,
            <span class="hash">
              <UrlText text={endpoint.url} />
            </span>,
          ],
          [
            webhookMessages.events,
            endpoint.events === null ? (
              formatEventTypes(null)
            ) : (
              <details class="more">
                <summary>
                  <Icon name="chevron-right" />
                  {formatEventTypes(endpoint.events)}
                </summary>
                <div>
                  {endpoint.events.map((type) => (
                    <small>
                      <code>{type}</code>
                    </small>
                  ))}
                </div>
              </details>
            ),
          ],
          [
            webhookMessages.secret,
            <>
              <code>{endpoint.secretHint}</code>
              {restriction === null && (
                <div class="row">
                  <ActionButton look="link" action={`${path}/secret`} label={webhookMessages.reveal} target={webhookMessages.secret} />
                  <Link class="link" to={`${path}/rotate`} text={webhookMessages.rotateShort} label={webhookMessages.rotate} />
                </div>
              )}
            </>,
          ],
          [webhookMessages.lastResponse, health !== null && <LastResponse health={health} />],
          [
            webhookMessages.waiting,
            health !== null && (
              <>
                {formatCount(health.backlog)}
                {health.oldestPendingAt !== null && (
                  <small class="quiet">
                    <FormattedMessage text={webhookMessages.oldest} parts={{ time: <Timestamp at={health.oldestPendingAt} /> }} />
                  </small>
                )}
              </>
            ),
          ],
          [webhookMessages.added, formatDay(language, endpoint.createdAt)],
        ]}
      />
    </Card>
  );
};

type Filter = (typeof deliveryFilters)[number] | null;

interface DeliveriesCardProps extends DeliveryPage {
  readonly path: string;
  readonly status: Filter;
  readonly isFirstPage: boolean;
}

const DeliveriesCard: FC<DeliveriesCardProps> = ({ path, deliveries, hasMore, status, isFirstPage }) => {
  const { pathInMode } = usePortalRequest();
  const last = deliveries.at(-1);
  const pathFrom = (filter: Filter, before: string | null): string => `${pathWithQuery(path, { status: filter, before })}#deliveries`;
  return (
    <Card
      id="deliveries"
      title={webhookMessages.deliveries}
      note={webhookMessages.schedule}
      end={
        <nav class="seg" aria-label={webhookMessages.show}>
          {([null, ...deliveryFilters.toReversed()] as const).map((filter) => (
            <a href={pathInMode(pathFrom(filter, null))} aria-current={filter === status ? "true" : undefined}>
              {webhookMessages.filters[filter ?? "all"]}
            </a>
          ))}
        </nav>
      }
      isFlush
    >
      <Table
        label={webhookMessages.deliveries}
        rows={deliveries}
        emptyMessage={status === null ? webhookMessages.noDeliveries : webhookMessages.noneFound}
        columns={[
          [messages.event, (row) => <Link to={`${path}/deliveries/${row.id}`} text={<bdi translate="no">{row.eventType}</bdi>} />],
          [messages.state, (row) => <DeliveryStatusLabel delivery={row} />, "corner"],
          [webhookMessages.response, (row) => <ResponseText response={row} />],
          [webhookMessages.attempt, (row) => formatMessage(webhookMessages.ofFive, { attempt: String(row.attempt) })],
          [messages.createdUtc, (row) => <RecentTime at={row.createdAt} withDay />],
          [webhookMessages.nextStep, (row) => <DeliveryStep delivery={row} />, "plain"],
        ]}
      />
      <Pagination
        first={!isFirstPage && pathFrom(status, null)}
        next={hasMore && last !== undefined && pathFrom(status, last.id)}
        note={isFirstPage && formatMessage(webhookMessages.newest, { count: String(deliveriesPerPage) })}
      />
    </Card>
  );
};

const renderEndpoint = async (request: PortalRequest, id: WebhookId, error?: FormError, called?: CallOutcome): Promise<Response> => {
  const { c, services, member, now } = request;
  const beforeText = c.req.query("before");
  const before = beforeText === undefined ? null : parseDeliveryId(beforeText);
  if (beforeText !== undefined && before === null) return notFoundPage(request);
  const status = deliveryFilters.find((name) => name === c.req.query("status")) ?? null;
  const [found, account] = await Promise.all([
    getEndpointOverview(services, toReader(request), id, { limit: deliveriesPerPage, before, status }),
    getAccount(services, member),
  ]);
  if (found === null || found.overview?.page === null) return notFoundPage(request);
  const { endpoint, overview } = found;
  const health = overview?.health ?? null;
  const path = pathOf(id);
  return renderMemberPage(request, {
    tab: "webhooks",
    title: formatEndpointName(endpoint.url),
    heading: <EndpointName endpoint={endpoint} />,
    crumb: formatHost(endpoint.url),
    status: <EndpointStatusLabel status={endpoint.status} health={health} />,
    ...(endpoint.description !== null && { intro: <VerbatimText text={endpoint.description} /> }),
    actions: <EndpointActions endpoint={endpoint} />,
    parent: listCrumb,
    error,
    content: (
      <>
        <FormErrorMessage />
        {called !== undefined && <CallResult called={called} />}
        {health !== null && <HealthNotices endpoint={endpoint} health={health} />}
        <OptInEventsNotice account={account} types={endpoint.events} />
        <div class="cols main even">
          <Chart
            definition={attemptsChart}
            exportPath={`${path}/export`}
            heading={webhookMessages.attempts}
            figures={toHourlyFigures(overview?.hours ?? [], now)}
            labels={{ start: webhookMessages.hour, up: webhookMessages.delivered, down: webhookMessages.failed }}
            isStacked
            nowLabel={webhookMessages.now}
          />
          <SettingsCard endpoint={endpoint} health={health} />
        </div>
        <DeliveriesCard
          path={path}
          deliveries={overview?.page?.deliveries ?? []}
          hasMore={overview?.page?.hasMore ?? false}
          status={status}
          isFirstPage={before === null}
        />
      </>
    ),
  });
};

export const renderEndpointSecret = (request: PortalRequest, id: string, value: string | null): Promise<Response> =>
  renderSecretPage(request, {
    tab: "webhooks",
    title: webhookMessages.secretTitle,
    label: webhookMessages.secretLabel,
    heading: webhookMessages.secretHeading,
    value,
    backPath: pathOf(id),
  });

/**
 * Passes the endpoint with the ID in the path to the handler. Returns the not-found page if this environment has no such endpoint.
 * The check is needed because the operations find endpoints of both environments.
 */
const withEndpoint = <Request extends PortalRequest>(
  handle: (request: Request, endpoint: Endpoint) => Promise<Response>,
): PageHandler<Request> =>
  withId(parseWebhookId, async (request, id) => {
    const found = await getEndpointOverview(request.services, toReader(request), id, { limit: 1, before: null, status: null });
    return found === null ? notFoundPage(request) : handle(request, found.endpoint);
  });

const renderEdit = (request: PortalRequest, endpoint: Endpoint, error?: FormError): Promise<Response> =>
  renderMemberPage(request, {
    tab: "webhooks",
    title: webhookMessages.form.edit,
    parent: crumbsOf(endpoint),
    error,
    content: (
      <div class="cols main">
        <EndpointForm
          action={`${pathOf(endpoint.id)}/edit`}
          endpoint={endpoint}
          submitLabel={webhookMessages.form.save}
          footnote={webhookMessages.form.editNote}
          cancelPath={pathOf(endpoint.id)}
        />
      </div>
    ),
  });

const isSameSelection = (one: readonly string[] | null, other: readonly string[] | null): boolean =>
  one === null || other === null ? one === other : one.length === other.length && one.every((type) => other.includes(type));

const handleEdit = async (request: PortalFormRequest, endpoint: Endpoint): Promise<Response> => {
  const input = readEndpointForm(request.form);
  if (!input.ok) return renderEdit(request, endpoint, toFormError(input));
  const { url, description, events } = input.value;
  // Passes only the changed properties, because the audit entry lists every property that is passed.
  const changed = await updateWebhook(request.services, request.member, endpoint.id, {
    ...(url !== endpoint.url && { url }),
    ...(description !== endpoint.description && { description }),
    ...(!isSameSelection(events, endpoint.events) && { events }),
  });
  if (changed.ok) return redirectTo(request, pathOf(endpoint.id), "saved");
  return changed.code === "not_found" ? notFoundPage(request) : renderEdit(request, endpoint, toEndpointError(changed));
};

const renderRotation = (request: PortalRequest, endpoint: Endpoint): Promise<Response> => {
  const { question, both, after, earlier } = webhookMessages.rotation;
  return renderConfirmation(request, {
    tab: "webhooks",
    parent: crumbsOf(endpoint),
    question,
    subject: <EndpointName endpoint={endpoint} />,
    consequences: [
      ["key-round", both],
      ["clock", after],
      ["circle-alert", earlier],
    ],
    action: `${pathOf(endpoint.id)}/rotate`,
    hiddenValues: { hint: endpoint.secretHint },
    confirmLabel: webhookMessages.rotateNow,
    cancelLabel: webhookMessages.keepSecret,
    look: "primary",
  });
};

const renderRemoval = (request: PortalRequest, endpoint: Endpoint): Promise<Response> => {
  const { question, waiting, feed, final } = webhookMessages.removal;
  return renderConfirmation(request, {
    tab: "webhooks",
    parent: crumbsOf(endpoint),
    question,
    subject: <EndpointName endpoint={endpoint} />,
    consequences: [
      ["ban", waiting],
      ["archive", feed],
      ["trash-2", final],
    ],
    action: `${pathOf(endpoint.id)}/remove`,
    confirmLabel: webhookMessages.remove,
    cancelLabel: webhookMessages.keepEndpoint,
  });
};

const dateTimePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{3})?)?Z?$/;

/** Parses a time in UTC from a form. Returns null if the time is invalid or in the future. */
const parsePastInstant = (text: string | undefined, now: Instant): Instant | null => {
  if (text === undefined || !dateTimePattern.test(text)) return null;
  const at = Date.parse(text.endsWith("Z") ? text : `${text}Z`);
  return Number.isNaN(at) || at > now ? null : at;
};

const RecoveryForm: FC<{ path: string; typed: string | undefined }> = ({ path, typed }) => {
  const { pathInMode, now } = usePortalRequest();
  const { recover } = webhookMessages;
  return (
    <form method="get" action={pathInMode(path)} class="card" aria-label={recover.title}>
      <div class="body">
        <Field
          name="since"
          label={recover.since}
          hint={recover.sinceHint}
          type="datetime-local"
          required
          value={typed ?? toIso(now - dayMs).slice(0, 16)}
        />
      </div>
      <footer>
        <span />
        <SubmitButton>{recover.count}</SubmitButton>
      </footer>
    </form>
  );
};

const RecoveryConfirmation: FC<{ path: string; since: Instant; count: number }> = ({ path, since, count }) => {
  const { recover } = webhookMessages;
  return (
    <Card
      id="failed"
      title={recover.since}
      note={<Timestamp at={since} />}
      footer={
        <>
          <Link class="btn" to={path} text={recover.other} />
          {count > 0 && (
            <ActionButton look="primary" requiredRole="member" action={path} label={recover.now} hiddenValues={{ since: toIso(since) }} />
          )}
        </>
      }
    >
      <p>{formatMessage(count === 0 ? recover.none : recover.some, { count: formatCount(count) })}</p>
    </Card>
  );
};

const renderRecovery = async (request: PortalRequest, endpoint: Endpoint): Promise<Response> => {
  const { c, services, member, now } = request;
  const { recover } = webhookMessages;
  const path = `${pathOf(endpoint.id)}/recover`;
  const typed = c.req.query("since");
  const since = parsePastInstant(typed, now);
  const isRefused = typed !== undefined && since === null;
  const count = since === null ? null : await countFailedDeliveries(services, member.business.id, endpoint.id, since);
  const content: Child =
    since === null || count === null ? (
      <RecoveryForm path={path} typed={typed} />
    ) : (
      <RecoveryConfirmation path={path} since={since} count={count} />
    );
  return renderMemberPage(request, {
    tab: "webhooks",
    title: recover.title,
    intro: recover.text,
    parent: crumbsOf(endpoint),
    error: isRefused ? { code: "invalid_request", field: "since", text: recover.badSince } : undefined,
    content,
  });
};

const handleTestEndpoint = async (request: PortalFormRequest, { id }: Endpoint): Promise<Response> => {
  const tested = await testEndpoint(request.services, request.member.business.id, id);
  if (tested.ok) return renderEndpoint(request, id, undefined, tested.value);
  return tested.code === "not_found" ? notFoundPage(request) : renderEndpoint(request, id, toFormError(tested));
};

const handleRecoverEndpoint = async (request: PortalFormRequest, { id }: Endpoint): Promise<Response> => {
  const since = parsePastInstant(request.form.get("since"), request.now);
  if (since === null) return notFoundPage(request);
  const recovered = await recoverEndpoint(request.services, request.member.business.id, id, since);
  return recovered.ok ? redirectTo(request, pathOf(id), "recovering") : notFoundPage(request);
};

const handleExportAttempts = async (request: PortalFormRequest, id: WebhookId): Promise<Response> => {
  const figures = await getAttemptHours(request.services, toReader(request), id);
  return figures === null ? notFoundPage(request) : exportChart(request, attemptsChart, figures, id);
};

const handleChangeStatus = async (request: PortalFormRequest, { id }: Endpoint): Promise<Response> => {
  const status = request.form.get("status") === "disabled" ? "disabled" : "enabled";
  const changed = await updateWebhook(request.services, request.member, id, { status });
  return changed.ok ? redirectTo(request, pathOf(id), "saved") : notFoundPage(request);
};

const handleRevealSecret = async (request: PortalFormRequest, { id }: Endpoint): Promise<Response> => {
  const revealed = await revealWebhookSecret(request.services, request.member, id);
  return revealed.ok ? renderEndpointSecret(request, id, revealed.value.secret) : notFoundPage(request);
};

const handleRotateSecret = async (request: PortalFormRequest, { id, secretHint }: Endpoint): Promise<Response> => {
  // If the form is submitted twice, rotate only once. A second rotation would disable the secret that receivers still use. The event
  // sequence compares the hint again, because two submissions can arrive at the same time.
  const replacedHint = request.form.get("hint") ?? "";
  if (secretHint !== replacedHint) return renderEndpointSecret(request, id, null);
  const rotated = await rotateWebhookSecret(request.services, request.member, id, { replacedHint });
  if (rotated.ok) return renderEndpointSecret(request, id, rotated.value.secret);
  return rotated.code === "not_found" ? notFoundPage(request) : renderEndpointSecret(request, id, null);
};

const handleDeleteEndpoint = async (request: PortalFormRequest, { id }: Endpoint): Promise<Response> => {
  const removed = await deleteWebhook(request.services, request.member, id);
  return removed.ok ? redirectTo(request, listPath, "removed") : notFoundPage(request);
};

const callOptions = { memberLimit: "WEBHOOK_CALLS" } as const;
const ownerOptions = { ownerOnly: true } as const;

export const registerEndpointRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/webhooks/:id", authenticatedPage(withId(parseWebhookId, renderEndpoint)));
  pages.get("/webhooks/:id/edit", authenticatedPage(withEndpoint(renderEdit)));
  pages.get("/webhooks/:id/recover", authenticatedPage(withEndpoint(renderRecovery)));
  pages.get("/webhooks/:id/rotate", confirmationPage("owner", withEndpoint(renderRotation)));
  pages.get("/webhooks/:id/remove", confirmationPage("owner", withEndpoint(renderRemoval)));
  pages.post("/webhooks/:id/test", authenticatedAction(callOptions, withEndpoint(handleTestEndpoint)));
  pages.post("/webhooks/:id/recover", authenticatedAction(callOptions, withEndpoint(handleRecoverEndpoint)));
  pages.post("/webhooks/:id/export", authenticatedAction({ isReadOnly: true }, withId(parseWebhookId, handleExportAttempts)));
  pages.post("/webhooks/:id/edit", authenticatedAction(ownerOptions, withEndpoint(handleEdit)));
  pages.post("/webhooks/:id/status", authenticatedAction(ownerOptions, withEndpoint(handleChangeStatus)));
  pages.post("/webhooks/:id/secret", authenticatedAction(ownerOptions, withEndpoint(handleRevealSecret)));
  pages.post("/webhooks/:id/rotate", authenticatedAction(ownerOptions, withEndpoint(handleRotateSecret)));
  pages.post("/webhooks/:id/remove", authenticatedAction(ownerOptions, withEndpoint(handleDeleteEndpoint)));
  registerDeliveryRoutes(pages);
};
