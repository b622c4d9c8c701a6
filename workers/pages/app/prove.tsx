// /app/prove/{what}: before what a session alone must not do, its person proves anew that it is them, by the same forms as signing in.
import type { Hono } from "hono";
import { isFresh } from "../../../core/access/session.ts";
import type { Api } from "../../http/context.ts";
import type { Page } from "../shared/layout.tsx";
import { askedAddress } from "../shared/mailed-sign-in.tsx";
import { Exact, Sentence } from "../shared/parts.tsx";
import { appWords } from "../shared/i18n/app.ts";
import { sheetWords } from "../shared/i18n/sheet.ts";
import { accountWordsOf } from "./account-parts.tsx";
import { appPage, type AppView } from "./parts.tsx";
import { codeStep } from "./sign-in-steps.tsx";
import { answer, reading, type Visit } from "./signed-in.ts";

/** What it is for: where it leads, and how old a proof may be there. */
const purposes = { delete: { path: "/app/delete", minutes: 5 }, passkey: { path: "/app/account", minutes: 10 } } as const;
export type ProofPurpose = keyof typeof purposes;

export const isProved = ({ session, view }: Visit, purpose: ProofPurpose): boolean => isFresh(session, view.now, purposes[purpose].minutes);

const provePage = (view: AppView, purpose: ProofPurpose): Page => {
  const { prove } = accountWordsOf(view);
  const { language } = view.setting;
  const next = `/app/prove/${purpose}`;
  return {
    ...appPage(
      view,
      "account",
      prove.title,
      <>
        <h1>{prove.title}</h1>
        <p>{prove.why}</p>
        <form method="post" action="/app/sign-in" class="form">
          <input type="hidden" name="next" value={next} />
          <input type="hidden" name="email" value={view.email} />
          <p>
            <Sentence text={prove.mailed} parts={{ address: <Exact text={view.email} /> }} />
          </p>
          <button type="submit" class="primary">
            {sheetWords[language].send}
          </button>
        </form>
        <form method="post" action="/app/passkey" class="form" data-offers-passkey="" hidden>
          <input type="hidden" name="next" value={next} />
          <button type="submit">{appWords[language].usePasskey}</button>
        </form>
        <p>
          <a href={purposes[purpose].path}>{prove.notNow}</a>
        </p>
      </>,
    ),
    script: "passkey.js",
  };
};

const isPurpose = (text: string | undefined): text is ProofPurpose => text !== undefined && Object.hasOwn(purposes, text);

const prove = async (visit: Visit): Promise<Response> => {
  const { c, view } = visit;
  const asked = c.req.param("purpose");
  const purpose = isPurpose(asked) ? asked : "passkey";
  if (isProved(visit, purpose)) return c.redirect(purposes[purpose].path, 303);
  const mailed = await askedAddress(c);
  if (mailed?.toLowerCase() !== view.email.toLowerCase()) return answer(visit, 200, provePage(view, purpose));
  const fault = c.req.query("answer") === "failed" ? { fault: sheetWords[view.setting.language].wrongCode } : {};
  return answer(visit, 200, codeStep(view.setting, { next: `/app/prove/${purpose}`, email: view.email, ...fault }));
};

export const mountProof = (pages: Hono<Api>): void => {
  pages.get("/prove/:purpose", reading(prove));
};
