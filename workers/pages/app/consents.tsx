// "My consents": who may use a person's details, by business, what was done last first; one business; and ending all of it.
import type { FC } from "hono/jsx";
import { ceaseBy } from "../../../core/business-days.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";
import type { Page } from "../layout.tsx";
import { Exact, filled, Foreign, numberText } from "../parts.tsx";
import { appPage, dayIn, groupsText, Naming, PostForm, Standing, titleOf, type AppView } from "./parts.tsx";

/** When something was done last about a share. */
const lastAct = ({ status, createdAt, revokedAt, acknowledgedAt, expiresAt }: Share): Instant =>
  acknowledgedAt ?? revokedAt ?? (status === "expired" ? expiresAt : createdAt);

interface Group {
  readonly id: string;
  readonly name: string;
  readonly shares: readonly Share[];
}

const byBusiness = (shares: readonly Share[]): readonly Group[] => {
  const groups = Map.groupBy(
    shares.toSorted((a, b) => lastAct(b) - lastAct(a)),
    ({ business }) => business.id,
  );
  return [...groups].map(([id, own]) => ({ id, name: (own[0] as Share).business.name, shares: own }));
};

const ShareLine: FC<{ share: Share; view: AppView }> = ({ share, view }) => {
  const { words, setting } = view;
  const { language } = setting;
  const isActive = share.status === "active";
  const path = `/app/shares/${share.id}`;
  return (
    <li>
      <p>
        <Standing share={share} view={view} />
      </p>
      <p>
        <a href={path}>{filled(words.shareOf, { groups: groupsText(view, share.scope) })}</a>
      </p>
      <p>
        {words.forPurpose} <Foreign text={share.purpose} setting={setting} />
      </p>
      <p class="quiet">
        <Exact text={new URL(share.origin).host} />
        {isActive && <> · {filled(words.until, { date: dayIn(language, share.expiresAt) })}</>}
        {isActive && share.lastDeliveredAt != null && (
          <> · {filled(words.lastDelivered, { date: dayIn(language, share.lastDeliveredAt) })}</>
        )}
        {share.status === "expired" && <> · {filled(words.endedOn, { date: dayIn(language, share.expiresAt) })}</>}
        {share.status === "revoked" && <> · {words.notConfirmed}</>}
      </p>
      {isActive && (
        <p>
          <a class="button" href={`${path}/stop`} aria-label={filled(words.stopWith, { business: share.business.name })}>
            {words.stop}
          </a>
        </p>
      )}
    </li>
  );
};

const activeOf = (shares: readonly Share[]): readonly Share[] => shares.filter(({ status }) => status === "active");

const BusinessCard: FC<{ group: Group; view: AppView }> = ({ group: { id, name, shares }, view }) => (
  <section class="card" aria-labelledby={id}>
    <h2 id={id}>
      <a href={`/app/with/${id}`}>
        <Exact text={name} />
      </a>
    </h2>
    <ul class="lines">
      {shares.map((share) => (
        <ShareLine share={share} view={view} />
      ))}
    </ul>
    {activeOf(shares).length > 1 && (
      <p>
        <a href={`/app/with/${id}/stop`}>
          <Naming text={view.words.stopAllWith} name={name} />
        </a>
      </p>
    )}
  </section>
);

export interface Listed {
  readonly shares: readonly Share[];
  readonly hasMore: boolean;
  readonly isEnded: boolean;
}

export const consentsPage = (view: AppView, { shares, hasMore, isEnded }: Listed): Page => {
  const { words, setting } = view;
  const current = activeOf(shares);
  const ended = shares.filter(({ status }) => status !== "active");
  const shown = isEnded ? ended : current;
  const views = [
    { path: "/app", text: words.current, count: current.length, isOpen: !isEnded },
    { path: "/app?view=ended", text: words.ended, count: ended.length, isOpen: isEnded },
  ];
  const empty = shares.length === 0 ? words.none : isEnded ? words.noneEnded : words.noneCurrent;
  return appPage(
    view,
    "consents",
    words.tabs.consents,
    <>
      <h1>{words.name}</h1>
      <p>{words.intro}</p>
      <nav class="views" aria-label={words.viewsLabel}>
        <ul>
          {views.map(({ path, text, count, isOpen }) => (
            <li>
              <a href={path} aria-current={isOpen ? "true" : undefined}>
                {filled(text, { count: numberText(count, setting.language) })}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {shown.length === 0 && <p>{empty}</p>}
      {byBusiness(shown).map((group) => (
        <BusinessCard group={group} view={view} />
      ))}
      {hasMore && <p class="quiet">{words.onlyNewest}</p>}
    </>,
  );
};

/** All that is, and was, shared with one business. */
export const businessPage = (view: AppView, shares: readonly [Share, ...Share[]]): Page => {
  const { words } = view;
  const { id, name } = shares[0].business;
  return appPage(
    view,
    null,
    titleOf(words.withTitle, name),
    <>
      <h1>
        <Naming text={words.withTitle} name={name} />
      </h1>
      <ul class="lines">{byBusiness(shares).flatMap((group) => group.shares.map((share) => <ShareLine share={share} view={view} />))}</ul>
      {activeOf(shares).length > 0 && (
        <p>
          <a class="button" href={`/app/with/${id}/stop`}>
            <Naming text={words.stopAllWith} name={name} />
          </a>
        </p>
      )}
      <p>
        <a href="/app">{words.backToList}</a>
      </p>
    </>,
  );
};

/** What ends, and what follows, before it does. */
export const stopAllPage = (view: AppView, active: readonly [Share, ...Share[]]): Page => {
  const { words, setting } = view;
  const { id, name } = active[0].business;
  return appPage(
    view,
    null,
    titleOf(words.stopAllTitle, name),
    <>
      <h1>
        <Naming text={words.stopAllTitle} name={name} />
      </h1>
      <p>{words.stopAllIntro}</p>
      <ul class="names">
        {active.map((share) => (
          <li>
            {filled(words.shareOf, { groups: groupsText(view, share.scope) })}. {words.forPurpose}{" "}
            <Foreign text={share.purpose} setting={setting} />
          </li>
        ))}
      </ul>
      <ul class="names">
        <li>{words.stopNothingMore}</li>
        <li>{filled(words.stopDeadline, { date: dayIn(setting.language, ceaseBy(view.now)) })}</li>
        <li>{words.stopKeeps}</li>
        <li>{words.stopProof}</li>
      </ul>
      <PostForm view={view} action={`/app/with/${id}/stop`}>
        <div class="choices">
          <a class="button" href={`/app/with/${id}`}>
            {words.keepAll}
          </a>
          <button type="submit" class="primary">
            {active.length === 1 ? words.stopAllOne : filled(words.stopAll, { count: numberText(active.length, setting.language) })}
          </button>
        </div>
      </PostForm>
    </>,
  );
};
