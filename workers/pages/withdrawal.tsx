// Withdrawing in a browser, with or without scripts: plain forms, each answered by a redirect to a page that can be loaded
// again without doing anything twice. POST /c/{id}/withdraw asks for a code, GET shows the form for it, POST …/confirm
// answers it, POST …/link follows the link from the 201, GET /c/{id}/withdrawn says what is so afterwards.
import type { Context, Hono } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { addressKey } from "../../core/access/address.ts";
import { receiptUrlOf } from "../../core/certificates/views.ts";
import type { PublishedCertificate } from "../../core/certificates/published.ts";
import { certIdOf, type CertId } from "../../core/ids.ts";
import { isMailbox } from "../../core/mailbox.ts";
import { codePattern } from "../../core/access/mailed-code.ts";
import { limited } from "../http/guards.ts";
import type { Api } from "../http/context.ts";
import { openWithdrawalContext, withdrawalContext, withdrawalCookie } from "../http/withdrawal-context.ts";
import type { LimitName } from "../limits.ts";
import { verifyCertificate } from "../operations/certificates/verify.ts";
import { askedSeconds, openAsked, sealAsked } from "../operations/withdrawals/asked-address.ts";
import { othersByLink, withdrawByLink } from "../operations/withdrawals/by-link.ts";
import { confirmWithdrawal } from "../operations/withdrawals/confirm.ts";
import { requestWithdrawalCode } from "../operations/withdrawals/request-code.ts";
import { readForm } from "./form-body.ts";
import { chosenLanguage, pageLanguage } from "./language.ts";
import { pageAnswer } from "./layout.tsx";
import { isOwnForm } from "./own-form.ts";
import { crowdedFormPage, foreignFormPage, noSuchPage } from "./notices.tsx";
import {
  codePage,
  emailPage,
  inLanguage,
  linkScopePage,
  partlyWithdrawnPage,
  unlessErased,
  withdrawnPage,
  type LanguageChoice,
} from "./withdrawal-parts.tsx";

const choiceOf = (c: Context<Api>): LanguageChoice => chosenLanguage(c.req.query("lang"));

/** Holds the address that was typed, sealed. */
const askedCookie = "svc_asked";

const certificateOf = async (c: Context<Api>): Promise<PublishedCertificate | null> => {
  const certId = certIdOf(c.req.param("id") ?? "");
  const found = certId === null ? null : await verifyCertificate(c.var.services, certId);
  return found?.ok ? { ...found.value, ...unlessErased(found.value) } : null;
};

/** The address typed a moment ago for this certificate. */
const askedAddress = async (c: Context<Api>, certId: CertId): Promise<string | null> => {
  const sealed = getCookie(c, askedCookie, withdrawalCookie(c).prefix);
  return sealed === undefined ? null : openAsked(c.var.services, certId, sealed);
};

const crowded = async (c: Context<Api>, name: LimitName): Promise<Response | null> => {
  const refused = limited(c, name, await c.var.services.takeByAddress(name, addressKey(c.var.ip)));
  return refused === null ? null : crowdedFormPage(c, refused.headers.get("retry-after") ?? "60");
};

const to = (c: Context<Api>, path: string): Response => c.redirect(inLanguage(path, choiceOf(c)), 303);

/** A form that may be worked on, with its certificate; or the page that says why not. */
const posted = async (
  c: Context<Api>,
  limit: LimitName,
): Promise<{ readonly form: ReadonlyMap<string, string>; readonly certificate: PublishedCertificate } | Response> => {
  const refused = await crowded(c, limit);
  if (refused !== null) return refused;
  const form = await readForm(c.req.raw);
  if (form === null || !isOwnForm(c, c.var.services.config.verifyUrl)) return foreignFormPage(c);
  const certificate = await certificateOf(c);
  if (certificate === null) return noSuchPage(c);
  return certificate.subjectErasedAt === null ? { form, certificate } : to(c, `/c/${certificate.id}`);
};

/**
 * The recipients that were ticked: boxes bear their places on the certificate. Null where everything is to be withdrawn; undefined
 * where ticks and scope contradict each other, and nobody can tell what is meant.
 */
const chosenEntities = (form: ReadonlyMap<string, string>, { entities }: PublishedCertificate): readonly string[] | null | undefined => {
  const ticked = entities.filter((_, at) => form.has(`entity.${at}`));
  if (form.get("scope") === "recipients") return ticked.length > 0 ? ticked : undefined;
  return ticked.length > 0 ? undefined : null;
};

const ask = async (c: Context<Api>): Promise<Response> => {
  const sent = await posted(c, "OPT_OUT_REQUEST_PER_IP");
  if (sent instanceof Response) return sent;
  const { form, certificate } = sent;
  const email = (form.get("email") ?? "").trim();
  if (!isMailbox(email)) {
    return pageAnswer(c, 400, (setting) =>
      emailPage({ certificate, setting, choice: choiceOf(c), typed: email.slice(0, 320), error: setting.words.withdraw.badEmail }),
    );
  }
  const language = pageLanguage(c.req.query("lang"), c.req.header("accept-language"));
  const asked = await requestWithdrawalCode(c.var.services, { certId: certificate.id, email, context: openWithdrawalContext(c), language });
  if (!asked.ok) return noSuchPage(c);
  const sealed = await sealAsked(c.var.services, certificate.id, email);
  setCookie(c, askedCookie, sealed, { ...withdrawalCookie(c), maxAge: askedSeconds });
  return to(c, `/c/${certificate.id}/withdraw`);
};

/** The form for the code where an address was given, the form for the address where none was. */
const show = async (c: Context<Api>): Promise<Response> => {
  const refused = await crowded(c, "VERIFY_PER_IP");
  if (refused !== null) return refused;
  const certificate = await certificateOf(c);
  if (certificate === null) return noSuchPage(c);
  if (certificate.status === "revoked") return to(c, `/c/${certificate.id}/withdrawn`);
  if (certificate.subjectErasedAt !== null) return to(c, `/c/${certificate.id}`); // it says whom to turn to
  const email = await askedAddress(c, certificate.id);
  const choice = choiceOf(c);
  const answered = c.req.query("answer");
  return pageAnswer(c, 200, (setting) => {
    const { words } = setting;
    const error = answered === "link" ? words.withdraw.linkFailed : answered === "failed" ? words.withdraw.failed : undefined;
    return email === null || answered === "link"
      ? emailPage({ certificate, setting, choice, error })
      : codePage({ certificate, setting, choice, email, error });
  });
};

/** Back to the form with what went wrong; loading that page again spends no try. */
const failed = (c: Context<Api>, certId: CertId, answer: "failed" | "link"): Response => {
  const choice = choiceOf(c);
  return c.redirect(`/c/${certId}/withdraw?answer=${answer}${choice === null ? "" : `&lang=${choice}`}`, 303);
};

const confirm = async (c: Context<Api>): Promise<Response> => {
  const sent = await posted(c, "OPT_OUT_CONFIRM_PER_IP");
  if (sent instanceof Response) return sent;
  const { form, certificate } = sent;
  const email = await askedAddress(c, certificate.id);
  if (email === null) return failed(c, certificate.id, "failed");
  const code = (form.get("code") ?? "").replaceAll(/[\s-]/g, ""); // as people copy it
  if (!codePattern.test(code)) {
    const typed = (form.get("code") ?? "").slice(0, 20);
    return pageAnswer(c, 400, (setting) =>
      codePage({ certificate, setting, choice: choiceOf(c), email, typed, error: setting.words.withdraw.badCode }),
    );
  }
  const entities = chosenEntities(form, certificate);
  if (entities === undefined) {
    return pageAnswer(c, 400, (setting) =>
      codePage({
        certificate,
        setting,
        choice: choiceOf(c),
        email,
        typed: code,
        chosen: form,
        error: setting.words.withdraw.badRecipients,
      }),
    );
  }
  const confirmed = await confirmWithdrawal(c.var.services, {
    certId: certificate.id,
    email,
    code,
    context: withdrawalContext(c),
    scope: form.get("scope") === "business" ? "business" : "certificate",
    entities,
    origin: null, // judged above
  });
  if (!confirmed.ok && confirmed.code !== "already_revoked") return failed(c, certificate.id, "failed");
  deleteCookie(c, askedCookie, withdrawalCookie(c));
  return to(c, `/c/${certificate.id}/withdrawn`);
};

const followLink = async (c: Context<Api>): Promise<Response> => {
  const sent = await posted(c, "OPT_OUT_CONFIRM_PER_IP");
  if (sent instanceof Response) return sent;
  const { form, certificate } = sent;
  const token = form.get("token") ?? "";
  const entities = chosenEntities(new Map([...form, ["scope", "recipients"]]), certificate) ?? null; // no tick: from everybody
  // A link from a mail proves the address: then the person is told what else there is, and chooses.
  const others = entities === null && !form.has("scope") ? await othersByLink(c.var.services, certificate.id, token) : null;
  if (others !== null && others > 0 && certificate.status === "active")
    return pageAnswer(c, 200, (setting) => linkScopePage({ certificate, setting, choice: choiceOf(c), token, others }));
  const scope = form.get("scope") === "business" ? "business" : "certificate";
  const followed = await withdrawByLink(c.var.services, { certId: certificate.id, token, scope, entities, origin: null });
  if (!followed.ok && followed.code !== "already_revoked") return failed(c, certificate.id, "link");
  return to(c, `/c/${certificate.id}/withdrawn`);
};

const done = async (c: Context<Api>): Promise<Response> => {
  const refused = await crowded(c, "VERIFY_PER_IP");
  if (refused !== null) return refused;
  const certificate = await certificateOf(c);
  if (certificate === null) return noSuchPage(c);
  const { withdrawal } = certificate;
  const { baseUrl } = c.var.services.config;
  if (withdrawal === null && certificate.entitiesWithdrawn.length > 0) {
    return pageAnswer(c, 200, (setting) => partlyWithdrawnPage({ certificate, apiBase: baseUrl, setting, choice: choiceOf(c) }));
  }
  if (withdrawal === null) return to(c, `/c/${certificate.id}`);
  const receiptUrl = receiptUrlOf(baseUrl, certificate.id);
  return pageAnswer(c, 200, (setting) => withdrawnPage({ certificate, withdrawal, receiptUrl, setting, choice: choiceOf(c) }));
};

export const mountWithdrawalPages = (pages: Hono<Api>): void => {
  pages.get("/:id/withdraw", show);
  pages.post("/:id/withdraw", ask);
  pages.post("/:id/withdraw/confirm", confirm);
  pages.post("/:id/withdraw/link", followLink);
  pages.get("/:id/withdrawn", done);
};
