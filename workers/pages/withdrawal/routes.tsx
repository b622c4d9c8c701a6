// Withdrawing in a browser, with or without scripts: plain forms, each answered by a redirect to a page that can be loaded
// again without doing anything twice. POST /c/{id}/withdraw asks for a code, GET shows the form for it, POST …/confirm
// answers it, POST …/link follows the link from the 201, GET /c/{id}/withdrawn says what is so afterwards.
import type { Context, Hono } from "hono";
import { deleteCookie, setCookie } from "hono/cookie";
import type { PublishedCertificate } from "../../../core/certificates/published.ts";
import { certIdOf, type CertId } from "../../../core/ids.ts";
import { isMailbox } from "../../../core/mailbox.ts";
import { typedCodeOf } from "../../../core/access/mailed-code.ts";
import type { Api } from "../../http/context.ts";
import { cookieOf, cookieOptions } from "../../http/cookies.ts";
import { openWithdrawalContext, withdrawalContext } from "../../http/withdrawal-context.ts";
import { askedSeconds, openAsked, sealAsked, type Asked } from "../../operations/access/sealed-notes.ts";
import { reachOf, verifyCertificate } from "../../operations/certificates/verify.ts";
import { withdrawByLink } from "../../operations/withdrawals/by-person.ts";
import { answerOnPage, othersByLink } from "../../operations/withdrawals/others.ts";
import { requestWithdrawalCode } from "../../operations/withdrawals/request-code.ts";
import { maxMailbox } from "../shared/forms.tsx";
import { chosenLanguage, type Language } from "../shared/language.ts";
import { languageOf, pageAnswer } from "../shared/layout.tsx";
import { noSuchPage } from "../shared/notices.tsx";
import { posting, uncrowded, type PageForm, type Sent } from "../shared/own-form.ts";
import { inLanguage } from "../shared/parts.tsx";
import { unlessErased } from "./parts.tsx";
import { codePage, emailPage, linkScopePage, partlyWithdrawnPage, withdrawnPage } from "./views.tsx";

const choiceOf = (c: Context<Api>): Language | null => chosenLanguage(c.req.query("lang"));

/** Holds the address that was typed, and what proves it, sealed. */
const askedCookie = "svc_asked";

const certificateOf = async (c: Context<Api>): Promise<PublishedCertificate | null> => {
  const certId = certIdOf(c.req.param("id") ?? "");
  const found = certId === null ? null : await verifyCertificate(c.var.services, certId);
  return found?.ok ? { ...found.value, ...unlessErased(found.value) } : null;
};

/** What was typed a moment ago for this certificate, and what proves it. */
const askedOf = async (c: Context<Api>, certId: CertId): Promise<Asked> => {
  const sealed = cookieOf(c, askedCookie);
  return sealed === undefined ? { email: null, token: null } : openAsked(c.var.services, certId, sealed);
};

const keepAsked = async (c: Context<Api>, certId: CertId, asked: Asked): Promise<void> => {
  setCookie(c, askedCookie, await sealAsked(c.var.services, certId, asked), { ...cookieOptions(c), maxAge: askedSeconds });
};

/** What else names the address, for a browser that has proved it; null for every other. */
const othersFor = async (c: Context<Api>, certId: CertId) => {
  const { token } = await askedOf(c, certId);
  return token === null ? null : othersByLink(c.var.services, certId, token);
};

const to = (c: Context<Api>, path: string): Response => c.redirect(inLanguage(path, choiceOf(c)), 303);

type Posted = Sent<{ readonly certificate: PublishedCertificate }>;

const acting = posting(async (c) => {
  const certificate = await certificateOf(c);
  if (certificate === null) return noSuchPage(c);
  return certificate.subjectErasedAt === null ? { certificate } : to(c, `/c/${certificate.id}`);
}, "verifyUrl");

/** The recipients that were ticked: boxes bear their places on the certificate. Null where none is: then all are meant. */
export const chosenEntities = (form: PageForm, { entities }: PublishedCertificate): readonly string[] | null => {
  const ticked = entities.filter((_, at) => form.has(`entity.${at}`));
  return ticked.length > 0 ? ticked : null;
};

const ask = async (c: Context<Api>, { form, certificate }: Posted): Promise<Response> => {
  const email = (form.get("email") ?? "").trim();
  if (!isMailbox(email)) {
    return pageAnswer(c, 400, (setting) =>
      emailPage(setting, { certificate, typed: email.slice(0, maxMailbox), error: setting.words.withdraw.badEmail }),
    );
  }
  const { services } = c.var;
  const context = openWithdrawalContext(c);
  const asked = await requestWithdrawalCode(services, { certId: certificate.id, email, context, language: languageOf(c) });
  if (!asked.ok) return noSuchPage(c);
  await keepAsked(c, certificate.id, { email, token: null });
  return to(c, `/c/${certificate.id}/withdraw`);
};

/** What to withdraw from where the address is proved, the form for the code where one was given, the form for the address where none was. */
const show = async (c: Context<Api>): Promise<Response> => {
  const certificate = await certificateOf(c);
  if (certificate === null) return noSuchPage(c);
  if (certificate.status === "revoked") return to(c, `/c/${certificate.id}/withdrawn`);
  if (certificate.subjectErasedAt !== null) return to(c, `/c/${certificate.id}`); // it says whom to turn to
  const { email, token } = await askedOf(c, certificate.id);
  const others = await othersFor(c, certificate.id);
  if (token !== null && others !== null) return pageAnswer(c, 200, (setting) => linkScopePage(setting, { certificate, token, others }));
  const answered = c.req.query("answer");
  return pageAnswer(c, 200, (setting) => {
    const { words } = setting;
    const error = answered === "link" ? words.withdraw.linkFailed : answered === "failed" ? words.withdraw.failed : undefined;
    return email === null || answered === "link"
      ? emailPage(setting, { certificate, error })
      : codePage(setting, { certificate, email, error });
  });
};

/** Back to the form with what went wrong; loading that page again spends no try. */
const failed = (c: Context<Api>, certId: CertId, answer: "failed" | "link"): Response => {
  const choice = choiceOf(c);
  return c.redirect(`/c/${certId}/withdraw?answer=${answer}${choice === null ? "" : `&lang=${choice}`}`, 303);
};

const confirm = async (c: Context<Api>, { form, certificate }: Posted): Promise<Response> => {
  const { email } = await askedOf(c, certificate.id);
  if (email === null) return failed(c, certificate.id, "failed");
  const code = typedCodeOf(form.get("code") ?? "");
  if (code === null) {
    const typed = (form.get("code") ?? "").slice(0, 20);
    return pageAnswer(c, 400, (setting) =>
      codePage(setting, { certificate, email, typed, chosen: form, error: setting.words.withdraw.badCode }),
    );
  }
  const answered = await answerOnPage(c.var.services, {
    certId: certificate.id,
    email,
    code,
    context: withdrawalContext(c),
    scope: "certificate", // where there is more to withdraw from, the person is asked first
    entities: chosenEntities(form, certificate),
    origin: null, // judged above
    language: languageOf(c),
  });
  if (!answered.ok && answered.code !== "already_revoked") return failed(c, certificate.id, "failed");
  if (!answered.ok) {
    deleteCookie(c, askedCookie, cookieOptions(c));
    return to(c, `/c/${certificate.id}/withdrawn`);
  }
  const { isWithdrawn, token } = answered.value;
  await keepAsked(c, certificate.id, { email: isWithdrawn ? null : email, token });
  return to(c, `/c/${certificate.id}/${isWithdrawn ? "withdrawn" : "withdraw"}`);
};

const followLink = async (c: Context<Api>, { form, certificate }: Posted): Promise<Response> => {
  const token = form.get("token") ?? "";
  const entities = chosenEntities(form, certificate);
  // A link from a mail proves the address: then the person is told what else there is, and chooses.
  const others = await othersByLink(c.var.services, certificate.id, token);
  const isAsked = entities === null && !form.has("scope") && certificate.status === "active";
  if (isAsked && others !== null && others.count > 0)
    return pageAnswer(c, 200, (setting) => linkScopePage(setting, { certificate, token, others }));
  const scope = form.get("scope") === "business" ? "business" : "certificate";
  const link = { certId: certificate.id, token, scope, entities, origin: null, language: languageOf(c) } as const;
  const followed = await withdrawByLink(c.var.services, link);
  if (!followed.ok && followed.code !== "already_revoked") return failed(c, certificate.id, "link");
  if (others !== null) await keepAsked(c, certificate.id, { email: null, token });
  return to(c, `/c/${certificate.id}/withdrawn`);
};

const done = async (c: Context<Api>): Promise<Response> => {
  const certificate = await certificateOf(c);
  if (certificate === null) return noSuchPage(c);
  const { withdrawal } = certificate;
  if (withdrawal === null && certificate.entitiesWithdrawn.length === 0) return to(c, `/c/${certificate.id}`);
  const { services } = c.var;
  const [others, reach] = await Promise.all([othersFor(c, certificate.id), reachOf(services, certificate)]);
  const shown = { certificate, apiBase: services.config.baseUrl, others, reach };
  return pageAnswer(c, 200, (setting) =>
    withdrawal === null ? partlyWithdrawnPage(setting, shown) : withdrawnPage(setting, { ...shown, withdrawal }),
  );
};

export const mountWithdrawalPages = (pages: Hono<Api>): void => {
  pages.get("/:id/withdraw", uncrowded("VERIFY_PER_IP"), show);
  pages.post("/:id/withdraw", acting("OPT_OUT_REQUEST_PER_IP", ask));
  pages.post("/:id/withdraw/confirm", acting("OPT_OUT_CONFIRM_PER_IP", confirm));
  pages.post("/:id/withdraw/link", acting("OPT_OUT_CONFIRM_PER_IP", followLink));
  pages.get("/:id/withdrawn", uncrowded("VERIFY_PER_IP"), done);
};
