// POST /v1/admin/mail/{id}.
import { refuse, ok, type Result } from "../../../core/result.ts";
import { requeueFailedMail } from "../../../storage/failed-mail.ts";
import type { ReadDependencies, Schedules } from "../dependencies.ts";

/**
 * Puts a failed email back into the outbox. Returns `not_found` if no shard has the email, or if it contains a one-time code, which has
 * expired.
 */
export const resendMail = async (
  services: ReadDependencies & Schedules,
  id: string,
): Promise<Result<{ readonly id: string; readonly status: "queued" }, "not_found">> => {
  const moved = await Promise.all(services.shards.all().map(([, db]) => requeueFailedMail(db, id, services.clock())));
  if (!moved.includes(true)) return refuse("not_found");
  services.scheduleMail();
  return ok({ id, status: "queued" });
};
