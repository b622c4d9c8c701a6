// Test mode's own page: the clock that test records live by, events made to happen, and the way back.
import type { Hono } from "hono";
import { parseShareId } from "../../../core/ids.ts";
import { dayMs } from "../../../core/time.ts";
import type { AppEnv } from "../../http/context.ts";
import { advanceSandboxClock } from "../../operations/sandbox/advance-sandbox-clock.ts";
import { getClockReading, type SandboxActor } from "../../operations/sandbox/get-clock-reading.ts";
import { resetSandbox } from "../../operations/sandbox/reset-sandbox.ts";
import { triggerableEventTypes, triggerEvent, type TriggeredEvent } from "../../operations/sandbox/trigger-event.ts";
import { formatMessage, Timestamp } from "../shared/components.tsx";
import {
  ConfirmButton,
  SelectField,
  Field,
  Link,
  formatCount,
  PostForm,
  PropertyList,
  Section,
  StatusLabel,
  SubmitButton,
  messages,
  FormErrorMessage,
} from "./components.tsx";
import { renderMemberPage } from "./page.tsx";
import {
  authenticatedAction,
  toFormError,
  authenticatedPage,
  toReader,
  redirectTo,
  type FormError,
  type PortalFormRequest,
  type PortalRequest,
} from "./portal-request.ts";

const sandboxMessages = messages.sandbox;

const renderSandbox = async (visit: PortalRequest, fault?: FormError, triggered?: TriggeredEvent): Promise<Response> => {
  const { now, offsetMs } = await getClockReading(visit.services, visit.member);
  const ahead =
    offsetMs === 0
      ? sandboxMessages.with
      : formatMessage(sandboxMessages.days, { count: formatCount(Math.round((10 * offsetMs) / dayMs) / 10) });
  return renderMemberPage(visit, {
    tab: "sandbox",
    error: fault,
    content: (
      <>
        <p>{sandboxMessages.intro}</p>
        {triggered !== undefined && (
          <p role="status">
            <StatusLabel tone="good" text={sandboxMessages.made} />{" "}
            <Link to={`/portal/events/${triggered.event.seq}`} text={<code>{triggered.event.type}</code>} />{" "}
            <Link to={`/portal/shares/${triggered.share.id}`} text={sandboxMessages.share} />
          </p>
        )}
        <Section id="clock" title={sandboxMessages.clock}>
          <PropertyList
            lines={[
              [sandboxMessages.now, <Timestamp at={now} />],
              [sandboxMessages.ahead, ahead],
            ]}
          />
          <PostForm requiredRole="member" action="/portal/sandbox/clock">
            <p class="quiet">{sandboxMessages.moveText}</p>
            <SelectField name="days" label={sandboxMessages.move} options={sandboxMessages.moves} />
            <button type="submit">{sandboxMessages.moveNow}</button>
          </PostForm>
        </Section>
        <Section id="trigger" title={sandboxMessages.trigger}>
          <PostForm requiredRole="member" action="/portal/sandbox/trigger">
            <p class="quiet">{sandboxMessages.triggerText}</p>
            <FormErrorMessage fields={["share_id"]} />
            <SelectField
              name="type"
              label={sandboxMessages.type}
              options={Object.fromEntries(triggerableEventTypes.map((type) => [type, type]))}
            />
            <Field name="share_id" label={sandboxMessages.share} hint={sandboxMessages.shareHint} maxlength={60} />
            <SubmitButton label={sandboxMessages.triggerNow} />
          </PostForm>
        </Section>
        <Section id="reset" title={sandboxMessages.reset}>
          <ConfirmButton
            requiredRole="member"
            action="/portal/sandbox/reset"
            label={sandboxMessages.resetNow}
            of={messages.environments.sandbox}
            consequence={sandboxMessages.resetText}
          />
        </Section>
      </>
    ),
  });
};

const toTester = (visit: PortalRequest): SandboxActor => ({ ...toReader(visit), actor: { kind: "member", id: visit.member.userId } });

const handleAdvanceClock = async (visit: PortalFormRequest): Promise<Response> => {
  const days = Object.keys(sandboxMessages.moves).find((one) => one === visit.form.get("days")) ?? "1";
  const moved = await advanceSandboxClock(visit.services, visit.member, { advanceSeconds: (Number(days) * dayMs) / 1_000 });
  return moved.ok ? redirectTo(visit, "/portal/sandbox", "moved") : renderSandbox(visit, toFormError(moved));
};

const handleTriggerEvent = async (visit: PortalFormRequest): Promise<Response> => {
  const { c, services, form } = visit;
  const given = (form.get("share_id") ?? "").trim();
  const shareId = parseShareId(given);
  const type = triggerableEventTypes.find((one) => one === form.get("type"));
  const noShare: FormError = { code: "invalid_request", field: "share_id", text: sandboxMessages.badShare };
  if (type === undefined || (given !== "" && shareId === null)) return renderSandbox(visit, noShare);
  const triggered = await triggerEvent(services, toTester(visit), { type, shareId, fields: null }, c.var.requestId);
  if (triggered.ok) return renderSandbox(visit, undefined, triggered.value);
  return renderSandbox(visit, triggered.code === "not_found" ? noShare : toFormError(triggered));
};

const handleResetSandbox = async (visit: PortalFormRequest): Promise<Response> => {
  const done = await resetSandbox(visit.services, toTester(visit), visit.c.var.requestId);
  return done.ok
    ? redirectTo(visit, "/portal/sandbox", done.value.hasMore ? "resetSome" : "reset")
    : renderSandbox(visit, toFormError(done));
};

/** Counted as by a key: each sweeps up to a thousand shares. */
const sweepActionOptions = { businessLimit: "SANDBOX_CLOCK" } as const;

export const registerSandboxRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/sandbox", authenticatedPage(renderSandbox));
  pages.post("/sandbox/clock", authenticatedAction(sweepActionOptions, handleAdvanceClock));
  pages.post("/sandbox/trigger", authenticatedAction({}, handleTriggerEvent));
  pages.post("/sandbox/reset", authenticatedAction(sweepActionOptions, handleResetSandbox));
};
