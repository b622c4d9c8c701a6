// The page of one delivery. It shows the request as it was sent, the response to an attempt, and all attempts of the last seven days.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { parseDeliveryId, parseWebhookId, type DeliveryId, type WebhookId } from "../../../core/ids.ts";
import type { Delivery } from "../../../core/webhooks/endpoint.ts";
import type { Header } from "../../../core/webhooks/exchange.ts";
import { maxDeliveryAttempts } from "../../../core/webhooks/retry-schedule.ts";
import type { AppEnv } from "../../http/context.ts";
import type { CallOutcome } from "../../operations/webhooks/call-outcome.ts";
import { getDelivery } from "../../operations/webhooks/get-delivery.ts";
import type { OpenedAttempt, OpenedDelivery } from "../../operations/webhooks/open-delivery.ts";
import { replayDelivery } from "../../operations/webhooks/replay-delivery.ts";
import { revealDelivery } from "../../operations/webhooks/reveal-delivery.ts";
import { FormattedMessage, formatMessage, Icon, Notice, Timestamp, VerbatimText, UrlText, PropertyList } from "../shared/components.tsx";
import { CopyLine } from "../shared/signed-in-components.tsx";
import { CodeFigure, Json } from "./code-figure.tsx";
import {
  ActionButton,
  Card,
  formatCopyLabel,
  formatCount,
  formatShortId,
  FormErrorMessage,
  Link,
  messages,
  StatusLabel,
} from "./components.tsx";
import { authenticatedAction, authenticatedPage, type PageHandler } from "./handlers.ts";
import { CallResult } from "./call-result.tsx";
import { notFoundPage, renderMemberPage } from "./page.tsx";
import { toFormError, type FormError, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";
import { DeliveryStatusLabel, formatDeliveryResponse, formatHost, RecentTime } from "./webhook-components.tsx";

const webhookMessages = messages.webhooks;
const { delivery: deliveryMessages } = webhookMessages;

const pathOf = ({ webhookId, id }: Delivery): string => `/portal/webhooks/${webhookId}/deliveries/${id}`;

const isFailed = ({ error }: OpenedAttempt): boolean => error !== null;

const AnswerLabel: FC<{ attempt: OpenedAttempt }> = ({ attempt }) => (
  <StatusLabel tone={isFailed(attempt) ? "bad" : "good"} text={formatDeliveryResponse(attempt) ?? ""} />
);

const HeaderLines: FC<{ headers: readonly Header[] }> = ({ headers }) => (
  <>{headers.map(([name, value], index) => `${index === 0 ? "" : "\n"}${name}: ${value}`)}</>
);

const WithheldNotice: FC<{ delivery: Delivery }> = ({ delivery }) => (
  <Notice
    icon="eye-off"
    title={deliveryMessages.withheldTitle}
    action={<ActionButton look="secondary" icon="eye" action={`${pathOf(delivery)}/reveal`} label={messages.certificates.reveal} />}
  >
    <p>
      <FormattedMessage text={deliveryMessages.withheld} parts={{ member: <code>data</code> }} />
    </p>
  </Notice>
);

const RequestCard: FC<{ opened: OpenedDelivery; attempt: OpenedAttempt | undefined }> = ({ opened, attempt }) => (
  <Card id="request" title={deliveryMessages.request} end={<span class="tag">POST</span>}>
    {opened.isWithheld && <WithheldNotice delivery={opened.delivery} />}
    <CodeFigure id="request-body" label={deliveryMessages.requestBody} caption={messages.events.body}>
      <Json text={opened.requestBody} />
    </CodeFigure>
    {attempt?.exchange && (
      <CodeFigure id="request-headers" label={deliveryMessages.requestHeaders} caption={deliveryMessages.headers}>
        <HeaderLines headers={attempt.exchange.requestHeaders} />
      </CodeFigure>
    )}
  </Card>
);

const ResponseContent: FC<{ attempt: OpenedAttempt; isWithheld: boolean }> = ({ attempt: { exchange, responseStatus }, isWithheld }) => {
  if (isWithheld || (exchange !== null && exchange.response === null)) return null;
  if (exchange === null)
    return <p class="small quiet">{responseStatus === null ? deliveryMessages.notSent : deliveryMessages.unreadable}</p>;
  const { headers = [], body = "", isCut = false } = exchange.response ?? {};
  return (
    <>
      {headers.length > 0 && (
        <CodeFigure id="response-headers" label={deliveryMessages.responseHeaders} caption={deliveryMessages.headers}>
          <HeaderLines headers={headers} />
        </CodeFigure>
      )}
      {body === "" ? (
        <p class="small quiet">{deliveryMessages.emptyBody}</p>
      ) : (
        <CodeFigure id="response-body" label={deliveryMessages.responseBody} caption={messages.events.body}>
          <VerbatimText text={body} />
        </CodeFigure>
      )}
      {isCut && <p class="small quiet">{deliveryMessages.cut}</p>}
    </>
  );
};

const ResponseCard: FC<{ attempt: OpenedAttempt; isLast: boolean; isWithheld: boolean }> = ({ attempt, isLast, isWithheld }) => {
  const { responseStatus, durationMs, at, number } = attempt;
  const { counted } = deliveryMessages;
  const answer = formatDeliveryResponse(attempt) ?? "";
  return (
    <Card
      id="response"
      title={isLast ? webhookMessages.lastResponse : formatMessage(deliveryMessages.responseOf, { number: String(number) })}
      end={<AnswerLabel attempt={attempt} />}
    >
      <PropertyList
        lines={[
          [deliveryMessages.status, formatMessage(isFailed(attempt) ? counted.failed : counted.delivered, { status: answer })],
          [deliveryMessages.took, formatMessage(deliveryMessages.tookOf, { ms: formatCount(durationMs) })],
          [deliveryMessages.received, responseStatus !== null && <Timestamp at={at} />],
        ]}
      />
      <ResponseContent attempt={attempt} isWithheld={isWithheld} />
    </Card>
  );
};

const PlannedAttempt: FC<{ number: number; delivery: Delivery }> = ({ number, delivery: { attempt, isResending, nextAttemptAt } }) => {
  const isNext = !isResending && number === attempt + 1;
  return (
    <li class={isNext ? "wait" : undefined}>
      <Icon name={isNext ? "clock" : "circle-dashed"} />
      <div>
        <strong>
          {number} · {isNext ? deliveryMessages.scheduled : deliveryMessages.ifNeeded}
        </strong>
        {isNext && nextAttemptAt !== null ? (
          <RecentTime at={nextAttemptAt} suffix=" UTC" />
        ) : (
          <small>{deliveryMessages.after[number - 1]}</small>
        )}
      </div>
    </li>
  );
};

const AttemptsCard: FC<{ opened: OpenedDelivery; shown: OpenedAttempt | undefined }> = ({ opened, shown }) => {
  const { attempts, delivery } = opened;
  const isWaiting = delivery.status === "pending" || delivery.status === "retrying";
  const planned = isWaiting
    ? Array.from({ length: maxDeliveryAttempts - delivery.attempt }, (_, index) => delivery.attempt + index + 1)
    : [];
  return (
    <Card id="attempts" title={deliveryMessages.attempts} footer={deliveryMessages.kept}>
      {attempts.length === 0 && planned.length === 0 && <p class="quiet">{deliveryMessages.noneKept}</p>}
      <ol class="timeline">
        {attempts
          .map((attempt, index) => {
            const name = `${attempt.isResend ? deliveryMessages.resent : attempt.number} · ${formatDeliveryResponse(attempt) ?? ""}`;
            return (
              <li class={isFailed(attempt) ? "bad" : "done"}>
                <Icon name={isFailed(attempt) ? "circle-x" : "circle-check"} />
                <div>
                  <strong>
                    {attempt === shown ? name : <Link to={`${pathOf(delivery)}?attempt=${attempts.length - index}#response`} text={name} />}
                  </strong>
                  <RecentTime
                    at={attempt.at}
                    suffix={` UTC · ${formatMessage(deliveryMessages.duration, { ms: formatCount(attempt.durationMs) })}`}
                  />
                </div>
              </li>
            );
          })
          .toReversed()}
        {planned.map((number) => (
          <PlannedAttempt number={number} delivery={delivery} />
        ))}
      </ol>
    </Card>
  );
};

const CopyId: FC<{ id: string; value: string; label: string }> = ({ id, value, label }) => (
  <CopyLine id={id} value={value} copyLabel={formatCopyLabel(label)} />
);

const DetailsCard: FC<{ opened: OpenedDelivery }> = ({ opened: { delivery, event } }) => (
  <Card id="details" title={deliveryMessages.one}>
    <PropertyList
      isStacked
      lines={[
        [deliveryMessages.id, <CopyId id="delivery-id" value={delivery.id} label={deliveryMessages.id} />],
        [messages.events.id, <CopyId id="event-id" value={event.id} label={messages.events.id} />],
        [messages.events.seq, <Link to={`/portal/events/${event.seq}`} text={formatCount(event.seq)} />],
        [
          messages.certificates.one,
          event.certId !== null && <Link to={`/portal/certificates/${event.certId}`} text={<code>{event.certId}</code>} />,
        ],
        [
          messages.shares.one,
          event.shareId !== null && <Link to={`/portal/shares/${event.shareId}`} text={<code>{event.shareId}</code>} />,
        ],
      ]}
    />
  </Card>
);

const StateNotice: FC<{ delivery: Delivery }> = ({ delivery: { status, attempt, isResending, nextAttemptAt, error } }) => {
  if (status === "retrying" && nextAttemptAt !== null)
    return (
      <Notice icon="info" title={<FormattedMessage text={deliveryMessages.nextTry} parts={{ time: <Timestamp at={nextAttemptAt} /> }} />}>
        <p>{isResending ? deliveryMessages.resendText : formatMessage(deliveryMessages.nextTryText, { attempt: String(attempt + 1) })}</p>
      </Notice>
    );
  if (status !== "abandoned") return null;
  return (
    <Notice tone="bad" icon="circle-alert" title={deliveryMessages.gaveUp}>
      <p>{error === null ? deliveryMessages.inactive : deliveryMessages.gaveUpText}</p>
    </Notice>
  );
};

interface DeliveryView {
  readonly error?: FormError;
  readonly called?: CallOutcome;
}

const renderOpenedDelivery = (request: PortalRequest, opened: OpenedDelivery, { error, called }: DeliveryView = {}): Promise<Response> => {
  const { delivery, endpoint, event, attempts, isWithheld } = opened;
  // Position 1 is the oldest attempt, and `attempts` is sorted newest first.
  const position = Number(request.c.req.query("attempt") ?? attempts.length);
  const shown: OpenedAttempt | undefined = attempts[attempts.length - position] ?? attempts[0];
  const path = pathOf(delivery);
  return renderMemberPage(request, {
    tab: "webhooks",
    title: event.type,
    crumb: <code>{formatShortId(delivery.id)}</code>,
    status: <DeliveryStatusLabel delivery={delivery} />,
    intro: <FormattedMessage text={deliveryMessages.sentTo} parts={{ url: <UrlText text={endpoint.url} /> }} />,
    actions: (
      <>
        <Link class="btn" to={`/portal/events/${event.seq}`} text={deliveryMessages.openEvent} />
        <ActionButton look="primary" icon="rotate-cw" requiredRole="member" action={`${path}/replay`} label={deliveryMessages.resend} />
      </>
    ),
    parent: [
      { path: "/portal/webhooks", text: messages.tabs.webhooks },
      { path: `/portal/webhooks/${endpoint.endpointId}`, text: formatHost(endpoint.url) },
    ],
    error,
    content: (
      <>
        <FormErrorMessage />
        {called !== undefined && <CallResult called={called} />}
        <StateNotice delivery={delivery} />
        <div class="cols main">
          <div class="stack">
            <RequestCard opened={opened} attempt={shown} />
            {shown !== undefined && <ResponseCard attempt={shown} isLast={shown === attempts[0]} isWithheld={isWithheld} />}
          </div>
          <div class="stack">
            <AttemptsCard opened={opened} shown={shown} />
            <DetailsCard opened={opened} />
          </div>
        </div>
      </>
    ),
  });
};

const renderDelivery = async (request: PortalRequest, path: DeliveryPath, view: DeliveryView = {}): Promise<Response> => {
  const found = await getDelivery(request.services, request.member.business.id, path.delivery);
  return found.ok && belongsTo(request, path, found.value) ? renderOpenedDelivery(request, found.value, view) : notFoundPage(request);
};

interface DeliveryPath {
  readonly endpoint: WebhookId;
  readonly delivery: DeliveryId;
}

/** Returns whether the delivery belongs to the endpoint and the environment in the path. */
const belongsTo = ({ environment }: PortalRequest, { endpoint }: DeliveryPath, opened: OpenedDelivery): boolean =>
  opened.delivery.webhookId === endpoint && opened.environment === environment;

const withDelivery =
  <Request extends PortalRequest>(handle: (request: Request, path: DeliveryPath) => Promise<Response>): PageHandler<Request> =>
  (request) => {
    const endpoint = parseWebhookId(request.c.req.param("id") ?? "");
    const delivery = parseDeliveryId(request.c.req.param("delivery") ?? "");
    return endpoint === null || delivery === null ? notFoundPage(request) : handle(request, { endpoint, delivery });
  };

const handleReplay = async (request: PortalFormRequest, path: DeliveryPath): Promise<Response> => {
  const { services, member } = request;
  const found = await getDelivery(services, member.business.id, path.delivery);
  if (!found.ok || !belongsTo(request, path, found.value)) return notFoundPage(request);
  const replayed = await replayDelivery(services, member.business.id, path.delivery);
  if (replayed.ok) return renderDelivery(request, path, { called: replayed.value });
  return replayed.code === "not_found" ? notFoundPage(request) : renderDelivery(request, path, { error: toFormError(replayed) });
};

const handleReveal = async (request: PortalFormRequest, path: DeliveryPath): Promise<Response> => {
  const found = await getDelivery(request.services, request.member.business.id, path.delivery);
  if (!found.ok || !belongsTo(request, path, found.value)) return notFoundPage(request);
  const revealed = await revealDelivery(request.services, request.member, path.delivery);
  if (revealed.ok) return renderOpenedDelivery(request, revealed.value);
  return revealed.code === "not_found"
    ? notFoundPage(request)
    : renderOpenedDelivery(request, found.value, { error: { code: revealed.code, field: null, text: deliveryMessages.inactive } });
};

export const registerDeliveryRoutes = (pages: Hono<AppEnv>): void => {
  const page = "/webhooks/:id/deliveries/:delivery";
  pages.get(page, authenticatedPage(withDelivery(renderDelivery)));
  pages.post(`${page}/replay`, authenticatedAction({ memberLimit: "WEBHOOK_CALLS" }, withDelivery(handleReplay)));
  pages.post(`${page}/reveal`, authenticatedAction({ isReadOnly: true }, withDelivery(handleReveal)));
};
