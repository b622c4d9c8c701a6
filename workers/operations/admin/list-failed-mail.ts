// Lists emails that were not delivered, for GET /v1/admin/stuck.
import { toMailboxAddress } from "../../../core/email-address.ts";
import { listFailedMail } from "../../../storage/failed-mail.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { listFromEachShard } from "./list-from-each-shard.ts";

const maxListedPerShard = 50;

/** Masks the part before the @. The domain stays, so that an operator can see that a domain refuses all email. */
const hideRecipient = (to: string): string => `***${to.slice(to.lastIndexOf("@"))}`;

/** Lists the newest failed emails, up to 50 per shard, each with its shard's ID. */
export const listFailedMailByShard = (services: ReadDependencies) =>
  listFromEachShard(services, async (db, shard) => {
    const failed = await listFailedMail(db, services.vault, maxListedPerShard);
    return failed.map(({ to, ...mail }) => ({
      ...mail,
      shard,
      to: to === null ? null : hideRecipient(toMailboxAddress(to).address),
    }));
  });
