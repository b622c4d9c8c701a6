// /app/prove/{what}: before what a session alone must not do, its person proves anew that it is them, by the same forms as signing in.
import type { Hono } from "hono";
import { isFresh } from "../../../core/access/session.ts";
import type { Api } from "../../http/context.ts";
import { Submit } from "../shared/forms.tsx";
import { sheetWords } from "../shared/i18n/sheet.ts";
import type { Page } from "../shared/layout.tsx";
import { askedAddress } from "../shared/mailed-sign-in.tsx";
import { Exact, Sentence } from "../shared/parts.tsx";
import { accountWordsOf, appPage, type AppView } from "./parts.tsx";
import { codeStep, Next, PasskeyOffer } from "./sign-in.tsx";
import { answer, reading, type Visit } from "./signed-in.ts";

/** What it is for: where it leads, and how old a proof may be there. */
const purposes = { delete: { path: "/app/delete", minutes: 5 }, passkey: { path: "/app/account", minutes: 10 } } as const;
type ProofPurpose = keyof typeof purposes;

export const isProved = ({ session, view }: Visit, purpose: ProofPurpose): boolean => isFresh(session, view.now, purposes[purpose].minutes);

const provePage = (view: AppView, purpose: ProofPurpose): Page => {
  const { prove } = accountWordsOf(view);
  const next = `/app/prove/${purpose}`;
  return appPage(
    view,
    { tab: "account", title: prove.title, script: "passkey.js" },
    <>
      <p>{prove.why}</p>
      <form method="post" action="/app/sign-in" class="form">
        <Next next={next} />
        <input type="hidden" name="email" value={view.email} />
        <p>
          <Sentence text={prove.mailed} parts={{ address: <Exact text={view.email} /> }} />
        </p>
        <Submit>{sheetWords[view.language].send}</Submit>
      </form>
      <PasskeyOffer next={next} />
      <p>
        <a href={purposes[purpose].path}>{view.words.notNow}</a>
      </p>
    </>,
  );
};

const isPurpose = (text: string | undefined): text is ProofPurpose => text !== undefined && Object.hasOwn(purposes, text);

const prove = async (visit: Visit): Promise<Response> => {
  const { c, view } = visit;
  const { email, language } = view;
  const asked = c.req.param("purpose");
  const purpose = isPurpose(asked) ? asked : "passkey";
  if (isProved(visit, purpose)) return c.redirect(purposes[purpose].path, 303);
  const mailed = await askedAddress(c);
  if (mailed?.toLowerCase() !== email.toLowerCase()) return answer(visit, 200, provePage(view, purpose));
  const fault = c.req.query("answer") === "failed" ? sheetWords[language].wrongCode : undefined;
  return answer(visit, 200, codeStep(language, { next: `/app/prove/${purpose}`, email, fault }));
};

export const mountProof = (pages: Hono<Api>): void => {
  pages.get("/prove/:purpose", reading(prove));
};
