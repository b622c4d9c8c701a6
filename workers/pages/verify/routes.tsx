// GET /c/{id}: the public page of a certificate. Anyone with the URL may open it. Each visit is recorded.
import type { Context, Hono } from "hono";
import { toPublicView } from "../../../core/certificates/public-json.ts";
import { parseCertId, parseTypedCertId } from "../../../core/ids.ts";
import { buildTrustDocument } from "../../../core/ledger/trust-document.ts";
import type { AppEnv } from "../../http/context.ts";
import { getCertificatePage } from "../../operations/certificates/get-certificate-page.ts";
import { getViewContext } from "../../operations/certificates/get-view-context.ts";
import { getTrustedKeys } from "../../operations/service/get-trusted-keys.ts";
import { certificatePage } from "./certificate-page.tsx";
import { formatPage } from "./format-page.tsx";
import { parseLanguage } from "../shared/language.ts";
import { renderPage } from "../shared/layout.tsx";
import { renderTooManyCertificateViews, renderCertificateNotFound } from "../shared/notice-pages.tsx";
import { limitPageByAddress } from "../shared/form-handlers.ts";

/** Returns true for HEAD requests and prefetches, which do not show that a person reads the page. */
const isPrefetchOrHead = (c: Context<AppEnv>): boolean =>
  c.req.method === "HEAD" ||
  ["sec-purpose", "purpose", "x-purpose", "x-moz"].some((name) => /\b(?:prefetch|prerender|preview)\b/i.test(c.req.header(name) ?? ""));

/** Returns true if the page script is updating an open page. Such a request is not another visit. */
const isRefresh = (c: Context<AppEnv>): boolean => c.req.header("svc-refresh") === "1";

/** Redirects a typed certificate number to the certificate's canonical URL. */
const redirectToCertificate = (c: Context<AppEnv>, typed: string): Response | Promise<Response> => {
  const certId = parseTypedCertId(typed);
  if (certId === null) return renderCertificateNotFound(c);
  const language = parseLanguage(c.req.query("lang"));
  return c.redirect(`/c/${certId}${language === null ? "" : `?lang=${language}`}`);
};

const renderCertificate = async (c: Context<AppEnv>): Promise<Response> => {
  const { services } = c.var;
  const certId = parseCertId(c.req.param("id") ?? "");
  if (certId === null) return redirectToCertificate(c, c.req.param("id") ?? "");
  const opened = await getCertificatePage(services, certId, {
    ip: c.var.ip,
    userAgent: c.req.header("user-agent") ?? "",
    isPrefetch: isPrefetchOrHead(c),
    isRefresh: isRefresh(c),
  });
  if (!opened.ok) return renderCertificateNotFound(c);
  const context = getViewContext(services);
  const view = toPublicView(opened.value.certificate, context);
  // The verifier does not need these two members, and the page shows them as text.
  const { subject: _masked, checks: _checks, ...published } = view;
  return renderPage(c, 200, (pageContext) =>
    certificatePage(pageContext, { ...context, page: opened.value, published, trust: buildTrustDocument(getTrustedKeys(services)) }),
  );
};

export const registerCertificateRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/format", (c) => renderPage(c, 200, formatPage));
  pages.get("/:id", limitPageByAddress("VERIFY_PER_IP", renderTooManyCertificateViews), renderCertificate);
  pages.get("/:id/", (c) => redirectToCertificate(c, c.req.param("id")));
};
