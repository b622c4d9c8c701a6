// Implements POST /v1/admin/mail/{id}.
import { refuse, ok, type Result } from "../../../core/result.ts";
import { requeueFailedMail } from "../../../storage/failed-mail.ts";
import type { ReadDependencies, Schedules } from "../dependencies.ts";

/**
 * Puts a failed email back into the outbox, even while other shards do not respond. Returns `not_found` if no shard has the email, or if it
 * contains a one-time code, which has expired by now. Throws if the email was not found and a shard did not respond, because that shard may
 * have it.
 */
export const resendMail = async (
  services: ReadDependencies & Schedules,
  id: string,
): Promise<Result<{ readonly id: string; readonly status: "queued" }, "not_found">> => {
  const moves = await Promise.allSettled(services.shards.all().map(([, db]) => requeueFailedMail(db, id, services.clock())));
  if (!moves.some((move) => move.status === "fulfilled" && move.value)) {
    const failed = moves.find((move) => move.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    return refuse("not_found");
  }
  services.scheduleMail();
  return ok({ id, status: "queued" });
};
