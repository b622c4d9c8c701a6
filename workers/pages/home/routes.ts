// GET / on every host that people reach, /withdraw, GET /c?number=, and what an unknown address is answered to a person.
// Programs are answered in JSON: where the description of the API is.
import { Hono, type Context } from "hono";
import { accepts } from "hono/accepts";
import { createMiddleware } from "hono/factory";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { getIpRateLimitKey } from "../../../core/access/ip-address.ts";
import { parseTypedCertId } from "../../../core/ids.ts";
import { isEmailAddress } from "../../../core/email-address.ts";
import type { AppEnv } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { applyRateLimit } from "../../http/guards/rate-limits.ts";
import { getTrustedKeys } from "../../operations/service/get-trusted-keys.ts";
import { signInPath } from "../app/sign-in.tsx";
import { landingPage, maxTypedLength, notFoundPage, startWithdrawalPage, type LandingContext } from "./landing-page.tsx";
import { maxTypedEmailLength } from "../shared/form-fields.tsx";
import { parseLanguage } from "../shared/language.ts";
import { getPageLanguage, renderPage, type Page } from "../shared/layout.tsx";
import { startEmailSignIn } from "../shared/email-code-sign-in.tsx";
import { renderTooManyRequests, renderCrossSiteBlocked, handlePageError } from "../shared/notice-pages.tsx";
import { parseRateLimitedForm } from "../shared/form-handlers.ts";
import { withLanguage, type PageContext } from "../shared/components.tsx";

/** True for a browser that opens the address; a program that says nothing, or that takes anything, is answered in JSON. */
export const acceptsHtml = (c: Context<AppEnv>): boolean =>
  c.req.header("sec-fetch-dest") === "document" ||
  accepts(c, { header: "Accept", supports: ["application/json", "text/html"], default: "application/json" }) === "text/html";

/** Counted as every public read, and said to each in their way. */
const limitPublicReads = createMiddleware<AppEnv>(async (c, next) => {
  const refused = applyRateLimit(
    c,
    "PUBLIC_READ_PER_IP",
    await c.var.services.takeByAddress("PUBLIC_READ_PER_IP", getIpRateLimitKey(c.var.ip)),
  );
  if (refused !== null) return acceptsHtml(c) ? renderTooManyRequests(c, refused.headers.get("retry-after") ?? "60") : refused;
  await next();
});

type LandingPageBuilder = (setting: PageContext, place: LandingContext) => Page;

/** What was typed and is not what the form asks for. */
type InvalidInput = Pick<LandingContext, "typed" | "isBadNumber" | "typedEmail">;

const renderLandingPage = (
  c: Context<AppEnv>,
  status: ContentfulStatusCode,
  pageOf: LandingPageBuilder,
  mistyped: InvalidInput = {},
): Promise<Response> => {
  c.header("Vary", "Accept, Sec-Fetch-Dest", { append: true });
  const { services } = c.var;
  const place = { config: services.config, verifier: getTrustedKeys(services).verifier, ...mistyped };
  return renderPage(c, status, (setting) => pageOf(setting, place));
};

/** Only what was typed here is shown again: a link from elsewhere could make our page say anything. */
const isSameOrigin = (c: Context<AppEnv>): boolean => c.req.header("sec-fetch-site") === "same-origin";

export const renderNotFound = (c: Context<AppEnv>): Promise<Response> => {
  c.set("refused", "not_found");
  return renderLandingPage(c, 404, notFoundPage);
};

/** The agents' host has its own `/`, and that is none for a person. */
const isBrowserHost = ({ req, var: { services } }: Context<AppEnv>): boolean => {
  const { environment, baseUrl, verifyUrl, appUrl } = services.config;
  return environment === "development" || [baseUrl, verifyUrl, appUrl].some((url) => new URL(url).host === new URL(req.url).host);
};

const renderHome = (c: Context<AppEnv>): Response | Promise<Response> => {
  if (!isBrowserHost(c)) return c.notFound();
  if (acceptsHtml(c)) return renderLandingPage(c, 200, landingPage);
  const { origin } = new URL(c.var.services.config.baseUrl);
  c.header("Vary", "Accept, Sec-Fetch-Dest", { append: true });
  return success(c, 200, { docs: `${origin}/docs`, openapi: `${origin}/v1/openapi.json` });
};

/** To the address of the certificate whose number somebody typed; to the form again where it is none. */
const redirectToCertificate = (c: Context<AppEnv>, pageOf: LandingPageBuilder, fragment = ""): Response | Promise<Response> => {
  const typed = c.req.query("number") ?? "";
  const certId = parseTypedCertId(typed);
  if (certId === null)
    return renderLandingPage(c, 400, pageOf, { isBadNumber: true, typed: isSameOrigin(c) ? typed.slice(0, maxTypedLength) : undefined });
  const choice = parseLanguage(c.req.query("lang"));
  return c.redirect(`${getOtherOrigin(c, "verifyUrl")}/c/${certId}${choice === null ? "" : `?lang=${choice}`}${fragment}`, 303);
};

/** Nothing where the path is served by the host that was asked, else the address of the one that serves it. */
const getOtherOrigin = ({ req, var: { services } }: Context<AppEnv>, surface: "verifyUrl" | "appUrl"): string => {
  const { environment, [surface]: url } = services.config;
  return environment === "development" || new URL(url).host === new URL(req.url).host ? "" : new URL(url).origin;
};

/** The door to certificates, under `/c`. */
export const registerCertificateNumberRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/", limitPublicReads, (c) =>
    c.req.query("number") === undefined ? renderLandingPage(c, 200, landingPage) : redirectToCertificate(c, landingPage),
  );
};

/** The host of the certificates knows this address too, for whoever types it off one; the page is where people sign in. */
const renderStartWithdrawal = (c: Context<AppEnv>): Response | Promise<Response> => {
  const app = getOtherOrigin(c, "appUrl");
  if (app !== "") return c.redirect(`${app}/withdraw${new URL(c.req.url).search}`, 303);
  return c.req.query("number") === undefined
    ? renderLandingPage(c, 200, startWithdrawalPage)
    : redirectToCertificate(c, startWithdrawalPage, "#withdrawal-heading");
};

/** By e-mail: a code to any address, as signing in mails it, with its limits; nothing of the answer depends on whose it is. */
const startWithdrawalByEmail = async (c: Context<AppEnv>): Promise<Response> => {
  const form = await parseRateLimitedForm(c, "AUTH_REQUEST_PER_IP");
  if (form instanceof Response) return form;
  if (getOtherOrigin(c, "appUrl") !== "") return renderCrossSiteBlocked(c);
  const email = (form.get("email") ?? "").trim();
  if (!isEmailAddress(email)) return renderLandingPage(c, 400, startWithdrawalPage, { typedEmail: email.slice(0, maxTypedEmailLength) });
  await startEmailSignIn(c, { email, realm: "consumer", language: getPageLanguage(c) });
  return c.redirect(withLanguage(signInPath, parseLanguage(c.req.query("lang"))), 303);
};

export const registerHomeRoutes = (app: Hono<AppEnv>): void => {
  app.get("/", limitPublicReads, renderHome);
  const pages = new Hono<AppEnv>();
  pages.get("/", limitPublicReads, renderStartWithdrawal);
  pages.post("/", startWithdrawalByEmail);
  pages.onError(handlePageError);
  app.route("/withdraw", pages);
};
