// Serves /withdraw, /c?number= and the not-found page, and the home page on every host that people visit. Programs that request the home
// page get JSON with the URL of the API description instead.
import { cutText } from "../../../core/cut-text.ts";
import { Hono, type Context } from "hono";
import { accepts } from "hono/accepts";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { parseTypedCertId } from "../../../core/ids.ts";
import { isEmailAddress, trimTypedAddress } from "../../../core/email-address.ts";
import type { AppEnv } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { getTrustedKeys } from "../../operations/service/get-trusted-keys.ts";
import { signInPath } from "../app/sign-in.tsx";
import { landingPage, maxTypedLength, notFoundPage, startWithdrawalPage, type LandingContext } from "./landing-page.tsx";
import { maxTypedEmailLength } from "../shared/form-fields.tsx";
import { parseLanguage } from "../shared/language.ts";
import { getPageLanguage, renderPage, type Page } from "../shared/layout.tsx";
import { startEmailSignIn } from "../shared/email-code-sign-in.tsx";
import { renderTooManyRequests, renderCrossSiteBlocked, handlePageError } from "../shared/notice-pages.tsx";
import { limitPageByAddress, parseRateLimitedForm } from "../shared/form-handlers.ts";
import { withLanguage, type PageContext } from "../shared/components.tsx";

/**
 * Returns true for a browser navigation and for a request that prefers HTML. Requests that accept anything, or do not say what they accept,
 * get JSON.
 */
export const acceptsHtml = (c: Context<AppEnv>): boolean =>
  c.req.header("sec-fetch-dest") === "document" ||
  accepts(c, { header: "Accept", supports: ["application/json", "text/html"], default: "application/json" }) === "text/html";

/** Applies the rate limit for public reads. Browsers get the refusal as a page, and programs as JSON. */
export const limitPublicPages = limitPageByAddress("PUBLIC_READ_PER_IP", async (c, refused) =>
  acceptsHtml(c) ? renderTooManyRequests(c, refused) : refused,
);

type LandingPageBuilder = (pageContext: PageContext, landing: LandingContext) => Page;

type InvalidInput = Pick<LandingContext, "typedNumber" | "isInvalidNumber" | "typedEmail">;

const renderLandingPage = (
  c: Context<AppEnv>,
  status: ContentfulStatusCode,
  buildPage: LandingPageBuilder,
  invalidInput: InvalidInput = {},
): Promise<Response> => {
  c.header("Vary", "Accept, Sec-Fetch-Dest", { append: true });
  const { services } = c.var;
  const landing = { config: services.config, verifier: getTrustedKeys(services).verifier, ...invalidInput };
  return renderPage(c, status, (pageContext) => buildPage(pageContext, landing));
};

/** Typed values are shown again only if the form is on this site. Otherwise, a link on another site could put any text on the page. */
const isSameOrigin = (c: Context<AppEnv>): boolean => c.req.header("sec-fetch-site") === "same-origin";

export const renderNotFound = (c: Context<AppEnv>): Promise<Response> => {
  c.set("refused", "not_found");
  return renderLandingPage(c, 404, notFoundPage);
};

/** Returns true if the request's host has a page at `/`. Other hosts, such as the agent server's, have one only in development. */
const isBrowserHost = ({ req, var: { services } }: Context<AppEnv>): boolean => {
  const { environment, baseUrl, verifyUrl, appUrl } = services.config;
  return environment === "development" || [baseUrl, verifyUrl, appUrl].some((url) => new URL(url).host === new URL(req.url).host);
};

const renderHome = (c: Context<AppEnv>): Response | Promise<Response> => {
  if (!isBrowserHost(c)) return c.notFound();
  if (acceptsHtml(c)) return renderLandingPage(c, 200, landingPage);
  const { baseUrl, environment, demo } = c.var.services.config;
  const { origin } = new URL(baseUrl);
  c.header("Vary", "Accept, Sec-Fetch-Dest", { append: true });
  return success(c, 200, { docs: `${origin}/docs`, openapi: `${origin}/v1/openapi.json`, ...(environment === "development" && { demo }) });
};

/** Redirects to the certificate with the typed number, or shows the form again with an error. */
const redirectToCertificate = (c: Context<AppEnv>, buildPage: LandingPageBuilder, fragment = ""): Response | Promise<Response> => {
  const typed = c.req.query("number") ?? "";
  const certId = parseTypedCertId(typed);
  if (certId === null)
    return renderLandingPage(c, 400, buildPage, {
      isInvalidNumber: true,
      typedNumber: isSameOrigin(c) ? cutText(typed, maxTypedLength) : undefined,
    });
  const language = parseLanguage(c.req.query("lang"));
  return c.redirect(`${getOtherOrigin(c, "verifyUrl")}/c/${certId}${language === null ? "" : `?lang=${language}`}${fragment}`, 303);
};

/**
 * Returns the origin of `verifyUrl` or `appUrl`. Returns an empty string if the request was sent to that host, and always in development,
 * where any host serves all pages.
 */
const getOtherOrigin = ({ req, var: { services } }: Context<AppEnv>, surface: "verifyUrl" | "appUrl"): string => {
  const { environment, [surface]: url } = services.config;
  return environment === "development" || new URL(url).host === new URL(req.url).host ? "" : new URL(url).origin;
};

/** Registers GET /c, which finds a certificate by the number that a person types in. */
export const registerCertificateNumberRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/", limitPublicPages, (c) =>
    c.req.query("number") === undefined ? renderLandingPage(c, 200, landingPage) : redirectToCertificate(c, landingPage),
  );
};

/**
 * Shows the page on the app's host, where people can sign in. The host that serves certificates redirects there, because people may type
 * this path after either host.
 */
const renderStartWithdrawal = (c: Context<AppEnv>): Response | Promise<Response> => {
  const app = getOtherOrigin(c, "appUrl");
  if (app !== "") return c.redirect(`${app}/withdraw${new URL(c.req.url).search}`, 303);
  return c.req.query("number") === undefined
    ? renderLandingPage(c, 200, startWithdrawalPage)
    : redirectToCertificate(c, startWithdrawalPage, "#withdrawal-heading");
};

/**
 * Emails a sign-in code, subject to the rate limits for signing in. The response is the same for every address, so that it does not reveal
 * which accounts exist.
 */
const startWithdrawalByEmail = async (c: Context<AppEnv>): Promise<Response> => {
  const form = await parseRateLimitedForm(c, "AUTH_REQUEST_PER_IP");
  if (form instanceof Response) return form;
  if (getOtherOrigin(c, "appUrl") !== "") return renderCrossSiteBlocked(c);
  const email = trimTypedAddress(form.get("email") ?? "");
  if (!isEmailAddress(email)) return renderLandingPage(c, 400, startWithdrawalPage, { typedEmail: cutText(email, maxTypedEmailLength) });
  await startEmailSignIn(c, { email, realm: "consumer", language: getPageLanguage(c), next: "/app" });
  return c.redirect(withLanguage(signInPath, parseLanguage(c.req.query("lang"))), 303);
};

export const registerHomeRoutes = (app: Hono<AppEnv>): void => {
  app.get("/", limitPublicPages, renderHome);
  const pages = new Hono<AppEnv>();
  pages.get("/", limitPublicPages, renderStartWithdrawal);
  pages.post("/", startWithdrawalByEmail);
  pages.onError(handlePageError);
  app.route("/withdraw", pages);
};
