// Error pages. They say why something cannot be shown and what to do next, and never repeat anything from the request.
import type { Context, ErrorHandler } from "hono";
import type { Child, FC } from "hono/jsx";
import { isTemporaryFault } from "../../http/error-handler.ts";
import type { AppEnv } from "../../http/context.ts";
import { getSecondsUntilTomorrow } from "../../../core/time.ts";
import { statusByCode } from "../../http/statuses.ts";
import type { RefusalCode } from "../../../core/refusals.ts";
import { getErrorKind } from "../../log.ts";
import type { PublicMessages } from "../i18n/public.ts";
import type { IconName } from "./icon-names.ts";
import { locales } from "../../../core/language.ts";
import { renderPage, type Page } from "./layout.tsx";
import { EmailLink, FormattedMessage, Icon, formatMessage, type PageContext } from "./components.tsx";
import { ButtonLink } from "./form-fields.tsx";

interface NoticeCardProps {
  readonly title: Child;
  readonly advice: string;
  readonly icon?: IconName;
  readonly more?: Child;
}

export const NoticeCard: FC<NoticeCardProps> = ({ title, advice, icon = "info", more }) => (
  <div class="card confirm">
    <div class="empty">
      <Icon name={icon} />
      <h1>{title}</h1>
      <p>{advice}</p>
      {more}
    </div>
  </div>
);

export const noticePage = (title: string, advice: string, more?: Child, icon: IconName = "info"): Page => ({
  title: `${title} · svc`,
  content: <NoticeCard title={title} advice={advice} icon={icon} more={more} />,
});

const renderNotice = (
  c: Context<AppEnv>,
  code: RefusalCode,
  getNotice: (messages: PublicMessages, locale: string) => NoticeCardProps & { readonly title: string },
  preservesQuery?: true,
): Promise<Response> => {
  c.set("refused", code);
  return renderPage(c, statusByCode[code], ({ messages, language }: PageContext) => {
    const notice = getNotice(messages, locales[language]);
    return { title: notice.title, content: <NoticeCard {...notice} />, ...(preservesQuery && { preservesQuery }) };
  });
};

/** A link to the page where the reader can continue. */
export const ActionLink: FC<{ href: string; text: string }> = ({ href, text }) => (
  <div class="row">
    <ButtonLink href={href}>{text}</ButtonLink>
  </div>
);

/** Reloads the page. Renders nothing in the response to a form, because the link would not send the form again. */
const ReloadLink: FC<{ c: Context<AppEnv>; text: string }> = ({ c, text }) =>
  c.req.method === "GET" ? <ActionLink href="" text={text} /> : null;

export const renderCertificateNotFound = (c: Context<AppEnv>): Promise<Response> =>
  renderNotice(c, "cert_not_found", (messages) => ({
    title: messages.notFound,
    advice: messages.notFoundAdvice,
    icon: "search",
    more: <ActionLink href="/" text={messages.toFirstPage} />,
  }));

/**
 * Formats a waiting time, for example "45 seconds", "20 minutes" or "7 hours", rounded up. The periods of the limits range from a minute to
 * a day.
 */
const formatWait = (seconds: number, locale: string): string => {
  const [unit, length] =
    seconds <= 120 ? (["second", 1] as const) : seconds <= 7_200 ? (["minute", 60] as const) : (["hour", 3_600] as const);
  return new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "long" }).format(Math.ceil(seconds / length));
};

/** The language links keep the query, so that they lead to the same page. */
const renderWaitPage = (c: Context<AppEnv>, title: "crowded" | "busy" | "crowdedForm", seconds: number): Promise<Response> =>
  renderNotice(
    c,
    "rate_limited",
    (messages, locale) => ({
      icon: "timer",
      title: messages[title],
      advice: formatMessage(messages[`${title}Advice`], { wait: formatWait(seconds, locale) }),
      more: <ReloadLink c={c} text={messages.reload} />,
    }),
    true,
  );

/** `refused` is the response that the API would send for this refusal. Its Retry-After header contains the waiting time. */
const createWaitPageRenderer =
  (title: "crowded" | "busy" | "crowdedForm") =>
  (c: Context<AppEnv>, refused: Response): Promise<Response> =>
    renderWaitPage(c, title, Number(refused.headers.get("retry-after") ?? "60"));

/** Shown if too many certificates were viewed from one network. */
export const renderTooManyCertificateViews = createWaitPageRenderer("crowded");

/** Shown if a person, a member or a business has reached a rate limit. */
export const renderAccountRateLimited = createWaitPageRenderer("busy");

/** Shown if the account has reached a storage limit. The waiting time ends at the start of the next day (UTC). */
export const renderStorageLimitReached = (c: Context<AppEnv>): Promise<Response> => {
  const seconds = getSecondsUntilTomorrow(c.var.services.clock());
  c.header("Retry-After", String(seconds));
  return renderWaitPage(c, "busy", seconds);
};

/** Shown if too many requests, such as submitted forms, came from one network. */
export const renderTooManyRequests = createWaitPageRenderer("crowdedForm");

/**
 * Shown for a form or a payment link that came from a different site. Also shown for a form that no page of this site sends, such as one
 * that is not URL-encoded or has an unknown decision.
 */
export const renderCrossSiteBlocked = (c: Context<AppEnv>): Promise<Response> =>
  renderNotice(c, "forbidden", (messages) => ({
    icon: "ban",
    title: messages.withdraw.foreign,
    advice: messages.withdraw.foreignAdvice,
    more: <ActionLink href="/" text={messages.toFirstPage} />,
  }));

/**
 * Shown for a form without the token of this session, for example if the person has signed in again since the page was loaded. `homePath`
 * is the start page of the person's account.
 */
export const renderOutdatedForm = (c: Context<AppEnv>, homePath: string): Promise<Response> =>
  renderNotice(c, "forbidden", (messages) => ({
    icon: "refresh-cw",
    title: messages.outdatedForm,
    advice: messages.outdatedFormAdvice,
    more: <ActionLink href={homePath} text={messages.toFirstPage} />,
  }));

/** Shown for a form with more text than any form accepts. The browser's back button leads to the text. */
export const renderFormTooLarge = (c: Context<AppEnv>): Promise<Response> =>
  renderNotice(c, "payload_too_large", (messages) => ({
    icon: "circle-alert",
    title: messages.formTooLarge,
    advice: messages.formTooLargeAdvice,
  }));

/**
 * Shown if a path does not allow the request's method, for example when an outdated page submits a form. `methods` are the methods that the
 * path allows.
 */
export const renderMethodNotAllowed = (c: Context<AppEnv>, methods: readonly string[] = ["GET", "HEAD"]): Promise<Response> => {
  c.header("Allow", methods.join(", "));
  return renderNotice(c, "method_not_allowed", (messages) => ({
    icon: "lock",
    title: messages.readOnly,
    advice: messages.readOnlyAdvice,
    more: <ActionLink href="" text={messages.openPage} />,
  }));
};

/** Shown if a database or another service is unavailable. A change may have been saved; reloading the page shows whether it was. */
export const renderStorageUnavailable = (c: Context<AppEnv>): Promise<Response> => {
  c.header("Retry-After", "1");
  return renderNotice(c, "storage_unavailable", (messages) => ({
    icon: "power",
    title: messages.outage,
    advice: messages.outageAdvice,
    more: <ReloadLink c={c} text={messages.reload} />,
  }));
};

/** Classifies and logs errors like the API's error handler, but responds with a page. */
export const handlePageError: ErrorHandler<AppEnv> = (error, c) => {
  const outage = isTemporaryFault(error);
  const { supportEmail } = c.var.services.config;
  c.var.services.log.error({ request_id: c.var.requestId, at: "page", error: getErrorKind(error) });
  if (outage) c.header("Retry-After", "1");
  return renderNotice(c as Context<AppEnv>, outage ? "storage_unavailable" : "internal_error", (messages) => ({
    icon: outage ? "power" : "triangle-alert",
    title: outage ? messages.outage : messages.failure,
    advice: outage ? messages.outageAdvice : messages.failureAdvice,
    more: (
      <>
        <ReloadLink c={c} text={messages.reload} />
        <p class="small">
          {supportEmail === null ? (
            messages.requestId
          ) : (
            <FormattedMessage text={messages.reportTo} parts={{ support: <EmailLink address={supportEmail} /> }} />
          )}{" "}
          <code translate="no">{c.var.requestId}</code>
        </p>
      </>
    ),
  }));
};
