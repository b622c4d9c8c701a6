// Creates the services that run the real operations while the demo month is replayed. The clock is set to the past, email is captured, and
// most follow-up work is left to the running service.
import { IntakeState, type IntakeView } from "../../core/intake/intake-state.ts";
import type { MailOutcome } from "../../core/mail/message.ts";
import type { Instant } from "../../core/time.ts";
import { insertCapturedMail } from "../../storage/captured-mail.ts";
import { relayMail } from "../../workers/background/mail-relay.ts";
import type { Env } from "../../workers/env.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import type { Services } from "../../workers/platform/platform.ts";

/**
 * Reports every journal as empty, because no database fails during the replay. Without this class, each simulated submission would first
 * query its journal, because the service remembers a journal's state only for seconds.
 */
class HealthyIntake extends IntakeState {
  override getView(): IntakeView {
    return "well";
  }
}

export interface Replay {
  readonly services: Services;
  readonly setTime: (at: Instant) => void;
  /** Finishes the work that the last operation scheduled to run after its response, and sends the operation's email. */
  readonly finishStep: () => Promise<void>;
  /** Returns the code in the newest email to this address. */
  readonly takeCode: (address: string) => string;
}

export const openReplay = async (env: Env): Promise<Replay> => {
  const platform = await getPlatform(env);
  let now: Instant = 0;
  let isMailDue = false;
  let pending: Promise<void>[] = [];
  const codes = new Map<string, string>();
  const clock = (): Instant => now;
  const services: Services = {
    ...platform,
    clock,
    intakeState: new HealthyIntake(),
    waitUntil: (work) => {
      pending.push(work());
    },
    scheduleFollowUp: () => {},
    scheduleRelay: () => {},
    scheduleEvents: () => {},
    scheduleMail: () => {
      isMailDue = true;
    },
    mailer: {
      send: async (message): Promise<MailOutcome> => {
        const code = /^\d{6}$/m.exec(message.text)?.[0];
        if (code !== undefined) codes.set(message.to, code);
        await insertCapturedMail(platform.shards.all()[0]?.[1] as never, platform.vault, message, now);
        return "accepted";
      },
    },
  };
  return {
    services,
    setTime: (at) => {
      now = at;
    },
    finishStep: async () => {
      while (pending.length > 0) {
        const started = pending;
        pending = [];
        await Promise.all(started);
      }
      if (!isMailDue) return;
      isMailDue = false;
      await relayMail(services);
    },
    takeCode: (address) => {
      const code = codes.get(address);
      if (code === undefined) throw new Error("demo month: no code was emailed");
      return code;
    },
  };
};
