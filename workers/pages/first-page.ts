// GET / on every host that people reach, GET /withdraw, GET /c?number=, and what an unknown address is answered to a person.
// Programs are answered in JSON: where the description of the API is.
import type { Context, Hono } from "hono";
import { accepts } from "hono/accepts";
import { createMiddleware } from "hono/factory";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { addressKey } from "../../core/access/address.ts";
import { typedCertIdOf } from "../../core/ids.ts";
import type { Api } from "../http/context.ts";
import { success } from "../http/envelope.ts";
import { limited } from "../http/guards.ts";
import { trustedKeys } from "../operations/service/trust.ts";
import { firstPage, maxTyped, unknownPage, withdrawDoorPage, type Place } from "./doors.tsx";
import { chosenLanguage } from "./language.ts";
import { pageAnswer, type Page } from "./layout.tsx";
import { crowdedFormPage } from "./notices.tsx";

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

const doorPage = (c: Context<Api>, status: ContentfulStatusCode, pageOf: (place: Place) => Page, bad?: string): Promise<Response> => {
  c.header("Vary", "Accept, Sec-Fetch-Dest", { append: true });
  const { services } = c.var;
  return pageAnswer(c, status, (setting) =>
    pageOf({
      setting,
      choice: chosenLanguage(c.req.query("lang")),
      config: services.config,
      verifier: trustedKeys(services).verifier,
      ...(bad !== undefined && { isBadNumber: true, typed: isOwn(c) ? bad.slice(0, maxTyped) : undefined }),
    }),
  );
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
const toCertificate = (c: Context<Api>, pageOf: (place: Place) => Page, fragment = ""): Response | Promise<Response> => {
  const typed = c.req.query("number") ?? "";
  const certId = typedCertIdOf(typed);
  if (certId === null) return doorPage(c, 400, pageOf, typed);
  const choice = chosenLanguage(c.req.query("lang"));
  return c.redirect(`/c/${certId}${choice === null ? "" : `?lang=${choice}`}${fragment}`, 303);
};

/** The door to certificates, under `/c`. */
export const mountNumberForm = (pages: Hono<Api>): void => {
  pages.get("/", counted, (c) => (c.req.query("number") === undefined ? doorPage(c, 200, firstPage) : toCertificate(c, firstPage)));
};

export const mountFirstPage = (app: Hono<Api>): void => {
  app.get("/", counted, first);
  app.get("/withdraw", counted, (c) =>
    c.req.query("number") === undefined ? doorPage(c, 200, withdrawDoorPage) : toCertificate(c, withdrawDoorPage, "#withdrawal-heading"),
  );
};
