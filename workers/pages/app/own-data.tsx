// /app/export and /app/delete: taking everything along, and leaving nothing behind.
import type { Context, Hono } from "hono";
import type { AgentToken } from "../../../core/agents/token.ts";
import { ceaseBy } from "../../../core/business-days.ts";
import { isoOf } from "../../../core/time.ts";
import type { Api } from "../../http/context.ts";
import { forgetSession } from "../../http/session-guards.ts";
import { listTokens } from "../../operations/agents/tokens.ts";
import { deleteAccount } from "../../operations/consumers/erase-account.ts";
import { exportAccount, type AccountExport } from "../../operations/consumers/export.ts";
import { readProfile } from "../../operations/consumers/profile.ts";
import type { Services } from "../../services.ts";
import { ButtonLink, Choices, Submit, TextField } from "../shared/forms.tsx";
import { accountWords } from "../shared/i18n/account.ts";
import { pageAnswer, type Page } from "../shared/layout.tsx";
import { noticePage, outagePage } from "../shared/notices.tsx";
import { dayIn, filled, numberText, Points } from "../shared/parts.tsx";
import { accountWordsOf, appPage, PostForm, type AppView } from "./parts.tsx";
import { isProved } from "./prove.tsx";
import { acting, answer, counted, reading, refused, type Posted, type Visit } from "./signed-in.ts";

/** The file, as the API answers it too. */
export type ExportFile = (account: AccountExport, tokens: readonly AgentToken[], services: Services) => object;

const exportPage = (view: AppView): Page => {
  const { export: words } = accountWordsOf(view);
  return appPage(
    view,
    { tab: "account", section: "export", title: words.title },
    <>
      <p>{words.intro}</p>
      <Points of={words.holds} />
      <PostForm action="/app/export">
        <p class="quiet">{words.format}</p>
        <Submit>{words.title}</Submit>
      </PostForm>
    </>,
  );
};

const download =
  (exportFile: ExportFile) =>
  async (visit: Posted): Promise<Response> => {
    const { c, services, person, session } = visit;
    const crowded = await counted(visit, "EXPORTS");
    if (crowded !== null) return crowded;
    const [exported, tokens] = await Promise.all([exportAccount(services, person), listTokens(services, session)]);
    if (!exported.ok) return exported.code === "storage_unavailable" ? outagePage(c) : c.redirect("/app", 303);
    c.header("Content-Disposition", `attachment; filename="svc-export-${isoOf(exported.value.at).slice(0, 10)}.json"`);
    return c.json(exportFile(exported.value, tokens, services), 200);
  };

interface Ending {
  readonly activeShares: number;
  readonly isProved: boolean;
  readonly typed?: string;
  readonly fault?: string;
}

const deletePage = (view: AppView, { activeShares, isProved: mayDelete, typed, fault }: Ending): Page => {
  const { deletion: words } = accountWordsOf(view);
  const stopped = activeShares === 0 ? words.endsNone : activeShares === 1 ? words.endsOne : words.endsMany;
  const ends = { count: numberText(activeShares, view.language), date: dayIn(view.language, ceaseBy(view.now)) };
  return appPage(
    view,
    { tab: "account", section: "delete", title: words.title, isFaulty: fault !== undefined },
    <>
      <h2>{words.ends}</h2>
      <Points of={[filled(stopped, ends), words.signedOut]} />
      <h2>{words.erased}</h2>
      <p>{words.erasedList}</p>
      <h2>{words.stays}</h2>
      <ul class="names">
        <li>
          {words.staysCertificates} <a href="/app">{view.words.backToList}</a>
        </li>
        <li>{words.staysHashes}</li>
      </ul>
      {mayDelete ? (
        <PostForm action="/app/delete">
          <TextField
            id="confirm"
            label={filled(words.type, { word: words.word })}
            fault={fault}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            maxlength={40}
            required
            value={typed}
          />
          <Choices back="/app/account" keep={words.keep} go={words.title} />
        </PostForm>
      ) : (
        <>
          <p>{words.proveFirst}</p>
          <p class="choices">
            <ButtonLink href="/app/account">{words.keep}</ButtonLink>
            <ButtonLink href="/app/prove/delete">{words.goOn}</ButtonLink>
          </p>
        </>
      )}
    </>,
  );
};

const ending = async (visit: Visit): Promise<Ending> => {
  const profile = await readProfile(visit.services, visit.person);
  return { activeShares: profile.ok ? profile.value.activeShares : 0, isProved: isProved(visit, "delete") };
};

const ask = async (visit: Visit): Promise<Response> => answer(visit, 200, deletePage(visit.view, await ending(visit)));

/** The word of any of our languages: the page may have been opened in another one. */
const words: ReadonlySet<string> = new Set(Object.values(accountWords).map(({ deletion }) => deletion.word));

const end = async (visit: Posted): Promise<Response> => {
  const { c, services, person, form, view } = visit;
  if (!isProved(visit, "delete")) return c.redirect("/app/prove/delete", 303);
  const typed = form.get("confirm") ?? "";
  if (!words.has(typed.trim().toLowerCase())) {
    const { badWord, word } = accountWordsOf(view).deletion;
    const again = { ...(await ending(visit)), typed: typed.slice(0, 40), fault: filled(badWord, { word }) };
    return refused(visit, "invalid_request", deletePage(view, again));
  }
  await deleteAccount(services, person, view.language); // one that is gone already is gone
  forgetSession(c);
  return c.redirect("/app/deleted", 303);
};

/** For anybody: nobody is signed in any more. */
const deleted = (c: Context<Api>): Promise<Response> =>
  pageAnswer(c, 200, ({ language }) => {
    const { deletion } = accountWords[language];
    return noticePage(
      deletion.done,
      deletion.doneText,
      <p>
        <a href="/">{deletion.toFront}</a>
      </p>,
    );
  });

export const mountOwnData = (pages: Hono<Api>, exportFile: ExportFile): void => {
  pages.get(
    "/export",
    reading((visit) => answer(visit, 200, exportPage(visit.view))),
  );
  pages.post("/export", acting(download(exportFile)));
  pages.get("/delete", reading(ask));
  pages.post("/delete", acting(end));
  pages.get("/deleted", deleted);
};
