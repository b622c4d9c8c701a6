// Test mode's own page: the clock that test records live by, events made to happen, and the way back.
import type { Hono } from "hono";
import { shareIdOf } from "../../../core/ids.ts";
import { dayMs } from "../../../core/time.ts";
import type { Api } from "../../http/context.ts";
import { advanceClock, readClock, type ActingTester, type ClockReading } from "../../operations/sandbox/clock.ts";
import { resetSandbox } from "../../operations/sandbox/reset.ts";
import { triggeredTypes, triggerEvent, type Triggered } from "../../operations/sandbox/trigger.ts";
import type { Page } from "../shared/layout.tsx";
import { filled, Moment, numberText } from "../shared/parts.tsx";
import { Allowed, Careful, Choice, Field, portalPage, PostForm, Status, Wrong, type PortalView } from "./parts.tsx";
import { acting, answer, crowded, faultOf, reading, readerOf, to, type Fault, type Posted, type Visit } from "./visit.ts";

interface More {
  readonly fault?: Fault;
  readonly typed?: ReadonlyMap<string, string>;
  readonly triggered?: Triggered;
}

const page = (view: PortalView, clock: ClockReading, { fault, typed, triggered }: More = {}): Page => {
  const { words, setting } = view;
  const { sandbox: said } = words;
  return portalPage(view, {
    tab: "sandbox",
    title: words.tabs.sandbox,
    fault,
    content: (
      <>
        <p>{said.intro}</p>
        {triggered !== undefined && (
          <p role="status">
            <Status tone="good" text={said.made} />{" "}
            <a href={view.at(`/portal/events/${triggered.event.seq}`)}>
              <code>{triggered.event.type}</code>
            </a>{" "}
            <a href={view.at(`/portal/shares/${triggered.share.id}`)}>{said.share}</a>
          </p>
        )}
        <section aria-labelledby="clock">
          <h2 id="clock">{said.clock}</h2>
          <dl>
            <div>
              <dt>{said.now}</dt>
              <dd>
                <Moment at={clock.now} setting={setting} />
              </dd>
            </div>
            <div>
              <dt>{said.ahead}</dt>
              <dd>
                {clock.offsetMs === 0
                  ? said.with
                  : filled(said.days, { count: numberText(Math.round((10 * clock.offsetMs) / dayMs) / 10, setting.language) })}
              </dd>
            </div>
          </dl>
          <Allowed view={view} ownerOnly={false}>
            <PostForm view={view} action="/portal/sandbox/clock">
              <p class="quiet">{said.moveText}</p>
              <Choice name="days" label={said.move} options={Object.entries(said.moves)} />
              <button type="submit">{said.moveNow}</button>
            </PostForm>
          </Allowed>
        </section>
        <section aria-labelledby="trigger">
          <h2 id="trigger">{said.trigger}</h2>
          <Allowed view={view} ownerOnly={false}>
            <PostForm view={view} action="/portal/sandbox/trigger">
              <p class="quiet">{said.triggerText}</p>
              <Wrong fault={fault} fields={["share_id"]} setting={setting} />
              <Choice name="type" label={said.type} options={triggeredTypes.map((type) => [type, type])} value={typed?.get("type")} />
              <Field
                name="share_id"
                label={said.share}
                hint={said.shareHint}
                value={typed?.get("share_id")}
                fault={fault}
                setting={setting}
                maxlength={60}
              />
              <button type="submit" class="primary">
                {said.triggerNow}
              </button>
            </PostForm>
          </Allowed>
        </section>
        <section aria-labelledby="reset">
          <h2 id="reset">{said.reset}</h2>
          <Allowed view={view} ownerOnly={false}>
            <Careful
              view={view}
              action="/portal/sandbox/reset"
              label={said.resetNow}
              of={words.environments.sandbox}
              consequence={said.resetText}
            />
          </Allowed>
        </section>
      </>
    ),
  });
};

const testerOf = (visit: Visit): ActingTester => ({ ...readerOf(visit), actor: { kind: "member", id: visit.member.userId } });

const shown = async (visit: Visit, more: More = {}): Promise<Response> =>
  answer(visit, page(visit.view, await readClock(visit.services, visit.member), more), more.fault?.code);

/** Counted as by a key: each sweeps up to a thousand shares. */
const counted = ({ c, member }: Visit): Promise<Response | null> => crowded(c, "SANDBOX_CLOCK", member.business.id);

const move = async (visit: Posted): Promise<Response> => {
  const full = await counted(visit);
  if (full !== null) return full;
  const { moves } = visit.view.words.sandbox;
  const days = Object.keys(moves).find((one) => one === visit.form.get("days")) ?? "1";
  const moved = await advanceClock(visit.services, visit.member, { advanceSeconds: (Number(days) * dayMs) / 1_000 });
  return moved.ok ? to(visit, "/portal/sandbox", "moved") : shown(visit, { fault: faultOf(moved) });
};

const trigger = async (visit: Posted): Promise<Response> => {
  const { c, services, form, view } = visit;
  const named = (form.get("share_id") ?? "").trim();
  const shareId = shareIdOf(named);
  const type = triggeredTypes.find((one) => one === form.get("type"));
  const noShare = { code: "invalid_request", field: "share_id", text: view.words.sandbox.badShare } as const;
  if (type === undefined || (named !== "" && shareId === null)) return shown(visit, { fault: noShare, typed: form });
  const triggered = await triggerEvent(services, testerOf(visit), { type, shareId, fields: null }, c.var.requestId);
  if (triggered.ok) return shown(visit, { triggered: triggered.value });
  return shown(visit, { fault: triggered.code === "not_found" ? noShare : faultOf(triggered), typed: form });
};

const reset = async (visit: Posted): Promise<Response> => {
  const full = await counted(visit);
  if (full !== null) return full;
  const done = await resetSandbox(visit.services, testerOf(visit), visit.c.var.requestId);
  if (!done.ok) return shown(visit, { fault: faultOf(done) });
  return to(visit, "/portal/sandbox", done.value.hasMore ? "resetSome" : "reset");
};

export const mountSandbox = (pages: Hono<Api>): void => {
  pages.get(
    "/sandbox",
    reading((visit) => shown(visit)),
  );
  pages.post("/sandbox/clock", acting({}, move));
  pages.post("/sandbox/trigger", acting({}, trigger));
  pages.post("/sandbox/reset", acting({}, reset));
};
