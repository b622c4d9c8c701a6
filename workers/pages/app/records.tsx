// History: every entry of the person's audit chain. Account: who is signed in, and the way out.
import type { FC } from "hono/jsx";
import type { AuditTrail } from "../../../core/audit/trail.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";
import type { Profile } from "../../operations/consumers/profile.ts";
import type { AppWords } from "../i18n/app.ts";
import type { Page } from "../layout.tsx";
import { Exact, Moment } from "../parts.tsx";
import { appPage, PostForm, type AppView } from "./parts.tsx";

const whatHappened = (type: string, { facts, otherFact }: AppWords): string =>
  Object.hasOwn(facts, type) ? facts[type as keyof AppWords["facts"]] : otherFact;

const Entry: FC<{
  at: Instant;
  type: string;
  entityId: string;
  seq: string | null;
  shares: ReadonlyMap<string, Share>;
  view: AppView;
}> = ({ at, type, entityId, seq, shares, view: { words, setting } }) => {
  const share = shares.get(entityId);
  return (
    <tr>
      <th scope="row">{whatHappened(type, words)}</th>
      <td data-label={words.withWhom}>
        {share !== undefined && (
          <a href={`/app/shares/${share.id}`}>
            <Exact text={share.business.name} />
          </a>
        )}
      </td>
      <td data-label={words.when}>
        <Moment at={at} setting={setting} />
      </td>
      <td data-label={words.entry}>{seq ?? <span class="quiet">{words.historyWaiting}</span>}</td>
    </tr>
  );
};

export interface History {
  /** Null while the log does not answer. */
  readonly trail: AuditTrail | null;
  readonly shares: readonly Share[];
  readonly isNewest: boolean;
}

export const historyPage = (view: AppView, { trail, shares, isNewest }: History): Page => {
  const { words } = view;
  const byId = new Map(shares.map((share) => [share.id as string, share]));
  const entries = trail?.page?.entries ?? [];
  const waiting = isNewest ? (trail?.pending ?? []) : [];
  const older = trail?.page?.nextBeforeSeq ?? null;
  const isEmpty = trail !== null && entries.length === 0 && waiting.length === 0;
  return appPage(
    view,
    "history",
    words.historyTitle,
    <>
      <h1>{words.historyTitle}</h1>
      <p>{words.historyIntro}</p>
      {trail === null && <p role="status">{words.historyAway}</p>}
      {isEmpty && <p>{words.historyNone}</p>}
      {(entries.length > 0 || waiting.length > 0) && (
        <table class="records">
          <thead>
            <tr>
              {[words.what, words.withWhom, words.when, words.entry].map((heading) => (
                <th scope="col">{heading}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {waiting.map(({ at, type, entityId }) => (
              <Entry at={at} type={type} entityId={entityId} seq={null} shares={byId} view={view} />
            ))}
            {entries.map(({ at, type, entity_id: entityId, seq }) => (
              <Entry at={Date.parse(at)} type={type} entityId={entityId} seq={seq} shares={byId} view={view} />
            ))}
          </tbody>
        </table>
      )}
      <p class="choices">
        {!isNewest && (
          <a class="button" href="/app/history">
            {words.newest}
          </a>
        )}
        {older !== null && (
          <a class="button" href={`/app/history?before=${older}`}>
            {words.older}
          </a>
        )}
      </p>
    </>,
  );
};

export const accountPage = (view: AppView, profile: Profile): Page => {
  const { words, setting } = view;
  return appPage(
    view,
    "account",
    words.accountTitle,
    <>
      <h1>{words.accountTitle}</h1>
      <dl>
        <div>
          <dt>{words.address}</dt>
          <dd>
            <Exact text={profile.email} />
          </dd>
        </div>
        <div>
          <dt>{words.since}</dt>
          <dd>
            <Moment at={profile.createdAt} setting={setting} />
          </dd>
        </div>
      </dl>
      <PostForm view={view} action="/app/sign-out">
        <p class="quiet">{words.signOutAdvice}</p>
        <button type="submit">{words.signOutHere}</button>
      </PostForm>
    </>,
  );
};
