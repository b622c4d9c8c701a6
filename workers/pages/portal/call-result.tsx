// Shows the result of a test event or a replay on the page that is returned after the form is submitted.
import type { FC } from "hono/jsx";
import type { CallOutcome } from "../../operations/webhooks/call-outcome.ts";
import { formatMessage, Notice } from "../shared/components.tsx";
import { formatCount, messages } from "./components.tsx";

const { called } = messages.webhooks;

export const CallResult: FC<{ called: CallOutcome }> = ({ called: { delivered, responseStatus, durationMs } }) => {
  return (
    <Notice
      role="status"
      tone={delivered ? "good" : "bad"}
      icon={delivered ? "circle-check" : "circle-x"}
      title={delivered ? called.delivered : called.undelivered}
    >
      <p>
        {responseStatus === 0
          ? called.unanswered
          : formatMessage(called.answered, { status: String(responseStatus), ms: formatCount(durationMs) })}
      </p>
    </Notice>
  );
};
