// Test mode's own page: the clock that test records live by, events made to happen, and the way back.
import type { Hono } from "hono";
import { shareIdOf } from "../../../core/ids.ts";
import { dayMs } from "../../../core/time.ts";
import type { Api } from "../../http/context.ts";
import { advanceClock, readClock, type ActingTester } from "../../operations/sandbox/clock.ts";
import { resetSandbox } from "../../operations/sandbox/reset.ts";
import { triggeredTypes, triggerEvent, type Triggered } from "../../operations/sandbox/trigger.ts";
import { filled, Moment } from "../shared/parts.tsx";
import { Careful, Choice, Field, Link, number, PostForm, Properties, Section, Status, Submit, words, Wrong } from "./parts.tsx";
import { showPage } from "./page.tsx";
import { acting, faultOf, reading, readerOf, to, type Fault, type Posted, type Visit } from "./visit.ts";

const said = words.sandbox;

const show = async (visit: Visit, fault?: Fault, triggered?: Triggered): Promise<Response> => {
  const { now, offsetMs } = await readClock(visit.services, visit.member);
  const ahead = offsetMs === 0 ? said.with : filled(said.days, { count: number(Math.round((10 * offsetMs) / dayMs) / 10) });
  return showPage(visit, {
    tab: "sandbox",
    fault,
    content: (
      <>
        <p>{said.intro}</p>
        {triggered !== undefined && (
          <p role="status">
            <Status tone="good" text={said.made} />{" "}
            <Link to={`/portal/events/${triggered.event.seq}`} text={<code>{triggered.event.type}</code>} />{" "}
            <Link to={`/portal/shares/${triggered.share.id}`} text={said.share} />
          </p>
        )}
        <Section id="clock" title={said.clock}>
          <Properties
            lines={[
              [said.now, <Moment at={now} />],
              [said.ahead, ahead],
            ]}
          />
          <PostForm by="member" action="/portal/sandbox/clock">
            <p class="quiet">{said.moveText}</p>
            <Choice name="days" label={said.move} options={said.moves} />
            <button type="submit">{said.moveNow}</button>
          </PostForm>
        </Section>
        <Section id="trigger" title={said.trigger}>
          <PostForm by="member" action="/portal/sandbox/trigger">
            <p class="quiet">{said.triggerText}</p>
            <Wrong fields={["share_id"]} />
            <Choice name="type" label={said.type} options={Object.fromEntries(triggeredTypes.map((type) => [type, type]))} />
            <Field name="share_id" label={said.share} hint={said.shareHint} maxlength={60} />
            <Submit label={said.triggerNow} />
          </PostForm>
        </Section>
        <Section id="reset" title={said.reset}>
          <Careful
            by="member"
            action="/portal/sandbox/reset"
            label={said.resetNow}
            of={words.environments.sandbox}
            consequence={said.resetText}
          />
        </Section>
      </>
    ),
  });
};

const testerOf = (visit: Visit): ActingTester => ({ ...readerOf(visit), actor: { kind: "member", id: visit.member.userId } });

const move = async (visit: Posted): Promise<Response> => {
  const days = Object.keys(said.moves).find((one) => one === visit.form.get("days")) ?? "1";
  const moved = await advanceClock(visit.services, visit.member, { advanceSeconds: (Number(days) * dayMs) / 1_000 });
  return moved.ok ? to(visit, "/portal/sandbox", "moved") : show(visit, faultOf(moved));
};

const trigger = async (visit: Posted): Promise<Response> => {
  const { c, services, form } = visit;
  const given = (form.get("share_id") ?? "").trim();
  const shareId = shareIdOf(given);
  const type = triggeredTypes.find((one) => one === form.get("type"));
  const noShare: Fault = { code: "invalid_request", field: "share_id", text: said.badShare };
  if (type === undefined || (given !== "" && shareId === null)) return show(visit, noShare);
  const triggered = await triggerEvent(services, testerOf(visit), { type, shareId, fields: null }, c.var.requestId);
  if (triggered.ok) return show(visit, undefined, triggered.value);
  return show(visit, triggered.code === "not_found" ? noShare : faultOf(triggered));
};

const reset = async (visit: Posted): Promise<Response> => {
  const done = await resetSandbox(visit.services, testerOf(visit), visit.c.var.requestId);
  return done.ok ? to(visit, "/portal/sandbox", done.value.hasMore ? "resetSome" : "reset") : show(visit, faultOf(done));
};

/** Counted as by a key: each sweeps up to a thousand shares. */
const sweeping = { businessLimit: "SANDBOX_CLOCK" } as const;

export const mountSandbox = (pages: Hono<Api>): void => {
  pages.get("/sandbox", reading(show));
  pages.post("/sandbox/clock", acting(sweeping, move));
  pages.post("/sandbox/trigger", acting({}, trigger));
  pages.post("/sandbox/reset", acting(sweeping, reset));
};
