// Pages that say why there is nothing to see, and what to do next. None repeats anything of the request: an unknown
// address and a misspelt one get the same page.
import type { Context, ErrorHandler } from "hono";
import type { Child } from "hono/jsx";
import { isOutage } from "../../http/faults.ts";
import type { Api } from "../../http/context.ts";
import { statuses } from "../../http/statuses.ts";
import type { RefusalCode } from "../../../core/refusals.ts";
import { kindOfError } from "../../log.ts";
import type { Words } from "./i18n/words.ts";
import { catalogues } from "./language.ts";
import { pageAnswer, type Page } from "./layout.tsx";
import { filled, type Setting } from "./parts.tsx";

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

const notice = (
  c: Context<Api>,
  code: RefusalCode,
  said: (words: Words, locale: string) => { readonly title: string; readonly advice: string; readonly more?: Child },
  keepsQuery?: true,
): Promise<Response> => {
  c.set("refused", code);
  return pageAnswer(c, statuses[code], ({ words, language }: Setting) => {
    const { title, advice, more } = said(words, catalogues[language].locale);
    return { ...noticePage(title, advice, more), title, ...(keepsQuery && { keepsQuery }) };
  });
};

export const noSuchPage = (c: Context<Api>): Promise<Response> =>
  notice(c, "cert_not_found", (words) => ({ title: words.notFound, advice: words.notFoundAdvice }));

/** "45 seconds", "20 minutes", "7 hours": never shorter than it is. Limits reach from a minute to a day. */
const waitText = (seconds: number, locale: string): string => {
  const [unit, length] =
    seconds <= 120 ? (["second", 1] as const) : seconds <= 7_200 ? (["minute", 60] as const) : (["hour", 3_600] as const);
  return new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "long" }).format(Math.ceil(seconds / length));
};

/** Too often; `seconds` are those in Retry-After. In every language the address is the same, to be loaded again. */
const waitPage =
  (title: "crowded" | "busy" | "crowdedForm") =>
  (c: Context<Api>, seconds: string): Promise<Response> =>
    notice(
      c,
      "rate_limited",
      (words, locale) => ({ title: words[title], advice: filled(words[`${title}Advice`], { wait: waitText(Number(seconds), locale) }) }),
      true,
    );

/** Too many certificates from one network. */
export const crowdedPage = waitPage("crowded");

/** Too much by one person who is signed in, or of one business. */
export const busyPage = waitPage("busy");

/** Too many forms from one network. */
export const crowdedFormPage = waitPage("crowdedForm");

/** A form that did not come from our own page, or is none of ours. */
export const foreignFormPage = (c: Context<Api>): Promise<Response> =>
  notice(c, "forbidden", (words) => ({ title: words.withdraw.foreign, advice: words.withdraw.foreignAdvice }));

export const readOnlyPage = (c: Context<Api>): Promise<Response> => {
  c.header("Allow", "GET, HEAD");
  return notice(c, "method_not_allowed", (words) => ({ title: words.readOnly, advice: words.readOnlyAdvice }));
};

/** The stores do not answer; whether a change was saved, the page loaded again will say. */
export const outagePage = (c: Context<Api>): Promise<Response> => {
  c.header("Retry-After", "1");
  return notice(c, "storage_unavailable", (words) => ({ title: words.outage, advice: words.outageAdvice }));
};

/** The same judgement and log line as for the API, told to a person. */
export const onPageFault: ErrorHandler<Api> = (error, c) => {
  const outage = isOutage(error);
  c.var.services.log.fault({ request_id: c.var.requestId, at: "page", error: kindOfError(error) });
  if (outage) c.header("Retry-After", "1");
  return notice(c as Context<Api>, outage ? "storage_unavailable" : "internal_error", (words) => ({
    title: outage ? words.outage : words.failure,
    advice: outage ? words.outageAdvice : words.failureAdvice,
    more: (
      <p class="quiet">
        {words.requestNumber} <code>{c.var.requestId}</code>
      </p>
    ),
  }));
};
