// /app/history: every entry of the person's audit chain, of everybody or of one business.
import type { Hono } from "hono";
import type { Child, FC } from "hono/jsx";
import { businessIdOf } from "../../../core/ids.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";
import type { Api } from "../../http/context.ts";
import { readHistory, type History } from "../../operations/consumers/history.ts";
import { ButtonLink } from "../shared/forms.tsx";
import type { AppWords } from "../shared/i18n/app.ts";
import type { Page } from "../shared/layout.tsx";
import { Exact, Moment } from "../shared/parts.tsx";
import { appPage, Records, useView, type AppView } from "./parts.tsx";
import { answer, reading, type Visit } from "./signed-in.ts";

const whatHappened = (type: string, { facts, otherFact }: AppWords): string =>
  Object.hasOwn(facts, type) ? facts[type as keyof AppWords["facts"]] : otherFact;

/** An entry in a table, with the share it is about if it is about one; an entry without a number waits for its place in the chain. */
const cellsOf = (words: AppWords, at: Instant, type: string, share: Share | undefined, seq: string | null): readonly Child[] => [
  whatHappened(type, words),
  share !== undefined && (
    <a href={`/app/shares/${share.id}`}>
      <Exact text={share.business.name} />
    </a>
  ),
  <Moment at={at} />,
  seq ?? <span class="quiet">{words.historyWaiting}</span>,
];

interface Shown extends History {
  readonly isNewest: boolean;
  /** The business that entries are chosen by, as the address spells it; null: every entry. */
  readonly of: string | null;
}

/** Shown to whoever has something to choose from, or has chosen. */
const Filter: FC<{ shares: readonly Share[]; of: string | null }> = ({ shares, of }) => {
  const { words, language } = useView();
  const names = new Map<string, string>(shares.map(({ business }) => [business.id, business.name]));
  if (names.size < 2 && of === null) return null;
  const sorted = [...names].sort(([, a], [, b]) => a.localeCompare(b, language));
  return (
    <search>
      <form method="get" action="/app/history" class="form">
        <label for="with">{words.withWhom}</label>
        <select id="with" name="with">
          <option value="">{words.historyAll}</option>
          {sorted.map(([id, name]) => (
            <option value={id} selected={id === of} dir="auto" translate="no">
              {name}
            </option>
          ))}
        </select>
        <div class="choices">
          <button type="submit">{words.show}</button>
          {of !== null && <ButtonLink href="/app/history">{words.clearFilter}</ButtonLink>}
        </div>
      </form>
    </search>
  );
};

const historyPage = (view: AppView, { trail, shares, isNewest, of }: Shown): Page => {
  const { words } = view;
  const byId = new Map(shares.map((share) => [share.id as string, share]));
  const waiting = isNewest ? (trail?.pending ?? []) : [];
  const rows = [
    ...waiting.map(({ at, type, entityId }) => cellsOf(words, at, type, byId.get(entityId), null)),
    ...(trail?.page?.entries ?? []).map(({ at, type, entity_id, seq }) => cellsOf(words, Date.parse(at), type, byId.get(entity_id), seq)),
  ];
  const older = trail?.page?.nextBeforeSeq ?? null;
  const addressOf = (more: Readonly<Record<string, string>>): string => {
    const query = new URLSearchParams({ ...(of !== null && { with: of }), ...more });
    return query.size === 0 ? "/app/history" : `/app/history?${query}`;
  };
  const none = of === null ? words.historyNone : older === null ? words.historyNoMatch : words.historyNoMatchYet;
  return appPage(
    view,
    { tab: "history", title: words.tabs.history },
    <>
      <p>{words.historyIntro}</p>
      {trail === null && <p role="status">{words.historyAway}</p>}
      <Filter shares={shares} of={of} />
      {trail !== null && rows.length === 0 && <p>{none}</p>}
      {rows.length > 0 && <Records headings={[words.what, words.withWhom, words.when, words.entry]} rows={rows} />}
      <p class="choices">
        {!isNewest && <ButtonLink href={addressOf({})}>{words.newest}</ButtonLink>}
        {older !== null && <ButtonLink href={addressOf({ before: older })}>{words.older}</ButtonLink>}
      </p>
    </>,
  );
};

const entriesPerPage = 50;

/** The entry that the page begins below; null for the newest, and for whatever is no number of an entry. */
const beforeOf = (text: string | undefined): number | null => (text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null);

const history = async (visit: Visit): Promise<Response> => {
  const { c, services, session, view } = visit;
  const [before, of] = [c.req.query("before"), c.req.query("with")];
  if (of === "") return c.redirect("/app/history", 303); // everybody was chosen
  const beforeSeq = beforeOf(before);
  const chosen = of === undefined ? "everybody" : businessIdOf(of);
  const found = await readHistory(services, session, { limit: entriesPerPage, beforeSeq, of: chosen });
  return answer(visit, 200, historyPage(view, { ...found, isNewest: beforeSeq === null, of: of ?? null }));
};

export const mountHistory = (pages: Hono<Api>): void => {
  pages.get("/history", reading(history));
};
