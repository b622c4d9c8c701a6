// "My consents": who may use a person's details, by business, what was done last first; one business; and ending all of it.
import type { FC } from "hono/jsx";
import { ceaseBy } from "../../../core/business-days.ts";
import type { BusinessId } from "../../../core/ids.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";
import type { NamingBusinesses, NamingCertificates } from "../../operations/consumers/certificates.ts";
import { ownCertificateWords } from "../shared/i18n/own-certificates.ts";
import type { Page } from "../shared/layout.tsx";
import { Exact, filled, Foreign, numberText } from "../shared/parts.tsx";
import { CertificateList, CertificatesLine, MoreBusinesses } from "./certificates.tsx";
import { appPage, dayIn, groupsText, Naming, PostForm, Standing, titleOf, type AppView } from "./parts.tsx";

/** When something was done last about a share. */
const lastAct = ({ status, createdAt, revokedAt, acknowledgedAt, expiresAt }: Share): Instant =>
  acknowledgedAt ?? revokedAt ?? (status === "expired" ? expiresAt : createdAt);

type NamingBusiness = NamingBusinesses["businesses"][number];

interface Group {
  readonly id: string;
  readonly name: string;
  readonly lastAt: Instant;
  readonly shares: readonly Share[];
  /** Consents given on forms; null where none is of the kind that is listed. */
  readonly naming: NamingBusiness | null;
}

/** What was done last first, of shares and of consents on forms. */
const byBusiness = (shares: readonly Share[], namings: readonly NamingBusiness[]): readonly Group[] => {
  const own = Map.groupBy(
    shares.toSorted((a, b) => lastAct(b) - lastAct(a)),
    ({ business }) => business.id,
  );
  const named = new Map(namings.map((naming) => [naming.id, naming]));
  return [...new Set([...own.keys(), ...named.keys()])]
    .map((id) => {
      const [of = [], naming = null] = [own.get(id), named.get(id)];
      const [first] = of;
      const name = first?.business.name ?? naming?.name ?? "";
      return { id, name, shares: of, naming, lastAt: Math.max(first === undefined ? 0 : lastAct(first), naming?.lastIssuedAt ?? 0) };
    })
    .sort((a, b) => b.lastAt - a.lastAt);
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

const BusinessCard: FC<{ group: Group; isEnded: boolean; view: AppView }> = ({ group: { id, name, shares, naming }, isEnded, view }) => (
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
      {naming !== null && <CertificatesLine naming={naming} isEnded={isEnded} view={view} />}
    </ul>
    {!isEnded && shares.length + (naming?.active ?? 0) > 1 && (
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
  readonly naming: NamingBusinesses;
  readonly isEnded: boolean;
}

export const consentsPage = (view: AppView, { shares, hasMore, naming, isEnded }: Listed): Page => {
  const { words, setting } = view;
  const current = activeOf(shares);
  const ended = shares.filter(({ status }) => status !== "active");
  const { businesses } = naming;
  const ofView = ({ active, certificates }: NamingBusiness): number => (isEnded ? certificates - active : active);
  const groups = byBusiness(
    isEnded ? ended : current,
    businesses.filter((one) => ofView(one) > 0),
  );
  const active = businesses.reduce((sum, one) => sum + one.active, 0);
  const withdrawn = businesses.reduce((sum, one) => sum + one.certificates - one.active, 0);
  const views = [
    { path: "/app", text: words.current, count: current.length + active, isOpen: !isEnded },
    { path: "/app?view=ended", text: words.ended, count: ended.length + withdrawn, isOpen: isEnded },
  ];
  const empty = shares.length + businesses.length === 0 ? words.none : isEnded ? words.noneEnded : words.noneCurrent;
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
      {groups.length === 0 && <p>{empty}</p>}
      {groups.map((group) => (
        <BusinessCard group={group} isEnded={isEnded} view={view} />
      ))}
      <MoreBusinesses naming={naming} isEnded={isEnded} view={view} />
      {hasMore && <p class="quiet">{words.onlyNewest}</p>}
    </>,
  );
};

/** One business, and all that it holds: never nothing. */
export interface With {
  readonly id: BusinessId;
  readonly name: string;
  readonly shares: readonly Share[];
  readonly naming: NamingCertificates;
  /** How many consents on forms are active. */
  readonly active: number;
}

/** All that is, and was, agreed to with one business. */
export const businessPage = (view: AppView, { id, name, shares, naming, active }: With): Page => {
  const { words } = view;
  return appPage(
    view,
    null,
    titleOf(words.withTitle, name),
    <>
      <h1>
        <Naming text={words.withTitle} name={name} />
      </h1>
      {shares.length > 0 && (
        <ul class="lines">
          {shares
            .toSorted((a, b) => lastAct(b) - lastAct(a))
            .map((share) => (
              <ShareLine share={share} view={view} />
            ))}
        </ul>
      )}
      {naming.certificates.length > 0 && <CertificateList of={naming} businessId={id} view={view} />}
      {activeOf(shares).length + active > 0 && (
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
export const stopAllPage = (view: AppView, { id, name, shares, active }: With): Page => {
  const { words, setting } = view;
  const current = activeOf(shares);
  const count = current.length + active;
  const { stopsConsent, stopsConsents } = ownCertificateWords[setting.language];
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
        {current.map((share) => (
          <li>
            {filled(words.shareOf, { groups: groupsText(view, share.scope) })}. {words.forPurpose}{" "}
            <Foreign text={share.purpose} setting={setting} />
          </li>
        ))}
        {active > 0 && <li>{active === 1 ? stopsConsent : filled(stopsConsents, { count: numberText(active, setting.language) })}</li>}
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
            {count === 1 ? words.stopAllOne : filled(words.stopAll, { count: numberText(count, setting.language) })}
          </button>
        </div>
      </PostForm>
    </>,
  );
};
