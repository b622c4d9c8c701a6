// The sandbox page of test mode, where members move the clock, trigger events and reset the sandbox.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { parseShareId } from "../../../core/ids.ts";
import { dayMs } from "../../../core/time.ts";
import type { AppEnv } from "../../http/context.ts";
import { advanceSandboxClock } from "../../operations/sandbox/advance-sandbox-clock.ts";
import { getClockReading, type SandboxActor } from "../../operations/sandbox/get-clock-reading.ts";
import { resetSandbox } from "../../operations/sandbox/reset-sandbox.ts";
import { triggerableEventTypes, triggerEvent, type TriggeredEvent } from "../../operations/sandbox/trigger-event.ts";
import { FormattedMessage, formatMessage, Notice, Timestamp, PropertyList } from "../shared/components.tsx";
import { Card, Field, FormCard, FormErrorMessage, formatCount, Link, messages, RoleGate } from "./components.tsx";
import { confirmationPage, renderConfirmation } from "./confirmation.tsx";
import { renderMemberPage } from "./page.tsx";
import { authenticatedAction, authenticatedPage } from "./handlers.ts";
import { toFormError, toReader, redirectTo, type FormError, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";

const sandboxMessages = messages.sandbox;
const sandboxPath = "/portal/sandbox";

/**
 * Formats the offset of the clock, for example "6 days". This page moves the clock in whole days, but the API can also move it by a
 * fraction of a day.
 */
const formatOffset = (offsetMs: number): string => {
  if (offsetMs === 0) return sandboxMessages.with;
  const days = Math.round((10 * offsetMs) / dayMs) / 10;
  return days === 1 ? sandboxMessages.day : formatMessage(sandboxMessages.days, { count: formatCount(days) });
};

const TriggeredNotice: FC<{ triggered: TriggeredEvent }> = ({ triggered: { event, share } }) => (
  <Notice
    tone="good"
    icon="circle-check"
    role="status"
    title={
      <FormattedMessage
        text={sandboxMessages.made}
        parts={{ event: <Link to={`/portal/events/${event.seq}`} text={<code>{event.type}</code>} /> }}
      />
    }
    action={<Link class="btn" to={`/portal/shares/${share.id}`} text={sandboxMessages.viewShare} />}
  />
);

const renderSandbox = async (request: PortalRequest, error?: FormError, triggered?: TriggeredEvent): Promise<Response> => {
  const { now, offsetMs } = await getClockReading(request.services, request.member);
  return renderMemberPage(request, {
    tab: "sandbox",
    intro: sandboxMessages.intro,
    error,
    content: (
      <>
        {triggered !== undefined && <TriggeredNotice triggered={triggered} />}
        <div class="cols two even">
          <FormCard
            id="clock"
            title={sandboxMessages.clock}
            note={sandboxMessages.moveText}
            action={`${sandboxPath}/clock`}
            requiredRole="member"
            submitLabel={sandboxMessages.moveNow}
          >
            <PropertyList
              lines={[
                [sandboxMessages.now, <Timestamp at={now} />],
                [sandboxMessages.ahead, formatOffset(offsetMs)],
              ]}
            />
            <Field name="days" label={sandboxMessages.move} options={sandboxMessages.moves} />
          </FormCard>
          <FormCard
            id="trigger"
            title={sandboxMessages.trigger}
            note={sandboxMessages.triggerText}
            action={`${sandboxPath}/trigger`}
            requiredRole="member"
            submitLabel={sandboxMessages.triggerNow}
            isPrimary
          >
            <FormErrorMessage fields={["share_id"]} />
            <Field
              name="type"
              label={messages.events.type}
              options={Object.fromEntries(triggerableEventTypes.map((type) => [type, type]))}
            />
            <Field name="share_id" label={sandboxMessages.shareId} hint={sandboxMessages.shareHint} isOptional maxlength={60} />
          </FormCard>
        </div>
        <Card
          id="reset"
          title={sandboxMessages.reset}
          isDangerous
          end={
            <RoleGate requiredRole="member">
              <Link class="btn danger" to={`${sandboxPath}/reset`} text={sandboxMessages.reset} />
            </RoleGate>
          }
        >
          <p>{sandboxMessages.resetNote}</p>
        </Card>
      </>
    ),
  });
};

const renderResetSandbox = (request: PortalRequest): Promise<Response> => {
  const { shares, clock, kept, live } = sandboxMessages.resetFollows;
  return renderConfirmation(request, {
    tab: "sandbox",
    parent: { path: sandboxPath, text: messages.tabs.sandbox },
    question: sandboxMessages.resetQuestion,
    consequences: [
      ["ban", shares],
      ["timer", clock],
      ["archive", kept],
      ["shield-check", live],
    ],
    action: `${sandboxPath}/reset`,
    confirmLabel: sandboxMessages.reset,
    cancelLabel: sandboxMessages.keep,
  });
};

const toSandboxActor = (request: PortalRequest): SandboxActor => ({
  ...toReader(request),
  actor: { kind: "member", id: request.member.userId },
});

const handleAdvanceClock = async (request: PortalFormRequest): Promise<Response> => {
  const days = Object.keys(sandboxMessages.moves).find((option) => option === request.form.get("days")) ?? "1";
  const moved = await advanceSandboxClock(request.services, request.member, { advanceSeconds: (Number(days) * dayMs) / 1_000 });
  return moved.ok ? redirectTo(request, sandboxPath, "moved") : renderSandbox(request, toFormError(moved));
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
    ? redirectTo(request, sandboxPath, result.value.hasMore ? "resetSome" : "reset")
    : renderSandbox(request, toFormError(result));
};

/** Moving the clock and resetting the sandbox share a limit with their API routes, because each call can process 1,000 shares or more. */
const sweepActionOptions = { businessLimit: "SANDBOX_CLOCK" } as const;

export const registerSandboxRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/sandbox", authenticatedPage(renderSandbox));
  pages.post("/sandbox/clock", authenticatedAction(sweepActionOptions, handleAdvanceClock));
  pages.post("/sandbox/trigger", authenticatedAction({}, handleTriggerEvent));
  pages.get("/sandbox/reset", confirmationPage("member", renderResetSandbox));
  pages.post("/sandbox/reset", authenticatedAction(sweepActionOptions, handleResetSandbox));
};
