// Pages that say why there is nothing to see, and what to do next. None repeats anything of the request: an unknown
// address and a misspelt one get the same page.
import type { Context, ErrorHandler } from "hono";
import type { Child } from "hono/jsx";
import { isOutage } from "../../http/error-handler.ts";
import type { AppEnv } from "../../http/context.ts";
import { statusByCode } from "../../http/statuses.ts";
import type { RefusalCode } from "../../../core/refusals.ts";
import { getErrorKind } from "../../log.ts";
import type { PublicMessages } from "../i18n/public.ts";
import { languageInfo } from "./language.ts";
import { renderPage, type Page } from "./layout.tsx";
import { formatMessage, type PageContext } from "./components.tsx";

/** A page that only says something. */
export const noticePage = (title: string, advice: string, more?: Child): Page => ({
  title: `${title} · svc`,
  content: (
    <article class="notice-page">
      <h1>{title}</h1>
      <p>{advice}</p>
      {more}
    </article>
  ),
});

const renderNotice = (
  c: Context<AppEnv>,
  code: RefusalCode,
  said: (words: PublicMessages, locale: string) => { readonly title: string; readonly advice: string; readonly more?: Child },
  keepsQuery?: true,
): Promise<Response> => {
  c.set("refused", code);
  return renderPage(c, statusByCode[code], ({ messages, language }: PageContext) => {
    const { title, advice, more } = said(messages, languageInfo[language].locale);
    return { ...noticePage(title, advice, more), title, ...(keepsQuery && { keepsQuery }) };
  });
};

export const renderCertificateNotFound = (c: Context<AppEnv>): Promise<Response> =>
  renderNotice(c, "cert_not_found", (words) => ({ title: words.notFound, advice: words.notFoundAdvice }));

/** "45 seconds", "20 minutes", "7 hours": never shorter than it is. Limits reach from a minute to a day. */
const formatWait = (seconds: number, locale: string): string => {
  const [unit, length] =
    seconds <= 120 ? (["second", 1] as const) : seconds <= 7_200 ? (["minute", 60] as const) : (["hour", 3_600] as const);
  return new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "long" }).format(Math.ceil(seconds / length));
};

/** Too often; `seconds` are those in Retry-After. In every language the address is the same, to be loaded again. */
const createWaitPageRenderer =
  (title: "crowded" | "busy" | "crowdedForm") =>
  (c: Context<AppEnv>, seconds: string): Promise<Response> =>
    renderNotice(
      c,
      "rate_limited",
      (words, locale) => ({
        title: words[title],
        advice: formatMessage(words[`${title}Advice`], { wait: formatWait(Number(seconds), locale) }),
      }),
      true,
    );

/** Too many certificates from one network. */
export const renderTooManyCertificateViews = createWaitPageRenderer("crowded");

/** Too much by one person who is signed in, or of one business. */
export const renderAccountRateLimited = createWaitPageRenderer("busy");

/** Too many forms from one network. */
export const renderTooManyRequests = createWaitPageRenderer("crowdedForm");

/** A form that did not come from our own page, or is none of ours. */
export const renderCrossSiteBlocked = (c: Context<AppEnv>): Promise<Response> =>
  renderNotice(c, "forbidden", (words) => ({ title: words.withdraw.foreign, advice: words.withdraw.foreignAdvice }));

export const renderMethodNotAllowed = (c: Context<AppEnv>): Promise<Response> => {
  c.header("Allow", "GET, HEAD");
  return renderNotice(c, "method_not_allowed", (words) => ({ title: words.readOnly, advice: words.readOnlyAdvice }));
};

/** The stores do not answer; whether a change was saved, the page loaded again will say. */
export const renderStorageUnavailable = (c: Context<AppEnv>): Promise<Response> => {
  c.header("Retry-After", "1");
  return renderNotice(c, "storage_unavailable", (words) => ({ title: words.outage, advice: words.outageAdvice }));
};

/** The same judgement and log line as for the API, told to a person. */
export const handlePageError: ErrorHandler<AppEnv> = (error, c) => {
  const outage = isOutage(error);
  c.var.services.log.error({ request_id: c.var.requestId, at: "page", error: getErrorKind(error) });
  if (outage) c.header("Retry-After", "1");
  return renderNotice(c as Context<AppEnv>, outage ? "storage_unavailable" : "internal_error", (words) => ({
    title: outage ? words.outage : words.failure,
    advice: outage ? words.outageAdvice : words.failureAdvice,
    more: (
      <p class="quiet">
        {words.requestNumber} <code>{c.var.requestId}</code>
      </p>
    ),
  }));
};
