// /app/history: every entry of the person's audit chain, of everybody or of one business.
import type { Hono } from "hono";
import type { Child, FC } from "hono/jsx";
import { parseBusinessId } from "../../../core/ids.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";
import type { AppEnv } from "../../http/context.ts";
import { getHistory, type History } from "../../operations/consumers/get-history.ts";
import { ButtonLink } from "../shared/form-fields.tsx";
import type { AppMessages } from "../i18n/app.ts";
import type { Page } from "../shared/layout.tsx";
import { VerbatimText, Timestamp } from "../shared/components.tsx";
import { appPage, RecordTable, useAppView, type AppView } from "./components.tsx";
import { renderAppPage, authenticatedPage, type AppRequest } from "./app-request.ts";

const describeHistoryEntry = (type: string, { facts, otherFact }: AppMessages): string =>
  Object.hasOwn(facts, type) ? facts[type as keyof AppMessages["facts"]] : otherFact;

/** An entry in a table, with the share it is about if it is about one; an entry without a number waits for its place in the chain. */
const toHistoryCells = (words: AppMessages, at: Instant, type: string, share: Share | undefined, seq: string | null): readonly Child[] => [
  describeHistoryEntry(type, words),
  share !== undefined && (
    <a href={`/app/shares/${share.id}`}>
      <VerbatimText text={share.business.name} />
    </a>
  ),
  <Timestamp at={at} />,
  seq ?? <span class="quiet">{words.historyWaiting}</span>,
];

interface HistoryPageData extends History {
  readonly isNewest: boolean;
  /** The business that entries are chosen by, as the address spells it; null: every entry. */
  readonly businessId: string | null;
}

/** Shown to whoever has something to choose from, or has chosen. */
const BusinessFilter: FC<{ shares: readonly Share[]; of: string | null }> = ({ shares, of }) => {
  const { messages, language } = useAppView();
  const names = new Map<string, string>(shares.map(({ business }) => [business.id, business.name]));
  if (names.size < 2 && of === null) return null;
  const sorted = [...names].sort(([, a], [, b]) => a.localeCompare(b, language));
  return (
    <search>
      <form method="get" action="/app/history" class="form">
        <label for="with">{messages.withWhom}</label>
        <select id="with" name="with">
          <option value="">{messages.historyAll}</option>
          {sorted.map(([id, name]) => (
            <option value={id} selected={id === of} dir="auto" translate="no">
              {name}
            </option>
          ))}
        </select>
        <div class="choices">
          <button type="submit">{messages.show}</button>
          {of !== null && <ButtonLink href="/app/history">{messages.clearFilter}</ButtonLink>}
        </div>
      </form>
    </search>
  );
};

const historyPage = (view: AppView, { trail, shares, isNewest, businessId }: HistoryPageData): Page => {
  const { messages } = view;
  const byId = new Map(shares.map((share) => [share.id as string, share]));
  const waiting = isNewest ? (trail?.pending ?? []) : [];
  const rows = [
    ...waiting.map(({ at, type, entityId }) => toHistoryCells(messages, at, type, byId.get(entityId), null)),
    ...(trail?.page?.entries ?? []).map(({ at, type, entity_id, seq }) =>
      toHistoryCells(messages, Date.parse(at), type, byId.get(entity_id), seq),
    ),
  ];
  const older = trail?.page?.nextBeforeSeq ?? null;
  const addressOf = (more: Readonly<Record<string, string>>): string => {
    const query = new URLSearchParams({ ...(businessId !== null && { with: businessId }), ...more });
    return query.size === 0 ? "/app/history" : `/app/history?${query}`;
  };
  const none = businessId === null ? messages.historyNone : older === null ? messages.historyNoMatch : messages.historyNoMatchYet;
  return appPage(
    view,
    { tab: "history", title: messages.tabs.history },
    <>
      <p>{messages.historyIntro}</p>
      {trail === null && <p role="status">{messages.historyAway}</p>}
      <BusinessFilter shares={shares} of={businessId} />
      {trail !== null && rows.length === 0 && <p>{none}</p>}
      {rows.length > 0 && <RecordTable headings={[messages.what, messages.withWhom, messages.when, messages.entry]} rows={rows} />}
      <p class="choices">
        {!isNewest && <ButtonLink href={addressOf({})}>{messages.newest}</ButtonLink>}
        {older !== null && <ButtonLink href={addressOf({ before: older })}>{messages.older}</ButtonLink>}
      </p>
    </>,
  );
};

const entriesPerPage = 50;

/** The entry that the page begins below; null for the newest, and for whatever is no number of an entry. */
const parseBeforeSeq = (text: string | undefined): number | null =>
  text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;

const renderHistory = async (visit: AppRequest): Promise<Response> => {
  const { c, services, session, view } = visit;
  const [before, of] = [c.req.query("before"), c.req.query("with")];
  if (of === "") return c.redirect("/app/history", 303); // everybody was chosen
  const beforeSeq = parseBeforeSeq(before);
  const chosen = of === undefined ? "everybody" : parseBusinessId(of);
  const found = await getHistory(services, session, { limit: entriesPerPage, beforeSeq, of: chosen });
  return renderAppPage(visit, 200, historyPage(view, { ...found, isNewest: beforeSeq === null, businessId: of ?? null }));
};

export const registerHistoryRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/history", authenticatedPage(renderHistory));
};
