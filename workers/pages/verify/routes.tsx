// GET /c/{id}: the public page of a certificate. Who opens it is noted in the view trail; whoever has the address may.
import type { Context, Hono } from "hono";
import { verifyView } from "../../../core/certificates/views.ts";
import { certIdOf, typedCertIdOf } from "../../../core/ids.ts";
import { trustDocument } from "../../../core/ledger/trust-document.ts";
import type { Api } from "../../http/context.ts";
import { openCertificatePage } from "../../operations/certificates/page.ts";
import { viewContext } from "../../operations/certificates/verify.ts";
import { trustedKeys } from "../../operations/service/trust.ts";
import { certificatePage } from "./certificate-page.tsx";
import { formatPage } from "./format-page.tsx";
import { chosenLanguage } from "../shared/language.ts";
import { pageAnswer } from "../shared/layout.tsx";
import { crowdedPage, noSuchPage } from "../shared/notices.tsx";
import { uncrowded } from "../shared/own-form.ts";

/** True when no person reads the answer: a look at the headers, or a page fetched ahead of a click that may never come. */
const isUnread = (c: Context<Api>): boolean =>
  c.req.method === "HEAD" ||
  ["sec-purpose", "purpose", "x-purpose", "x-moz"].some((name) => /\b(?:prefetch|prerender|preview)\b/i.test(c.req.header(name) ?? ""));

/** To the address of the certificate whose number somebody typed. */
const fromPaper = (c: Context<Api>, typed: string): Response | Promise<Response> => {
  const certId = typedCertIdOf(typed);
  if (certId === null) return noSuchPage(c);
  const language = chosenLanguage(c.req.query("lang"));
  return c.redirect(`/c/${certId}${language === null ? "" : `?lang=${language}`}`);
};

const verify = async (c: Context<Api>): Promise<Response> => {
  const { services } = c.var;
  const certId = certIdOf(c.req.param("id") ?? "");
  if (certId === null) return fromPaper(c, c.req.param("id") ?? "");
  const opened = await openCertificatePage(services, certId, {
    ip: c.var.ip,
    userAgent: c.req.header("user-agent") ?? "",
    isUnread: isUnread(c),
  });
  if (!opened.ok) return noSuchPage(c);
  const context = viewContext(services);
  const view = verifyView(opened.value.certificate, context);
  const { subject: _masked, checks: _checks, ...published } = view; // the verifier asks for neither, and the page says them in words
  return pageAnswer(c, 200, (setting) =>
    certificatePage(setting, { ...context, page: opened.value, published, trust: trustDocument(trustedKeys(services)) }),
  );
};

export const mountVerify = (pages: Hono<Api>): void => {
  pages.get("/format", (c) => pageAnswer(c, 200, formatPage));
  pages.get("/:id", uncrowded("VERIFY_PER_IP", crowdedPage), verify);
  pages.get("/:id/", (c) => fromPaper(c, c.req.param("id")));
};
