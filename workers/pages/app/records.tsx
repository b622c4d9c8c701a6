// History: every entry of the person's audit chain. Account: who is signed in, and the way out.
import type { FC } from "hono/jsx";
import { deviceName } from "../../../core/access/device.ts";
import type { Passkey } from "../../../core/access/passkey.ts";
import type { Share } from "../../../core/shares/share.ts";
import { dayMs, type Instant } from "../../../core/time.ts";
import type { ListedSession } from "../../operations/access/sessions.ts";
import type { History } from "../../operations/consumers/history.ts";
import type { Security } from "../../operations/consumers/security.ts";
import type { AppWords } from "../shared/i18n/app.ts";
import type { Page } from "../shared/layout.tsx";
import { Exact, filled, Moment } from "../shared/parts.tsx";
import { Sections } from "./account-parts.tsx";
import { appPage, dayIn, PostForm, type AppView } from "./parts.tsx";

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

interface Shown extends History {
  readonly isNewest: boolean;
  /** The business that entries are chosen by, as the address spells it; null: every entry. */
  readonly of: string | null;
}

/** Shown to whoever has something to choose from, or has chosen. */
const Filter: FC<{ shares: readonly Share[]; of: string | null; view: AppView }> = ({ shares, of, view: { words, setting } }) => {
  const names = new Map<string, string>(shares.map(({ business }) => [business.id, business.name]));
  if (names.size < 2 && of === null) return null;
  const sorted = [...names].sort(([, a], [, b]) => a.localeCompare(b, setting.language));
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
          {of !== null && (
            <a class="button" href="/app/history">
              {words.clearFilter}
            </a>
          )}
        </div>
      </form>
    </search>
  );
};

export const historyPage = (view: AppView, { trail, shares, isNewest, of }: Shown): Page => {
  const { words } = view;
  const byId = new Map(shares.map((share) => [share.id as string, share]));
  const entries = trail?.page?.entries ?? [];
  const waiting = isNewest ? (trail?.pending ?? []) : [];
  const older = trail?.page?.nextBeforeSeq ?? null;
  const addressOf = (more: Readonly<Record<string, string>>): string => {
    const query = new URLSearchParams({ ...(of !== null && { with: of }), ...more });
    return query.size === 0 ? "/app/history" : `/app/history?${query}`;
  };
  const isEmpty = trail !== null && entries.length === 0 && waiting.length === 0;
  return appPage(
    view,
    "history",
    words.historyTitle,
    <>
      <h1>{words.historyTitle}</h1>
      <p>{words.historyIntro}</p>
      {trail === null && <p role="status">{words.historyAway}</p>}
      <Filter shares={shares} of={of} view={view} />
      {isEmpty && <p>{of === null ? words.historyNone : older === null ? words.historyNoMatch : words.historyNoMatchYet}</p>}
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
          <a class="button" href={addressOf({})}>
            {words.newest}
          </a>
        )}
        {older !== null && (
          <a class="button" href={addressOf({ before: older })}>
            {words.older}
          </a>
        )}
      </p>
    </>,
  );
};

/** A form of one button that says by its name what it is about. */
const OneButton: FC<{ view: AppView; action: string; id: string; text: string; label?: string }> = ({ view, action, id, text, label }) => (
  <PostForm view={view} action={action}>
    <input type="hidden" name="id" value={id} />
    <button type="submit" aria-label={label}>
      {text}
    </button>
  </PostForm>
);

const dayText = (day: number, { setting }: AppView): string => dayIn(setting.language, day * dayMs);

const Device: FC<{ session: ListedSession; view: AppView }> = ({ session: { id, device, seenDay, isCurrent }, view }) => {
  const { words } = view;
  const name = (device === null ? null : deviceName(device)) ?? words.unknownDevice;
  return (
    <li>
      <p>
        <Exact text={name} /> {isCurrent && <span class="quiet">({words.thisDevice})</span>}
      </p>
      {seenDay !== null && <p class="quiet">{filled(words.lastSeen, { date: dayText(seenDay, view) })}</p>}
      {!isCurrent && (
        <OneButton
          view={view}
          action="/app/account/devices/end"
          id={id}
          text={words.signOutThere}
          label={`${words.signOutThere}: ${name}`}
        />
      )}
    </li>
  );
};

const PasskeyLine: FC<{ passkey: Passkey; view: AppView }> = ({ passkey: { id, name, createdAt, usedDay }, view }) => {
  const { words, setting } = view;
  const made = dayIn(setting.language, createdAt);
  return (
    <li>
      <p>
        <Exact text={name} />
      </p>
      <p class="quiet">
        {usedDay === null ? filled(words.passkeyUnused, { made }) : filled(words.passkeyUsed, { made, date: dayText(usedDay, view) })}
      </p>
      <OneButton
        view={view}
        action="/app/account/passkeys/remove"
        id={id}
        text={words.remove}
        label={filled(words.removeNamed, { name })}
      />
    </li>
  );
};

export const accountPage = (view: AppView, { profile, sessions, passkeys }: Security): Page => {
  const { words, setting } = view;
  const page = appPage(
    view,
    "account",
    words.accountTitle,
    <>
      <h1>{words.accountTitle}</h1>
      <Sections view={view} section="security" />
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
      <section aria-labelledby="devices">
        <h2 id="devices">{words.devices}</h2>
        <ul class="lines">
          {sessions.map((session) => (
            <Device session={session} view={view} />
          ))}
        </ul>
        {sessions.length > 1 && (
          <PostForm view={view} action="/app/account/devices/end-others">
            <button type="submit">{words.signOutOthers}</button>
          </PostForm>
        )}
      </section>
      <section aria-labelledby="passkeys">
        <h2 id="passkeys">{words.passkeys}</h2>
        {passkeys.length === 0 ? (
          <p>{words.noPasskeys}</p>
        ) : (
          <ul class="lines">
            {passkeys.map((passkey) => (
              <PasskeyLine passkey={passkey} view={view} />
            ))}
          </ul>
        )}
        <div data-offers-passkey="" hidden>
          <PostForm view={view} action="/app/account/passkeys/add">
            <p class="quiet">{words.addPasskeyAdvice}</p>
            <button type="submit">{words.addPasskey}</button>
          </PostForm>
        </div>
      </section>
    </>,
  );
  return { ...page, script: "passkey.js" };
};
