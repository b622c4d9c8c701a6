// Certificates that name the person, whoever issued them, and withdrawing from there. The session's proven address finds them; what is
// told of each is no more than its public page tells. The state of a business's account is never asked: withdrawing is the person's.
import type { Person } from "../../../core/access/principal.ts";
import type { PublishedCertificate } from "../../../core/certificates/published.ts";
import { homeOfId, type BusinessId, type CertId, type Home } from "../../../core/ids.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import type { WithdrawableCertificate } from "../../../core/withdrawals/withdrawal.ts";
import type { Database } from "../../../storage/database.ts";
import { together, type Lookup } from "../../../storage/lookups.ts";
import {
  claimAccountWithdrawal,
  countActiveNaming,
  finishAccountWithdrawal,
  insertAccountWithdrawal,
  namingBusinesses,
  namingCertificates,
  nextToWithdraw,
  type AccountWithdrawal,
  type NamingBusiness,
  type NamingCertificate,
} from "../../../storage/person-certificates.ts";
import { addressIndexOf, personRecord } from "../../../storage/people.ts";
import { sharesOfPerson, type SharePage } from "../../../storage/shares.ts";
import { isWithdrawnAlready } from "../../../storage/withdrawals.ts";
import { failingAlone } from "../../log.ts";
import type { Memories, Proofs, Runtime, Schedules, Stores } from "../../services.ts";
import type { Keeping } from "../access/idempotency.ts";
import { claimed } from "../allowance.ts";
import { verifyCertificate } from "../certificates/verify.ts";
import {
  afterWithdrawal,
  commitWithdrawals,
  locateRecord,
  maxPerBatch,
  withdrawCertificate,
  type LocatedRecord,
  type Withdrawn,
} from "../withdrawals/withdraw.ts";
import { withdrawFromEntities } from "../withdrawals/withdraw-entities.ts";
import { inHomes, inOwnHome } from "./homes.ts";
import { oneList } from "./profile.ts";

type WithdrawServices = Runtime & Stores & Proofs & Schedules;

/** The blind index of the address that the person signs in with; null for a person who is gone. */
const addressOf = (services: Stores, { id }: Pick<Person, "id">): Lookup<string | null> =>
  personRecord(services.homes.of(id), id).map((record) => record?.emailIndex ?? null);

export interface NamingBusinesses {
  readonly businesses: readonly NamingBusiness[];
  readonly hasMore: boolean;
  /** A home did not answer: there may be others. */
  readonly isIncomplete: boolean;
}

const businessesAPage = 20;

const namingIn = (db: Database, address: Parameters<typeof namingBusinesses>[1], startingAfter: BusinessId | null) =>
  namingBusinesses(db, address, { after: startingAfter ?? "", limit: businessesAPage + 1 });

type FoundIn = readonly NamingBusiness[] | undefined;

/** Of homes besides those that have answered, as far as they do. */
const inHomesBesides = (
  services: Runtime & Stores,
  known: readonly Home[],
  address: string,
  startingAfter: BusinessId | null,
): Promise<readonly FoundIn[]> =>
  Promise.all(
    services.homes
      .all()
      .filter(([home]) => !known.includes(home))
      .map(([, db]) => failingAlone(services, "certificates of a person", async () => namingIn(db, address, startingAfter))),
  );

const onePage = (asked: readonly FoundIn[]): NamingBusinesses => {
  const found = asked.flatMap((ofHome) => ofHome ?? []).sort((a, b) => (a.id < b.id ? -1 : 1));
  return {
    businesses: found.slice(0, businessesAPage),
    hasMore: found.length > businessesAPage,
    isIncomplete: asked.includes(undefined),
  };
};

/** By id, from behind `startingAfter`. Refuses `unauthorized` for a person who is gone. */
export const businessesNaming = async (
  services: Runtime & Stores,
  person: Pick<Person, "id">,
  startingAfter: BusinessId | null,
): Promise<Result<NamingBusinesses, "unauthorized">> => {
  const { id } = person;
  const own = services.homes.of(id);
  const [address, here] = await together(own, [addressOf(services, person), namingIn(own, addressIndexOf(id), startingAfter)]);
  if (address === null) return refuse("unauthorized");
  return ok(onePage([here, ...(await inHomesBesides(services, [homeOfId(id)], address, startingAfter))]));
};

export interface Consents extends SharePage {
  readonly naming: NamingBusinesses;
}

/**
 * The first page has every share; those behind it only what is left of consents on forms. A home that may hold shares has to answer.
 * Refuses as `businessesNaming`.
 */
export const readConsents = async (
  services: Runtime & Stores,
  person: Pick<Person, "id">,
  startingAfter: BusinessId | null,
): Promise<Result<Consents, "unauthorized">> => {
  if (startingAfter !== null) {
    const naming = await businessesNaming(services, person, startingAfter);
    return naming.ok ? ok({ shares: [], hasMore: false, naming: naming.value }) : naming;
  }
  const { id } = person;
  const now = services.clock();
  const sharesIn = (db: Database) => sharesOfPerson(db, id, now);
  const { found, others } = await inOwnHome(services, id, (own) =>
    together(own, [addressOf(services, person), sharesIn(own), namingIn(own, addressIndexOf(id), null)]),
  );
  const [address, shares, naming] = found;
  if (address === null) return refuse("unauthorized");
  const [there, elsewhere] = await Promise.all([
    inHomes(services, others, (db) => together(db, [sharesIn(db), namingIn(db, address, null)])),
    inHomesBesides(services, [homeOfId(id), ...others], address, null),
  ]);
  return ok({
    ...oneList([shares, ...there.map(([ofHome]) => ofHome)]),
    naming: onePage([naming, ...there.map(([, ofHome]) => ofHome), ...elsewhere]),
  });
};

export interface NamingCertificates {
  readonly certificates: readonly NamingCertificate[];
  readonly hasMore: boolean;
}

const certificatesAPage = 50;

/** Of one business, the newest first; none where nothing of it names the person. Refuses `unauthorized` for a person who is gone. */
export const certificatesNaming = async (
  services: Stores,
  person: Pick<Person, "id">,
  businessId: BusinessId | null,
  startingAfter: CertId | null,
): Promise<Result<NamingCertificates, "unauthorized">> => {
  const address = await addressOf(services, person);
  if (address === null) return refuse("unauthorized");
  if (businessId === null) return ok({ certificates: [], hasMore: false });
  const within = { startingAfter, limit: certificatesAPage + 1 };
  const found = await namingCertificates(services.homes.of(businessId), address, businessId, within);
  return ok({ certificates: found.slice(0, certificatesAPage), hasMore: found.length > certificatesAPage });
};

/** How many of a business's name the person and are active; a thousand where there are more. */
export const activeNaming = async (services: Stores, person: Pick<Person, "id">, businessId: BusinessId): Promise<number> => {
  const address = await addressOf(services, person);
  return address === null ? 0 : countActiveNaming(services.homes.of(businessId), address, businessId);
};

/** A live certificate that names the person, as a withdrawal needs it. */
const ownRecord = async (
  services: Stores,
  person: Pick<Person, "id">,
  certId: CertId | null,
): Promise<Result<LocatedRecord, "unauthorized" | "cert_not_found">> => {
  const address = await addressOf(services, person);
  if (address === null) return refuse("unauthorized");
  const located = certId === null ? null : await locateRecord(services, certId);
  if (located?.record.emailIndex !== address || located.record.certificate.environment !== "live") return refuse("cert_not_found");
  return ok(located);
};

/** As its public page shows it. Refuses `cert_not_found` for one that does not name the person. */
export const ownCertificate = async (
  services: Runtime & Stores & Memories & Proofs,
  person: Pick<Person, "id">,
  certId: CertId | null,
): Promise<Result<PublishedCertificate, "unauthorized" | "cert_not_found">> => {
  const own = await ownRecord(services, person, certId);
  return own.ok ? verifyCertificate(services, own.value.record.certificate.id) : own;
};

/** The address was proven by a code when the person signed in. */
const byAccount = { method: "email_code", recorded: null, actor: { kind: "subject", provenBy: "account" } } as const;

/** One certificate; a mail confirms it. Refuses `cert_not_found` for one that does not name the person, `already_revoked`. */
export const withdrawOwn = async (
  services: WithdrawServices,
  person: Pick<Person, "id">,
  certId: CertId | null,
  language: MailLanguage,
  keep?: Keeping<Withdrawn>,
): Promise<Result<Withdrawn, "unauthorized" | "cert_not_found" | "already_revoked">> => {
  const own = await ownRecord(services, person, certId);
  if (!own.ok) return own;
  if (own.value.record.certificate.status !== "active") return refuse("already_revoked");
  return withdrawCertificate(services, own.value, { change: byAccount, scope: "certificate", address: null, language, more: keep });
};

/** Single recipients of one; a mail confirms it. Refuses as `withdrawOwn`, and `invalid_request` for a name that is no recipient. */
export const withdrawOwnEntities = async (
  services: WithdrawServices,
  person: Pick<Person, "id">,
  certId: CertId | null,
  { entities, language }: { readonly entities: readonly string[]; readonly language: MailLanguage },
): Promise<Result<{ readonly ceaseBy: Instant }, "unauthorized" | "cert_not_found" | "already_revoked" | "invalid_request">> => {
  const own = await ownRecord(services, person, certId);
  if (!own.ok) return own;
  return withdrawFromEntities(services, own.value, { change: byAccount, entities, language });
};

const maxBatches = 10;

/** Some batches of it: how many certificates, and whether that was all. */
const withdrawSome = async (
  services: WithdrawServices,
  db: Database,
  work: AccountWithdrawal,
): Promise<{ readonly withdrawn: number; readonly isDone: boolean }> => {
  let withdrawn = 0;
  for (let done = 0; done < maxBatches && (await services.goesOn()); done += 1) {
    const certificates: readonly WithdrawableCertificate[] = await nextToWithdraw(db, work, maxPerBatch);
    const [first] = certificates;
    if (first === undefined) {
      await finishAccountWithdrawal(db, work).run();
      return { withdrawn, isDone: true };
    }
    try {
      await commitWithdrawals(services, db, certificates, { change: byAccount, scope: "business", now: work.withdrawnAt }, {});
      afterWithdrawal(services, first);
      withdrawn += certificates.length;
    } catch (error) {
      if (!isWithdrawnAlready(error)) throw error; // one of them was withdrawn meanwhile: what is left is read again
    }
  }
  return { withdrawn, isDone: false };
};

export interface WithdrawnMany {
  readonly withdrawnAt: Instant;
  /** Before this answer. */
  readonly withdrawn: number;
  /** The rest follows by itself. */
  readonly isPending: boolean;
}

/**
 * Everything that stands at this moment, of one business or of all. Refuses `unauthorized` for a person who is gone, and
 * `cert_not_found` where nothing of that business names them. Throws where a home does not answer; asked again, it goes on.
 */
export const withdrawAll = async (
  services: WithdrawServices,
  person: Pick<Person, "id">,
  from: { readonly businessId: BusinessId | null } | "everybody",
): Promise<Result<WithdrawnMany, "unauthorized" | "cert_not_found">> => {
  const address = await addressOf(services, person);
  if (address === null) return refuse("unauthorized");
  const now = services.clock();
  const businessId = from === "everybody" ? null : from.businessId;
  const homes = businessId === null ? services.homes.all().map(([, db]) => db) : [services.homes.of(businessId)];
  if (from !== "everybody") {
    const one = { startingAfter: null, limit: 1 };
    const named = businessId === null ? [] : await namingCertificates(services.homes.of(businessId), address, businessId, one);
    if (named.length === 0) return refuse("cert_not_found");
  }
  const work: AccountWithdrawal = { addressIndex: address, businessId, withdrawnAt: now };
  const withdrawing = homes.map(async (db) => {
    await insertAccountWithdrawal(db, work).run();
    return withdrawSome(services, db, work);
  });
  await Promise.allSettled(withdrawing); // each goes on, whatever becomes of the others
  const answers = await Promise.all(withdrawing);
  return ok({
    withdrawnAt: now,
    withdrawn: answers.reduce((sum, one) => sum + one.withdrawn, 0),
    isPending: answers.some(({ isDone }) => !isDone),
  });
};

/** What is left of withdrawals in a home. */
export const continueAccountWithdrawals = async (services: WithdrawServices, db: Database): Promise<void> => {
  for await (const work of claimed(services, (now) => claimAccountWithdrawal(db, now)))
    await failingAlone(services, "account withdrawal", () => withdrawSome(services, db, work));
};
