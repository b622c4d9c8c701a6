// The sandbox page of test mode: moving its clock, triggering events, and resetting it.
import type { Hono } from "hono";
import { parseShareId } from "../../../core/ids.ts";
import { dayMs } from "../../../core/time.ts";
import type { AppEnv } from "../../http/context.ts";
import { advanceSandboxClock } from "../../operations/sandbox/advance-sandbox-clock.ts";
import { getClockReading, type SandboxActor } from "../../operations/sandbox/get-clock-reading.ts";
import { resetSandbox } from "../../operations/sandbox/reset-sandbox.ts";
import { triggerableEventTypes, triggerEvent, type TriggeredEvent } from "../../operations/sandbox/trigger-event.ts";
import { SubmitButton } from "../shared/form-fields.tsx";
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
  messages,
  FormErrorMessage,
} from "./components.tsx";
import { renderMemberPage } from "./page.tsx";
import { authenticatedAction, authenticatedPage } from "./handlers.ts";
import { toFormError, toReader, redirectTo, type FormError, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";

const sandboxMessages = messages.sandbox;

const renderSandbox = async (request: PortalRequest, error?: FormError, triggered?: TriggeredEvent): Promise<Response> => {
  const { now, offsetMs } = await getClockReading(request.services, request.member);
  const ahead =
    offsetMs === 0
      ? sandboxMessages.with
      : formatMessage(sandboxMessages.days, { count: formatCount(Math.round((10 * offsetMs) / dayMs) / 10) });
  return renderMemberPage(request, {
    tab: "sandbox",
    error,
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
            <SubmitButton>{sandboxMessages.triggerNow}</SubmitButton>
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

const toSandboxActor = (request: PortalRequest): SandboxActor => ({
  ...toReader(request),
  actor: { kind: "member", id: request.member.userId },
});

const handleAdvanceClock = async (request: PortalFormRequest): Promise<Response> => {
  const days = Object.keys(sandboxMessages.moves).find((option) => option === request.form.get("days")) ?? "1";
  const moved = await advanceSandboxClock(request.services, request.member, { advanceSeconds: (Number(days) * dayMs) / 1_000 });
  return moved.ok ? redirectTo(request, "/portal/sandbox", "moved") : renderSandbox(request, toFormError(moved));
};

const handleTriggerEvent = async (request: PortalFormRequest): Promise<Response> => {
  const { c, services, form } = request;
  const typedId = (form.get("share_id") ?? "").trim();
  const shareId = parseShareId(typedId);
  const type = triggerableEventTypes.find((name) => name === form.get("type"));
  const noShare: FormError = { code: "invalid_request", field: "share_id", text: sandboxMessages.badShare };
  if (type === undefined || (typedId !== "" && shareId === null)) return renderSandbox(request, noShare);
  const triggered = await triggerEvent(services, toSandboxActor(request), { type, shareId, fields: null }, c.var.requestId);
  if (triggered.ok) return renderSandbox(request, undefined, triggered.value);
  return renderSandbox(request, triggered.code === "not_found" ? noShare : toFormError(triggered));
};

const handleResetSandbox = async (request: PortalFormRequest): Promise<Response> => {
  const result = await resetSandbox(request.services, toSandboxActor(request), request.c.var.requestId);
  return result.ok
    ? redirectTo(request, "/portal/sandbox", result.value.hasMore ? "resetSome" : "reset")
    : renderSandbox(request, toFormError(result));
};

/** Applies the same limit as for API keys, because each of these actions sweeps up to 1,000 shares. */
const sweepActionOptions = { businessLimit: "SANDBOX_CLOCK" } as const;

export const registerSandboxRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/sandbox", authenticatedPage(renderSandbox));
  pages.post("/sandbox/clock", authenticatedAction(sweepActionOptions, handleAdvanceClock));
  pages.post("/sandbox/trigger", authenticatedAction({}, handleTriggerEvent));
  pages.post("/sandbox/reset", authenticatedAction(sweepActionOptions, handleResetSandbox));
};
