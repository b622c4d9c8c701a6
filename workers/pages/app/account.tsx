// /app/account: where somebody is signed in, with what, and the way out.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { deviceName } from "../../../core/access/device.ts";
import type { Passkey } from "../../../core/access/passkey.ts";
import { passkeyIdOf, sessionIdOf } from "../../../core/ids.ts";
import { dayMs } from "../../../core/time.ts";
import type { Api } from "../../http/context.ts";
import { relyingParty } from "../../http/guards.ts";
import { madeIn } from "../../http/passkey-credentials.ts";
import { leaveSession } from "../../http/session-guards.ts";
import { addPasskey, askForPasskey, removePasskey } from "../../operations/access/passkeys.ts";
import { endOtherSessions, endSession, type ListedSession } from "../../operations/access/sessions.ts";
import { readSecurity, type Security } from "../../operations/consumers/security.ts";
import type { Page } from "../shared/layout.tsx";
import { dayIn, Exact, filled, Moment, Row } from "../shared/parts.tsx";
import { DeviceAsked } from "../shared/passkey-sign-in.tsx";
import { appPage, Lines, OneButton, PostForm, useView, type AppView, type Flash } from "./parts.tsx";
import { isProved } from "./prove.tsx";
import { acting, answer, flash, formOf, reading, type Posted, type Visit } from "./signed-in.ts";

const Device: FC<{ session: ListedSession }> = ({ session: { id, device, seenDay, isCurrent } }) => {
  const { words, language } = useView();
  const name = (device === null ? null : deviceName(device)) ?? words.unknownDevice;
  return (
    <li>
      <p>
        <Exact text={name} /> {isCurrent && <span class="quiet">({words.thisDevice})</span>}
      </p>
      {seenDay !== null && <p class="quiet">{filled(words.lastSeen, { date: dayIn(language, seenDay * dayMs) })}</p>}
      {!isCurrent && (
        <OneButton action="/app/account/devices/end" id={id} text={words.signOutThere} label={`${words.signOutThere}: ${name}`} />
      )}
    </li>
  );
};

const PasskeyLine: FC<{ passkey: Passkey }> = ({ passkey: { id, name, createdAt, usedDay } }) => {
  const { words, language } = useView();
  const made = dayIn(language, createdAt);
  const date = usedDay === null ? "" : dayIn(language, usedDay * dayMs);
  return (
    <li>
      <p>
        <Exact text={name} />
      </p>
      <p class="quiet">{filled(usedDay === null ? words.passkeyUnused : words.passkeyUsed, { made, date })}</p>
      <OneButton action="/app/account/passkeys/remove" id={id} text={words.remove} label={filled(words.removeNamed, { name })} />
    </li>
  );
};

const accountPage = (view: AppView, { profile, sessions, passkeys }: Security): Page => {
  const { words } = view;
  return appPage(
    view,
    { tab: "account", section: "security", title: words.tabs.account, script: "passkey.js" },
    <>
      <dl>
        <Row name={words.address}>
          <Exact text={profile.email} />
        </Row>
        <Row name={words.since}>
          <Moment at={profile.createdAt} />
        </Row>
      </dl>
      <PostForm action="/app/sign-out">
        <p class="quiet">{words.signOutAdvice}</p>
        <button type="submit">{words.signOutHere}</button>
      </PostForm>
      <section aria-labelledby="devices">
        <h2 id="devices">{words.devices}</h2>
        <ul class="lines">
          {sessions.map((session) => (
            <Device session={session} />
          ))}
        </ul>
        {sessions.length > 1 && (
          <PostForm action="/app/account/devices/end-others">
            <button type="submit">{words.signOutOthers}</button>
          </PostForm>
        )}
      </section>
      <section aria-labelledby="passkeys">
        <h2 id="passkeys">{words.passkeys}</h2>
        <Lines of={passkeys.map((passkey) => <PasskeyLine passkey={passkey} />)} none={words.noPasskeys} />
        <div data-offers-passkey="" hidden>
          <PostForm action="/app/account/passkeys/add">
            <p class="quiet">{words.addPasskeyAdvice}</p>
            <button type="submit">{words.addPasskey}</button>
          </PostForm>
        </div>
      </section>
    </>,
  );
};

const newPasskeyPage = (view: AppView, options: object): Page => {
  const { words } = view;
  return appPage(
    view,
    { tab: "account", title: words.addPasskey, heading: words.passkeyWaiting, script: "passkey.js" },
    <>
      <p>{words.passkeyWaitingAdvice}</p>
      <PostForm action="/app/account/passkeys">
        <DeviceAsked how="create" options={options} label={words.addPasskey} />
      </PostForm>
      <p>
        <a href="/app/account">{words.notNow}</a>
      </p>
    </>,
  );
};

const account = async (visit: Visit): Promise<Response> => {
  const { services, session, view, c } = visit;
  const found = await readSecurity(services, session);
  return found.ok ? answer(visit, 200, accountPage(view, found.value)) : c.redirect("/app", 303);
};

const done = async (visit: Posted, key: Flash["key"] | null): Promise<Response> => {
  if (key !== null) await flash(visit, { key });
  return visit.c.redirect("/app/account", 303);
};

/** Somebody else's, or one that has ended already, changes nothing; the page says what there is. */
const endDevice = async (visit: Posted): Promise<Response> => {
  const id = sessionIdOf(visit.form.get("id") ?? "");
  const ended = id === null ? null : await endSession(visit.services, visit.session, id);
  return done(visit, ended?.ok ? "deviceEnded" : null);
};

const endOtherDevices = async (visit: Posted): Promise<Response> => {
  const ended = await endOtherSessions(visit.services, visit.session);
  return done(visit, ended > 0 ? "othersEnded" : null);
};

const dropPasskey = async (visit: Posted): Promise<Response> => {
  const id = passkeyIdOf(visit.form.get("id") ?? "");
  const removed = id === null ? null : await removePasskey(visit.services, visit.session, id);
  return done(visit, removed?.ok ? "passkeyRemoved" : null);
};

/** A session alone is not enough: whoever stole one would let themselves in for good. */
const whileFresh =
  (then: (visit: Posted) => Promise<Response>) =>
  async (visit: Posted): Promise<Response> =>
    isProved(visit, "passkey") ? then(visit) : visit.c.redirect("/app/prove/passkey", 303);

const askForNewPasskey = async (visit: Posted): Promise<Response> => {
  const options = await askForPasskey(visit.services, visit.session, relyingParty(visit.c));
  return options.ok ? answer(visit, 200, newPasskeyPage(visit.view, options.value)) : done(visit, "passkeyLimit");
};

const keepPasskey = async (visit: Posted): Promise<Response> => {
  const { c, services, session, form, view } = visit;
  const made = madeIn(form.get("credential") ?? "");
  if (made === null) return done(visit, "passkeyNotAdded");
  const request = { made, name: null, userAgent: c.req.header("user-agent"), language: view.language };
  const added = await addPasskey(services, session, relyingParty(c), request);
  return done(visit, added.ok ? "passkeyAdded" : added.code === "passkey_limit" ? "passkeyLimit" : "passkeyNotAdded");
};

const leave = async ({ c }: Posted): Promise<Response> => {
  await leaveSession(c);
  return c.redirect("/app", 303);
};

export const mountAccount = (pages: Hono<Api>): void => {
  pages.get("/account", reading(account));
  pages.post("/account/devices/end", acting(endDevice));
  pages.post("/account/devices/end-others", acting(endOtherDevices));
  pages.post("/account/passkeys/remove", acting(dropPasskey));
  pages.get("/account/passkeys/add", formOf("/app/account"));
  pages.post("/account/passkeys/add", acting(whileFresh(askForNewPasskey)));
  pages.post("/account/passkeys", acting(whileFresh(keepPasskey)));
  pages.post("/sign-out", acting(leave));
};
