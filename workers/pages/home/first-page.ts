// GET / on every host that people reach, /withdraw, GET /c?number=, and what an unknown address is answered to a person.
// Programs are answered in JSON: where the description of the API is.
import { Hono, type Context } from "hono";
import { accepts } from "hono/accepts";
import { createMiddleware } from "hono/factory";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { addressKey } from "../../../core/access/address.ts";
import { typedCertIdOf } from "../../../core/ids.ts";
import { isMailbox } from "../../../core/mailbox.ts";
import type { Api } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { limited } from "../../http/guards.ts";
import { trustedKeys } from "../../operations/service/trust.ts";
import { signInPath } from "../app/sign-in.tsx";
import { firstPage, maxTyped, unknownPage, withdrawDoorPage, type Place } from "./doors.tsx";
import { maxMailbox } from "../shared/forms.tsx";
import { chosenLanguage } from "../shared/language.ts";
import { languageOf, pageAnswer, type Page } from "../shared/layout.tsx";
import { mailCode } from "../shared/mailed-sign-in.tsx";
import { crowdedFormPage, foreignFormPage, onPageFault } from "../shared/notices.tsx";
import { postedForm } from "../shared/own-form.ts";
import { inLanguage, type Setting } from "../shared/parts.tsx";

/** True for a browser that opens the address; a program that says nothing, or that takes anything, is answered in JSON. */
export const isPerson = (c: Context<Api>): boolean =>
  c.req.header("sec-fetch-dest") === "document" ||
  accepts(c, { header: "Accept", supports: ["application/json", "text/html"], default: "application/json" }) === "text/html";

/** Counted as every public read, and said to each in their way. */
const counted = createMiddleware<Api>(async (c, next) => {
  const refused = limited(c, "PUBLIC_READ_PER_IP", await c.var.services.takeByAddress("PUBLIC_READ_PER_IP", addressKey(c.var.ip)));
  if (refused !== null) return isPerson(c) ? crowdedFormPage(c, refused.headers.get("retry-after") ?? "60") : refused;
  await next();
});

type DoorPage = (setting: Setting, place: Place) => Page;

/** What was typed and is not what the form asks for. */
type Mistyped = Pick<Place, "typed" | "isBadNumber" | "typedEmail">;

const doorPage = (c: Context<Api>, status: ContentfulStatusCode, pageOf: DoorPage, mistyped: Mistyped = {}): Promise<Response> => {
  c.header("Vary", "Accept, Sec-Fetch-Dest", { append: true });
  const { services } = c.var;
  const place = { config: services.config, verifier: trustedKeys(services).verifier, ...mistyped };
  return pageAnswer(c, status, (setting) => pageOf(setting, place));
};

/** Only what was typed here is shown again: a link from elsewhere could make our page say anything. */
const isOwn = (c: Context<Api>): boolean => c.req.header("sec-fetch-site") === "same-origin";

export const unknownAddress = (c: Context<Api>): Promise<Response> => {
  c.set("refused", "not_found");
  return doorPage(c, 404, unknownPage);
};

/** The agents' host has its own `/`, and that is none for a person. */
const isPeoplesHost = ({ req, var: { services } }: Context<Api>): boolean => {
  const { environment, baseUrl, verifyUrl, appUrl } = services.config;
  return environment === "development" || [baseUrl, verifyUrl, appUrl].some((url) => new URL(url).host === new URL(req.url).host);
};

const first = (c: Context<Api>): Response | Promise<Response> => {
  if (!isPeoplesHost(c)) return c.notFound();
  if (isPerson(c)) return doorPage(c, 200, firstPage);
  const { origin } = new URL(c.var.services.config.baseUrl);
  c.header("Vary", "Accept, Sec-Fetch-Dest", { append: true });
  return success(c, 200, { docs: `${origin}/docs`, openapi: `${origin}/v1/openapi.json` });
};

/** To the address of the certificate whose number somebody typed; to the form again where it is none. */
const toCertificate = (c: Context<Api>, pageOf: DoorPage, fragment = ""): Response | Promise<Response> => {
  const typed = c.req.query("number") ?? "";
  const certId = typedCertIdOf(typed);
  if (certId === null) return doorPage(c, 400, pageOf, { isBadNumber: true, typed: isOwn(c) ? typed.slice(0, maxTyped) : undefined });
  const choice = chosenLanguage(c.req.query("lang"));
  return c.redirect(`${elsewhere(c, "verifyUrl")}/c/${certId}${choice === null ? "" : `?lang=${choice}`}${fragment}`, 303);
};

/** Nothing where the path is served by the host that was asked, else the address of the one that serves it. */
const elsewhere = ({ req, var: { services } }: Context<Api>, surface: "verifyUrl" | "appUrl"): string => {
  const { environment, [surface]: url } = services.config;
  return environment === "development" || new URL(url).host === new URL(req.url).host ? "" : new URL(url).origin;
};

/** The door to certificates, under `/c`. */
export const mountNumberForm = (pages: Hono<Api>): void => {
  pages.get("/", counted, (c) => (c.req.query("number") === undefined ? doorPage(c, 200, firstPage) : toCertificate(c, firstPage)));
};

/** The host of the certificates knows this address too, for whoever types it off one; the page is where people sign in. */
const withdrawDoor = (c: Context<Api>): Response | Promise<Response> => {
  const app = elsewhere(c, "appUrl");
  if (app !== "") return c.redirect(`${app}/withdraw${new URL(c.req.url).search}`, 303);
  return c.req.query("number") === undefined
    ? doorPage(c, 200, withdrawDoorPage)
    : toCertificate(c, withdrawDoorPage, "#withdrawal-heading");
};

/** By e-mail: a code to any address, as signing in mails it, with its limits; nothing of the answer depends on whose it is. */
const withdrawByEmail = async (c: Context<Api>): Promise<Response> => {
  const form = await postedForm(c, "AUTH_REQUEST_PER_IP");
  if (form instanceof Response) return form;
  if (elsewhere(c, "appUrl") !== "") return foreignFormPage(c);
  const email = (form.get("email") ?? "").trim();
  if (!isMailbox(email)) return doorPage(c, 400, withdrawDoorPage, { typedEmail: email.slice(0, maxMailbox) });
  await mailCode(c, { email, realm: "consumer", language: languageOf(c) });
  return c.redirect(inLanguage(signInPath, chosenLanguage(c.req.query("lang"))), 303);
};

export const mountFirstPage = (app: Hono<Api>): void => {
  app.get("/", counted, first);
  const pages = new Hono<Api>();
  pages.get("/", counted, withdrawDoor);
  pages.post("/", withdrawByEmail);
  pages.onError(onPageFault);
  app.route("/withdraw", pages);
};
